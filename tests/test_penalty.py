"""The squared block norm: the prox of Lemma 3 and the conjugate, against numerical minimisers."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, nnls

from robustmkl.penalty import SquaredBlockNorm

untimed = settings(deadline=None)
lams = st.floats(1e-4, 10.0)
gammas = st.floats(1e-2, 100.0)
norms = st.lists(st.one_of(st.just(0.0), st.floats(1e-6, 100.0)), min_size=1, max_size=10).map(np.array)


def minimiser_of_13(t, step):
    """Return the norms that minimise eq. (13): ``|u - t|^2 / 2 + step/2 (sum u)^2`` over u >= 0, least squares."""
    rows = np.concatenate([np.eye(t.size), np.full((1, t.size), np.sqrt(step))])
    return nnls(rows, np.append(t, 0.0))[0]


# --- Prox: Lemma 3 ------------------------------------------------------------------------------


@given(norms, lams, gammas)
@untimed
def test_prox_minimises_13(t, lam, gamma):
    shrunk = SquaredBlockNorm(lam).prox(t, gamma) * t
    np.testing.assert_allclose(shrunk, minimiser_of_13(t, gamma * lam), atol=1e-9 * max(1.0, t.max()))


@pytest.mark.parametrize("seed", range(4))
def test_prox_minimises_13_over_vectors(seed):
    """Among all vectors, the minimiser shrinks each block along itself."""
    rng = np.random.default_rng(seed)
    lam, gamma, blocks = 0.5, 1.0 + seed, rng.normal(size=(5, 3)) * rng.random((5, 1))
    f = cp.Variable(blocks.shape)
    objective = 0.5 * cp.sum_squares(f - blocks) + gamma * lam / 2.0 * cp.square(cp.sum(cp.norm(f, axis=1)))
    cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL)
    factors = SquaredBlockNorm(lam).prox(np.linalg.norm(blocks, axis=1), gamma)
    np.testing.assert_allclose(factors[:, None] * blocks, f.value, atol=1e-5)


def test_prox_minimises_13_by_descent():
    """A general minimiser, for the objective as it is written."""
    t, lam, gamma = np.array([3.0, 2.0, 0.2]), 0.4, 1.5
    penalty = SquaredBlockNorm(lam)
    found = minimize(lambda u: 0.5 * np.sum((u - t) ** 2) + gamma * penalty.value(u), t, bounds=[(0.0, None)] * 3)
    np.testing.assert_allclose(penalty.prox(t, gamma) * t, found.x, atol=1e-5)


@given(norms, lams, gammas)
@untimed
def test_prox_factors_lie_between_0_and_1(t, lam, gamma):
    factors = SquaredBlockNorm(lam).prox(t, gamma)
    assert factors.shape == t.shape
    assert np.all((factors >= 0.0) & (factors <= 1.0))


@given(norms, lams, gammas)
@untimed
def test_prox_solves_the_equation_of_mu(t, lam, gamma):
    factors = SquaredBlockNorm(lam).prox(t, gamma)
    mu = float(np.sum(factors * t))
    expected = np.maximum(t - gamma * lam * mu, 0.0)
    np.testing.assert_allclose(factors * t, expected, atol=1e-12 * max(1.0, t.max()))


@given(st.integers(1, 10), st.floats(1e-3, 1e3), lams, gammas)
@untimed
def test_prox_of_ties(m, value, lam, gamma):
    factors = SquaredBlockNorm(lam).prox(np.full(m, value), gamma)
    np.testing.assert_allclose(factors, 1.0 / (1.0 + m * gamma * lam), atol=1e-14)


@given(norms, lams, gammas, st.sampled_from([1e-100, 1e-12, 1e12, 1e100]))
@untimed
def test_prox_factors_do_not_depend_on_the_unit(t, lam, gamma, unit):
    penalty = SquaredBlockNorm(lam)
    np.testing.assert_allclose(penalty.prox(unit * t, gamma), penalty.prox(t, gamma), atol=1e-9)


@pytest.mark.parametrize("m", [1, 4])
def test_prox_of_zero_is_zero(m):
    np.testing.assert_array_equal(SquaredBlockNorm(1.0).prox(np.zeros(m), 1.0), np.zeros(m))


def test_prox_of_one_block_by_hand():
    np.testing.assert_allclose(SquaredBlockNorm(0.5).prox(np.array([7.0]), 2.0), [0.5])


def test_prox_by_hand():
    """gamma lam = 1: mu = 3/2 from the first block alone, and the second, of norm 1, falls to zero."""
    np.testing.assert_allclose(SquaredBlockNorm(0.5).prox(np.array([1.0, 3.0]), 2.0), [0.0, 0.5])


def test_the_factor_one_half_in_print_does_not_minimise_13():
    t, step = np.array([3.0]), 1.0
    printed = t / (1.0 + step / 2.0)
    right = SquaredBlockNorm(step).prox(t, 1.0) * t
    values = [0.5 * float((u - t) @ (u - t)) + step / 2.0 * float(u.sum()) ** 2 for u in (printed, right)]
    assert values[1] < values[0]


@given(norms, lams)
@untimed
def test_a_step_next_to_nothing_changes_nothing(t, lam):
    np.testing.assert_allclose(SquaredBlockNorm(lam).prox(t, 1e-300) * t, t)


@given(norms, lams)
@untimed
def test_an_endless_step_leaves_nothing(t, lam):
    assert np.all(SquaredBlockNorm(lam).prox(t, 1e12) * t <= 1e-6)


# --- Value and conjugate ------------------------------------------------------------------------


def test_value_by_hand():
    assert SquaredBlockNorm(0.5).value(np.array([1.0, 2.0, 3.0])) == pytest.approx(0.25 * 36.0)


@given(norms, norms, lams)
@untimed
def test_fenchels_inequality(x, y, lam):
    size = min(x.size, y.size)
    x, y = x[:size], y[:size]
    penalty = SquaredBlockNorm(lam)
    assert penalty.value(x) + penalty.conjugate(y**2) >= float(x @ y) * (1.0 - 1e-12) - 1e-12


@given(norms, lams)
@untimed
def test_fenchels_inequality_is_tight(y, lam):
    """At ``x = max_j y_j / lam``, all in the largest block."""
    penalty, x = SquaredBlockNorm(lam), np.zeros_like(y)
    x[np.argmax(y)] = y.max() / lam
    assert penalty.value(x) + penalty.conjugate(y**2) == pytest.approx(float(x @ y), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_conjugate_is_the_supremum(seed):
    rng = np.random.default_rng(seed)
    lam, y = 0.1 + rng.random(), rng.random(4)
    x = cp.Variable(4, nonneg=True)
    supremum = cp.Problem(cp.Maximize(x @ y - lam / 2.0 * cp.square(cp.sum(x)))).solve(solver=cp.CLARABEL)
    assert SquaredBlockNorm(lam).conjugate(y**2) == pytest.approx(supremum, rel=1e-6)


@pytest.mark.parametrize("lam", [0.0, -1.0, np.nan, np.inf])
def test_lam_that_is_not_positive_is_refused(lam):
    with pytest.raises(ValueError, match=f"lam must be a positive finite number, got {lam!r}"):
        SquaredBlockNorm(lam)
