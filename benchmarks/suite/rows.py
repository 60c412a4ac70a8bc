"""Many rows without joint kernels, against histogram gradient boosting: time, cost per row, memory."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from . import data, ours, peers
from .apart import apart
from .goal import Goal, duration, gib, ratio, table
from .large import trouble
from .measure import Peak, turns

TITLE = "Many rows"
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
LAM, RHO, COLUMNS = 1e-3, 0.8, 20
SERIOUS = (20_000, 200_000)  # the sizes that the goals name
GROWTH = 1.2  # what a noisy machine may add to a cost per row that does not grow


def run(options: Namespace) -> dict[str, Any]:
    """Measure every size: times in one process, memory in another."""
    sizes = options.sizes or ((1_000, 10_000) if options.quick else SIZES)
    return {"sizes": [_size(n, options) for n in sizes]}


def _size(n: int, options: Namespace) -> dict[str, Any]:
    print(f"  n = {n:,}", flush=True)
    repeats = options.repeats if n <= 50_000 else 1
    found = apart("suite.rows:times", options.limit_ours, n=n, repeats=repeats)
    return {"n": n, **found, "memory": apart("suite.rows:memory", options.limit_ours, n=n)}


def _fit(X, y, tol: float):
    return ours.fit(X, y, LAM, RHO, tol, "columns")


def times(n: int, repeats: int) -> dict[str, Any]:
    """Let boosting and the solver, at two tolerances, take turns."""
    X, y = data.wide_table(n, COLUMNS)
    ours.warm_up()
    peers.boosting(X[:100], y[:100])
    found, results = turns(
        repeats, boosting=lambda: peers.boosting(X, y), rough=lambda: _fit(X, y, 1e-4), fine=lambda: _fit(X, y, 1e-6)
    )
    return {**found, **ours.record(results["fine"], X, y)}


def memory(n: int) -> dict[str, Any]:
    """Return the peak memory of one fit, and the bytes of its basis."""
    X, y = data.wide_table(n, COLUMNS)
    ours.warm_up()
    names = [f"x{j}" for j in range(COLUMNS)]
    rank = ours.KERNELS["columns"].extent(n, names, X=X).rank
    with Peak() as peak:
        _fit(X, y, 1e-6)
    return {"bytes": peak.nbytes, "basis": 8 * n * rank}


def per_row(found: dict[str, Any], field: str = "fine") -> float:
    """Return microseconds a row."""
    return 1e6 * found[field] / found["n"]


def goals(found: dict[str, Any]) -> list[Goal]:
    """Compare with what was aimed at."""
    named = [each for each in found["sizes"] if each["n"] in SERIOUS] or found["sizes"][-1:]
    large = [each for each in found["sizes"] if each["n"] >= named[0]["n"] and not _failed(each)]
    return [goal for each in named for goal in _of_size(each)] + _memory(large) + _growth(large)


def _failed(found: dict[str, Any]) -> str | None:
    return trouble(found) or trouble(found["memory"])


def _of_size(found: dict[str, Any]) -> list[Goal]:
    work, why = f"{found['n']:,} rows, 200 kernels, boosting = 1", _failed(found)
    if why:
        return [Goal(work, "1e-4 in <= 5 x, 1e-6 in <= 10 x", why, False)]
    rough, fine = (found[name] / found["boosting"] for name in ("rough", "fine"))
    return [
        Goal(work, "gap 1e-4 in <= 5 x", ratio(rough), rough <= 5.0),
        Goal(work, "gap 1e-6 in <= 10 x", ratio(fine), fine <= 10.0),
    ]


def share(found: dict[str, Any]) -> float:
    """Return peak memory over basis."""
    return found["memory"]["bytes"] / found["memory"]["basis"]


def _memory(sizes: list[dict[str, Any]]) -> list[Goal]:
    if not sizes:
        return []
    worst = max(sizes, key=share)
    said = f"at most {share(worst):.2f} x ({worst['n']:,} rows)"
    work = f"from {sizes[0]['n']:,} rows on, 200 kernels"
    return [Goal(work, "peak memory <= 2 x the basis", said, share(worst) <= 2.0)]


def _growth(sizes: list[dict[str, Any]]) -> list[Goal]:
    if len(sizes) < 2:
        return []
    first, last = sizes[0], sizes[-1]
    growth = per_row(last) / per_row(first)
    said = f"{growth:.2f} x from {first['n']:,} to {last['n']:,} rows"
    return [Goal("cost per row to 1e-6", f"does not grow with n (at most {GROWTH} x)", said, growth <= GROWTH)]


def markdown(found: dict[str, Any]) -> str:
    """Return the section's text and table."""
    header = ["rows", "boosting", "1e-4", "1e-6", "1e-4 / boosting", "1e-6 / boosting", "us a row (1e-6)"]
    header += ["iterations", "gap", "kernel_error", "peak memory", "memory / basis"]
    failed = "".join(f"\n* {s['n']:,} rows: {_failed(s)}" for s in found["sizes"] if _failed(s))
    return (
        f"{COLUMNS} columns, ten Gaussians on each (`KernelDictionary(Gaussian())`, 200 kernels), 20 % of the labels"
        f" flipped, lam {LAM:g}, rho {RHO:g}, from the raw rows, against"
        " `HistGradientBoostingClassifier(max_iter=100, early_stopping=False)` on the same rows. Memory is the peak of"
        " one fit beyond what the process held with the table loaded; the basis is n x the summed rank x 8 bytes.\n\n"
        + table(header, [_row(each) for each in found["sizes"] if not _failed(each)])
        + f"\n{failed}\n\n![Cost per row and memory by number of rows](benchmarks/rows.png)"
    )


def _row(found: dict[str, Any]) -> list[Any]:
    memory = found["memory"]
    return [
        f"{found['n']:,}",
        *(duration(found[name]) for name in ("boosting", "rough", "fine")),
        *(ratio(found[name] / found["boosting"]) for name in ("rough", "fine")),
        f"{per_row(found):.0f}",
        found["iterations"],
        f"{found['gap']:.1e}",
        f"{found['kernel_error']:.0e}",
        gib(memory["bytes"]),
        f"{share(found):.2f} x",
    ]


def plots(found: dict[str, Any], folder) -> None:
    """Draw the cost per row, and the memory over the basis."""
    from .plots import COLOURS, figure, save

    sizes = [each for each in found["sizes"] if not _failed(each)]
    n = [each["n"] for each in sizes]
    fig, (left, right) = figure(columns=2, width=9.5, height=4.0)
    for colour, (field, label) in zip(
        COLOURS, {"fine": "ours, gap 1e-6", "rough": "ours, gap 1e-4", "boosting": "boosting"}.items(), strict=False
    ):
        left.plot(n, [per_row(each, field) for each in sizes], "-o", color=colour, label=label, markersize=5)
    left.set(xscale="log", yscale="log", xlabel="rows", ylabel="microseconds a row", title="cost per row")
    left.legend(frameon=False)
    right.plot(n, [share(each) for each in sizes], "-o", color=COLOURS[0], markersize=5)
    right.axhline(2.0, color="0.5", linestyle=":", linewidth=1)
    right.annotate("goal", (0.01, 2.0), xycoords=("axes fraction", "data"), va="top", color="0.4")
    right.set(xscale="log", yscale="log", xlabel="rows", ylabel="peak memory / basis", title="memory", ylim=(1.0, None))
    right.yaxis.set_major_formatter("{x:g}")
    save(fig, folder / "rows.png")
