"""All kernels of a problem on its training rows, as solvers see them.

Three flat vectors, with one view each by family:

    q, f      n numbers: one a row
    z = B'q   sum of r numbers: one block a family
    a, C a    sum of k r numbers: one block a kernel

Families of equal shape are stacked, so that an operation costs a few BLAS calls, whatever the number of kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Ints
from .family import EPS, FittedFamily
from .side_by_side import Basis, arrange


@dataclass(frozen=True)
class Stack:
    """F families of k kernels and rank r each, cores F x k x r x r; is B = I? Then F = 1."""

    identity: bool
    cores: Floats
    z: slice  # where this stack stands in a flat z
    a: slice  # and in a flat a

    @property
    def shape(self) -> tuple[int, int, int]:
        """Return (F, k, r)."""
        return self.cores.shape[0], self.cores.shape[1], self.cores.shape[2]

    def z_view(self, z: Floats) -> Floats:
        """View the part of a flat z as (F, r)."""
        families, _, rank = self.shape
        return z[self.z].reshape(families, rank)

    def a_view(self, a: NDArray[Any]) -> NDArray[Any]:
        """View the part of a flat a as (F, k, r)."""
        return a[self.a].reshape(self.shape)


class KernelBank:
    """The kernels of a problem: bases and cores of all families on the training rows.

    Parameters
    ----------
    families : sequence of FittedFamily
    bases : sequence of array, function or None
        Basis B of each family on the training rows, or a function that evaluates it; None is the identity.
    n : int
        The number of training rows.

    Attributes
    ----------
    bases : list of array or None
        Those of each family, views; None is the identity.
    """

    def __init__(self, families: Sequence[FittedFamily], bases: Sequence[Basis], n: int) -> None:
        error = max((family.entry_error for family in families), default=0.0)
        capped = any(family.capped for family in families)
        self._build([f.names for f in families], [f.cores for f in families], bases, n, error, capped)

    def _build(
        self,
        names: list[tuple[str, ...]],
        cores: list[Floats],
        bases: Sequence[Basis],
        n: int,
        entry_error: float,
        capped: bool,
    ) -> None:
        self.n, self.entry_error, self.capped, self.cores = n, entry_error, capped, cores
        self.names_by_family = names
        self.names = tuple(name for of_family in names for name in of_family)
        self._first = np.cumsum([0, *(len(of_family) for of_family in names)])
        self._members = _alike(cores, bases)  # which families make up each stack
        ordered = [i for members in self._members for i in members if bases[i] is not None]
        self.basis, views = arrange([bases[i] for i in ordered], [cores[i].shape[2] for i in ordered], n)
        by_family = dict(zip(ordered, views, strict=True))
        self.bases = [by_family.get(i) for i in range(len(cores))]
        self._lay_out([_stack_cores([cores[i] for i in members]) for members in self._members])

    def _lay_out(self, all_cores: Sequence[Floats]) -> None:
        """Give every stack its place in the flat vectors."""
        self.stacks: list[Stack] = []
        z = a = 0
        for cores in all_cores:
            count, k, r = cores.shape[:3]
            stack = Stack(z >= self.basis.rank, cores, slice(z, z + count * r), slice(a, a + count * k * r))
            self.stacks.append(stack)
            z, a = stack.z.stop, stack.a.stop
        self.rank, self.size = z, a
        self._index()

    def _index(self) -> None:
        """Note where each block of a flat a starts, its kernel, and for each entry its kernel and its place in z."""
        blocks = [self._first[i] + j for s, members in self._stacked() for i in members for j in range(s.shape[1])]
        lengths = [s.shape[2] for s in self.stacks for _ in range(s.shape[0] * s.shape[1])]
        self._kernel_of: Ints = np.array(blocks, dtype=np.intp)
        self._starts: Ints = np.cumsum([0, *lengths[:-1]])
        self._along: Ints = np.repeat(self._kernel_of, lengths)
        self._z_of: Ints = np.empty(self.size, dtype=np.intp)
        for s in self.stacks:
            families, k, r = s.shape
            places = np.arange(s.z.start, s.z.stop).reshape(families, 1, r)
            self._z_of[s.a] = np.broadcast_to(places, (families, k, r)).ravel()

    def _stacked(self) -> list[tuple[Stack, list[int]]]:
        return list(zip(self.stacks, self._members, strict=True))

    @property
    def m(self) -> int:
        """The number of kernels."""
        return len(self.names)

    def too_coarse(self, bound: float) -> bool:
        """Return whether exact entries are worth asking for: the error exceeds ``bound``, and not on purpose.

        Where a limit on the rank has left the error, exact entries of all the others would not lower it.
        """
        return self.entry_error > max(bound, EPS) and not self.capped

    def adjoint(self, q: Floats) -> Floats:
        """Return ``z = B'q``, of every family."""
        z = np.empty(self.rank)
        z[: self.basis.rank] = self.basis.adjoint(q)
        for s in self.identities:
            z[s.z] = q
        return z

    def forward(self, v: Floats) -> Floats:
        """Return ``B v``, summed over the families."""
        f: Floats = self.basis.forward(v[: self.basis.rank])
        for s in self.identities:
            f = f + v[s.z]
        return f

    @property
    def identities(self) -> list[Stack]:
        """The stacks with B = I."""
        return [s for s in self.stacks if s.identity]

    def cores_times(self, a: Floats) -> Floats:
        """Return ``C_j a_j`` for every kernel."""
        out = np.empty(self.size)
        for s in self.stacks:
            if not s.identity:
                np.matmul(s.cores, s.a_view(a)[..., None], out=s.a_view(out)[..., None])
                continue
            for C, a_j, image in zip(s.cores[0], s.a_view(a)[0], s.a_view(out)[0], strict=True):
                image[:] = C @ a_j if a_j.any() else 0.0  # C is large, and most f_j are 0
        return out

    def expand(self, z: Floats) -> Floats:
        """Repeat each family's block of z for each of its kernels."""
        return z[self._z_of]

    def collapse(self, a: Floats) -> Floats:
        """Sum the blocks of a over the kernels of each family: the transpose of :meth:`expand`."""
        out = np.empty(self.rank)
        for s in self.stacks:
            s.a_view(a).sum(axis=1, out=s.z_view(out))
        return out

    def inner(self, a: Floats, b: Floats) -> Floats:
        """Return the inner product of the blocks of each kernel, in the order of the kernels."""
        out = np.empty(self.m)
        out[self._kernel_of] = np.add.reduceat(a * b, self._starts)
        return out

    def spread(self, values: Floats) -> Floats:
        """Repeat one number a kernel along its block of a flat a: the way to scale each ``a_j``."""
        return values[self._along]

    def diagonal_bound(self) -> Floats:
        """Return ``kappa_j = max_i k_j(x_i, x_i)`` for every kernel."""
        diagonals = [
            np.diagonal(C) if B is None else np.einsum("ir,ir->i", B @ C, B)
            for B, cores in zip(self.bases, self.cores, strict=True)
            for C in cores
        ]
        return np.array([diagonal.max() for diagonal in diagonals])

    def blocks(self, a: NDArray[Any]) -> list[NDArray[Any]]:
        """Cut a flat a into one array (k, r) for each family, in the order of the families."""
        found = {i: s.a_view(a)[position] for s, members in self._stacked() for position, i in enumerate(members)}
        return [found[i] for i in sorted(found)]

    def take(self, rows: Ints) -> KernelBank:
        """Return the same kernels on some of the rows."""
        bases = [None if B is None else B[rows] for B in self.bases]
        cores = [C[:, rows[:, None], rows[None, :]] if B is None else C for B, C in zip(bases, self.cores, strict=True)]
        return self._like(self.names_by_family, cores, bases, rows.size)

    def place(self, a: Floats, part: KernelBank, rows: Ints) -> Floats:
        """Return the coefficients here of the functions with coefficients ``a`` on ``part = take(rows)``."""
        out = np.zeros(self.size)
        for small, s in zip(part.stacks, self.stacks, strict=True):
            s.a_view(out)[..., rows if s.identity else slice(None)] = small.a_view(a)
        return out

    def rank_of(self, kernels: Ints) -> int:
        """Return the summed rank of the families of some of the kernels."""
        families = np.unique(np.searchsorted(self._first, kernels, side="right") - 1)
        return sum(self.cores[i].shape[2] for i in families)

    def select(self, kernels: Ints, negligible: float = 0.0) -> Selection:
        """Return some of the kernels, by number, as a bank of their own with the way back to this one.

        Columns of a basis that count for less than ``negligible`` in each of these kernels are left out.
        """
        return Selection.of(self, kernels, negligible)

    def _like(self, names: list[tuple[str, ...]], cores: list[Floats], bases: Sequence[Basis], n: int) -> KernelBank:
        other = KernelBank.__new__(KernelBank)
        other._build(names, cores, bases, n, self.entry_error, self.capped)
        return other

    def gram(self, j: int) -> Floats:
        """Return the Gram matrix of kernel j, as represented: ``B C_j B'``."""
        if not 0 <= j < self.m:
            raise IndexError(f"kernel {j} does not exist: there are {self.m}.")
        family = int(np.searchsorted(self._first, j, side="right")) - 1
        B, C = self.bases[family], self.cores[family][j - self._first[family]]
        return np.asarray(C if B is None else B @ C @ B.T)


@dataclass(frozen=True)
class Selection:
    """Some kernels of a bank.

    Attributes
    ----------
    kernels : array of int
        Their numbers, in increasing order.
    bank : KernelBank
    places : array of int
        Where each entry of a flat a of ``bank`` stands in a flat a of the whole bank.
    size : int
        The length of that.
    """

    kernels: Ints
    bank: KernelBank
    places: Ints
    size: int

    @classmethod
    def of(cls, whole: KernelBank, kernels: Ints, negligible: float = 0.0) -> Selection:
        """Keep the kernels with these numbers, and of their bases what is not negligible."""
        wanted = np.zeros(whole.m, dtype=np.bool_)
        wanted[kernels] = True
        kept = [np.flatnonzero(wanted[a:b]) for a, b in zip(whole._first[:-1], whole._first[1:], strict=True)]
        families = [i for i, chosen in enumerate(kept) if chosen.size]
        names = [tuple(whole.names_by_family[i][j] for j in kept[i]) for i in families]
        numbers, cores, bases, origins = whole.blocks(np.arange(whole.size)), [], [], []
        for i in families:
            C, B, origin = whole.cores[i], whole.bases[i], numbers[i]
            if kept[i].size < len(C):
                C, origin = C[kept[i]], origin[kept[i]]
            if B is not None and not (large := _weighty(C, negligible)).all():
                C, B, origin = C[:, large][:, :, large], B[:, large], origin[:, large]
            cores.append(C)
            bases.append(B)
            origins.append(origin)
        bank = whole._like(names, cores, bases, whole.n)
        places = np.empty(bank.size, dtype=np.intp)
        for block, origin in zip(bank.blocks(places), origins, strict=True):
            block[:] = origin
        return cls(np.flatnonzero(wanted), bank, places, whole.size)

    def embed(self, a: Floats) -> Floats:
        """Return the coefficients in the whole bank of functions with coefficients ``a`` here."""
        out = np.zeros(self.size)
        out[self.places] = a
        return out

    def restrict(self, a: Floats) -> Floats:
        """Return the coefficients here of functions with coefficients ``a`` in the whole bank."""
        return a[self.places]


def _weighty(C: Floats, negligible: float) -> NDArray[np.bool_]:
    """Return the columns of a basis with an entry of at least this share of the largest in any of the cores."""
    if negligible <= 0.0:
        return np.ones(C.shape[1], dtype=np.bool_)
    size = np.abs(C).max(axis=(0, 1))
    return np.asarray(size >= negligible * size.max())


def _alike(cores: Sequence[Floats], bases: Sequence[Basis]) -> list[list[int]]:
    """Group the families whose cores have one shape; those with B = I come last, each alone: their cores are large."""

    def key(i: int) -> tuple[int, ...]:
        return (i, 0, 0) if bases[i] is None else (-1, *cores[i].shape[:2])

    return [list(group) for _, group in groupby(sorted(range(len(cores)), key=key), key=key)]


def _stack_cores(cores: list[Floats]) -> Floats:
    """Stack cores without copying them where one array serves all the families."""
    if all(C is cores[0] for C in cores):
        return np.broadcast_to(cores[0], (len(cores), *cores[0].shape))
    return np.stack(cores)
