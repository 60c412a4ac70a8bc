"""Second-order cones with Nesterov-Todd scaling, in the metric of the kernels.

The m cones of the interior point are ``(t, R_j'z)`` with ``C_j = R_j R_j'``. Their vectors ``R_j'c`` are never
formed: a vector is held by its coefficients ``c`` and their image ``C_j c``, and inner products are
``c' C_j d``. That spares the factors R_j, and the dual vectors come out as coefficients of the functions f_j.
Formulas: the conic solvers' literature (Vandenberghe, "The CVXOPT linear and quadratic cone program solvers").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from ..kernels.bank import KernelBank


@dataclass(frozen=True)
class Cones:
    """A vector in the product of m second-order cones: heads (m), and coefficients and images (flat)."""

    bank: KernelBank
    head: Floats
    coef: Floats
    image: Floats

    def __add__(self, other: Cones) -> Cones:
        return Cones(self.bank, self.head + other.head, self.coef + other.coef, self.image + other.image)

    def __mul__(self, factor: float) -> Cones:
        return Cones(self.bank, self.head * factor, self.coef * factor, self.image * factor)

    def tails(self, other: Cones) -> Floats:
        """Return the inner products of the vector parts, one a cone."""
        return self.bank.inner(self.coef, other.image)

    def dot(self, other: Cones) -> float:
        """Return the inner product of the whole."""
        return float(np.dot(self.head, other.head) + self.tails(other).sum())

    def mix(self, head: Floats, own: Floats, other: Cones, factor: Floats) -> Cones:
        """Return the vector with a new head and the tail ``own * self + factor * other`` (one number a cone)."""
        p, q = self.bank.spread(own), self.bank.spread(factor)
        return Cones(self.bank, head, p * self.coef + q * other.coef, p * self.image + q * other.image)

    def raised(self, value: float) -> Cones:
        """Return the vector plus ``value`` times the identity of the Jordan product."""
        return Cones(self.bank, self.head + value, self.coef, self.image)

    def norms(self) -> Floats:
        """Return the norms of the vector parts."""
        return np.sqrt(np.maximum(self.tails(self), 0.0))

    def determinants(self) -> Floats:
        """Return ``J = head^2 - |tail|^2``, as a product: the difference of squares loses the digits that count."""
        norms = self.norms()
        return (self.head - norms) * (self.head + norms)


def product(a: Cones, b: Cones) -> Cones:
    """Return the Jordan product ``a o b``."""
    return a.mix(a.head * b.head + a.tails(b), b.head, b, a.head)


def quotient(a: Cones, d: Cones) -> Cones:
    """Return u with ``a o u = d``."""
    head = (a.head * d.head - a.tails(d)) / a.determinants()
    return d.mix(head, 1.0 / a.head, a, -head / a.head)


def inverse(a: Cones) -> Cones:
    """Return u with ``a o u = e``, the identity."""
    scale = 1.0 / a.determinants()
    return a.mix(scale * a.head, -scale, a, np.zeros_like(scale))


def spectral(a: Cones, change: Callable[[Floats], Floats]) -> Cones:
    """Return the vector with the frame of ``a`` and its two eigenvalues changed, ``head +- |tail|``."""
    norms = a.norms()
    high, low = change(a.head + norms), change(a.head - norms)
    along = np.divide(0.5 * (high - low), norms, out=np.zeros_like(norms), where=norms > 0.0)
    return a.mix(0.5 * (high + low), along, a, np.zeros_like(along))


def largest_step(a: Cones, d: Cones) -> float:
    """Return the largest t for which ``a + t d`` stays in the cones."""
    A, C = d.determinants(), np.maximum(a.determinants(), 0.0)
    B = a.head * d.head - a.tails(d)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(B * B - A * C, 0.0))
        # The smaller positive root of A t^2 + 2 B t + C, in the form that does not cancel.
        t = np.where(B <= 0.0, C / (root - B), np.where(A < 0.0, -(B + root) / A, np.inf))
        t = np.where(t > 0.0, t, np.inf)
        linear = np.where(d.head < 0.0, -a.head / d.head, np.inf)
    return float(min(np.nanmin(t), linear.min()))


@dataclass(frozen=True)
class Scaling:
    """The Nesterov-Todd scaling W of a pair: ``W z = W^-1 s``."""

    w: Cones
    eta: Floats

    @classmethod
    def of(cls, s: Cones, z: Cones) -> Scaling:
        """Return the scaling of the primal slacks ``s`` and the dual variables ``z``."""
        tiny = np.finfo(np.float64).tiny
        js, jz = np.maximum(s.determinants(), tiny), np.maximum(z.determinants(), tiny)
        rs, rz = 1.0 / np.sqrt(js), 1.0 / np.sqrt(jz)
        # The cosine is at least 1 by Cauchy-Schwarz; rounding in the metric must not take it below.
        cosine = np.maximum(rs * rz * (s.head * z.head + s.tails(z)), 1.0)
        two_gamma = np.sqrt(2.0 * (1.0 + cosine))
        head = (rs * s.head + rz * z.head) / two_gamma
        return cls(s.mix(head, rs / two_gamma, z, -rz / two_gamma), (js / jz) ** 0.25)

    def apply(self, v: Cones) -> Cones:
        """Return ``W v``."""
        w, eta, along = self.w, self.eta, self.w.tails(v)
        return v.mix(eta * (w.head * v.head + along), eta, w, eta * (v.head + along / (1.0 + w.head)))

    def solve(self, v: Cones) -> Cones:
        """Return ``W^-1 v``."""
        w, eta, along = self.w, self.eta, self.w.tails(v)
        return v.mix((w.head * v.head - along) / eta, 1.0 / eta, w, (along / (1.0 + w.head) - v.head) / eta)

    def solve_twice(self, v: Cones) -> Cones:
        """Return ``W^-2 v``."""
        w, e2, along = self.w, self.eta**-2, self.w.tails(v)
        head = e2 * ((2.0 * w.head**2 - 1.0) * v.head - 2.0 * w.head * along)
        return v.mix(head, e2, w, 2.0 * e2 * (along - w.head * v.head))
