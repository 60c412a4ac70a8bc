"""The right panels of Figure 1: the gap of Algorithm 1 and of VI along the iterations, beside Theorem 2's bound."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Ints
from ..problem import Problem
from ..solvers import amp, vi
from ..solvers.amp import theorem_2
from ..solvers.driver import Iterates
from ..uncertainty import Budget
from .settings import Key, Settings
from .trial import Trial

LONGER = 10
MOMENTS = 60  # certificates along a run


def convergence(key: Key, settings: Settings) -> dict[str, Any]:
    """Return the run: the gaps of the averages, with ``sum alpha <= gap_total``."""
    problem, at = _problem(key, settings), moments(settings.max_iter)
    runs: dict[str, Any] = {"AMP": _follow(problem, amp(problem), at, bound=True)}
    for gamma0 in settings.gammas:
        runs[f"VI {gamma0:g}"] = _follow(problem, vi(problem, settings.max_iter, gamma0), at)
    return {"key": list(key), "iterations": at.tolist(), "runs": runs}


def rate(key: Key, settings: Settings) -> dict[str, Any]:
    """Return the run of Algorithm 1 alone, for ten times as many iterations: where its rate begins to show."""
    problem, at = _problem(key, settings), moments(LONGER * settings.max_iter)
    return {
        "key": list(key),
        "iterations": at.tolist(),
        "runs": {"AMP": _follow(problem, amp(problem), at, bound=True)},
    }


def _problem(key: Key, settings: Settings) -> Problem:
    trial = Trial(key)
    rho = min(1.0, settings.gap_total / trial.problem.kernels.n)
    return replace(trial.problem, lam=settings.gap_lam, budget=Budget(rho))


def moments(max_iter: int) -> Ints:
    """Return iterations evenly spaced in the logarithm, from the first to the last."""
    return np.unique(np.round(np.geomspace(1, max_iter, MOMENTS)).astype(np.intp))


def _follow(problem: Problem, iterates: Iterates, at: Ints, bound: bool = False) -> dict[str, list[float]]:
    """Certify the averages at the given iterations; a run that ends early has fewer."""
    wanted, found = set(at.tolist()), {"gap": [], "bound": []}  # type: tuple[set[int], dict[str, list[float]]]
    for t, iterate in enumerate(iterates, start=1):
        if t in wanted:
            point = iterate()
            found["gap"].append(float(problem.certificate(*point).gap))
            if bound:
                found["bound"].append(float(theorem_2(problem, point, t)))
        if t >= at[-1]:
            break
    return found
