"""SimpleMKL (Rakotomamonjy, Bach, Canu, Grandvalet, 2008): reduced gradient on the kernel weights, an SVM inside.

For problem (2), by ``(sum ||f_j||)^2 = min over d in the simplex of sum ||f_j||^2 / d_j``:

    min over d of  J(d) = max_alpha  h sum omega_i beta_i - (1 / 2 lam) beta~' (sum_j d_j K_j) beta~,

an SVM with the kernel ``sum_j d_j K_j``, whose derivative in d_j is ``-q_j / (2 lam)`` where alpha is unique. Where it
is not, as on a kernel of a column of two values alone, J has a kink at which the method can get stuck; the
certificate then says how far from the optimum. The algorithm that the paper compares with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.svm import SVC

from ..arrays import Floats
from ..memory import require
from ..problem import KernelFunction, Problem
from .driver import Iterates, Point

LINE_SEARCH = 15  # SVMs at most for one line search


@dataclass(frozen=True)
class Solution:
    """The SVM at kernel weights d: its objective J(d), its dual point, its constant and ``-q_j / (2 lam)``."""

    d: Floats
    J: float
    alpha: Floats
    intercept: float
    gradient: Floats


class SVM:
    """libsvm on weighted sums of the kernels.

    libsvm always has an intercept. Without one, each row is given a second time reflected through the origin
    (label and all kernel values change sign): the problem is then symmetric in b, so that b = 0 is optimal.
    """

    def __init__(self, problem: Problem, grams: Floats) -> None:
        self.problem, self.grams = problem, grams

    def __call__(self, d: Floats) -> Solution:
        problem, h = self.problem, self.problem.budget.h
        K = np.tensordot(d, self.grams, axes=1)
        C = h * problem.s / (problem.total * problem.lam)
        beta, intercept = self._fit(K, C)
        alpha = np.clip(beta * problem.lam * problem.total / problem.s, 0.0, h)
        q = problem.gradient_norms(alpha)
        J = float(np.dot(problem.s, alpha)) / problem.total - float(np.dot(d, q)) / (2.0 * problem.lam)
        return Solution(d, J, alpha, intercept, -q / (2.0 * problem.lam))

    def _fit(self, K: Floats, C: Floats) -> tuple[Floats, float]:
        y, n = self.problem.y, self.problem.kernels.n
        if not self.problem.fit_intercept:
            K, y, C = np.block([[K, -K], [-K, K]]), np.concatenate([y, -y]), np.concatenate([C, C]) / 2.0
        svm = SVC(C=1.0, kernel="precomputed", tol=1e-8, cache_size=500).fit(K, y, sample_weight=C)
        beta = np.zeros(y.size)
        beta[svm.support_] = np.abs(svm.dual_coef_[0])
        if self.problem.fit_intercept:
            return beta, float(svm.intercept_[0])
        return beta[:n] + beta[n:], 0.0


def simplemkl(problem: Problem) -> Iterates:
    """Yield the SVM solutions along the reduced gradient descent; end where no descent is left."""
    bank = problem.kernels
    require(8 * bank.m * bank.n**2, f"the {bank.m} Gram matrices that SimpleMKL works on", 'use "interior-point"')
    grams = np.stack([bank.gram(j) for j in range(bank.m)])
    svm = SVM(problem, grams)
    current = svm(np.full(problem.kernels.m, 1.0 / problem.kernels.m))
    while True:
        yield lambda: _point(problem, current)
        moved = _descend(svm, current)
        if moved.J >= current.J:
            return
        current = moved


def _point(problem: Problem, at: Solution) -> Point:
    """Return alpha and ``f_j = d_j g_j / lam``, ``g_j = (1/S) sum s_i alpha_i y_i k_j(x_i, .)``."""
    bank = problem.kernels
    z = bank.expand(bank.adjoint(problem.s * at.alpha * problem.y / problem.total))
    return Point(at.alpha, KernelFunction(bank.spread(at.d / problem.lam) * z, at.intercept))


def _direction(d: Floats, gradient: Floats) -> Floats:
    """Return the reduced gradient's descent direction: it sums to 0 and leaves zero weights that want to fall."""
    mu = int(np.argmax(d))
    reduced = gradient - gradient[mu]
    D = np.where((d <= 0.0) & (reduced > 0.0), 0.0, -reduced)
    D[mu] = 0.0
    D[mu] = -D.sum()
    return D


def _descend(svm: SVM, current: Solution) -> Solution:
    """Go along the direction while the largest admissible step still lowers J, then search the last stretch."""
    at, D = current, _direction(current.d, current.gradient)
    mu = int(np.argmax(current.d))
    least = max(1e-14 * np.abs(current.gradient).max(), 1e-12 * np.abs(D).max())  # below it D is what rounding left
    while np.abs(D).max() > least:
        falling = np.flatnonzero(D < 0.0)
        steps = -at.d[falling] / D[falling]
        leaving, largest = int(falling[np.argmin(steps)]), float(steps.min())
        edge = svm(_clean(at.d + largest * D))
        if edge.J >= at.J:
            return _search(svm, at, D, largest)
        at = edge
        if leaving == mu:  # the weight that takes up the others' changes is gone: choose another
            return at
        D[mu] += D[leaving]  # the weight that has reached zero stays there; the directions still sum to 0
        D[leaving] = 0.0
    return at


def _clean(d: Floats) -> Floats:
    d = np.where(d < 1e-12, 0.0, d)
    return np.asarray(d / d.sum())


def _search(svm: SVM, at: Solution, D: Floats, largest: float) -> Solution:
    """Minimise J between ``at`` and the largest step."""
    tried: list[Solution] = [at]

    def J(step: float) -> float:
        tried.append(svm(_clean(at.d + step * D)))
        return tried[-1].J

    minimize_scalar(J, bounds=(0.0, largest), method="bounded", options={"maxiter": LINE_SEARCH})
    return min(tried, key=lambda solution: solution.J)
