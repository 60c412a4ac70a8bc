"""The bases of several families side by side, as one matrix: small ones in one array, large ones where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..arrays import Floats, Ints

Basis = Floats | Callable[[], Floats | None] | None  # an array, what evaluates it, or the identity

LARGE = 4_000_000  # numbers that are not copied to stand together
SLICE = 4096  # rows at a time in the weighted Gram product: its scratch stays small


class SideBySide:
    """A matrix ``[B_1 B_2 ..]`` of n rows.

    Parameters
    ----------
    parts : sequence of array
        ``B_1, B_2, ..``
    n : int
    """

    def __init__(self, parts: Sequence[Floats], n: int) -> None:
        self.parts = [B for B in parts if B.shape[1]] or [np.empty((n, 0))]
        self.n, self.rank = n, sum(B.shape[1] for B in self.parts)
        ends = np.cumsum([B.shape[1] for B in self.parts])
        self._pairs = [(B, slice(end - B.shape[1], end)) for B, end in zip(self.parts, ends, strict=True)]

    def adjoint(self, Q: Floats) -> Floats:
        """Return ``B'Q`` for one vector or several (columns)."""
        if len(self.parts) == 1:
            return np.asarray(self.parts[0].T @ Q)
        return np.concatenate([B.T @ Q for B in self.parts])

    def forward(self, V: Floats) -> Floats:
        """Return ``B V`` for one vector or several (columns)."""
        out = np.asarray(self.parts[0] @ V[self._pairs[0][1]])
        for B, where in self._pairs[1:]:
            out += B @ V[where]
        return out

    def rows(self, which: Ints | slice) -> SideBySide:
        """Return some of the rows."""
        parts = [B[which] for B in self.parts]
        return SideBySide(parts, parts[0].shape[0])

    def dense(self) -> Floats:
        """Return the matrix as one array."""
        return self.parts[0] if len(self.parts) == 1 else np.concatenate(self.parts, axis=1)

    def gram(self, w: Floats) -> Floats:
        """Return ``B' diag(w) B``, w >= 0."""
        G = np.zeros((self.rank, self.rank))
        for i in range(0, self.n, SLICE):
            T = self.rows(slice(i, i + SLICE)).dense() * np.sqrt(w[i : i + SLICE, None])
            G += T.T @ T
        return G


def arrange(bases: Sequence[Basis], ranks: Sequence[int], n: int) -> tuple[SideBySide, list[Floats]]:
    """Return bases as one matrix, and each of them.

    Those that are still to be evaluated are so one after the other in one array; large ones that exist stay where they
    are.
    """
    given = [B for B in bases if isinstance(B, np.ndarray)]
    if len(given) == len(bases) and (len(given) < 2 or n * sum(ranks) > LARGE):
        return SideBySide(given, n), given
    # The columns of a family stand together in memory: so they can be used by themselves.
    whole, views = np.empty((n, sum(ranks)), order="F"), []
    for B, end, rank in zip(bases, np.cumsum(ranks), ranks, strict=True):
        view = whole[:, end - rank : end]
        view[:] = B() if callable(B) else B
        views.append(view)
    return SideBySide([whole], n), views
