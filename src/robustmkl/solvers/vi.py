"""The paper's baseline: gradient descent and ascent for the variational inequality (Nemirovski, 1994)."""

from __future__ import annotations

import numpy as np

from ..problem import Problem
from .driver import Averages, Iterates

LARGEST = 1e100


def vi(problem: Problem, max_iter: int = 1000, gamma0: float = 1.0) -> Iterates:
    """Yield the uniform averages of simultaneous steps of size ``gamma0 / sqrt(max_iter)``.

    Descent in f along ``lam (sum ||f_j||) f_j / ||f_j|| + grad_fj L`` (a subgradient: 0 for the first term at
    f_j = 0), projected ascent in alpha along ``grad_alpha L``; both at the same point (f, alpha).
    """
    bank, y, s, S = problem.kernels, problem.y, problem.s, problem.total
    gamma = gamma0 / np.sqrt(max_iter)
    alpha, a, image, b = np.zeros(bank.n), np.zeros(bank.size), np.zeros(bank.size), 0.0
    averages = Averages(problem)
    while True:
        norms = np.sqrt(np.maximum(bank.inner(a, image), 0.0))
        pull = problem.lam * norms.sum() / np.where(norms > 0.0, norms, np.inf)
        decay = bank.spread(1.0 - gamma * pull)
        f = bank.forward(bank.collapse(image)) + b
        z = bank.expand(bank.adjoint(s * alpha * y / S))
        if problem.fit_intercept:
            b += gamma * float(np.dot(s * alpha, y)) / S
        alpha = problem.budget.project(alpha + gamma * (1.0 - y * f) / S, s)
        if not norms.max() < LARGEST:  # the steps are too long for this penalty
            return
        a = decay * a + gamma * z
        image = decay * image + gamma * bank.cores_times(z)
        averages.add(alpha, a, b)
        yield averages.point
