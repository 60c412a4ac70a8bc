"""The set Q of eq. (11): projection, support function, multiplier, against references that share no code."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize_scalar

from robustmkl.uncertainty import Budget, project_by_bisection, tau

untimed = settings(deadline=None)
numbers = st.floats(-100.0, 100.0)
weights = st.floats(0.01, 100.0)
seeds = st.integers(0, 2**32 - 1)


@st.composite
def budgets(draw):
    """Budgets with h = 1 and above, from next to nothing to none at all."""
    h = draw(st.one_of(st.just(1.0), st.floats(1.0, 4.0)))
    return Budget(draw(st.one_of(st.just(1.0), st.floats(1e-3, 1.0))) * h, h)


@st.composite
def cases(draw, values=numbers, max_size=12):
    """A budget, a vector and weights."""
    n = draw(st.integers(1, max_size))
    v = draw(st.lists(values, min_size=n, max_size=n))
    s = draw(st.one_of(st.just([1.0] * n), st.lists(weights, min_size=n, max_size=n)))
    return draw(budgets()), np.array(v), np.array(s)


def random_member(budget, s, seed):
    """Return a point of Q, on its boundary or inside."""
    rng = np.random.default_rng(seed)
    alpha = budget.h * rng.random(s.size) * (rng.random(s.size) < 0.7)
    mass, total = float(s @ alpha), budget.rho * float(s.sum())
    return alpha * min(1.0, total / mass) if mass > 0.0 else alpha


def violation(budget, alpha, s):
    """Return by how much alpha leaves Q."""
    return max(-alpha.min(), (alpha - budget.h).max(), float(s @ alpha) / float(s.sum()) - budget.rho)


def largest_product(budget, v, s):
    """Return the maximum over Q of ``sum s_i alpha_i v_i`` by linear programming."""
    scale = max(float((s * np.abs(v)).max()), 1e-300)
    tight = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), 1e-10)
    bounds = (0.0, budget.h)
    return -scale * linprog(-s * v / scale, s[None] / s.sum(), [budget.rho], bounds=bounds, options=tight).fun


def price(budget, v, s, theta):
    """Return the dual function of the support function."""
    return budget.rho * s.sum() * theta + budget.h * float(s @ np.maximum(v - theta, 0.0))


# --- Projection: Lemma 2 ------------------------------------------------------------------------


@given(cases())
@untimed
def test_projection_is_feasible(case):
    budget, v, s = case
    assert violation(budget, budget.project(v, s), s) <= 1e-12 * max(1.0, np.abs(v).max())


@given(cases())
@untimed
def test_projection_is_idempotent(case):
    budget, v, s = case
    once = budget.project(v, s)
    np.testing.assert_allclose(budget.project(once, s), once, atol=1e-12)


@given(cases(), seeds)
@untimed
def test_projection_makes_an_obtuse_angle_with_every_member(case, seed):
    budget, v, s = case
    projected, member = budget.project(v, s), random_member(budget, s, seed)
    assert float(s @ ((v - projected) * (member - projected))) <= 1e-10 * float(s @ (1.0 + v**2))


@given(cases())
@untimed
def test_projection_makes_an_obtuse_angle_with_the_worst_member(case):
    """The variational inequality for all members at once."""
    budget, v, s = case
    projected = budget.project(v, s)
    most = largest_product(budget, v - projected, s)
    assert most <= float(s @ ((v - projected) * projected)) + 1e-8 * float(s @ (1.0 + np.abs(v)))


@given(cases())
@untimed
def test_projection_equals_bisection(case):
    budget, v, s = case
    np.testing.assert_allclose(budget.project(v, s), project_by_bisection(v, s, budget), atol=1e-11)


@pytest.mark.parametrize("seed", range(6))
def test_projection_is_the_nearest_point(seed):
    rng = np.random.default_rng(seed)
    budget, v, s = Budget(0.3 + 0.1 * seed, 1.0 + 0.3 * seed), rng.normal(size=15) + 1.0, rng.random(15) + 0.1
    alpha = cp.Variable(15)
    distance = cp.sum(cp.multiply(s, cp.square(alpha - v)))
    cp.Problem(cp.Minimize(distance), [alpha >= 0, alpha <= budget.h, s @ alpha <= budget.rho * s.sum()]).solve(
        solver=cp.CLARABEL
    )
    np.testing.assert_allclose(budget.project(v, s), alpha.value, atol=1e-6)


@given(st.integers(1, 10), numbers, budgets())
@untimed
def test_projection_of_ties_is_a_tie(n, value, budget):
    expected = np.clip(min(value, budget.rho), 0.0, budget.h)
    np.testing.assert_allclose(budget.project(np.full(n, value), np.ones(n)), expected, atol=1e-11)


@given(cases(st.floats(-1e12, 1e12)))
@untimed
def test_projection_of_huge_values(case):
    budget, v, s = case
    projected, eps = budget.project(v, s), 1e-15 * max(1.0, np.abs(v).max())
    assert violation(budget, projected, s) <= s.size * eps
    np.testing.assert_allclose(projected, project_by_bisection(v, s, budget), atol=10.0 * s.size * eps)


@given(cases(st.floats(-1e-9, 1e-9)))
@untimed
def test_projection_of_tiny_values_is_their_positive_part(case):
    budget, v, s = case
    np.testing.assert_array_equal(budget.project(v, s), np.maximum(v, 0.0))


@given(cases(), seeds)
@untimed
def test_projection_leaves_members_alone(case, seed):
    budget, _, s = case
    member = random_member(budget, s, seed)
    np.testing.assert_allclose(budget.project(member, s), member, atol=1e-14)


@pytest.mark.parametrize("rho", [1e-3, 1e-6, 1e-9])
def test_projection_on_a_tiny_budget(rho):
    """Two rows share it, by their values less eta; the third is too low."""
    projected = Budget(rho).project(np.array([5.0, 5.0 - rho, 1.0]), np.ones(3))
    np.testing.assert_allclose(projected, [2.0 * rho, rho, 0.0], atol=1e-14)


# --- Support function ---------------------------------------------------------------------------


@given(cases())
@untimed
def test_maximiser_is_feasible(case):
    budget, v, s = case
    assert violation(budget, budget.maximiser(v, s), s) <= 1e-12


@given(cases())
@untimed
def test_maximiser_attains_the_support_function(case):
    budget, v, s = case
    assert float(s @ (budget.maximiser(v, s) * v)) == pytest.approx(budget.support(v, s), rel=1e-12, abs=1e-12)


@given(cases())
@untimed
def test_support_function_equals_linear_programming(case):
    budget, v, s = case
    assert budget.support(v, s) == pytest.approx(largest_product(budget, v, s), abs=1e-8 * float(s @ np.abs(v)))


@given(cases(), seeds)
@untimed
def test_support_function_bounds_every_member(case, seed):
    budget, v, s = case
    member = random_member(budget, s, seed)
    assert float(s @ (member * v)) <= budget.support(v, s) + 1e-10 * float(s @ np.abs(v))


@given(cases(), st.floats(0.0, 1e6))
@untimed
def test_support_function_is_positively_homogeneous(case, factor):
    budget, v, s = case
    assert budget.support(factor * v, s) == pytest.approx(factor * budget.support(v, s), rel=1e-9, abs=1e-9)


@given(cases(), seeds)
@untimed
def test_support_function_is_subadditive(case, seed):
    budget, v, s = case
    w = np.random.default_rng(seed).normal(size=v.size)
    apart = budget.support(v, s) + budget.support(w, s)
    assert budget.support(v + w, s) <= apart + 1e-9 * s.sum() * (1.0 + np.abs(v).max())


@given(cases())
@untimed
def test_support_function_is_the_least_price(case):
    budget, v, s = case
    found = minimize_scalar(lambda theta: price(budget, v, s, theta), bounds=(0.0, 101.0), method="bounded").fun
    least = min(found, *(price(budget, v, s, kink) for kink in (0.0, *v[v > 0.0])))
    assert budget.support(v, s) == pytest.approx(least, rel=1e-9, abs=1e-9 * s.sum())


@given(cases(st.sampled_from([0.0, 1.0, 2.0])))
@untimed
def test_support_function_with_ties(case):
    budget, v, s = case
    assert budget.support(v, s) == pytest.approx(largest_product(budget, v, s), abs=1e-8 * float(s @ v))


def test_support_function_by_hand():
    """2.5 rows may count: the two worst, and half of the third."""
    budget = Budget(0.5)
    v = np.array([0.2, 3.0, -1.0, 1.0, 2.0])
    np.testing.assert_allclose(budget.maximiser(v, np.ones(5)), [0.0, 1.0, 0.0, 0.5, 1.0])
    assert budget.support(v, np.ones(5)) == pytest.approx(3.0 + 2.0 + 0.5)


def test_no_loss_costs_nothing():
    assert Budget(0.5).support(np.array([-1.0, 0.0, -3.0]), np.ones(3)) == 0.0


# --- Multiplier ---------------------------------------------------------------------------------


@given(cases(), st.floats(0.0, 100.0))
@untimed
def test_multiplier_has_the_least_price(case, other):
    budget, v, s = case
    least = price(budget, v, s, budget.multiplier(v, s))
    assert least <= price(budget, v, s, other) + 1e-9 * s.sum()


@given(cases())
@untimed
def test_multiplier_proves_the_support_function(case):
    budget, v, s = case
    assert price(budget, v, s, budget.multiplier(v, s)) == pytest.approx(
        budget.support(v, s), rel=1e-9, abs=1e-9 * s.sum()
    )


@given(cases())
@untimed
def test_multiplier_is_zero_without_budget(case):
    budget, v, s = case
    assert Budget(budget.h, budget.h).multiplier(v, s) == 0.0


def test_multiplier_by_hand():
    assert Budget(0.5).multiplier(np.array([0.2, 3.0, -1.0, 1.0, 2.0]), np.ones(5)) == 1.0


# --- Membership ---------------------------------------------------------------------------------


@given(cases(), seeds)
@untimed
def test_contains_members(case, seed):
    budget, _, s = case
    assert budget.contains(random_member(budget, s, seed), s)


@given(cases())
@untimed
def test_contains_projections(case):
    budget, v, s = case
    assert budget.contains(budget.project(v, s), s, tol=1e-11)


@given(cases())
@untimed
def test_contains_what_projection_leaves_alone(case):
    budget, v, s = case
    moved = np.abs(budget.project(v, s) - v).max()
    assume(not 0.0 < moved < 1e-9)
    assert budget.contains(v, s) == (moved == 0.0)


@pytest.mark.parametrize(
    ("alpha", "inside"),
    [
        ([0.0, 0.0], True),
        ([2.0, 0.0], True),
        ([1.0, 1.0], True),
        ([1.1, 1.0], False),
        ([2.1, 0.0], False),
        ([-0.1, 0.5], False),
    ],
)
def test_contains_by_hand(alpha, inside):
    assert Budget(1.0, 2.0).contains(np.array(alpha), np.ones(2)) == inside


def test_contains_allows_for_rounding_only():
    budget, s = Budget(0.3), np.ones(10)
    assert budget.contains(np.full(10, 0.1 + 0.2), s)
    assert not budget.contains(np.full(10, 0.3 + 1e-9), s)
    assert budget.contains(np.full(10, 0.3 + 1e-9), s, tol=1e-6)


# --- Weights ------------------------------------------------------------------------------------


@st.composite
def repeated(draw):
    """A budget, a vector, and how often each of its entries is repeated."""
    budget, v, _ = draw(cases(max_size=6))
    times = draw(st.lists(st.integers(1, 4), min_size=v.size, max_size=v.size))
    return budget, v, np.array(times)


@given(repeated())
@untimed
def test_projection_with_weights_is_that_of_repeated_rows(case):
    budget, v, times = case
    together, apart = budget.project(v, times * 1.0), budget.project(np.repeat(v, times), np.ones(times.sum()))
    np.testing.assert_allclose(np.repeat(together, times), apart, atol=1e-11)


@given(repeated())
@untimed
def test_support_function_with_weights_is_that_of_repeated_rows(case):
    budget, v, times = case
    apart = budget.support(np.repeat(v, times), np.ones(times.sum()))
    assert budget.support(v, times * 1.0) == pytest.approx(apart, rel=1e-12, abs=1e-12)


@given(cases(), st.sampled_from([1e-6, 0.5, 1e6]))
@untimed
def test_only_the_proportions_of_the_weights_matter(case, factor):
    budget, v, s = case
    np.testing.assert_allclose(budget.project(v, factor * s), budget.project(v, s), atol=1e-11)
    assert budget.support(v, factor * s) == pytest.approx(factor * budget.support(v, s), rel=1e-9)


@given(cases(), seeds)
@untimed
def test_a_row_of_weight_zero_is_absent(case, seed):
    budget, v, s = case
    extra = np.random.default_rng(seed).normal()
    longer, zero = np.append(v, extra), np.append(s, 0.0)
    assert budget.support(longer, zero) == pytest.approx(budget.support(v, s), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(budget.project(longer, zero)[:-1], budget.project(v, s), atol=1e-11)


# --- From a noise level -------------------------------------------------------------------------


def test_tau_by_hand():
    assert tau(np.exp(-2.0)) == pytest.approx(1.0)
    assert tau(0.05) == pytest.approx(1.2238734153404083)


@pytest.mark.parametrize("noise_level", [0.0, 0.2, 0.49])
def test_from_noise_level_alone(noise_level):
    assert Budget.from_noise_level(noise_level) == Budget(rho=1.0 - noise_level, h=1.0)


@pytest.mark.parametrize(
    ("noise_level", "total", "rho"),
    [
        (0.25, 16.0, 2.0),  # 1 - 1/4 + 1 + 1/4 reaches h
        (0.25, 64.0, 1.875),  # 1 - 1/4 + 1 + 1/8
        (0.25, np.inf, 1.75),
        (0.0, np.inf, 2.0),
        (0.4, 100.0, 1.7),
    ],
)
def test_from_noise_level_and_epsilon(noise_level, total, rho):
    budget = Budget.from_noise_level(noise_level, epsilon=np.exp(-2.0), total=total)  # tau = 1
    assert budget.h == pytest.approx(2.0)
    assert budget.rho == pytest.approx(rho)


def test_no_budget_is_slack():
    assert Budget().is_slack
    assert Budget(2.5, 2.5).is_slack
    assert not Budget(1.0, 2.5).is_slack


# --- What is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("h", [0.5, 0.0, -1.0, np.nan, np.inf])
def test_h_below_one_is_refused(h):
    with pytest.raises(ValueError, match=r"h must be a finite number >= 1, got .*: it is 1 or 1 \+ tau"):
        Budget(0.5, h)


@pytest.mark.parametrize("rho", [0.0, -0.5, 2.1, np.nan, np.inf])
def test_rho_outside_its_range_is_refused(rho):
    with pytest.raises(ValueError, match=r"rho must lie in \(0, 2\], got .*rho=2 means no budget"):
        Budget(rho, 2.0)


@pytest.mark.parametrize("noise_level", [-0.1, 0.5, 1.0, np.nan])
def test_noise_level_outside_its_range_is_refused(noise_level):
    with pytest.raises(ValueError, match=r"noise_level must lie in \[0, 1/2\), got .*share of wrong labels"):
        Budget.from_noise_level(noise_level)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, -0.1, 1.5, np.nan])
def test_epsilon_outside_its_range_is_refused(epsilon):
    with pytest.raises(ValueError, match=r"epsilon must lie in \(0, 1\), got .*probability of failure"):
        Budget.from_noise_level(0.2, epsilon=epsilon)
