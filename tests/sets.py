"""The sets of (11), (10) and (8) and what they cost, from the formulas of the paper; none of the package's code."""

import cvxpy as cp
import numpy as np

from robustmkl import Budget, ProbabilityBudget


def largest(losses, s, share):
    """Return the sum of the largest losses up to a share of the weight: the least of its dual's values at the kinks."""
    kinks = np.append(np.maximum(losses, 0.0), 0.0)
    return float(np.min(share * s.sum() * kinks + np.maximum(losses[None] - kinks[:, None], 0.0) @ s))


def inner_maximum(budget, v, s):
    """Return S times the second term of the problem, as a function of ``v_i = 1 - y_i f(x_i)``."""
    losses = np.maximum(v, 0.0)
    if isinstance(budget, Budget):
        return budget.h * largest(losses, s, budget.rho / budget.h)
    spread = s @ losses if isinstance(budget, ProbabilityBudget) else np.sqrt(s @ losses**2)
    return largest(losses, s, budget.rho) + budget.tau * float(spread)


def risk(budget, losses, s, theta):
    """Return the second term of the problem in cvxpy, to be minimised over ``theta >= 0`` too."""
    omega = s / s.sum()
    if isinstance(budget, Budget):
        return budget.rho * theta + budget.h * (omega @ cp.pos(losses - theta))
    worst = budget.rho * theta + omega @ cp.pos(losses - theta)
    if isinstance(budget, ProbabilityBudget):
        return worst + budget.tau * (omega @ losses)
    return worst + budget.tau / np.sqrt(s.sum()) * cp.norm(cp.multiply(np.sqrt(omega), losses))


def members(budget, alpha, s):
    """Return the constraints of the set in cvxpy, that of the budget first."""
    omega = s / s.sum()
    if isinstance(budget, Budget):
        return [omega @ alpha <= budget.rho, alpha >= 0.0, alpha <= budget.h]
    if isinstance(budget, ProbabilityBudget):
        tau = budget.tau
        return [omega @ cp.pos(alpha - tau) <= budget.rho, alpha >= 0.0, alpha <= 1.0 + tau]
    near = cp.Variable(s.size)
    distance = np.sqrt(s.sum()) * cp.norm(cp.multiply(np.sqrt(omega), alpha - near))
    return [omega @ near <= budget.rho, near >= 0.0, near <= 1.0, alpha >= 0.0, distance <= budget.tau]


def bisect(v, s, share, low, high):
    """Return ``clip(v - eta, low, high)`` with the least ``eta >= 0`` for which its excess over low meets the share."""

    def at(eta):
        return np.clip(v - eta, low, high)

    def fits(eta):
        return float(s @ (at(eta) - low)) <= share * s.sum()

    lo, hi = 0.0, max(float(v.max()) - low, 0.0)
    if fits(0.0):
        return at(0.0)
    for _ in range(200):
        eta = 0.5 * (lo + hi)
        lo, hi = (lo, eta) if fits(eta) else (eta, hi)
    return at(hi)


def nearest(budget, v, s):
    """Return the projection in the metric s, by bisection."""
    if isinstance(budget, Budget):
        return bisect(v, s, budget.rho, 0.0, budget.h)
    if isinstance(budget, ProbabilityBudget):
        return np.where(v > budget.tau, bisect(v, s, budget.rho, budget.tau, 1.0 + budget.tau), np.maximum(v, 0.0))
    v = np.maximum(v, 0.0)
    core = bisect(v, s, budget.rho, 0.0, 1.0)
    distance = float(np.sqrt(s @ (v - core) ** 2))
    return core + min(1.0, budget.tau / max(distance, 1e-300)) * (v - core)


def violation(budget, alpha, s):
    """Return by how much alpha leaves the set, at most."""
    if isinstance(budget, Budget):
        return max(-alpha.min(), (alpha - budget.h).max(), s @ alpha / s.sum() - budget.rho)
    if isinstance(budget, ProbabilityBudget):
        above = np.maximum(alpha - budget.tau, 0.0)
        return max(-alpha.min(), above.max() - 1.0, s @ above / s.sum() - budget.rho)
    distance = np.sqrt(s @ (alpha - bisect(alpha, s, budget.rho, 0.0, 1.0)) ** 2)
    return max(-alpha.min(), (distance - budget.tau) / np.sqrt(s.sum()))
