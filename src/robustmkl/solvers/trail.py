"""How the interior point begins on a path: where it has been for a larger lam.

The optimum itself is no start for an interior point: it lies on the boundary, and steps from there are short. An
iterate on the way to it is one, from the time when the rows and kernels that matter have emerged and while everything
is well inside. Only ``t / lam = sum of the heads of zeta`` depends on lam. For a smaller lam one half of it (in the
logarithm) is made good by scaling alpha and t down, the other by raising the heads: then the iterate is as feasible
as it was, and only further from the central path. Of all mixtures of the two, and of those with scaling f up, this
took the fewest iterations on the five tables; they depend little on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Floats, Ints
from .cone import Cones
from .shares import Shares

CLEAR = 0.2  # the first iterate whose foreseen gap is so small, relatively, is where the next lam begins


@dataclass(frozen=True)
class State:
    """The small part of the iterate: all but the rows."""

    prices: Floats  # multipliers of the constraints on sums
    b: float  # multiplier of the intercept's equality
    t: float
    slack: Cones  # (t, R_j'z)
    zeta: Cones
    left: Floats  # what those constraints leave: rho - sum omega v, for one
    tilt: float  # sum omega y alpha
    bounds: float = 0.0  # complementarity of the bounds


@dataclass(frozen=True)
class Inside:
    """An iterate of the interior point.

    Attributes
    ----------
    lam : float
    kernels : array of int
        Those that are active,
    head : array
        the heads of their zeta,
    coef : array
        and its coefficients, among all kernels.
    shares : list of Shares
        The variables of the rows, one entry a block.
    state : State
        What there is besides.
    """

    lam: float
    kernels: Ints
    head: Floats
    coef: Floats
    shares: list[Shares]
    state: State

    def only(self, kernels: Ints) -> Inside:
        """Return the iterate of those of its kernels that are among these."""
        kept = np.isin(self.kernels, kernels)
        return replace(self, kernels=self.kernels[kept], head=self.head[kept])


@dataclass
class Trail:
    """The iterate that the last solution of a path has left for the next."""

    inside: Inside | None = None

    def begin(self, lam: float, kernels: Ints | None) -> Inside | None:
        """Return where a solver with these kernels may begin, None if nowhere."""
        known = self.inside
        if known is None or lam > known.lam:
            return None
        known = known if kernels is None else known.only(kernels)
        return known if known.kernels.size else None

    def wants(self, gap: float, dual: float) -> bool:
        """Whether the gap that is foreseen at an iterate is small enough to remember it."""
        return gap <= CLEAR * (dual + gap)
