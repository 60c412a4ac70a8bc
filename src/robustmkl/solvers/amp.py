"""Algorithm 1 of the paper: the accelerated mirror prox method, line by line."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..problem import Problem
from .driver import Averages, Iterates, Point


def step_size(problem: Problem) -> float:
    """Return gamma of line 1: ``sqrt(S / (2 sum_j kappa_j))``, ``kappa_j = max_i k_j(x_i, x_i)``.

    For unit diagonals and unit weights it is the ``sqrt(n / (2m))`` of the paper. An intercept counts as one
    more kernel, constantly 1.
    """
    kappa = float(problem.kernels.diagonal_bound().sum()) + problem.fit_intercept
    return float(np.sqrt(problem.total / (2.0 * kappa))) if kappa > 0.0 else 1.0


def amp(problem: Problem, start: Point | None = None) -> Iterates:
    """Yield the averages that Algorithm 1 outputs after T = 1, 2, .. iterations.

    Each f_j is held by its own coefficients ``a_j``: line 5 shrinks each kernel by its own factor, so that one
    coefficient vector for all kernels, as the paper remarks after Lemma 3, does not suffice.
    """
    bank, y, s, S = problem.kernels, problem.y, problem.s, problem.total
    project, gamma = problem.budget.project, step_size(problem)  # line 1
    beta, a, b = _initial(problem, start)  # line 2
    image = bank.cores_times(a)  # C_j a_j, carried along: one product with the cores an iteration
    f = bank.forward(bank.collapse(image)) + b
    averages = Averages(problem)
    while True:  # line 3
        alpha = project(beta + gamma * (1.0 - y * f) / S, s)  # line 4, Lemma 2
        # Line 5: f_hat = f - gamma grad_f L(f, alpha), then the prox of gamma R (Lemma 3).
        z = bank.expand(bank.adjoint(s * alpha * y / S))
        a += gamma * z
        image += gamma * bank.cores_times(z)
        norms = np.sqrt(np.maximum(bank.inner(a, image), 0.0))
        shrink = bank.spread(problem.penalty.prox(norms, gamma))
        a *= shrink
        image *= shrink
        if problem.fit_intercept:
            b += gamma * float(np.dot(s * alpha, y)) / S
        f = bank.forward(bank.collapse(image)) + b
        beta = project(beta + gamma * (1.0 - y * f) / S, s)  # line 6, Lemma 2
        averages.add(alpha, a, b)
        yield averages.point  # line 8


def _initial(problem: Problem, start: Point | None) -> tuple[Floats, Floats, float]:
    """Return beta_0, f^0 (its coefficients) and b: zeros as in line 2, or a warm start."""
    if start is None:
        return np.zeros(problem.kernels.n), np.zeros(problem.kernels.size), 0.0
    return start.alpha.copy(), start.f.coef.copy(), start.f.intercept


def theorem_2(problem: Problem, point: Point, T: int) -> float:
    """Return the bound of Theorem 2 on the gap of the averages after ``T`` iterations.

    ``(||f*||^2 + ||alpha*||^2) / (2 gamma T)`` with ``f* = argmin_f F(f, alpha_T)``, concentrated on a kernel of
    largest gradient, and ``alpha* = argmax over Q of F(f_T, .)``. It is a statement on the problem without
    intercept: with one, the minimum over b is -inf unless ``sum s alpha y = 0``.
    """
    if problem.fit_intercept:
        raise ValueError("Theorem 2 is about the problem without intercept: use fit_intercept=False.")
    f_squared = float(problem.gradient_norms(point.alpha).max()) / problem.lam**2
    values, _ = problem.evaluate(point.f)
    best = problem.budget.maximiser(1.0 - problem.y * values, problem.s)
    return (f_squared + float(np.dot(problem.s, best * best))) / (2.0 * step_size(problem) * T)
