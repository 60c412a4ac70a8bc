"""How to add a kernel family, an explicit feature map, and a solver: each in a few lines, from the public parts."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import MinMaxScaler, SplineTransformer

from robustmkl import KernelFunction, Problem, StPMKLClassifier, solve
from robustmkl.datasets import load_uci
from robustmkl.kernels import FittedFamily, KernelDictionary, KernelFamily, Linear, Part, Size
from robustmkl.kernels.family import FeatureMap, FittedFeatures
from robustmkl.solvers import Point, Rule, run

X, Y = load_uci("heart", return_X_y=True)
X, Y = X[:120], Y[:120]

# --- a kernel family ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Laplacian(KernelFamily):
    """Kernels ``exp(-|x - x'|_1 / c)`` of several scales c."""

    scales: tuple[float, ...] = (0.1, 1.0)
    joint: bool = False

    def fit(self, X, label, exact=False):
        return FittedLaplacian(X, self.scales, tuple(f"laplacian({label}; c={c:g})" for c in self.scales))

    def size(self, n, d, exact=False):
        return Size(len(self.scales), n, identity=True, scratch=n * n)


class FittedLaplacian(FittedFamily):
    """No basis is known that these kernels share: B = I, and the cores are the Gram matrices."""

    entry_error = np.finfo(float).eps

    def __init__(self, rows, scales, names):
        self.rows, self.scales, self.names = rows, scales, names
        self.cores = laplacians(rows, rows, scales)

    def basis(self, X):
        return None

    def part(self, a):
        alive = np.flatnonzero(a.any(axis=1))
        return LaplacianPart(self.rows, [self.scales[j] for j in alive], a[alive])


@dataclass(frozen=True)
class LaplacianPart(Part):
    """``x -> sum_i k_j(x, x_i) a_ji``."""

    rows: np.ndarray
    scales: list
    a: np.ndarray

    def contributions(self, X):
        return np.einsum("jni,ji->nj", laplacians(X, self.rows, self.scales), self.a)


def laplacians(X, X2, scales):
    return np.exp(-cdist(X, X2, "cityblock") / np.array(scales)[:, None, None])


def laplacian_grams(A, B):
    scaler = MinMaxScaler().fit(X)
    A, B = scaler.transform(A), scaler.transform(B)
    return np.stack([laplacian_kernel(A[:, [j]], B[:, [j]], 1.0 / c) for j in (0, 3, 7) for c in (0.1, 1.0)])


# --- a family with explicit features ------------------------------------------------------------


class Splines(FeatureMap):
    """Cubic B-splines on [0, 1], of one column."""

    def __init__(self):
        knots = np.linspace(0.0, 1.0, 6)[:, None]
        self.transformer = SplineTransformer(degree=3, knots=knots, extrapolation="constant").fit(knots)

    def __call__(self, X):
        return self.transformer.transform(X)


@dataclass(frozen=True)
class Spline(KernelFamily):
    """The linear kernel of a column's B-splines."""

    joint: bool = False

    def fit(self, X, label, exact=False):
        return FittedFeatures(Splines(), np.eye(8)[None], (f"spline({label})",))

    def size(self, n, d, exact=False):
        return Size(1, 8, identity=False)


def spline_grams(A, B):
    scaler, splines = MinMaxScaler().fit(X), Splines()
    A, B = scaler.transform(A), scaler.transform(B)
    return np.stack([linear_kernel(splines(A[:, [j]]), splines(B[:, [j]])) for j in (0, 3, 7)])


FAMILIES = pytest.mark.parametrize(
    ("family", "grams"), [(Laplacian(), laplacian_grams), (Spline(), spline_grams)], ids=["laplacian", "spline"]
)


@FAMILIES
def test_family_equals_its_gram_matrices(family, grams):
    dictionary = KernelDictionary((family, [0, 3, 7])).fit(X)
    bank = dictionary.bank(X)
    np.testing.assert_allclose([bank.gram(j) for j in range(bank.m)], grams(X, X), atol=1e-12)
    a = np.random.default_rng(0).normal(size=bank.size)
    wanted = bank.forward(bank.collapse(bank.cores_times(a)))
    np.testing.assert_allclose(dictionary.expansion(bank.blocks(a))(X), wanted, atol=1e-10)


@FAMILIES
def test_family_trains_the_classifier_of_its_gram_matrices(family, grams):
    by_columns = StPMKLClassifier(lam=0.05, rho=0.8, tol=1e-9, kernels=KernelDictionary((family, [0, 3, 7])))
    by_columns.fit(X, Y)
    by_grams = StPMKLClassifier(lam=0.05, rho=0.8, tol=1e-9, kernels="precomputed").fit(grams(X, X), Y)
    assert by_columns.primal_ == pytest.approx(by_grams.primal_, rel=1e-8)
    np.testing.assert_allclose(by_columns.kernel_weights_, by_grams.kernel_weights_, atol=1e-3)
    new = X + 0.1
    np.testing.assert_allclose(by_columns.decision_function(new), by_grams.decision_function(grams(new, X)), atol=1e-3)


@FAMILIES
def test_family_is_certified(family, grams):
    model = StPMKLClassifier(rho=0.8, kernels=KernelDictionary(family, Linear(joint=True))).fit(X, Y)
    again = model.certificate(X, Y)
    assert again.gap <= 1e-4 * again.primal
    assert again.primal == pytest.approx(model.primal_, abs=1e-9)


@FAMILIES
def test_family_works_in_cross_validation(family, grams):
    scores = cross_val_score(StPMKLClassifier(kernels=KernelDictionary(family)), X, Y, cv=3)
    assert scores.mean() > 0.7


# --- a solver -----------------------------------------------------------------------------------


def supergradient(problem):
    """Yield the averages of a projected supergradient method on the dual.

    At alpha the minimiser over f is ``g_j / lam`` on the kernel of largest ``||g_j||``; a step goes along
    ``1 - y f`` and is projected on Q. The averages of alpha and of f approach the optimum like ``1 / sqrt(T)``.
    """
    bank, y, s, S = problem.kernels, problem.y, problem.s, problem.total
    alpha = problem.budget.project(np.ones(bank.n), s)
    mean_alpha, mean_coef, T = np.zeros(bank.n), np.zeros(bank.size), 0
    while True:
        largest = problem.gradient_norms(alpha).argmax()
        chosen = np.where(np.arange(bank.m) == largest, 1.0 / problem.lam, 0.0)
        coef = bank.spread(chosen) * bank.expand(bank.adjoint(s * alpha * y / S))
        f = bank.forward(bank.collapse(bank.cores_times(coef)))
        mean_alpha, mean_coef, T = mean_alpha + alpha, mean_coef + coef, T + 1
        yield lambda: Point(mean_alpha / T, KernelFunction(mean_coef / T))
        alpha = problem.budget.project(alpha + 0.3 * (1.0 - y * f) / sqrt(T), s)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = np.where(np.unique(Y)[1] == Y, 1.0, -1.0)
    s = rng.integers(1, 3, y.size).astype(float)
    return Problem.from_grams(laplacian_grams(X, X), y, lam=0.2, rho=0.8, sample_weight=s, fit_intercept=False)


def test_solver_is_certified_by_the_driver(problem):
    result = run(problem, supergradient(problem), Rule(tol=0.02, max_iter=20_000, every=50))
    best = solve(problem, tol=1e-8)
    assert result.converged
    assert result.gap <= 0.02 * result.primal
    assert result.dual <= best.primal + 1e-12
    assert best.dual <= result.primal + 1e-12


def test_solver_cannot_call_itself_converged(problem):
    result = run(problem, supergradient(problem), Rule(tol=1e-12, max_iter=10), history=True)
    assert not result.converged
    assert result.n_iter == len(result.history) == 10
    assert result.message.startswith("Stopped at the iteration limit")


def test_solver_that_yields_nonsense_is_not_believed(problem):
    nonsense = Point(np.full(problem.kernels.n, 1e3), KernelFunction(np.ones(problem.kernels.size)))
    result = run(problem, iter([lambda: nonsense] * 3), Rule(max_iter=5))
    assert not result.converged
    assert problem.budget.contains(result.alpha, problem.s)
    assert result.primal - result.dual == pytest.approx(result.gap)
    assert result.dual <= solve(problem).primal
