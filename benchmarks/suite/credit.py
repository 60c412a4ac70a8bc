"""The true gap of somebody else's solution, in its favour.

Whatever a rival returns, alpha is scaled to the multiple with the largest dual value, f to the multiple and the
intercept with the smallest primal value, and :func:`robustmkl.certificate` judges the pair. None of this counts as the
rival's time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize_scalar

from robustmkl import KernelFunction, Problem, certificate


def along_gradients(problem: Problem, alpha: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return coefficients of ``f_j = eta_j g_j``, ``g_j = (1/S) sum_i s_i alpha_i y_i k_j(x_i, .)``."""
    bank = problem.kernels
    return bank.spread(weights) * bank.expand(bank.adjoint(problem.s * alpha * problem.y / problem.total))


def best_multiple(problem: Problem, alpha: np.ndarray) -> np.ndarray:
    """Return the dual feasible point of largest dual value among the multiples of ``alpha``, restored."""
    top = problem.budget.h / max(float(np.abs(alpha).max(initial=0.0)), 1e-300)
    factor = minimize_scalar(lambda t: -problem.dual(t * alpha), bounds=(0.0, top), method="bounded").x
    return max((problem.restore(t * alpha) for t in (1.0, factor)), key=problem.dual)


def best_function(problem: Problem, coef: np.ndarray) -> KernelFunction:
    """Return ``c f + b`` with the c >= 0 and the b of smallest primal value."""
    values, norms = problem.evaluate(KernelFunction(coef))
    total, y, s = float(norms.sum()), problem.y, problem.s

    def primal(c: float, b: float) -> float:
        risk = problem.budget.support(1.0 - y * (c * values + b), s) / problem.total
        return 0.5 * problem.lam * (c * total) ** 2 + risk

    def intercept(c: float) -> float:
        if not problem.fit_intercept:
            return 0.0
        reach = 1.0 + c * float(np.abs(values).max())
        return _minimiser(lambda b: primal(c, b), -reach, reach)

    c = _minimiser(lambda c: primal(c, intercept(c)), 0.0, _largest(problem, total))
    best = min((1.0, c), key=lambda c: primal(c, intercept(c)))
    return KernelFunction(best * coef, intercept(best))


def _largest(problem: Problem, total: float) -> float:
    """Return a bound of c: ``lam/2 (c sum ||f_j||)^2`` alone must not exceed P(0) <= rho."""
    return float(np.sqrt(2.0 * problem.budget.rho / problem.lam)) / max(total, 1e-300)


def _minimiser(function, low: float, high: float) -> float:
    return float(minimize_scalar(function, bounds=(low, high), method="bounded", options={"xatol": 1e-10 * high}).x)


def true_gap(problem: Problem, alphas: Sequence[np.ndarray], coefs: Sequence[np.ndarray]) -> float:
    """Return the relative gap of the best of the alphas with the best of the functions."""
    alpha = max((best_multiple(problem, a) for a in alphas), key=problem.dual)
    f = min((best_function(problem, coef) for coef in coefs), key=problem.primal)
    primal, _, gap = certificate(problem, alpha, f)
    return gap / primal
