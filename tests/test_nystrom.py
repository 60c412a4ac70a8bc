"""Nystrom bases against brute force: the kernel k(x, L) K(L, L)^-1 k(L, x') in NumPy, and the exact Gram matrices."""

import tracemalloc

import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from robustmkl import Problem, StPMKLClassifier, mkl_path, solve
from robustmkl.kernels import Gaussian, KernelDictionary, Polynomial, nystrom, paper_dictionary
from robustmkl.kernels.gaussian import GaussianGram
from robustmkl.kernels.polynomial import PolynomialGram
from robustmkl.uncertainty import Budget

RNG = np.random.default_rng(3)
X = RNG.random((300, 4))
NEW = np.vstack([RNG.random((40, 4)), 3.0 * RNG.normal(size=(20, 4))])
Y = np.where(X[:, 0] + np.sin(6.0 * X[:, 1]) + 0.3 * RNG.normal(size=300) > 0.8, 1.0, -1.0)
WIDTHS = (0.25, 1.0, 8.0, 64.0)


def rows(name):
    """Tables that are hard on pivots."""
    return {
        "uniform": X,
        "duplicates": np.repeat(X[:60], 5, axis=0),
        "constant columns": np.column_stack([X[:, :1], np.full((300, 3), 0.5)]),
        "equal rows": np.ones((30, 3)),
        "two rows": np.array([[0.0, 1.0], [1.0, 0.0]]),
        "outliers": np.vstack([X, 1e6 * RNG.normal(size=(3, 4))]),
        "huge": 1e300 * (X - 0.5),
        "many columns": np.random.default_rng(0).random((80, 60)),
    }[name]


NAMES = ("uniform", "duplicates", "constant columns", "equal rows", "two rows", "outliers", "huge", "many columns")


def gaussian(width):
    return GaussianGram(np.array([width]))


def fit(table, width, rank):
    return nystrom.fit_nystrom(gaussian(width), table, "gaussian", rank)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("rank", [1, 50, 1000])
def test_reported_error_is_that_of_the_worst_entry(name, width, rank):
    table = rows(name)
    fitted = fit(table, width, rank)
    with np.errstate(over="ignore", under="ignore"):
        worst = np.abs(fitted.B @ fitted.B.T - gaussian(width)(table, table, [0])[0]).max()
    assert worst <= fitted.entry_error <= 2.0 * worst + 2e-15
    assert fitted.B.shape[1] <= min(rank, len(table))
    assert fitted.capped == (fitted.entry_error > 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_without_a_limit_every_kernel_is_exact(name):
    for width in WIDTHS:
        assert fit(rows(name), width, 1000).entry_error <= 2.0 * nystrom.TARGET


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("rank", [5, 60])
def test_basis_and_predictions_are_those_of_the_nystrom_kernel(width, rank):
    """Against an eigendecomposition: pseudo-inverse of K(L, L), for ranks at which it is well conditioned."""
    fitted = fit(X, width, rank if width < 1.0 else 5)
    values, vectors = np.linalg.eigh(gaussian(width)(fitted.pivots, fitted.pivots, [0])[0])
    known, new = (gaussian(width)(Z, fitted.pivots, [0])[0] @ vectors for Z in (X, NEW))
    scale = 1e-15 / values.min() + 1e-13
    np.testing.assert_allclose(fitted.B @ fitted.B.T, known / values @ known.T, rtol=0, atol=scale)
    for i in (0, 17, 255):
        wanted = new / values @ known[i]
        np.testing.assert_allclose(fitted.part(fitted.B[[i]]).contributions(NEW)[:, 0], wanted, rtol=0, atol=scale)


@pytest.mark.parametrize("width", WIDTHS)
def test_training_rows_are_predicted_as_they_are_represented(width):
    fitted = fit(X, width, 100)
    for i in (0, 100, 299):
        values = fitted.part(fitted.B[[i]]).contributions(X)[:, 0]
        np.testing.assert_allclose(values, fitted.B @ fitted.B[i], rtol=0, atol=1e-11)


@pytest.mark.parametrize("width", [8.0, 64.0])
def test_kernels_exact_on_the_training_rows_are_so_between_them(width):
    fitted, inside = fit(X, width, 300), NEW[:40]
    wanted = gaussian(width)(inside, X, [0])[0]
    values = [fitted.part(fitted.B[[i]]).contributions(inside)[:, 0] for i in range(300)]
    assert np.abs(np.stack(values, axis=1) - wanted).max() <= 1e-11
    assert fitted.root.shape[0] < 300


def test_a_function_has_its_exact_norm():
    fitted = fit(X, 0.25, 40)
    a = np.random.default_rng(0).normal(size=(1, 40))
    part = fitted.part(a)
    K = rbf_kernel(part.rows, gamma=8.0)
    assert part.a[0] @ K @ part.a[0] == pytest.approx(float(a[0] @ a[0]), rel=1e-9)


def test_pivots_depend_on_the_values_of_the_rows_alone():
    shuffled = np.random.default_rng(5).permutation(300)
    for width in WIDTHS:
        one, other = fit(X, width, 70), fit(X[shuffled], width, 70)
        np.testing.assert_array_equal(one.pivots, other.pivots)
        np.testing.assert_array_equal(one.B[shuffled], other.B)


def test_pivots_are_spread_where_no_rank_is_enough():
    """Three far rows are not all that a narrow kernel needs: on average over the rows it beats the greedy choice."""
    table = np.vstack([X, 1e6 + np.arange(12.0).reshape(3, 4)])
    B = fit(table, 0.5, 20).B
    K = rbf_kernel(table, gamma=2.0)
    greedy, left = [], K.diagonal().copy()
    for _ in range(20):
        greedy.append(int(left.argmax()))
        left = 1.0 - np.einsum("ij,ji->i", K[:, greedy], np.linalg.solve(K[np.ix_(greedy, greedy)], K[greedy]))
    assert np.mean(1.0 - np.einsum("ij,ij->i", B, B)) < left.mean()


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_joint_polynomial_has_an_exact_basis(degree):
    fitted = KernelDictionary(Polynomial(degree, joint=True)).fit(X)
    bank, scaled = fitted.bank(X), fitted.scale(X)
    wanted = polynomial_kernel(scaled, degree=degree, gamma=1, coef0=1)
    assert bank.rank <= 35 < 300
    assert np.abs(bank.gram(0) - wanted).max() <= bank.entry_error <= 1e-12 * wanted.max()
    new = polynomial_kernel(fitted.scale(NEW), scaled[[7]], degree=degree, gamma=1, coef0=1)[:, 0]
    row = bank.adjoint(np.eye(300)[7])
    values = fitted.expansion(bank.blocks(row))(NEW)
    np.testing.assert_allclose(values, new, rtol=1e-9, atol=1e-9)
    assert KernelDictionary(Polynomial(degree, joint=True)).fit(X, exact=True).bank(X).rank == 300


def test_a_kernel_of_zeros_has_a_basis_of_rank_one():
    fitted = nystrom.fit_nystrom(PolynomialGram(2, 0.0), np.zeros((5, 2)), "polynomial", 3)
    np.testing.assert_array_equal(fitted.B, np.zeros((5, 1)))
    np.testing.assert_array_equal(fitted.part(np.zeros((1, 1))).contributions(NEW[:, :2]), np.zeros((60, 1)))


# --- the dictionary -----------------------------------------------------------------------------


def test_names_and_their_order_do_not_change():
    limited = KernelDictionary(Gaussian(joint=True, rank=20), Gaussian(), (Polynomial(joint=True), [0, 1]))
    exact = KernelDictionary(Gaussian(joint=True), Gaussian(), (Polynomial(joint=True), [0, 1]))
    assert limited.fit(X).kernel_names == exact.fit(X, exact=True).kernel_names
    assert limited.fit(X).bank(X).names == exact.fit(X, exact=True).bank(X).names
    assert len(limited.fit(X).families) == 10 + 4 + 1


def test_many_rows_get_a_basis_and_few_their_matrices(monkeypatch):
    assert paper_dictionary().fit(X).bank(X).identities
    monkeypatch.setattr(nystrom, "GRAM_BYTES", 8 * 10 * 299**2)
    monkeypatch.setattr(nystrom, "RANK", 30)
    bank = paper_dictionary().fit(X).bank(X)
    assert not bank.identities
    assert bank.capped
    assert bank.rank <= 10 * 30 + 4 * 31
    assert paper_dictionary().fit(X, exact=True).bank(X).identities


def test_a_limit_beyond_the_rows_is_none():
    assert KernelDictionary(Gaussian(joint=True, rank=300)).fit(X).bank(X).identities


@pytest.mark.parametrize("family", [Gaussian, Polynomial])
@pytest.mark.parametrize("rank", [0, -3, 2.5, "all", True, np.nan], ids=str)
def test_bad_limits_are_refused(family, rank):
    with pytest.raises((TypeError, ValueError), match=rf"{family.__name__} rank must be a whole number >= 1, got"):
        family(joint=True, rank=rank)


@pytest.mark.parametrize("rank", [60, 200])
def test_memory_is_foreseen(rank):
    table = np.random.default_rng(0).random((3000, 6))
    dictionary = KernelDictionary(Gaussian(joint=True, rank=rank), Gaussian())
    dictionary.fit(table[:50]).bank(table[:50])  # what is cached is not counted
    tracemalloc.start()
    dictionary.fit(table).bank(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.6 <= dictionary.estimate_memory(3000, 6) / peak <= 1.2


# --- models -------------------------------------------------------------------------------------

LIMITED = KernelDictionary(Gaussian(joint=True, rank=50), Gaussian())


@pytest.fixture(scope="module")
def model():
    return StPMKLClassifier(lam=1e-3, rho=0.9, kernels=LIMITED, tol=1e-7).fit(X, Y)


def test_optimum_is_that_of_the_nystrom_kernels_as_gram_matrices(model):
    bank = LIMITED.fit(X).bank(X)
    grams = np.stack([bank.gram(j) for j in range(bank.m)])
    given = solve(Problem.from_grams(grams, Y, 1e-3, 0.9), tol=1e-7)
    assert model.primal_ == pytest.approx(given.primal, rel=2e-7)
    np.testing.assert_allclose(model.kernel_weights_, given.norms / given.norms.sum(), atol=1e-3)


def test_values_on_the_training_rows_are_those_that_were_certified(model):
    (problem, point), *_ = model.problem(X, Y)
    values, _ = problem.evaluate(point.f)
    np.testing.assert_allclose(np.sort(model.decision_function(X)), np.sort(values), atol=1e-10)


def test_certificate_from_exact_matrices_differs_by_the_kernel_error(model):
    again = model.certificate(X, Y)
    assert again.primal == pytest.approx(model.primal_, rel=1e-9)  # f is a function of the exact spaces
    assert abs(again.dual - model.dual_) <= model.result_.kernel_error * model.primal_
    assert again.dual <= model.dual_ + 1e-12  # the exact kernels are the larger ones


def test_kernels_exact_to_rounding_give_the_exact_certificate():
    wide = KernelDictionary(Gaussian((8.0, 64.0), joint=True, rank=250))
    model = StPMKLClassifier(lam=1e-3, kernels=wide, tol=1e-7).fit(X, Y)
    assert model.result_.f.coef.size < 300
    assert model.certificate(X, Y).gap <= 2e-7 * model.primal_
    assert model.result_.kernel_error <= 1e-8


def test_a_limit_on_purpose_is_not_replaced_by_exact_matrices():
    small = StPMKLClassifier(lam=1e-6, kernels=LIMITED, tol=1e-4).fit(X, Y)
    assert small.result_.kernel_error > 1.0
    assert small.result_.f.coef.size <= 10 * 50 + 4 * 310
    (path,) = mkl_path(X, Y, lams=[1e-6], kernels=LIMITED)
    assert path.f.coef.size == small.result_.f.coef.size


def test_a_model_keeps_the_pivots_alone(model):
    joint = model._expansions[0].parts[0]
    assert joint.rows.shape == (50, 4)


def test_amp_decreases_the_gap_on_a_nystrom_basis():
    bank = LIMITED.fit(X).bank(X)
    problem = Problem(bank, Y, np.ones(300), 0.1, Budget(1.0, 1.0))
    gaps = [solve(problem, "amp", tol=0.0, max_iter=t).gap for t in (10, 200)]
    assert gaps[1] < gaps[0]
