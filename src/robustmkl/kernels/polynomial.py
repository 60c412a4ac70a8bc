"""Polynomial kernels: of single columns, with explicit features, or of several columns jointly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from numbers import Real

import numpy as np

from ..arrays import Floats
from ..parameters import number, whole
from .family import (
    FeatureMap,
    FittedFamily,
    FittedFeatures,
    FittedGram,
    GramKernel,
    KernelFamily,
    Size,
)


@dataclass(frozen=True)
class Monomials(FeatureMap):
    """``1, x, x^2, ..`` of one column, scaled so that their products are ``(x x' + c)^degree``."""

    degree: int
    coef0: float

    def __call__(self, X: Floats) -> Floats:
        powers = np.arange(self.degree + 1)
        scale = [comb(self.degree, k) * self.coef0 ** (self.degree - k) for k in powers]
        return np.asarray(X[:, [0]] ** powers * np.sqrt(scale))


@dataclass(frozen=True)
class PolynomialGram(GramKernel):
    """``(x'x' + c)^degree`` entry by entry."""

    degree: int
    coef0: float

    def __call__(self, X: Floats, rows: Floats, which: Sequence[int]) -> Floats:
        return np.asarray((X @ rows.T + self.coef0) ** self.degree)[None]


@dataclass(frozen=True)
class Polynomial(KernelFamily):
    """The polynomial kernel ``(x'x' + coef0)^degree``: one a column, or one on the columns jointly."""

    degree: int = 2
    coef0: float = 1.0
    joint: bool = False

    def __post_init__(self) -> None:
        degree = int(self.degree) if isinstance(self.degree, Real) and float(self.degree).is_integer() else self.degree
        object.__setattr__(self, "degree", whole("Polynomial degree", degree, 1))
        number(
            "Polynomial coef0",
            self.coef0,
            "be finite and >= 0",
            lambda c: c >= 0.0,
            "a negative one makes the kernel indefinite",
        )

    def fit(self, X: Floats, label: str, exact: bool = False) -> FittedFamily:
        names = (f"polynomial({label}; degree={self.degree:d})",)
        if self.joint:
            kernel = PolynomialGram(self.degree, self.coef0)
            return FittedGram(kernel, X, kernel(X, X, [0]), names)
        return FittedFeatures(Monomials(self.degree, self.coef0), np.eye(self.degree + 1)[None], names)

    def size(self, n: int, d: int, exact: bool = False) -> Size:
        if self.joint:
            return Size(1, n, identity=True, scratch=n * n)
        return Size(1, self.degree + 1, identity=False)
