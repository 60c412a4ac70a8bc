"""Nystrom bases of the paper's ten Gaussian widths on all columns jointly: error by rank, and time by rows.

    python benchmarks/joint.py

Rows are drawn on a curved sheet with noise in ten columns scaled to [0, 1]: concentrated as real tables are. Prints the
mean residual of the diagonal by rank and width, pivots spread (the package's choice while the residual is large)
against greedy ones; the rank at which entries are exact; and the time of bases and of exact Gram matrices in one run.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from robustmkl.arrays import Floats
from robustmkl.kernels import Gaussian, KernelDictionary, nystrom
from robustmkl.kernels.gaussian import GaussianGram

WIDTHS = Gaussian().widths
RANKS = (50, 100, 200, 400)
DEFAULT_ROUGH = nystrom.ROUGH


def table(n: int, columns: int = 10) -> Floats:
    rng = np.random.default_rng(0)
    sheet = rng.normal(size=(n, 4)) @ rng.normal(size=(4, columns))
    X = np.tanh(sheet / 2.0) + 0.1 * rng.normal(size=(n, columns))
    return np.asarray((X - X.min(axis=0)) / np.ptp(X, axis=0))


def residual(X: Floats, width: float, rank: int, greedy: bool) -> tuple[float, float, int]:
    """Return the mean and the largest residual of the diagonal, and the number of pivots."""
    nystrom.ROUGH = np.inf if greedy else DEFAULT_ROUGH
    fitted = nystrom.fit_nystrom(GaussianGram(np.array([width])), X, "", rank)
    left = np.abs(1.0 - np.einsum("ij,ij->i", fitted.B, fitted.B))
    nystrom.ROUGH = DEFAULT_ROUGH
    return float(left.mean()), fitted.entry_error, fitted.B.shape[1]


def errors(n: int) -> None:
    X = table(n)
    print(
        f"{n} rows: mean residual of the diagonal, pivots spread / greedy; last the rank of exact entries, 1000 at most"
    )
    print("  width " + "".join(f"{f'r = {r}':>20s}" for r in RANKS) + "   exact at")
    for w in WIDTHS:
        cells = [" / ".join(f"{residual(X, w, r, greedy)[0]:.0e}" for greedy in (False, True)) for r in RANKS]
        _, error, rank = residual(X, w, 1000, False)
        print(f"{w:7g} " + "".join(f"{cell:>20s}" for cell in cells) + f"   {rank if error < 1e-12 else '-'}")


def times() -> None:
    print("\n      n     Nystrom (rank 128)    exact Gram matrices (ten kernels)")
    for n in (1000, 2000, 4000):
        X, seconds = table(n), []
        for dictionary, exact in (
            (KernelDictionary(Gaussian(joint=True, rank=nystrom.RANK)), False),
            (KernelDictionary(Gaussian(joint=True)), True),
        ):
            start = perf_counter()
            dictionary.fit(X, exact=exact).bank(X)
            seconds.append(perf_counter() - start)
        print(f"{n:7d}   {seconds[0]:14.2f} s {seconds[1]:24.2f} s")


if __name__ == "__main__":
    errors(2000)
    times()
