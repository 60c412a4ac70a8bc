"""The small side of the Newton system: everything of size sum r, p or three, whatever the number of rows.

The matrix of d_alpha is ``A = diag(omega D) + U H U'``, U = diag(omega y) B, H block diagonal by family. With few rows
it is factored as it stands: all rows are free. With many, the p free rows F, those of the largest omega / D, keep
their own Schur complement and the others O go through Woodbury,

    A_O^-1 = W - W U_O K U_O' W,   K = L (I + L' M L)^-1 L',   H = L L',   M = U_O' W U_O,   W = diag(omega D)^-1,
    S = (omega D)_F + U_F K U_F':

plain Woodbury over all rows loses every digit once some D are tiny. t, the intercept and the budget are a border.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack, solve_triangular

from ..arrays import Floats
from ..kernels.bank import KernelBank, Stack
from ..rows import Engine, Summary
from . import passes
from .cone import Cones, Scaling

REFINED = 1e-9  # relative residual, in the norm of W, at which refinement stops
ROUNDS = 16  # of refinement at most,
TRUSTED = 1e-2  # with so small a part of that residual unrefined, the next factor is trusted for the border
SLOWEST = 0.8  # as long as each takes the squared residual so far down


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
            H += np.swapaxes(P, 1, 2) @ P
            self.H.append(H)

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


class Dense:
    """``A^-1`` of few rows: all are free, ``A = diag(omega y) (diag(D / omega) + B H B') diag(omega y)``."""

    def __init__(self, middle: Middle, rows: Summary) -> None:
        self.signed = np.concatenate(rows.lists["signed"])[:, None]
        B = np.concatenate(rows.lists["basis"])
        stacks, H = middle.bank.stacks, middle.H
        based = [s for s in stacks if not s.identity]
        A = B @ blockwise(based, H[: len(based)], np.ascontiguousarray(B.T))
        for square in H[len(based) :]:  # B = I
            A += square[0]
        A.flat[:: A.shape[0] + 1] += np.concatenate(rows.lists["diagonal"]) / self.signed[:, 0] ** 2
        self.factor = factor(A)

    def small(self, g: Floats, free: Floats) -> tuple[Floats, Floats]:
        """Return the small parts of the solution, from those of the right-hand side."""
        return g, solve(self.factor, free / self.signed) / self.signed


class Woodbury:
    """``A^-1`` of many rows."""

    def __init__(self, middle: Middle, rows: Summary) -> None:
        self.stacks, self.signed = middle.bank.stacks, np.concatenate(rows.lists["signed"])
        self.U = np.concatenate(rows.lists["basis"]) * self.signed[:, None]
        self.L = [_roots(H) for H in middle.H]
        inner = self._Lt(np.ascontiguousarray(self._Lt(rows.sums["gram"]).T))
        inner.flat[:: inner.shape[0] + 1] += 1.0
        self.inner = factor(inner)
        half = solve_triangular(self.inner, self._Lt(self.U.T), lower=True, check_finite=False)
        S = half.T @ half
        S.flat[:: S.shape[0] + 1] += np.concatenate(rows.lists["diagonal"])
        self.S = factor(S)

    def _Lt(self, V: Floats) -> Floats:
        return blockwise(self.stacks, [np.swapaxes(L, 1, 2) for L in self.L], V)

    def _K(self, V: Floats) -> Floats:
        return blockwise(self.stacks, self.L, solve(self.inner, self._Lt(V)))

    def small(self, g: Floats, free: Floats) -> tuple[Floats, Floats]:
        """Return the small parts of the solution, ``(K (g + U_F'x_F), x_F)``, from those of the right-hand side."""
        x = solve(self.S, free - self.U @ self._K(g))
        return self._K(g + self.U.T @ x), x


class Solution(NamedTuple):
    """The small part of a solution; that of the rows stays with them."""

    low: Floats  # directions of t, the intercept, the prices
    slack: Cones  # (dt, R_j'dz)
    response: Cones  # W^-2 slack

    def plus(self, other: Solution) -> Solution:
        """Return the sum."""
        return Solution(self.low + other.low, self.slack + other.slack, self.response + other.response)


class System:
    """The Newton equations with their border, factored.

    What the cones answer, ``W^-2 (dt, R_j'dz)``, is a difference of large numbers near their boundary. So refinement
    looks at the answer itself, and adds to it the answers to its corrections instead of computing it anew: rounding
    then spoils complementarity, which the next step mends, and not the equations of the rows.
    """

    def __init__(
        self,
        rows: Engine,
        bank: KernelBank,
        scaling: Scaling,
        split: Summary,
        lam: float,
        sums: Floats,
        trusted: bool,
    ) -> None:
        self.rows, self.bank, self.scaling, self.lam = rows, bank, scaling, lam
        self.trusted, self.unrefined = trusted, np.inf
        self.middle, self.rounds = Middle(bank, scaling), ROUNDS
        self.dense = not split.sums["gram"].size
        self.inverse = Dense(self.middle, split) if self.dense else Woodbury(self.middle, split)
        self.cuts = np.cumsum([part.size for part in split.lists["signed"]])[:-1]
        t = 1.0 / lam + float((scaling.eta**-2 * (2.0 * scaling.w.head**2 - 1.0)).sum())
        self.corner = np.pad(sums, ((1, 0), (1, 0)))
        self.corner[0, 0] = t

    def begin(self, reduced: Summary, bottom: Floats) -> Solution:
        """Solve for the border's columns, to be kept, and for one more; unrefined where that will do.

        A dense factor is accurate enough for them, and so is one after a factor that left next to no residual.
        """
        inner, u = self._expand(reduced)
        first, worst = reduced.sums["norm"], np.inf
        for _ in range(0 if self.dense or self.trusted else ROUNDS):
            reduced = self.rows.run(passes.residual, self.middle.times(u), np.zeros(bottom.size - 1))
            worst, before = float((reduced.sums["norm"] / first).max()), worst
            if worst <= REFINED**2 or not worst < SLOWEST * before:
                break
            d_inner, d_u = self._expand(reduced)
            inner, u = inner + d_inner, u + d_u
        self.inner, self.u_border = inner[:, :-1], u[:, :-1]
        low = np.asarray(np.linalg.solve(self.corner - self.inner, bottom - inner[:, -1]))
        self.rows.run(passes.combine, low)
        return self._solution(low, u[:, -1] - self.u_border @ low)

    def solve(self, reduced: Summary, bottom: Floats) -> Solution:
        """Solve for one column, with refinement unless the factor has just been seen to need none."""
        found, inner = self._bordered(reduced, bottom)
        first, worst = reduced.sums["norm"][0], np.inf
        for turn in range(self.rounds):
            reduced, left = self._left(found, inner, bottom)
            worst, before = float(reduced.sums["norm"][0] / first), worst
            self.unrefined = worst if turn == 0 else self.unrefined
            if worst <= REFINED**2 or not worst < SLOWEST * before:
                self.rounds = 0 if turn == 0 and worst <= REFINED**2 else self.rounds
                break
            more, d_inner = self._bordered(reduced, left)
            found, inner = found.plus(more), inner + d_inner
        return found

    def _bordered(self, reduced: Summary, bottom: Floats) -> tuple[Solution, Floats]:
        """Add a solution of the bordered system to that of the rows; return its small part, and ``border' x``."""
        inner, u = self._expand(reduced)
        low = np.asarray(np.linalg.solve(self.corner - self.inner, bottom - inner[:, 0]))
        self.rows.run(passes.subtract, low)
        return self._solution(low, u[:, 0] - self.u_border @ low), inner[:, 0] - self.inner @ low

    @property
    def clean(self) -> bool:
        """Whether hardly anything was left to refine: then the next factor can be trusted."""
        return self.unrefined <= (TRUSTED * REFINED) ** 2

    def _expand(self, reduced: Summary) -> tuple[Floats, Floats]:
        """Add what solves for the small parts to the solution; return ``border' dx`` and ``U' dx``."""
        V, x = self.inverse.small(reduced.sums["g"], np.concatenate(reduced.lists["free"]))
        found = self.rows.run(passes.expand, V, np.split(x, self.cuts)).sums
        return found["inner"], found["u"]

    def _solution(self, low: Floats, u: Floats) -> Solution:
        coef = self.bank.expand(u)
        slack = Cones(self.bank, np.full(self.bank.m, low[0]), coef, self.bank.cores_times(coef))
        return Solution(low, slack, self.scaling.solve_twice(slack))

    def _left(self, found: Solution, inner: Floats, bottom: Floats) -> tuple[Summary, Floats]:
        """Return what is left of the right-hand sides of rows and border."""
        low, response = found.low, found.response
        reduced = self.rows.run(passes.residual, self.bank.collapse(response.image)[:, None], low[1:])
        left = bottom - self.corner @ low - inner
        left[0] = bottom[0] - low[0] / self.lam - float(response.head.sum())
        return reduced, left


def _roots(H: Floats) -> Floats:
    """Return the Cholesky factors of a stack of blocks, with what rounding needs on their diagonals."""
    mean = np.trace(H, axis1=1, axis2=2)[:, None, None] / H.shape[1] * np.eye(H.shape[1])
    for jitter in (1e-13, 1e-12, 1e-11, 1e-10):
        try:
            return np.linalg.cholesky(H + jitter * mean)
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError("a block of the Newton matrix is not positive definite")


def factor(A: Floats) -> Floats:
    """Return the lower Cholesky factor of A, with as little more on the diagonal as makes it positive definite.

    Refinement takes that out again. The diagonal of A is overwritten.
    """
    diagonal = A.diagonal().copy()
    for jitter in (0.0, *(10.0**k for k in range(-15, -3))):
        A.flat[:: A.shape[0] + 1] = diagonal * (1.0 + jitter)
        lower, info = lapack.dpotrf(A.T, lower=1, clean=0)
        if info == 0 and np.isfinite(lower.diagonal()).all():
            return np.asarray(lower)
    raise np.linalg.LinAlgError("the Newton matrix is not positive definite")


def solve(lower: Floats, rhs: Floats) -> Floats:
    """Solve with a Cholesky factor; there may be no unknowns."""
    return np.asarray(lapack.dpotrs(lower, rhs, lower=1)[0]) if rhs.size else rhs
