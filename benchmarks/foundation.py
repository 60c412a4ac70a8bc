"""Figures that the documentation quotes: import time, Algorithm 1's speed, memory against its estimate.

    python benchmarks/foundation.py

Each figure is measured in processes of its own; times are ratios where a peer exists.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from time import perf_counter

AMP = """
import numpy as np
from time import perf_counter
from robustmkl import Budget, Problem, solve
from robustmkl.datasets import load_uci
from robustmkl.kernels import paper_dictionary
X, y = load_uci("sonar", return_X_y=True)
signs = np.where(y == "mine", 1.0, -1.0)
problem = Problem(paper_dictionary().fit(X).bank(X), signs, np.ones(len(y)), 0.01, Budget(0.7))
begin = perf_counter()
result = solve(problem, "amp", max_iter=1000, tol=0.0)
print(f"amp, sonar, m = {problem.kernels.m}: {result.n_iter} iterations in {perf_counter() - begin:.2f} s")
"""

MEMORY = """
import resource, sys
import numpy as np
from robustmkl import StPMKLClassifier
from robustmkl.memory import format_bytes
n, d, solver = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(0)
X = rng.random((n, d))
y = X[:, 0] + 0.3 * rng.normal(size=n) > 0.5
model = StPMKLClassifier(solver=solver, max_iter=5)
import warnings
warnings.simplefilter("ignore")
StPMKLClassifier(max_iter=2).fit(X[:20], y[:20])
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
model.fit(X, y)
used, said = peak() - before, model.memory_estimate_
print(f"n = {n}, d = {d}, {solver}: estimated {format_bytes(said)}, used {format_bytes(used)}: {used / said:.2f} x")
"""


def python(code: str, *arguments: str) -> str:
    """Run code in a process of its own and return what it prints."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def import_time(module: str) -> float:
    begin = perf_counter()
    python(f"import {module}")
    return perf_counter() - begin


def main() -> None:
    ratios = [import_time("robustmkl") / import_time("sklearn.svm") for _ in range(7)]
    print(f"import robustmkl / import sklearn.svm: median {statistics.median(ratios):.2f}")
    print(python(AMP))
    for n, d in ((300, 60), (700, 14), (2000, 10), (3000, 3)):
        for solver in ("auto", "amp"):
            print(python(MEMORY, str(n), str(d), solver))


if __name__ == "__main__":
    main()
