"""The small side of the Newton system: everything of size sum r, p or three, whatever the number of rows.

The matrix of d_alpha is ``A = diag(omega D) + U H U'``, U = diag(omega y) B, H block diagonal by family. With few rows
it is factored as it stands: all rows are free. With many, the p free rows F, those of the largest omega / D, keep
their own Schur complement and the others O go through Woodbury,

    A_O^-1 = W - W U_O K U_O' W,   K = L (I + L' M L)^-1 L',   H = L L',   M = U_O' W U_O,   W = diag(omega D)^-1,
    S = (omega D)_F + U_F K U_F':

plain Woodbury over all rows loses every digit once some D are tiny.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from ..arrays import Floats
from ..kernels.bank import KernelBank, Stack
from ..rows import Summary
from .cone import Scaling

Factor = tuple[Floats, bool]


class Middle:
    """H, the block diagonal matrix of the cones: ``H_g = sum_j eta_j^-2 (C_j + 2 p_j p_j')``, ``p_j = C_j w1_j``."""

    def __init__(self, bank: KernelBank, scaling: Scaling) -> None:
        self.bank = bank
        e2 = scaling.eta**-2
        weights, p = bank.spread(e2), bank.spread(np.sqrt(2.0 * e2)) * scaling.w.image
        self.H: list[Floats] = []
        for s in bank.stacks:
            P, e = s.a_view(p), s.a_view(weights)[:, :, 0]
            H = np.matmul(e[:, None, :], s.cores.reshape(*s.shape[:2], -1)).reshape(s.shape[0], s.shape[2], s.shape[2])
            self.H.append(H + np.swapaxes(P, 1, 2) @ P)

    def times(self, V: Floats) -> Floats:
        """Return ``H V`` for columns V."""
        return blockwise(self.bank.stacks, self.H, V)


def blockwise(stacks: Sequence[Stack], blocks: Sequence[Floats], V: Floats) -> Floats:
    """Multiply columns by a block diagonal matrix."""
    out = np.empty_like(V)
    for s, H in zip(stacks, blocks, strict=True):
        families, _, r = s.shape
        out[s.z] = np.matmul(H, V[s.z].reshape(families, r, -1)).reshape(families * r, -1)
    return out


class Inverse:
    """The small parts of ``A^-1``, from what the pass ``split`` has returned."""

    def __init__(self, middle: Middle, rows: Summary) -> None:
        self.stacks = middle.bank.stacks
        self.cuts = np.cumsum([part.shape[0] for part in rows.lists["U"]])[:-1]
        self.U = np.concatenate(rows.lists["U"])
        S = np.diag(np.concatenate(rows.lists["diagonal"]))
        gram = rows.sums["gram"]
        self.others = gram.size > 0
        self.dense = not self.others
        if self.others:
            self.L = [_roots(H) for H in middle.H]
            self.inner = factor(self._gram(gram))
            half = solve_triangular(self.inner[0], self._Lt(self.U.T), lower=True, check_finite=False)
            S += half.T @ half
        else:
            S += _dense(self.stacks, middle.H, self.U, np.concatenate(rows.lists["signed"]))
        self.S = factor(S)

    def _gram(self, gram: Floats) -> Floats:
        """Return ``I + L' M L``."""
        inner = self._Lt(np.ascontiguousarray(self._Lt(gram).T))
        inner.flat[:: inner.shape[0] + 1] += 1.0
        return inner

    def _Lt(self, V: Floats) -> Floats:
        return blockwise(self.stacks, [np.swapaxes(L, 1, 2) for L in self.L], V)

    def _K(self, V: Floats) -> Floats:
        return blockwise(self.stacks, self.L, solve(self.inner, self._Lt(V)))

    def small(self, g: Floats, free: list[Floats]) -> tuple[Floats, list[Floats]]:
        """Return the small parts of the solution, ``(K (g + U_F'x_F), x_F)``, from those of the right-hand side."""
        rhs = np.concatenate(free)
        if not self.others:
            return g, np.split(solve(self.S, rhs), self.cuts)
        x = solve(self.S, rhs - self.U @ self._K(g))
        return self._K(g + self.U.T @ x), np.split(x, self.cuts)


def _dense(stacks: Sequence[Stack], H: Sequence[Floats], U: Floats, signed: Floats) -> Floats:
    """Return ``U H U'`` when all rows are free."""
    based = [s for s in stacks if s.basis is not None]
    out = U @ blockwise(based, H[: len(based)], np.ascontiguousarray(U.T))
    for square in H[len(based) :]:  # B = I
        out += signed[:, None] * square[0] * signed[None, :]
    return 0.5 * (out + out.T)


def _roots(H: Floats) -> Floats:
    """Return the Cholesky factors of a stack of blocks, with what rounding needs on their diagonals."""
    mean = np.trace(H, axis1=1, axis2=2)[:, None, None] / H.shape[1] * np.eye(H.shape[1])
    for jitter in (1e-13, 1e-12, 1e-11, 1e-10):
        try:
            return np.linalg.cholesky(H + jitter * mean)
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError("a block of the Newton matrix is not positive definite")


def factor(A: Floats) -> Factor:
    """Factor A, with as little added to the diagonal as makes it positive definite; refinement takes it out."""
    if A.size == 0:
        return A, True
    diagonal = A.diagonal().copy()
    for jitter in (0.0, *(10.0**k for k in range(-15, -3))):
        shifted = A.copy()
        shifted.flat[:: A.shape[0] + 1] = diagonal * (1.0 + jitter)
        try:
            lower, _ = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue
        if np.isfinite(lower.diagonal()).all():
            return lower, True
    raise np.linalg.LinAlgError("the Newton matrix is not positive definite")


def solve(A: Factor, rhs: Floats) -> Floats:
    """Solve with a factor; there may be no unknowns."""
    return np.asarray(cho_solve(A, rhs, check_finite=False)) if rhs.size else rhs
