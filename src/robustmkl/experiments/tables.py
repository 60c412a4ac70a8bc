"""CSV files: one line a run and method, and one line a candidate; floats as Python prints them."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable, Iterator
from typing import Any

from .runs import Collection, Run

RUN = ("kind", "table", "noise", "trial", "seed", "train_rows", "validation_rows", "test_rows", "wrong_labels")
COUNTS = ("validation_right", "test_right_clean", "test_right_noisy")
FIT = ("method", "lam", "rho", "primal", "gap", "theta", "iterations", *COUNTS)


def runs_csv(runs: Collection) -> bytes:
    """Return one line for every run, method and grid: the candidate that was chosen, and its accuracy in percent."""
    return _csv((*RUN, "grid", *FIT, "accuracy"), _chosen(runs))


def candidates_csv(runs: Collection) -> bytes:
    """Return one line for every fit, compressed."""
    lines = ((*_run(run), *line) for kind in runs.runs.values() for run in kind for line in run.lines)
    return gzip.compress(_csv((*RUN, *FIT), lines), mtime=0)


def gaps_csv(runs: Collection) -> bytes:
    """Return the gaps of the right panels: one line an algorithm and certificate."""
    return _csv(("table", "noise", "trial", "algorithm", "iteration", "gap", "theorem_2"), _gaps(runs))


def _chosen(runs: Collection) -> Iterator[tuple[Any, ...]]:
    for kind in runs.runs.values():
        for run in kind:
            for name, choice in runs.choices.items():
                line = choice.chosen(run)
                if line is not None and not (run.key.kind == "paper" and name.endswith("fine")):
                    method, _, grid = name.partition(" ")
                    yield (*_run(run), grid or "coarse", method, *line[1:], runs.accuracy(run, line))


def _run(run: Run) -> tuple[Any, ...]:
    seed = "-".join(map(str, run.key.entropy))
    return (*run.key, seed, run.sizes["train"], run.sizes["valid"], run.sizes["test"], run.wrong)


def _gaps(runs: Collection) -> Iterator[tuple[Any, ...]]:
    for run in runs.gaps:
        for name, found in run["runs"].items():
            bounds = found["bound"] or [""] * len(found["gap"])
            for line in zip(run["iterations"], found["gap"], bounds, strict=False):
                yield (*run["key"][1:], name, *line)


def _csv(head: Iterable[str], lines: Iterable[Iterable[Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([[repr(v) if isinstance(v, float) else v for v in line] for line in lines])
    return text.getvalue().encode()
