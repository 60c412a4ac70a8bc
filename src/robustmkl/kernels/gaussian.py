"""Gaussian kernels: of single columns, sharing one small basis, and of several columns jointly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from scipy.spatial.distance import cdist

from ..arrays import Floats
from ..parameters import number, store
from .chebyshev import FIRST_NODES, chebyshev_nodes, gaussians, rotate, untouched
from .family import FittedFamily, FittedGram, GramKernel, KernelFamily, Part, Size
from .nystrom import Nystrom, pivots_at_most, rank_limit

PAPER_WIDTHS = tuple(2.0**k for k in range(-3, 7))
SLICE = 2048
FEW_VALUES = FIRST_NODES  # a column with no more values than nodes has its values for nodes


@dataclass(frozen=True)
class Gaussian(KernelFamily):
    """Gaussian kernels ``exp(-||x - x'||^2 / (2 w^2))`` of several widths w.

    Parameters
    ----------
    widths : sequence of float, default=2^-3, .., 2^6
        The widths of the paper; they suit columns scaled to [0, 1].
    joint : bool, default=False
        False: one family for each column. True: one family on all the columns together.
    rank : int, optional
        With ``joint=True``: each width gets a Nystrom basis of at most so many training rows, fewer where these make it
        exact (5e-13); what it leaves is measured and reported as ``kernel_error``. None: exact Gram matrices
        while those of all widths take no more than 256 MiB (1,831 rows for ten widths), 128 beyond.
    """

    widths: tuple[float, ...] = PAPER_WIDTHS
    joint: bool = False
    rank: int | None = None

    def __post_init__(self) -> None:
        given = list(self.widths) if np.iterable(self.widths) and not isinstance(self.widths, str) else [self.widths]
        if not given:
            raise ValueError(f"Gaussian widths must be positive finite numbers, got {self.widths!r}.")
        widths = [number("Gaussian widths", w, "be positive finite numbers", lambda w: w > 0.0) for w in given]
        store(self, widths=tuple(widths), rank=rank_limit("Gaussian", self.rank))

    def split(self, n: int, d: int, exact: bool = False) -> Sequence[KernelFamily]:
        """Return one family a width, each with pivots of its own, where Nystrom bases take the matrices' place."""
        most = pivots_at_most(n, len(self.widths), self.rank, exact) if self.joint else None
        if most is None:
            return (self,)
        return [Nystrom(GaussianGram(np.array([w])), "gaussian", f"w={w:g}", most) for w in self.widths]

    def fit(self, X: Floats, label: str, exact: bool = False) -> FittedFamily:
        fit = _fit_joint if self.joint else partial(_fit_column, exact=exact)
        return fit(X, np.array(self.widths), tuple(f"gaussian({label}; w={w:g})" for w in self.widths))

    def size(self, n: int, d: int, exact: bool = False) -> Size:
        return self.size_of_column(n, n, exact)

    def size_of_column(self, n: int, distinct: int, exact: bool = False) -> Size:
        k = len(self.widths)
        if self.joint:
            return Size(k, n, identity=True, scratch=2 * n * n)
        if distinct <= FEW_VALUES:
            return Size(k, distinct, identity=False)
        shared = None if exact else chebyshev_nodes(self.widths)
        if shared is None:
            return Size(k, n, identity=True, scratch=2 * n * n)
        nodes, rank = shared[0].V.shape
        scratch = n * rank + min(n, SLICE) * nodes + 4 * (k + 1) * nodes**2  # one basis by itself, and the rotation
        return Size(k, rank, identity=False, scratch=scratch, shared=True)


@dataclass(frozen=True)
class GaussianGram(GramKernel):
    """Exact Gaussians on all columns of a block."""

    widths: Floats

    def __call__(self, X: Floats, rows: Floats, which: Sequence[int]) -> Floats:
        # Distances by differences, not by the expanded square, which loses half of the digits.
        with np.errstate(over="ignore", under="ignore"):
            squared = cdist(X, rows, "sqeuclidean")
            grams = np.empty((len(which), *squared.shape))
            for gram, w in zip(grams, self.widths[list(which)], strict=True):
                np.multiply(squared / w, -0.5 / w, out=gram)  # w * w may leave the floating-point range
                np.exp(gram, out=gram)
        return grams

    def diagonal(self, X: Floats, which: int) -> Floats:
        return np.ones(X.shape[0])


def _fit_joint(X: Floats, widths: Floats, names: tuple[str, ...]) -> FittedGram:
    kernel = GaussianGram(widths)
    return FittedGram(kernel, X, kernel(X, X, range(widths.size)), names)


@dataclass(frozen=True)
class ColumnPart(Part):
    """``x -> sum_l k_j(x, t_l) c_jl``: a few dozen numbers, independent of the number of training rows.

    Nodes and widths are in units of the training range: ``(x - origin) / span``.
    """

    t: Floats
    widths: Floats
    c: Floats
    origin: float
    span: float

    def contributions(self, X: Floats) -> Floats:
        with np.errstate(over="ignore"):
            x = (X[:, 0] - self.origin) / self.span
        out = np.empty((x.size, self.widths.size))
        for j, c in enumerate(self.c):
            out[:, j] = gaussians(x, self.t, self.widths[[j]])[0] @ c
        return out


@dataclass(frozen=True)
class FittedColumn(FittedFamily):
    """The Gaussians of one column, on nodes in units of its training range."""

    names: tuple[str, ...]
    cores: Floats
    entry_error: float
    t: Floats
    V: Floats
    widths: Floats
    origin: float
    span: float
    M: Floats | None = None  # B(x) = T(2x - 1) M; None where the nodes are the distinct values

    def basis(self, X: Floats) -> Floats:
        x = (X[:, 0] - self.origin) / self.span
        if self.M is None:
            return self.V[np.searchsorted(self.t, x)]
        B = np.empty((x.size, self.M.shape[1]), order="F")
        for i in range(0, x.size, SLICE):  # the Chebyshev polynomials of a slice of rows stay in the cache
            B[i : i + SLICE] = chebvander(2.0 * x[i : i + SLICE] - 1.0, self.M.shape[0] - 1) @ self.M
        return B

    def part(self, a: Floats) -> ColumnPart:
        alive = a.any(axis=1)
        return ColumnPart(self.t, self.widths[alive], a[alive] @ self.V.T, self.origin, self.span)


def _fit_column(X: Floats, widths: Floats, names: tuple[str, ...], exact: bool) -> FittedFamily:
    values = np.unique(X[:, 0])
    with np.errstate(over="ignore"):
        origin, span = float(values[0]), float(values[-1] - values[0]) or 1.0
        relative = widths / span
    M = None
    if values.size <= FEW_VALUES and np.isfinite(span):
        t = (values - origin) / span
        nodes = untouched(t, relative) if exact else rotate(t, relative, t, np.eye(t.size))
    else:
        shared = None if exact or not np.isfinite(span) else chebyshev_nodes(tuple(relative.tolist()))
        if shared is None:
            return _fit_joint(X, widths, names)
        nodes, M = shared
    return FittedColumn(names, nodes.cores, nodes.entry_error, nodes.t, nodes.V, relative, origin, span, M)
