"""One look for all pictures."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#56b4e9", "#555555", "#b30000")
LOOK = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25}


def figure(columns: int = 1, rows: int = 1, width: float = 7.0, height: float = 4.2, **options) -> tuple[Figure, Axes]:
    """Return a figure and its axes; nothing global is touched."""
    with mpl.rc_context(LOOK):
        fig = Figure(figsize=(width, height), layout="constrained")
        return fig, fig.subplots(rows, columns, **options)


def save(fig: Figure, path: Path) -> None:
    """Write a picture without a date in it, so that the same record gives the same file."""
    with mpl.rc_context(LOOK):
        fig.savefig(path, dpi=130, metadata={"Software": None})
