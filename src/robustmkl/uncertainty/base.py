"""What solvers and the certificate ask of a set Q."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np

from ..arrays import Floats

HALVINGS = 60


class UncertaintySet(ABC):
    """A set Q of dual variables, ``{ u + v : v in the core, u >= 0 in a ball of radius tau }``.

    Every Q is convex and compact, lies in the orthant, and is down-closed there: with alpha, Q holds every point
    between 0 and alpha. So scaling any rows of a dual point down leaves it feasible.

    Attributes
    ----------
    kind : str
        The name of the constraint: "alpha" is (11), "p" is (10), "chance" is (8).
    equation : str
        Its number in the paper.
    rho : float
        The budget of the core as a share: ``sum s_i v_i <= rho S``.
    tau : float
        The radius of the ball; 0 in (11).
    """

    kind: ClassVar[str]
    equation: ClassVar[str]
    rho: float
    tau: float

    @classmethod
    @abstractmethod
    def from_noise_level(cls, noise_level: float, epsilon: float | None = None, total: float = np.inf) -> Self:
        """Derive the set from a noise level q, a probability of failure epsilon and the total weight S."""

    @property
    @abstractmethod
    def h(self) -> float:
        """The bound on each ``alpha_i``; in (8) it is one for rows of weight 1 and more."""

    @property
    @abstractmethod
    def core(self) -> UncertaintySet:
        """The part that the budget bounds, a set (11)."""

    @property
    def is_slack(self) -> bool:
        """Whether the budget is no restriction whatever the losses: the core is a box."""
        return self.core.rho >= self.core.h

    @abstractmethod
    def without_budget(self) -> Self:
        """Return the set in which no label may count as wrong: ``k = S``."""

    @abstractmethod
    def maximiser(self, v: Floats, s: Floats) -> Floats:
        """Return an ``alpha`` in Q that maximises ``sum s_i alpha_i v_i``."""

    def support(self, v: Floats, s: Floats) -> float:
        """Return ``max over alpha in Q of sum s_i alpha_i v_i``: the inner maximum of the problem."""
        return float(np.dot(s * self.maximiser(v, s), v))

    def multiplier(self, v: Floats, s: Floats) -> float:
        """Return theta, the price of the budget in the support function at ``v``: that of the core."""
        return self.core.multiplier(v, s)

    @abstractmethod
    def project(self, v: Floats, s: Floats) -> Floats:
        """Return the point of Q nearest to ``v`` in the metric ``s``."""

    @abstractmethod
    def contains(self, alpha: Floats, s: Floats, tol: float = 1e-12) -> bool:
        """Return whether ``alpha`` lies in Q, up to rounding of relative size ``tol``."""

    @abstractmethod
    def core_mass(self, alpha: Floats, s: Floats) -> float:
        """Return the least ``sum s_i v_i`` over all ``alpha = u + v``: what alpha needs of the budget."""

    def unused(self, alpha: Floats, s: Floats) -> float:
        """Return the share of the budget that alpha does not need."""
        return 1.0 - self.core_mass(alpha, s) / (self.rho * float(s.sum()))

    def shrink(self, alpha: Floats, s: Floats) -> float:
        """Return the largest c, at most 1, with ``c alpha`` in Q, for ``alpha >= 0``."""
        if self.contains(alpha, s):
            return 1.0
        lo, hi = 0.0, 1.0
        for _ in range(HALVINGS):
            mid = 0.5 * (lo + hi)
            lo, hi = (mid, hi) if self.contains(mid * alpha, s) else (lo, mid)
        return lo
