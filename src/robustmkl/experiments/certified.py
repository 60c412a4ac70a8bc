"""A trial at the proved optimum: the whole grid (lam, rho) as one path, and the twins of StPMKL without budget."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..problem import Problem
from ..solvers import SolveResult, solve
from ..solvers.alternating import mipmkl
from ..solvers.path import lam_max, mkl_grid
from ..uncertainty import Budget
from .record import Fit, lines, record
from .settings import Key, Settings
from .trial import Trial

ROUNDS = 20  # of MiPMKL, at most
STEP = 1e-3  # relative gap of its f-steps
SHARP = 1e-6  # relative gap of the twins


def certified(key: Key, settings: Settings) -> dict[str, Any]:
    """Return the run: every (lam, rho), and in the first trials MiPMKL and the twins."""
    trial = Trial(key)
    rhos = (*settings.rhos, *settings.more_rhos)
    grid = mkl_grid(trial.problem, settings.lams, rhos, tol=settings.tol)
    fits = [
        _fit("SiPMKL" if rho == 1.0 else "StPMKL", lam, rho, result)
        for rho, row in zip(rhos, grid, strict=True)
        for lam, result in zip(settings.lams, row, strict=True)
    ]
    twins: list[dict[str, Any]] = []
    if key.trial < settings.best_case_trials:
        coarse = grid[0][:: settings.coarse]
        fits += _best_cases(trial, settings, coarse)
        twins = [_twin(trial, settings.lams[0], rho) for rho in settings.rhos if rho < 1.0]
    return record(key, trial, lines(trial, fits), lam_max=lam_max(trial.problem), twins=twins)


def _fit(method: str, lam: float, rho: float, result: SolveResult) -> Fit:
    return Fit(method, lam, rho, result.f, result.primal, result.gap, result.theta, result.n_iter)


def _best_cases(trial: Trial, settings: Settings, starts: list[SolveResult]) -> list[Fit]:
    """Return MiPMKL on the coarse grid, each from the classifier of SiPMKL of the same lam."""

    def step(part: Problem) -> SolveResult:
        return solve(part, tol=STEP)

    fits = []
    for lam, start in zip(settings.coarse_lams, starts, strict=True):
        problem = replace(trial.problem, lam=lam)
        for rho in settings.rhos:
            result = mipmkl(problem, rho, step, n_starts=1, max_rounds=ROUNDS, rng=trial.rng, known=start.f)
            fits.append(_fit("MiPMKL", lam, rho, result))
    return fits


def _twin(trial: Trial, lam: float, rho: float) -> dict[str, Any]:
    """Return how StPMKL(lam, rho) and SiPMKL(lam (1 - theta)) differ on the test rows, in sign and in value.

    Where the budget binds, lam (1 - theta) depends on rho alone: at twice that lam, theta has more digits than at 1.
    """
    budgeted = replace(trial.problem, budget=Budget(rho))
    rough = solve(replace(budgeted, lam=lam), tol=SHARP)
    if 0.0 < rough.theta < 1.0:
        lam = min(lam, 2.0 * lam * (1.0 - rough.theta))
    mine = solve(replace(budgeted, lam=lam), tol=SHARP)
    if not mine.theta < 1.0:  # f = 0 has no twin
        return {"rho": rho, "theta": mine.theta, "lam": 0.0, "differ": 0, "distance": 0.0}
    twin = solve(replace(trial.problem, lam=lam * (1.0 - mine.theta)), tol=SHARP)
    a, b = trial.values(mine.f, trial.test.X), (1.0 - mine.theta) * trial.values(twin.f, trial.test.X)
    differ = int(((a > 0.0) != (b > 0.0)).sum())
    distance = float(np.abs(a - b).max() / np.abs(a).max())
    return {"rho": rho, "theta": mine.theta, "lam": lam * (1.0 - mine.theta), "differ": differ, "distance": distance}
