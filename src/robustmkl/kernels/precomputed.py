"""Gram matrices that the user has computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Floats, Ints
from .bank import KernelBank
from .family import EPS, FittedFamily, Part

PSD_TOLERANCE = 1e-10  # relative to the mean of the diagonal


@dataclass(frozen=True)
class PrecomputedPart(Part):
    """``sum_i K_j(x, x_i) a_ji`` for the kernels ``which``, from a stack of Gram matrices to the training rows."""

    which: tuple[int, ...]
    rows: tuple[int, ...]
    a: Floats

    def contributions(self, X: Floats) -> Floats:
        """Evaluate at new rows: ``X`` has shape (m, n_new, n_train)."""
        out = np.empty((X.shape[1], len(self.which)))
        for column, j, a in zip(out.T, self.which, self.a, strict=True):
            column[:] = X[j][:, self.rows] @ a
        return out


class Precomputed(FittedFamily):
    """A stack of m Gram matrices as one family: B = I, the cores are the matrices.

    Parameters
    ----------
    grams : array of shape (m, n, n)
        Symmetric positive semi-definite matrices; both are checked.
    names : sequence of str, optional
        One a kernel.
    """

    def __init__(self, grams: Floats, names: Sequence[str] | None = None) -> None:
        self.cores = np.asarray(grams, dtype=np.float64)
        _check_stack(self.cores)
        numbered = (f"kernel {j}" for j in range(self.cores.shape[0]))
        self.names = tuple(numbered if names is None else map(str, names))
        if len(self.names) != self.cores.shape[0]:
            raise ValueError(f"names has {len(self.names)} entries for {self.cores.shape[0]} kernels.")
        self.entry_error = EPS

    def basis(self, X: Floats) -> None:
        return None

    def part(self, a: Floats) -> PrecomputedPart:
        which, rows = np.flatnonzero(a.any(axis=1)), np.flatnonzero(a.any(axis=0))
        return PrecomputedPart(tuple(which.tolist()), tuple(rows.tolist()), a[np.ix_(which, rows)])


@dataclass(frozen=True)
class PrecomputedExpansion:
    """``sum_j f_j`` as a function of Gram matrices to the training rows."""

    part: PrecomputedPart

    def __call__(self, X: Floats) -> Floats:
        """Return ``sum_j f_j`` at new rows."""
        return np.asarray(self.part.contributions(X).sum(axis=1))

    def contributions(self, X: Floats) -> dict[int, Floats]:
        """Return ``f_j`` at new rows for every kernel j with ``f_j != 0``."""
        return dict(zip(self.part.which, self.part.contributions(X).T, strict=True))


class PrecomputedKernels:
    """Precomputed kernels in the place of a fitted dictionary.

    Parameters
    ----------
    grams : array of shape (m, n_all, n_all)
    rows : array of int
        The training rows among ``n_all``: those of positive weight.
    """

    def __init__(self, grams: Floats, rows: Ints) -> None:
        self.rows = rows
        self.family = Precomputed(grams[:, rows[:, None], rows[None, :]])

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """One name a kernel."""
        return self.family.names

    def bank(self, X: Floats | None = None) -> KernelBank:
        """Return the kernels on the training rows, as solvers see them."""
        return KernelBank([self.family], [None], self.rows.size)

    def expansion(self, blocks: Sequence[Floats]) -> PrecomputedExpansion:
        """Bind coefficients to the kernels: a function of Gram matrices with ``n_all`` columns."""
        part = self.family.part(blocks[0])
        return PrecomputedExpansion(replace(part, rows=tuple(self.rows[list(part.rows)].tolist())))


def _check_stack(grams: Floats) -> None:
    if grams.ndim != 3 or grams.shape[1] != grams.shape[2] or 0 in grams.shape:
        raise ValueError(
            f"precomputed kernels must be an array of shape (m, n, n), got {grams.shape}: "
            "stack the m Gram matrices of the n training rows."
        )
    for j, K in enumerate(grams):
        if not np.isfinite(K).all():
            raise ValueError(f"precomputed kernel {j} holds NaN or infinity at {_first(~np.isfinite(K))}.")
        scale = float(np.abs(K).max())
        skew = np.abs(K - K.T)
        if skew.max() > 1e-9 * scale:
            raise ValueError(f"precomputed kernel {j} is not symmetric: see entry {_first(skew == skew.max())}.")
        _check_positive(j, K)


def _check_positive(j: int, K: Floats) -> None:
    """Refuse an indefinite matrix: the problem would not be convex and the certificate not valid."""
    shift = PSD_TOLERANCE * K.shape[0] * max(float(np.abs(K).max()), np.finfo(float).tiny)
    try:
        np.linalg.cholesky(K + shift * np.eye(K.shape[0]))
    except np.linalg.LinAlgError:
        smallest = float(np.linalg.eigvalsh(K)[0])
        raise ValueError(
            f"precomputed kernel {j} is not positive semi-definite (smallest eigenvalue {smallest:.3g}): "
            "add that much to its diagonal, or clip its negative eigenvalues."
        ) from None


def _first(mask: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0])
