"""Polynomial kernels: of single columns, with explicit features, or of several columns jointly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from numbers import Real

import numpy as np

from ..arrays import Floats
from ..parameters import number, store, whole
from .family import (
    FeatureMap,
    FittedFamily,
    FittedFeatures,
    FittedGram,
    GramKernel,
    KernelFamily,
    Size,
)
from .nystrom import Nystrom, pivots_at_most, rank_limit

LOW = 4  # times the rank of the kernel are rows enough for a basis in the place of the matrix


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
    """The polynomial kernel ``(x'x' + coef0)^degree``: one a column, or one on the columns jointly.

    Jointly on d columns its rank is ``C(d + degree, degree)`` at most: where that is small against the rows, so many
    of them as pivots make a Nystrom basis exact. ``rank`` limits the pivots as it does for :class:`Gaussian`.
    """

    degree: int = 2
    coef0: float = 1.0
    joint: bool = False
    rank: int | None = None

    def __post_init__(self) -> None:
        degree = int(self.degree) if isinstance(self.degree, Real) and float(self.degree).is_integer() else self.degree
        store(self, degree=whole("Polynomial degree", degree, 1), rank=rank_limit("Polynomial", self.rank))
        number(
            "Polynomial coef0",
            self.coef0,
            "be finite and >= 0",
            lambda c: c >= 0.0,
            "a negative one makes the kernel indefinite",
        )

    def split(self, n: int, d: int, exact: bool = False) -> Sequence[KernelFamily]:
        """Return a Nystrom basis in the place of the joint kernel where that is exact, or smaller than the matrix."""
        if not self.joint:
            return (self,)
        full = comb(d + self.degree, self.degree)
        most = full if self.rank is None and not exact and LOW * full <= n else pivots_at_most(n, 1, self.rank, exact)
        kernel = PolynomialGram(self.degree, self.coef0)
        return (self,) if most is None else (Nystrom(kernel, "polynomial", f"degree={self.degree:d}", most),)

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
