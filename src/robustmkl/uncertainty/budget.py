"""The set of eq. (11), what the paper solves, and its projection, Lemma 2."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from ..arrays import Floats
from ..parameters import number, store
from .base import UncertaintySet


def tau(epsilon: float) -> float:
    """Return ``tau = sqrt(ln(1/epsilon) / 2)`` of Proposition 1 and Lemma 1."""
    epsilon = number("epsilon", epsilon, "lie in (0, 1)", lambda e: 0.0 < e < 1.0, "it is a probability of failure")
    return sqrt(0.5 * log(1.0 / epsilon))


@dataclass(frozen=True)
class Budget(UncertaintySet):
    """The set of eq. (11): ``0 <= alpha_i <= h``, ``sum s_i alpha_i <= rho S``.

    ``alpha_i`` is the largest probability, times ``h``, with which label i may count as right.

    Parameters
    ----------
    rho : float
        The budget as a share: ``sum s_i alpha_i <= rho S``. ``rho = h`` is no budget at all.
    h : float
        The bound on each ``alpha_i``: 1 (the paper's experiments) or ``1 + tau``.
    """

    rho: float = 1.0
    h: float = 1.0

    kind = "alpha"
    equation = "(11)"
    tau = 0.0  # no ball

    def __post_init__(self) -> None:
        h = number("h", self.h, "be a finite number >= 1", lambda h: h >= 1.0, "it is 1 or 1 + tau")
        meaning = f"it is the share of the total weight that may count as loss; rho={h:g} means no budget"
        store(self, h=h, rho=number("rho", self.rho, f"lie in (0, {h:g}]", lambda rho: 0.0 < rho <= h, meaning))

    @classmethod
    def from_noise_level(cls, noise_level: float, epsilon: float | None = None, total: float = np.inf) -> Budget:
        """Derive the budget from a noise level q, by Proposition 1 and eq. (11).

        Without ``epsilon``: ``h = 1`` and ``rho = 1 - q``, the form of the paper's experiments. With it:
        ``h = 1 + tau`` and ``rho = min(h, 1 - q + tau + tau / sqrt(total))`` for a total weight ``total``.
        """
        q = number(
            "noise_level", noise_level, "lie in [0, 1/2)", lambda q: 0.0 <= q < 0.5, "it is the share of wrong labels"
        )
        if epsilon is None:
            return cls(rho=1.0 - q)
        t = tau(epsilon)
        return cls(rho=min(1.0 + t, 1.0 - q + t + t / sqrt(total)), h=1.0 + t)

    @property
    def core(self) -> Budget:
        """The set itself."""
        return self

    def without_budget(self) -> Budget:
        """Return the set in which no label may count as wrong: ``rho = h``."""
        return Budget(self.h, self.h)

    def maximiser(self, v: Floats, s: Floats) -> Floats:
        """Return an ``alpha`` in Q that maximises ``sum s_i alpha_i v_i``.

        ``h`` on the largest positive ``v`` until the weight ``rho S / h`` is used up, a fraction on the last.
        """
        if self.is_slack:
            return np.where(v > 0.0, self.h, 0.0)
        order = np.argsort(-v, kind="stable")
        room = np.clip(self.rho / self.h * s.sum() - (np.cumsum(s[order]) - s[order]), 0.0, s[order])
        alpha = np.zeros_like(v)
        np.divide(room, s[order], out=room, where=s[order] > 0)
        alpha[order] = self.h * room
        alpha[v <= 0.0] = 0.0
        return alpha

    def multiplier(self, v: Floats, s: Floats) -> float:
        """Return theta, the price of the budget in the support function at ``v``.

        By duality the support function is ``min over theta >= 0 of rho S theta + h sum s_i max(0, v_i - theta)``;
        a minimiser is the positive part of the ``v`` at which the weight ``rho S / h`` is used up.
        """
        if self.is_slack:
            return 0.0
        order = np.argsort(-v, kind="stable")
        cut = int(np.searchsorted(np.cumsum(s[order]), self.rho / self.h * s.sum()))
        return max(0.0, float(v[order[min(cut, v.size - 1)]]))

    def project(self, v: Floats, s: Floats) -> Floats:
        """Return the point of Q nearest to ``v`` in the metric ``s``: Lemma 2, exactly.

        ``clip(v - eta, 0, h)`` with ``eta = 0`` if that meets the budget, else the root of eq. (12), found
        among its sorted breakpoints in O(n log n).
        """
        alpha: Floats = np.clip(v, 0.0, self.h)
        budget = self.rho * float(s.sum())
        if self.is_slack or float(np.dot(s, alpha)) <= budget:
            return alpha
        return np.clip(v - _root_of_12(v, s, self.h, budget), 0.0, self.h)

    def contains(self, alpha: Floats, s: Floats, tol: float = 1e-12) -> bool:
        """Return whether ``alpha`` lies in Q, up to rounding of relative size ``tol``."""
        slack = tol * self.h
        inside = bool(np.all(alpha >= -slack) and np.all(alpha <= self.h + slack))
        return inside and self.core_mass(alpha, s) <= (self.rho + slack) * float(s.sum())

    def core_mass(self, alpha: Floats, s: Floats) -> float:
        """Return ``sum s_i alpha_i``."""
        return float(np.dot(s, alpha))

    def shrink(self, alpha: Floats, s: Floats) -> float:
        """Return the largest c, at most 1, with ``c alpha`` in Q, for ``alpha >= 0``."""
        mass, highest = self.core_mass(alpha, s), float(alpha.max(initial=0.0))
        return min(1.0, self.rho * float(s.sum()) / mass, self.h / highest) if mass > 0.0 else 1.0


def _root_of_12(v: Floats, s: Floats, h: float, budget: float) -> float:
    """Solve eq. (12), ``sum s_i clip(v_i - eta, 0, h) = budget``, for a budget below the value at eta = 0.

    The sum falls with eta and is linear between the points ``v_i - h``, where row i leaves its upper bound,
    and ``v_i``, where it reaches zero.
    """
    points = np.concatenate([v - h, v])
    order = np.argsort(points, kind="stable")
    points, slopes = points[order], np.cumsum(np.concatenate([-s, s])[order])
    values = h * s.sum() + np.concatenate([[0.0], np.cumsum(slopes[:-1] * np.diff(points))])
    last = int(np.searchsorted(-values, -budget))  # first breakpoint at or below the budget
    lo, hi = points[max(last - 1, 0)], points[min(last, points.size - 1)]
    # On that piece the rows between the bounds are known: solve its linear equation without cumulated error.
    mid = 0.5 * (lo + hi)
    upper, free = v - mid >= h, (v - mid > 0.0) & (v - mid < h)
    weight = float(s[free].sum())
    if weight == 0.0:
        return float(hi)
    eta = (float(np.dot(s[free], v[free])) + h * float(s[upper].sum()) - budget) / weight
    return float(np.clip(eta, lo, hi))


def project_by_bisection(v: Floats, s: Floats, budget: Budget, iterations: int = 200) -> Floats:
    """Project on Q as the paper proposes, by bisection on eta in eq. (12): the reference for Lemma 2."""
    target = budget.rho * float(s.sum())
    alpha: Floats = np.clip(v, 0.0, budget.h)
    if float(np.dot(s, alpha)) <= target:
        return alpha
    lo, hi = 0.0, float(v.max())
    for _ in range(iterations):
        eta = 0.5 * (lo + hi)
        above = float(np.dot(s, np.clip(v - eta, 0.0, budget.h))) > target
        lo, hi = (eta, hi) if above else (lo, eta)
    return np.clip(v - hi, 0.0, budget.h)
