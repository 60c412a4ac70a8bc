"""Other solvers on the same problems: their time, and the gap that their answer really has."""

from __future__ import annotations

import signal
import statistics
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np

from robustmkl import KernelFunction, Problem, certificate
from robustmkl import solve as solve_ours

from . import conic, data, mklpy, ours
from .apart import apart, surely
from .credit import along_gradients, true_gap
from .goal import Goal, duration, ratio, table
from .measure import seconds

TITLE = "Other solvers on the same problems"
LAMS, RHOS = (1e-2, 1e-3), (1.0, 0.7)
CONIC = ("Clarabel", "cvxopt")
BUDGET_FREE = ("SimpleMKL", *mklpy.NAMES)
REACHED, FASTER = 1e-4, 20.0


def run(options: Namespace) -> dict[str, Any]:
    """Measure ours and every rival on every problem, each in a process that can be stopped."""
    names = data.TABLES[1:2] if options.quick else data.TABLES
    limit = min(options.limit, 5.0) if options.quick else options.limit
    lams = LAMS[:1] if options.quick else LAMS
    problems = [(name, lam, rho) for name in names for lam in lams for rho in RHOS]
    return {"limit": limit, "problems": [problem(*each, limit) for each in problems]}


def problem(name: str, lam: float, rho: float, limit: float) -> dict[str, Any]:
    """Return the record of one problem."""
    print(f"  {name}, lam {lam:g}, rho {rho:g}", flush=True)
    setting = {"table": name, "lam": lam, "rho": rho}
    rivals = {who: _rival(who, setting, limit) for who in (*CONIC, *(BUDGET_FREE if rho == 1.0 else ()))}
    return {**setting, "ours": surely("suite.rivals:us", **setting), "rivals": rivals}


def _rival(who: str, setting: dict[str, Any], limit: float) -> dict[str, Any]:
    stop = 3.0 * limit + 60.0  # the process does more than the rival: it assembles, and judges
    found = apart("suite.rivals:fit", stop, who=who, limit=limit, **setting)
    answer = {"over": limit} if "over" in found else found
    said = {k: f"{v:.2g}" if isinstance(v, float) else v for k, v in answer.items()}
    print(f"    {who}: {said}", flush=True)
    return answer


def us(table: str, lam: float, rho: float) -> dict[str, Any]:
    """Return our time from the raw rows (median of 3) and the certificate."""
    X, y = data.uci(table)
    ours.warm_up()
    timed = [seconds(lambda: ours.fit(X, y, lam, rho)) for _ in range(3)]
    return {"seconds": statistics.median(t for t, _ in timed), **ours.record(timed[0][1], X, y)}


def fit(who: str, table: str, lam: float, rho: float, limit: float) -> dict[str, Any]:
    """Return our time and the rival's in one process, the rival's true gap and what it claims."""
    X, y = data.uci(table)
    ours.warm_up()
    timed = [seconds(lambda: ours.fit(X, y, lam, rho)) for _ in range(3)]
    problem, _ = ours.posed(timed[0][1], X, y)
    solver = _by_cones if who in CONIC else _simplemkl if who == "SimpleMKL" else _mklpy
    return {"ours": statistics.median(t for t, _ in timed), **solver(who, problem, limit)}


def _by_cones(who: str, problem: Problem, limit: float) -> dict[str, Any]:
    linked = who == "Clarabel" and problem.kernels.basis.rank <= problem.kernels.n
    solve = getattr(conic, who.lower())(conic.Conic.of(problem, linked), limit)
    took, answer = seconds(solve)
    if took > 1.05 * limit and who == "cvxopt":
        return {"over": limit}
    weights = problem.evaluate(KernelFunction(answer.coef))[1]
    norms = np.sqrt(problem.gradient_norms(problem.restore(answer.alpha)))
    again = along_gradients(problem, answer.alpha, weights / np.maximum(norms, 1e-300))
    gap = true_gap(problem, [answer.alpha], [answer.coef, again])
    return {"seconds": took, "gap": gap, "claimed": answer.claimed, "says": answer.status}


def _simplemkl(who: str, problem: Problem, limit: float) -> dict[str, Any]:
    """Run the package's SimpleMKL to 1e-4; at the limit it is interrupted and hands over its best certified point."""
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, limit)
    took, result = seconds(lambda: solve_ours(problem, "simplemkl", tol=REACHED))
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    primal, _, gap = certificate(problem, result.alpha, result.f)
    return {"seconds": took, "gap": gap / primal, "claimed": None, "says": result.status.name.lower()}


def _mklpy(who: str, problem: Problem, limit: float) -> dict[str, Any]:
    import torch

    grams = [torch.tensor(problem.kernels.gram(j)) for j in range(problem.kernels.m)]
    found = []
    for chosen, make in mklpy.candidates(who, limit):
        took, alpha, coef = mklpy.solve(problem, grams, make)
        found.append({"seconds": took, "gap": true_gap(problem, [alpha], [coef]), "claimed": None, "says": chosen})
    return min(found, key=lambda each: each["gap"])


def against(found: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], float]]:
    """Yield each rival with its record and its time over ours in the same process.

    A lower bound where it was stopped; then ours is that of another process.
    """
    for each in found["problems"]:
        for who, rival in each["rivals"].items():
            if "error" not in rival:
                yield who, rival, rival.get("seconds", found["limit"]) / rival.get("ours", each["ours"]["seconds"])


def goals(found: dict[str, Any]) -> list[Goal]:
    """Compare with what was aimed at."""
    reached = [(times, who) for who, rival, times in against(found) if rival.get("gap", 1.0) <= REACHED]
    stopped = [times for _, rival, times in against(found) if "over" in rival]
    work = f"{len(found['problems'])} problems, rivals that reach a true gap of 1e-4"
    if not reached:
        return [Goal(work, f">= {FASTER:g} x faster", "no rival reached it", None)]
    least, who = min(reached)
    said = f"least {ratio(least)} ({who}), median {ratio(statistics.median(t for t, _ in reached))}"
    said += f" over {len(reached)} runs; {len(stopped)} more were stopped at {found['limit']:g} s" if stopped else ""
    return [Goal(work, f">= {FASTER:g} x faster", said, least >= FASTER)]


def markdown(found: dict[str, Any]) -> str:
    """Return the section's text and tables."""
    shown = [who for who in (*CONIC, *BUDGET_FREE) if any(who in each["rivals"] for each in found["problems"])]
    rows = [_row(each, shown, found["limit"]) for each in found["problems"]]
    header = ["problem", "ours: time, gap", *[f"{who}: time, true gap" for who in shown]]
    return EXPLANATION.format(limit=found["limit"]) + table(header, rows) + "\n\n" + _summary(found, shown)


def _row(each: dict[str, Any], shown: list[str], limit: float) -> list[str]:
    us = each["ours"]
    cells = [_cell(each["rivals"].get(who), limit) for who in shown]
    name = f"{each['table']}, lam {each['lam']:g}, rho {each['rho']:g}"
    return [name, f"{duration(us['seconds'])}, {us['gap']:.0e}", *cells]


def _cell(rival: dict[str, Any] | None, limit: float) -> str:
    if rival is None:
        return "-"
    if "error" in rival:
        return "failed"
    if "over" in rival:
        return f"> {limit:g} s"
    return f"{duration(rival['seconds'])}, {rival['gap']:.0e}"


def _summary(found: dict[str, Any], shown: list[str]) -> str:
    rows = []
    for who in shown:
        mine = [(rival, times) for name, rival, times in against(found) if name == who]
        ended = [(rival, times) for rival, times in mine if "gap" in rival]
        reached = [times for rival, times in ended if rival["gap"] <= REACHED]
        least = ratio(min(reached)) if reached else "-"
        median = ratio(statistics.median(t for _, t in mine)) if mine else "-"
        claimed = [r["claimed"] for r, _ in ended if r["claimed"] is not None]
        worst = f"{max(r['gap'] for r, _ in ended):.0e}" if ended else "-"
        rows.append([who, f"{len(reached)} of {len(mine)}", least, median, worst, _claim(claimed)])
    header = [
        "rival",
        "reach 1e-4",
        "its time / ours: least of these",
        "median of all",
        "worst true gap",
        "worst gap it claims",
    ]
    return table(header, rows) + "\n" + _failures(found)


def _claim(claimed: list[float]) -> str:
    return f"{max(claimed):.0e}" if claimed else "claims none"


def _failures(found: dict[str, Any]) -> str:
    why = {
        who: rival["error"] for each in found["problems"] for who, rival in each["rivals"].items() if "error" in rival
    }
    return "".join(f"\n* {who} failed: `{error[:120]}`" for who, error in why.items())


EXPLANATION = """\
The five tables with 20 % of their labels flipped and the paper's kernels. Our time is from the raw rows to a gap of
1e-6; a rival's begins when the kernels stand and its own input is assembled, in its favour. *True gap*: from its
answer the best alpha and the best f that can be made (the multiple of its alpha of largest dual value; the multiple
and the intercept of its f of smallest primal value), judged by `robustmkl.certificate`, whatever the rival says of
itself. Every run has a process of its own and {limit:g} s; where Clarabel and SimpleMKL are stopped there, the gap is
that of the point they had.

* **Clarabel** and **cvxopt** (`coneqp`) solve the dual as a conic program with one second-order cone a kernel, on the
  shared bases (`benchmarks/suite/conic.py`), asked for 1e-8; each in the form that was the faster for it (Clarabel with
  the bases' coordinates as variables where they are no more than the rows, else without; cvxopt without), Clarabel with
  `qdldl`, the fastest of its factorisations here.
* **SimpleMKL** is the package's own, asked for 1e-4. It knows no budget.
* **EasyMKL**, **AverageMKL**, **GRAM** (MKLpy) solve *other problems* than (11): their gap for (11) says how far their
  answer is from ours, not that they fail at theirs. Their weights, then the SVC that (11) has at these weights; EasyMKL
  with the best of four values of its own lam (the time is that of one fit); GRAM until the limit.

"""


def plots(found: dict[str, Any], folder) -> None:
    """Draw time against true gap."""
    from .plots import COLOURS, figure, save

    fig, ax = figure()
    for colour, who in zip(COLOURS[1:], (*CONIC, *BUDGET_FREE), strict=False):
        points = [(t, r["gap"]) for name, r, t in against(found) if name == who and "gap" in r]
        if points:
            ax.scatter(*zip(*points, strict=True), color=colour, label=who, s=22, alpha=0.8)
    gaps = [each["ours"]["gap"] for each in found["problems"]]
    ax.scatter(np.ones(len(gaps)), gaps, color=COLOURS[0], label="interior point (ours)", s=22, marker="D")
    ax.axhline(REACHED, color="0.5", linestyle=":", linewidth=1)
    ax.axvline(FASTER, color="0.5", linestyle=":", linewidth=1)
    ax.set(xscale="log", yscale="log", xlabel="time, ours from raw rows to 1e-6 = 1", ylabel="true relative gap")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    save(fig, folder / "rivals.png")
