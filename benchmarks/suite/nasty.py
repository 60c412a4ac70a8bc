"""Random nasty problems for the default solver: how many are certified, to what gap, in what time.

Tables of 2 to 80 rows with ties, duplicates (with equal or contradictory labels), constant columns and outliers of
1e6; lam from 1e-8 to 1e4, rho from 1/n to 1, with and without intercept and weights.
"""

from __future__ import annotations

from argparse import Namespace
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

from robustmkl import Budget, Problem, certificate, solve
from robustmkl.kernels import paper_dictionary

from .goal import Goal, duration, table
from .measure import clock

TITLE = "Nasty problems"
COUNT, TOL, CHUNK = 10_000, 1e-8, 25


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


def attempt(seed: int, tol: float = TOL) -> dict[str, Any]:
    """Solve one problem and certify the answer anew; an error is an answer too."""
    problem = nasty_problem(seed)
    begin = clock()
    try:
        result = solve(problem, tol=tol)
    except Exception as error:
        return {
            "seed": seed,
            "gap": float("inf"),
            "seconds": clock() - begin,
            "iterations": 0,
            "error": repr(error),
        }
    took = clock() - begin
    primal, _, gap = certificate(problem, result.alpha, result.f)
    return {"seed": seed, "gap": gap / primal, "seconds": took, "iterations": result.n_iter}


def attempts(seeds: range) -> list[dict[str, Any]]:
    """Solve some problems, one after the other."""
    attempt(seeds[0])  # what is loaded or cached at the first problem counts for none
    return [attempt(seed) for seed in seeds]


def run(options: Namespace) -> dict[str, Any]:
    """Solve all problems in parallel processes, and print how far it is."""
    count = options.count or (200 if options.quick else COUNT)
    chunks = [range(i, min(i + CHUNK, count)) for i in range(0, count, CHUNK)]
    found: list[dict[str, Any]] = []
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        for some in pool.map(attempts, chunks):
            found += some
            if len(found) % (20 * CHUNK) == 0 or len(found) == count:
                good = sum(each["gap"] <= 1e-6 for each in found)
                print(f"  {len(found):,} of {count:,}: {good:,} at 1e-6", flush=True)
    return summary(found)


def summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return shares, quantiles, and the worst problems by their seeds."""
    gaps = np.array([each["gap"] for each in found])
    times = np.array([each["seconds"] for each in found])
    iterations = np.array([each["iterations"] for each in found])
    by_gap, by_time = np.argsort(-gaps, kind="stable")[:10], np.argsort(-times)[:5]
    finite = np.minimum(np.maximum(gaps, 1e-16), 1e300)
    grid = np.linspace(0.0, 1.0, 201)
    return {
        "count": len(found),
        "certified": int((gaps <= 1e-6).sum()),
        "fine": int((gaps <= 1e-8).sum()),
        "errors": [each for each in found if "error" in each],
        "seconds": np.quantile(times, grid).tolist(),
        "gaps": np.quantile(finite, grid).tolist(),
        "iterations": {"median": float(np.median(iterations)), "worst": int(iterations.max())},
        "worst gaps": [{**found[k], "gap": float(finite[k])} for k in by_gap],
        "slowest": [{**found[k], "gap": float(finite[k])} for k in by_time],
    }


def slowness(found: dict[str, Any]) -> float:
    """Return the slowest time over the median."""
    return found["seconds"][-1] / found["seconds"][len(found["seconds"]) // 2]


def goals(found: dict[str, Any]) -> list[Goal]:
    """Compare with what was aimed at."""
    work, count = f"{found['count']:,} nasty problems", found["count"]
    share, slow = found["fine"] / count, slowness(found)
    return [
        Goal(work, "all certified at 1e-6", f"{found['certified']:,} of {count:,}", found["certified"] == count),
        Goal(work, "99 % at 1e-8", f"{share:.2%}", share >= 0.99),
        Goal(work, "none slower than 100 x the median", f"{slow:.0f} x", slow <= 100.0),
    ]


def markdown(found: dict[str, Any]) -> str:
    """Return the section's text and table."""
    iterations, middle = found["iterations"], found["seconds"][len(found["seconds"]) // 2]
    header = ["the worst, by seed", "relative gap", "iterations", "time"]
    rows = [[e["seed"], f"{e['gap']:.1e}", e["iterations"], duration(e["seconds"])] for e in found["worst gaps"]]
    slow = [[e["seed"], f"{e['gap']:.1e}", e["iterations"], duration(e["seconds"])] for e in found["slowest"]]
    errors = "".join(f"\n* seed {e['seed']}: `{e['error']}`" for e in found["errors"])
    return (
        "Random tables of 2 to 80 rows with ties, duplicates (some with contradictory labels), constant columns and"
        " outliers of 1e6; lam from 1e-8 to 1e4, rho from 1/n to 1, h = 1 or 2.2, with and without intercept and"
        " weights. The solver is asked for 1e-8; the gaps are recomputed.\n\n"
        f"{found['certified']:,} of {found['count']:,} are certified at 1e-6, {found['fine']:,} at 1e-8"
        f" ({found['fine'] / found['count']:.2%}); {len(found['errors'])} ended in an error. Iterations: median"
        f" {iterations['median']:.0f}, worst {iterations['worst']}. Time: median {duration(middle)}, slowest"
        f" {slowness(found):.0f} x that.\n{errors}\n\n"
        + table(header, rows)
        + "\n\n"
        + table(["the slowest, by seed", *header[1:]], slow)
        + "\n\n![Quantiles of gap and time](benchmarks/nasty.png)"
    )


def plots(found: dict[str, Any], folder) -> None:
    """Draw the quantiles of gap and time."""
    from .plots import COLOURS, figure, save

    share = np.linspace(0.0, 1.0, len(found["gaps"]))
    fig, (left, right) = figure(columns=2, width=9.5, height=3.8)
    left.plot(share, found["gaps"], color=COLOURS[0])
    for level, text in ((1e-6, "all below"), (1e-8, "99 % below")):
        left.axhline(level, color="0.5", linestyle=":", linewidth=1)
        left.annotate(f"goal: {text}", (0.02, level), va="bottom", color="0.4")
    left.set(yscale="log", xlabel="share of the problems", ylabel="relative gap", title="gap, asked for 1e-8")
    middle = found["seconds"][len(found["seconds"]) // 2]
    right.plot(share, [t / middle for t in found["seconds"]], color=COLOURS[0])
    right.axhline(100.0, color="0.5", linestyle=":", linewidth=1)
    right.annotate("goal: all below", (0.02, 100.0), va="bottom", color="0.4")
    right.set(yscale="log", xlabel="share of the problems", ylabel="time / median time", title="time")
    save(fig, folder / "nasty.png")
