"""What a run leaves behind: one line for each fitted classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..problem import KernelFunction
from .settings import Key
from .trial import Counts, Trial


class Fit(NamedTuple):
    """A classifier to be counted, with how far its optimisation went."""

    method: str
    lam: float
    rho: float
    f: KernelFunction
    primal: float
    gap: float
    theta: float
    iterations: int


class Line(NamedTuple):
    """One line of the CSV but for the run it belongs to: rows that are right, of the rows of validation and test."""

    method: str
    lam: float
    rho: float
    primal: float
    gap: float
    theta: float
    iterations: int
    valid: int
    clean: int
    noisy: int


def lines(trial: Trial, fits: Sequence[Fit]) -> list[Line]:
    """Return the lines of some fits."""
    return [_line(fit, counts) for fit, counts in zip(fits, trial.counts([fit.f for fit in fits]), strict=True)]


def _line(fit: Fit, counts: Counts) -> Line:
    numbers = (float(fit.lam), float(fit.rho), float(fit.primal), float(fit.gap), float(fit.theta))
    return Line(fit.method, *numbers, int(fit.iterations), *counts)


def record(key: Key, trial: Trial, found: Sequence[Line], **more: Any) -> dict[str, Any]:
    """Return a run as it is stored."""
    sizes = {"train": trial.train.y.size, "valid": trial.valid.y.size, "test": trial.test.y.size}
    wrong = int((trial.train.y != trial.train.clean).sum())
    run: dict[str, Any] = {"key": list(key), "sizes": sizes, "wrong": wrong, **more}
    return run | {"columns": list(Line._fields), "lines": [list(line) for line in found]}
