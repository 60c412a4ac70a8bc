"""Certified solutions of problem (11) for many lam and rho, each from what the others have shown.

Ends of a path, and all of it under a binding budget, are rays on which solutions are scaled copies of each other (see
:mod:`.known`). So a grid over (lam, rho) is one path in lam: where the budget is inactive, StPMKL(lam, rho) is
SiPMKL(lam), shared by every rho; where it is active, one solution gives all larger lam of that rho. Elsewhere the
neighbour says which kernels matter, and the solver begins where it has been for the lam before (:mod:`.trail`).

Every result is certified by its own problem, never by these arguments: a copy that is not within the tolerance is not
used. With the sets of (10) and (8) the budget is no choice of lam, and there is no grid over rho.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import log
from typing import Any

import numpy as np

from ..arrays import Floats
from ..kernels import KernelDictionary
from ..parameters import whole
from ..pose import Given, signs
from ..problem import Problem
from ..progress import shown
from ..threads import blas_threads
from ..uncertainty import Budget, UncertaintySet
from .driver import Point, Rule, run
from .interior_point import interior_point
from .known import Known, limit, near
from .methods import SOLVERS, check_workspace, choose, solve
from .result import SolveResult, Status
from .trail import Trail

SPAN = 1e-3  # smallest over largest lam of a grid: on the five tables the best was within .002, with noise within .02
NEGLIGIBLE = 0.01  # error of the kernels while they are solved for, in units of tol lam; the certificate has all


# -- the grid ----------------------------------------------------------------------------------------------------


def lam_max(problem: Problem) -> float:
    """Return the lam from which on ordinary MKL no longer learns: a larger lam only scales its f, by ``1 / lam``.

    f itself is constant for no finite lam: the penalty ``(sum ||f_j||)^2`` has no slope at f = 0, so that
    ``lam sum ||f_j|| = G > 0``. What ends is the change of alpha. Without intercept, and for classes of equal weight,
    ``alpha = h`` is optimal if and only if no row lies beyond the margin, ``y_i f(x_i) <= 1``, for the f of the
    largest ``g_j``, which gives lam_max in closed form (an upper bound where several kernels are largest):

        lam_max = max_i y_i g_j(x_i),      with an intercept   (max_{y_i > 0} g_j(x_i) - min_{y_i < 0} g_j(x_i)) / 2

    For classes of unequal weight and an intercept the heavier class is not at h and its alpha is not known
    beforehand. There, ``G max_j sqrt(kappa_j)`` at any alpha of the largest mass is an upper bound,
    ``kappa_j = max_i k_j(x_i, x_i)``: no two values of f differ by more than 2. A budget only lowers it. For (10) it
    is that of ``h = 1 + tau``; for (8), whose alpha never stops turning, the place where a grid can begin.
    """
    return limit(problem).lam


def lam_grid(problem: Problem, count: int | np.integer[Any], span: float = SPAN) -> Floats:
    """Return ``count`` values of lam in decreasing order, evenly spaced in the logarithm, from :func:`lam_max` down."""
    top = lam_max(problem)
    return top * np.geomspace(1.0, span, whole("lams", count, 1))


def check_lams(lams: Any) -> Floats:
    """Return given values of lam as an array; refuse what is no lam."""
    values = np.asarray(lams, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not (np.isfinite(values) & (values > 0.0)).all():
        raise ValueError(f"lams must be a number of values or a sequence of positive numbers, got {lams!r}.")
    return values


# -- the walk ----------------------------------------------------------------------------------------------------


@dataclass
class Walk:
    """Solves problems that differ in lam and budget only, and remembers what it has solved."""

    problem: Problem
    rule: Rule
    solver: str = "auto"
    verbose: int = 0
    known: list[Known] = field(default_factory=list)
    budgets: set[UncertaintySet] = field(default_factory=set)
    trails: dict[UncertaintySet, Trail] = field(default_factory=dict)

    def solve(self, lam: float, budget: UncertaintySet) -> SolveResult:
        """Return the certified solution: a scaled copy of a known one where that is within the tolerance."""
        problem = replace(self.problem, lam=lam, budget=budget)
        copies = [(known.copy(problem), known) for known in self._neighbours(problem)]
        copy, nearest = min(copies, key=lambda pair: pair[0].primal - pair[0].dual)
        if copy.promises(self.rule):
            result = run(problem, iter([lambda: copy.point]), self.rule, verbose=self.verbose)
            if result.status in (Status.CONVERGED, Status.INTERRUPTED):
                return result
        result = self._solve_anew(problem, nearest, copy.point)
        self.known.append(Known.of(problem, Point(result.alpha, result.f)))
        return result

    def along(self, lams: Floats, budget: UncertaintySet) -> list[SolveResult]:
        """Return the solutions for these lam, up to the one that is interrupted."""
        found: list[SolveResult] = []
        for lam in lams:
            found.append(self.solve(float(lam), budget))
            if found[-1].status is Status.INTERRUPTED:
                break
        return found

    def _neighbours(self, problem: Problem) -> list[Known]:
        """Return what may be on a ray with the solution: all for a new budget, else the nearest and the last of it."""
        self.known = self.known or [limit(problem)]
        if problem.budget not in self.budgets:
            self.budgets.add(problem.budget)
            return self.known
        alike = [known for known in self.known if known.budget == problem.budget]
        return [*sorted(self.known, key=lambda known: abs(log(known.lam / problem.lam)))[:2], *alike[-1:]]

    def _solve_anew(self, problem: Problem, nearest: Known, start: Point) -> SolveResult:
        rule = self.rule
        if choose(self.solver, problem.budget.kind) != "interior-point":
            options: dict[str, Any] = {"tol": rule.tol, "atol": rule.atol, "max_iter": rule.max_iter}
            return solve(problem, self.solver, **options, start=start, verbose=self.verbose)
        trail = self.trails.setdefault(problem.budget, Trail())
        negligible = NEGLIGIBLE * rule.tol * problem.lam
        beside: dict[str, Any] = {"kernels": near(nearest.q), "negligible": negligible, "trail": trail}
        for hints in (beside, {}):  # without any, should the numbers run out with them
            iterates = chain([lambda: start], interior_point(problem, **hints))
            result = run(problem, iterates, rule, verbose=self.verbose)
            start = Point(result.alpha, result.f)
            if result.status is not Status.NUMERICAL:
                break
        return result


def mkl_grid(
    problem: Problem,
    lams: Sequence[float] | Floats,
    rhos: Iterable[float | None],
    *,
    tol: float = 1e-4,
    atol: float = 0.0,
    solver: str = "auto",
    max_iter: int | None = None,
    verbose: int = 0,
) -> list[list[SolveResult]]:
    """Return certified solutions for every pair of a grid: one list for each rho, in the order of ``lams``.

    By the equivalence of StPMKL and SiPMKL it takes about as many solutions as there are values of lam, and one for
    each rho whose budget binds; the others are scaled copies, each certified by its own problem.

    Parameters
    ----------
    problem : Problem
        Its lam and its budget's rho are not used.
    lams : sequence of float
        Best in decreasing order.
    rhos : sequence of float or None
        None is no budget. A problem with the set of (10) or (8) keeps it, and takes None only.
    tol, atol, solver, max_iter, verbose
        As in :func:`~robustmkl.solvers.solve`.

    Notes
    -----
    An interrupt is passed on, unless there is one rho only: see :func:`mkl_path`.
    """
    lams, budgets = check_lams(lams), [_budget(problem, rho) for rho in rhos]
    limit = SOLVERS[choose(solver, problem.budget.kind)].max_iter if max_iter is None else max_iter
    if choose(solver, problem.budget.kind) == "interior-point":
        check_workspace(problem)
    walk = Walk(problem, Rule(tol, atol, limit), solver, verbose)
    found: list[list[SolveResult]] = [[] for _ in budgets]
    with shown(verbose), blas_threads(problem.kernels.n):
        # From weak budgets to strong ones: the first row serves all budgets where they are inactive. In the others lam
        # increases: the first that makes the budget bind is solved, and the ray from there gets more exact as it rises.
        for turn, i in enumerate(sorted(range(len(budgets)), key=lambda i: -budgets[i].rho)):
            order = np.argsort(lams, kind="stable") if turn else np.arange(lams.size)
            row = walk.along(lams[order], budgets[i])
            if row[-1].status is Status.INTERRUPTED and len(budgets) > 1:
                raise KeyboardInterrupt
            found[i] = [row[k] for k in np.argsort(order)] if turn else row
    return found


def _budget(problem: Problem, rho: float | None) -> UncertaintySet:
    """Return the set of a budget rho, which the sets of (10) and (8) do not know."""
    given = problem.budget
    if isinstance(given, Budget):
        return Budget(given.h if rho is None else rho, given.h)
    if rho is None:
        return given
    raise ValueError(f"rho={rho!r} is a budget of eq. (11), and this problem has {given!r}: leave rho out.")


def mkl_path(
    problem: Problem | Any,
    y: Any = None,
    lams: int | Sequence[float] | Floats = 10,
    rho: float | None = None,
    *,
    kernels: str | KernelDictionary = "paper",
    fit_intercept: bool = True,
    sample_weight: Any = None,
    h: float = 1.0,
    tol: float = 1e-4,
    atol: float = 0.0,
    solver: str = "auto",
    max_iter: int | None = None,
    verbose: int = 0,
) -> list[SolveResult]:
    """Return certified solutions of problem (11) for many lam.

    Parameters
    ----------
    problem : Problem, or array or data frame of shape (n, d), or (m, n, n) with ``kernels="precomputed"``
        A Problem brings labels, weights, kernels and ``h``; its lam is not used.
    y : array of shape (n,)
        Labels of two classes, if rows are given; a Problem has them.
    lams : int or sequence of float
        A number of values, evenly spaced in the logarithm from :func:`lam_max` down to ``1e-3`` of it (see
        :func:`lam_grid`); or the values, best in decreasing order.
    rho : float, optional
        The budget. None: that of the problem, whose set may also be that of (10) or (8); for rows, no budget.
    kernels, fit_intercept, sample_weight, h
        What the problem is made of, if rows are given.
    tol, atol, solver, max_iter, verbose
        As in :func:`~robustmkl.solvers.solve`.

    Returns
    -------
    list of SolveResult
        In the order of ``lams``. For rows given, alpha has one entry a row of positive weight. Interrupted, the path
        ends early, and its last result has the status INTERRUPTED.

    Examples
    --------
    >>> from robustmkl import mkl_path
    >>> from robustmkl.datasets import load_uci
    >>> X, y = load_uci("heart", return_X_y=True)
    >>> [result.converged for result in mkl_path(X, y, lams=[0.1, 0.05, 0.02])]
    [True, True, True]
    """
    if not isinstance(problem, Problem):
        problem = _posed(problem, y, lams, tol, kernels, fit_intercept, sample_weight, h)
    elif not (y is None or np.array_equal(problem.y, signs(y))):
        raise ValueError("y is not the labels of the Problem: leave it out, mkl_path(problem, lams=..).")
    values = lam_grid(problem, lams) if isinstance(lams, int | np.integer) else check_lams(lams)
    if rho is None and isinstance(problem.budget, Budget):
        rho = problem.budget.rho
    options: dict[str, Any] = {"tol": tol, "atol": atol, "solver": solver, "max_iter": max_iter, "verbose": verbose}
    return mkl_grid(problem, values, [rho], **options)[0]


def _posed(
    X: Any, y: Any, lams: Any, tol: float, kernels: str | KernelDictionary, fit_intercept: bool, weight: Any, h: float
) -> Problem:
    """Return the problem of rows and labels, with kernels exact enough for the smallest lam."""
    given = Given.check(X, y, kernels, weight)
    problem = given.problem(h, fit_intercept)
    least = SPAN * lam_max(problem) if isinstance(lams, int | np.integer) else float(check_lams(lams).min())
    too_coarse = problem.kernels.too_coarse(0.05 * tol * least / h)
    return given.problem(h, fit_intercept, exact=True) if too_coarse else problem
