"""Theorem 1, Lemma 1, Proposition 1 and the relaxation (9), measured on a table with a known noise level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Floats
from ..problem import KernelFunction
from ..solvers import solve
from ..theory import chance_bound, generalization_bound, mean_correctness_bound, relaxed_chance_bound
from ..uncertainty import ProbabilityBudget
from .settings import Key, Settings
from .trial import Trial

EPSILON = DELTA = 0.05
LAMS = (0.1, 0.01)
BLOCK = 10  # rows that share one coin
CHUNK = 1000  # simulations at once

Draw = Callable[[np.random.Generator, int, int, float], Floats]


def statements(key: Key, settings: Settings) -> dict[str, Any]:
    """Return the run: the statements for the solutions of (10), the problem that Theorem 1 is about."""
    trial = Trial(key)
    fits = [_solution(trial, lam, key.noise) for lam in LAMS]
    theorem = [_theorem_1(trial, f, lam, key.noise) for f, lam in zip(fits, LAMS, strict=True)]
    losses, rng = _losses(trial, fits[0]), trial.rng
    lemma = {name: _lemma_1(losses, key.noise, draw, rng, settings.simulations) for name, draw in DRAWS.items()}
    n = losses.size
    proposition = {name: _proposition_1(n, key.noise, draw, rng, settings.simulations) for name, draw in DRAWS.items()}
    return {
        "key": list(key),
        "theorem 1": theorem,
        "lemma 1": lemma,
        "proposition 1": proposition,
        "bounds": _bounds(losses, key.noise, rng, settings.simulations),
    }


def _solution(trial: Trial, lam: float, q: float) -> KernelFunction:
    budget = ProbabilityBudget.from_noise_level(q, EPSILON, trial.problem.total)
    return solve(replace(trial.problem, lam=lam, budget=budget)).f


def _losses(trial: Trial, f: KernelFunction) -> Floats:
    return np.maximum(0.0, 1.0 - trial.problem.y * trial.problem.evaluate(f)[0])


def _theorem_1(trial: Trial, f: KernelFunction, lam: float, q: float) -> dict[str, float]:
    """Return the two terms of the bound, and the hinge loss on the test rows by their clean labels."""
    bound = generalization_bound(_losses(trial, f), q, EPSILON, lam, DELTA)
    measured = np.maximum(0.0, 1.0 - trial.test.clean * trial.values(f, trial.test.X)).mean()
    return {"lam": lam, "empirical": bound.empirical, "complexity": bound.complexity, "measured": float(measured)}


# -- label correctness, by chance: one row a simulation -----------------------------------------------------------


def _independent(rng: np.random.Generator, count: int, n: int, p: float) -> Floats:
    return (rng.random((count, n)) < p).astype(np.float64)


def _blocks(rng: np.random.Generator, count: int, n: int, p: float) -> Floats:
    """Let rows be right or wrong by tens: one annotator each, say."""
    return np.repeat(_independent(rng, count, -(-n // BLOCK), p), BLOCK, axis=1)[:, :n]


def _one_coin(rng: np.random.Generator, count: int, n: int, p: float) -> Floats:
    return np.repeat(_independent(rng, count, 1, p), n, axis=1)


DRAWS: dict[str, Draw] = {"independent": _independent, "blocks of 10": _blocks, "one coin": _one_coin}


def _simulate(draw: Draw, weights: Floats, p: float, rng: np.random.Generator, count: int) -> Floats:
    """Return ``sum_i xi_i weights_i`` of many draws."""
    sizes = [min(CHUNK, count - done) for done in range(0, count, CHUNK)]
    return np.concatenate([draw(rng, size, weights.size, p) @ weights for size in sizes])


def _lemma_1(losses: Floats, q: float, draw: Draw, rng: np.random.Generator, count: int) -> float:
    """Return how often ``(1/n) sum xi_i l_i`` exceeds the t of eq. (8)."""
    t = chance_bound(losses, np.full(losses.size, 1.0 - q), EPSILON)
    return float((_simulate(draw, losses / losses.size, 1.0 - q, rng, count) > t * (1.0 + 1e-12)).mean())


def _proposition_1(n: int, q: float, draw: Draw, rng: np.random.Generator, count: int) -> float:
    """Return how often the mean of the p_i exceeds its bound, for p_i in {0, 1}: the widest they can scatter."""
    bound = mean_correctness_bound(q, n, EPSILON)
    return float((_simulate(draw, np.full(n, 1.0 / n), 1.0 - q, rng, count) > bound * (1.0 + 1e-12)).mean())


def _bounds(losses: Floats, q: float, rng: np.random.Generator, count: int) -> dict[str, float]:
    """Return t by (8) and (9), the least t of independent errors, and the mean loss, which is never exceeded."""
    p = np.full(losses.size, 1.0 - q)
    means = _simulate(_independent, losses / losses.size, 1.0 - q, rng, count)
    return {
        "(8)": chance_bound(losses, p, EPSILON),
        "(9)": relaxed_chance_bound(losses, p, EPSILON),
        "least": float(np.quantile(means, 1.0 - EPSILON)),
        "certain": float(losses.mean()),
    }
