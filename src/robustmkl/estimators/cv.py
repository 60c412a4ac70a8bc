"""StPMKL with lam, and rho on request, chosen by cross-validation: one path a fold instead of one fit a candidate."""

from __future__ import annotations

import inspect
import logging
import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from itertools import product
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import StratifiedKFold, check_cv

from ..arrays import Floats, Ints
from ..kernels import KernelDictionary
from ..problem import Problem
from ..solvers import SolveResult, Status
from ..solvers.path import check_lams, lam_grid, mkl_grid
from ..threads import blas_threads
from ..uncertainty import Budget
from .stpmkl import StPMKLClassifier
from .trust import CertifiedClassifier
from .validation import check_labels

logger = logging.getLogger("robustmkl")

TIE = 1e-12  # scores closer than this differ by rounding only


class StPMKLClassifierCV(CertifiedClassifier):
    """:class:`StPMKLClassifier` with lam, or lam and rho, chosen by cross-validation on the given labels.

    Each fold makes its kernels once and walks one certified path in lam (:func:`~robustmkl.mkl_path`): a grid over
    (lam, rho) costs little more than one over lam, since a budget leads back onto the same path. The classifier is
    then the one of the best candidate on all rows, certified like any other.

    Parameters
    ----------
    lams : int or sequence of float, default=10
        A number of values, evenly spaced in the logarithm: from the lam above which the classifier of all the rows
        changes by a factor only (:func:`~robustmkl.solvers.path.lam_max`) down to 1e-4 of it. Or the values.
    rhos : sequence of float in (0, 1], optional
        The budgets to try with every lam, such as the paper's ``[1, .9, .8, .7, .6, .5]``. None: no budget. No rho
        reaches a classifier that some lam does not reach without budget.
    cv : int, splitter or iterable of (train, test), default=5
        An int means that many stratified folds of the rows of positive weight.
    scoring : str or callable, optional
        A scorer of scikit-learn. None: accuracy.
    kernels, fit_intercept, solver, tol, atol, max_iter, class_weight
        As in :class:`StPMKLClassifier`. Kernels and their scaling are made in each fold from its training rows.
    n_jobs : int, optional
        Folds at a time, each in a process of its own.
    random_state : int, RandomState or None
        If ``cv`` is an int: the seed with which rows are shuffled before they are dealt into folds; None leaves them
        in their order.
    verbose : int, default=0
        Log progress to the logger "robustmkl".

    Attributes
    ----------
    best_params_ : dict
        ``{"lam": .., "rho": ..}`` of the best mean score; of equal ones the largest lam, then the largest rho. Its
        entries are also the attributes ``lam`` and ``rho``.
    best_score_ : float
        Its mean score over the folds.
    best_index_ : int
    cv_results_ : dict of arrays
        One entry a candidate, in the layout of :class:`~sklearn.model_selection.GridSearchCV`: ``params``,
        ``param_lam``, ``param_rho``, ``split0_test_score`` .., ``mean_test_score``, ``std_test_score``,
        ``rank_test_score``; and of the solutions in the folds ``theta`` (the mean), ``n_iter`` (the sum) and ``gap``
        (the largest).
    path_ : list of SolveResult (of lists, one result a class, for more than two classes)
        The certified solution of every candidate on all rows.
    n_splits_ : int
    result_, primal_, dual_, gap_, alpha_, kernel_weights_, kernel_names_, intercept_, classes_, n_iter_, ...
        Those of the best candidate: see :class:`StPMKLClassifier`.

    Notes
    -----
    Sample weights, times class weights computed from all the rows, count in training and in scoring; rows of weight 0
    are in no fold. Weight 2 is a row given twice if the folds keep repeated rows together.

    Examples
    --------
    >>> from robustmkl import StPMKLClassifierCV
    >>> from robustmkl.datasets import load_uci
    >>> X, y = load_uci("heart", return_X_y=True)
    >>> model = StPMKLClassifierCV(lams=[0.1, 0.03, 0.01], cv=3).fit(X, y)
    >>> sorted(model.best_params_)
    ['lam', 'rho']
    """

    def __init__(
        self,
        lams: int | Sequence[float] = 10,
        rhos: Sequence[float] | None = None,
        cv: Any = 5,
        scoring: Any = None,
        kernels: str | KernelDictionary = "paper",
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-4,
        atol: float = 0.0,
        max_iter: int | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.lams = lams
        self.rhos = rhos
        self.cv = cv
        self.scoring = scoring
        self.kernels = kernels
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.atol = atol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def lam(self) -> float:  # type: ignore[override]  # chosen, not given
        """The chosen lam."""
        return float(self.best_params_["lam"])

    @property
    def rho(self) -> float | None:
        """The chosen rho; None is no budget."""
        rho = self.best_params_["rho"]
        return None if rho is None else float(rho)

    def _budget(self, total: float) -> Budget:
        return Budget() if self.rho is None else Budget(self.rho)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose lam and rho on the rows ``X`` and labels ``y``, and train on all of them.

        Parameters
        ----------
        X : array or data frame of shape (n, d); with ``kernels="precomputed"`` an array (m, n, n)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            Weight 0 is absence.
        groups : array of shape (n,), optional
            What a splitter by groups keeps together.

        Returns
        -------
        self
        """
        table, classes, codes, s = self._check_training(X, y, sample_weight)
        n = codes.size
        scorer, rhos = self._check_scorer(sample_weight is not None or self.class_weight is not None), self._check_rhos()
        known, original = check_labels(y, n)
        data = Data(table, known[original], None if sample_weight is None and self.class_weight is None else s)
        splits = self._splits(data, groups)
        model = self._model()
        with blas_threads(n):
            lams = self._check_lams(model, (table, classes, codes, s))
            kernels, bank, rows, problems = model._pose(table, classes, codes, s)
            grid = Grid(lams, rhos, self._options())
            folds = [delayed(_fold)(model, grid, scorer, data.take(a), data.take(b, a)) for a, b in splits]
            path, *outcomes = Parallel(self.n_jobs)([delayed(grid.solve)(problems), *folds])
        self._choose(grid, outcomes)
        self.memory_estimate_ = getattr(model, "memory_estimate_", 0)
        self._store(classes, kernels, bank, rows, path[self.best_index_])
        spread = [[self._spread(r, rows) for r in results] for results in path]
        self.path_ = [results[0] if len(results) == 1 else results for results in spread]
        return self

    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("tol", "atol", "solver", "max_iter")}

    def _model(self) -> Candidate:
        """Return the model that trains on some of the rows; lam is the least, which the kernels must be exact for."""
        model = Candidate(lam=1.0, kernels=self.kernels, fit_intercept=self.fit_intercept, **self._options())
        model.verbose = self.verbose
        model.names = self._column_names()
        return model

    def _check_lams(self, model: Candidate, training: tuple[Floats, np.ndarray, Ints, Floats]) -> Floats:
        """Return the values of lam, and give ``model`` the smallest; an int takes them from all the rows."""
        if isinstance(self.lams, Integral):
            *_, problems = model._pose(*training)
            lams = max((lam_grid(p, int(self.lams)) for p in problems), key=lambda grid: float(grid[0]))
        else:
            lams = check_lams(self.lams)
        model.lam = float(lams.min())
        return lams

    def _check_rhos(self) -> list[float | None]:
        if self.rhos is None:
            return [None]
        rhos = np.asarray(self.rhos, dtype=np.float64)
        if rhos.ndim != 1 or rhos.size == 0:
            raise ValueError(f"rhos must be a sequence of budgets, or None for no budget, got {self.rhos!r}.")
        return [Budget(float(rho)).rho for rho in rhos]

    def _check_scorer(self, weighted: bool) -> Any:
        if isinstance(self.scoring, list | tuple | set | dict):
            raise ValueError(f"scoring must be one scorer, got {self.scoring!r}: the best candidate is chosen by one.")
        scorer = check_scoring(self, scoring=self.scoring or "accuracy")
        if weighted and inspect.isfunction(scorer):
            parameters = inspect.signature(scorer).parameters
            if not ("sample_weight" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())):
                raise ValueError(
                    f"scoring={self.scoring!r} takes no sample_weight, and the rows have weights: "
                    "use sklearn.metrics.make_scorer, or a function (estimator, X, y, sample_weight=None)."
                )
        return scorer

    def _splits(self, data: Data, groups: Any) -> list[tuple[Ints, Ints]]:
        """Return the rows of each fold, among the rows given; rows of weight 0 are in none."""
        cv: Any = self.cv
        if isinstance(cv, Integral):
            cv = StratifiedKFold(int(cv), shuffle=self.random_state is not None, random_state=self.random_state)
        present = np.ones(data.n, dtype=np.bool_) if data.weight is None else data.weight > 0.0
        if hasattr(cv, "split"):
            rows = np.flatnonzero(present)
            groups = None if groups is None else np.asarray(groups)[rows]
            found = cv.split(np.zeros((rows.size, 1)) if data.table.ndim == 3 else data.table[rows], data.y[rows], groups)
        else:
            rows = np.arange(data.n)
            found = check_cv(cv).split()
        splits = [tuple(part[present[part]] for part in (rows[train], rows[test])) for train, test in found]
        for k, part in product(range(len(splits)), (0, 1)):
            if splits[k][part].size == 0:
                raise ValueError(f"fold {k} of cv has no {('training', 'test')[part]} rows of positive weight.")
        return [(train, test) for train, test in splits]

    def _choose(self, grid: Grid, outcomes: list[Outcome]) -> None:
        """Set what the folds say: the table of results, and the best candidate."""
        scores = np.stack([outcome.score for outcome in outcomes], axis=1)
        mean = scores.mean(axis=1)
        if np.isnan(mean).all():
            raise ValueError(f"scoring={self.scoring!r} gave NaN for every candidate: it cannot choose among them.")
        tied = np.flatnonzero(mean >= np.nanmax(mean) - TIE)
        params = grid.params
        self.best_index_ = int(max(tied, key=lambda k: (params[k]["lam"], params[k]["rho"] or 1.0)))
        self.best_params_ = params[self.best_index_]
        self.best_score_ = float(mean[self.best_index_])
        self.n_splits_ = len(outcomes)
        self.cv_results_ = _results(params, scores, outcomes)
        self._warn_of_folds(outcomes)

    def _warn_of_folds(self, outcomes: list[Outcome]) -> None:
        failed = sum(outcome.failed for outcome in outcomes)
        if failed:
            warnings.warn(
                f"{failed} of the solutions in the folds did not reach the tolerance (cv_results_['gap'] has the "
                f"gaps): raise max_iter or tol={self.tol:g}, or use solver='interior-point'.",
                ConvergenceWarning,
                stacklevel=4,
            )


@dataclass(frozen=True)
class Data:
    """Rows, labels as given, and weights if given."""

    table: Floats
    y: np.ndarray
    weight: Floats | None

    @property
    def n(self) -> int:
        return int(self.y.size)

    def take(self, rows: Ints, trained: Ints | None = None) -> Data:
        """Return some of the rows; of precomputed kernels, those of ``rows`` against the rows ``trained``."""
        if self.table.ndim == 3:
            table = self.table[:, rows[:, None], (rows if trained is None else trained)[None, :]]
        else:
            table = self.table[rows]
        return Data(table, self.y[rows], None if self.weight is None else self.weight[rows])


class Candidate(StPMKLClassifier):
    """A model of the training rows of one fold, which becomes each candidate in turn to be scored."""

    names: list[str]

    def _column_names(self) -> list[str]:
        return self.names

    def _check_new(self, X: Any) -> Floats:
        return np.asarray(X, dtype=np.float64)  # rows of a table that has been checked

    def _warn(self, results: list[SolveResult]) -> None:
        pass  # counted, and said once for all folds


class Outcome(NamedTuple):
    """What one fold says of every candidate, and how many of its solutions missed the tolerance."""

    score: Floats
    theta: Floats
    n_iter: Floats
    gap: Floats
    failed: int


@dataclass(frozen=True)
class Grid:
    """The candidates, and how they are solved."""

    lams: Floats
    rhos: list[float | None]
    options: dict[str, Any]

    @property
    def params(self) -> list[dict[str, float | None]]:
        """The parameters of each candidate."""
        return [{"lam": float(lam), "rho": rho} for rho, lam in product(self.rhos, self.lams)]

    def solve(self, problems: list[Problem]) -> list[list[SolveResult]]:
        """Return for each candidate the solution of each problem."""
        walks = [mkl_grid(problem, self.lams, self.rhos, **self.options) for problem in problems]
        columns = [[result for row in walk for result in row] for walk in walks]
        if any(result.status is Status.INTERRUPTED for column in columns for result in column):
            raise KeyboardInterrupt
        return [list(results) for results in zip(*columns, strict=True)]


def _fold(model: Candidate, grid: Grid, scorer: Any, train: Data, test: Data) -> Outcome:
    """Solve every candidate on the training rows of a fold, and score it on the test rows."""
    model = copy(model)  # folds may run in threads
    weights = {} if test.weight is None else {"sample_weight": test.weight}
    table, classes, codes, s = model._check_training(train.table, train.y, train.weight)
    with blas_threads(codes.size):
        kernels, bank, rows, problems = model._pose(table, classes, codes, s)
        solutions, scores = grid.solve(problems), []
        for results in solutions:
            model._store(classes, kernels, bank, rows, results)
            scores.append(float(scorer(model, test.table, test.y, **weights)))
    logger.debug("fold of %d and %d rows: scores %s", train.n, test.n, scores)
    return Outcome(
        np.array(scores),
        np.array([np.mean([r.theta for r in results]) for results in solutions]),
        np.array([np.sum([r.n_iter for r in results]) for results in solutions]),
        np.array([np.max([r.gap for r in results]) for results in solutions]),
        sum(not r.converged for results in solutions for r in results),
    )


def _results(params: list[dict[str, float | None]], scores: Floats, outcomes: list[Outcome]) -> dict[str, Any]:
    """Return the table of results, in the layout of GridSearchCV."""
    mean = scores.mean(axis=1)
    table: dict[str, Any] = {"params": params}
    table |= {f"param_{name}": _masked([p[name] for p in params]) for name in ("lam", "rho")}
    table |= {f"split{k}_test_score": column for k, column in enumerate(scores.T)}
    table |= {"mean_test_score": mean, "std_test_score": scores.std(axis=1), "rank_test_score": _ranks(mean)}
    table["theta"] = np.mean([outcome.theta for outcome in outcomes], axis=0)
    table["n_iter"] = np.sum([outcome.n_iter for outcome in outcomes], axis=0).astype(np.intp)
    table["gap"] = np.max([outcome.gap for outcome in outcomes], axis=0)
    return table


def _masked(values: list[float | None]) -> np.ma.MaskedArray[Any, Any]:
    return np.ma.MaskedArray(np.array(values, dtype=object if None in values else np.float64))


def _ranks(mean: Floats) -> np.ndarray:
    """Return 1 for the best mean score; equal scores share the smallest rank, and NaN comes last."""
    known = np.where(np.isnan(mean), np.nanmin(mean) - 1.0, mean)
    return rankdata(-np.round(known, 12), method="min").astype(np.int32)
