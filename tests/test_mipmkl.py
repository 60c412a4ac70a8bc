"""MiPMKL: each step against scipy and brute force, and what an alternation can and cannot promise."""

from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.metrics.pairwise import rbf_kernel

from robustmkl import KernelFunction, MiPMKLClassifier, Problem, SimpleMKLClassifier, solve
from robustmkl.datasets import load_uci
from robustmkl.kernels import Gaussian, KernelDictionary, Linear
from robustmkl.noise import flip_labels
from robustmkl.solvers.alternating import best_case, mipmkl, objective

SMALL = KernelDictionary(Gaussian((0.25, 1.0)), Linear(joint=True))
RHOS = [0.3, 0.55, 0.8, 1.0]


def toy(n=14, seed=0, fit_intercept=True, lam=0.05, weights=None):
    """A problem with two kernels and some wrong labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    K = np.stack([rbf_kernel(X, gamma=2.0), X @ X.T])
    return Problem.from_grams(K, y, lam, fit_intercept=fit_intercept, sample_weight=weights)


def tight(problem):
    return solve(problem, tol=1e-9)


def risk(losses, s, p):
    return float(s @ (p * losses + 1.0 - p))


@pytest.fixture(scope="module")
def noisy():
    X, y = load_uci("heart", return_X_y=True)
    return X[:50], flip_labels(y[:50], 0.2, random_state=0)[0]


# --- the p-step ---------------------------------------------------------------------------------


@st.composite
def weighted_losses(draw):
    n = draw(st.integers(1, 12))
    losses = draw(
        st.lists(st.one_of(st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.floats(0.0, 3.0)), min_size=n, max_size=n)
    )
    s = draw(st.lists(st.floats(0.1, 4.0), min_size=n, max_size=n))
    return np.array(losses), np.array(s), draw(st.floats(0.05, 1.0))


@settings(deadline=None)
@given(weighted_losses())
def test_p_step_is_the_linear_program(case):
    losses, s, rho = case
    p = best_case(losses, s, rho)
    program = linprog(s * (losses - 1.0), A_ub=s[None], b_ub=[rho * s.sum()], bounds=(0.0, 1.0))
    assert np.all((p >= 0.0) & (p <= 1.0))
    assert s @ p <= rho * s.sum() * (1.0 + 1e-12)
    assert s @ (p * (losses - 1.0)) == pytest.approx(program.fun, abs=1e-6)  # that of linprog


@pytest.mark.parametrize("size", range(1, 8))
def test_p_step_is_the_best_subset(size):
    """With unit weights and a whole number rho n a best p is a subset of the rows."""
    losses, s = np.random.default_rng(size).exponential(size=7), np.ones(7)
    subsets = [list(c) for k in range(size + 1) for c in combinations(range(7), k)]
    values = [risk(losses, s, np.isin(np.arange(7), c).astype(float)) for c in subsets]
    assert risk(losses, s, best_case(losses, s, size / 7.0)) == pytest.approx(min(values))


def test_p_step_leaves_out_losses_above_one():
    np.testing.assert_array_equal(best_case(np.array([0.2, 1.5, 0.9, 1.0]), np.ones(4), 1.0), [1.0, 0.0, 1.0, 0.0])


def test_p_step_takes_the_smallest_losses_first():
    np.testing.assert_allclose(best_case(np.array([0.2, 0.0, 0.9, 0.5]), np.ones(4), 0.625), [1.0, 1.0, 0.0, 0.5])


# --- the f-step ---------------------------------------------------------------------------------


def f_step(problem, p):
    """Solve min over f of ``lam/2 (sum ||f_j||)^2 + (1/S) sum s (p l + 1 - p)`` with cvxpy."""
    n, roots = problem.kernels.n, []
    for j in range(problem.kernels.m):
        values, vectors = np.linalg.eigh(problem.kernels.gram(j))
        roots.append(vectors * np.sqrt(np.maximum(values, 0.0)))
    w = [cp.Variable(n) for _ in roots]
    b = cp.Variable() if problem.fit_intercept else 0.0
    losses = cp.pos(1.0 - cp.multiply(problem.y, sum(R @ v for R, v in zip(roots, w, strict=True)) + b))
    weights = problem.s * p / problem.total
    penalty = 0.5 * problem.lam * cp.square(sum(cp.norm(v) for v in w))
    program = cp.Problem(cp.Minimize(penalty + weights @ losses + problem.s @ (1.0 - p) / problem.total))
    return program.solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_dual_and_primal_enclose_the_optimal_f_step(rho, fit_intercept, weighted):
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 14) if weighted else None
    problem = toy(fit_intercept=fit_intercept, weights=weights)
    result = mipmkl(problem, rho, tight, n_starts=2)
    optimum = f_step(problem, result.p)
    assert result.dual <= optimum + 1e-7
    assert optimum - 1e-7 <= result.primal
    assert result.gap == pytest.approx(result.primal - result.dual)
    assert result.gap <= 1e-6


@pytest.mark.parametrize("rho", RHOS)
def test_primal_is_the_objective_of_f_and_p(rho):
    problem = toy()
    result = mipmkl(problem, rho, tight)
    K = np.stack([problem.kernels.gram(j) for j in range(2)])
    a = result.f.coef.reshape(2, 14)
    norms = np.sqrt(np.einsum("ji,jik,jk->j", a, K, a))
    losses = np.maximum(0.0, 1.0 - problem.y * (np.einsum("jik,jk->i", K, a) + result.intercept))
    by_hand = 0.025 * norms.sum() ** 2 + risk(losses, np.ones(14), result.p) / 14.0
    assert result.primal == pytest.approx(by_hand, abs=1e-9)
    np.testing.assert_allclose(result.norms, norms, atol=1e-9)


def test_objective_at_zero_is_one():
    problem = toy()
    for p in (np.ones(14), np.zeros(14), np.linspace(0.0, 1.0, 14)):
        assert objective(problem, KernelFunction(np.zeros(28)), p) == pytest.approx(1.0)


# --- the alternation ----------------------------------------------------------------------------


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tol", [1e-2, 1e-9])
def test_objective_never_rises(rho, seed, tol):
    result = mipmkl(toy(n=30, seed=seed), rho, lambda p: solve(p, tol=tol), n_starts=3)
    assert np.all(np.diff(result.trace) <= 1e-12)
    assert result.trace[-1] == result.primal


@pytest.mark.parametrize("rho", RHOS)
def test_p_is_a_best_case_for_f(rho):
    """The end is a fixed point: neither step alone can improve on it."""
    problem = toy(n=30)
    result = mipmkl(problem, rho, tight)
    losses = np.maximum(0.0, 1.0 - problem.y * problem.evaluate(result.f)[0])
    best = best_case(losses, problem.s, rho)
    assert risk(losses, problem.s, result.p) == pytest.approx(risk(losses, problem.s, best), abs=1e-8)


@pytest.mark.parametrize("rho", [0.4, 0.7, 1.0])
def test_best_start_wins(rho):
    result = mipmkl(toy(n=30, seed=2), rho, tight, n_starts=6)
    assert len(result.objectives) == 6
    assert result.primal == min(result.objectives)


@pytest.mark.parametrize("rho", [0.4, 0.8])
def test_more_starts_are_never_worse(rho):
    problem = toy(n=30, seed=3)
    primals = [mipmkl(problem, rho, tight, n, rng=np.random.default_rng(0)).primal for n in (1, 3, 6)]
    assert primals[0] >= primals[1] >= primals[2]


def test_first_start_takes_all_labels_for_right():
    problem = toy(n=30)
    one, many = (mipmkl(problem, 0.7, tight, n) for n in (1, 4))
    assert one.objectives[0] == many.objectives[0]


def test_trivial_function_bounds_the_optimum():
    """f = 0 has the objective 1, and the best case of SiPMKL's f is a start."""
    problem = toy(n=30)
    f = tight(problem).f
    losses = np.maximum(0.0, 1.0 - problem.y * problem.evaluate(f)[0])
    for rho in RHOS:
        result = mipmkl(problem, rho, tight, n_starts=1)
        assert result.primal <= objective(problem, f, best_case(losses, problem.s, rho)) + 1e-8
        assert result.primal <= 1.0 + 1e-8


# --- special cases ------------------------------------------------------------------------------


def test_rho_one_is_the_ramp_loss():
    """With rho = 1 the best p makes every loss min(1, hinge)."""
    problem = toy(n=30)
    result = mipmkl(problem, 1.0, tight)
    losses = np.maximum(0.0, 1.0 - problem.y * problem.evaluate(result.f)[0])
    penalty = 0.025 * result.norms.sum() ** 2
    assert result.primal == pytest.approx(penalty + np.minimum(losses, 1.0).mean(), abs=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_without_outliers_it_is_simplemkl(fit_intercept):
    """Where every hinge loss stays below 1, all labels are taken for right."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    X[:, 0] += np.sign(X[:, 0])
    y = X[:, 0] > 0.0
    common = {"lam": 0.01, "kernels": SMALL, "tol": 1e-9, "fit_intercept": fit_intercept}
    robust = MiPMKLClassifier(rho=1.0, n_starts=1, **common).fit(X, y)
    simple = SimpleMKLClassifier(**common).fit(X, y)
    np.testing.assert_array_equal(robust.p_, 1.0)
    assert robust.primal_ == pytest.approx(simple.primal_, abs=1e-8)
    np.testing.assert_allclose(robust.decision_function(X), simple.decision_function(X), atol=1e-3)


def test_robust_loss_is_at_most_the_hinge_loss(noisy):
    X, y = noisy
    common = {"lam": 0.01, "kernels": SMALL, "tol": 1e-6}
    simple = SimpleMKLClassifier(**common).fit(X, y)
    assert MiPMKLClassifier(n_starts=1, **common).fit(X, y).primal_ <= simple.primal_ + 1e-6


ONE_SIDED = np.where(np.arange(14) < 3, -1.0, 1.0)


@pytest.mark.parametrize("rho", [0.1, 0.5, 0.5357])
def test_one_class_left_needs_no_function(rho):
    """A budget that one class fills: the constant +1 has no norm, and no loss on the rows taken for right."""
    K = np.stack([toy().kernels.gram(j) for j in range(2)])
    problem = Problem.from_grams(K, ONE_SIDED, lam=100.0)
    result = mipmkl(problem, rho, tight)
    assert result.converged
    assert result.primal == pytest.approx(1.0 - rho, abs=1e-9)
    assert result.intercept >= 1.0 - 1e-9
    assert result.gap <= 1e-6


def test_one_class_left_predicts_that_class():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.array(["rare", *["usual"] * 29])
    model = MiPMKLClassifier(rho=0.5, lam=10.0, kernels=SMALL, random_state=0).fit(X, y)
    assert set(model.predict(X)) == {"usual"}


def test_without_intercept_one_class_left_is_still_solved():
    K = np.stack([toy().kernels.gram(j) for j in range(2)])
    problem = Problem.from_grams(K, ONE_SIDED, lam=0.1, fit_intercept=False)
    result = mipmkl(problem, 0.3, tight)
    assert result.dual <= f_step(problem, result.p) + 1e-7
    assert result.gap <= 1e-6


# --- the classifier -----------------------------------------------------------------------------


def test_message_says_that_it_is_not_convex(noisy):
    model = MiPMKLClassifier(n_starts=3, kernels=SMALL, random_state=0).fit(*noisy)
    assert model.result_.message.startswith("Best of 3 local optima of a problem that is not convex")
    assert "no global optimum is proved" in model.result_.message


def test_several_starts_are_recorded(noisy):
    model = MiPMKLClassifier(rho=0.6, n_starts=4, kernels=SMALL, random_state=0).fit(*noisy)
    assert len(model.result_.objectives) == 4
    assert model.primal_ == min(model.result_.objectives)


@pytest.mark.parametrize("rho", [0.5, 0.8])
def test_seed_makes_it_reproducible(noisy, rho):
    one, two = (MiPMKLClassifier(rho=rho, kernels=SMALL, n_starts=3, random_state=7).fit(*noisy) for _ in range(2))
    assert one.result_.objectives == two.result_.objectives
    np.testing.assert_array_equal(one.decision_function(noisy[0]), two.decision_function(noisy[0]))


def test_other_seeds_start_elsewhere(noisy):
    models = [MiPMKLClassifier(rho=0.5, kernels=SMALL, n_starts=2, random_state=r).fit(*noisy) for r in range(2)]
    assert models[0].result_.objectives != models[1].result_.objectives


def test_p_is_in_the_order_of_the_rows(noisy):
    X, y = noisy
    order = np.random.default_rng(0).permutation(len(y))
    one = MiPMKLClassifier(rho=0.7, kernels=SMALL, n_starts=2, random_state=0).fit(X, y)
    two = MiPMKLClassifier(rho=0.7, kernels=SMALL, n_starts=2, random_state=0).fit(X[order], y[order])
    assert one.p_.shape == y.shape
    assert one.p_.mean() <= 0.7 + 1e-12
    np.testing.assert_array_equal(two.p_, one.p_[order])


def test_p_of_more_classes():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = MiPMKLClassifier(kernels=SMALL, n_starts=2, random_state=0).fit(X, np.arange(30) % 3)
    assert model.p_.shape == (3, 30)


def test_rows_of_no_weight_have_no_p(noisy):
    weights = np.ones(50)
    weights[:10] = 0.0
    model = MiPMKLClassifier(kernels=SMALL, n_starts=2, random_state=0).fit(*noisy, weights)
    np.testing.assert_array_equal(model.p_[:10], 0.0)


def test_outliers_are_left_out():
    """Wrong labels deep inside the other class are the ones that p leaves out."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:, 0] += 2.0 * np.sign(X[:, 0])
    y = X[:, 0] > 0.0
    deepest = np.argsort(-np.abs(X[:, 0]))[:5]
    y[deepest] = ~y[deepest]
    model = MiPMKLClassifier(lam=0.1, kernels=KernelDictionary(Linear(joint=True)), random_state=0).fit(X, y)
    assert set(np.flatnonzero(model.p_ == 0.0)) == set(deepest)
