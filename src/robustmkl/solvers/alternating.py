"""MiPMKL, the paper's second baseline: the best case over the unknown label correctness, by alternation.

    min over f and p in [0,1]^n with sum s_i p_i <= rho S of
        lam/2 (sum_j ||f_j||)^2 + (1/S) sum_i s_i (p_i l_i + 1 - p_i)

The robust hinge loss; rho = 1 is the ramp loss. Not convex: each step solves its half exactly, so the objective
never rises, but where it ends depends on where it starts. Several starts, the best end wins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import Floats, Ints
from ..problem import KernelFunction, Problem
from .driver import Best, Point, finish
from .result import SolveResult, Status

Solve = Callable[[Problem], SolveResult]


@dataclass(frozen=True)
class AlternationResult(SolveResult):
    """The best of several alternations.

    ``primal`` is the objective above at (f, p) and ``dual`` a lower bound on it over all f *for this p*: the gap
    proves the f-step, not a global optimum, which nothing here can prove.

    Attributes
    ----------
    p : array of shape (n,)
        Which labels the best case takes for right.
    objectives : tuple of float
        Where each start ended.
    trace : tuple of float
        The objective along the best alternation; it never rises.
    """

    p: Floats = field(default_factory=lambda: np.empty(0))
    objectives: tuple[float, ...] = ()
    trace: tuple[float, ...] = ()

    @property
    def message(self) -> str:
        """How the f-step ended, and what that does not prove."""
        return (
            f"Best of {len(self.objectives)} local optima of a problem that is not convex; no global optimum is "
            f"proved. Of the last f-step: {self.status.value}"
        )


def best_case(losses: Floats, s: Floats, rho: float) -> Floats:
    """Return the p-step: 1 on the smallest losses below 1 until the weight ``rho S`` is used up, else 0."""
    order = np.argsort(losses, kind="stable")
    before = np.cumsum(s[order]) - s[order]
    p = np.zeros_like(losses)
    p[order] = np.clip((rho * s.sum() - before) / s[order], 0.0, 1.0)
    p[losses >= 1.0] = 0.0
    return p


def hinge(problem: Problem, f: KernelFunction) -> Floats:
    """Return the hinge losses ``l_i`` at f."""
    return np.maximum(0.0, 1.0 - problem.y * problem.evaluate(f)[0])


def objective(problem: Problem, f: KernelFunction, p: Floats) -> float:
    """Return the objective of MiPMKL at (f, p)."""
    values, norms = problem.evaluate(f)
    losses = np.maximum(0.0, 1.0 - problem.y * values)
    risk = float(np.dot(problem.s, p * losses + 1.0 - p)) / problem.total
    return problem.penalty.value(norms) + risk


def mipmkl(
    problem: Problem,
    rho: float,
    solve: Solve,
    n_starts: int = 5,
    max_rounds: int = 50,
    rng: np.random.Generator | None = None,
    known: KernelFunction | None = None,
) -> AlternationResult:
    """Alternate from p = 1 and from ``n_starts - 1`` random p, and return the best end.

    Parameters
    ----------
    problem : Problem
        Without budget.
    rho : float
        The share of the weight that may count as right.
    solve : callable
        The certified solver of the f-step, a weighted problem (2).
    known : KernelFunction, optional
        A function to begin with in the place of p = 1.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    n = problem.kernels.n
    first = np.ones(n) if known is None else best_case(hinge(problem, known), problem.s, rho)
    starts = [first, *((rng.random(n) < rho).astype(np.float64) for _ in range(n_starts - 1))]
    ends = [_alternate(problem, rho, solve, p, max_rounds) for p in starts]
    best = min(ends, key=lambda end: end.primal)
    return replace(best, objectives=tuple(end.primal for end in ends), n_iter=sum(end.n_iter for end in ends))


def _alternate(problem: Problem, rho: float, solve: Solve, p: Floats, max_rounds: int) -> AlternationResult:
    result, trace, rounds = _f_step(problem, p, solve), [], 0
    while True:
        rounds += 1
        p = best_case(hinge(problem, result.f), problem.s, rho)
        trace.append(objective(problem, result.f, p))
        following = _f_step(problem, p, solve)
        improved = objective(problem, following.f, p) < trace[-1] - 1e-12 * abs(trace[-1])
        result = following if improved else replace(following, f=result.f, norms=result.norms)
        if not improved:
            return _end(problem, p, result, trace, rounds)
        if rounds >= max_rounds:
            return _end(problem, p, replace(result, status=Status.MAX_ITER), trace, rounds)


def _f_step(problem: Problem, p: Floats, solve: Solve) -> SolveResult:
    """Solve the weighted problem of the rows with p > 0, with ``lam`` in its units, and place it among all rows."""
    rows = np.flatnonzero(p > 0.0)
    if rows.size == 0 or (problem.fit_intercept and np.ptp(problem.y[rows]) == 0.0):
        return _constant(problem, rows, p)
    s = problem.s[rows] * p[rows]
    bank = problem.kernels.take(rows)
    share = float(s.sum()) / problem.total
    part = solve(replace(problem, kernels=bank, y=problem.y[rows], s=s, lam=problem.lam / share))
    alpha = np.zeros(problem.kernels.n)
    alpha[rows] = part.alpha
    f = KernelFunction(problem.kernels.place(part.f.coef, bank, rows), part.f.intercept)
    off = float(np.dot(problem.s, 1.0 - p)) / problem.total
    return replace(part, alpha=alpha, f=f, dual=share * part.dual + off)


def _constant(problem: Problem, rows: Ints, p: Floats) -> SolveResult:
    """The f-step when at most one class is left: a constant has no loss and no norm."""
    b = float(problem.y[rows[0]]) if rows.size else 0.0
    best = Best(problem)
    best.offer(Point(np.zeros(problem.kernels.n), KernelFunction(np.zeros(problem.kernels.size), b)))
    off = float(np.dot(problem.s, 1.0 - p)) / problem.total
    return replace(finish(problem, best, Status.CONVERGED, 1), dual=off)


def _end(problem: Problem, p: Floats, result: SolveResult, trace: list[float], rounds: int) -> AlternationResult:
    primal = objective(problem, result.f, p)
    fields = {name: getattr(result, name) for name in SolveResult.__dataclass_fields__}
    fields |= {"primal": primal, "gap": primal - result.dual, "n_iter": rounds, "theta": 0.0}
    return AlternationResult(**fields, p=p, trace=(*trace, primal))
