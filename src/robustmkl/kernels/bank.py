"""All kernels of a problem on its training rows, as solvers see them.

Three flat vectors, with one view each by family:

    q, f      n numbers: one a row
    z = B'q   sum of r numbers: one block a family
    a, C a    sum of k r numbers: one block a kernel

Families of equal shape are stacked, so that an operation costs a few BLAS calls, whatever the number of kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ..arrays import Floats, Ints
from .family import FittedFamily


@dataclass(frozen=True)
class Stack:
    """F families of k kernels and rank r each: basis n x F r (None: identity, F = 1), cores F x k x r x r."""

    basis: Floats | None
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

    def a_view(self, a: Floats) -> Floats:
        """View the part of a flat a as (F, k, r)."""
        return a[self.a].reshape(self.shape)

    def take(self, rows: Ints) -> tuple[Floats | None, Floats]:
        """Return basis and cores on some of the rows; where B = I it is the cores that have rows."""
        if self.basis is not None:
            return self.basis[rows], self.cores
        return None, self.cores[:, :, rows[:, None], rows[None, :]]


class KernelBank:
    """The kernels of a problem: bases and cores of all families on the training rows.

    Parameters
    ----------
    families : sequence of FittedFamily
    bases : sequence of array or None
        Basis B of each family on the training rows; None is the identity.
    n : int
        The number of training rows.
    """

    def __init__(self, families: Sequence[FittedFamily], bases: Sequence[Floats | None], n: int) -> None:
        self.n = n
        self.names = tuple(name for family in families for name in family.names)
        self.entry_error = max((family.entry_error for family in families), default=0.0)
        self._first = np.cumsum([0, *(len(family.names) for family in families)])
        self._members = _alike(families, bases)  # which families make up each stack
        pairs = []
        for members in self._members:
            columns = [B for i in members if (B := bases[i]) is not None]
            basis = np.concatenate(columns, axis=1) if columns else None
            pairs.append((basis, _stack_cores([families[i].cores for i in members])))
        self._lay_out(pairs)

    def _lay_out(self, pairs: Sequence[tuple[Floats | None, Floats]]) -> None:
        """Give every pair of bases and cores its place in the flat vectors."""
        self.stacks: list[Stack] = []
        z = a = 0
        for basis, cores in pairs:
            count, k, r = cores.shape[:3]
            stack = Stack(basis, cores, slice(z, z + count * r), slice(a, a + count * k * r))
            self.stacks.append(stack)
            z, a = stack.z.stop, stack.a.stop
        self.rank, self.size = z, a
        self._starts, self._kernel_of = self._index()

    def _index(self) -> tuple[Ints, Ints]:
        """Return where each kernel's block starts in a flat a (stacked order), and the kernel of each block."""
        kernel_of = [self._first[i] + j for s, members in self._stacked() for i in members for j in range(s.shape[1])]
        lengths = [s.shape[2] for s in self.stacks for _ in range(s.shape[0] * s.shape[1])]
        return np.cumsum([0, *lengths[:-1]]), np.array(kernel_of, dtype=np.intp)

    def _stacked(self) -> list[tuple[Stack, list[int]]]:
        return list(zip(self.stacks, self._members, strict=True))

    @property
    def m(self) -> int:
        """The number of kernels."""
        return len(self.names)

    def adjoint(self, q: Floats) -> Floats:
        """Return ``z = B'q``, of every family."""
        z = np.empty(self.rank)
        for s in self.stacks:
            z[s.z] = q if s.basis is None else q @ s.basis
        return z

    def forward(self, v: Floats) -> Floats:
        """Return ``B v``, summed over the families."""
        f = np.zeros(self.n)
        for s in self.stacks:
            f += v[s.z] if s.basis is None else s.basis @ v[s.z]
        return f

    def cores_times(self, a: Floats) -> Floats:
        """Return ``C_j a_j`` for every kernel."""
        out = np.empty(self.size)
        for s in self.stacks:
            np.matmul(s.cores, s.a_view(a)[..., None], out=s.a_view(out)[..., None])
        return out

    def expand(self, z: Floats) -> Floats:
        """Repeat each family's block of z for each of its kernels."""
        out = np.empty(self.size)
        for s in self.stacks:
            s.a_view(out)[:] = s.z_view(z)[:, None, :]
        return out

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
        out = np.empty(self.size)
        by_block = values[self._kernel_of]
        start = 0
        for s in self.stacks:
            families, k, _ = s.shape
            s.a_view(out)[:] = by_block[start : start + families * k].reshape(families, k, 1)
            start += families * k
        return out

    def diagonal_bound(self) -> Floats:
        """Return ``kappa_j = max_i k_j(x_i, x_i)`` for every kernel."""
        out = np.empty(self.m)
        for s, members in self._stacked():
            for position, i in enumerate(members):
                B = None if s.basis is None else s.basis.reshape(self.n, s.shape[0], -1)[:, position]
                for j, C in enumerate(s.cores[position]):
                    diagonal = np.diagonal(C) if B is None else np.einsum("ir,ir->i", B @ C, B)
                    out[self._first[i] + j] = diagonal.max()
        return out

    def blocks(self, a: Floats) -> list[Floats]:
        """Cut a flat a into one array (k, r) for each family, in the order of the families."""
        found = {i: s.a_view(a)[position] for s, members in self._stacked() for position, i in enumerate(members)}
        return [found[i] for i in sorted(found)]

    def take(self, rows: Ints) -> KernelBank:
        """Return the same kernels on some of the rows."""
        part = copy(self)
        part.n = rows.size
        part._lay_out([s.take(rows) for s in self.stacks])
        return part

    def place(self, a: Floats, part: KernelBank, rows: Ints) -> Floats:
        """Return the coefficients here of the functions with coefficients ``a`` on ``part = take(rows)``."""
        out = np.zeros(self.size)
        for small, s in zip(part.stacks, self.stacks, strict=True):
            s.a_view(out)[..., rows if s.basis is None else slice(None)] = small.a_view(a)
        return out

    def gram(self, j: int) -> Floats:
        """Return the Gram matrix of kernel j, as represented: ``B C_j B'``."""
        family = int(np.searchsorted(self._first, j, side="right")) - 1
        for s, members in self._stacked():
            if family in members:
                position = members.index(family)
                C = s.cores[position, j - self._first[family]]
                if s.basis is None:
                    return np.asarray(C)
                B = s.basis.reshape(self.n, s.shape[0], -1)[:, position]
                return np.asarray(B @ C @ B.T)
        raise IndexError(f"kernel {j} does not exist: there are {self.m}.")


def _alike(families: Sequence[FittedFamily], bases: Sequence[Floats | None]) -> list[list[int]]:
    """Group the families whose cores have one shape; those with B = I stay alone, for their cores are large."""

    def key(i: int) -> tuple[int, ...]:
        return (i, 0, 0) if bases[i] is None else (-1, *families[i].cores.shape[:2])

    return [list(group) for _, group in groupby(sorted(range(len(families)), key=key), key=key)]


def _stack_cores(cores: list[Floats]) -> Floats:
    """Stack cores without copying them where one array serves all the families."""
    if all(C is cores[0] for C in cores):
        return np.broadcast_to(cores[0], (len(cores), *cores[0].shape))
    return np.stack(cores)
