"""StPMKL with lam, and rho on request, chosen by cross-validation: one path a fold instead of one fit a candidate."""

from __future__ import annotations

import inspect
import logging
import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain, product
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
from ..parameters import flag
from ..problem import Problem
from ..progress import shown
from ..solvers import Rule, SolveResult, Status, choose
from ..solvers.path import check_lams, lam_grid, mkl_grid
from ..threads import blas_threads
from ..uncertainty import Budget
from .base import _restored_on_error
from .stpmkl import StPMKLClassifier
from .trust import CertifiedClassifier
from .validation import check_labels

logger = logging.getLogger("robustmkl")

ROUGH = 5.0  # the tolerance in the folds, where solutions serve to be compared, in units of tol
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
        changes by a factor only (:func:`~robustmkl.solvers.path.lam_max`) down to 1e-3 of it. Or the values.
    rhos : sequence of float in (0, 1], optional
        The budgets to try with every lam, such as the paper's ``[1, .9, .8, .7, .6, .5]``. None: no budget. No rho
        reaches a classifier that some lam does not reach without budget. (These are budgets of eq. (11). For the
        constraints (10) and (8) search over lam with GridSearchCV and ``StPMKLClassifier(budget=...)``.)
    cv : int, splitter or iterable of (train, test), default=5
        An int means that many stratified folds of the rows of positive weight.
    scoring : str or callable, optional
        A scorer of scikit-learn. None: accuracy.
    kernels, fit_intercept, solver, tol, atol, max_iter, class_weight
        As in :class:`StPMKLClassifier`. Kernels and their scaling are made in each fold from its training rows. In the
        folds, where solutions only serve to be compared, the relative tolerance is five times ``tol``.
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
        with _restored_on_error(self), shown(self.verbose):
            training = self._check_training(X, y, sample_weight)
            labels, codes = check_labels(y, training[-1].size)
            weighted = sample_weight is not None or self.class_weight is not None
            data = Data(training[0], labels[codes], training[-1] if weighted else None)
            scorer, splits = self._check_scorer(weighted), self._splits(data, groups)
            with blas_threads(data.n):
                self._search(training, data, splits, scorer)
        self._warn_of_folds()
        self._warn()
        return self

    def _search(
        self,
        training: tuple[Floats, np.ndarray, Ints, Floats],
        data: Data,
        splits: list[tuple[Ints, Ints]],
        scorer: Any,
    ) -> None:
        """Solve every candidate on all rows and in every fold, and become the best one."""
        rhos = self._check_rhos()
        model, lams = self._model(training)
        kernels, bank, rows, problems = model._pose(*training)
        grid = Grid(lams, rhos, self._options())
        rough = Grid(lams, rhos, grid.options | {"tol": ROUGH * self.tol})
        folds = (delayed(_fold)(model, rough, scorer, data.take(a), data.take(b, a)) for a, b in splits)
        path, *outcomes = Parallel(self.n_jobs)(chain([delayed(grid.solve)(problems)], folds))
        self._choose(grid, outcomes)
        self.memory_estimate_ = model.memory_estimate_
        self._store(training[1], kernels, bank, rows, path[self.best_index_])
        spread = [[self._spread(r, rows) for r in results] for results in path]
        self.path_ = [results[0] if len(results) == 1 else results for results in spread]

    def _check_parameters(self) -> None:
        flag("fit_intercept", self.fit_intercept)
        choose(self.solver)
        Rule(self.tol, self.atol, 1 if self.max_iter is None else self.max_iter)

    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("tol", "atol", "solver", "max_iter")}

    def _model(self, training: tuple[Floats, np.ndarray, Ints, Floats]) -> tuple[Candidate, Floats]:
        """Return the model of any training rows and the values of lam; its own lam is the smallest of them.

        A number of values takes them from all the rows. The kernels have to be exact enough for the smallest.
        """
        model = Candidate(kernels=self.kernels, fit_intercept=self.fit_intercept, lam=1.0, **self._options())
        model.verbose, model.names = self.verbose, self._column_names()
        if isinstance(self.lams, int | np.integer):
            grids = [lam_grid(problem, self.lams) for problem in model._pose(*training)[-1]]
            lams = max(grids, key=lambda grid: float(grid[0]))
        else:
            lams = check_lams(self.lams)
        model.lam = float(lams.min())
        return model, lams

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
        if self.scoring is None or self.scoring == "accuracy":
            return _accuracy
        scorer = check_scoring(self, scoring=self.scoring)
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
        if cv is None or isinstance(cv, Integral):
            cv = StratifiedKFold(
                5 if cv is None else int(cv), shuffle=self.random_state is not None, random_state=self.random_state
            )
        present = np.arange(data.n) if data.weight is None else np.flatnonzero(data.weight > 0.0)
        if hasattr(cv, "split") and not isinstance(cv, str):
            X = data.table[present] if data.table.ndim == 2 else np.zeros((present.size, 1))
            found = cv.split(X, data.y[present], None if groups is None else np.asarray(groups)[present])
            splits = [(present[train], present[test]) for train, test in found]
        else:
            every = np.arange(data.n)
            pairs = [(every[train], every[test]) for train, test in check_cv(cv).split()]
            splits = [(train[np.isin(train, present)], test[np.isin(test, present)]) for train, test in pairs]
        for k, (train, test) in enumerate(splits):
            if np.unique(data.y[train]).size < 2 or test.size == 0:
                raise ValueError(
                    f"fold {k} of cv has {test.size} test rows and {np.unique(data.y[train]).size} classes to train "
                    "on, counting rows of positive weight: use fewer folds, or a splitter that is stratified."
                )
        return splits

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
        self._failed = sum(outcome.failed for outcome in outcomes)
        if self.verbose:
            chosen = (self.best_score_, len(params), self.best_params_)
            logger.info("mean score %.4f, the best of %d candidates, at %s", *chosen)

    def _warn_of_folds(self) -> None:
        if self._failed:
            warnings.warn(
                f"{self._failed} of the solutions in the folds did not reach the tolerance (cv_results_['gap'] has the "
                f"gaps): raise max_iter or tol={self.tol:g}, or use solver='interior-point'.",
                ConvergenceWarning,
                stacklevel=3,
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
    def params(self) -> list[dict[str, Any]]:
        """The parameters of each candidate."""
        return [{"lam": float(lam), "rho": rho} for lam, rho in product(self.lams, self.rhos)]

    def solve(self, problems: list[Problem]) -> list[list[SolveResult]]:
        """Return for each candidate the solution of each problem."""
        walks = [mkl_grid(problem, self.lams, self.rhos, **self.options) for problem in problems]
        if any(row[-1].status is Status.INTERRUPTED for walk in walks for row in walk):
            raise KeyboardInterrupt
        columns = [[result for at_lam in zip(*walk, strict=True) for result in at_lam] for walk in walks]
        return [list(results) for results in zip(*columns, strict=True)]


def _fold(model: Candidate, grid: Grid, scorer: Any, train: Data, test: Data) -> Outcome:
    """Solve every candidate on the training rows of a fold, and score it on the test rows."""
    model = copy(model)  # folds may run in threads
    weights = {} if test.weight is None else {"sample_weight": test.weight}
    table, classes, codes, s = model._check_training(train.table, train.y, train.weight)
    with blas_threads(codes.size):
        kernels, bank, rows, problems = model._pose(table, classes, codes, s)
        solutions, scores = grid.solve(problems), []
        model._store(classes, kernels, bank, rows, solutions[0])
        for results in solutions:
            model._become(kernels, bank, rows, results)
            scores.append(float(scorer(model, test.table, test.y, **weights)))
    logger.debug("fold of %d and %d rows: scores %s", train.n, test.n, scores)
    return Outcome(
        np.array(scores),
        np.array([np.mean([r.theta for r in results]) for results in solutions]),
        np.array([np.sum([r.n_iter for r in results]) for results in solutions]),
        np.array([np.max([r.gap for r in results]) for results in solutions]),
        sum(not r.converged for results in solutions for r in results),
    )


def _accuracy(model: Candidate, X: Floats, y: np.ndarray, sample_weight: Floats | None = None) -> float:
    """Return the share of right predictions, without checks of the data, which take longer than predictions."""
    return float(np.average(model.predict(X) == y, weights=sample_weight))


def _results(params: list[dict[str, Any]], scores: Floats, outcomes: list[Outcome]) -> dict[str, Any]:
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
