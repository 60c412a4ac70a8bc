"""The training rows in canonical form: no weight 0, no repetitions, one order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Ints


@dataclass(frozen=True)
class Rows:
    """Distinct (row, class) pairs of positive weight, in an order that depends on their values alone.

    So a row given twice is a row of weight 2, a row of weight 0 is absent, and the order of the rows does
    not matter: exactly, not up to the solver's tolerance.

    Attributes
    ----------
    first : array of int
        Where each distinct row stands first among the rows given.
    of : array of int
        For each row given, its distinct row; -1 for rows of weight 0.
    s : array
        The weight of each distinct row.
    """

    first: Ints
    of: Ints
    s: Floats

    @classmethod
    def distinct(cls, X: Floats, codes: Ints, s: Floats) -> Rows:
        """Merge the equal rows of a table."""
        kept = np.flatnonzero(s > 0.0)
        keys = np.column_stack([X[kept] + 0.0, codes[kept]])  # -0.0 becomes 0.0
        records = np.ascontiguousarray(keys).view(np.dtype((np.void, keys.itemsize * keys.shape[1])))
        _, first, inverse = np.unique(records.ravel(), return_index=True, return_inverse=True)
        of = np.full(s.size, -1, dtype=np.intp)
        of[kept] = inverse.reshape(-1)
        return cls(kept[first], of, np.bincount(of[kept], weights=s[kept]).astype(np.float64))

    @classmethod
    def as_given(cls, s: Floats) -> Rows:
        """Keep the rows of positive weight as they stand."""
        kept = np.flatnonzero(s > 0.0)
        of = np.full(s.size, -1, dtype=np.intp)
        of[kept] = np.arange(kept.size)
        return cls(kept, of, s[kept])

    def spread(self, values: Floats) -> Floats:
        """Return one value a row given: that of its distinct row, 0 for rows of weight 0."""
        return np.where(self.of >= 0, values[self.of], 0.0)
