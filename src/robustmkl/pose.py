"""Problem (11) of rows and labels as they are given: which rows count, signs for labels, kernels of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .arrays import Floats, Ints
from .kernels import KernelDictionary, PrecomputedKernels, paper_dictionary
from .kernels.bank import KernelBank
from .problem import Problem
from .uncertainty import Budget


@dataclass(frozen=True)
class Given:
    """Rows and labels of two classes that have been checked.

    Attributes
    ----------
    table : array (n, d), or (m, n, n) with ``kernels="precomputed"``
    signs, weight : arrays
        Of the rows of positive weight.
    kept : array of int
        Which these are.
    kernels : "paper", "precomputed" or KernelDictionary
    names : list of str
        Of the columns, where they have names.
    """

    table: Floats
    signs: Floats
    weight: Floats
    kept: Ints
    kernels: str | KernelDictionary
    names: list[str]

    @classmethod
    def check(cls, X: Any, y: Any, kernels: str | KernelDictionary, weight: Any) -> Self:
        """Take rows and labels; refuse what makes no problem."""
        table = np.asarray(X, dtype=np.float64)
        n = table.shape[-2] if table.ndim > 1 else 0
        s = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
        labels = np.asarray(y)
        if table.ndim != (3 if _is_precomputed(kernels) else 2) or labels.shape != (n,) or s.shape != (n,):
            raise ValueError(
                f"X has shape {table.shape}, y {labels.shape} and sample_weight {s.shape}: give rows (n, d), or "
                "kernels (m, n, n) with kernels='precomputed', and one label and one weight a row."
            )
        if not (np.isfinite(table).all() and np.isfinite(s).all() and (s >= 0.0).all()):
            raise ValueError("X and sample_weight must be finite, and weights >= 0: leave the other rows out.")
        kept = np.flatnonzero(s > 0.0)
        names = [str(name) for name in getattr(X, "column_names", getattr(X, "columns", ()))]
        return cls(table, signs(labels[kept]), s[kept], kept, kernels, names)

    def problem(self, h: float, fit_intercept: bool, exact: bool = False) -> Problem:
        """Return the problem without budget, at lam = 1."""
        return Problem(self._bank(exact), self.signs, self.weight, 1.0, Budget(h, h), fit_intercept)

    def _bank(self, exact: bool) -> KernelBank:
        kernels = self.kernels
        if _is_precomputed(kernels):
            return PrecomputedKernels(self.table, self.kept).bank()
        if not (isinstance(kernels, KernelDictionary) or kernels == "paper"):
            raise ValueError(f"kernels must be 'paper', 'precomputed' or a KernelDictionary, got {kernels!r}.")
        dictionary = kernels if isinstance(kernels, KernelDictionary) else paper_dictionary()
        rows = self.table[self.kept]
        return dictionary.fit(rows, self.names or None, exact).bank(rows)


def signs(y: Any) -> Floats:
    """Return the labels of two classes as -1 and +1."""
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if classes.size != 2:
        raise ValueError(
            f"y holds {classes.size} classes ({classes[:5]}): a path is of two, or of one against all others."
        )
    return np.where(codes == 1, 1.0, -1.0)


def _is_precomputed(kernels: Any) -> bool:
    return isinstance(kernels, str) and kernels == "precomputed"
