"""A Nystrom basis for kernels of which only single entries are known: a pivoted Cholesky factor, without the matrix.

With pivots L (rows of the training table) and ``K(L, L) = R R'``, R lower triangular,

    k(x, x') ~ k(x, L) K(L, L)^-1 k(L, x') = phi(x)' phi(x'),    phi(x) = R^-1 k(L, x),    B = phi(X),  C = I.

B is computed by the Cholesky recurrence itself, its columns are scaled columns of the residual ``K - B B'``: that stays
accurate where ``K(L, L)`` is singular to rounding. The residual is positive semi-definite, so that none of its entries
exceeds its largest diagonal one: the error of the entries is measured, at the price of r columns of K.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from ..arrays import Floats, Ints
from ..parameters import whole
from .chebyshev import TARGET
from .family import EPS, FittedFamily, GramKernel, GramPart, KernelFamily, Size

RANK = 128  # pivots by default: more of them cost time and memory, and gain half a point of accuracy (docs/theory.md)
GRAM_BYTES = 2**28  # Gram matrices of a family are kept up to this size: 1,831 rows for ten kernels, 5,792 for one
BLOCK = 64  # pivots at a time: matrix products in the place of loops
SHARE = 0.1  # of a block's largest residual; candidates that fall below it wait for the next block
ROUGH = 1e-3  # of the mean diagonal: while the mean residual is above, pivots are spread over the rows


@dataclass(frozen=True)
class Nystrom(KernelFamily):
    """One kernel of a :class:`GramKernel`, declared to get a Nystrom basis: what joint families split into."""

    kernel: GramKernel
    kind: str
    setting: str
    rank: int
    joint: bool = True

    def fit(self, X: Floats, label: str, exact: bool = False) -> FittedFamily:
        return fit_nystrom(self.kernel, X, f"{self.kind}({label}; {self.setting})", self.rank)

    def size(self, n: int, d: int, exact: bool = False) -> Size:
        return Size(1, min(self.rank, n), identity=False, scratch=4 * n * BLOCK, shared=True)


def rank_limit(owner: str, rank: int | None) -> int | None:
    """Return the parameter ``rank`` of a family, checked."""
    return None if rank is None else whole(f"{owner} rank", rank, 1)


def pivots_at_most(n: int, kernels: int, rank: int | None, exact: bool) -> int | None:
    """Return how many pivots the kernels of ``n`` rows get at the most; None: exact Gram matrices."""
    if rank is None:
        rank = n if 8 * kernels * n * n <= GRAM_BYTES else RANK
    return None if exact or rank >= n else rank


@dataclass(frozen=True)
class FittedNystrom(FittedFamily):
    """One kernel on the basis of its pivots.

    ``k(., L) c`` with ``c = R'^-1 a`` is a function of the kernel's exact space, with its exact norm ``|a|``.
    """

    names: tuple[str, ...]
    kernel: GramKernel
    pivots: Floats  # the rows L
    root: Floats  # R
    B: Floats
    cores: Floats
    entry_error: float
    capped: bool

    def basis(self, X: Floats) -> Floats:
        return self.B

    def part(self, a: Floats) -> GramPart:
        c = solve_triangular(self.root, a[0], lower=True, trans="T", check_finite=False)
        return GramPart(self.kernel, self.pivots, (0,), c[None])


def fit_nystrom(kernel: GramKernel, X: Floats, name: str, rank: int) -> FittedNystrom:
    """Choose at most ``rank`` pivots among the rows, fewer where the entries are exact to ``TARGET`` before.

    The rows are taken in an order that depends on their values alone, and so do the pivots; of equal rows the first
    is taken.
    """
    order = np.lexsort(X.T[::-1])
    rows = np.ascontiguousarray(X[order])
    search = PivotedCholesky(kernel, rows, min(rank, len(rows)))
    while search.extend():
        pass
    error, scale = search.error()
    B = np.empty_like(search.factor)
    B[order] = search.factor
    pivots = search.pivots
    root = search.factor[pivots] if error > 0.0 else np.ones((1, 1))  # a kernel of zeros has a basis of zeros
    capped = error > 2.0 * TARGET * scale
    return FittedNystrom((name,), kernel, rows[pivots], root, B, _identity(pivots.size), error, capped)


class PivotedCholesky:
    """The factor as far as it is known: ``K ~ B B'`` with ``B = factor``, and the diagonal of ``K - B B'``."""

    def __init__(self, kernel: GramKernel, X: Floats, most: int) -> None:
        self.kernel, self.X = kernel, X
        self.diagonal = kernel.diagonal(X, 0)
        self.residual = self.diagonal.copy()
        self.pivots: Ints = np.empty(0, dtype=np.intp)
        self._B = np.zeros((X.shape[0], most), order="F")
        self.target = TARGET * float(self.diagonal.max())

    @property
    def factor(self) -> Floats:
        """B, one column a pivot."""
        return self._B[:, : self.pivots.size]

    def extend(self) -> bool:
        """Add a block of pivots; return whether there may be more."""
        room = self._B.shape[1] - self.pivots.size
        if room == 0 or not self.residual.max() > self.target:
            return self._end()
        chosen, root = self._among(self._candidates(min(BLOCK, room)))
        if chosen.size == 0:
            return False
        columns = solve_triangular(root, self._entries(slice(None), chosen).T, lower=True, check_finite=False).T
        self._B[:, self.pivots.size : self.pivots.size + chosen.size] = columns
        self.pivots = np.append(self.pivots, chosen)
        self.residual = np.maximum(self.residual - np.einsum("ij,ij->i", columns, columns), 0.0)
        self.residual[self.pivots] = 0.0
        return True

    def _end(self) -> bool:
        """End the search; a kernel that is zero on all rows has the basis 0, of rank 1."""
        if self.pivots.size == 0:
            self.pivots = np.zeros(1, dtype=np.intp)
        return False

    def _candidates(self, count: int) -> Ints:
        """Return rows of large residual, the largest first.

        The rows of the largest residuals are the choice for entries exact to rounding. Where no rank within reach
        makes the kernel exact they are its outliers, which stand for nothing but themselves. So while the residual
        is large in the mean, rows are taken at equal steps of the residual summed along the rows.
        """
        rest = self.residual
        if rest.mean() <= ROUGH * self.diagonal.mean():
            return np.argsort(-rest, kind="stable")[:count]
        along = np.cumsum(rest)
        steps = (np.arange(1, count) - 0.5) / (count - 1.0 or 1.0) * along[-1]
        spread = np.minimum(np.searchsorted(along, steps), rest.size - 1)
        rows = np.union1d(spread, [rest.argmax()])
        return rows[np.argsort(-rest[rows], kind="stable")]

    def _among(self, rows: Ints) -> tuple[Ints, Floats]:
        """Return the candidates that become pivots, with the Cholesky factor of their residual."""
        floor = max(self.target, SHARE * float(self.residual[rows[0]]))
        factor, order, rank, _ = dpstrf(self._entries(rows, rows), tol=floor, lower=1)
        return rows[order[:rank] - 1], np.tril(factor[:rank, :rank])

    def _entries(self, rows: Ints | slice, columns: Ints) -> Floats:
        """Return entries of the residual ``K - B B'``."""
        grams = self.kernel(self.X[rows], self.X[columns], [0])
        return np.asarray(grams[0] - self.factor[rows] @ self.factor[columns].T)

    def error(self) -> tuple[float, float]:
        """Return the largest entry of ``K - B B'``, with an allowance for rounding, and the largest of K."""
        left = np.abs(self.diagonal - np.einsum("ij,ij->i", self.factor, self.factor))
        scale = float(self.diagonal.max())
        return float(left.max()) + 4.0 * EPS * scale, scale


@lru_cache(maxsize=64)
def _identity(rank: int) -> Floats:
    """Return the core of all bases of this rank: one array, so that they are stacked without copies."""
    core = np.eye(rank)[None]
    core.setflags(write=False)
    return core
