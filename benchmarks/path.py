"""Cross-validation of 12 lam in 5 folds against one certified fit: times as ratios, in one run.

    python benchmarks/path.py [NOISE] [REPEATS] [N_JOBS ..]

For each of the five tables: one fit of StPMKLClassifier, lam = .01, to a gap of 1e-6, and StPMKLClassifierCV with 12
values of lam and 5 folds, its refit and its path on all rows (gap 1e-4), without budget and with the paper's six
budgets. Fit and cross-validation alternate; the figures are medians over the repeats.
"""

from __future__ import annotations

import statistics
import sys
import warnings
from collections.abc import Callable
from time import perf_counter

import numpy as np

from robustmkl import StPMKLClassifier, StPMKLClassifierCV
from robustmkl.datasets import load_uci
from robustmkl.noise import flip_labels

TABLES = ("ionosphere", "heart", "sonar", "breast-cancer", "australia")
RHOS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)
GOAL = 25.0


def seconds(work: Callable[[], object]) -> float:
    """Return the time of one call."""
    begin = perf_counter()
    work()
    return perf_counter() - begin


def measure(name: str, noise: float, repeats: int, jobs: list[int]) -> tuple[float, list[float]]:
    """Return the time of one fit and, in units of it, of every kind of cross-validation."""
    X, y = load_uci(name, return_X_y=True)
    if noise:
        y, _ = flip_labels(y, noise, random_state=0)
    one = StPMKLClassifier(lam=0.01, tol=1e-6)
    searches = [StPMKLClassifierCV(12, n_jobs=n) for n in jobs] + [StPMKLClassifierCV(12, RHOS, n_jobs=n) for n in jobs]
    fits, ratios = [], []
    for _ in range(repeats):
        row = []
        for search in searches:
            fits.append(seconds(lambda: one.fit(X, y)))
            row.append(seconds(lambda search=search: search.fit(X, y)) / fits[-1])
        ratios.append(row)
    return statistics.median(fits), [float(v) for v in np.median(np.array(ratios), axis=0)]


def main(noise: float = 0.0, repeats: int = 3, jobs: tuple[int, ...] = (1, 2)) -> None:
    warnings.simplefilter("error")
    StPMKLClassifierCV(2, cv=2, n_jobs=max(jobs)).fit(*load_uci("heart", return_X_y=True))  # starts the processes
    kinds = [f"{what}, n_jobs={n}" for what in ("12 lam", "12 lam x 6 rho") for n in jobs]
    print(f"{noise:.0%} of the labels flipped; in units of one fit at 1e-6; goal for 12 lam: {GOAL:g}")
    print(f"{'table':<15}{'one fit':>9}" + "".join(f"{kind:>25}" for kind in kinds))
    for name in TABLES:
        fit, ratios = measure(name, noise, repeats, list(jobs))
        print(f"{name:<15}{fit:>7.2f} s" + "".join(f"{ratio:>23.1f} x" for ratio in ratios), flush=True)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(
        *(float(a) for a in arguments[:1]),
        *(int(a) for a in arguments[1:2]),
        *[tuple(map(int, arguments[2:]))][: len(arguments) > 2],
    )
