"""MiPMKL: the best case over the label correctness instead of the worst."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..kernels import KernelDictionary
from ..parameters import number, whole
from ..problem import Problem
from ..solvers import Point, SolveResult, solve
from ..solvers.alternating import AlternationResult, mipmkl
from ..uncertainty import Budget
from .base import MKLClassifier, passed_on
from .rows import Rows


class MiPMKLClassifier(MKLClassifier):
    """Multiple kernel learning with the robust hinge loss: minimisation over the label correctness p.

    The paper's second baseline. **The problem is not convex**: the fit alternates between p and f from several
    starts and keeps the best end, a local optimum; another seed may find another.

    Parameters
    ----------
    lam : float, default=0.01
    rho : float in (0, 1], default=1.0
        The share of the weight that may count as right; 1 is the ramp loss.
    n_starts : int, default=5
        The first start takes all labels for right, the others a random share ``rho`` of them.
    random_state : int, RandomState or None
        Seeds the random starts.
    kernels, fit_intercept, solver, tol, atol, max_iter, class_weight, warm_start, n_jobs, verbose
        As in :class:`StPMKLClassifier`; solver and tolerances are those of the f-step.

    Attributes
    ----------
    result_ : AlternationResult
        ``primal`` is the objective, ``dual`` a lower bound on it for the final p: the gap proves the f-step only.
    p_ : array of shape (n,) or (n_classes, n)
        Which labels the best case takes for right, in the order of the rows given.
    """

    def __init__(
        self,
        lam: float = 0.01,
        rho: float = 1.0,
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
        n_starts: int = 5,
    ) -> None:
        self.lam = lam
        self.rho = rho
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
        self.n_starts = n_starts

    def _budget(self, total: float) -> Budget:
        meaning = "it is the share of the total weight that may count as right; rho=1 is the ramp loss"
        number("rho", self.rho, "lie in (0, 1]", lambda rho: 0.0 < rho <= 1.0, meaning)
        whole("n_starts", self.n_starts, 1)
        return Budget()

    def _solve(self, problem: Problem, start: Point | None) -> SolveResult:
        options = {name: getattr(self, name) for name in ("solver", "tol", "atol", "max_iter", "verbose")}

        def step(part: Problem) -> SolveResult:
            return passed_on(solve(part, **options))

        seed = check_random_state(self.random_state).randint(2**31 - 1)
        rng = np.random.default_rng(seed)
        return mipmkl(problem, self.rho, step, self.n_starts, rng=rng, known=start.f if start else None)

    def _spread(self, result: SolveResult, rows: Rows) -> SolveResult:
        result = super()._spread(result, rows)
        return replace(result, p=rows.spread(result.p)) if isinstance(result, AlternationResult) else result

    def _store(self, *args: Any) -> None:
        super()._store(*args)
        p = np.stack([r.p for r in self._results if isinstance(r, AlternationResult)])
        self.p_ = p if len(p) > 1 else p[0]
