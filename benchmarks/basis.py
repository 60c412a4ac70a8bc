"""The shared basis of the paper's ten Gaussian widths on [0, 1]: error of the kernels' entries by rank.

    python benchmarks/basis.py

Prints, for each rank r, the largest absolute error of an entry between two training values (997 on [0, 1]), and between
a training value and any new x (3402 values from -300 to 300), over all ten kernels.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from robustmkl.kernels import Gaussian
from robustmkl.kernels.chebyshev import chebyshev_nodes, gaussians, rotation

RANKS = (24, 26, 28, 29, 30, 31, 32)


def main() -> None:
    widths = np.array(Gaussian().widths)
    shared = chebyshev_nodes(tuple(widths))
    nodes, size = shared[0], shared[0].t.size
    angles = (2 * np.arange(size) + 1) * np.pi / (2 * size)
    lagrange = (2.0 / size) * np.cos(np.arange(size)[:, None] * angles)
    lagrange[0] *= 0.5
    x = np.linspace(0.0, 1.0, 997)
    L = chebvander(2.0 * x - 1.0, size - 1) @ lagrange
    new = np.concatenate([np.linspace(-3.0, 4.0, 1401), np.linspace(-300.0, 300.0, 2001)])
    V, K = rotation(nodes.t, widths, np.linspace(0.0, 1.0, 201)), gaussians(nodes.t, nodes.t, widths)
    trained, predicted, nodal = gaussians(x, x, widths), gaussians(new, x, widths), gaussians(new, nodes.t, widths)
    print(f"{size} nodes; the package uses rank {nodes.V.shape[1]}, entry_error {nodes.entry_error:.1e}")
    print("  r   two training values   training value and any x")
    for r in RANKS:
        B = L @ V[:, :r]
        cores = V[:, :r].T @ K @ V[:, :r]
        first = np.abs(B @ cores @ B.T - trained).max()
        second = np.abs((nodal @ V[:, :r]) @ B.T - predicted).max()
        print(f"{r:3d}   {first:19.1e}   {second:24.1e}")


if __name__ == "__main__":
    main()
