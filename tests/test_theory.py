"""The paper's statements: by simulation, against linear programming, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from robustmkl.theory import (
    RiskBound,
    chance_bound,
    generalization_bound,
    mean_correctness_bound,
    relaxed_chance_bound,
)
from robustmkl.uncertainty import tau

untimed = settings(deadline=None)
EPSILONS = (0.01, 0.05, 0.3)
epsilons = st.floats(1e-6, 1.0 - 1e-6)
noise_levels = st.floats(0.0, 0.49)


@st.composite
def rows(draw, max_size=30):
    """Losses and probabilities of a few rows."""
    n = draw(st.integers(1, max_size))
    losses = draw(st.lists(st.floats(0.0, 5.0), min_size=n, max_size=n))
    p = draw(st.lists(st.floats(0.0, 1.0), min_size=n, max_size=n))
    return np.array(losses), np.array(p)


def binomial_error(probability, draws):
    """Five standard deviations of a frequency among independent draws."""
    return 5.0 * np.sqrt(probability * (1.0 - probability) / draws)


# --- Proposition 1 ------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("kind", ["two values", "beta"])
@pytest.mark.parametrize("n", [10, 200])
def test_proposition_1_fails_with_probability_epsilon_at_most(epsilon, kind, n):
    rng, draws, q = np.random.default_rng(0), 20_000, 0.3
    two_values = rng.random((draws, n)) < 1.0 - q  # the p_i of widest spread
    p = two_values if kind == "two values" else rng.beta(7.0, 3.0, size=(draws, n))
    above = (p.mean(axis=1) > mean_correctness_bound(q, n, epsilon)).mean()
    assert above <= epsilon + binomial_error(epsilon, draws)


def test_proposition_1_holds_for_dependent_xi():
    """The statement is on the p_i: one coin for all xi_i leaves them as they are."""
    rng, draws, n, q, epsilon = np.random.default_rng(1), 20_000, 50, 0.2, 0.05
    p = rng.beta(4.0, 1.0, size=(draws, n))
    xi = rng.random((draws, 1)) < p  # one uniform number for a whole sample
    bound = mean_correctness_bound(q, n, epsilon)
    assert (p.mean(axis=1) > bound).mean() <= epsilon + binomial_error(epsilon, draws)
    assert (xi.mean(axis=1) > bound).mean() > 2.0 * epsilon  # the mean of the xi_i is another matter


def test_proposition_1_value():
    assert mean_correctness_bound(0.25, 4, np.exp(-2.0)) == pytest.approx(0.75 + 1.0 / 2.0)


# --- Lemma 1 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("n", [5, 60])
@pytest.mark.parametrize("kind", ["equal", "uneven"])
def test_lemma_1_holds_for_independent_xi(epsilon, n, kind):
    rng, draws = np.random.default_rng(2), 20_000
    p = rng.random(n)
    losses = np.ones(n) if kind == "equal" else rng.exponential(size=n)
    weighted = (rng.random((draws, n)) < p) @ losses / n
    violated = (weighted > chance_bound(losses, p, epsilon)).mean()
    assert violated <= epsilon + binomial_error(epsilon, draws)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_lemma_1_fails_for_one_coin(epsilon):
    """One coin for all rows, p = .8, equal losses: violated with probability .8, whatever epsilon is."""
    rng, draws, n = np.random.default_rng(3), 20_000, 100
    losses, p = np.ones(n), np.full(n, 0.8)
    coin = rng.random(draws) < 0.8
    violated = (coin * losses.mean() > chance_bound(losses, p, epsilon)).mean()
    assert violated == pytest.approx(0.8, abs=binomial_error(0.8, draws))


@pytest.mark.parametrize(("n", "fails"), [(37, False), (38, True)])
def test_one_coin_needs_more_than_25_tau_squared_rows(n, fails):
    bound = chance_bound(np.ones(n), np.full(n, 0.8), 0.05)
    assert (bound < 1.0) is fails
    assert (n > 25.0 * tau(0.05) ** 2) is fails


def test_proposition_1_and_lemma_1_together():
    """The largest mean of p by Proposition 1, put into Lemma 1: both hold with 1 - 2 epsilon."""
    rng, draws, n, q, epsilon = np.random.default_rng(4), 20_000, 100, 0.4, 0.3
    p = rng.beta(0.6, 0.4, size=(draws, n))
    xi = rng.random((draws, n)) < p
    worst = np.full(n, mean_correctness_bound(q, n, epsilon))
    bound = chance_bound(np.ones(n), worst, epsilon)
    assert bound < 1.0
    assert (xi.mean(axis=1) > bound).mean() <= 2.0 * epsilon + binomial_error(2.0 * epsilon, draws)


@untimed
@given(rows(), epsilons)
def test_chance_bound_is_eq_8(data, epsilon):
    losses, p = data
    t = chance_bound(losses, p, epsilon)
    left = np.mean(p * losses) + tau(epsilon) * np.sqrt(np.sum((losses / losses.size) ** 2))
    assert t == pytest.approx(left, rel=1e-12, abs=1e-150)


@untimed
@given(rows(), epsilons, st.data())
def test_weights_are_repetitions(data, epsilon, more):
    losses, p = data
    s = np.array(more.draw(st.lists(st.integers(0, 3), min_size=losses.size, max_size=losses.size)))
    if not s.any():
        s[0] = 1
    repeated = chance_bound(np.repeat(losses, s), np.repeat(p, s), epsilon)
    assert chance_bound(losses, p, epsilon, sample_weight=s) == pytest.approx(repeated, rel=1e-12, abs=1e-150)


# --- eq. (9) ------------------------------------------------------------------------------------


@untimed
@given(rows(), epsilons)
def test_eq_9_implies_eq_8(data, epsilon):
    losses, p = data
    t8, t9 = chance_bound(losses, p, epsilon), relaxed_chance_bound(losses, p, epsilon)
    assert t8 <= t9 * (1.0 + 1e-12)
    assert t9 == pytest.approx(np.mean((p + tau(epsilon)) * losses), rel=1e-12, abs=1e-150)


@untimed
@given(rows(), st.floats(1e-6, np.exp(-2.0)))
def test_eq_9_is_no_less_than_the_mean_loss_for_small_epsilon(data, epsilon):
    losses, p = data
    assert relaxed_chance_bound(losses, p, epsilon) >= losses.mean() * (1.0 - 1e-12)


# --- Theorem 1 ----------------------------------------------------------------------------------


@untimed
@given(rows(), noise_levels, epsilons)
def test_empirical_term_is_the_linear_program(data, q, epsilon):
    losses, _ = data
    n, budget = losses.size, (1.0 - q) * losses.size + tau(epsilon) * np.sqrt(losses.size)
    program = linprog(-losses, A_ub=np.ones((1, n)), b_ub=[budget], bounds=(0.0, 1.0))
    bound = generalization_bound(losses, q, epsilon, lam=0.1)
    assert bound.empirical == pytest.approx(-program.fun / (n * (1.0 - q)), rel=1e-6, abs=1e-6)


@untimed
@given(noise_levels, epsilons, st.floats(1e-4, 10.0), st.floats(1e-6, 0.999), st.integers(1, 1000))
def test_complexity_term(q, epsilon, lam, delta, n):
    bound = generalization_bound(np.ones(n), q, epsilon, lam, delta)
    t = tau(epsilon)
    factor = np.sqrt(2.0 * (1.0 + t) / (n * (1.0 - q) * lam))
    expected = factor * (4.0 + np.sqrt((1.0 + lam / (2.0 * (1.0 + t))) * np.log(1.0 / delta)))
    assert bound.complexity == pytest.approx(expected, rel=1e-12)


def test_without_noise_the_empirical_term_is_the_mean_loss():
    losses = np.array([0.0, 0.5, 2.0])
    assert generalization_bound(losses, 0.0, 0.05, 0.01).empirical == pytest.approx(losses.mean())


@pytest.mark.parametrize(("complexity", "vacuous"), [(0.4, False), (0.5, True), (3.0, True)])
def test_a_bound_of_1_says_nothing(complexity, vacuous):
    bound = RiskBound(empirical=0.5, complexity=complexity)
    assert bound.total == 0.5 + complexity
    assert bound.is_vacuous is vacuous


@pytest.mark.parametrize("n", [281, 216, 166, 546, 552])  # 80 % of the five tables
@pytest.mark.parametrize("lam", [0.1, 0.01, 0.001])
def test_theorem_1_is_vacuous_on_the_five_tables(n, lam):
    """Even without noise, for losses 0 and for the smallest tau."""
    assert generalization_bound(np.zeros(n), 0.0, 1.0 - 1e-12, lam).is_vacuous


def test_theorem_1_says_something_with_many_rows():
    assert not generalization_bound(np.zeros(100_000), 0.2, 0.05, 0.1).is_vacuous


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_correctness_bound(0.5, 10, 0.05), r"noise_level must lie in \[0, 1/2\), got 0.5"),
        (lambda: mean_correctness_bound(0.2, 0, 0.05), r"n must be at least 1, got 0"),
        (lambda: mean_correctness_bound(0.2, 10, 1.0), r"epsilon must lie in \(0, 1\), got 1.0"),
        (lambda: chance_bound([1.0], [0.5], 0.0), r"epsilon must lie in \(0, 1\), got 0.0"),
        (lambda: chance_bound([1.0, -2.0], [0.5, 0.5], 0.1), r"losses must be >= 0, got -2: pass the hinge"),
        (lambda: chance_bound([1.0], [1.5], 0.1), r"p must lie in \[0, 1\], got 1.5"),
        (lambda: chance_bound([1.0, 2.0], [0.5], 0.1), r"losses has 2, p has 1"),
        (lambda: chance_bound([np.nan], [0.5], 0.1), r"losses holds nan"),
        (lambda: chance_bound([], [], 0.1), r"losses must be an array of shape \(n,\).*\(0,\)"),
        (lambda: chance_bound([[1.0]], [0.5], 0.1), r"losses must be an array of shape \(n,\).*\(1, 1\)"),
        (lambda: chance_bound([1.0], [0.5], 0.1, [-1.0]), r"sample_weight must be >= 0, got -1"),
        (lambda: chance_bound([1.0], [0.5], 0.1, [0.0]), r"sample_weight is 0 for every row"),
        (lambda: chance_bound([1.0], [0.5], 0.1, [1.0, 1.0]), r"sample_weight has 2"),
        (lambda: relaxed_chance_bound([1.0, 2.0], [0.5], 0.1), r"losses has 2, p has 1"),
        (lambda: relaxed_chance_bound([1.0], [-0.1], 0.1), r"p must lie in \[0, 1\], got -0.1"),
        (
            lambda: generalization_bound([1.0], 0.2, 0.1, 0.0),
            r"lam must be a positive finite number, got 0.0",
        ),
        (lambda: generalization_bound([1.0], 0.2, 0.1, 0.1, 0.0), r"delta must lie in \(0, 1\), got 0.0"),
        (
            lambda: generalization_bound([1.0], -0.1, 0.1, 0.1),
            r"noise_level must lie in \[0, 1/2\), got -0.1",
        ),
        (lambda: generalization_bound([1.0], 0.2, 2.0, 0.1), r"epsilon must lie in \(0, 1\), got 2.0"),
    ],
)
def test_messages(call, message):
    with pytest.raises(ValueError, match=message):
        call()
