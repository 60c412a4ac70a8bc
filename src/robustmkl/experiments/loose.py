"""A trial under the paper's stopping rule: Algorithm 1 until the gap is 1e-2, or for 1000 iterations.

MiPMKL has no duality gap of its own. Its f-steps are done by Algorithm 1 under the same rule, each from the one before,
and share the 1000 iterations in :data:`ROUNDS` rounds, after the SiPMKL of the same lam that they begin with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats
from ..solvers.alternating import best_case
from .batched import Columns, Outcome, batched_amp
from .record import Fit, lines, record
from .settings import Key, Settings
from .trial import Trial

ROUNDS = 4


def loose(key: Key, settings: Settings) -> dict[str, Any]:
    """Return the run: the three methods on the coarse grid."""
    trial = Trial(key)
    lams = np.repeat(settings.coarse_lams, len(settings.rhos))
    rhos = np.tile(settings.rhos, len(settings.coarse_lams))
    columns = Columns(lams, rhos, np.ones((trial.problem.kernels.n, lams.size)))
    worst = batched_amp(trial.problem, columns, settings.gap, settings.max_iter)
    names = np.where(rhos == 1.0, "SiPMKL", "StPMKL")
    fits = [_fit(str(name), *pair) for name, *pair in zip(names, lams, rhos, worst, strict=True)]
    ordinary = worst[:: len(settings.rhos)]  # rho = 1 comes first
    fits += _best_cases(trial, settings, lams, rhos, [o for o in ordinary for _ in settings.rhos])
    return record(key, trial, lines(trial, fits))


def _fit(method: str, lam: float, rho: float, outcome: Outcome) -> Fit:
    return Fit(method, lam, rho, outcome.f, outcome.primal, outcome.gap, 0.0, outcome.n_iter)


def _best_cases(trial: Trial, settings: Settings, lams: Floats, rhos: Floats, starts: list[Outcome]) -> list[Fit]:
    """Alternate between p and f in all columns at once; columns whose p stays are done."""
    now, spent = list(starts), np.zeros(lams.size, dtype=np.intp)
    p = [_p_step(trial, outcome, rho) for outcome, rho in zip(now, rhos, strict=True)]
    left = np.arange(lams.size)
    for _ in range(ROUNDS):
        part = Columns(lams[left], np.ones(left.size), np.stack([p[c] for c in left], axis=1))
        start = np.stack([now[c].alpha for c in left], axis=1), np.stack([now[c].f.coef for c in left], axis=1)
        outcomes = batched_amp(trial.problem, part, settings.gap, max(1, settings.max_iter // ROUNDS), start=start)
        moved = []
        for c, outcome in zip(left, outcomes, strict=True):
            now[c], spent[c] = outcome, spent[c] + outcome.n_iter
            before, p[c] = p[c], _p_step(trial, outcome, rhos[c])
            moved.append(not np.array_equal(before, p[c]))
        left = left[np.array(moved)]
        if left.size == 0:
            break
    totals = [outcome._replace(n_iter=int(n)) for outcome, n in zip(now, spent, strict=True)]
    return [_fit("MiPMKL", *triple) for triple in zip(lams, rhos, totals, strict=True)]


def _p_step(trial: Trial, outcome: Outcome, rho: float) -> Floats:
    problem = trial.problem
    losses = np.maximum(0.0, 1.0 - problem.y * problem.evaluate(outcome.f)[0])
    return best_case(losses, problem.s, rho)
