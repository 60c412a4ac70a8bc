"""What a solution of problem (11) tells about its neighbours, which differ in lam and budget.

Write ``G = max_j ||g_j||`` at a dual solution alpha. As lam changes, the solution of ordinary MKL moves along a ray on
two ends of the path, and so does that of StPMKL under a binding budget; on a ray nothing has to be solved:

    lam >= lam_max               same alpha,                  f ~ 1 / lam (the constant of f tends to the heavier class)
    budget active, theta > 0     same alpha,                  f ~ 1 / lam (lam (1 - theta) does not change)
    all alpha_i < h              alpha ~ lam,                 same f      (hard margin)

With the sets of (10) and (8) the last line holds while all losses are 0, and the first, in (10), while all are
positive. Whether a scaled copy is good enough is always for the certificate of its own problem to say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Ints
from ..problem import KernelFunction, Problem
from ..uncertainty import UncertaintySet
from .driver import Point, Rule

NEAR = 0.75  # kernels with ||g_j|| >= NEAR G may be active in the neighbourhood
CANCELLED = 1e-12  # a gradient so small, relative to the same without signs, is rounding


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
        return problem.value(c * self.values + b, c * self.norms)


@dataclass(frozen=True)
class Copy:
    """A scaled copy of a known point, with its expected values."""

    primal: float
    dual: float
    point: Point

    def promises(self, rule: Rule) -> bool:
        """Whether the certificate can be expected to meet the rule."""
        return self.primal - self.dual <= rule.tolerance(self.primal)


def near(q: Floats) -> Ints:
    """Return the kernels that may be active in the neighbourhood of a dual point: ``||g_j|| >= NEAR G``."""
    return np.flatnonzero(q >= NEAR**2 * q.max())


def limit(problem: Problem) -> Known:
    """Return the solution at lam_max: alpha = h (the heavier class scaled down), f on the kernel of largest g_j.

    In (8), which has no such lam, h stands for the value of alpha at f = 0, where all losses are equal.
    """
    problem = problem.without_budget()
    bank, y = problem.kernels, problem.y
    alpha = problem.restore(problem.budget.maximiser(np.ones(bank.n), problem.s))
    q = problem.gradient_norms(alpha)
    if q.max() <= CANCELLED**2 * problem.gradient_norms(alpha * y).max():  # as with contradictory labels
        q = np.zeros_like(q)
    chosen = (np.arange(bank.m) == q.argmax()) & (q > 0.0)
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
