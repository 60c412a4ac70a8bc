"""Algorithm 1 on many (lam, rho) at once, under the paper's stopping rule: each is one column.

The problems of a split share their kernels, so that the products with bases and cores are products of matrices. Column
by column the iterates are those of :mod:`robustmkl.solvers.amp`. The upper bounds of alpha may differ from row to row:
with ``alpha_i <= p_i`` it is the f-step of MiPMKL.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Bools, Floats, Ints
from ..kernels.bank import KernelBank, Stack
from ..problem import KernelFunction, Problem
from ..solvers.amp import step_size
from .lemmas import project, shrinkage


@dataclass(frozen=True)
class Columns:
    """Problems that share kernels and labels: ``lams`` and ``rhos`` (p,), upper bounds of alpha (n, p)."""

    lams: Floats
    rhos: Floats
    bounds: Floats

    def take(self, kept: Bools) -> Columns:
        """Return some of them."""
        return Columns(self.lams[kept], self.rhos[kept], self.bounds[:, kept])


class Outcome(NamedTuple):
    """The averages at which a column stopped, the gap there, and after how many iterations."""

    alpha: Floats
    f: KernelFunction
    primal: float
    gap: float
    n_iter: int


class Kernels:
    """The operations of a bank on matrices: one column a problem."""

    def __init__(self, bank: KernelBank) -> None:
        self.bank = bank

    def views(self, a: Floats) -> Iterator[tuple[Stack, Floats]]:
        """Yield each stack with its part of ``a`` (size, p) as (F, k, r, p)."""
        for s in self.bank.stacks:
            yield s, a[s.a].reshape(*s.shape, a.shape[1])

    def adjoint(self, Q: Floats) -> list[Floats]:
        """Return ``B'Q`` of each stack, (F, r, p)."""
        z = self.bank.basis.adjoint(Q)
        return [(Q if s.identity else z[s.z]).reshape(s.shape[0], s.shape[2], Q.shape[1]) for s in self.bank.stacks]

    def step(self, a: Floats, image: Floats, z: list[Floats]) -> None:
        """Add z to every kernel of its family in ``a``, and ``C_j z`` in ``image``."""
        for (s, part), (_, of_image), block in zip(self.views(a), self.views(image), z, strict=True):
            families, k, r = s.shape
            part += block[:, None]
            of_image += (s.cores.reshape(families, k * r, r) @ block).reshape(of_image.shape)

    def cores_times(self, a: Floats) -> Floats:
        """Return ``C_j a_j``."""
        out = np.empty_like(a)
        for (s, part), (_, to) in zip(self.views(a), self.views(out), strict=True):
            np.matmul(s.cores, part, out=to)
        return out

    def squares(self, a: Floats, image: Floats) -> Floats:
        """Return ``a_j' C_j a_j``, (m, p), in the order of the stacks."""
        pairs = zip(self.views(a), self.views(image), strict=True)
        sums = [np.einsum("fkrp,fkrp->fkp", x, y).reshape(-1, a.shape[1]) for (_, x), (_, y) in pairs]
        return np.asarray(np.maximum(np.concatenate(sums), 0.0))

    def gradient_squares(self, Q: Floats) -> Floats:
        """Return ``||g_j||^2`` for ``g_j = sum_i Q_i k_j(x_i, .)``."""
        found = []
        for s, block in zip(self.bank.stacks, self.adjoint(Q), strict=True):
            families, k, r = s.shape
            image = (s.cores.reshape(families, k * r, r) @ block).reshape(families, k, r, -1)
            found.append(np.einsum("frp,fkrp->fkp", block, image).reshape(families * k, -1))
        return np.asarray(np.maximum(np.concatenate(found), 0.0))

    def scale(self, a: Floats, factors: Floats) -> None:
        """Multiply each ``a_j`` by its factor."""
        start = 0
        for s, part in self.views(a):
            families, k, _ = s.shape
            part *= factors[start : start + families * k].reshape(families, k, 1, -1)
            start += families * k

    def forward(self, image: Floats) -> Floats:
        """Return ``sum_j B C_j a_j`` on the training rows."""
        v = np.empty((self.bank.rank, image.shape[1]))
        for s, part in self.views(image):
            v[s.z] = part.sum(axis=1).reshape(-1, image.shape[1])
        f = self.bank.basis.forward(v[: self.bank.basis.rank])
        for s in self.bank.identities:
            f = f + v[s.z]
        return f


class Batch:
    """The state of Algorithm 1 in every column that has not stopped."""

    def __init__(self, problem: Problem, columns: Columns, start: tuple[Floats, Floats] | None = None) -> None:
        if problem.fit_intercept or not np.all(problem.s == 1.0):
            raise ValueError("the batch is of the paper's problem: use fit_intercept=False and weights of 1.")
        n, size, p = problem.kernels.n, problem.kernels.size, columns.lams.size
        self.kernels, self.y, self.n, self.columns = Kernels(problem.kernels), problem.y[:, None], n, columns
        self.gamma, self.T = step_size(problem), 0  # line 1
        self.beta, self.a = (x.copy() for x in start or (np.zeros((n, p)), np.zeros((size, p))))  # line 2
        self.image = self.kernels.cores_times(self.a)
        self.f = self.kernels.forward(self.image)
        self.sums = np.zeros((n, p)), np.zeros((size, p))

    def iterate(self) -> None:
        """Do lines 4 to 6."""
        kernels, columns, gamma = self.kernels, self.columns, self.gamma
        alpha = self._ascend()  # line 4
        kernels.step(self.a, self.image, kernels.adjoint(gamma / self.n * self.y * alpha))  # line 5
        norms = np.sqrt(kernels.squares(self.a, self.image))
        factors = shrinkage(norms, gamma * columns.lams)
        kernels.scale(self.a, factors)
        kernels.scale(self.image, factors)
        self.f = kernels.forward(self.image)
        self.beta = self._ascend()  # line 6
        for total, iterate in zip(self.sums, (alpha, self.a), strict=True):
            total += iterate
        self.T += 1

    def _ascend(self) -> Floats:
        v = self.beta + self.gamma / self.n * (1.0 - self.y * self.f)
        return project(v, self.columns.bounds, self.n * self.columns.rhos)

    def certify(self) -> tuple[Floats, Floats]:
        """Return primal and dual value of the averages in every column."""
        alpha, a = (total / self.T for total in self.sums)
        image, lams = self.kernels.cores_times(a), self.columns.lams
        norms = np.sqrt(self.kernels.squares(a, image)).sum(axis=0)
        losses = np.maximum(0.0, 1.0 - self.y * self.kernels.forward(image))
        primal = 0.5 * lams * norms**2 + worst_case(losses, self.columns) / self.n
        q = self.kernels.gradient_squares(self.y * alpha / self.n).max(axis=0)
        return primal, alpha.sum(axis=0) / self.n - q / (2.0 * lams)

    def outcome(self, column: int, primal: float, gap: float) -> Outcome:
        """Return the averages of one column (line 8)."""
        alpha, a = (total[:, column] / self.T for total in self.sums)
        return Outcome(alpha, KernelFunction(a), primal, gap, self.T)

    def keep(self, kept: Bools) -> None:
        """Go on with some columns only."""
        self.columns = self.columns.take(kept)
        self.beta, self.a, self.image, self.f = (x[:, kept] for x in (self.beta, self.a, self.image, self.f))
        self.sums = self.sums[0][:, kept], self.sums[1][:, kept]


def worst_case(losses: Floats, columns: Columns) -> Floats:
    """Return ``max sum alpha_i l_i`` over ``alpha <= bounds``, ``sum alpha <= rho n`` in each column."""
    order = np.argsort(-losses, axis=0, kind="stable")
    bounds = np.take_along_axis(columns.bounds, order, axis=0)
    room = np.clip(columns.rhos * losses.shape[0] - (np.cumsum(bounds, axis=0) - bounds), 0.0, bounds)
    return np.asarray((room * np.take_along_axis(losses, order, axis=0)).sum(axis=0))


def batched_amp(
    problem: Problem,
    columns: Columns,
    gap: float,
    max_iter: int,
    every: int = 10,
    start: tuple[Floats, Floats] | None = None,
) -> list[Outcome]:
    """Run Algorithm 1 in every column until its gap is within ``gap``, or ``max_iter`` iterations."""
    batch, left = Batch(problem, columns, start), np.arange(columns.lams.size)
    found: dict[int, Outcome] = {}
    while left.size:
        batch.iterate()
        if batch.T % every == 0 or max_iter == batch.T:
            left = _retire(batch, left, found, gap, max_iter)
    return [found[c] for c in range(columns.lams.size)]


def _retire(batch: Batch, left: Ints, found: dict[int, Outcome], gap: float, max_iter: int) -> Ints:
    """Take the columns that stop now out of the batch; return the numbers of the others."""
    primal, dual = batch.certify()
    stopped = (primal - dual <= gap) | (max_iter <= batch.T)
    for i in np.flatnonzero(stopped):
        found[int(left[i])] = batch.outcome(int(i), float(primal[i]), float(primal[i] - dual[i]))
    if stopped.any():
        batch.keep(~stopped)
    return np.asarray(left[~stopped])
