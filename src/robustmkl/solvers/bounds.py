"""Variables of the rows between bounds, with the multipliers of the bounds, as the interior point moves them.

Complementarity is per unit of weight: ``slack multiplier = mu`` on the central path of every row, ``omega_i mu`` in
the barrier, so that a row of weight 2 follows the path of a row given twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Floats

LEAST, MOST = 0.1, 10.0  # products within these multiples of the target are central enough


class Step(NamedTuple):
    """A direction of a slack and its multiplier, and the change of their product that it was asked for."""

    slack: Floats
    multiplier: Floats
    asked: Floats


@dataclass(frozen=True)
class Bound:
    """The slack of one inequality a row, and its multiplier; ``sign`` says how the variable moves the slack."""

    slack: Floats
    multiplier: Floats
    sign: float

    def products(self) -> Floats:
        """Return the complementarity of each row."""
        return self.slack * self.multiplier

    def aim(self, mu: float, affine: Step | None) -> Floats:
        """Ask for products ``mu``, less Mehrotra's second-order term of the predictor if there is one."""
        asked = mu - self.slack * self.multiplier
        return asked if affine is None else asked - affine.slack * affine.multiplier

    def centre(self, mu: float, step: Step, length: float) -> Floats:
        """Ask again, so that no product is far from ``mu`` after a step of this length (Gondzio)."""
        reached = (self.slack + length * step.slack) * (self.multiplier + length * step.multiplier)
        return step.asked + outliers(reached, mu)

    def step(self, d: Floats, asked: Floats) -> Step:
        """Return the direction when the variable moves by d: the product does what is asked, to first order."""
        slack = self.sign * d
        return Step(slack, (asked - self.multiplier * slack) / self.slack, asked)

    def longest(self, step: Step) -> float:
        """Return the longest step that leaves slack and multiplier positive."""
        return min(longest(self.slack, step.slack), longest(self.multiplier, step.multiplier))


@dataclass(frozen=True)
class Variable:
    """``value >= 0``, or ``0 <= value <= h``: the bounds in this order, so that the first slack is the value."""

    bounds: tuple[Bound, ...]

    @classmethod
    def start(cls, value: Floats, lower: float, upper: float = 0.0, h: float = np.inf) -> Variable:
        """Return the variable with constant multipliers of its bounds; an infinite h is none."""
        bounds = [Bound(value, np.full_like(value, lower), 1.0)]
        bounds += [Bound(h - value, np.full_like(value, upper), -1.0)] if np.isfinite(h) else []
        return cls(tuple(bounds))

    @property
    def value(self) -> Floats:
        """The variable itself."""
        return self.bounds[0].slack

    @property
    def diagonal(self) -> Floats:
        """What the bounds put on the diagonal of the Newton matrix."""
        return total([bound.multiplier / bound.slack for bound in self.bounds])

    def pressure(self) -> Floats:
        """Return what the multipliers add to the dual residual."""
        return total([-bound.sign * bound.multiplier for bound in self.bounds])

    def aim(self, mu: float, affine: list[Step] | None) -> list[Floats]:
        """Ask each bound for products ``mu``."""
        steps: list[Step] | list[None] = affine or [None] * len(self.bounds)
        return [bound.aim(mu, step) for bound, step in zip(self.bounds, steps, strict=True)]

    def centre(self, mu: float, steps: list[Step], length: float) -> list[Floats]:
        """Ask each bound again, so that no product is far from ``mu`` after a step of this length."""
        return [bound.centre(mu, step, length) for bound, step in zip(self.bounds, steps, strict=True)]

    def slope(self, asked: list[Floats]) -> Floats:
        """Return what is asked of the products as a right-hand side of ``diagonal d = ..``."""
        return total([bound.sign * change / bound.slack for bound, change in zip(self.bounds, asked, strict=True)])

    def steps(self, d: Floats, asked: list[Floats]) -> list[Step]:
        """Return the direction of the bounds when the variable moves by d."""
        return [bound.step(d, change) for bound, change in zip(self.bounds, asked, strict=True)]

    def scaled(self, tau: float) -> Variable:
        """Return tau times the variable, ``tau <= 1``, with the same multipliers."""
        change = (tau - 1.0) * self.value
        return Variable(tuple(Bound(b.slack + b.sign * change, b.multiplier, b.sign) for b in self.bounds))

    def after(self, steps: list[Step], length: float) -> Variable:
        """Return the variable after a step."""
        moved = [
            Bound(bound.slack + length * step.slack, bound.multiplier + length * step.multiplier, bound.sign)
            for bound, step in zip(self.bounds, steps, strict=True)
        ]
        return Variable(tuple(moved))


def total(parts: list[Floats]) -> Floats:
    """Return the sum of one or more arrays."""
    out = parts[0]
    for part in parts[1:]:
        out = out + part
    return out


def longest(value: Floats, change: Floats) -> float:
    """Return the longest step that keeps ``value + step change >= 0``."""
    steepest = float((-change / value).max(initial=0.0))
    return 1.0 / steepest if steepest > 0.0 else np.inf


def longest_bent(value: Floats, change: Floats, bend: Floats) -> float:
    """Return the longest step t that keeps ``value + t change - t^2 bend >= 0``, ``bend >= 0``."""
    root = np.sqrt(change**2 + 4.0 * bend * value)
    ends = np.where(change > 0.0, change + root, 2.0 * value)
    return float((ends / np.where(change > 0.0, 2.0 * bend, root - change)).min(initial=np.inf))


def outliers(products: Floats, mu: float) -> Floats:
    """Return the way of products back into ``[LEAST mu, MOST mu]``; of very large ones a part of it."""
    return np.maximum(np.clip(products, LEAST * mu, MOST * mu) - products, -MOST * mu)
