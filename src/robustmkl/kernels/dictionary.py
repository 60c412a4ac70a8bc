"""The dictionary of kernels: which families on which columns, fitted to a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import NamedTuple

import numpy as np

from ..arrays import Floats, Ints
from ..memory import require
from ..threads import blas_threads
from .bank import KernelBank
from .family import FittedFamily, KernelFamily, Part, Size
from .gaussian import Gaussian
from .side_by_side import Basis

MANY_ROWS = 20_000  # distinct values are counted for an estimate among so many rows

Columns = Sequence[str] | Sequence[int] | str | int | None


class Extent(NamedTuple):
    """The size of a dictionary: kernels, coefficients of all of them, summed rank; is there a family with B = I?"""

    kernels: int
    coefficients: int
    rank: int
    identity: bool


class KernelDictionary:
    """Kernel families on columns of a table.

    Parameters
    ----------
    *terms : KernelFamily or tuple (KernelFamily, columns)
        ``columns`` is a name, a position, or a sequence of either; without columns the family takes all.
    scaling : {"minmax", None}, default="minmax"
        "minmax" maps each column to [0, 1] over the training rows; None takes the columns as they are.

    Examples
    --------
    >>> from robustmkl.kernels import Gaussian, KernelDictionary, Linear
    >>> dictionary = KernelDictionary((Gaussian(), ["age", "bmi"]), Linear(joint=True))
    """

    def __init__(self, *terms: KernelFamily | tuple[KernelFamily, Columns], scaling: str | None = "minmax") -> None:
        self.terms = tuple(_term(t) for t in terms)
        self.scaling = scaling
        if not self.terms:
            raise ValueError("a KernelDictionary needs at least one family, such as Gaussian().")
        if scaling not in ("minmax", None):
            raise ValueError(f"scaling must be 'minmax' or None, got {scaling!r}.")

    def __repr__(self) -> str:
        terms = ", ".join(repr(f) if c is None else f"({f!r}, {c!r})" for f, c in self.terms)
        return f"KernelDictionary({terms}, scaling={self.scaling!r})"

    def _assignments(self, n: int, columns: Sequence[str], exact: bool) -> list[tuple[KernelFamily, Ints]]:
        """Return one entry for each family to be fitted: the declaration and the columns it acts on."""
        out: list[tuple[KernelFamily, Ints]] = []
        for family, wanted in self.terms:
            index = positions(wanted, columns)
            groups = [index] if family.joint else list(index[:, None])
            out += [(part, group) for group in groups for part in family.split(n, group.size, exact)]
        return out

    def _sizes(self, n: int, columns: Sequence[str], exact: bool, X: Floats | None) -> list[Size]:
        """Return what each family will occupy; without a scaling nobody knows how many nodes a column needs."""
        careful = exact or self.scaling is None
        distinct = None if X is None else [np.unique(x).size for x in X[:MANY_ROWS].T]
        return [
            family.size(n, index.size, exact if family.joint else careful)
            if distinct is None or family.joint or index.size > 1
            else family.size_of_column(n, distinct[index[0]], careful)
            for family, index in self._assignments(n, columns, exact)
        ]

    def extent(self, n: int, columns: Sequence[str], exact: bool = False, X: Floats | None = None) -> Extent:
        """Return how large the kernels of ``n`` training rows are as a whole."""
        sizes = self._sizes(n, columns, exact, X)
        return Extent(
            sum(size.kernels for size in sizes),
            sum(size.kernels * size.rank for size in sizes),
            sum(size.rank for size in sizes),
            any(size.identity for size in sizes),
        )

    def estimate_memory(
        self, n: int, columns: Sequence[str] | int, exact: bool = False, X: Floats | None = None
    ) -> int:
        """Return the bytes that the kernels of ``n`` training rows occupy while they are built.

        The rows themselves, ``X``, make the estimate sharper: columns of few values need less.
        """
        names = [f"x{j}" for j in range(columns)] if isinstance(columns, int) else columns
        sizes = self._sizes(n, names, exact, X)
        table = 3 * n * len(names)  # scaled, and its columns by themselves
        return sum(size.nbytes(n) for size in sizes) + 8 * (table + max(size.scratch for size in sizes))

    def fit(self, X: Floats, columns: Sequence[str] | None = None, exact: bool = False) -> FittedDictionary:
        """Learn the scaling and the families from training rows."""
        names = list(columns) if columns is not None else [f"x{j}" for j in range(X.shape[1])]
        require(self.estimate_memory(X.shape[0], names, exact, X), f"the kernels of {X.shape[0]:,} rows")
        scale = MinMax.fit(X) if self.scaling == "minmax" else None
        scaled = X if scale is None else scale(X)
        assignments = self._assignments(X.shape[0], names, exact)
        with blas_threads(0):  # the matrices are small, whatever the number of rows
            families = [
                family.fit(scaled[:, index], _label(family, index, names), exact) for family, index in assignments
            ]
        return FittedDictionary(scale, families, [index for _, index in assignments])


def paper_dictionary() -> KernelDictionary:
    """Return the m = 10(d + 1) kernels of the paper: ten Gaussians on all columns jointly, then ten a column."""
    return KernelDictionary(Gaussian(joint=True), Gaussian())


def _term(term: object) -> tuple[KernelFamily, Columns]:
    family, columns = term if isinstance(term, tuple) and len(term) == 2 else (term, None)
    if not isinstance(family, KernelFamily):
        hint = "; Gram matrices are given with kernels='precomputed'" if isinstance(family, FittedFamily) else ""
        raise TypeError(f"a KernelDictionary takes kernel families and pairs (family, columns), got {term!r}{hint}.")
    return family, columns


def positions(wanted: Columns, columns: Sequence[str]) -> Ints:
    """Return the positions of the wanted columns: all, names, or positions."""
    if wanted is None:
        return np.arange(len(columns))
    chosen = list(wanted) if np.iterable(wanted) and not isinstance(wanted, str) else [wanted]
    if not chosen:
        raise ValueError("a family was given no columns: name some, or leave the columns out to give it all.")
    out = []
    for c in chosen:
        if isinstance(c, bool | np.bool_) or not isinstance(c, str | Integral):
            raise TypeError(f"columns are chosen by name or position, got {c!r}: give a name, a number or a list.")
        if not (c in columns if isinstance(c, str) else 0 <= int(c) < len(columns)):
            raise ValueError(f"column {c!r} is not in the table: it has {len(columns)} columns, {_some(columns)}.")
        out.append(list(columns).index(c) if isinstance(c, str) else int(c))
    return np.array(out, dtype=np.intp)


def _some(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (", .." if len(names) > most else "")


def _label(family: KernelFamily, index: Ints, names: Sequence[str]) -> str:
    if family.joint and index.size == len(names):
        return "all columns"
    return _some([names[j] for j in index], 4)


@dataclass(frozen=True)
class MinMax:
    """The scaling of the paper: less the minimum, divided by the range, both of the training rows.

    A constant column is shifted only. Nothing is clipped: values outside the training range leave [0, 1].
    """

    low: Floats
    span: Floats
    shrink: Floats  # a power of two where the range itself would overflow, else 1

    @classmethod
    def fit(cls, X: Floats) -> MinMax:
        low, high = X.min(axis=0), X.max(axis=0)
        with np.errstate(over="ignore"):
            shrink = np.where(np.isfinite(high - low), 1.0, 0.25)
        span = high * shrink - low * shrink
        return cls(low, np.where(span > 0.0, span, 1.0), shrink)

    def __call__(self, X: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray((X * self.shrink - self.low * self.shrink) / self.span)


@dataclass(frozen=True)
class FittedDictionary:
    """Scaling and families learnt from training rows, with the columns that each family acts on."""

    scale: MinMax | None
    families: list[FittedFamily]
    columns: list[Ints]

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """One name a kernel, in the order of all results."""
        return tuple(name for family in self.families for name in family.names)

    def bank(self, X: Floats) -> KernelBank:
        """Return the kernels on the training rows ``X``, as solvers see them."""
        scaled = self.scale(X) if self.scale else X
        bases: list[Basis] = [partial(f.basis, scaled[:, c]) for f, c in zip(self.families, self.columns, strict=True)]
        for i, family in enumerate(self.families):
            if family.cores.shape[2] == X.shape[0]:
                bases[i] = family.basis(scaled[:, self.columns[i]])  # the identity, perhaps
        return KernelBank(self.families, bases, X.shape[0])

    def expansion(self, blocks: Sequence[Floats]) -> Expansion:
        """Bind coefficients (one block k x r for each family) to the families: a function of new rows."""
        alive = [i for i, a in enumerate(blocks) if a.any()]
        kernels = np.cumsum([0, *(len(family.names) for family in self.families)])
        return Expansion(
            self.scale,
            [self.families[i].part(blocks[i]) for i in alive],
            [self.columns[i] for i in alive],
            [kernels[i] + np.flatnonzero(blocks[i].any(axis=1)) for i in alive],
        )


@dataclass(frozen=True)
class Expansion:
    """``x -> sum_j f_j(x)``: all that prediction keeps of the kernels."""

    scale: MinMax | None
    parts: list[Part]
    columns: list[Ints]
    kernels: list[Ints]  # which kernels, by number, each part's contributions belong to

    def __call__(self, X: Floats) -> Floats:
        """Return ``sum_j f_j`` at new rows."""
        out = np.zeros(X.shape[0])
        for _, contributions in self._walk(X):
            out += contributions.sum(axis=1)
        return out

    def contributions(self, X: Floats) -> dict[int, Floats]:
        """Return ``f_j`` at new rows for every kernel j with ``f_j != 0``."""
        return {
            int(j): column
            for kernels, contributions in self._walk(X)
            for j, column in zip(kernels, contributions.T, strict=True)
        }

    def _walk(self, X: Floats) -> Iterator[tuple[Ints, Floats]]:
        scaled = self.scale(X) if self.scale else X
        for part, columns, kernels in zip(self.parts, self.columns, self.kernels, strict=True):
            yield kernels, part.contributions(scaled[:, columns])
