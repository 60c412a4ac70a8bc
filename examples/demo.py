"""The main job on a bundled table: learn from labels of which one in five is wrong, and trust the answer.

    make demo        (or: python examples/demo.py [table])

Flips 20 % of the training labels of the table, trains with the regularisation chosen on those noisy labels, prints
the certificate, the kernels that carry the classifier, the accuracy on clean test labels beside an SVC and a random
forest, and the labels it doubts. Saves one picture.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from robustmkl import Budget, Problem, StPMKLClassifier, solve
from robustmkl.datasets import load_uci
from robustmkl.kernels import paper_dictionary
from robustmkl.noise import flip_labels

mpl.use("Agg")
import matplotlib.pyplot as plt

FLIPPED = 0.2
GRID = {"lam": [0.1, 0.03, 0.01, 0.003, 0.001], "rho": [None, 1 - FLIPPED]}
OUT = Path("demo-output")


@dataclass(frozen=True)
class Task:
    """Training rows with noisy labels, which of them were flipped, and clean test rows."""

    name: str
    columns: list[str]
    X: pd.DataFrame
    y: np.ndarray
    flipped: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray


def make_task(name: str, seed: int = 0) -> Task:
    table = load_uci(name, as_frame=True, sample_code=name != "breast-cancer")
    X, X_test, y, y_test = train_test_split(
        table.data, table.target, test_size=0.3, stratify=table.target, random_state=seed
    )
    X = X.reset_index(drop=True)
    noisy, flipped = flip_labels(y, FLIPPED, random_state=seed)
    return Task(name, list(table.feature_names), X, noisy, flipped, X_test, y_test)


def tune(model, grid: dict, task: Task):
    """Choose on the noisy labels: nobody has others."""
    return GridSearchCV(model, grid, cv=5).fit(task.X, task.y)


def doubts(model: StPMKLClassifier, task: Task) -> np.ndarray:
    """Return y f(x) of each row from models that have not seen it: negative where they contradict the label."""
    values = cross_val_predict(model, task.X, task.y, cv=5, method="decision_function")
    return np.where(task.y == model.classes_[1], values, -values)


def print_certificate(model: StPMKLClassifier, task: Task) -> None:
    result, again = model.result_, model.certificate(task.X, task.y)
    budget = "no budget" if model.rho is None else f"rho = {model.rho:g}"
    print(
        f"\nCertificate (lam = {model.lam:g}, {budget}, {len(model.kernel_names_)} kernels, {result.n_iter} iterations)"
    )
    print(f"  {result.message}")
    print(f"  primal {result.primal:.8f}   dual {result.dual:.8f}   gap {result.gap:.1e}")
    print(f"  recomputed from exact kernels and the predictions: gap {again.gap:.1e}")


def print_kernels(model: StPMKLClassifier) -> None:
    print("\nKernels that carry the classifier")
    order = np.argsort(-model.kernel_weights_)
    for j in order[model.kernel_weights_[order] > 0.005][:10]:
        print(f"  {model.kernel_weights_[j]:6.1%}  {model.kernel_names_[j]}")


def print_accuracy(model: StPMKLClassifier, task: Task) -> None:
    svc = tune(make_pipeline(MinMaxScaler(), SVC()), {"svc__C": [0.1, 1, 10], "svc__gamma": [0.03, 0.3, 3]}, task)
    forest = RandomForestClassifier(500, random_state=0).fit(task.X, task.y)
    print(f"\nAccuracy on the {len(task.y_test)} clean test labels")
    for name, other in (("robustmkl", model), ("SVC (tuned)", svc), ("random forest", forest)):
        print(f"  {name:<14} {other.score(task.X_test, task.y_test):.1%}")


def print_doubts(margins: np.ndarray, task: Task) -> None:
    worst = np.argsort(margins)[: int(task.flipped.sum())]
    hits = task.flipped[worst].mean()
    print(f"\nLabels it doubts: the {worst.size} lowest out-of-fold margins; {hits:.0%} of them were indeed flipped")
    for i in worst[:8]:
        print(f"  row {i:4d}  label {task.y[i]!s:<10} margin {margins[i]:+.2f}  {'flipped' * int(task.flipped[i])}")


def draw(model: StPMKLClassifier, margins: np.ndarray, task: Task) -> Path:
    fig, axes = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")
    draw_gap(axes[0], model, task)
    draw_weights(axes[1], model, task)
    bins = np.linspace(margins.min(), margins.max(), 30)
    axes[2].hist([margins[~task.flipped], margins[task.flipped]], bins, stacked=True, color=["#4477aa", "#cc6677"])
    axes[2].legend(["label right", "label flipped"], frameon=False)
    axes[2].set(title="Out-of-fold margins", xlabel="y f(x)", ylabel="rows")
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    OUT.mkdir(exist_ok=True)
    path = OUT / f"{task.name}.png"
    fig.savefig(path, dpi=120)
    return path


def draw_gap(ax, model: StPMKLClassifier, task: Task) -> None:
    X, signs = task.X.to_numpy(float), np.where(task.y == model.classes_[1], 1.0, -1.0)
    problem = Problem(
        paper_dictionary().fit(X).bank(X), signs, np.ones(len(signs)), model.lam, Budget(model.rho or 1.0)
    )
    for solver, label in (
        ("interior-point", "interior point"),
        ("amp", "Algorithm 1 (AMP)"),
        ("vi", "VI, step 10 / sqrt(1000)"),
    ):
        records = solve(problem, solver, tol=1e-8, max_iter=1000, gamma0=10.0, history=True).history
        ax.loglog([r.iteration for r in records], [(r.primal - r.dual) / r.primal for r in records], label=label)
    ax.legend(frameon=False)
    ax.set(title="Duality gap", xlabel="iteration", ylabel="gap / primal")


def draw_weights(ax, model: StPMKLClassifier, task: Task) -> None:
    joint = np.array(["all columns" in name for name in model.kernel_names_])
    labels, weights = ["all columns"], [model.kernel_weights_[joint].sum()]
    for column in task.columns:
        mine = [name.startswith(f"gaussian({column};") for name in model.kernel_names_]
        labels.append(column)
        weights.append(model.kernel_weights_[mine].sum())
    order = [i for i in np.argsort(weights) if weights[i] > 0.001][-12:]
    ax.barh([labels[i] for i in order], [weights[i] for i in order], color="#4477aa")
    ax.set(title="Kernel weights by column", xlabel="share of the norm")


def main(name: str = "breast-cancer") -> None:
    task = make_task(name)
    n, d = task.X.shape
    print(f"{name}: {n} training rows, {d} columns, {task.flipped.sum()} labels flipped ({task.flipped.mean():.0%})")
    model = tune(StPMKLClassifier(), GRID, task).best_estimator_.set_params(tol=1e-6).fit(task.X, task.y)
    print_certificate(model, task)
    print_kernels(model)
    print_accuracy(model, task)
    margins = doubts(model, task)
    print_doubts(margins, task)
    print(f"\nPicture: {draw(model, margins, task)}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
