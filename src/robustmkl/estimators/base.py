"""What the classifiers share: rows in, kernels fitted, one problem a class solved, predictions out."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..arrays import Floats, Ints
from ..kernels import FittedDictionary, KernelBank, KernelDictionary, PrecomputedKernels, paper_dictionary
from ..kernels.dictionary import Extent
from ..memory import available_bytes, format_bytes, require
from ..parameters import flag
from ..penalty import SquaredBlockNorm
from ..problem import Problem
from ..progress import logger, shown
from ..solvers import SOLVERS, Point, Rule, SolveResult, Status, choose, estimate_workspace, solve
from ..solvers.result import remedy
from ..threads import blas_threads
from ..uncertainty import Budget, UncertaintySet
from .rows import Rows
from .validation import (
    check_labels,
    check_stack,
    check_table,
    check_two_classes,
    check_weights,
    class_weights,
)


class MKLClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the classifiers: everything but the budget."""

    lam: float
    kernels: str | KernelDictionary
    fit_intercept: bool
    solver: str
    tol: float
    atol: float
    max_iter: int | None
    class_weight: Any
    warm_start: bool
    n_jobs: int | None
    verbose: int

    @abstractmethod
    def _budget(self, total: float) -> UncertaintySet:
        """Return the set Q for rows of a total weight."""

    @property
    def _kind(self) -> str:
        """The kind of the set Q."""
        return Budget.kind

    @property
    def _solver_name(self) -> str:
        """The solver that is used: "auto" stands for one of them."""
        return choose(self.solver, self._kind)

    # -- fit -------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows ``X`` and labels ``y``.

        Parameters
        ----------
        X : array or data frame of shape (n, d); with ``kernels="precomputed"`` an array (m, n, n)
        y : array of shape (n,)
            Labels of two or more classes, as they are: numbers or words.
        sample_weight : array of shape (n,), optional
            Weight 0 is absence, weight 2 a row given twice.

        Returns
        -------
        self
        """
        with _restored_on_error(self), shown(self.verbose):
            table, classes, codes, s = self._check_training(X, y, sample_weight)
            with blas_threads(table.shape[-2]):
                kernels, bank, rows, problems = self._pose(table, classes, codes, s)
                results = self._solve_all(problems, self._starts(len(problems), bank))
            self._store(classes, kernels, bank, rows, results)
        self._warn()
        return self

    def _pose(
        self, table: Floats, classes: np.ndarray, codes: Ints, s: Floats
    ) -> tuple[FittedDictionary | PrecomputedKernels, KernelBank, Rows, list[Problem]]:
        """Fit the kernels, and return them with one problem for two classes, else one a class."""
        budget = self._budget(float(s.sum()))
        kernels, bank, rows = self._fit_kernels(table, codes, s, budget)
        labels = codes[rows.first]
        signs = [2.0 * (labels == c) - 1.0 for c in (range(classes.size) if classes.size > 2 else [1])]
        problems = [Problem(bank, y_c, rows.s, self.lam, budget, self.fit_intercept) for y_c in signs]
        return kernels, bank, rows, problems

    def _check_parameters(self) -> None:
        for name in ("fit_intercept", "warm_start"):
            flag(name, getattr(self, name))
        SquaredBlockNorm(self.lam)
        choose(self.solver, self._kind)
        Rule(self.tol, self.atol, 1 if self.max_iter is None else self.max_iter)

    def _check_training(
        self, X: Any, y: Any, sample_weight: Any, reset: bool = True
    ) -> tuple[Floats, np.ndarray, Ints, Floats]:
        self._check_parameters()
        if self._is_precomputed:
            table = check_stack(X)
            n = table.shape[1]
            if reset:
                self.n_features_in_ = n
        else:
            table = check_table(self, X, reset)
            n = table.shape[0]
        classes, codes = check_labels(y, n)
        given = check_weights(sample_weight, n)
        s = given * class_weights(self.class_weight, classes, codes, given)
        return table, *check_two_classes(classes, codes, s), s

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    def _dictionary(self) -> KernelDictionary:
        if isinstance(self.kernels, KernelDictionary):
            return self.kernels
        if isinstance(self.kernels, str) and self.kernels == "paper":
            return paper_dictionary()
        raise ValueError(f"kernels must be 'paper', 'precomputed' or a KernelDictionary, got {self.kernels!r}.")

    def _fit_kernels(
        self, X: Floats, codes: Ints, s: Floats, budget: UncertaintySet
    ) -> tuple[FittedDictionary | PrecomputedKernels, KernelBank, Rows]:
        if self._is_precomputed:
            rows = Rows.as_given(s)
            m, n = X.shape[0], rows.first.size
            self.memory_estimate_ = X.nbytes + estimate_workspace(self._solver_name, n, Extent(m, m * n, n, True))
            require(self.memory_estimate_, f"{m} kernels of {n:,} rows and solver={self.solver!r}")
            stack = PrecomputedKernels(X, rows.first)
            return stack, stack.bank(), rows
        rows = Rows.distinct(X, codes, s)
        table, names = X[rows.first], self._column_names()
        self._announce(table, names)
        fitted = self._dictionary().fit(table, names)
        bank = fitted.bank(table)
        if self._wants_exact(bank, budget.support(np.ones(rows.s.size), rows.s) / float(rows.s.sum())) and self._fits(
            table, names
        ):
            self._announce(table, names, exact=True)
            fitted = self._dictionary().fit(table, names, exact=True)
            bank = fitted.bank(table)
        return fitted, bank, rows

    def _wants_exact(self, bank: KernelBank, most: float) -> bool:
        """Whether the tolerance asks for more than the shared bases give, of a solver that can reach it.

        ``P <= most``, its value at f = 0, so this bounds kernel_error before anything is solved.
        """
        tolerance = self.tol + self.atol / most
        precise = SOLVERS[self._solver_name].precise
        return precise and tolerance > 0.0 and bank.too_coarse(0.05 * tolerance * self.lam / most)

    def _fits(self, table: Floats, names: list[str]) -> bool:
        """Whether exact Gram matrices fit into memory; if not, kernel_error says what the shared bases cost."""
        free = available_bytes()
        return free is None or self._estimate(table, names, exact=True) < free

    def _column_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(name) for name in names]

    def _announce(self, table: Floats, columns: Sequence[str], exact: bool = False) -> None:
        """Estimate the memory of the fit, refuse what cannot fit, and say the figure."""
        n, need = table.shape[0], self._estimate(table, columns, exact)
        m = self._dictionary().extent(n, columns, exact, table).kernels
        require(need, f"{m} kernels of {n:,} rows and solver={self.solver!r}")
        self.memory_estimate_ = need
        if self.verbose:
            logger.info("%d kernels of %d rows: about %s", m, n, format_bytes(need))

    def _estimate(self, table: Floats, columns: Sequence[str], exact: bool) -> int:
        dictionary, n = self._dictionary(), table.shape[0]
        extent = dictionary.extent(n, columns, exact, table)
        return dictionary.estimate_memory(n, columns, exact, table) + estimate_workspace(self._solver_name, n, extent)

    def _starts(self, count: int, bank: KernelBank) -> list[Point | None]:
        """Return the points of the previous fit where warm_start asks for them and they are of this size."""
        known: list[Point] = getattr(self, "_points", []) if self.warm_start else []
        fits = len(known) == count and all(p.alpha.size == bank.n and p.f.coef.size == bank.size for p in known)
        return list(known) if fits else [None] * count

    def _solve_all(self, problems: list[Problem], starts: list[Point | None]) -> list[SolveResult]:
        if len(problems) == 1:
            return [self._solve(problems[0], starts[0])]

        def work(problem: Problem, start: Point | None) -> SolveResult:
            return passed_on(self._solve(problem, start))

        pairs = zip(problems, starts, strict=True)
        return list(Parallel(self.n_jobs, prefer="threads")(delayed(work)(p, start) for p, start in pairs))

    def _solve(self, problem: Problem, start: Point | None) -> SolveResult:
        return solve(
            problem,
            self.solver,
            tol=self.tol,
            atol=self.atol,
            max_iter=self.max_iter,
            start=start,
            verbose=self.verbose,
        )

    def _store(
        self,
        classes: np.ndarray,
        kernels: FittedDictionary | PrecomputedKernels,
        bank: KernelBank,
        rows: Rows,
        results: list[SolveResult],
    ) -> None:
        self._parameters = self.get_params(deep=False)
        self.classes_ = classes
        self.kernel_names_ = np.array(kernels.kernel_names, dtype=object)
        self._become(kernels, bank, rows, results)

    def _become(
        self,
        kernels: FittedDictionary | PrecomputedKernels,
        bank: KernelBank,
        rows: Rows,
        results: list[SolveResult],
    ) -> None:
        """Be the model of these results, one a class."""
        self._points = [Point(r.alpha, r.f) for r in results]
        results = [self._spread(r, rows) for r in results]
        worst = max(results, key=lambda r: r.gap)
        many = len(results) > 1
        self.result_ = results if many else results[0]
        self.primal_, self.dual_, self.gap_ = worst.primal, worst.dual, worst.gap
        self.n_iter_ = max(r.n_iter for r in results)
        self.intercept_ = np.array([r.intercept for r in results])
        weights = np.stack([_shares(r.norms) for r in results])
        self.kernel_weights_ = weights if many else weights[0]
        alphas = np.stack([r.alpha for r in results])
        self.alpha_ = alphas if many else alphas[0]
        self._expansions = [kernels.expansion(bank.blocks(r.f.coef)) for r in results]

    def _as_fitted(self) -> Self:
        """Return this model with the parameters that it was fitted with, whatever has been set since."""
        model = copy(self)
        model.__dict__.update(self._parameters)
        return model

    def _spread(self, result: SolveResult, rows: Rows) -> SolveResult:
        """Put what a result says of the rows in the order of the rows given."""
        return replace(result, alpha=rows.spread(result.alpha))

    def _warn(self) -> None:
        for result in self._results:
            if not result.converged:
                warnings.warn(
                    f"{result.message} After {result.n_iter} iterations the gap is {result.gap:.3g} "
                    f"(primal {result.primal:.6g}) and the tolerance {self.atol + self.tol * result.primal:.3g}: "
                    f"{remedy(result.status, self._solver_name, choose('auto', self._kind))}.",
                    ConvergenceWarning,
                    stacklevel=3,
                )

    # -- prediction ------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """Return ``f(x)``: positive for ``classes_[1]``; with more than two classes one column a class.

        Parameters
        ----------
        X : array or data frame of shape (n, d); with ``kernels="precomputed"`` an array (m, n, n_train)
        """
        check_is_fitted(self)
        rows = self._as_fitted()._check_new(X)
        values = [expand(rows) + b for expand, b in zip(self._expansions, self.intercept_, strict=True)]
        return values[0] if len(values) == 1 else np.stack(values, axis=1)

    def _check_new(self, X: Any) -> Floats:
        if not self._is_precomputed:
            return check_table(self, X, reset=False)
        grams = check_stack(X, self.n_features_in_)
        if grams.shape[0] != len(self.kernel_names_):
            raise ValueError(f"X holds {grams.shape[0]} kernels; the model was trained on {len(self.kernel_names_)}.")
        return grams

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row."""
        values = self.decision_function(X)
        winners = (values > 0.0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return np.asarray(self.classes_[winners])

    @property
    def _results(self) -> list[SolveResult]:
        return self.result_ if isinstance(self.result_, list) else [self.result_]


def passed_on(result: SolveResult) -> SolveResult:
    """Return a result; pass an interrupt on where one solution alone is of no use."""
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result


@contextmanager
def _restored_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """Give an estimator its attributes back if a fit fails: a model that was fitted stays as it was."""
    before = dict(vars(estimator))
    with ExitStack() as undo:
        undo.callback(vars(estimator).update, before)
        undo.callback(vars(estimator).clear)
        yield
        undo.pop_all()


def _shares(norms: Floats) -> Floats:
    """Return ``u_j = ||f_j|| / sum ||f||``; equal shares for f = 0."""
    total = float(norms.sum())
    return norms / total if total > 0.0 else np.full(norms.size, 1.0 / norms.size)
