"""A block of training rows, and the summaries that passes over blocks return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import Floats, Ints
from ..kernels.side_by_side import SideBySide


@dataclass(frozen=True)
class Summary:
    """What a pass says of the rows it has seen. Summaries of two sets of rows add up to that of their union."""

    sums: dict[str, Floats] = field(default_factory=dict)
    least: dict[str, float] = field(default_factory=dict)
    lists: dict[str, list[Any]] = field(default_factory=dict)  # one entry a block, in the order of the blocks

    def __add__(self, other: Summary) -> Summary:
        return Summary(
            {key: value + other.sums[key] for key, value in self.sums.items()},
            {key: min(value, other.least[key]) for key, value in self.least.items()},
            {key: value + other.lists[key] for key, value in self.lists.items()},
        )


class Block:
    """Some of the training rows: basis, labels, weights, and by name what a solver keeps of each row.

    Attributes
    ----------
    number : int
        The block's place among the blocks.
    y, omega, signed : arrays
        Labels, shares of the total weight, and ``omega y``.
    basis : SideBySide
        The bases of all families that have one: the first entries of a flat z.
    unit : list of slice
        Where in a flat z the families with B = I have the entries of these rows.
    rank : int
        The length of a flat z.
    """

    def __init__(self, number: int, y: Floats, omega: Floats) -> None:
        self.number, self.y, self.omega, self.signed = number, y, omega, omega * y
        self.kept: dict[str, Any] = {}
        self.free: Ints = np.empty(0, dtype=np.intp)  # rows that a solver treats apart

    @property
    def is_free(self) -> bool:
        """Whether all rows are free."""
        return self.free.size == self.y.size

    def attach(self, basis: SideBySide, unit: list[slice], rank: int) -> None:
        """Give the block its kernels."""
        self.basis, self.unit, self.rank = basis, unit, rank

    def __getitem__(self, name: str) -> Any:
        return self.kept[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.kept[name] = value

    def get(self, name: str) -> Any:
        """Return what is kept under a name, None if nothing is."""
        return self.kept.get(name)

    def adjoint(self, Q: Floats) -> Floats:
        """Return ``B'Q`` for one vector or several (columns)."""
        out = np.zeros((self.rank, *Q.shape[1:]))
        out[: self.basis.rank] = self.basis.adjoint(Q)
        for where in self.unit:
            out[where] = Q
        return out

    def forward(self, V: Floats) -> Floats:
        """Return ``B V`` for one vector or several (columns)."""
        out = self.basis.forward(V[: self.basis.rank])
        for where in self.unit:
            out += V[where]
        return out

    def gram(self, w: Floats) -> Floats:
        """Return ``B' diag(w) B``, w >= 0, of the families that have a basis."""
        return self.basis.gram(w)
