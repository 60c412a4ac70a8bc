"""The three constraints side by side: eq. (8), and its relaxations (10) and (11), on the five tables.

    python benchmarks/constraints.py [--short] [--tol TOL] [--max-iter N] [--out FOLDER]
    python benchmarks/constraints.py --tables [--out FOLDER]        only writes the tables again

80 % of the rows to train, with 20 % of their labels flipped; accuracy on the clean labels of the others. The kernels of
the paper, an intercept, noise_level = .2, two epsilon, three lam. Every value is certified: the optimum lies between
``dual`` and ``primal``. FOLDER (docs/constraints) receives results.csv and the tables of the documentation, tables.md.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Iterator
from itertools import groupby, product
from pathlib import Path
from typing import Any

import numpy as np

from robustmkl import Problem, SolveResult, mkl_path
from robustmkl.datasets import load_uci
from robustmkl.kernels import paper_dictionary
from robustmkl.noise import flip_labels
from robustmkl.uncertainty import SETS

TABLES = ("ionosphere", "heart", "sonar", "breast-cancer", "australia")
CONSTRAINTS = ("chance", "p", "alpha")
NOISE = 0.2
EPSILONS = (0.05, 0.5)
LAMS = (0.1, 0.01, 0.001)
SPLITS = 5
FOLDER = Path(__file__).parent.parent / "docs" / "constraints"

Row = dict[str, Any]


# -- measuring ---------------------------------------------------------------------------------------------------


class Split:
    """Training rows with wrong labels, the kernels on them, and test rows with right ones."""

    def __init__(self, name: str, seed: int) -> None:
        X, labels = load_uci(name, return_X_y=True)
        y = np.where(labels == np.unique(labels)[1], 1.0, -1.0)
        order = np.random.default_rng(seed).permutation(y.size)
        train, test = np.split(order, [int(0.8 * y.size)])
        self.dictionary = paper_dictionary().fit(X[train])
        self.bank = self.dictionary.bank(X[train])
        self.y = flip_labels(y[train], NOISE, random_state=seed)[0]
        self.X_test, self.y_test = X[test], y[test]

    def problem(self, constraint: str, epsilon: float) -> Problem:
        """Return the problem of a constraint; its lam is not used."""
        budget = SETS[constraint].from_noise_level(NOISE, epsilon, float(self.y.size))
        return Problem(self.bank, self.y, np.ones(self.y.size), budget=budget)

    def predict(self, result: SolveResult) -> np.ndarray:
        """Return f on the test rows."""
        return self.dictionary.expansion(self.bank.blocks(result.f.coef))(self.X_test) + result.intercept


def measure(name: str, seed: int, epsilons: Iterable[float], lams: list[float], **options: Any) -> Iterator[Row]:
    """Yield one row for every epsilon, lam and constraint."""
    split = Split(name, seed)
    for epsilon in epsilons:
        problems = {c: split.problem(c, epsilon) for c in CONSTRAINTS}
        paths = {c: mkl_path(problem, lams=lams, **options) for c, problem in problems.items()}
        for k, lam in enumerate(lams):
            found = {c: paths[c][k] for c in CONSTRAINTS}
            for c in CONSTRAINTS:
                place = {"table": name, "split": seed, "n": split.y.size, "epsilon": epsilon, "lam": lam}
                yield place | {"constraint": c} | compare(split, found[c], found["chance"])


def compare(split: Split, result: SolveResult, tight: SolveResult) -> Row:
    """Return what is measured of a solution, beside that of eq. (8)."""
    f, g = split.predict(result), split.predict(tight)
    difference = result.f.coef - tight.f.coef
    image = split.bank.cores_times(difference)
    apart = np.sqrt(np.maximum(split.bank.inner(difference, image), 0.0)).sum()
    return {
        "primal": result.primal,
        "dual": result.dual,
        "converged": int(result.converged),
        "n_iter": result.n_iter,
        "theta": result.theta,
        "norm": result.norms.sum(),
        "difference": apart / max(tight.norms.sum(), 1e-300),
        "disagreement": np.mean(np.sign(f) != np.sign(g)),
        "accuracy": np.mean(np.sign(f) == split.y_test),
    }


# -- the tables --------------------------------------------------------------------------------------------------


def read(path: Path) -> list[Row]:
    """Return the rows of a file of results, with numbers as numbers."""
    words = ("table", "constraint")
    with path.open(newline="", encoding="utf-8") as file:
        return [{k: v if k in words else float(v) for k, v in row.items()} for row in csv.DictReader(file)]


def mean(rows: list[Row], constraint: str, what: str) -> float:
    """Return the mean over the splits of a column."""
    return float(np.mean([row[what] for row in rows if row["constraint"] == constraint]))


def between(low: float, high: float, form: str, least: float) -> str:
    """Return one number where an interval is narrow, else its two ends."""
    middle = 0.5 * (low + high)
    return format(middle, form) if high - low <= least else f"{low:{form}} to {high:{form}}"


def grouped(rows: list[Row], *keys: str) -> Iterator[tuple[tuple[Any, ...], list[Row]]]:
    """Yield the rows by the values of these columns, in the order in which they were measured."""
    order = {value: i for i, value in reversed(list(enumerate(tuple(row[k] for k in keys) for row in rows)))}
    placed = sorted(rows, key=lambda row: order[tuple(row[k] for k in keys)])
    for value, group in groupby(placed, key=lambda row: tuple(row[k] for k in keys)):
        yield value, list(group)


def table(head: list[str], lines: Iterable[list[str]]) -> str:
    """Return a table in Markdown."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def values_of(rows: list[Row]) -> list[str]:
    """Return the optima, and by how much each relaxation exceeds what it relaxes."""
    D, P = ([mean(rows, c, what) for c in CONSTRAINTS] for what in ("dual", "primal"))
    values = [between(low, high, ".3f", 2e-3) for low, high in zip(D, P, strict=True)]
    excess = [(D[i + 1] / P[i] - 1.0, P[i + 1] / D[i] - 1.0) for i in range(2)]
    return values + [between(max(0.0, low), high, ".1%", 5e-3) for low, high in excess]


def classifiers_of(rows: list[Row]) -> list[str]:
    """Return accuracies, and how far the classifiers of the relaxations are from that of (8)."""
    cells = [(what, c) for what in ("difference", "disagreement") for c in CONSTRAINTS[1:]]
    gap = max((row["primal"] - row["dual"]) / row["primal"] for row in rows)
    accuracies = [f"{mean(rows, c, 'accuracy'):.3f}" for c in CONSTRAINTS]
    return [*accuracies, *(f"{mean(rows, c, what):.2f}" for what, c in cells), f"{gap:.0e}"]


def best_of(rows: list[Row]) -> list[str]:
    """Return for each constraint the best mean accuracy over lam, and that lam."""
    cells = []
    for c in CONSTRAINTS:
        by_lam = [(mean(group, c, "accuracy"), lam) for (lam,), group in grouped(rows, "lam")]
        cells.append("{:.3f} ({:g})".format(*max(by_lam)))
    return cells


def tables(rows: list[Row]) -> str:
    """Return the page's part that is made of the results."""
    text, splits = [], len({row["split"] for row in rows})
    missed = sum(not row["converged"] for row in rows)
    text.append(
        f"Means over {splits} split{'s' * (splits > 1)}. Of {len(rows)} solutions {len(rows) - missed} reached the "
        "tolerance. Two numbers are the ends of an interval that holds the optimum; *gap* is the largest relative "
        "duality gap of a line's solutions: where it is large, the classifiers are not yet those of the optimum."
    )
    columns = ["(8)", "(10)", "(11)", "(10) over (8)", "(11) over (10)"]
    more = ["accuracy (8)", "(10)", "(11)", "difference (10)", "(11)", "disagreement (10)", "(11)", "gap"]
    for (epsilon,), part in grouped(rows, "epsilon"):
        lines = list(grouped(part, "table", "lam"))
        text.append(f"## Optimal values, ε = {epsilon:g}")
        text.append(table(["table", "λ", *columns], ([t, f"{lam:g}", *values_of(g)] for (t, lam), g in lines)))
        text.append(f"## Classifiers, ε = {epsilon:g}")
        text.append(table(["table", "λ", *more], ([t, f"{lam:g}", *classifiers_of(g)] for (t, lam), g in lines)))
    text.append("## The best λ of each, by the clean labels")
    best = ([t, f"{epsilon:g}", *best_of(g)] for (t, epsilon), g in grouped(rows, "table", "epsilon"))
    text.append(table(["table", "ε", "(8)", "(10)", "(11)"], best))
    return "\n\n".join(text) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="one split, two lam")
    parser.add_argument("--tables", action="store_true", help="only write the tables of what has been measured")
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--max-iter", type=int, default=None)
    parser.add_argument("--out", type=Path, default=FOLDER)
    args = parser.parse_args()
    results = args.out / "results.csv"
    args.out.mkdir(parents=True, exist_ok=True)
    if not args.tables:
        lams, splits = list(LAMS[: 2 if args.short else None]), 1 if args.short else SPLITS
        with results.open("w", newline="", encoding="utf-8") as file:
            writer = None
            for name, seed in product(TABLES, range(splits)):
                for row in measure(name, seed, EPSILONS, lams, tol=args.tol, max_iter=args.max_iter):
                    writer = writer or csv.DictWriter(file, row, lineterminator="\n")
                    if file.tell() == 0:
                        writer.writeheader()
                    writer.writerow(row)
                file.flush()
                print(f"{name}, split {seed}", flush=True)
    (args.out / "tables.md").write_text(tables(read(results)), encoding="utf-8")


if __name__ == "__main__":
    main()
