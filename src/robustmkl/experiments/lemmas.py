"""Lemmas 2 and 3 for many problems at once: one column each."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats


def project(v: Floats, bounds: Floats, budgets: Floats) -> Floats:
    """Project each column on ``0 <= alpha <= bounds``, ``sum alpha <= budget``: Lemma 2, exactly."""
    alpha: Floats = np.clip(v, 0.0, bounds)
    over = np.flatnonzero(alpha.sum(axis=0) > budgets)
    if over.size:
        v, bounds = v[:, over], bounds[:, over]
        alpha[:, over] = np.clip(v - roots_of_12(v, bounds, budgets[over]), 0.0, bounds)
    return alpha


def roots_of_12(v: Floats, bounds: Floats, budgets: Floats) -> Floats:
    """Solve eq. (12) in each column: among the sorted points where a row leaves a bound, then linearly."""
    n = v.shape[0]
    points = np.concatenate([v - bounds, v])
    order = np.argsort(points, axis=0, kind="stable")
    points = np.take_along_axis(points, order, axis=0)
    slopes = np.cumsum(np.where(order < n, -1.0, 1.0), axis=0)
    falls = np.cumsum(slopes[:-1] * np.diff(points, axis=0), axis=0)
    values = bounds.sum(axis=0) + np.concatenate([np.zeros((1, v.shape[1])), falls])
    last = (values > budgets).sum(axis=0)  # the first breakpoint at or below the budget
    columns = np.arange(v.shape[1])
    lo, hi = points[np.maximum(last - 1, 0), columns], points[np.minimum(last, 2 * n - 1), columns]
    mid = 0.5 * (lo + hi)
    upper = v - mid >= bounds
    free = ~upper & (v - mid > 0.0)
    weight = free.sum(axis=0)
    # On that piece the rows between the bounds are known: solve its linear equation without cumulated error.
    eta = ((v * free).sum(axis=0) + (bounds * upper).sum(axis=0) - budgets) / np.maximum(weight, 1)
    return np.asarray(np.where(weight > 0, np.clip(eta, lo, hi), hi))


def shrinkage(norms: Floats, steps: Floats) -> Floats:
    """Return the factors of Lemma 3 for each column of norms, ``steps = gamma lam``."""
    ordered = -np.sort(-norms, axis=0)
    mus = np.cumsum(ordered, axis=0) / (1.0 + steps * np.arange(1, norms.shape[0] + 1)[:, None])
    alive = (ordered > steps * mus).sum(axis=0)  # the k largest norms stay positive
    mu = np.where(alive > 0, mus[np.maximum(alive - 1, 0), np.arange(norms.shape[1])], np.inf)
    kept = np.maximum(norms - steps * mu, 0.0)
    return np.divide(kept, norms, out=np.zeros_like(norms), where=norms > 0.0)
