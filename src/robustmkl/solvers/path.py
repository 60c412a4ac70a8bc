"""Certified solutions of problem (11) for many lam and rho, each from what the others have shown.

**Where a solution is known already.** Write ``G = max_j ||g_j||`` at a dual solution alpha. As lam changes, the
solution of ordinary MKL moves along a ray on two ends of the path, and so does that of StPMKL under a binding
budget; on a ray nothing has to be solved:

    lam >= lam_max               same alpha,                  f ~ 1 / lam (the constant of f tends to the heavier class)
    budget active, theta > 0     same alpha,                  f ~ 1 / lam (lam (1 - theta) does not change)
    all alpha_i < h              alpha ~ lam,                 same f      (hard margin)

So a grid over (lam, rho) is one path in lam: where the budget is inactive, StPMKL(lam, rho) is SiPMKL(lam), shared
by every rho; where it is active, one solution gives all larger lam of that rho. Every result is certified by its own
problem, never by these arguments: a scaled copy that is not within the tolerance is not used.

With the sets of (10) and (8) the budget is no choice of lam, and there is no grid over rho. Along lam the last line
holds while all losses are 0, and the first, in (10), while all are positive. Copies are certified there as well.

**Where it is not**, the neighbour says which kernels matter. Those with ``||g_j||`` near G are solved for alone; the
certificate on all kernels then proves the result, or names the kernels that were missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import log
from typing import Any

import numpy as np

from ..arrays import Floats, Ints
from ..kernels import KernelDictionary, PrecomputedKernels, paper_dictionary
from ..kernels.bank import KernelBank, Selection
from ..memory import require
from ..parameters import whole
from ..problem import KernelFunction, Problem
from ..progress import shown
from ..threads import blas_threads
from ..uncertainty import Budget, UncertaintySet
from .driver import Iterates, Point, Rule, run
from .interior_point import interior_point, workspace
from .result import SolveResult, Status

SPAN = 1e-3  # smallest over largest lam of a grid: on the five tables the best was within .002, with noise within .02
NEAR = 0.75  # kernels with ||g_j|| >= NEAR G are solved for
NEGLIGIBLE = 0.01  # error of the kernels while they are solved for, in units of tol lam; the certificate has all
LIMIT = 200  # iterations


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
    return _limit(problem).lam


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


# -- what a solution tells about its neighbours ------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """A solution, with what its scaled copies need: to try one costs O(n log n), no kernels.

    Attributes
    ----------
    lam, budget
        Of which problem.
    values : array
        ``f(x_i)`` without the intercept.
    norms : array
        ``||f_j||``.
    q : array
        ``||g_j||^2`` at alpha.
    """

    lam: float
    budget: UncertaintySet
    point: Point
    values: Floats
    norms: Floats
    q: Floats

    @classmethod
    def of(cls, problem: Problem, point: Point) -> Known:
        values, norms = problem.evaluate(point.f)
        q = problem.gradient_norms(point.alpha)
        return cls(problem.lam, problem.budget, point, values - point.f.intercept, norms, q)

    def copy(self, problem: Problem) -> Copy:
        """Return the best scaled copy for a problem that differs in lam and budget."""
        alpha, dual = self._shrink(problem)
        ratio = self.lam / problem.lam
        constants = (0.0, -1.0, 1.0) if problem.fit_intercept else (0.0,)
        choices = [(c, c * self.point.f.intercept + (1.0 - c) * b) for c in (1.0, ratio) for b in constants]
        primal, c, b = min((self._primal(problem, c, b), c, b) for c, b in choices)
        return Copy(primal, dual, Point(alpha, KernelFunction(c * self.point.f.coef, b)))

    def _shrink(self, problem: Problem) -> tuple[Floats, float]:
        """Return the best feasible multiple of alpha, and D there: ``tau M - tau^2 G^2 / (2 lam)`` at its maximum."""
        alpha, q = self.point.alpha, float(self.q.max())
        mass = float(np.dot(problem.s, alpha)) / problem.total
        allowed = problem.budget.shrink(alpha, problem.s)
        tau = min(allowed, problem.lam * mass / q) if q > 0.0 else allowed
        return tau * alpha, tau * mass - tau * tau * q / (2.0 * problem.lam)

    def _primal(self, problem: Problem, c: float, b: float) -> float:
        v = 1.0 - problem.y * (c * self.values + b)
        return problem.penalty.value(c * self.norms) + problem.budget.support(v, problem.s) / problem.total


@dataclass(frozen=True)
class Copy:
    """A scaled copy of a known point, with its expected values."""

    primal: float
    dual: float
    point: Point

    def promises(self, rule: Rule) -> bool:
        """Whether the certificate can be expected to meet the rule."""
        return self.primal - self.dual <= rule.atol + rule.tol * self.primal


def near(q: Floats) -> Ints:
    """Return the kernels that may be active in the neighbourhood of a dual point: ``||g_j|| >= NEAR G``."""
    return np.flatnonzero(q >= NEAR**2 * q.max())


def _limit(problem: Problem) -> Known:
    """Return the solution at lam_max: alpha = h (the heavier class scaled down), f on the kernel of largest g_j.

    In (8), which has no such lam, h stands for the value of alpha at f = 0, where all losses are equal.
    """
    problem = problem.without_budget()
    bank, y = problem.kernels, problem.y
    alpha = problem.restore(problem.budget.maximiser(np.ones(bank.n), problem.s))
    q = problem.gradient_norms(alpha)
    chosen = np.arange(bank.m) == q.argmax()
    g = bank.expand(bank.adjoint(problem.s * alpha * y / problem.total)) * bank.spread(chosen.astype(np.float64))
    values, norms = problem.evaluate(KernelFunction(g))
    lam, b = _end_of_margin(problem, alpha, values, float(q.max()))
    f = KernelFunction(g / lam, b)
    return Known(lam, problem.budget, Point(alpha, f), values / lam, norms / lam, q)


def _end_of_margin(problem: Problem, alpha: Floats, g: Floats, q: float) -> tuple[float, float]:
    """Return the smallest lam for which no row is beyond the margin of ``f = g / lam + b``, and that b."""
    if q <= 0.0:
        return 1.0, 0.0  # f = 0 for every lam
    positive = problem.y > 0
    if not problem.fit_intercept:
        return float((problem.y * g).max()), 0.0
    highest, lowest = g[positive].max(initial=-np.inf), g[~positive].min(initial=np.inf)
    lam = 0.5 * float(highest - lowest)
    if alpha.min() < (1.0 - 1e-12) * alpha.max():
        lam = float(np.sqrt(q * problem.kernels.diagonal_bound().max()))
    return lam, 1.0 - float(highest) / lam


# -- some of the kernels -----------------------------------------------------------------------------------------


def thin(part: Selection, negligible: float) -> Selection:
    """Leave out of each basis the columns that count for less than ``negligible`` in all of its cores."""
    bank, cores, bases, kept = part.bank, [], [], []
    for i, (C, places) in enumerate(zip(bank.cores, bank.blocks(part.places), strict=True)):
        B = bank.basis_of(i)
        if B is not None:
            size = np.abs(C).max(axis=(0, 1))
            large = size >= negligible * size.max()
            C, B, places = C[:, large][:, :, large], B[:, large], places[:, large]
        cores.append(C)
        bases.append(B)
        kept.append(places)
    other = bank._like(bank.names_by_family, cores, bases, bank.n)
    where = np.empty(other.size, dtype=np.intp)
    for block, places in zip(other.blocks(where), kept, strict=True):
        block[:] = places
    return Selection(part.kernels, other, where, part.size)


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
        self.known = self.known or [_limit(problem)]
        if problem.budget not in self.budgets:
            self.budgets.add(problem.budget)
            return self.known
        alike = [known for known in self.known if known.budget == problem.budget]
        return [*sorted(self.known, key=lambda known: abs(log(known.lam / problem.lam)))[:2], *alike[-1:]]

    def _solve_anew(self, problem: Problem, nearest: Known, start: Point) -> SolveResult:
        from . import choose, solve  # solvers/__init__.py imports this module

        rule, found = self.rule, []
        if choose(self.solver, problem.budget.kind) == "interior-point":
            growth = Growth(problem, near(nearest.q), rule, start)
            result = run(problem, growth.iterates(), replace(rule, max_iter=LIMIT), verbose=self.verbose)
            if result.status in (Status.CONVERGED, Status.INTERRUPTED):
                return replace(result, n_iter=growth.n_iter)
            found.append(result)
        options: dict[str, Any] = {"tol": rule.tol, "atol": rule.atol, "max_iter": rule.max_iter}
        found.append(solve(problem, self.solver, **options, start=start, verbose=self.verbose))
        best = min(found, key=lambda result: result.gap)
        return replace(best, status=found[-1].status, n_iter=found[-1].n_iter)


@dataclass
class Growth:
    """Solves for a few kernels, adds those that the dual point says are missing, and solves again."""

    problem: Problem
    kernels: Ints
    rule: Rule
    start: Point
    n_iter: int = 0

    def iterates(self) -> Iterates:
        """Yield the solution of each round, as a point of the whole problem; end when no kernel is missing."""
        yield lambda: self.start  # the best known, should the first round be interrupted
        half = replace(self.rule, tol=0.5 * self.rule.tol, atol=0.5 * self.rule.atol)
        negligible = NEGLIGIBLE * half.tol * self.problem.lam
        while True:
            part = thin(self.problem.kernels.select(self.kernels), negligible)
            problem, bank = replace(self.problem, kernels=part.bank), part.bank
            require(workspace(bank.n, bank.rank, bool(bank.identities)), f"the Newton matrices of {bank.n:,} rows")
            result = run(problem, interior_point(problem), half)
            self.n_iter += result.n_iter
            point = Point(result.alpha, KernelFunction(part.embed(result.f.coef), result.intercept))
            yield lambda: point
            if result.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            grown = np.union1d(self.kernels, near(self.problem.gradient_norms(point.alpha)))
            if grown.size == self.kernels.size:
                return
            self.kernels = grown


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
    from . import SOLVERS, choose

    lams, budgets = check_lams(lams), [_budget(problem, rho) for rho in rhos]
    limit = SOLVERS[choose(solver, problem.budget.kind)].max_iter if max_iter is None else max_iter
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
        problem = _problem(problem, y, lams, tol, kernels, fit_intercept, sample_weight, h)
    elif not (y is None or np.array_equal(problem.y, _signs(y))):
        raise ValueError("y is not the labels of the Problem: leave it out, mkl_path(problem, lams=..).")
    values = lam_grid(problem, lams) if isinstance(lams, int | np.integer) else check_lams(lams)
    if rho is None and isinstance(problem.budget, Budget):
        rho = problem.budget.rho
    options: dict[str, Any] = {"tol": tol, "atol": atol, "solver": solver, "max_iter": max_iter, "verbose": verbose}
    return mkl_grid(problem, values, [rho], **options)[0]


def _problem(
    X: Any, y: Any, lams: Any, tol: float, kernels: str | KernelDictionary, fit_intercept: bool, weight: Any, h: float
) -> Problem:
    """Return the problem of rows and labels, with kernels exact enough for the smallest lam."""
    given = np.asarray(X, dtype=np.float64)
    n = given.shape[-2] if given.ndim > 1 else 0
    s = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    labels = np.asarray(y)
    if given.ndim != (3 if _is_precomputed(kernels) else 2) or labels.shape != (n,) or s.shape != (n,):
        raise ValueError(
            f"X has shape {given.shape}, y {labels.shape} and sample_weight {s.shape}: give rows (n, d), or kernels "
            "(m, n, n) with kernels='precomputed', and one label and one weight a row."
        )
    if not (np.isfinite(given).all() and np.isfinite(s).all() and (s >= 0.0).all()):
        raise ValueError("X and sample_weight must be finite, and weights >= 0: leave the other rows out.")
    kept, budget = np.flatnonzero(s > 0.0), Budget(h, h)
    signs = _signs(labels[kept])

    def build(exact: bool) -> Problem:
        return Problem(_bank(X, given, kept, kernels, exact), signs, s[kept], 1.0, budget, fit_intercept)

    problem = build(exact=False)
    least = SPAN * lam_max(problem) if isinstance(lams, int | np.integer) else float(check_lams(lams).min())
    return build(exact=True) if problem.kernels.too_coarse(0.05 * tol * least / h) else problem


def _signs(y: Any) -> Floats:
    """Return the labels of two classes as -1 and +1."""
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if classes.size != 2:
        raise ValueError(
            f"y holds {classes.size} classes ({classes[:5]}): a path is of two, or of one against all others."
        )
    return np.where(codes == 1, 1.0, -1.0)


def _is_precomputed(kernels: Any) -> bool:
    return isinstance(kernels, str) and kernels == "precomputed"


def _bank(X: Any, given: Floats, kept: Ints, kernels: str | KernelDictionary, exact: bool) -> KernelBank:
    if _is_precomputed(kernels):
        return PrecomputedKernels(given, kept).bank()
    if not (isinstance(kernels, KernelDictionary) or kernels == "paper"):
        raise ValueError(f"kernels must be 'paper', 'precomputed' or a KernelDictionary, got {kernels!r}.")
    dictionary = kernels if isinstance(kernels, KernelDictionary) else paper_dictionary()
    names = [str(name) for name in getattr(X, "column_names", getattr(X, "columns", ()))]
    return dictionary.fit(given[kept], names or None, exact).bank(given[kept])
