"""The basis that Gaussian kernels of one column share.

On an interval the Gaussians ``exp(-(x - x')^2 / (2 w^2))`` of all widths live in one small space. The training
argument is interpolated at N Chebyshev nodes t (Lagrange polynomials L), and the nodal values are rotated by
the left singular vectors V of the stacked cores ``[K_1 .. K_k]`` at the nodes, so that

    k_j(x, x') ~ k_j(x, t) V V' L(x')     and     K_j ~ B C_j B',   B = L V,   C_j = V' K_j(t, t) V.

Only the training argument is interpolated: the left formula predicts, at any x whatever, inside the range
or far outside. A column of few distinct values takes those values as its nodes, and L is one-hot.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from ..arrays import Floats

TARGET = 5e-13  # largest error of a training entry
TARGET_OUTSIDE = 7e-12  # largest error of an entry between a training value and any new one
MAX_NODES = 400  # more nodes than this and the column is better served by its exact Gram matrices
FIRST_NODES = 44  # enough for widths of 1/8 of the range


def gaussians(x: Floats, t: Floats, widths: Floats) -> Floats:
    """Return ``exp(-(x_i - t_l)^2 / (2 w_j^2))`` as an array (width, i, l)."""
    with np.errstate(over="ignore", under="ignore"):
        z = (x[:, None] - t[None, :])[None] / widths[:, None, None]
        return np.exp(-0.5 * z * z)


@dataclass(frozen=True)
class Nodes:
    """Nodes t, rotation V and cores C of one column's Gaussians, with the measured entry error."""

    t: Floats
    V: Floats
    cores: Floats
    entry_error: float


@lru_cache(maxsize=64)
def chebyshev_nodes(widths: tuple[float, ...]) -> tuple[Nodes, Floats] | None:
    """Return the nodes for the interval [0, 1], and the matrix M of ``B(x) = T(2x - 1) M``.

    The number of nodes grows until the measured error is reached; None if that takes too many.
    The result depends on the widths alone, so that alike columns share it (and one array of cores).
    """
    size = max(FIRST_NODES, int(min(30.0 + 1.8 / min(widths), 2 * MAX_NODES)))
    while size <= MAX_NODES:
        angles = (2 * np.arange(size) + 1) * np.pi / (2 * size)
        t = 0.5 * (1.0 + np.cos(angles))
        # Chebyshev coefficients of the Lagrange polynomials at the nodes, by discrete orthogonality.
        lagrange = (2.0 / size) * np.cos(np.arange(size)[:, None] * angles[None, :])
        lagrange[0] *= 0.5
        grid = np.linspace(0.0, 1.0, 201)
        nodes = rotate(t, np.array(widths), grid, chebvander(2.0 * grid - 1.0, size - 1) @ lagrange)
        if nodes.entry_error <= TARGET:
            M: Floats = lagrange @ nodes.V
            for array in (nodes.t, nodes.V, nodes.cores, M):
                array.setflags(write=False)
            return nodes, M
        size = size * 3 // 2
    return None


def rotate(t: Floats, widths: Floats, grid: Floats, L: Floats) -> Nodes:
    """Find the smallest rotation V whose entry error, measured on ``grid`` (where L holds), meets the target."""
    K, exact = gaussians(t, t, widths), gaussians(grid, grid, widths)
    outside = _outside(grid, widths)
    exact_outside, nodal_outside = gaussians(outside, grid, widths), gaussians(outside, t, widths)
    V, sigma = _svd(K, nodal_outside)
    rank = max(1, int(np.searchsorted(-sigma, -100.0 * TARGET * sigma[0])))  # too small, if anything
    while True:
        V_r = np.ascontiguousarray(V[:, :rank])
        B, cores = L @ V_r, V_r.T @ K @ V_r
        trained = np.abs(B @ cores @ B.T - exact).max()
        predicted = np.abs((nodal_outside @ V_r) @ B.T - exact_outside).max()
        if (trained <= TARGET and predicted <= TARGET_OUTSIDE) or rank >= t.size:
            return Nodes(t, V_r, 0.5 * (cores + cores.transpose(0, 2, 1)), float(trained))
        rank += 1


def rotation(t: Floats, widths: Floats, grid: Floats) -> Floats:
    """Return the left singular vectors of the stacked kernels, of the nodes and of places outside with the nodes."""
    return _svd(gaussians(t, t, widths), gaussians(_outside(grid, widths), t, widths))[0]


def _svd(K: Floats, outside: Floats) -> tuple[Floats, Floats]:
    V, sigma, _ = np.linalg.svd(np.concatenate([*K, *outside.transpose(0, 2, 1)], axis=1), full_matrices=False)
    return V, sigma


def _outside(grid: Floats, widths: Floats) -> Floats:
    """Return places outside the range where predictions are tried: near by, and some widths away."""
    low, high = grid[0], grid[-1]
    near = np.concatenate([grid - (high - low), grid + (high - low)])[::4]
    with np.errstate(over="ignore"):
        far = np.outer(widths, [0.5, 1.0, 2.0, 4.0]).ravel()
    far = far[np.isfinite(far)]
    return np.concatenate([near, low - far, high + far])


def untouched(t: Floats, widths: Floats) -> Nodes:
    """Return nodes without a rotation: exact to rounding, rank as large as the number of nodes."""
    return Nodes(t, np.eye(t.size), gaussians(t, t, widths), float(np.finfo(np.float64).eps))
