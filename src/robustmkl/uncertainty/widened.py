"""The sets of eq. (10) and eq. (8): the core of h = 1, widened by a ball of radius tau.

With ``k = min(S, (1 - q) S + tau sqrt(S))`` and hinge losses ``l_i``, S times the inner maximum is

    (10)  sum of the largest losses up to the weight k  +  tau sum s_i l_i
    (8)   sum of the largest losses up to the weight k  +  tau sqrt(sum s_i l_i^2)

The weights are numbers of rows here: unlike in (11) with a given rho, their scale matters, through ``sqrt(S)`` and
through the root in (8). Where no weight is below 1, the value of (8) is at most that of (10), and that at most
that of (11).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Self

import numpy as np
from scipy.optimize import brentq

from ..arrays import Floats
from ..parameters import number, store
from .base import UncertaintySet
from .budget import Budget, tau


@dataclass(frozen=True)
class Widened(UncertaintySet):
    """A set Q whose core is ``Budget(rho, h=1)``: what (10) and (8) have in common."""

    rho: float
    tau: float

    def __post_init__(self) -> None:
        radius = number("tau", self.tau, "be a finite number >= 0", lambda t: t >= 0.0, "it is sqrt(ln(1/epsilon) / 2)")
        store(self, tau=radius, rho=Budget(self.rho).rho)

    @classmethod
    def from_noise_level(cls, noise_level: float, epsilon: float | None = None, total: float = np.inf) -> Self:
        """Derive the set from a noise level q, by Proposition 1: ``rho = min(1, 1 - q + tau / sqrt(total))``.

        ``epsilon`` cannot be left out: tau is made of it.
        """
        share = Budget.from_noise_level(noise_level).rho
        if epsilon is None:
            raise ValueError(
                f"the set of eq. {cls.equation} has no form without epsilon: give the probability of failure, such as "
                "epsilon=0.05, or use eq. (11)."
            )
        t = tau(epsilon)
        return cls(min(1.0, share + t / sqrt(total)), t)

    @property
    def h(self) -> float:
        """``1 + tau``: the bound on each ``alpha_i``.

        In (8) a row of weight ``s_i`` below 1 can reach ``1 + tau / sqrt(s_i)``.
        """
        return 1.0 + self.tau

    @property
    def core(self) -> Budget:
        """The part that the budget bounds: the set (11) with h = 1."""
        return Budget(self.rho)

    def without_budget(self) -> Self:
        """Return the set in which no label may count as wrong: ``k = S``."""
        return replace(self, rho=1.0)


@dataclass(frozen=True)
class ProbabilityBudget(Widened):
    """The set of eq. (10): ``0 <= alpha_i <= 1 + tau``, ``sum s_i (alpha_i - tau)_+ <= k = rho S``.

    It is ``{ u + v : 0 <= u_i <= tau, v in the core }``: take ``u_i = min(alpha_i, tau)`` and
    ``v_i = (alpha_i - tau)_+``, the smallest v possible.

    Parameters
    ----------
    rho : float in (0, 1]
        The budget as a share, ``k = rho S``: Proposition 1's bound on the mean of the p_i. 1 is no budget.
    tau : float >= 0
        The radius of the ball, ``sqrt(ln(1/epsilon) / 2)``; with 0 the set is its core.
    """

    kind = "p"
    equation = "(10)"

    def maximiser(self, v: Floats, s: Floats) -> Floats:
        """Return an ``alpha`` in Q that maximises ``sum s_i alpha_i v_i``: both parts do."""
        return self.core.maximiser(v, s) + self.tau * (v > 0.0)

    def project(self, v: Floats, s: Floats) -> Floats:
        """Return the point of Q nearest to ``v`` in the metric ``s``: ``clip(v, 0, tau) + proj_core(v - tau)``.

        With a price eta >= 0 for the budget, row i minimises ``(a - v_i)^2 / 2 + eta (a - tau)_+`` over
        ``0 <= a <= 1 + tau``. The minimum is at ``clip(v_i, 0, tau)`` for ``v_i <= tau + eta`` and at
        ``min(v_i - eta, 1 + tau)`` beyond, in one formula ``clip(v_i, 0, tau) + clip(v_i - tau - eta, 0, 1)``. The
        second term is Lemma 2 at ``v - tau``, and eta solves its eq. (12).
        """
        return np.clip(v, 0.0, self.tau) + self.core.project(v - self.tau, s)

    def contains(self, alpha: Floats, s: Floats, tol: float = 1e-12) -> bool:
        """Return whether ``alpha`` lies in Q, up to rounding of relative size ``tol``."""
        slack = tol * self.h
        inside = bool(np.all(alpha >= -slack) and np.all(alpha <= self.h + slack))
        return inside and self.core_mass(alpha, s) <= (self.rho + slack) * float(s.sum())

    def core_mass(self, alpha: Floats, s: Floats) -> float:
        """Return ``sum s_i (alpha_i - tau)_+``."""
        return float(np.dot(s, np.maximum(alpha - self.tau, 0.0)))


@dataclass(frozen=True)
class ChanceBudget(Widened):
    """The set of eq. (8), before any relaxation: the points ``alpha >= 0`` at a distance of at most tau from the core.

    The distance is that of the metric s, ``|u|^2 = sum s_i u_i^2``. It is ``{ u + v : u >= 0, |u| <= tau, v in the
    core }``: the nearest point of the core to ``alpha >= 0`` is ``clip(alpha - eta, 0, 1)``, nowhere above alpha.

    Parameters
    ----------
    rho : float in (0, 1]
        The budget of the core as a share, ``k = rho S``, as in :class:`ProbabilityBudget`.
    tau : float >= 0
        The radius of the ball.
    """

    kind = "chance"
    equation = "(8)"

    def maximiser(self, v: Floats, s: Floats) -> Floats:
        """Return an ``alpha`` in Q that maximises ``sum s_i alpha_i v_i``: u is tau times the direction of ``v_+``."""
        positive = np.maximum(v, 0.0)
        length = _length(positive, s)
        u = positive / length if length > 0.0 else positive
        return self.core.maximiser(v, s) + self.tau * u

    def project(self, v: Floats, s: Floats) -> Floats:
        """Return the point of Q nearest to ``v`` in the metric ``s``.

        Negative entries become 0 first: no point of Q comes nearer by a positive entry there, since Q is down-closed.
        Let p be the point of the core nearest to ``v >= 0``, at the distance d. If ``d <= tau``, v is in Q. Otherwise
        ``a = p + (tau / d) (v - p)`` is in Q, as ``v >= p``, and at the distance ``d - tau`` from v; and every b in Q,
        with c its nearest point in the core, has ``|v - b| >= |v - c| - |b - c| >= d - tau``.
        """
        v = np.maximum(v, 0.0)
        p = self.core.project(v, s)
        distance = _length(v - p, s)
        return v if distance <= self.tau else p + (v - p) * (self.tau / distance)

    def contains(self, alpha: Floats, s: Floats, tol: float = 1e-12) -> bool:
        """Return whether ``alpha`` lies in Q, up to rounding of relative size ``tol``."""
        slack = tol * self.h
        if not np.all(alpha >= -slack):
            return False
        return _length(alpha - self.core.project(alpha, s), s) <= self.tau + slack * sqrt(float(s.sum()))

    def core_mass(self, alpha: Floats, s: Floats) -> float:
        """Return the least ``sum s_i v_i`` over v in [0, 1] at the distance tau: ``v = clip(alpha - eta, 0, 1)``."""

        def excess(eta: float) -> float:
            return _length(alpha - np.clip(alpha - eta, 0.0, 1.0), s) - self.tau

        highest = float(alpha.max(initial=0.0))
        if excess(highest) <= 0.0:
            return 0.0
        eta = 0.0 if excess(0.0) >= 0.0 else float(brentq(excess, 0.0, highest))
        return float(np.dot(s, np.clip(alpha - eta, 0.0, 1.0)))


def _length(u: Floats, s: Floats) -> float:
    """Return ``sqrt(sum s_i u_i^2)``, without overflow or underflow on the way."""
    terms = np.sqrt(s) * np.abs(u)
    largest = float(terms.max(initial=0.0))
    return largest * float(np.linalg.norm(terms / largest)) if largest > 0.0 else 0.0
