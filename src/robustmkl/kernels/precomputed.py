"""Gram matrices that the user has computed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
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
        return np.stack([X[j][:, self.rows] @ a for j, a in zip(self.which, self.a, strict=True)], axis=1)


class Precomputed(FittedFamily):
    """A stack of m Gram matrices as one family: B = I, the cores are the matrices.

    Parameters
    ----------
    grams : array of shape (m, n, n)
        Symmetric positive semi-definite matrices; both are checked.
    names : sequence of str, optional
        One a kernel.
    """

    def __init__(self, grams: Floats, names: tuple[str, ...] | None = None) -> None:
        self.cores = np.asarray(grams, dtype=np.float64)
        _check_stack(self.cores)
        self.names = names or tuple(f"kernel {j}" for j in range(self.cores.shape[0]))
        if len(self.names) != self.cores.shape[0]:
            raise ValueError(f"names has {len(self.names)} entries for {self.cores.shape[0]} kernels.")
        self.entry_error = EPS

    def basis(self, X: Floats) -> None:
        return None

    def part(self, a: Floats) -> PrecomputedPart:
        which, rows = np.flatnonzero(a.any(axis=1)), np.flatnonzero(a.any(axis=0))
        return PrecomputedPart(tuple(which.tolist()), tuple(rows.tolist()), a[np.ix_(which, rows)])


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
