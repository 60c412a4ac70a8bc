"""Cross-validation of 12 lam in 5 folds against one certified fit: times as ratios, in one run.

    python benchmarks/path.py [NOISE] [REPEATS] [N_JOBS ..]

For each of the five tables: one fit of StPMKLClassifier, lam = .01, to a gap of 1e-6, and StPMKLClassifierCV(12, cv=5)
with its refit and its path on all rows, without budget and with the paper's six budgets. Fits and cross-validations
alternate; the figures are medians over the repeats.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
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


def measure(name: str, searches: Sequence[StPMKLClassifierCV], noise: float, repeats: int) -> tuple[float, np.ndarray]:
    """Return the time of one fit and, in units of it, of every search."""
    X, y = load_uci(name, return_X_y=True)
    if noise:
        y, _ = flip_labels(y, noise, random_state=0)
    one = StPMKLClassifier(lam=0.01, tol=1e-6)

    def turn(search: StPMKLClassifierCV) -> tuple[float, float]:
        return seconds(lambda: one.fit(X, y)), seconds(lambda: search.fit(X, y))

    times = [[turn(search) for search in searches] for _ in range(repeats)]
    fits, searched = np.moveaxis(np.array(times), -1, 0)
    return float(np.median(fits)), np.median(searched, axis=0) / np.median(fits)


def main(noise: float = 0.0, repeats: int = 3, *jobs: int) -> None:
    jobs = jobs or (1, 2)
    searches = [StPMKLClassifierCV(12, rhos, n_jobs=n) for rhos in (None, RHOS) for n in jobs]
    StPMKLClassifierCV(2, cv=2, n_jobs=max(jobs)).fit(*load_uci("heart", return_X_y=True))  # starts the processes
    print(f"{noise:.0%} of the labels flipped; one fit to 1e-6 = 1; the goal for 12 lam is {GOAL:g}")
    kinds = [f"12 lam{' x 6 rho' * bool(search.rhos)}, {search.n_jobs} job" for search in searches]
    print(f"{'table':<15}{'one fit':>9}" + "".join(f"{kind:>23}" for kind in kinds))
    for name in TABLES:
        fit, ratios = measure(name, searches, noise, repeats)
        print(f"{name:<15}{fit:>7.2f} s" + "".join(f"{ratio:>21.1f} x" for ratio in ratios), flush=True)


if __name__ == "__main__":
    main(*(float(a) for a in sys.argv[1:2]), *(int(a) for a in sys.argv[2:]))
