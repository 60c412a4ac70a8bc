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
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Floats, Ints
from . import passes
from .shares import Shares

if TYPE_CHECKING:
    from .interior_point import InteriorPoint, State

CLEAR = 0.2  # the first iterate whose foreseen gap is so small, relatively, is where the next lam begins


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

    @classmethod
    def of(cls, solver: InteriorPoint) -> Inside:
        """Return where a solver is."""
        v, active = solver.state, solver.active
        shares = solver.rows.run(passes.variables).lists["shares"]
        return cls(solver.problem.lam, active.kernels, v.zeta.head, active.embed(v.zeta.coef), shares, v)

    def only(self, kernels: Ints) -> Inside:
        """Return the iterate of those of its kernels that are among these."""
        kept = np.isin(self.kernels, kernels)
        return replace(self, kernels=self.kernels[kept], head=self.head[kept])

    def resume(self, solver: InteriorPoint) -> bool:
        """Put a solver here whose active kernels are these, for a smaller lam; return whether it is strictly inside."""
        v, lam, bank = self.state, solver.problem.lam, solver.bank
        tau = float(np.sqrt(lam / self.lam))
        image, t = solver.rows.run(passes.resume, self.shares, tau).sums, tau * v.t
        head = self.head + max(t / lam - float(self.head.sum()), 0.0) / bank.m
        zeta, slack = solver._cones(head, solver.active.restrict(self.coef)), solver._slack(image["z"], t)
        left, tilt = solver._left(image)
        solver.state = replace(v, t=t, slack=slack, zeta=zeta, left=left, tilt=tilt)
        return bool((left > 0.0).all()) and min(slack.determinants().min(), zeta.determinants().min()) > 0.0


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

    def note(self, solver: InteriorPoint, gap: float) -> bool:
        """Remember an iterate if the gap foreseen there is small enough; return whether it is."""
        problem = solver.problem
        dual = float(problem.s @ solver._alpha()) / problem.total - solver.state.t**2 / (2.0 * problem.lam)
        if not gap <= CLEAR * (dual + gap):
            return False
        self.inside = Inside.of(solver)
        return True
