"""The kernel family, the one abstraction of a kernel that solvers and predictions know.

A family is a group of k kernels on the same columns whose Gram matrices share a basis,

    K_j = B C_j B',    j = 1..k,    B: n x r,  C_j: r x r positive semi-definite.

For the Gaussians of one column r is at most about 30 whatever n is; for a family without such structure
B is the identity and the cores are the Gram matrices themselves. A function of kernel j is held by its
coefficients ``a_j`` (r numbers): on the training rows ``f_j = B C_j a_j``, its norm is ``sqrt(a_j' C_j a_j)``.

To add a family: declare its hyperparameters in a subclass of :class:`KernelFamily`, and give what it learns
from training rows the two operations of :class:`FittedFamily`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Floats

EPS = float(np.finfo(np.float64).eps)
DIAGONAL = 32  # rows a block where a diagonal is read off Gram matrices


class Size(NamedTuple):
    """What a fitted family will occupy: k kernels with r coefficients; has it a basis, or is B = I?

    ``shared`` says that alike columns use one array of cores, ``scratch`` counts the numbers held while fitting.
    """

    kernels: int
    rank: int
    identity: bool
    scratch: int = 0
    shared: bool = False

    def nbytes(self, n: int) -> int:
        """Return the bytes of the basis for ``n`` training rows, and of the cores, which a bank may stack once more."""
        basis = 0 if self.identity else n * self.rank
        copies = 0 if self.shared else 1 if self.identity else 2
        return 8 * (basis + copies * self.kernels * self.rank**2)


class Part(ABC):
    """The function ``sum_j f_j`` of one fitted family, free of the training table where that is possible."""

    @abstractmethod
    def contributions(self, X: Floats) -> Floats:
        """Return ``f_j(x)`` at new rows, one column for each kernel of the family with ``f_j != 0``."""


class FittedFamily(ABC):
    """What a family has learnt from training rows: names, cores, and the two operations.

    Attributes
    ----------
    names : tuple of str
        One name a kernel.
    cores : array of shape (k, r, r)
        ``C_1 .. C_k``.
    entry_error : float
        The largest absolute error of an entry of ``B C_j B'`` against the exact kernel, measured.
    capped : bool
        Whether that is what a limit on the rank has left, on purpose: then nobody asks for exact entries in its place.
    """

    names: tuple[str, ...]
    cores: Floats
    entry_error: float
    capped: bool = False

    @abstractmethod
    def basis(self, X: Floats) -> Floats | None:
        """Return B at training rows, or None where B is the identity. Never to be called on new rows."""

    @abstractmethod
    def part(self, a: Floats) -> Part:
        """Return the function with coefficients ``a`` (k x r), ready to be evaluated at new rows."""


class KernelFamily(ABC):
    """A declared family: hyperparameters, no data.

    ``joint`` says whether it acts on all the columns that it is given together, or on each one by itself:
    then the dictionary fits it once for every column.
    """

    joint: bool

    def split(self, n: int, d: int, exact: bool = False) -> Sequence[KernelFamily]:
        """Return what is fitted in the place of this family to ``n`` rows of ``d`` columns, kernels in their order."""
        return (self,)

    @abstractmethod
    def fit(self, X: Floats, label: str, exact: bool = False) -> FittedFamily:
        """Learn the family from the training rows of its columns; ``label`` names them.

        ``exact=True`` asks for entries exact to rounding, at whatever cost in memory.
        """

    @abstractmethod
    def size(self, n: int, d: int, exact: bool = False) -> Size:
        """Return what :meth:`fit` would allocate for ``n`` rows of ``d`` columns, before it does."""

    def size_of_column(self, n: int, distinct: int, exact: bool = False) -> Size:
        """Return the same for one column of which the number of distinct values is known."""
        return self.size(n, 1, exact)


@dataclass(frozen=True)
class FeaturePart(Part):
    """A linear function of explicit features: ``x -> phi(x) w_j``."""

    features: FeatureMap
    w: Floats

    def contributions(self, X: Floats) -> Floats:
        return np.asarray(self.features(X) @ self.w.T)


class FeatureMap(ABC):
    """A map from rows to explicit features."""

    @abstractmethod
    def __call__(self, X: Floats) -> Floats: ...


@dataclass(frozen=True)
class FittedFeatures(FittedFamily):
    """Kernels ``phi(x)' C_j phi(x')`` on explicit features: B(X) = phi(X), exact for any row."""

    features: FeatureMap
    cores: Floats
    names: tuple[str, ...]
    entry_error: float = EPS

    def basis(self, X: Floats) -> Floats:
        return self.features(X)

    def part(self, a: Floats) -> FeaturePart:
        alive = a.any(axis=1)
        return FeaturePart(self.features, np.einsum("jrs,js->jr", self.cores[alive], a[alive]))


@dataclass(frozen=True)
class GramPart(Part):
    """A function spanned by training rows: ``x -> sum_i k_j(x, x_i) a_ji``."""

    kernel: GramKernel
    rows: Floats
    which: tuple[int, ...]
    a: Floats

    def contributions(self, X: Floats) -> Floats:
        out = np.empty((X.shape[0], len(self.which)))
        for chunk in _chunks(X.shape[0], self.rows.shape[0] * len(self.which)):
            grams = self.kernel(X[chunk], self.rows, self.which)
            out[chunk] = np.einsum("jni,ji->nj", grams, self.a)
        return out


class GramKernel(ABC):
    """Kernels that are evaluated entry by entry."""

    @abstractmethod
    def __call__(self, X: Floats, rows: Floats, which: Sequence[int]) -> Floats:
        """Return the Gram matrices of the kernels ``which`` between ``X`` and ``rows``, stacked."""

    def diagonal(self, X: Floats, which: int) -> Floats:
        """Return ``k(x, x)`` at the rows of X."""
        blocks = [X[i : i + DIAGONAL] for i in range(0, X.shape[0], DIAGONAL)]
        return np.concatenate([self(block, block, [which])[0].diagonal() for block in blocks])


@dataclass(frozen=True)
class FittedGram(FittedFamily):
    """Kernels without structure: B = I, the cores are the exact Gram matrices of the training rows."""

    kernel: GramKernel
    rows: Floats
    cores: Floats
    names: tuple[str, ...]
    entry_error: float = EPS

    def basis(self, X: Floats) -> None:
        return None

    def part(self, a: Floats) -> GramPart:
        alive = np.flatnonzero(a.any(axis=1))
        support = a.any(axis=0)
        a = np.ascontiguousarray(a[np.ix_(alive, support)])
        return GramPart(self.kernel, self.rows[support], tuple(alive.tolist()), a)


def _chunks(n: int, row_cost: int, budget: int = 4_000_000) -> list[slice]:
    """Cut ``n`` rows so that a chunk costs about ``budget`` numbers."""
    step = max(1, budget // max(1, row_cost))
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]
