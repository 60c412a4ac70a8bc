"""Random nasty problems for the default solver: how many are certified, to what gap, in what time.

    python benchmarks/nasty.py [COUNT] [SEED] [TOL]

Tables of 2 to 80 rows with ties, duplicates (with equal or contradictory labels), constant columns and outliers of
1e6; lam from 1e-8 to 1e4, rho from 1/n to 1, with and without intercept and weights. Prints the share certified at
1e-6 and at 1e-8, the worst cases, and the slowest time over the median.
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np

from robustmkl import Budget, Problem, solve
from robustmkl.kernels import paper_dictionary


def nasty_table(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels with a random choice of everything that goes wrong in tables."""
    n, d = int(rng.integers(2, 81)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d))
    for j in range(d):
        kind = rng.integers(0, 6)
        if kind == 0:
            X[:, j] = rng.integers(0, 3, n)  # ties
        elif kind == 1:
            X[:, j] = rng.normal()  # constant
        elif kind == 2:
            X[rng.integers(0, n), j] = 1e6 * rng.choice([-1, 1])  # outlier
        elif kind == 3:
            X[:, j] = np.round(X[:, j], 1)
    if rng.random() < 0.3:  # duplicates; their labels are drawn apart, so some contradict each other
        X = X[rng.integers(0, max(1, n // 2), n)]
    y = np.where(rng.random(n) < rng.choice([0.5, 0.2, 0.05]), 1.0, -1.0)
    if rng.random() < 0.5:
        y = np.where(X[:, 0] + 0.3 * rng.normal(size=n) > np.median(X[:, 0]), 1.0, -1.0)
    y[0], y[-1] = 1.0, -1.0
    return X, y


def nasty_problem(seed: int) -> Problem:
    """Return one random problem."""
    rng = np.random.default_rng(seed)
    X, y = nasty_table(rng)
    n = len(y)
    s = np.ones(n) if rng.random() < 0.5 else 10.0 ** rng.uniform(-2, 2, n)
    rho = 1.0 if rng.random() < 0.3 else float(rng.uniform(1.0 / n, 1.0))
    h = 1.0 if rng.random() < 0.7 else 2.2
    lam = 10.0 ** rng.uniform(-8, 4)
    fitted = paper_dictionary().fit(X, exact=lam < 1e-4)
    return Problem(fitted.bank(X), y, s, lam, Budget(rho * h, h), bool(rng.random() < 0.5))


def main(count: int = 300, seed: int = 0, tol: float = 1e-8) -> None:
    gaps, times, iterations = [], [], []
    for k in range(seed, seed + count):
        problem = nasty_problem(k)
        begin = perf_counter()
        result = solve(problem, tol=tol)
        times.append(perf_counter() - begin)
        gaps.append(result.gap / result.primal)
        iterations.append(result.n_iter)
    gaps, times, iterations = np.array(gaps), np.array(times), np.array(iterations)
    print(f"{count} problems: {np.mean(gaps <= 1e-6):.2%} at 1e-6, {np.mean(gaps <= 1e-8):.2%} at 1e-8")
    print(f"iterations: median {np.median(iterations):.0f}, worst {iterations.max()}")
    print(f"time: slowest {times.max() / np.median(times):.1f} x the median of {np.median(times) * 1e3:.0f} ms")
    for k in np.argsort(-gaps)[:8]:
        print(f"  seed {seed + k}: relative gap {gaps[k]:.1e} after {iterations[k]} iterations")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(*(int(a) for a in arguments[:2]), *(float(a) for a in arguments[2:3]))
