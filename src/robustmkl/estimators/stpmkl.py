"""StPMKL, the paper's method, and SiPMKL, the same without a budget."""

from __future__ import annotations

from typing import Any

from ..kernels import KernelDictionary
from ..uncertainty import SETS, Budget, UncertaintySet, tau
from .trust import CertifiedClassifier


class StPMKLClassifier(CertifiedClassifier):
    """Multiple kernel learning from noisy labels by stochastic programming: problem (11) of the paper.

    Minimises over ``f = sum_j f_j + b`` the worst case over the unknown correctness of the labels,

        lam/2 (sum_j ||f_j||)^2 + (1/S) max_{alpha in Q} sum_i s_i alpha_i (1 - y_i f(x_i)),
        Q = { 0 <= alpha_i <= h,  sum_i s_i alpha_i <= rho S },

    and stops when the duality gap proves the optimum: ``gap <= atol + tol * primal``. The paper derives this problem
    by two relaxations; ``budget`` takes one of them, or both, back.

    Parameters
    ----------
    lam : float, default=0.01
        The regularisation.
    rho : float in (0, h], optional
        The budget, as a share of the total weight. A budget can only weaken the regularisation, never strengthen
        it. None: derived from ``noise_level`` if that is given, else no budget.
    noise_level : float in [0, 1/2), optional
        The share q of wrong labels; gives rho by the paper's rule: ``1 - q``, or eq. (11) with ``epsilon``.
    epsilon : float in (0, 1), optional
        The probability with which the chance constraint (5) may fail. None: ``h = 1``, the form of the paper's
        experiments. Given: ``h = 1 + tau``, ``tau = sqrt(ln(1/epsilon)/2)``.
    kernels : "paper", "precomputed" or KernelDictionary, default="paper"
        "paper": columns scaled to [0, 1], ten Gaussians on all columns jointly and ten on every single column.
    fit_intercept : bool, default=True
        Whether f has an unpenalised constant. The paper has none.
    solver : {"auto", "interior-point", "amp", "vi", "simplemkl"}, default="auto"
    tol, atol : float
        Relative and absolute tolerance for the gap.
    max_iter : int, optional
        The default suits the solver.
    class_weight : dict, "balanced" or None
    warm_start : bool, default=False
        Start from the previous fit if it has the same rows.
    n_jobs : int, optional
        Classes solved at a time when there are more than two.
    random_state : optional
        For a common interface: training is deterministic.
    verbose : int, default=0
        Log progress to the logger "robustmkl".
    budget : {"alpha", "p", "chance"}, default="alpha"
        The constraint, and with it the set Q. "alpha" is eq. (11). "chance" is eq. (8), what the chance constraint
        asks for: with ``k = min(S, (1 - q) S + tau sqrt(S))`` and hinge losses ``l_i`` the second term is ``(1/S)``
        times the sum of the largest losses up to the weight k, plus ``tau sqrt(sum s_i l_i^2)``. "p" is eq. (10), with
        ``tau sum s_i l_i`` in the place of the root. Both need ``noise_level`` and ``epsilon``, and take no ``rho``.
        In both the scale of the weights matters: they are numbers of rows.

    Attributes
    ----------
    result_ : SolveResult (a list, one a class, for more than two classes)
    primal_, dual_, gap_ : float
        The certificate (the one with the largest gap).
    alpha_ : array of shape (n,) or (n_classes, n)
        The dual point, in the order of the rows given.
    kernel_weights_ : array of shape (m,) or (n_classes, m)
        ``||f_j|| / sum ||f||``.
    kernel_names_ : array of shape (m,)
    intercept_ : array of shape (1,) or (n_classes,)
    classes_, n_features_in_, feature_names_in_, n_iter_
    memory_estimate_ : int
        The bytes that the fit was expected to need.

    Notes
    -----
    Ctrl-C in a fit of two classes ends it with the best certified point so far and a ConvergenceWarning; with more
    classes, of which the others would be missing, it is passed on and the model stays as it was.

    Examples
    --------
    >>> from robustmkl import StPMKLClassifier
    >>> from robustmkl.datasets import load_uci
    >>> X, y = load_uci("heart", return_X_y=True)
    >>> model = StPMKLClassifier(lam=0.01, rho=0.9).fit(X, y)
    >>> model.result_.status.value
    'Optimum proved: the duality gap is within the tolerance.'
    """

    def __init__(
        self,
        lam: float = 0.01,
        rho: float | None = None,
        noise_level: float | None = None,
        epsilon: float | None = None,
        kernels: str | KernelDictionary = "paper",
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-4,
        atol: float = 0.0,
        max_iter: int | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        budget: str = "alpha",
    ) -> None:
        self.lam = lam
        self.rho = rho
        self.noise_level = noise_level
        self.epsilon = epsilon
        self.kernels = kernels
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.atol = atol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.budget = budget

    @property
    def _kind(self) -> str:
        if not (isinstance(self.budget, str) and self.budget in SETS):
            raise ValueError(f"budget must be one of {', '.join(map(repr, SETS))}, got {self.budget!r}.")
        return self.budget

    def _budget(self, total: float) -> UncertaintySet:
        if self._kind != Budget.kind:
            return self._from_noise_level(total)
        if self.rho is not None and self.noise_level is not None:
            raise ValueError(
                f"rho={self.rho!r} and noise_level={self.noise_level!r} contradict each other: "
                "rho is derived from noise_level; give one of them."
            )
        if self.noise_level is not None:
            return Budget.from_noise_level(self.noise_level, self.epsilon, total)
        h = 1.0 if self.epsilon is None else 1.0 + tau(self.epsilon)
        return Budget(h if self.rho is None else self.rho, h)

    def _from_noise_level(self, total: float) -> UncertaintySet:
        """Return the set of (10) or (8), which follows from noise_level and epsilon alone."""
        name = f"budget={self.budget!r}, eq. {SETS[self.budget].equation},"
        if self.rho is not None:
            raise ValueError(
                f"{name} takes no rho, got rho={self.rho!r}: it follows from noise_level and epsilon. Leave rho out, "
                "or use budget='alpha'."
            )
        if self.noise_level is None or self.epsilon is None:
            raise ValueError(
                f"{name} needs noise_level and epsilon, got noise_level={self.noise_level!r} and "
                f"epsilon={self.epsilon!r}: give both, such as noise_level=0.2, epsilon=0.05, or use budget='alpha'."
            )
        return SETS[self.budget].from_noise_level(self.noise_level, self.epsilon, total)


class SimpleMKLClassifier(CertifiedClassifier):
    """Ordinary l1-norm multiple kernel learning with the hinge loss, problem (2): the paper's SiPMKL.

    :class:`StPMKLClassifier` without a budget. ``solver="simplemkl"`` is the algorithm of that name; every other
    solver finds the same optimum, sooner.

    Parameters
    ----------
    lam, kernels, fit_intercept, solver, tol, atol, max_iter, class_weight, warm_start, n_jobs, random_state, verbose
        As in :class:`StPMKLClassifier`, and so are the attributes.
    """

    def __init__(
        self,
        lam: float = 0.01,
        kernels: str | KernelDictionary = "paper",
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-4,
        atol: float = 0.0,
        max_iter: int | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.lam = lam
        self.kernels = kernels
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.atol = atol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _budget(self, total: float) -> Budget:
        return Budget()
