"""Row variables ``0 <= a_i <= h`` with the multipliers of their bounds, as the interior point moves them.

Complementarity is per unit of weight: ``lower a = upper (h - a) = mu`` on the central path of every row, which is
``omega_i mu`` in the barrier, so that a row of weight 2 follows the path of a row given twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Floats

LEAST, MOST = 0.1, 10.0  # products of a pair within these multiples of the target are central enough


class Asked(NamedTuple):
    """By how much the products of value and room with their multipliers are to change, to first order."""

    lower: Floats
    upper: Floats


class Move(NamedTuple):
    """A direction of value and multipliers, and what it was asked."""

    value: Floats
    lower: Floats
    upper: Floats
    asked: Asked


@dataclass(frozen=True)
class Interval:
    """One variable a row with ``room = h - value``, and its multipliers."""

    value: Floats
    room: Floats
    lower: Floats
    upper: Floats

    @property
    def diagonal(self) -> Floats:
        """The second derivative of the barrier: what the Newton matrix has on its diagonal."""
        return self.lower / self.value + self.upper / self.room

    def products(self) -> Floats:
        """Return the complementarity of each row."""
        return self.lower * self.value + self.upper * self.room

    def aim(self, mu: float, affine: Move | None) -> Asked:
        """Ask for products ``mu``, less Mehrotra's second-order term of the predictor if there is one."""
        lower, upper = mu - self.lower * self.value, mu - self.upper * self.room
        if affine is not None:
            lower -= affine.lower * affine.value
            upper += affine.upper * affine.value
        return Asked(lower, upper)

    def centre(self, mu: float, move: Move, step: float) -> Asked:
        """Ask again, so that no product is far from ``mu`` after a step along the move (Gondzio)."""
        lower = outliers((self.lower + step * move.lower) * (self.value + step * move.value), mu)
        upper = outliers((self.upper + step * move.upper) * (self.room - step * move.value), mu)
        return Asked(move.asked.lower + lower, move.asked.upper + upper)

    def slope(self, asked: Asked) -> Floats:
        """Return what is asked as the right-hand side of ``diagonal d = ..``."""
        return asked.lower / self.value - asked.upper / self.room

    def move(self, d: Floats, asked: Asked) -> Move:
        """Return the move along ``d``: its multipliers do what is asked."""
        lower = (asked.lower - self.lower * d) / self.value
        upper = (asked.upper + self.upper * d) / self.room
        return Move(d, lower, upper, asked)

    def change(self, move: Move) -> tuple[Floats, Floats]:
        """Return the coefficients of t and t^2 in the products after a step t."""
        linear = self.lower * move.value + self.value * move.lower + self.room * move.upper - self.upper * move.value
        return linear, (move.lower - move.upper) * move.value

    def longest(self, move: Move) -> float:
        """Return the longest step that leaves nothing negative."""
        return min(
            longest(self.value, move.value),
            longest(self.room, -move.value),
            longest(self.lower, move.lower),
            longest(self.upper, move.upper),
        )

    def after(self, move: Move, step: float, h: float) -> Interval:
        """Return the variable after a step."""
        value = self.value + step * move.value
        return Interval(value, h - value, self.lower + step * move.lower, self.upper + step * move.upper)


def longest(value: Floats, change: Floats) -> float:
    """Return the longest step that keeps ``value + step change >= 0``."""
    steepest = float((-change / value).max(initial=0.0))
    return 1.0 / steepest if steepest > 0.0 else np.inf


def outliers(products: Floats, mu: float) -> Floats:
    """Return the way of products back into ``[LEAST mu, MOST mu]``; of very large ones a part of it."""
    return np.maximum(np.clip(products, LEAST * mu, MOST * mu) - products, -MOST * mu)
