"""Alpha as the interior point moves it: the sum of a core v and, in (10) and (8), of a share u of the ball.

    (11)  alpha = v          0 <= v <= h                        sum omega v <= rho
    (10)  alpha = v + u      0 <= v <= 1,  0 <= u <= tau        sum omega v <= rho
    (8)   alpha = v + u      0 <= v <= 1,  0 <= u               sum omega v <= rho,  sum omega u^2 <= r^2 = tau^2 / S

Besides the bounds there are at most two constraints on sums, with one price each: kappa of the budget, on v, and nu of
the ball, on u. The price nu adds to the curvature of u. Given the diagonals D_p of the shares, the prices' coefficients
c_k, and whatever moves both shares alike, v and u leave the Newton equations row by row:

    D_p d_p + sum_k c_k dprice_k = t_p + common   ->   D d_alpha + sum_k w_k dprice_k = D sum_p t_p / D_p + common,

D = 1 / sum_p (1/D_p), w_k = D c_k / D_p. What that leaves in the equations of the prices are a corner and a shift.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Floats
from ..uncertainty import UncertaintySet
from .bounds import Bound, Step, Variable, total


@dataclass(frozen=True)
class Limits:
    """The shares of a set Q: which there are, their bounds, and what the constraints on sums allow.

    Attributes
    ----------
    h : float
        The bound of v.
    h_u : float
        The bound of u, 0 where there is no u.
    budget, ball : bool
        Whether the sum of v, or the square sum of u, is bounded.
    allowed : array
        Of these, ``rho`` and ``r^2 / 2``.
    level : float
        The starting value of v, and
    level_u : float
        of u.
    """

    h: float
    h_u: float
    budget: bool
    ball: bool
    allowed: Floats
    level: float
    level_u: float

    @classmethod
    def of(cls, budget: UncertaintySet, weight: float) -> Limits:
        """Return the limits of a set for a total weight S."""
        core, radius = budget.core, budget.tau / np.sqrt(weight)
        ball = budget.kind == "chance" and budget.tau > 0.0
        h_u = np.inf if ball else budget.tau
        allowed = [core.rho] * (not core.is_slack) + [0.5 * radius**2] * ball
        level_u = 0.5 * (radius if ball else h_u)
        return cls(core.h, h_u, not core.is_slack, ball, np.array(allowed), 0.5 * min(core.h, core.rho), level_u)

    @property
    def bounds(self) -> int:
        """The number of bounds of a row."""
        return 2 + (0 if self.h_u == 0.0 else 1 if self.ball else 2)

    def prices(self, ray: float) -> Floats:
        """Return the prices that go with the starting multipliers at f = 0."""
        return np.array([0.5] * self.budget + ([1.5 / (ray * self.level_u)] if self.ball else []))

    def start(self, scale: Floats) -> Shares:
        """Return the shares at ``scale`` times the starting levels."""
        v = Variable.start(scale * self.level, 0.5, 1.5 - 0.5 * self.budget, self.h)
        u = (Variable.start(scale * self.level_u, 0.5, 1.5, self.h_u),) if self.h_u > 0.0 else ()
        return Shares(self, (v, *u))


@dataclass(frozen=True)
class Shares:
    """The variables of each row: ``(v,)`` or ``(v, u)``."""

    limits: Limits
    parts: tuple[Variable, ...]

    @property
    def alpha(self) -> Floats:
        """Their sum."""
        return total([part.value for part in self.parts])

    def loads(self, omega: Floats) -> Floats:
        """Return the sums that are bounded: ``sum omega v`` and ``sum omega u^2 / 2``."""
        loads = [omega @ self.parts[0].value] if self.limits.budget else []
        return np.array(loads + ([0.5 * (omega @ self.parts[1].value ** 2)] if self.limits.ball else []))

    def charges(self) -> list[tuple[int, Floats]]:
        """Return for each price the number of the share that pays it, and how much: the gradient of its load."""
        v = [(0, np.ones_like(self.parts[0].value))] * self.limits.budget
        return v + ([(1, self.parts[1].value)] if self.limits.ball else [])

    def complementarity(self, omega: Floats) -> float:
        """Return the weighted sum of the products of all bounds."""
        return float(sum(omega @ bound.products() for part in self.parts for bound in part.bounds))

    def residuals(self, common: Floats, prices: Floats) -> list[Floats]:
        """Return the dual residual of each share, given what is common to all."""
        out = [common + part.pressure() for part in self.parts]
        for price, (p, charge) in zip(prices, self.charges(), strict=True):
            out[p] = out[p] + price * charge
        return out

    def eliminate(self, prices: Floats) -> Elimination:
        """Return the Newton equations of the shares, reduced to alpha."""
        diagonals = [part.diagonal for part in self.parts]
        if self.limits.ball:
            diagonals[1] = diagonals[1] + prices[-1]
        D = diagonals[0] if len(diagonals) == 1 else 1.0 / total([1.0 / D_p for D_p in diagonals])
        return Elimination(diagonals, D, self.charges())

    def aim(self, mu: float, affine: Move | None = None) -> list[list[Floats]]:
        """Ask all bounds for products ``mu``."""
        steps: list[list[Step]] | list[None] = affine.steps if affine else [None] * len(self.parts)
        return [part.aim(mu, of_part) for part, of_part in zip(self.parts, steps, strict=True)]

    def centre(self, mu: float, move: Move, length: float) -> list[list[Floats]]:
        """Ask all bounds again, so that no product is far from ``mu`` after a step of this length."""
        return [part.centre(mu, steps, length) for part, steps in zip(self.parts, move.steps, strict=True)]

    def bent(self, residuals: list[Floats], affine: Move, d_prices: Floats) -> list[Floats]:
        """Return the residuals with the second-order term of the predictor: ``nu u`` is a product as well."""
        if not self.limits.ball:
            return residuals
        return [residuals[0], residuals[1] + d_prices[-1] * affine.parts[1]]

    def targets(self, asked: list[list[Floats]], residuals: list[Floats]) -> list[Floats]:
        """Return the right-hand side of each share."""
        return [part.slope(of_part) - r for part, of_part, r in zip(self.parts, asked, residuals, strict=True)]

    def move(self, parts: list[Floats], asked: list[list[Floats]]) -> Move:
        """Return the move of given directions of the shares, whose multipliers do what is asked."""
        return Move(parts, [p.steps(d, of_part) for p, d, of_part in zip(self.parts, parts, asked, strict=True)])

    def after(self, move: Move, length: float) -> Shares:
        """Return the shares after a step."""
        parts = [part.after(steps, length) for part, steps in zip(self.parts, move.steps, strict=True)]
        return Shares(self.limits, tuple(parts))

    def scaled(self, tau: float) -> Shares:
        """Return tau times the shares, ``tau <= 1``, with the same multipliers."""
        return Shares(self.limits, tuple(part.scaled(tau) for part in self.parts))

    def pairs(self, move: Move) -> list[tuple[Bound, Step]]:
        """Return every bound with its step."""
        parts = zip(self.parts, move.steps, strict=True)
        return [pair for part, steps in parts for pair in zip(part.bounds, steps, strict=True)]


class Move(NamedTuple):
    """A direction of each share and of its bounds."""

    parts: list[Floats]
    steps: list[list[Step]]

    def changes(self, shares: Shares, omega: Floats) -> dict[str, Floats]:
        """Return the changes after a step t: of the complementarity and of the loads, by powers of t."""
        pairs, limits = shares.pairs(self), shares.limits
        rest = [0.0] * limits.budget + ([0.5 * (omega @ self.parts[1] ** 2)] if limits.ball else [])
        linear = [omega @ (bound.slack * step.multiplier + bound.multiplier * step.slack) for bound, step in pairs]
        return {
            "linear": np.sum(linear),
            "quadratic": np.sum([omega @ (step.slack * step.multiplier) for _, step in pairs]),
            "loads": np.array([omega @ (charge * self.parts[p]) for p, charge in shares.charges()]),
            "bend": np.array(rest),
        }

    def longest(self, shares: Shares) -> float:
        """Return the longest step that leaves slacks and multipliers positive."""
        return min(bound.longest(step) for bound, step in shares.pairs(self))


@dataclass(frozen=True)
class Elimination:
    """The reduced Newton equations: diagonals D_p of the shares, D of alpha, and what the prices charge."""

    diagonals: list[Floats]
    D: Floats
    charges: list[tuple[int, Floats]]

    @property
    def alone(self) -> bool:
        """Whether alpha is v: then there is nothing to eliminate."""
        return len(self.diagonals) == 1

    def columns(self) -> list[Floats]:
        """Return ``w_k`` for each price."""
        return [charge if self.alone else self.D / self.diagonals[p] * charge for p, charge in self.charges]

    def corner(self, omega: Floats) -> Floats:
        """Return what the elimination adds between the prices."""
        count = len(self.charges)
        out = np.zeros((count, count))
        if not self.alone:
            e = [charge / self.diagonals[p] for p, charge in self.charges]
            for k, (_, charge) in enumerate(self.charges):
                out[k] = [omega @ (self.D * e[k] * e_l) for e_l in e]
                out[k, k] -= omega @ (charge * e[k])
        return out

    def right(self, t: list[Floats]) -> Floats:
        """Return ``D sum_p t_p / D_p``."""
        return t[0] if self.alone else self.D * total([t_p / D_p for t_p, D_p in zip(t, self.diagonals, strict=True)])

    def shift(self, t: list[Floats], omega: Floats) -> Floats:
        """Return what the elimination takes from the right-hand side of each price."""
        if self.alone:
            return np.zeros(len(self.charges))
        right = self.right(t)
        return np.array([omega @ (charge / self.diagonals[p] * (t[p] - right)) for p, charge in self.charges])

    def parts(self, d: Floats, t: list[Floats], d_prices: Floats) -> list[Floats]:
        """Return the directions of the shares, given that of alpha and those of the prices."""
        if self.alone:
            return [d]
        common = self.D * d - self.right(t)
        paid = list(t)
        for d_price, column, (p, charge) in zip(d_prices, self.columns(), self.charges, strict=True):
            common = common + d_price * column
            paid[p] = paid[p] - d_price * charge
        return [(t_p + common) / D_p for t_p, D_p in zip(paid, self.diagonals, strict=True)]
