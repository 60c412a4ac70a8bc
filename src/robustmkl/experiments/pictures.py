"""The pictures: Figure 1 as in the paper, the left panels at the proved optimum, accuracy along rho and lam."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from .laws import best_vi
from .rules import along_lam, along_rho
from .runs import Collection, Scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES: dict[str, dict[str, Any]] = {
    "StPMKL": {"color": "#c0392b", "marker": "o", "linestyle": "-"},
    "SiPMKL": {"color": "#1f5fa8", "marker": "s", "linestyle": "--"},
    "MiPMKL": {"color": "#2e8b57", "marker": "^", "linestyle": "-."},
}
PLAIN: Any = {"svg.hashsalt": "robustmkl", "svg.fonttype": "path", "font.size": 9.0}


def pictures(runs: Collection) -> dict[str, Figure]:
    """Return all pictures by name."""
    from matplotlib import rc_context  # the extra [report]

    with rc_context(PLAIN):
        return {"figure1": figure1(runs), "figure1-certified": certified(runs), "rules": along(runs)}


def rendered(figure: Figure, form: str) -> bytes:
    """Return a picture as PNG or SVG, the same bytes every time."""
    from matplotlib import rc_context

    target, metadata = BytesIO(), {"Date": None} if form == "svg" else {"Software": None}
    with rc_context(PLAIN):
        figure.savefig(target, format=form, dpi=110, metadata=metadata)
    return target.getvalue()


def _figure(rows: int, columns: int, height: float, share: Any = False) -> tuple[Figure, Any]:
    """Return a figure that belongs to no window, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, sharey=share)


def figure1(runs: Collection) -> Figure:
    """Draw accuracy against noise level (left) and gap against iterations (right), one row a table."""
    tables = runs.settings.datasets
    figure, axes = _figure(len(tables), 2, 2.5 * len(tables))
    for (left, right), table in zip(axes, tables, strict=True):
        draw_accuracy(left, runs, "paper", table)
        draw_gaps(right, runs, table)
    return figure


def certified(runs: Collection) -> Figure:
    """Draw the left panels at the proved optimum, coarse grid and fine grid."""
    tables = runs.settings.datasets
    figure, axes = _figure(len(tables), 2, 2.5 * len(tables), "row")
    for (left, right), table in zip(axes, tables, strict=True):
        draw_accuracy(left, runs, "certified", table)
        draw_accuracy(right, runs, "certified", table, " fine")
        left.set_title(f"{table}: proved optimum, coarse grid")
        right.set_title(f"{table}: proved optimum, fine grid")
    return figure


def draw_accuracy(ax: Axes, runs: Collection, kind: str, table: str, grid: str = "") -> None:
    """Draw mean accuracy with its standard error against the noise level, for the methods that have scores."""
    for k, (name, style) in enumerate(STYLES.items()):
        if name + grid not in runs.choices:
            continue
        scores = runs.scores(kind, runs.choices[name + grid])
        levels, means, errors = _by_level(scores, table)
        if levels.size:
            ax.errorbar(levels + 0.003 * (k - 1), means, errors, label=name, capsize=2, markersize=4, **style)
    ax.set(title=table, xlabel="noise level q", ylabel="ACC (%)", xticks=runs.settings.noise)
    ax.grid(alpha=0.3)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize=7)


def _by_level(scores: Scores, table: str) -> tuple[Any, Any, Any]:
    """Return the noise levels, and mean and standard error of the accuracy there."""
    levels = sorted({p[1] for p in scores if p[0] == table})
    values = [np.array([v for p, v in scores.items() if p[:2] == (table, q)]) for q in levels]
    errors = [v.std(ddof=1) / np.sqrt(v.size) if v.size > 1 else 0.0 for v in values]
    return np.array(levels), np.array([v.mean() for v in values]), np.array(errors)


def draw_gaps(ax: Axes, runs: Collection, table: str) -> None:
    """Draw the duality gap of AMP and of the best VI against the iterations, and the bound of Theorem 2."""
    for run in [run for run in runs.gaps if run["key"][1] == table][:1]:
        at, (name, vi) = run["iterations"], best_vi(run)
        ax.plot(at, run["runs"]["AMP"]["gap"], color="#c0392b", label="AMP")
        ax.plot(at, vi, color="#1f5fa8", linestyle="--", label=f"VI (γ₀ = {name[3:]})")
        ax.plot(at, run["runs"]["AMP"]["bound"], color="#c0392b", linewidth=0.8, linestyle=":", label="Theorem 2")
        ax.legend(fontsize=7)
        highest, lowest = max(*run["runs"]["AMP"]["gap"], *vi), min(*run["runs"]["AMP"]["gap"], *vi)
        ax.set(yscale="log", ylim=(0.5 * max(lowest, 1e-12), 3.0 * highest))
    ax.set(title=table, xlabel="iterations", ylabel="duality gap")
    ax.grid(alpha=0.3)


def along(runs: Collection) -> Figure:
    """Draw mean accuracy over the tables along rho and along lam, one curve a noise level."""
    figure, ((left, right),) = _figure(1, 2, 3.2, True)
    _draw_curves(left, *along_rho(runs), "ρ, with λ out of the way", [1.0 - q for q in runs.settings.noise])
    _draw_curves(right, *along_lam(runs), "λ, no budget", None)
    right.set_xscale("log")
    left.set_ylabel("ACC (%), mean over tables and trials")
    return figure


def _draw_curves(ax: Axes, at: Sequence[float], curves: dict[float, list[float]], label: str, marks: Any) -> None:
    from matplotlib import colormaps

    colors = colormaps["viridis"](np.linspace(0.0, 0.85, max(len(curves), 1)))
    for color, (q, values) in zip(colors, curves.items(), strict=False):
        ax.plot(at, values, color=color, marker=".", label=f"q = {q:g}")
        if marks is not None and 1.0 - q >= at[0]:
            ax.plot(1.0 - q, np.interp(1.0 - q, at, values), "*", color=color, markersize=11)
    ax.set_xlabel(label + ("   (star: ρ = 1 − q)" if marks is not None else ""))
    ax.grid(alpha=0.3)
    if curves:
        ax.legend(fontsize=7)
