"""Every solver on every problem: against an independent conic solver, against dense NumPy, and against itself."""

import logging
from functools import cache
from itertools import count, islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems import (
    PROBLEMS,
    H,
    dual_value,
    dual_violation,
    from_dictionary,
    gaussians,
    grams_of,
    plain,
    primal_value,
    problem,
    reference,
    table,
)
from robustmkl import Budget, KernelFunction, Problem, Status, certificate, solve
from robustmkl.kernels import Gaussian, KernelBank, KernelDictionary, Linear, Polynomial
from robustmkl.solvers import SOLVERS, Point, amp, choose, vi
from robustmkl.solvers.amp import step_size, theorem_2
from sets import inner_maximum, nearest

ROUNDING = 1e-12
OPTIONS = {
    "interior-point": {"tol": 1e-8},
    "amp": {"tol": 1e-4, "max_iter": 400},
    "vi": {"tol": 1e-4, "max_iter": 400},
    "simplemkl": {"tol": 1e-7, "max_iter": 100},
}
NAMES = list(PROBLEMS)
KNOWN = [(n, s) for n in NAMES for s in OPTIONS if problem(n).budget.kind in SOLVERS[s].sets]
SOLVABLE = [(n, s) for n, s in KNOWN if SOLVERS[s].budget or problem(n).budget.is_slack]
PROVED = [n for n, s in SOLVABLE if s == "interior-point"]
ALPHA = [n for n in NAMES if problem(n).budget.kind == "alpha"]
GIVEN_GRAMS = [n for n in NAMES if problem(n).kernels.stacks[0].identity and len(problem(n).kernels.stacks) == 1]
BUDGETS = [n for n in PROVED if not problem(n).budget.is_slack]
NO_INTERCEPT = [n for n in NAMES if not problem(n).fit_intercept]

every_pair = pytest.mark.parametrize(("name", "solver"), SOLVABLE)
every_problem = pytest.mark.parametrize("name", NAMES)
every_optimum = pytest.mark.parametrize("name", PROVED)
every_solver = pytest.mark.parametrize("solver", OPTIONS)


@cache
def solution(name, solver="interior-point"):
    return solve(problem(name), solver, **OPTIONS[solver])


def gram_evaluation(p, coef):
    """Return values without intercept and norms of ``f_j = K_j a_j``."""
    grams, a = grams_of(p.kernels), coef.reshape(p.kernels.m, -1)
    norms = np.sqrt(np.maximum([c @ K @ c for K, c in zip(grams, a, strict=True)], 0.0))
    return np.einsum("jnl,jl->n", grams, a), norms


def gradients(p, alpha):
    """Return ``||g_j||``."""
    c = p.s * alpha * p.y / p.s.sum()
    return np.sqrt(np.maximum([c @ K @ c for K in grams_of(p.kernels)], 0.0))


def optima_agree(one, other, factor=1.0):
    """Whether two certified intervals have a point in common, the second one times a factor."""
    slack = ROUNDING * abs(one.primal)
    return one.primal + slack >= factor * other.dual and factor * other.primal + slack >= one.dual


# --- The reference itself -----------------------------------------------------------------------


@every_problem
def test_reference_is_tight(name):
    found = reference(name)
    assert -ROUNDING <= found.primal - found.dual <= 1e-8 * problem(name).budget.rho


@every_problem
def test_reference_alpha_is_feasible(name):
    assert dual_violation(problem(name), reference(name).alpha) <= ROUNDING


# --- Every solver on every problem --------------------------------------------------------------


@every_pair
def test_primal_and_dual_bracket_the_optimum(name, solver):
    result, optimum, slack = solution(name, solver), reference(name), ROUNDING * problem(name).budget.rho
    assert result.primal >= optimum.dual - slack
    assert result.dual <= optimum.primal + slack


@every_pair
def test_gap_is_their_difference(name, solver):
    result = solution(name, solver)
    assert result.gap == result.primal - result.dual
    assert result.gap >= -ROUNDING


@every_pair
def test_alpha_is_feasible(name, solver):
    result = solution(name, solver)
    assert result.alpha.shape == problem(name).y.shape
    assert dual_violation(problem(name), result.alpha) <= ROUNDING


@every_pair
def test_certificate_can_be_recomputed(name, solver):
    result = solution(name, solver)
    again = certificate(problem(name), result.alpha, result.f)
    np.testing.assert_allclose(again, (result.primal, result.dual, result.gap), rtol=1e-10, atol=ROUNDING)


@every_pair
def test_dual_value_is_that_of_the_gram_matrices(name, solver):
    result = solution(name, solver)
    assert dual_value(problem(name), result.alpha) == pytest.approx(result.dual, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize(("name", "solver"), [pair for pair in SOLVABLE if pair[0] in GIVEN_GRAMS])
def test_primal_value_and_norms_are_those_of_the_gram_matrices(name, solver):
    p, result = problem(name), solution(name, solver)
    values, norms = gram_evaluation(p, result.f.coef)
    assert primal_value(p, values + result.intercept, norms) == pytest.approx(result.primal, rel=1e-7, abs=1e-10)
    np.testing.assert_allclose(result.norms, norms, rtol=1e-6, atol=1e-7)


@every_pair
def test_status_says_whether_the_gap_is_within_the_tolerance(name, solver):
    result = solution(name, solver)
    assert result.converged == (result.gap <= OPTIONS[solver]["tol"] * result.primal)
    assert result.converged == (result.status is Status.CONVERGED)


@every_pair
def test_no_intercept_unless_asked_for(name, solver):
    result = solution(name, solver)
    assert result.intercept == result.f.intercept
    assert problem(name).fit_intercept or result.intercept == 0.0


@every_pair
def test_kernel_error_is_in_units_of_the_gap(name, solver):
    p, result = problem(name), solution(name, solver)
    assert result.kernel_error == pytest.approx(2.0 * p.kernels.entry_error * result.primal / p.lam)


# --- Interior point: the optimum ----------------------------------------------------------------


@every_optimum
def test_interior_point_reaches_a_gap_of_1e_8(name):
    result = solution(name)
    assert result.status is Status.CONVERGED
    assert result.gap <= 1e-8 * result.primal


@every_optimum
def test_interior_point_agrees_with_the_reference(name):
    result, scale = solution(name), problem(name).primal(problem(name).zero)
    assert result.primal == pytest.approx(reference(name).optimum, abs=2e-8 * scale)
    assert result.dual == pytest.approx(reference(name).optimum, abs=2e-8 * scale)


@every_optimum
def test_alpha_is_a_worst_case(name):
    """The first of the two parts of the gap: what alpha lacks of the inner maximum at f."""
    p, result = problem(name), solution(name)
    v = 1.0 - p.y * p.evaluate(result.f)[0]
    lacking = inner_maximum(p.budget, v, p.s) - float(p.s * result.alpha @ v)
    assert -ROUNDING <= lacking / p.total <= result.gap + ROUNDING


@pytest.mark.parametrize("name", ALPHA)
def test_rows_are_complementary(name):
    """alpha = h where the loss exceeds theta, 0 where it falls short: each row's share of the gap is small."""
    p, result = problem(name), solution(name)
    v = 1.0 - p.y * p.evaluate(result.f)[0]
    excess = v - p.budget.multiplier(v, p.s)
    missing = np.where(excess > 0.0, p.budget.h - result.alpha, result.alpha)
    assert np.all(p.s / p.total * np.abs(excess) * missing <= result.gap + ROUNDING)


@every_optimum
def test_budget_is_complementary(name):
    p, result = problem(name), solution(name)
    unused = p.budget.rho - p.budget.core_mass(result.alpha, p.s) / p.total
    assert result.theta * unused <= 2.0 * result.gap + ROUNDING


@every_optimum
def test_only_kernels_of_largest_gradient_are_used(name):
    result = solution(name)
    g = gradients(problem(name), result.alpha)
    assert float(result.norms @ (g.max() - g)) <= result.gap + 1e-10


@every_optimum
def test_the_sum_of_norms_is_the_largest_gradient_over_lam(name):
    p, result = problem(name), solution(name)
    difference = p.lam * result.norms.sum() - gradients(p, result.alpha).max()
    assert difference**2 <= 2.0 * p.lam * (result.gap + 1e-10)


@pytest.mark.parametrize("name", [name for name in GIVEN_GRAMS if name in PROVED])
def test_functions_are_parallel_to_the_gradients(name):
    p, result = problem(name), solution(name)
    c, a = p.s * result.alpha * p.y / p.total, result.f.coef.reshape(p.kernels.m, -1)
    along = np.array([c @ K @ aj for K, aj in zip(grams_of(p.kernels), a, strict=True)])
    assert np.sum(result.norms * gradients(p, result.alpha) - along) <= result.gap + 1e-10


@pytest.mark.parametrize("name", BUDGETS)
def test_theta_is_the_multiplier_of_the_budget(name):
    assert solution(name).theta == pytest.approx(reference(name).theta, abs=1e-4)


@pytest.mark.parametrize("name", BUDGETS)
def test_budget_is_active_where_its_multiplier_is_positive(name):
    assert solution(name).budget_active == (reference(name).theta > 1e-5)


@pytest.mark.parametrize("name", [name for name in PROVED if name not in BUDGETS])
def test_no_budget_has_no_price(name):
    assert solution(name).theta == 0.0
    assert not solution(name).budget_active


def test_both_kinds_of_budget_are_on_the_list():
    active = [solution(name).budget_active for name in BUDGETS]
    assert active.count(True) >= 8
    assert active.count(False) >= 5


@every_optimum
def test_a_tolerance_out_of_reach_ends_with_a_status(name):
    result = solve(problem(name), tol=0.0)
    assert result.status in (Status.NUMERICAL, Status.CONVERGED)
    assert result.gap <= 2e-9 * result.primal + 1e-11 * problem(name).primal(problem(name).zero)


# --- Interior point: closed forms ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["contradictory rows", "contradictory rows and intercept"])
def test_contradictions_leave_nothing_to_learn(name):
    """f = 0, theta = 1, and the optimum is the budget."""
    p, result = problem(name), solution(name)
    assert result.primal == pytest.approx(p.budget.rho, rel=1e-8)
    assert result.theta == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(p.evaluate(result.f)[0], 0.0, atol=1e-6)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("rho", [0.05, 0.5, 1.0])
def test_two_rows_in_closed_form(lam, rho):
    """With k(x, x) = 1 and k(x, x') = c: max over a <= rho of ``a - a^2 (1 - c) / (4 lam)``."""
    c = 0.3
    grams = np.array([[[1.0, c], [c, 1.0]]])
    result = solve(Problem.from_grams(grams, np.array([1.0, -1.0]), lam, rho), tol=1e-9)
    a = min(rho, 2.0 * lam / (1.0 - c))
    assert result.primal == pytest.approx(a - a * a * (1.0 - c) / (4.0 * lam), rel=1e-8)
    np.testing.assert_allclose(result.alpha, a, rtol=1e-4)


@pytest.mark.parametrize("lam", [0.05, 0.5, 5.0])
def test_a_constant_in_closed_form(lam):
    """f = c: min of ``lam/2 c^2 + 1 - c mean(y)`` over -1 <= c <= 1."""
    y = np.array([1.0, 1.0, 1.0, -1.0])
    result = solve(Problem.from_grams(np.ones((1, 4, 4)), y, lam, fit_intercept=False), tol=1e-9)
    c = min(1.0, 0.5 / lam)
    assert result.primal == pytest.approx(lam / 2.0 * c * c + 1.0 - 0.5 * c, rel=1e-8)


@pytest.mark.parametrize("solver", ["interior-point", "simplemkl"])
def test_one_kernel_of_two_values_in_closed_form(solver):
    """K = I, each row by itself, without intercept: alpha = min(1, n lam)."""
    n, lam = 5, 0.1
    p = Problem.from_grams(np.eye(n)[None], np.array([1.0, -1.0, 1.0, 1.0, -1.0]), lam, fit_intercept=False)
    result = solve(p, solver, tol=1e-8)
    a = min(1.0, n * lam)
    assert result.primal == pytest.approx(a - a * a / (2.0 * n * lam), rel=1e-7)
    np.testing.assert_allclose(result.alpha, a, rtol=1e-3)


@pytest.mark.parametrize("rho", [1.0, 0.5])
def test_kernels_that_are_zero_predict_nothing(rho):
    p = Problem.from_grams(np.zeros((2, 6, 6)), np.array([1.0, -1.0] * 3), 0.1, rho)
    result = solve(p, tol=1e-8)
    assert result.primal == pytest.approx(rho)
    np.testing.assert_array_equal(result.norms, 0.0)


def test_one_class_needs_no_more_than_the_intercept():
    """f = b = 1 has no loss and no norm."""
    X, _ = table(6)
    result = solve(Problem.from_grams(gaussians(X), np.ones(6), lam=0.1))
    assert result.primal == pytest.approx(0.0, abs=1e-12)
    assert result.dual == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", ["unbalanced classes", "one row of a class"])
def test_with_an_intercept_a_budget_above_twice_the_smaller_class_is_inactive(name):
    p = problem(name)
    smaller = min(p.s[p.y > 0].sum(), p.s[p.y < 0].sum())
    assert (p.budget.rho > 2.0 * p.budget.h * smaller / p.total) == (name == "unbalanced classes")
    assert name == "one row of a class" or not solution(name).budget_active


# --- SimpleMKL ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, solver in SOLVABLE if solver == "simplemkl"])
def test_simplemkl_comes_close_to_the_optimum(name):
    result = solution(name, "simplemkl")
    assert result.gap <= 1e-4 * result.primal


def test_simplemkl_drops_the_weight_it_is_moving_to():
    """Equal weights, and the better of two kernels takes all."""
    p = Problem.from_grams(np.stack([np.eye(2), 2.0 * np.eye(2)]), np.array([1.0, -1.0]), lam=0.01)
    result = solve(p, "simplemkl", tol=1e-7)
    assert result.converged
    assert result.norms[0] == pytest.approx(0.0, abs=1e-6)


def test_simplemkl_refuses_a_budget_and_names_the_remedy():
    with pytest.raises(ValueError, match=r"solver='simplemkl' .*rho = 1 \(got 0.7\): use solver='interior-point'"):
        solve(plain(10, rho=0.7), "simplemkl")


def test_simplemkl_refuses_a_budget_below_a_high_bound():
    with pytest.raises(ValueError, match=r"rho = 2 \(got 1\)"):
        solve(plain(10, rho=1.0, h=2.0), "simplemkl")


# --- Algorithm 1 --------------------------------------------------------------------------------


@pytest.mark.parametrize("T", [1, 5, 20, 100, 400])
@pytest.mark.parametrize("name", NO_INTERCEPT)
def test_theorem_2_bounds_the_gap(name, T):
    p = problem(name)
    point = next(islice(amp(p), T - 1, None))()
    assert certificate(p, *point).gap <= theorem_2(p, point, T) * (1.0 + ROUNDING)


@pytest.mark.parametrize("name", ["budget 7", "fractional weights", "high bound small budget"])
def test_bound_of_theorem_2_by_hand(name):
    """f* lies in the kernel of largest gradient, with norm ``||g||/lam``; alpha* maximises over Q."""
    p, T = problem(name), 7
    alpha, f = next(islice(amp(p), T - 1, None))()
    v = 1.0 - p.y * gram_evaluation(p, f.coef)[0]
    worst = p.budget.maximiser(v, p.s)
    total = (gradients(p, alpha).max() / p.lam) ** 2 + float(p.s @ worst**2)
    assert theorem_2(p, Point(alpha, f), T) == pytest.approx(total / (2.0 * step_size(p) * T))


def test_theorem_2_is_about_problems_without_intercept():
    p = plain(10)
    with pytest.raises(ValueError, match="without intercept: use fit_intercept=False"):
        theorem_2(p, Point(np.zeros(10), p.zero), 1)


@pytest.mark.parametrize(("n", "m"), [(10, 1), (30, 5)])
def test_step_size_is_the_papers_for_unit_diagonals(n, m):
    p = Problem.from_grams(gaussians(table(n)[0], tuple(range(1, m + 1))), table(n)[1], fit_intercept=False)
    assert step_size(p) == pytest.approx(np.sqrt(n / (2.0 * m)))


class Dense:
    """The steps of the paper on Gram matrices, one coefficient vector a kernel; nothing of the package."""

    def __init__(self, p):
        self.p, self.K, self.omega = p, grams_of(p.kernels), p.s / p.s.sum()
        self.a, self.b = np.zeros((p.kernels.m, p.y.size)), 0.0
        self.alpha = np.zeros(p.y.size)

    def f(self):
        return sum(K @ a for K, a in zip(self.K, self.a, strict=True)) + self.b

    def norms(self):
        return np.sqrt([max(a @ K @ a, 0.0) for K, a in zip(self.K, self.a, strict=True)])

    def step(self):
        """gamma of line 1; an intercept counts as a kernel that is constantly 1."""
        kappa = sum(K.diagonal().max() for K in self.K) + self.p.fit_intercept
        return np.sqrt(self.p.s.sum() / (2.0 * kappa))

    def ascend(self, alpha, gamma):
        """A projected ascent step at the present f, in the metric s."""
        return self.project(alpha + gamma * (1.0 - self.p.y * self.f()) / self.p.s.sum())

    def project(self, v):
        """Lemma 2, by bisection."""
        return nearest(self.p.budget, v, self.p.s)

    def shrink(self, gamma):
        """Lemma 3, by bisection on mu."""
        t, step = self.norms(), gamma * self.p.lam
        lo, hi = 0.0, t.sum()
        for _ in range(200):
            mu = (lo + hi) / 2.0
            lo, hi = (mu, hi) if np.maximum(t - step * mu, 0.0).sum() > mu else (lo, mu)
        factors = [max(1.0 - step * hi / norm, 0.0) if norm > 0.0 else 0.0 for norm in t]
        self.a *= np.array(factors)[:, None]

    def descend(self, alpha, gamma):
        """A gradient step in f, and in the intercept."""
        self.a += gamma * self.omega * alpha * self.p.y
        self.b += gamma * float(self.omega @ (alpha * self.p.y)) * self.p.fit_intercept


def algorithm_1(p, T):
    """Return the averages that Algorithm 1 outputs: alpha, values, norms, intercept."""
    state, beta, gamma = Dense(p), np.zeros(p.y.size), Dense(p).step()
    alphas, coefs, bs = [], [], []
    for _ in range(T):
        alphas.append(state.ascend(beta, gamma))  # line 4
        state.descend(alphas[-1], gamma)  # line 5
        state.shrink(gamma)
        beta = state.ascend(beta, gamma)  # line 6
        coefs.append(state.a.copy())
        bs.append(state.b)
    state.a, state.b = np.mean(coefs, axis=0), np.mean(bs)  # line 8
    return np.mean(alphas, axis=0), state.f(), state.norms(), state.b


def variational_inequality(p, T, gamma0):
    """Return the averages of T simultaneous steps of size ``gamma0 / sqrt(T)``."""
    state, gamma = Dense(p), gamma0 / np.sqrt(T)
    alphas, coefs, bs = [], [], []
    for _ in range(T):
        alpha, norms = state.alpha, state.norms()
        state.alpha = state.ascend(alpha, gamma)
        for j, norm in enumerate(norms):
            state.a[j] -= gamma * p.lam * norms.sum() * state.a[j] / norm if norm > 0.0 else 0.0
        state.descend(alpha, gamma)
        alphas.append(state.alpha)
        coefs.append(state.a.copy())
        bs.append(state.b)
    state.a, state.b = np.mean(coefs, axis=0), np.mean(bs)
    return np.mean(alphas, axis=0), state.f(), state.norms(), state.b


def assert_is(p, point, expected):
    alpha, values, norms, b = expected
    found_values, found_norms = p.evaluate(point.f)
    np.testing.assert_allclose(point.alpha, alpha, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found_values, values, rtol=1e-8, atol=1e-9 * max(1.0, np.abs(values).max()))
    np.testing.assert_allclose(found_norms, norms, rtol=1e-6, atol=1e-7 * max(1.0, norms.max()))
    assert point.f.intercept == pytest.approx(b, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("T", [1, 2, 10])
@every_problem
def test_amp_is_algorithm_1(name, T):
    p = problem(name)
    assert_is(p, next(islice(amp(p), T - 1, None))(), algorithm_1(p, T))


@pytest.mark.parametrize("T", [1, 2, 10])
@every_problem
def test_vi_is_the_simultaneous_step(name, T):
    p, gamma0 = problem(name), 0.5 / (1.0 + problem(name).kernels.diagonal_bound().max())
    assert_is(p, next(islice(vi(p, T, gamma0), T - 1, None))(), variational_inequality(p, T, gamma0))


@pytest.mark.parametrize("name", ["no budget no intercept", "budget 5", "high bound small budget"])
def test_amp_comes_closer_with_time(name):
    gaps = [solve(problem(name), "amp", tol=0.0, max_iter=T).gap for T in (10, 100, 1000)]
    assert gaps[0] > 3.0 * gaps[1] > 9.0 * gaps[2]


@pytest.mark.parametrize("name", ["budget 7", "budget 5", "whole weights"])
def test_amp_is_ahead_of_vi(name):
    assert solution(name, "amp").gap < solution(name, "vi").gap


@pytest.mark.parametrize("lam", [1e3, 1e6])
def test_vi_with_steps_too_long_still_returns_its_best_point(lam):
    result = solve(plain(20, lam=lam, rho=0.8), "vi", max_iter=200)
    assert 0.0 <= result.gap < np.inf
    assert np.all(np.isfinite(result.f.coef))


# --- The run: limits, history, starts, interruptions --------------------------------------------


@every_solver
@pytest.mark.parametrize("max_iter", [1, 2, 3])
def test_the_iteration_limit_ends_the_run(solver, max_iter):
    result = solve(problem("penalty 1e 3"), solver, tol=1e-13, max_iter=1 if solver == "simplemkl" else max_iter)
    assert result.status is Status.MAX_ITER
    assert result.n_iter == (1 if solver == "simplemkl" else max_iter)
    assert not result.converged


@pytest.mark.parametrize("max_iter", [0, -1])
def test_no_iterations_are_refused(max_iter):
    with pytest.raises(ValueError, match=f"max_iter must be a whole number >= 1, got {max_iter}"):
        solve(plain(10), max_iter=max_iter)


@pytest.mark.parametrize("name", ["tol", "atol"])
@pytest.mark.parametrize("value", [-1e-3, np.nan, np.inf])
def test_tolerances_must_be_numbers(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a finite number >= 0, got"):
        solve(plain(10), **{name: value})


def test_unknown_solvers_are_refused_by_name():
    with pytest.raises(ValueError, match=r"solver must be 'auto' or one of 'interior-point', .*, got 'simplex'"):
        solve(plain(10), "simplex")


@pytest.mark.parametrize("solver", ["interior-point", "simplemkl"])
@pytest.mark.parametrize("name", [n for n in NAMES if n not in ALPHA])
def test_a_solver_that_does_not_know_a_constraint_says_so(name, solver):
    p = problem(name)
    if p.budget.kind in SOLVERS[solver].sets:
        pytest.skip("it knows this one")
    with pytest.raises(ValueError, match=rf"solver='{solver}' does not know budget='{p.budget.kind}', eq. .*'amp'"):
        solve(p, solver)


@every_problem
def test_auto_is_the_first_solver_that_knows_the_constraint(name):
    knowing = [solver for solver in SOLVERS if problem(name).budget.kind in SOLVERS[solver].sets]
    assert choose("auto", problem(name).budget.kind) == knowing[0]


def test_auto_is_the_interior_point():
    p = problem("budget 5")
    assert solve(p, "auto").primal == solve(p, "interior-point").primal


@every_solver
def test_atol_is_absolute(solver):
    result = solve(problem("no budget no intercept"), solver, tol=0.0, atol=0.5)
    assert result.converged
    assert result.gap <= 0.5


@pytest.mark.parametrize(
    ("solver", "options", "sentence"),
    [
        ("interior-point", {}, "Optimum proved: the duality gap is within the tolerance."),
        ("amp", {"max_iter": 2}, "Stopped at the iteration limit before the gap reached the tolerance."),
    ],
)
def test_the_message_is_the_sentence_of_the_status(solver, options, sentence):
    assert solve(problem("budget 5"), solver, **options).message == sentence


def test_the_message_says_where_the_budget_is_inactive():
    assert solution("penalty 1e 4").message == Status.CONVERGED.value + " The budget is inactive."


@pytest.mark.parametrize("name", ["no budget", "budget 5"])
def test_the_message_is_silent_on_a_budget_that_is_active_or_not_there(name):
    assert solution(name).message == Status.CONVERGED.value


def test_every_status_is_a_sentence_of_its_own():
    sentences = {status.value for status in Status}
    assert len(sentences) == len(Status) == 4
    assert all(s[0].isupper() and s.endswith(".") for s in sentences)


@every_solver
def test_history_has_every_iteration(solver):
    result = solve(problem("no budget"), solver, tol=1e-7, max_iter=30, history=True)
    assert [record.iteration for record in result.history] == list(range(1, result.n_iter + 1))
    assert all(before.seconds <= after.seconds for before, after in pairwise(result.history))


@every_solver
def test_the_result_is_the_best_of_its_history(solver):
    result = solve(problem("no budget"), solver, tol=1e-7, max_iter=30, history=True)
    assert result.primal == min(record.primal for record in result.history)
    assert result.dual == max(record.dual for record in result.history)


@every_solver
def test_no_history_unless_asked_for(solver):
    assert solve(problem("no budget"), solver, max_iter=3).history == []


@every_solver
def test_an_optimal_start_is_returned_at_once(solver):
    best = solution("no budget no intercept")
    result = solve(problem("no budget no intercept"), solver, tol=1e-6, start=Point(best.alpha, best.f))
    assert result.n_iter == 1
    assert result.converged
    assert result.primal == best.primal


def test_an_optimal_start_has_a_history_of_one_line():
    p, best = problem("budget 5"), solution("budget 5")
    result = solve(p, tol=1e-6, start=Point(best.alpha, best.f), history=True)
    assert [record.iteration for record in result.history] == [1]


@every_solver
def test_a_poor_start_does_no_harm(solver):
    p, rng = problem("penalty 1e 3"), np.random.default_rng(0)
    start = Point(rng.normal(size=p.y.size), KernelFunction(rng.normal(size=p.kernels.size)))
    with_start, without = (solve(p, solver, tol=1e-6, max_iter=500, start=point) for point in (start, None))
    assert optima_agree(with_start, reference("penalty 1e 3"))
    assert with_start.gap <= 3.0 * without.gap


def test_amp_goes_on_from_its_start():
    p, best = problem("budget 5"), solution("budget 5")
    gaps = [solve(p, "amp", tol=0.0, max_iter=10, start=start).gap for start in (Point(best.alpha, best.f), None)]
    assert gaps[0] < 0.2 * gaps[1]


def test_amp_leaves_its_start_as_it_was():
    p, best = problem("budget 5"), solution("budget 5")
    start = Point(best.alpha.copy(), KernelFunction(best.f.coef.copy(), best.intercept))
    solve(p, "amp", tol=0.0, max_iter=3, start=start)
    np.testing.assert_array_equal(start.alpha, best.alpha)
    np.testing.assert_array_equal(start.f.coef, best.f.coef)


def interrupt_after(monkeypatch, calls):
    """Press Ctrl-C in the middle of an iteration."""
    original, calls_made = KernelBank.adjoint, count(1)

    def adjoint(self, q):
        if next(calls_made) == calls:
            raise KeyboardInterrupt
        return original(self, q)

    monkeypatch.setattr(KernelBank, "adjoint", adjoint)


@pytest.mark.parametrize(("solver", "calls"), [("interior-point", 30), ("amp", 100), ("vi", 100), ("simplemkl", 6)])
def test_an_interrupted_run_returns_its_best_point(monkeypatch, solver, calls):
    p = problem("no budget")
    interrupt_after(monkeypatch, calls)
    result = solve(p, solver, tol=1e-12)
    assert result.status is Status.INTERRUPTED
    assert result.message.startswith("Interrupted: the best certified point so far.")
    np.testing.assert_allclose(certificate(p, result.alpha, result.f)[:2], (result.primal, result.dual), rtol=1e-12)
    assert result.dual <= reference("no budget").primal <= result.primal + 1e-9


def test_an_interruption_before_any_point_is_passed_on(monkeypatch):
    interrupt_after(monkeypatch, 1)
    with pytest.raises(KeyboardInterrupt):
        solve(problem("no budget"))


def test_progress_is_logged_on_demand(caplog):
    with caplog.at_level(logging.INFO, logger="robustmkl"):
        result = solve(problem("budget 5"), verbose=1)
    assert len(caplog.records) == result.n_iter
    assert caplog.messages[0].startswith("iteration 1, ")


def test_nothing_is_logged_otherwise(caplog):
    with caplog.at_level(logging.INFO, logger="robustmkl"):
        solve(problem("budget 5"))
    assert caplog.records == []


# --- Metamorphic relations ----------------------------------------------------------------------


SHAPES = [
    {"lam": 0.1, "rho": 0.6},
    {"lam": 0.01},
    {"lam": 0.1, "rho": 1.0, "h": H, "fit_intercept": False},
]
every_shape = pytest.mark.parametrize("options", SHAPES)


def rows_and_kernels(n=24, seed=5):
    X, y = table(n, seed=seed)
    return gaussians(X), y


@every_shape
def test_the_order_of_the_rows_does_not_matter(options):
    grams, y = rows_and_kernels()
    order = np.random.default_rng(0).permutation(y.size)
    p, q = (
        Problem.from_grams(grams, y, **options),
        Problem.from_grams(grams[:, order][:, :, order], y[order], **options),
    )
    one, other = solve(p, tol=1e-8), solve(q, tol=1e-8)
    assert optima_agree(one, other)
    np.testing.assert_allclose(p.evaluate(one.f)[0][order], q.evaluate(other.f)[0], atol=1e-3)


@every_shape
def test_swapped_labels_change_the_sign_of_f(options):
    grams, y = rows_and_kernels()
    p, q = Problem.from_grams(grams, y, **options), Problem.from_grams(grams, -y, **options)
    one, other = solve(p, tol=1e-8), solve(q, tol=1e-8)
    assert optima_agree(one, other)
    np.testing.assert_allclose(p.evaluate(one.f)[0], -q.evaluate(other.f)[0], atol=1e-3)


@every_shape
@pytest.mark.parametrize("solver", ["interior-point", "amp"])
def test_a_kernel_given_twice_changes_nothing(options, solver):
    grams, y = rows_and_kernels()
    p, q = (Problem.from_grams(K, y, **options) for K in (grams, np.concatenate([grams, grams[:2]])))
    assert optima_agree(*(solve(problem, solver, tol=1e-8, max_iter=200) for problem in (p, q)))


@every_shape
def test_a_further_kernel_does_no_harm(options):
    grams, y = rows_and_kernels()
    few, all_ = (solve(Problem.from_grams(K, y, **options), tol=1e-8) for K in (grams[2:], grams))
    assert all_.dual <= few.primal


@every_shape
def test_weight_2_is_a_row_given_twice(options):
    grams, y = rows_and_kernels(15)
    s = np.random.default_rng(1).integers(1, 4, y.size)
    twice = np.repeat(np.arange(y.size), s)
    p = Problem.from_grams(grams, y, sample_weight=s * 1.0, **options)
    q = Problem.from_grams(grams[:, twice][:, :, twice], y[twice], **options)
    one, other = solve(p, tol=1e-8), solve(q, tol=1e-8)
    assert optima_agree(one, other)
    np.testing.assert_allclose(p.evaluate(one.f)[0][twice], q.evaluate(other.f)[0], atol=1e-3)


@pytest.mark.parametrize("T", [1, 2, 20])
def test_weight_2_is_a_row_given_twice_for_every_iterate_of_algorithm_1(T):
    grams, y = rows_and_kernels(15)
    s = np.random.default_rng(1).integers(1, 4, y.size)
    twice = np.repeat(np.arange(y.size), s)
    p = Problem.from_grams(grams, y, lam=0.1, rho=0.6, sample_weight=s * 1.0)
    q = Problem.from_grams(grams[:, twice][:, :, twice], y[twice], lam=0.1, rho=0.6)
    one, other = (next(islice(amp(problem), T - 1, None))() for problem in (p, q))
    np.testing.assert_allclose(one.alpha[twice], other.alpha, atol=1e-9)


@every_shape
@pytest.mark.parametrize("factor", [1e-6, 3.0, 1e6])
def test_only_the_proportions_of_the_weights_matter(options, factor):
    grams, y = rows_and_kernels()
    s = np.random.default_rng(2).random(y.size) + 0.1
    p, q = (Problem.from_grams(grams, y, sample_weight=c * s, **options) for c in (1.0, factor))
    one, other = solve(p, tol=1e-8), solve(q, tol=1e-8)
    assert optima_agree(one, other)
    np.testing.assert_allclose(other.alpha, one.alpha, atol=1e-3)


@pytest.mark.parametrize("rho", [0.5, 0.9, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_bound_h_scales_out(rho, fit_intercept):
    """StPMKL_h(lam, rho) has the f of StPMKL_1(lam/h, rho/h), and h times its values."""
    grams, y = rows_and_kernels()
    p = Problem.from_grams(grams, y, 0.1, rho * H, H, fit_intercept=fit_intercept)
    q = Problem.from_grams(grams, y, 0.1 / H, rho, fit_intercept=fit_intercept)
    one, other = solve(p, tol=1e-9), solve(q, tol=1e-9)
    assert optima_agree(one, other, factor=H)
    assert one.theta == pytest.approx(other.theta, abs=1e-4)
    np.testing.assert_allclose(p.evaluate(one.f)[0], q.evaluate(other.f)[0], atol=1e-3)
    np.testing.assert_allclose(one.alpha, H * other.alpha, atol=5e-3)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_the_unit_of_the_kernels_is_that_of_lam(scale):
    grams, y = rows_and_kernels()
    one = solve(Problem.from_grams(grams, y, 0.1, 0.7), tol=1e-8)
    other = solve(Problem.from_grams(scale * grams, y, 0.1 * scale, 0.7), tol=1e-8)
    assert optima_agree(one, other)


# --- Any alpha and any f ------------------------------------------------------------------------


untimed = settings(deadline=None)
seeds = st.integers(0, 2**32 - 1)
scales = st.sampled_from([1e-3, 0.1, 1.0, 10.0, 1e3])


@given(st.sampled_from(NAMES), seeds, scales)
@untimed
def test_any_alpha_is_a_lower_bound(name, seed, scale):
    p = problem(name)
    alpha = scale * np.random.default_rng(seed).normal(0.3, 1.0, p.y.size)
    assert p.dual(alpha) <= reference(name).primal + ROUNDING * p.budget.rho


@given(st.sampled_from(NAMES), seeds, scales)
@untimed
def test_any_alpha_is_made_feasible(name, seed, scale):
    p = problem(name)
    alpha = scale * np.random.default_rng(seed).normal(0.3, 1.0, p.y.size)
    restored = p.restore(alpha)
    assert dual_violation(p, restored) <= ROUNDING
    assert p.dual(alpha) == pytest.approx(dual_value(p, restored), rel=1e-9, abs=1e-9)


@given(st.sampled_from(NAMES), seeds, scales)
@untimed
def test_any_f_is_an_upper_bound(name, seed, scale):
    p, rng = problem(name), np.random.default_rng(seed)
    f = KernelFunction(scale * rng.normal(size=p.kernels.size), p.fit_intercept * rng.normal())
    assert p.primal(f) >= reference(name).dual - ROUNDING * p.budget.rho


@given(st.sampled_from(GIVEN_GRAMS), seeds, scales)
@untimed
def test_primal_of_any_f_is_that_of_the_gram_matrices(name, seed, scale):
    p, rng = problem(name), np.random.default_rng(seed)
    f = KernelFunction(scale * rng.normal(size=p.kernels.size), rng.normal())
    values, norms = gram_evaluation(p, f.coef)
    assert p.primal(f) == pytest.approx(primal_value(p, values + f.intercept, norms), rel=1e-8, abs=1e-10)


@given(st.sampled_from([name for name in NAMES if name not in GIVEN_GRAMS]), seeds)
@untimed
def test_primal_of_families_is_that_of_their_gram_matrices(name, seed):
    """``f_j = u_j sum_i c_i k_j(x_i, .)``."""
    p, rng = problem(name), np.random.default_rng(seed)
    c, u, b = rng.normal(size=p.y.size), rng.normal(size=p.kernels.m), rng.normal()
    coef = p.kernels.spread(u) * p.kernels.expand(p.kernels.adjoint(c))
    grams = grams_of(p.kernels)
    norms = np.abs(u) * np.sqrt(np.maximum([c @ K @ c for K in grams], 0.0))
    values = np.tensordot(u, grams @ c, axes=1) + b
    assert p.primal(KernelFunction(coef, b)) == pytest.approx(primal_value(p, values, norms), rel=1e-8)


@every_problem
def test_a_dual_point_is_left_as_it_is(name):
    p, alpha = problem(name), reference(name).alpha
    np.testing.assert_allclose(p.restore(alpha), alpha, atol=ROUNDING)


def test_gram_matrices_of_families_are_those_of_the_formulas():
    X, y = table(60)
    unit = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    dictionary = KernelDictionary((Gaussian((0.5, 2.0)), [0]), (Linear(), [1]), (Polynomial(degree=3), [2]))
    a, b, c = unit.T
    expected = np.stack(
        [
            *(np.exp(-(np.subtract.outer(a, a) ** 2) / (2.0 * w * w)) for w in (0.5, 2.0)),
            np.outer(b, b),
            (np.outer(c, c) + 1.0) ** 3,
        ]
    )
    np.testing.assert_allclose(grams_of(from_dictionary(dictionary, X, y).kernels), expected, atol=1e-11)


# --- What is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": np.ones(5)}, r"y has shape \(5,\) for 10 training rows"),
        ({"y": np.tile([0.0, 1.0], 5)}, r"y must hold -1 and \+1 only, got"),
        ({"y": np.full(10, np.nan)}, r"y must hold -1 and \+1 only"),
        ({"sample_weight": np.ones(3)}, r"s has shape \(3,\) for 10 training rows"),
        (
            {"sample_weight": np.arange(10.0) - 1.0},
            r"weights must be positive and finite, got .*-1.0.*leave rows of weight 0 out",
        ),
        ({"sample_weight": np.full(10, np.inf)}, "weights must be positive and finite"),
        ({"lam": 0.0}, "lam must be a positive finite number, got 0.0"),
        ({"rho": 1.5}, r"rho must lie in \(0, 1\], got 1.5"),
        ({"h": 0.5}, "h must be a finite number >= 1, got 0.5"),
    ],
)
def test_malformed_problems_are_refused(options, message):
    X, y = table(10)
    with pytest.raises(ValueError, match=message):
        Problem.from_grams(gaussians(X), **({"y": y} | options))


def test_without_budget_is_the_ordinary_problem():
    p = plain(10, rho=0.7, h=2.0)
    assert p.without_budget().budget == Budget(2.0, 2.0)
