"""Time to the proved optimum against what other work on the same rows costs, as ratios in one run.

    python benchmarks/speed.py tables            the five tables, from raw rows to a gap of 1e-6
    python benchmarks/speed.py rows [N ..]       n rows, 20 columns, 200 kernels, 20 % flips, lam 1e-3, rho .8

``tables`` compares with evaluating the m Gram matrices and training one SVC on their mean, ``rows`` with 100 iterations
of histogram gradient boosting. Peers and solver take turns; figures are medians over lam and rho, and the worst.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from robustmkl import Budget, Problem, solve
from robustmkl.datasets import load_uci
from robustmkl.kernels import Gaussian, KernelDictionary, paper_dictionary
from robustmkl.noise import flip_labels

TABLES = ("ionosphere", "heart", "sonar", "breast-cancer", "australia")
WIDTHS = 2.0 ** np.arange(-3, 7)


def seconds(work: Callable[[], object]) -> tuple[float, object]:
    """Return how long some work takes, and its result."""
    begin = perf_counter()
    result = work()
    return perf_counter() - begin, result


def grams_and_svc(X: np.ndarray, y: np.ndarray) -> SVC:
    """Evaluate the m Gram matrices and train one SVC on their mean."""
    X = minmax_scale(X)
    mean, blocks = np.zeros((len(X), len(X))), [X, *(X[:, [j]] for j in range(X.shape[1]))]
    for block in blocks:
        squared = cdist(block, block, "sqeuclidean")
        for w in WIDTHS:
            mean += np.exp(squared * (-0.5 / w**2))
    return SVC(kernel="precomputed").fit(mean / (10 * len(blocks)), y)


def certify(X: np.ndarray, y: np.ndarray, lam: float, rho: float, kernels: KernelDictionary, tol: float):
    """Go from raw rows to the certified solution."""
    bank = kernels.fit(X).bank(X)
    return solve(Problem(bank, y, np.ones(len(y)), lam, Budget(rho)), tol=tol)


def tables() -> None:
    """The five tables."""
    print("table            median   worst   iterations (median, worst)   kernel_error")
    for name in TABLES:
        X, labels = load_uci(name, return_X_y=True)
        noisy, _ = flip_labels(labels, 0.2, random_state=0)
        y = np.where(noisy == np.unique(labels)[1], 1.0, -1.0)
        ratios, iterations, errors = [], [], []
        for lam in (1e-1, 1e-2, 1e-3, 1e-4):
            for rho in (1.0, 0.7):
                peer, _ = seconds(lambda: grams_and_svc(X, y))
                ours, result = seconds(lambda: certify(X, y, lam, rho, paper_dictionary(), 1e-6))
                if not result.converged:
                    print(f"  {name}, lam {lam:g}, rho {rho:g}: {result.message} gap {result.gap:.1e}")
                ratios.append(ours / peer)
                iterations.append(result.n_iter)
                errors.append(result.kernel_error)
        print(
            f"{name:<15} {np.median(ratios):6.2f} x {max(ratios):6.2f} x"
            f"   {np.median(iterations):8.0f} {max(iterations):8d}          {max(errors):.0e}"
        )


def wide_table(n: int, d: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Five columns that matter, fifteen that do not, 20 % of the labels flipped."""
    rng = np.random.default_rng(0)
    X = rng.random((n, d))
    f = np.sin(6 * X[:, 0]) + 2 * (X[:, 1] - 0.5) + np.cos(9 * X[:, 2]) + 4 * (X[:, 3] - 0.5) ** 2 - 0.3
    y = np.where(f + np.sin(3 * X[:, 4]) - 0.8 + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, np.where(rng.random(n) < 0.2, -y, y)


def rows(*sizes: int) -> None:
    """Many rows."""
    kernels = KernelDictionary(Gaussian())
    print("       n      1e-4        1e-6    iterations   us a row   boosting    peak memory / basis")
    for n in sizes:
        X, y = wide_table(n)
        peer, _ = seconds(lambda: HistGradientBoostingClassifier(max_iter=100, early_stopping=False).fit(X, y))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        rough, _ = seconds(lambda: certify(X, y, 1e-3, 0.8, kernels, 1e-4))
        fine, result = seconds(lambda: certify(X, y, 1e-3, 0.8, kernels, 1e-6))
        used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / (n * 600 * 8)
        print(
            f"{n:8d}  {rough / peer:6.1f} x  {fine / peer:8.1f} x  {result.n_iter:8d}     {1e6 * fine / n:8.1f}"
            f"   {peer:6.2f} s   {used:6.2f} x"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["rows"]:
        rows(*(map(int, sys.argv[2:]) if sys.argv[2:] else (1_000, 5_000, 20_000, 100_000)))
    else:
        tables()
