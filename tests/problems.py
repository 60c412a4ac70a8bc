"""Small problems that every solver has to solve, and their optima by an independent conic solver.

``PROBLEMS`` maps names to builders; ``problem(name)`` and ``reference(name)`` build and solve once a session.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import cvxpy as cp
import numpy as np
from scipy.spatial.distance import cdist

from robustmkl import Budget, ChanceBudget, ProbabilityBudget, Problem
from robustmkl.kernels import Gaussian, KernelBank, KernelDictionary, Linear, Polynomial
from robustmkl.uncertainty import UncertaintySet
from sets import inner_maximum, members, nearest, risk, violation

H = 1.0 + float(np.sqrt(0.5 * np.log(1.0 / 0.05)))  # 1 + tau at epsilon = .05

PROBLEMS: dict[str, Callable[[], Problem]] = {}


def listed(build: Callable[[], Problem]) -> Callable[[], Problem]:
    """Put a builder on the list, under its name."""
    PROBLEMS[build.__name__.replace("_", " ")] = build
    return build


def listed_twice(build: Callable[[type[UncertaintySet]], Problem]) -> Callable[[type[UncertaintySet]], Problem]:
    """Put a builder on the list for the constraint (10), and for (8)."""
    name = build.__name__.replace("_", " ")
    PROBLEMS[f"p: {name}"] = lambda: build(ProbabilityBudget)
    PROBLEMS[f"chance: {name}"] = lambda: build(ChanceBudget)
    return build


@cache
def problem(name: str) -> Problem:
    """Return the problem of this name."""
    return PROBLEMS[name]()


# --- Ingredients --------------------------------------------------------------------------------


def table(n: int, d: int = 3, flips: float = 0.2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return n rows in [0, 1]^d and the labels of a curved boundary, some of them wrong, both classes present."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    score = X[:, 0] + np.sin(4.0 * X[:, -1])
    y = np.where(score > np.median(score), 1.0, -1.0)
    y[rng.random(n) < flips] *= -1.0
    y[:2] = 1.0, -1.0
    return X, y


def gaussians(X: np.ndarray, widths: tuple[float, ...] = (0.125, 0.25, 0.5, 1.0, 4.0)) -> np.ndarray:
    """Return the stacked Gram matrices of joint Gaussians."""
    squared = cdist(X, X, "sqeuclidean")
    return np.stack([np.exp(-squared / (2.0 * w * w)) for w in widths])


def columnwise(X: np.ndarray) -> np.ndarray:
    """Return one linear Gram matrix a column: rank one each."""
    return np.stack([np.outer(x, x) for x in X.T])


def plain(n: int = 30, **options) -> Problem:
    """Return five joint Gaussians on a noisy table."""
    X, y = table(n)
    return Problem.from_grams(gaussians(X), y, **options)


def from_dictionary(dictionary: KernelDictionary, X: np.ndarray, y: np.ndarray, **options) -> Problem:
    """Return the problem with the kernels of a dictionary."""
    return Problem(dictionary.fit(X).bank(X), y, np.ones(y.size), **options)


# --- The list: budgets --------------------------------------------------------------------------


@listed
def no_budget() -> Problem:
    return plain(lam=0.01)


@listed
def no_budget_no_intercept() -> Problem:
    return plain(lam=0.1, fit_intercept=False)


@listed
def budget_9() -> Problem:
    return plain(lam=0.1, rho=0.9)


@listed
def budget_7() -> Problem:
    return plain(lam=0.1, rho=0.7, fit_intercept=False)


@listed
def budget_5() -> Problem:
    return plain(lam=0.1, rho=0.5)


@listed
def budget_3() -> Problem:
    return plain(lam=0.01, rho=0.3)


@listed
def tiny_budget() -> Problem:
    return plain(20, lam=0.1, rho=1e-3)


@listed
def chance_constraint() -> Problem:
    budget = Budget.from_noise_level(0.2, epsilon=0.05, total=40.0)
    return plain(40, lam=0.1, rho=budget.rho, h=budget.h)


@listed
def high_bound_no_budget() -> Problem:
    return plain(20, lam=0.1, h=H)


@listed
def high_bound_small_budget() -> Problem:
    return plain(lam=0.1, rho=0.7, h=H, fit_intercept=False)


# --- Sample weights -----------------------------------------------------------------------------


@listed
def whole_weights() -> Problem:
    return plain(24, lam=0.1, rho=0.6, sample_weight=np.tile([1.0, 2.0, 3.0], 8))


@listed
def fractional_weights() -> Problem:
    return plain(24, lam=0.01, rho=0.9, sample_weight=np.random.default_rng(1).random(24) + 0.1, fit_intercept=False)


@listed
def hugely_different_weights() -> Problem:
    return plain(24, lam=0.1, rho=0.5, sample_weight=10.0 ** np.linspace(-4.0, 4.0, 24))


@listed
def weights_and_high_bound() -> Problem:
    return plain(24, lam=0.1, rho=1.2, h=H, sample_weight=np.random.default_rng(2).exponential(size=24) + 0.05)


# --- Rows ---------------------------------------------------------------------------------------


@listed
def rows_given_twice() -> Problem:
    X, y = table(15)
    return Problem.from_grams(gaussians(np.tile(X, (2, 1))), np.tile(y, 2), lam=0.1, rho=0.7)


@listed
def contradictory_rows() -> Problem:
    """Every row with both labels: f = 0, theta = 1, and the optimum is rho."""
    X, y = table(10)
    grams = gaussians(np.tile(X, (2, 1)))
    return Problem.from_grams(grams, np.concatenate([y, -y]), lam=0.1, rho=0.5, fit_intercept=False)


@listed
def contradictory_rows_and_intercept() -> Problem:
    X, y = table(10)
    return Problem.from_grams(gaussians(np.tile(X, (2, 1))), np.concatenate([y, -y]), lam=0.01, rho=0.8)


@listed
def one_contradictory_pair() -> Problem:
    X, y = table(20)
    X[1] = X[0]  # their labels are +1 and -1
    return Problem.from_grams(gaussians(X), y, lam=0.01, rho=0.8)


@listed
def separable() -> Problem:
    X = np.random.default_rng(3).random((20, 2))
    y = np.where(np.arange(20) % 2, 1.0, -1.0)
    X[:, 0] += 2.0 * y
    return Problem.from_grams(gaussians(X, (0.5, 2.0, 8.0)), y, lam=1e-3)


@listed
def one_row_of_a_class() -> Problem:
    X, y = table(12)
    y[:] = 1.0
    y[4] = -1.0
    return Problem.from_grams(gaussians(X), y, lam=0.01, rho=0.1)


@listed
def unbalanced_classes() -> Problem:
    """The budget lies above 2 h min(S+, S-) / S: with an intercept it cannot bind."""
    X, y = table(30)
    y[:] = 1.0
    y[:5] = -1.0
    return Problem.from_grams(gaussians(X), y, lam=0.01, rho=0.4)


@listed
def two_rows() -> Problem:
    return Problem.from_grams(gaussians(np.array([[0.0], [1.0]])), np.array([1.0, -1.0]), lam=0.1)


@listed
def two_rows_one_kernel_no_intercept() -> Problem:
    grams = gaussians(np.array([[0.0], [1.0]]), (1.0,))
    return Problem.from_grams(grams, np.array([1.0, -1.0]), lam=0.1, rho=0.6, fit_intercept=False)


# --- Kernels ------------------------------------------------------------------------------------


@listed
def one_kernel() -> Problem:
    X, y = table(30)
    return Problem.from_grams(gaussians(X, (0.3,)), y, lam=0.01, rho=0.8)


@listed
def duplicated_kernels() -> Problem:
    X, y = table(20)
    return Problem.from_grams(np.tile(gaussians(X, (0.25, 1.0)), (3, 1, 1)), y, lam=0.1, rho=0.7)


@listed
def rank_one_kernels() -> Problem:
    X, y = table(25, d=6)
    return Problem.from_grams(columnwise(X - 0.5), y, lam=0.01, rho=0.9)


@listed
def kernels_of_low_rank() -> Problem:
    _, y = table(20)
    factors = np.random.default_rng(4).normal(size=(4, 20, 2))
    return Problem.from_grams(factors @ factors.transpose(0, 2, 1), y, lam=0.1, rho=0.6, fit_intercept=False)


@listed
def badly_scaled_kernels() -> Problem:
    X, y = table(20)
    scales = np.array([1e4, 1.0, 1e-4])[:, None, None]
    return Problem.from_grams(scales * gaussians(X, (0.25, 0.5, 1.0)), y, lam=0.1, rho=0.8)


@listed
def large_kernels() -> Problem:
    return Problem.from_grams(1e4 * gaussians(table(20)[0]), table(20)[1], lam=0.1, fit_intercept=False)


@listed
def small_kernels() -> Problem:
    return Problem.from_grams(1e-4 * gaussians(table(20)[0]), table(20)[1], lam=0.1)


@listed
def a_constant_kernel() -> Problem:
    X, y = table(20)
    grams = np.concatenate([np.ones((1, 20, 20)), gaussians(X)])
    return Problem.from_grams(grams, y, lam=0.1, rho=0.7, fit_intercept=False)


@listed
def a_constant_kernel_and_intercept() -> Problem:
    X, y = table(20)
    return Problem.from_grams(np.concatenate([np.ones((1, 20, 20)), gaussians(X)]), y, lam=0.1)


@listed
def only_a_constant_kernel() -> Problem:
    _, y = table(9)
    return Problem.from_grams(np.ones((1, 9, 9)), y, lam=0.1, fit_intercept=False)


@listed
def a_zero_kernel() -> Problem:
    """A column without variation, scaled to 0, under a linear kernel."""
    X, y = table(20)
    X[:, 1] = 7.0
    return from_dictionary(KernelDictionary(Linear()), X, y, lam=0.1)


@listed
def gaussians_of_columns() -> Problem:
    X, y = table(40, d=1)
    return from_dictionary(KernelDictionary(Gaussian((0.25, 1.0))), X, y, lam=0.01, budget=Budget(0.8))


@listed
def gaussians_of_many_values() -> Problem:
    """More distinct values than nodes: the columns are interpolated."""
    X, y = table(60, d=2)
    return from_dictionary(KernelDictionary(Gaussian((0.5, 2.0))), X, y, lam=0.01, budget=Budget(0.7))


@listed
def several_families() -> Problem:
    X, y = table(25)
    X[:, 2] = np.round(4.0 * X[:, 2])  # few distinct values
    dictionary = KernelDictionary(
        (Linear(), [0]), (Polynomial(), [1]), (Gaussian((0.5,)), [2]), Linear(joint=True), Gaussian((0.25, 1.0), True)
    )
    return from_dictionary(dictionary, X, y, lam=0.1, budget=Budget(0.8), fit_intercept=False)


# --- The strength of the penalty ----------------------------------------------------------------


@listed
def penalty_1e_4() -> Problem:
    return plain(lam=1e-4, rho=0.9)


@listed
def penalty_1e_3() -> Problem:
    return plain(lam=1e-3, fit_intercept=False)


@listed
def penalty_1() -> Problem:
    return plain(lam=1.0, rho=0.7)


@listed
def penalty_10() -> Problem:
    return plain(lam=10.0)


# --- The constraints (10) and (8) ---------------------------------------------------------------


@listed_twice
def noise(Q) -> Problem:
    return plain(lam=0.1, budget=Q.from_noise_level(0.4, 0.05, 30.0))


@listed_twice
def noise_no_intercept(Q) -> Problem:
    return plain(lam=0.03, budget=Q.from_noise_level(0.45, 0.5, 30.0), fit_intercept=False)


@listed_twice
def no_noise(Q) -> Problem:
    return plain(lam=0.1, budget=Q.from_noise_level(0.0, 0.05, 30.0))


@listed_twice
def next_to_no_budget(Q) -> Problem:
    return plain(20, lam=0.1, budget=Q(1e-3, 0.5))


@listed_twice
def next_to_no_ball(Q) -> Problem:
    return plain(20, lam=0.1, budget=Q(0.6, 1e-3), fit_intercept=False)


@listed_twice
def no_ball(Q) -> Problem:
    return plain(20, lam=0.1, budget=Q(0.6, 0.0))


@listed_twice
def few_losses(Q) -> Problem:
    return plain(lam=1e-4, budget=Q(0.9, 0.5))


@listed_twice
def numbers_of_rows(Q) -> Problem:
    return plain(24, lam=0.1, budget=Q(0.4, 0.5), sample_weight=np.tile([1.0, 2.0, 3.0], 8))


@listed_twice
def weights_below_one(Q) -> Problem:
    s = np.random.default_rng(1).random(24) + 0.01
    return plain(24, lam=0.03, budget=Q(0.7, 0.8), sample_weight=s, fit_intercept=False)


@listed_twice
def very_different_weights(Q) -> Problem:
    return plain(24, lam=0.1, budget=Q(0.5, 1.0), sample_weight=10.0 ** np.linspace(-3.0, 3.0, 24))


@listed_twice
def two_rows_of_noise(Q) -> Problem:
    return Problem.from_grams(gaussians(np.array([[0.0], [1.0]])), np.array([1.0, -1.0]), 0.1, budget=Q(0.6, 1.0))


@listed_twice
def contradictions(Q) -> Problem:
    X, y = table(10)
    grams = gaussians(np.tile(X, (2, 1)))
    return Problem.from_grams(grams, np.concatenate([y, -y]), lam=0.1, budget=Q(0.5, 0.5), fit_intercept=False)


@listed_twice
def unequal_classes(Q) -> Problem:
    X, y = table(30)
    y[:] = 1.0
    y[:5] = -1.0
    return Problem.from_grams(gaussians(X), y, lam=0.01, budget=Q(0.7, 0.6))


@listed_twice
def families(Q) -> Problem:
    X, y = table(25)
    X[:, 2] = np.round(4.0 * X[:, 2])
    dictionary = KernelDictionary((Linear(), [0]), (Gaussian((0.25, 1.0)), [1, 2]), Gaussian((0.25, 1.0), True))
    return from_dictionary(dictionary, X, y, lam=0.1, budget=Q(0.4, 0.7))


# --- The values, from Gram matrices -------------------------------------------------------------


def grams_of(bank: KernelBank) -> np.ndarray:
    """Return all Gram matrices, stacked."""
    return np.stack([bank.gram(j) for j in range(bank.m)])


def primal_value(p: Problem, f: np.ndarray, norms: np.ndarray) -> float:
    """Return P at a function with values f on the rows and these norms."""
    return 0.5 * p.lam * float(np.sum(norms)) ** 2 + inner_maximum(p.budget, 1.0 - p.y * f, p.s) / p.s.sum()


def dual_value(p: Problem, alpha: np.ndarray) -> float:
    """Return D at a dual feasible alpha."""
    omega = p.s / p.s.sum()
    c = omega * alpha * p.y
    return float(omega @ alpha) - max(float(c @ K @ c) for K in grams_of(p.kernels)) / (2.0 * p.lam)


def dual_violation(p: Problem, alpha: np.ndarray) -> float:
    """Return by how much alpha leaves the dual feasible set, at most."""
    omega = p.s / p.s.sum()
    outside = float(violation(p.budget, alpha, p.s))
    return max(outside, abs(float(omega @ (alpha * p.y))) if p.fit_intercept else 0.0)


# --- The optimum, by cvxpy and Clarabel ---------------------------------------------------------


@dataclass(frozen=True)
class Reference:
    """An optimum: ``dual <= optimum <= primal``, evaluated at exactly feasible points.

    ``theta`` is the multiplier of the budget, ``f`` holds the values on the rows, with the intercept.
    """

    primal: float
    dual: float
    theta: float
    alpha: np.ndarray
    f: np.ndarray
    norms: np.ndarray

    @property
    def optimum(self) -> float:
        return 0.5 * (self.primal + self.dual)


@cache
def reference(name: str) -> Reference:
    """Return the optimum of a listed problem."""
    return solve_reference(problem(name))


def solve_reference(p: Problem) -> Reference:
    """Solve the primal and the dual, separately."""
    roots = [_root(K) for K in grams_of(p.kernels)]
    f, norms = _solve_primal(p, roots)
    alpha, theta = _solve_dual(p, roots)
    return Reference(primal_value(p, f, norms), dual_value(p, alpha), theta, alpha, f, norms)


def _root(K: np.ndarray) -> np.ndarray:
    """Return L with L L' = K."""
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-15 * max(values[-1], 1e-300)
    return vectors[:, kept] * np.sqrt(values[kept]) if kept.any() else np.zeros((K.shape[0], 1))


def _solve_primal(p: Problem, roots: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Minimise over f_j = L_j w_j (norm ||w_j||), b and theta, with the inner maximum in its dual form."""
    w = [cp.Variable(L.shape[1]) for L in roots]
    theta, b = cp.Variable(nonneg=True), cp.Variable() if p.fit_intercept else 0.0
    norms = [cp.norm(v) for v in w]
    f = sum(L @ v for L, v in zip(roots, w, strict=True)) + b
    losses = cp.pos(1.0 - cp.multiply(p.y, f))
    _clarabel(cp.Minimize(p.lam / 2.0 * cp.square(sum(norms)) + risk(p.budget, losses, p.s, theta)), [])
    return np.asarray(f.value), np.array([v.value for v in norms])


def _solve_dual(p: Problem, roots: list[np.ndarray]) -> tuple[np.ndarray, float]:
    """Maximise over alpha and t >= ||g_j||; return an exactly feasible alpha and the budget's multiplier."""
    omega = p.s / p.s.sum()
    alpha, t = cp.Variable(p.y.size), cp.Variable()
    constraints = members(p.budget, alpha, p.s)
    within = constraints[0]
    constraints += [cp.norm(L.T @ cp.multiply(omega * p.y, alpha)) <= t for L in roots]
    if p.fit_intercept:
        constraints.append((omega * p.y) @ alpha == 0.0)
    _clarabel(cp.Maximize(omega @ alpha - cp.square(t) / (2.0 * p.lam)), constraints)
    return _feasible(p, alpha.value), float(within.dual_value)


def _clarabel(objective: cp.Minimize | cp.Maximize, constraints: list[cp.Constraint]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how accurate the points are is tested, not believed
        tight = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12)
        cp.Problem(objective, constraints).solve(solver=cp.CLARABEL, max_iter=200, **tight)


def _feasible(p: Problem, alpha: np.ndarray) -> np.ndarray:
    """Return a point of the dual feasible set next to an almost feasible one."""
    omega = p.s / p.s.sum()
    alpha = nearest(p.budget, alpha, p.s)
    if not p.fit_intercept:
        return alpha
    masses = np.array([omega[p.y < 0] @ alpha[p.y < 0], omega[p.y > 0] @ alpha[p.y > 0]])
    factors = masses.min() / np.maximum(masses, 1e-300)
    return alpha * np.where(p.y > 0, factors[1], factors[0])
