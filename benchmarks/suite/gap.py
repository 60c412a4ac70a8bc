"""The gap of all four solvers against time and against iterations, on one problem with and without a budget."""

from __future__ import annotations

import signal
from argparse import Namespace
from typing import Any

import numpy as np

from robustmkl import Problem, solve
from robustmkl.solvers import Rule, SolveResult, amp, vi
from robustmkl.solvers import run as run_iterates

from . import data, ours
from .apart import apart
from .goal import Goal, duration, table

TITLE = "The gap on the way"
NAME, LAM, RHOS = "heart", 1e-2, (1.0, 0.7)
SOLVERS = {"interior-point": 200, "amp": 10_000, "vi": 10_000, "simplemkl": 500}
EVERY = 20  # iterations of a first-order method between certificates
GAMMA0 = 10.0  # VI's step: on this problem the best of 1, 10, 100, 1000
KEPT = 150  # points of a curve that are stored
LEVELS = (1e-2, 1e-4, 1e-6)


def run(options: Namespace) -> dict[str, Any]:
    """Run every solver that can do the problem, each in a process of its own."""
    limit = 2.0 if options.quick else min(options.limit, 60.0)
    runs = [(rho, who) for rho in RHOS for who in SOLVERS if who != "simplemkl" or rho == 1.0]
    curves = []
    for rho, who in runs:
        print(f"  rho {rho:g}: {who}", flush=True)
        curves.append({"rho": rho, "solver": who, **apart("suite.gap:curve", who=who, rho=rho, limit=limit)})
    said = {"every": EVERY, "gamma0": GAMMA0, "steps": SOLVERS["vi"]}
    return {"table": NAME, "lam": LAM, "limit": limit, **said, "curves": curves}


def curve(who: str, rho: float, limit: float) -> dict[str, Any]:
    """Return (iteration, seconds, gap) with the best primal and the best dual value so far."""
    X, y = data.uci(NAME)
    ours.warm_up()
    model = ours.fit(X, y, LAM, rho, tol=0.5)  # for the kernels and the canonical rows
    problem, _ = ours.posed(model, X, y)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, limit)
    result = _solve(problem, who)
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    records = np.array(result.history)
    primal, dual = np.minimum.accumulate(records[:, 2]), np.maximum.accumulate(records[:, 3])
    gaps = np.maximum((primal - dual) / primal, 1e-16)
    kept = np.unique(np.geomspace(1, len(records), KEPT).astype(int)) - 1
    points = [[int(records[k, 0]), float(records[k, 1]), float(gaps[k])] for k in kept]
    reach = {f"{level:g}": _first(records, gaps <= level) for level in LEVELS}
    return {"points": points, "reach": reach, "status": result.status.name.lower()}


def _solve(problem: Problem, who: str) -> SolveResult:
    """Run a solver with its history."""
    T = SOLVERS[who]
    if who in ("amp", "vi"):
        iterates = amp(problem, None) if who == "amp" else vi(problem, T, GAMMA0)
        return run_iterates(problem, iterates, Rule(1e-10, 0.0, T, EVERY), history=True)
    return solve(problem, who, tol=1e-10, max_iter=T, history=True)


def _first(records: np.ndarray, met: np.ndarray) -> list[float] | None:
    """Return iteration and seconds of the first record at which something is met."""
    return [int(records[k, 0]), float(records[k, 1])] if (k := int(met.argmax())) or met[0] else None


def goals(found: dict[str, Any]) -> list[Goal]:
    """Return none: this section shows."""
    return []


def markdown(found: dict[str, Any]) -> str:
    """Return the section's text and table."""
    header = ["solver", "rho", *(f"{level:g}: iterations, time" for level in LEVELS), "smallest gap"]
    rows = [_row(curve) for curve in found["curves"]]
    return (
        f"The table {found['table']} with 20 % of its labels flipped, the paper's kernels, lam {found['lam']:g}:"
        " the gap between the best primal and the best dual value so far. The clock starts when the kernels stand, and"
        f" the certificates count: one an iteration, with amp and vi one in {found['every']}. Each has"
        f" {found['limit']:g} s. The step of vi is {found['gamma0']:g} / sqrt({found['steps']:,}): of gamma0 = 1, 10,"
        " 100, 1000 the best on heart. SimpleMKL knows no budget.\n\n"
        + table(header, rows)
        + "\n\n![Gap against time and iterations](benchmarks/gap.png)"
    )


def _row(curve: dict[str, Any]) -> list[str]:
    if "error" in curve:
        return [curve["solver"], f"{curve['rho']:g}", *["failed"] * len(LEVELS), "-"]
    reach = [curve["reach"][f"{level:g}"] for level in LEVELS]
    cells = ["-" if r is None else f"{r[0]:,}, {duration(r[1])}" for r in reach]
    return [curve["solver"], f"{curve['rho']:g}", *cells, f"{curve['points'][-1][2]:.0e}"]


def plots(found: dict[str, Any], folder, rivals: dict[str, Any] | None = None) -> None:
    """Draw the curves; the other solvers of the section rivals as points of time and true gap."""
    from .plots import COLOURS, figure, save

    fig, axes = figure(columns=2, rows=2, width=10.0, height=7.4, sharex="col", sharey=True)
    for row, rho in zip(axes, RHOS, strict=True):
        for curve in found["curves"]:
            if curve["rho"] == rho and "points" in curve:
                colour = COLOURS[list(SOLVERS).index(curve["solver"])]
                iteration, time, gap = zip(*curve["points"], strict=True)
                row[0].plot(time, gap, color=colour, label=curve["solver"])
                row[1].plot(iteration, gap, color=colour)
        _mark(row[0], rivals, rho)
        title = "no budget" if rho == 1.0 else f"rho = {rho:g}"
        row[0].set(xscale="log", yscale="log", ylabel=f"relative gap, {title}", ylim=(1e-10, 3.0))
        row[1].set(xscale="log")
        row[0].legend(frameon=False, fontsize=8, loc="lower left")
    axes[1][0].set_xlabel("seconds")
    axes[1][1].set_xlabel("iterations")
    save(fig, folder / "gap.png")


def _mark(ax, rivals: dict[str, Any] | None, rho: float) -> None:
    """Mark the rivals' points with their names."""
    problems = rivals["problems"] if rivals else []
    for each in problems:
        if (each["table"], each["lam"], each["rho"]) == (NAME, LAM, rho):
            for who, rival in each["rivals"].items():
                if "gap" in rival:
                    ax.plot(rival["seconds"], max(rival["gap"], 1e-10), "k*", markersize=7)
                    offset, side = ((-5, -12), "right") if who == "AverageMKL" else ((5, 4), "left")
                    at = (rival["seconds"], rival["gap"])
                    ax.annotate(who, at, offset, textcoords="offset points", fontsize=8, ha=side)
