"""The sets of eq. (8) and eq. (10) beside that of (11): against cvxpy, closed forms, bisection, and each other."""

import importlib.util
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from problems import plain
from robustmkl import (
    Budget,
    ChanceBudget,
    KernelFunction,
    ProbabilityBudget,
    Problem,
    StPMKLClassifier,
    certificate,
    mkl_path,
    solve,
)
from robustmkl.datasets import load_uci
from robustmkl.kernels import Gaussian, KernelDictionary
from robustmkl.solvers.path import lam_max, mkl_grid
from robustmkl.theory import chance_bound, relaxed_chance_bound
from robustmkl.uncertainty import SETS, tau
from sets import inner_maximum, members, nearest, violation

untimed = settings(deadline=None)
KINDS = [ProbabilityBudget, ChanceBudget]
both = pytest.mark.parametrize("kind", KINDS)
seeds = st.integers(0, 2**32 - 1)
numbers = st.floats(-10.0, 10.0)


@st.composite
def sets(draw, kinds=KINDS):
    """Sets from next to no budget to none, and from no ball to a large one."""
    rho = draw(st.one_of(st.just(1.0), st.floats(1e-3, 1.0)))
    return draw(st.sampled_from(kinds))(rho, draw(st.one_of(st.just(0.0), st.floats(1e-3, 3.0))))


@st.composite
def weights(draw, n, least=0.01):
    """All ones, or different ones."""
    drawn = st.lists(st.floats(least, 100.0), min_size=n, max_size=n)
    return np.array(draw(st.one_of(st.just([1.0] * n), drawn)))


@st.composite
def cases(draw, kinds=KINDS, least=0.01, values=numbers):
    """A set, a vector, and weights."""
    n = draw(st.integers(1, 10))
    v = np.array(draw(st.lists(values, min_size=n, max_size=n)))
    return draw(sets(kinds)), v, draw(weights(n, least))


def member(budget, s, seed):
    """Return a point of the set: the projection, by bisection, of a random one."""
    rng = np.random.default_rng(seed)
    return nearest(budget, 4.0 * rng.random() * rng.normal(0.5, 1.0, s.size), s)


def norm(u, s):
    return np.sqrt(s @ u**2)


# --- Projection ---------------------------------------------------------------------------------


@given(cases())
@untimed
def test_projection_is_feasible(case):
    budget, v, s = case
    assert violation(budget, budget.project(v, s), s) <= 1e-12


@given(cases())
@untimed
def test_projection_equals_bisection(case):
    budget, v, s = case
    np.testing.assert_allclose(budget.project(v, s), nearest(budget, v, s), atol=1e-10)


@given(cases())
@untimed
def test_projection_is_idempotent(case):
    budget, v, s = case
    once = budget.project(v, s)
    np.testing.assert_allclose(budget.project(once, s), once, atol=1e-11)


@given(cases(), seeds)
@untimed
def test_projection_makes_an_obtuse_angle_with_every_member(case, seed):
    budget, v, s = case
    projected = budget.project(v, s)
    assert s @ ((v - projected) * (member(budget, s, seed) - projected)) <= 1e-10 * s.sum()


@given(cases())
@untimed
def test_projection_makes_an_obtuse_angle_with_the_worst_member(case):
    """The variational inequality for all members at once, by the formulas of the inner maximum."""
    budget, v, s = case
    projected = budget.project(v, s)
    assert inner_maximum(budget, v - projected, s) <= s @ ((v - projected) * projected) + 1e-9 * s.sum()


@both
@pytest.mark.parametrize("seed", range(6))
def test_projection_is_the_nearest_point(kind, seed):
    rng = np.random.default_rng(seed)
    budget, v, s = kind(0.2 + 0.1 * seed, 0.2 * (seed + 1)), 1.5 * rng.normal(size=15) + 1.0, rng.random(15) + 0.1
    alpha = cp.Variable(15)
    distance = cp.norm(cp.multiply(np.sqrt(s), alpha - v))
    cp.Problem(cp.Minimize(distance), members(budget, alpha, s)).solve(solver=cp.CLARABEL)
    projected = budget.project(v, s)
    assert norm(projected - v, s) <= distance.value + 1e-6
    np.testing.assert_allclose(projected, alpha.value, atol=1e-4)


@given(cases(), seeds)
@untimed
def test_projection_leaves_members_alone(case, seed):
    budget, _, s = case
    inside = member(budget, s, seed)
    np.testing.assert_allclose(budget.project(inside, s), inside, atol=1e-11)


def test_projection_by_hand():
    """Two rows, tau = 1/2, k = 1: (10) takes the budget off what exceeds tau, (8) goes back along a ray."""
    v, s = np.array([2.5, 1.5]), np.ones(2)
    np.testing.assert_allclose(ProbabilityBudget(0.5, 0.5).project(v, s), [1.5, 0.5])
    ray = np.array([1.5, 1.5]) / np.sqrt(4.5)
    np.testing.assert_allclose(ChanceBudget(0.5, 0.5).project(v, s), np.array([1.0, 0.0]) + 0.5 * ray)


# --- The inner maximum --------------------------------------------------------------------------


@given(cases())
@untimed
def test_support_function_is_the_formula_of_the_paper(case):
    budget, v, s = case
    assert budget.support(v, s) == pytest.approx(inner_maximum(budget, v, s), rel=1e-10, abs=1e-10)


@given(cases())
@untimed
def test_maximiser_is_feasible(case):
    budget, v, s = case
    assert violation(budget, budget.maximiser(v, s), s) <= 1e-12


@given(cases(), seeds)
@untimed
def test_support_function_bounds_every_member(case, seed):
    budget, v, s = case
    assert s @ (member(budget, s, seed) * v) <= budget.support(v, s) + 1e-9 * s.sum()


@both
@pytest.mark.parametrize("seed", range(6))
def test_support_function_equals_conic_programming(kind, seed):
    rng = np.random.default_rng(seed)
    budget, v, s = kind(0.1 + 0.15 * seed, 0.3 * seed), rng.normal(size=12), rng.random(12) + 0.1
    alpha = cp.Variable(12)
    most = cp.Problem(cp.Maximize((s * v) @ alpha), members(budget, alpha, s)).solve(solver=cp.CLARABEL)
    assert budget.support(v, s) == pytest.approx(most, rel=1e-6)


def test_support_function_by_hand():
    """k = 1.5, tau = 2: the worst loss and half of the next, and the ball on all losses."""
    v, s = np.array([4.0, -1.0, 3.0]), np.ones(3)
    assert ProbabilityBudget(0.5, 2.0).support(v, s) == pytest.approx(5.5 + 2.0 * 7.0)
    assert ChanceBudget(0.5, 2.0).support(v, s) == pytest.approx(5.5 + 2.0 * 5.0)


@both
def test_no_loss_costs_nothing(kind):
    assert kind(0.5, 1.0).support(np.array([-1.0, 0.0, -3.0]), np.ones(3)) == 0.0


@given(st.integers(1, 30), seeds)
@untimed
def test_support_function_is_the_worst_bound_of_the_theory(n, seed):
    """Over the p that Proposition 1 allows: Lemma 1's t for (8), eq. (9)'s for (10)."""
    rng = np.random.default_rng(seed)
    losses, k = np.sort(4.0 * rng.random(n))[::-1], min(n, 0.7 * n + tau(0.1) * np.sqrt(n))
    p = np.clip(k - np.arange(n), 0.0, 1.0)
    for kind, bound in ((ChanceBudget, chance_bound), (ProbabilityBudget, relaxed_chance_bound)):
        budget = kind.from_noise_level(0.3, 0.1, float(n))
        assert budget.support(losses, np.ones(n)) / n == pytest.approx(bound(losses, p, 0.1))


# --- The price of the budget --------------------------------------------------------------------


@given(cases())
@untimed
def test_multiplier_is_the_slope_in_the_budget(case):
    """More budget costs no more than theta a unit, less saves no less."""
    budget, v, s = case
    theta, value, S = budget.multiplier(v, s), inner_maximum(budget, v, s), s.sum()
    for rho in (0.5 * budget.rho, 0.99 * budget.rho, 0.5 + 0.5 * budget.rho, 1.0):
        other = inner_maximum(type(budget)(rho, budget.tau), v, s)
        assert budget.is_slack or other <= value + theta * (rho - budget.rho) * S + 1e-9 * S


@given(cases(), seeds)
@untimed
def test_core_mass_is_what_alpha_needs_of_the_budget(case, seed):
    """alpha is in the set of exactly that budget, and of none that is smaller by one in a thousand."""
    budget, _, s = case
    alpha = member(budget, s, seed)
    share = budget.core_mass(alpha, s) / s.sum()
    assert share <= budget.rho + 1e-9
    assert violation(type(budget)(max(share, 1e-12), budget.tau), alpha, s) <= 1e-9
    if share > 1e-3:
        assert violation(type(budget)(0.999 * share, budget.tau), alpha, s) > 0.0


@given(cases(), seeds, st.floats(1.0, 10.0))
@untimed
def test_shrink_is_the_largest_multiple_inside(case, seed, factor):
    budget, _, s = case
    alpha = factor * member(budget, s, seed)
    c = budget.shrink(alpha, s)
    assert violation(budget, c * alpha, s) <= 1e-11
    assert c == 1.0 or violation(budget, 1.001 * c * alpha, s) > 0.0


# --- Membership ---------------------------------------------------------------------------------


@given(cases(), seeds)
@untimed
def test_contains_members_and_what_lies_below_them(case, seed):
    budget, _, s = case
    alpha = member(budget, s, seed)
    assert budget.contains(alpha, s, 1e-11)
    assert budget.contains(alpha * np.random.default_rng(seed).random(s.size), s, 1e-11)


@given(cases())
@untimed
def test_contains_nothing_else(case):
    budget, v, s = case
    outside = violation(budget, v, s)
    assert abs(outside) < 1e-9 or budget.contains(v, s) == (outside <= 0.0)


@given(cases([ChanceBudget]), seeds)
@untimed
def test_the_set_of_8_is_all_that_is_near_the_core(case, seed):
    """u + v with v in the core and u in the ball, negative sums cut off."""
    budget, direction, s = case
    v = member(Budget(budget.rho), s, seed)
    u = budget.tau * direction / max(norm(direction, s), 1e-300)
    assert budget.contains(np.maximum(v + u, 0.0), s, 1e-10)


@given(cases([ProbabilityBudget]), seeds)
@untimed
def test_the_set_of_10_is_the_core_and_a_box(case, seed):
    budget, _, s = case
    u = budget.tau * np.random.default_rng(seed).random(s.size)
    assert budget.contains(member(Budget(budget.rho), s, seed) + u, s, 1e-11)


# --- Each other ---------------------------------------------------------------------------------


@st.composite
def three(draw, least=1.0):
    """The sets of (8), (10) and (11) of one noise level, with weights that are not below 1."""
    n = draw(st.integers(1, 12))
    s = draw(weights(n, least))
    noise, epsilon = draw(st.floats(0.0, 0.49)), draw(st.floats(1e-3, 0.999))
    return [SETS[kind].from_noise_level(noise, epsilon, s.sum()) for kind in ("chance", "p", "alpha")], s


@given(three(), seeds)
@untimed
def test_each_set_contains_the_one_before(case, seed):
    budgets, s = case
    for smaller, larger in pairwise(budgets):
        assert violation(larger, member(smaller, s, seed), s) <= 1e-11


@given(three(), seeds)
@untimed
def test_each_problem_bounds_the_one_before(case, seed):
    """P8 <= P10 <= P11 at any f."""
    budgets, s = case
    v = np.random.default_rng(seed).normal(0.5, 2.0, s.size)
    values = [budget.support(v, s) for budget in budgets]
    assert values[0] <= values[1] * (1.0 + 1e-12) <= values[2] * (1.0 + 1e-11)


def test_weights_below_one_turn_8_and_10_around():
    """``sqrt(s) l > s l`` for one row of weight s < 1."""
    v, s = np.ones(1), np.array([0.25])
    assert ChanceBudget(1.0, 1.0).support(v, s) == pytest.approx(0.25 + 0.5)
    assert ProbabilityBudget(1.0, 1.0).support(v, s) == pytest.approx(0.25 + 0.25)


@given(three(), seeds)
@untimed
def test_8_and_10_are_equal_for_one_loss(case, seed):
    """And (10) and (11) where no more losses are positive than the budget allows."""
    (chance, p, alpha), s = case
    ones, v = np.ones(s.size), -np.random.default_rng(seed).random(s.size)
    v[0] = 3.0
    assert chance.support(v, ones) == pytest.approx(p.support(v, ones))
    if s[0] <= p.rho * s.sum():
        assert p.support(v, s) == pytest.approx(alpha.support(v, s))


@both
@given(case=cases())
@untimed
def test_without_a_ball_the_set_is_its_core(kind, case):
    budget, v, s = case
    core, rho = budget.core, budget.rho
    assert kind(rho, 0.0).support(v, s) == pytest.approx(core.support(v, s))
    np.testing.assert_allclose(kind(rho, 0.0).project(v, s), core.project(v, s), atol=1e-12)
    assert kind(rho, 1e-9).support(v, s) == pytest.approx(core.support(v, s), rel=1e-6, abs=1e-6)


@given(cases([ProbabilityBudget]))
@untimed
def test_10_without_budget_is_11_without_budget(case):
    budget, v, s = case
    box = Budget(budget.h, budget.h)
    assert budget.without_budget().support(v, s) == pytest.approx(box.support(v, s), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(budget.without_budget().project(v, s), box.project(v, s), atol=1e-12)


def test_every_set_says_what_it_is_made_of():
    for kind, budget in SETS.items():
        made = budget.from_noise_level(0.3, 0.5, 100.0)
        assert made.kind == kind
        assert made.core.h == (made.h if kind == "alpha" else 1.0)
        assert made.core.rho == made.rho
        assert made.tau == (0.0 if kind == "alpha" else tau(0.5))
        assert made.core is made or made.h == 1.0 + made.tau


# --- Weights ------------------------------------------------------------------------------------


@given(cases(), seeds)
@untimed
def test_weights_are_repetitions(case, seed):
    budget, v, _ = case
    times = np.random.default_rng(seed).integers(1, 5, v.size)
    apart = np.repeat(v, times)
    assert budget.support(v, times * 1.0) == pytest.approx(budget.support(apart, np.ones(apart.size)))
    together = np.repeat(budget.project(v, times * 1.0), times)
    np.testing.assert_allclose(together, budget.project(apart, np.ones(apart.size)), atol=1e-11)


@given(cases(), numbers)
@untimed
def test_a_row_of_weight_zero_is_absent(case, extra):
    budget, v, s = case
    longer, zero = np.append(v, extra), np.append(s, 0.0)
    assert budget.support(longer, zero) == pytest.approx(budget.support(v, s), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(budget.project(longer, zero)[:-1], budget.project(v, s), atol=1e-11)


@given(cases(), st.sampled_from([1e-12, 1e-3, 1e3, 1e12]))
@untimed
def test_tiny_and_huge_weights(case, factor):
    """A factor c on the weights scales the ball of (8) by ``1 / sqrt(c)``, and nothing else."""
    budget, v, s = case
    chance = isinstance(budget, ChanceBudget)
    other = type(budget)(budget.rho, budget.tau * np.sqrt(factor) if chance else budget.tau)
    np.testing.assert_allclose(other.project(v, factor * s), budget.project(v, s), atol=1e-9)
    assert other.support(v, factor * s) == pytest.approx(factor * budget.support(v, s), rel=1e-9)


@given(cases(values=st.floats(-1e12, 1e12)))
@untimed
def test_any_dual_point_is_made_feasible(case):
    """However far: a problem of one constant kernel, without intercept."""
    budget, v, s = case
    grams, y = np.ones((1, v.size, v.size)), np.ones(v.size)
    problem = Problem.from_grams(grams, y, sample_weight=s, fit_intercept=False, budget=budget)
    assert violation(budget, problem.restore(v), s) <= 1e-11


# --- From a noise level -------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    ("noise_level", "total", "rho"), [(0.25, 16.0, 1.0), (0.25, 64.0, 0.875), (0.4, np.inf, 0.6), (0.0, 1e6, 1.0)]
)
def test_from_noise_level(kind, noise_level, total, rho):
    budget = kind.from_noise_level(noise_level, np.exp(-2.0), total)
    assert (budget.rho, budget.tau, budget.h) == pytest.approx((rho, 1.0, 2.0))


@both
def test_epsilon_cannot_be_left_out(kind):
    with pytest.raises(
        ValueError, match=r"eq. \((8|10)\) has no form without epsilon: give the probability of failure"
    ):
        kind.from_noise_level(0.2)


@both
@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf])
def test_tau_must_be_a_number(kind, value):
    with pytest.raises(ValueError, match=r"tau must be a finite number >= 0, got .*sqrt\(ln\(1/epsilon\) / 2\)"):
        kind(0.5, value)


@both
@pytest.mark.parametrize("value", [0.0, -0.1, 1.1, np.nan])
def test_rho_must_be_a_share(kind, value):
    with pytest.raises(ValueError, match=r"rho must lie in \(0, 1\]"):
        kind(value, 1.0)


# --- Problems, paths ----------------------------------------------------------------------------


@both
def test_gram_matrices_with_a_set_take_no_rho(kind):
    with pytest.raises(ValueError, match=r"brings its own rho and bound: leave out rho=0.5 and h=1.0"):
        plain(10, rho=0.5, budget=kind(0.5, 1.0))


@both
def test_a_row_given_twice_is_a_row_of_weight_2_in_a_problem(kind):
    """P and D at the same f and alpha, and rows of weight 0 are absent."""
    p, rng = plain(12, budget=kind(0.6, 0.8), sample_weight=np.tile([2.0, 0.0, 1.0], 4)), np.random.default_rng(0)
    rows = np.repeat(np.arange(12), np.tile([2, 0, 1], 4))
    K = plain(12).kernels
    grams = np.stack([K.gram(j)[rows][:, rows] for j in range(K.m)])
    q = Problem.from_grams(grams, plain(12).y[rows], budget=kind(0.6, 0.8))
    alpha, b, kept = rng.random(8), 0.3, np.flatnonzero(np.tile([1, 0, 1], 4))
    places = np.searchsorted(kept, rows)
    one = certificate(p, alpha, KernelFunction(np.zeros(p.kernels.size), b))
    other = certificate(q, alpha[places], KernelFunction(np.zeros(q.kernels.size), b))
    assert one == pytest.approx(other, rel=1e-12)


@both
def test_a_path_is_certified_problem_by_problem(kind):
    p, lams = plain(20, budget=kind(0.7, 0.8)), [10.0, 1.0, 0.1]
    for lam, result in zip(lams, mkl_path(p, lams=lams, tol=0.02), strict=True):
        assert result.converged
        again = certificate(replace(p, lam=lam), result.alpha, result.f)
        assert again == pytest.approx((result.primal, result.dual, result.gap), abs=1e-12)


def test_above_lam_max_the_constraint_10_has_one_alpha():
    """Without budget all losses are positive there: one solution, and scaled copies."""
    p = plain(20, budget=ProbabilityBudget(1.0, 0.8), fit_intercept=False)
    top = lam_max(p)
    assert top == pytest.approx(1.8 * lam_max(plain(20, fit_intercept=False)))
    for result in mkl_path(p, lams=[4.0 * top, 2.0 * top, top], tol=1e-9):
        np.testing.assert_allclose(result.alpha, 1.8, rtol=1e-12)
        assert result.converged


@both
def test_a_path_takes_no_rho(kind):
    p = plain(10, budget=kind(0.7, 0.8))
    with pytest.raises(ValueError, match=r"rho=0.5 is a budget of eq. \(11\), and this problem has .*: leave rho out"):
        mkl_path(p, lams=[0.1], rho=0.5)
    with pytest.raises(ValueError, match=r"rho=0.5 is a budget of eq. \(11\)"):
        mkl_grid(p, [0.1], [None, 0.5])


@both
def test_the_message_says_where_the_budget_is_inactive(kind):
    active, inactive = (solve(plain(20, lam=1.0, budget=kind(rho, 0.3)), tol=0.05) for rho in (0.3, 0.9999))
    assert active.budget_active
    assert active.theta > 0.1
    assert inactive.message.endswith("The budget is inactive.")


# --- The classifier -----------------------------------------------------------------------------

X, Y = load_uci("heart", return_X_y=True)
X, Y = X[:60], Y[:60]
NOISE = {"noise_level": 0.4, "epsilon": 0.3}
FEW = KernelDictionary(Gaussian((0.5, 2.0), joint=True), Gaussian((1.0,)))
constraints = pytest.mark.parametrize("budget", ["p", "chance"])


def model(budget, **options):
    """Return a classifier that first-order methods can train to its tolerance in a second."""
    common = {"lam": 0.2, "kernels": FEW, "tol": 0.02, "max_iter": 3000, "budget": budget}
    return StPMKLClassifier(**(common | NOISE | options))


@constraints
def test_the_classifier_solves_the_problem_of_its_constraint(budget):
    fitted = model(budget).fit(X, Y)
    ((problem, (alpha, f)),) = fitted.problem(X, Y)
    assert problem.budget == SETS[budget].from_noise_level(0.4, 0.3, 60.0)
    assert fitted.result_.converged
    assert violation(problem.budget, alpha, problem.s) <= 1e-12
    values, norms = problem.evaluate(f)
    risk = inner_maximum(problem.budget, 1.0 - problem.y * values, problem.s) / 60.0
    assert fitted.primal_ == pytest.approx(0.1 * norms.sum() ** 2 + risk)


@constraints
@pytest.mark.parametrize("solver", ["amp", "vi"])
def test_first_order_methods_bracket_the_optimum_of_the_classifier(budget, solver):
    fitted = model(budget).fit(X, Y)
    result = solve(fitted.problem(X, Y)[0][0], solver, max_iter=500)
    assert fitted.dual_ <= result.primal
    assert result.dual <= fitted.primal_


@constraints
def test_the_certificate_of_the_classifier_can_be_recomputed(budget):
    fitted = model(budget).fit(X, Y)
    assert fitted.certificate(X, Y) == pytest.approx((fitted.primal_, fitted.dual_, fitted.gap_), abs=1e-9)
    assert fitted.memory_estimate_ > 0


@constraints
def test_weight_2_is_a_row_given_twice_and_weight_0_is_absent(budget):
    """Exactly: equal rows are merged, and k and S come from the weights."""
    s = np.random.default_rng(0).integers(0, 3, 60)
    rows = np.repeat(np.arange(60), s)
    weighted, given_twice = model(budget).fit(X, Y, s), model(budget).fit(X[rows], Y[rows])
    assert weighted.primal_ == given_twice.primal_
    assert weighted.dual_ == given_twice.dual_
    np.testing.assert_array_equal(weighted.decision_function(X), given_twice.decision_function(X))
    np.testing.assert_array_equal(weighted.alpha_[s == 0], 0.0)


@constraints
def test_rows_as_weights_and_as_repetitions_have_one_optimum(budget):
    """Precomputed kernels are not merged: two different problems, the same optimum."""
    grams = np.stack([X[:30] @ X[:30].T / 1e4, np.exp(-((X[:30, None] - X[:30]) ** 2).mean(axis=2) / 200.0)])
    twice = np.repeat(np.arange(30), 2)
    options = {"kernels": "precomputed", "tol": 0.05, "lam": 1.0}
    one = model(budget, **options).fit(grams, Y[:30], np.full(30, 2.0))
    other = model(budget, **options).fit(grams[:, twice][:, :, twice], Y[:30][twice])
    assert one.dual_ <= other.primal_
    assert other.dual_ <= one.primal_


@constraints
def test_class_weights_count_in_the_budget(budget):
    weighted = model(budget, class_weight={"present": 2.0}).fit(X, Y)
    ((problem, _),) = weighted.problem(X, Y)
    total = 60.0 + float(np.sum(Y == "present"))
    assert problem.total == total
    assert problem.budget == SETS[budget].from_noise_level(0.4, 0.3, total)


@constraints
def test_warm_start_is_done_at_once(budget):
    fitted = model(budget, warm_start=True).fit(X, Y)
    assert fitted.n_iter_ > 1
    assert fitted.fit(X, Y).n_iter_ == 1


@constraints
def test_more_than_two_classes(budget):
    fitted = model(budget, tol=0.05).fit(X, np.arange(60) % 4 % 3)
    assert len(fitted.result_) == 3
    assert all(result.converged for result in fitted.result_)
    assert len(fitted.certificate(X, np.arange(60) % 4 % 3)) == 3


def test_the_values_of_the_three_constraints_are_ordered():
    values = [model(budget).fit(X, Y) for budget in ("chance", "p", "alpha")]
    for smaller, larger in pairwise(values):
        assert smaller.dual_ <= larger.primal_
    assert values[0].primal_ < values[1].dual_


def test_theorem_1_is_about_the_constraint_10():
    """Its empirical term is what (10) has beside tau, over the share of right labels."""
    fitted = model("p", fit_intercept=False).fit(X, Y)
    losses = np.maximum(0.0, 1.0 - np.where(Y == "present", 1.0, -1.0) * fitted.decision_function(X))
    budget = ProbabilityBudget.from_noise_level(0.4, 0.3, 60.0)
    expected = (inner_maximum(budget, losses, np.ones(60)) - budget.tau * losses.sum()) / (60.0 * 0.6)
    bound = fitted.risk_bound(X, Y, **NOISE)
    assert bound.empirical == pytest.approx(expected)
    assert bound.is_vacuous


@constraints
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rho": 0.7}, r"eq. \((8|10)\), takes no rho, got rho=0.7: it follows from noise_level and epsilon"),
        ({"rho": 0.7, "noise_level": None}, "takes no rho, got rho=0.7.*Leave rho out, or use budget='alpha'"),
        ({"epsilon": None}, "needs noise_level and epsilon, got noise_level=0.4 and epsilon=None: give both"),
        ({"noise_level": None}, "needs noise_level and epsilon, got noise_level=None and epsilon=0.3: give both"),
        ({"noise_level": 0.6}, r"noise_level must lie in \[0, 1/2\), got 0.6"),
        ({"epsilon": 0.0}, r"epsilon must lie in \(0, 1\), got 0.0"),
        ({"solver": "simplemkl"}, r"solver='simplemkl' does not know budget='(p|chance)', eq. .*use solver='auto' or"),
    ],
)
def test_what_a_constraint_cannot_be_built_of_is_refused(budget, options, message):
    with pytest.raises(ValueError, match=message):
        model(budget, **options).fit(X, Y)


@pytest.mark.parametrize("budget", ["beta", None, 8, ["p"]])
def test_unknown_constraints_are_refused(budget):
    with pytest.raises(ValueError, match=r"budget must be one of 'alpha', 'p', 'chance', got"):
        model(budget).fit(X, Y)


@constraints
def test_a_run_that_ends_early_names_a_remedy_that_works(budget):

    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol") as caught:
        model(budget, tol=1e-12, max_iter=5).fit(X, Y)
    assert "interior-point" not in str(caught[0].message)


# --- The page -----------------------------------------------------------------------------------


def test_the_tables_of_the_page_are_made_of_its_results():
    root = Path(__file__).parents[1]
    spec = importlib.util.spec_from_file_location("constraints", root / "benchmarks" / "constraints.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    rows = script.read(root / "docs" / "constraints" / "results.csv")
    assert (root / "docs" / "constraints" / "tables.md").read_text(encoding="utf-8") == script.tables(rows)
    for _, part in script.grouped(rows, "table", "split", "epsilon", "lam"):
        chance, p, alpha = ({row["constraint"]: row for row in part}[c] for c in script.CONSTRAINTS)
        assert chance["dual"] <= p["primal"]
        assert p["dual"] <= alpha["primal"]
