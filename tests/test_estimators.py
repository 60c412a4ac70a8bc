"""The classifiers: scikit-learn's checks, the contract of their attributes, and relations that must hold."""

import pickle
import tracemalloc
from math import log, sqrt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from robustmkl import MiPMKLClassifier, SimpleMKLClassifier, Status, StPMKLClassifier
from robustmkl.kernels import Gaussian, KernelDictionary, Linear

CLASSIFIERS = [StPMKLClassifier, SimpleMKLClassifier, MiPMKLClassifier]
PAPER_WIDTHS = 2.0 ** np.arange(-3, 7)
TIGHT = {"tol": 1e-9}
SMALL = KernelDictionary(Gaussian((0.25, 1.0)), Linear(joint=True))


@parametrize_with_checks(
    [
        StPMKLClassifier(),
        StPMKLClassifier(rho=0.7, fit_intercept=False),
        SimpleMKLClassifier(),
        MiPMKLClassifier(n_starts=1, kernels=SMALL),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


# --- data ---------------------------------------------------------------------------------------


def table(n=60, d=2, seed=0, noise=0.15):
    """Rows of two overlapping groups, with some labels wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** np.arange(d)
    y = np.where(X[:, 0] + rng.normal(scale=0.5, size=n) > 0.0, 1, 0)
    return X, np.where(rng.random(n) < noise, 1 - y, y)


X, Y = table()
NEW = table(seed=1)[0]
IRIS_X, IRIS_Y = load_iris(return_X_y=True)


def paper_grams(A, B, train=X):
    """The kernels of the paper between two tables, by scikit-learn."""
    scaler = MinMaxScaler().fit(train)
    A, B = scaler.transform(A), scaler.transform(B)
    blocks = [slice(None), *([j] for j in range(A.shape[1]))]
    return np.stack([rbf_kernel(A[:, c], B[:, c], gamma=0.5 / w**2) for c in blocks for w in PAPER_WIDTHS])


def gram_model(**parameters):
    return StPMKLClassifier(kernels="precomputed", **parameters)


def assert_same_decisions(one, other, atol=0.0, new=NEW):
    np.testing.assert_allclose(one.decision_function(new), other.decision_function(new), rtol=0, atol=atol)


# --- attributes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_attributes_of_two_classes(classifier):
    model = classifier().fit(X, Y)
    assert model.alpha_.shape == (60,)
    assert model.kernel_weights_.shape == model.kernel_names_.shape == (30,)
    assert model.kernel_weights_.min() >= 0.0
    assert model.kernel_weights_.sum() == pytest.approx(1.0)
    assert model.intercept_.shape == (1,)
    assert model.n_features_in_ == 2
    assert model.memory_estimate_ > 0
    assert (model.primal_, model.dual_, model.gap_) == (model.result_.primal, model.result_.dual, model.result_.gap)
    assert model.gap_ == pytest.approx(model.primal_ - model.dual_)
    assert model.gap_ <= 1e-4 * model.primal_
    assert model.n_iter_ >= 1
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_attributes_of_more_classes(classifier):
    model = classifier(kernels=SMALL).fit(IRIS_X, IRIS_Y)
    assert model.alpha_.shape == (3, 150)
    assert model.kernel_weights_.shape == (3, 9)
    assert model.kernel_names_.shape == (9,)
    np.testing.assert_allclose(model.kernel_weights_.sum(axis=1), 1.0)
    assert model.intercept_.shape == (3,)
    assert len(model.result_) == 3
    assert model.gap_ == max(result.gap for result in model.result_)
    assert model.decision_function(IRIS_X).shape == (150, 3)
    assert model.score(IRIS_X, IRIS_Y) > 0.9


def test_one_vs_rest_is_one_binary_model_a_class():
    model = StPMKLClassifier(kernels=SMALL).fit(IRIS_X, IRIS_Y)
    for c in range(3):
        binary = StPMKLClassifier(kernels=SMALL).fit(IRIS_X, np.equal(IRIS_Y, c))
        np.testing.assert_allclose(model.decision_function(IRIS_X)[:, c], binary.decision_function(IRIS_X), atol=1e-9)


def test_classes_solved_in_parallel_are_the_same():
    one, two = (StPMKLClassifier(kernels=SMALL, n_jobs=jobs).fit(IRIS_X, IRIS_Y) for jobs in (None, 2))
    np.testing.assert_array_equal(one.decision_function(IRIS_X), two.decision_function(IRIS_X))


@pytest.mark.parametrize(
    "labels",
    [np.array(["no", "yes"]), np.array(["no", "yes"], dtype=object), np.array([False, True]), np.array([-3, 12])],
    ids=["words", "objects", "bools", "ints"],
)
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_labels_of_any_type(classifier, labels):
    model = classifier(kernels=SMALL).fit(X, labels[Y])
    np.testing.assert_array_equal(model.classes_, labels)
    assert model.predict(NEW).dtype == labels.dtype
    np.testing.assert_array_equal(model.predict(NEW), labels[(model.decision_function(NEW) > 0).astype(int)])


@pytest.mark.parametrize("series", [pd.Series, pl.Series, list, tuple], ids=["pandas", "polars", "list", "tuple"])
def test_label_containers(series):
    words = np.array(["no", "yes"])[Y]
    model = StPMKLClassifier(kernels=SMALL).fit(X, series(words.tolist()))
    assert model.classes_.tolist() == ["no", "yes"]
    assert_same_decisions(model, StPMKLClassifier(kernels=SMALL).fit(X, words))


def test_predict_takes_the_largest_decision():
    model = StPMKLClassifier(kernels=SMALL).fit(IRIS_X, np.array(["a", "b", "c"])[IRIS_Y])
    winners = model.decision_function(IRIS_X).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(IRIS_X), np.array(["a", "b", "c"])[winners])


def test_dual_point_is_feasible():
    model = StPMKLClassifier(rho=0.6, **TIGHT).fit(X, Y)
    assert model.alpha_.min() >= 0.0
    assert model.alpha_.max() <= 1.0
    assert model.alpha_.mean() <= 0.6 + 1e-12
    assert model.alpha_ @ (2.0 * Y - 1.0) == pytest.approx(0.0, abs=1e-10)


def test_without_intercept():
    model = StPMKLClassifier(fit_intercept=False).fit(X, Y)
    np.testing.assert_array_equal(model.intercept_, [0.0])


# --- kernels ------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"rho": 0.6}, {"fit_intercept": False}, {"lam": 1e-3}], ids=str)
def test_paper_kernels_equal_their_gram_matrices(parameters):
    paper = StPMKLClassifier(**TIGHT, **parameters).fit(X, Y)
    grams = gram_model(**TIGHT, **parameters).fit(paper_grams(X, X), Y)
    assert paper.primal_ == pytest.approx(grams.primal_, abs=1e-7)
    assert paper.dual_ == pytest.approx(grams.dual_, abs=1e-7)
    np.testing.assert_allclose(paper.kernel_weights_, grams.kernel_weights_, atol=1e-3)
    decisions = grams.decision_function(paper_grams(NEW, X))
    np.testing.assert_allclose(paper.decision_function(NEW), decisions, atol=1e-3)


def test_precomputed_predictions_take_new_rows_against_training_rows():
    model = gram_model().fit(paper_grams(X, X), np.array(["no", "yes"])[Y])
    new = paper_grams(NEW[:7], X)
    assert model.predict(new).shape == model.decision_function(new).shape == (7,)
    assert set(model.predict(new)) <= {"no", "yes"}


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_precomputed_with_more_classes(classifier):
    K = paper_grams(IRIS_X, IRIS_X, IRIS_X)[:4]
    model = classifier(kernels="precomputed").fit(K, IRIS_Y)
    assert model.kernel_weights_.shape == (3, 4)
    assert model.n_features_in_ == 150
    assert model.score(K, IRIS_Y) > 0.9


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_precomputed_has_the_same_attributes(classifier):
    by_grams = classifier(kernels="precomputed").fit(paper_grams(X, X), Y)
    assert vars(by_grams).keys() == vars(classifier().fit(X, Y)).keys()


def test_dictionary_as_kernels():
    dictionary = KernelDictionary((Gaussian((0.5,)), [1]), Linear(joint=True))
    model = StPMKLClassifier(kernels=dictionary, **TIGHT).fit(X, Y)
    assert model.kernel_names_.tolist() == ["gaussian(x1; w=0.5)", "linear(all columns)"]
    scaled = MinMaxScaler().fit_transform(X)
    K = np.stack([rbf_kernel(scaled[:, [1]], gamma=2.0), scaled @ scaled.T])
    assert model.primal_ == pytest.approx(gram_model(**TIGHT).fit(K, Y).primal_, abs=1e-9)


def test_scaling_is_learnt_on_rows_of_positive_weight():
    outlier = np.vstack([X, [[1e6, 1e6]]])
    model = StPMKLClassifier().fit(outlier, np.append(Y, 1), np.append(np.ones(60), 0.0))
    assert_same_decisions(model, StPMKLClassifier().fit(X, Y))


@pytest.mark.parametrize("lam", [1e-2, 1e-6, 1e-9])
def test_kernels_are_represented_well_enough_for_the_certificate(lam):
    assert StPMKLClassifier(lam=lam).fit(X, Y).result_.kernel_error <= 1e-5


@pytest.mark.parametrize(
    "parameters",
    [{}, {"solver": "amp", "tol": 0.5}, {"lam": 1e-9}],
    ids=["interior-point", "amp", "exact kernels"],
)
def test_memory_is_foreseen(parameters):
    A, y = np.random.default_rng(0).normal(size=(250, 4)), np.arange(250) % 2
    StPMKLClassifier(**parameters).fit(X, Y)  # what is cached or imported is not counted
    tracemalloc.start()
    model = StPMKLClassifier(**parameters).fit(A, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.5 <= model.memory_estimate_ / peak <= 2.0


# --- relations ----------------------------------------------------------------------------------

WEIGHTS = np.random.default_rng(2).integers(0, 3, 60).astype(float)
REPEATED = np.repeat(np.arange(60), WEIGHTS.astype(int))


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_weights_are_repetitions(classifier):
    """0 is absence, 2 a row given twice."""
    weighted = classifier(random_state=0).fit(X, Y, WEIGHTS)
    repeated = classifier(random_state=0).fit(X[REPEATED], Y[REPEATED])
    assert_same_decisions(weighted, repeated, atol=1e-9)
    assert weighted.primal_ == pytest.approx(repeated.primal_, abs=1e-9)
    np.testing.assert_allclose(weighted.alpha_[REPEATED], repeated.alpha_, atol=1e-9)
    np.testing.assert_array_equal(weighted.alpha_[WEIGHTS == 0.0], 0.0)


@pytest.mark.parametrize("rho", [None, 0.6])
def test_weights_are_repetitions_with_precomputed_kernels(rho):
    K = paper_grams(X, X)
    weighted = gram_model(rho=rho, **TIGHT).fit(K, Y, WEIGHTS)
    repeated = gram_model(rho=rho, **TIGHT).fit(K[:, REPEATED[:, None], REPEATED], Y[REPEATED])
    new = paper_grams(NEW, X)
    assert weighted.primal_ == pytest.approx(repeated.primal_, abs=1e-9)
    # Rows are not merged here: the optima agree, f to the square root of the gap.
    np.testing.assert_allclose(
        weighted.decision_function(new), repeated.decision_function(new[:, :, REPEATED]), atol=1e-4
    )


def test_class_without_weight_is_absent():
    weights = np.where(IRIS_Y == 2, 0.0, 1.0)
    model = StPMKLClassifier(kernels=SMALL).fit(IRIS_X, IRIS_Y, weights)
    assert model.classes_.tolist() == [0, 1]
    assert_same_decisions(model, StPMKLClassifier(kernels=SMALL).fit(IRIS_X[:100], IRIS_Y[:100]), new=IRIS_X)


def test_only_the_proportions_of_weights_count():
    one, other = (StPMKLClassifier(rho=0.7, **TIGHT).fit(X, Y, scale * WEIGHTS) for scale in (1.0, 1000.0))
    assert one.primal_ == pytest.approx(other.primal_, abs=1e-9)
    assert_same_decisions(one, other, atol=1e-4)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_order_of_the_rows_does_not_matter(classifier):
    order = np.random.default_rng(3).permutation(60)
    model, permuted = (classifier(random_state=0).fit(X[rows], Y[rows]) for rows in (np.arange(60), order))
    np.testing.assert_array_equal(permuted.alpha_, model.alpha_[order])
    assert_same_decisions(model, permuted)


def test_swapped_labels_change_the_sign():
    model, swapped = (StPMKLClassifier(rho=0.7, **TIGHT).fit(X, y) for y in (Y, 1 - Y))
    assert model.primal_ == pytest.approx(swapped.primal_, rel=1e-8)
    np.testing.assert_allclose(model.decision_function(NEW), -swapped.decision_function(NEW), atol=1e-4)


@pytest.mark.parametrize("parameters", [{}, {"rho": 0.6, "fit_intercept": False}], ids=str)
def test_order_of_the_columns_does_not_matter(parameters):
    model, reversed_ = (StPMKLClassifier(**TIGHT, **parameters).fit(A, Y) for A in (X, X[:, ::-1]))
    assert model.primal_ == pytest.approx(reversed_.primal_, rel=1e-8)
    np.testing.assert_allclose(model.decision_function(NEW), reversed_.decision_function(NEW[:, ::-1]), atol=1e-4)


def test_kernel_given_twice_changes_nothing():
    K = paper_grams(X, X)[::6]
    once, twice = gram_model(**TIGHT).fit(K, Y), gram_model(**TIGHT).fit(np.concatenate([K, K[:1]]), Y)
    assert once.primal_ == pytest.approx(twice.primal_, rel=1e-8)
    assert twice.kernel_weights_[[0, -1]].sum() == pytest.approx(once.kernel_weights_[0], abs=1e-4)


def test_kernel_scaled_up_is_the_other_kernels_scaled_down():
    """K_j / lam is all that the problem knows."""
    K = paper_grams(X, X)[::6]
    one, other = gram_model(lam=0.01, **TIGHT).fit(K, Y), gram_model(lam=0.07, **TIGHT).fit(7.0 * K, Y)
    assert one.primal_ == pytest.approx(other.primal_, rel=1e-8)


def test_affine_changes_of_the_columns_are_undone_by_the_scaling():
    model, changed = StPMKLClassifier().fit(X, Y), StPMKLClassifier().fit(4.0 * X - 8.0, Y)
    assert model.primal_ == pytest.approx(changed.primal_, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(NEW), changed.decision_function(4.0 * NEW - 8.0), atol=1e-3)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_class_weights_are_sample_weights(classifier):
    model = classifier(class_weight={0: 1.0, 1: 3.0}, random_state=0).fit(X, Y)
    assert_same_decisions(model, classifier(random_state=0).fit(X, Y, np.where(Y == 1, 3.0, 1.0)))


def test_class_weights_multiply_sample_weights():
    model = StPMKLClassifier(class_weight={0: 2.0}).fit(X, Y, WEIGHTS)
    assert_same_decisions(model, StPMKLClassifier().fit(X, Y, np.where(Y == 0, 2.0, 1.0) * WEIGHTS))


def test_balanced_class_weights():
    counts = np.bincount(Y)
    model = StPMKLClassifier(class_weight="balanced", **TIGHT).fit(X, Y)
    assert_same_decisions(model, StPMKLClassifier(**TIGHT).fit(X, Y, (30.0 / counts)[Y]), atol=1e-6)


# --- rho, noise_level, epsilon ------------------------------------------------------------------


def test_noise_level_is_one_minus_rho():
    assert_same_decisions(StPMKLClassifier(noise_level=0.3).fit(X, Y), StPMKLClassifier(rho=0.7).fit(X, Y))


def test_no_noise_is_no_budget():
    assert_same_decisions(StPMKLClassifier(noise_level=0.0).fit(X, Y), StPMKLClassifier().fit(X, Y))


def test_noise_level_with_epsilon_is_equation_11():
    tau = sqrt(0.5 * log(1.0 / 0.5))
    rho = 1.0 - 0.45 + tau + tau / sqrt(60.0)
    derived = StPMKLClassifier(noise_level=0.45, epsilon=0.5, lam=1.0).fit(X, Y)
    given = StPMKLClassifier(rho=rho, epsilon=0.5, lam=1.0).fit(X, Y)
    assert_same_decisions(derived, given)
    assert derived.alpha_.mean() <= rho + 1e-12
    assert 1.0 < derived.alpha_.max() <= 1.0 + tau


def test_total_weight_stands_for_the_rows_in_equation_11():
    heavy = StPMKLClassifier(noise_level=0.45, epsilon=0.5).fit(X, Y, np.full(60, 100.0))
    tau = sqrt(0.5 * log(1.0 / 0.5))
    given = StPMKLClassifier(rho=0.55 + tau + tau / sqrt(6000.0), epsilon=0.5).fit(X, Y, np.full(60, 100.0))
    assert_same_decisions(heavy, given)


def test_large_noise_bound_is_no_budget():
    """rho is min(h, ..): for q = 0 and few rows the bound of Proposition 1 exceeds 1."""
    assert_same_decisions(
        StPMKLClassifier(noise_level=0.0, epsilon=0.05).fit(X, Y), StPMKLClassifier(epsilon=0.05).fit(X, Y)
    )


def test_epsilon_scales_the_problem():
    """StPMKL_h(lam, rho) is h times StPMKL_1(lam / h, rho / h)."""
    h = 1.0 + sqrt(0.5 * log(1.0 / 0.05))
    with_h = StPMKLClassifier(lam=0.02, rho=0.7 * h, epsilon=0.05, **TIGHT).fit(X, Y)
    without = StPMKLClassifier(lam=0.02 / h, rho=0.7, **TIGHT).fit(X, Y)
    assert with_h.primal_ == pytest.approx(h * without.primal_, rel=1e-8)
    assert_same_decisions(with_h, without, atol=1e-4)


@pytest.mark.parametrize("rho", [0.9, 0.5, 0.3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_budget_is_a_smaller_lam(rho, fit_intercept):
    """The classifier is (1 - theta) times that of ordinary MKL at lam (1 - theta)."""
    common = {"fit_intercept": fit_intercept, **TIGHT}
    model = StPMKLClassifier(lam=0.05, rho=rho, **common).fit(X, Y)
    theta = model.result_.theta
    ordinary = SimpleMKLClassifier(lam=0.05 * (1.0 - theta), **common).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(NEW), (1.0 - theta) * ordinary.decision_function(NEW), atol=1e-3)


def test_binding_budget_makes_lam_irrelevant():
    models = [StPMKLClassifier(lam=lam, rho=0.3, **TIGHT).fit(X, Y) for lam in (0.2, 2.0)]
    assert all(model.result_.budget_active for model in models)
    np.testing.assert_allclose(models[0].alpha_, models[1].alpha_, atol=5e-3)
    np.testing.assert_array_equal(models[0].predict(NEW), models[1].predict(NEW))


def test_inactive_budget_says_so():
    model = StPMKLClassifier(lam=1e-3, rho=0.99).fit(X, Y)
    assert not model.result_.budget_active
    assert model.result_.message.endswith("The budget is inactive.")
    assert model.primal_ == pytest.approx(SimpleMKLClassifier(lam=1e-3).fit(X, Y).primal_, rel=1e-4)


def test_budget_bounds_margin_errors_and_support_vectors():
    """As in nu-SVM: a binding rho is at least the share of margin errors, at most that of support vectors."""
    model = StPMKLClassifier(lam=1.0, rho=0.5, **TIGHT).fit(X, Y)
    margins = (2.0 * Y - 1.0) * model.decision_function(X)
    level = 1.0 - model.result_.theta
    assert np.mean(margins < level - 1e-5) <= 0.5 <= np.mean(model.alpha_ > 1e-6)


# --- certificate --------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"rho": 0.6}, {"epsilon": 0.1, "fit_intercept": False}], ids=str)
@pytest.mark.parametrize("classifier", [StPMKLClassifier, SimpleMKLClassifier])
def test_certificate_is_recomputed(classifier, parameters):
    if classifier is SimpleMKLClassifier:
        parameters = {k: v for k, v in parameters.items() if k == "fit_intercept"}
    model = classifier(class_weight="balanced", **parameters).fit(X, Y, WEIGHTS)
    again = model.certificate(X, Y, WEIGHTS)
    assert again.primal == pytest.approx(model.primal_, abs=1e-9)
    assert again.dual == pytest.approx(model.dual_, abs=1e-9)
    assert again.gap == pytest.approx(again.primal - again.dual)


def test_certificate_of_each_class():
    model = StPMKLClassifier(kernels=SMALL).fit(IRIS_X, IRIS_Y)
    for again, result in zip(model.certificate(IRIS_X, IRIS_Y), model.result_, strict=True):
        assert again.primal == pytest.approx(result.primal, abs=1e-9)
        assert again.dual == pytest.approx(result.dual, abs=1e-9)


def test_certificate_with_precomputed_kernels():
    K = paper_grams(X, X)
    model = gram_model(rho=0.7).fit(K, Y, WEIGHTS)
    again = model.certificate(K, Y, WEIGHTS)
    assert (again.primal, again.dual) == pytest.approx((model.primal_, model.dual_), abs=1e-9)


@pytest.mark.parametrize("rho", [None, 0.6])
def test_certificate_by_hand(rho):
    """P and D from scikit-learn's Gram matrices, alpha_, kernel weights and decision_function alone."""
    model = StPMKLClassifier(lam=0.02, rho=rho, **TIGHT).fit(X, Y)
    y, K = 2.0 * Y - 1.0, paper_grams(X, X)
    losses = np.sort(np.maximum(0.0, 1.0 - y * model.decision_function(X)))[::-1]
    risk = losses[: round((rho or 1.0) * 60)].sum() / 60.0
    norm = model.result_.norms.sum()
    q = np.einsum("i,jik,k->j", y * model.alpha_, K, y * model.alpha_) / 60.0**2
    dual = model.alpha_.mean() - q.max() / (2.0 * 0.02)
    assert model.primal_ == pytest.approx(0.01 * norm**2 + risk, abs=1e-9)
    assert model.dual_ == pytest.approx(dual, abs=1e-9)


def test_certificate_leaves_the_model_as_it_was():
    frame = pd.DataFrame(X, columns=["age", "bmi"])
    model = StPMKLClassifier(kernels=SMALL).fit(frame, Y)
    before = pickle.dumps(model)
    model.certificate(frame, Y)
    assert pickle.dumps(model) == before


def test_risk_bound_is_theorem_1():
    q, epsilon, delta, lam, n = 0.2, 0.1, 0.05, 0.01, 60
    model = StPMKLClassifier(lam=lam, fit_intercept=False).fit(X, Y)
    bound = model.risk_bound(X, Y, q, epsilon, delta)
    tau = sqrt(0.5 * log(1.0 / epsilon))
    losses = np.sort(np.maximum(0.0, 1.0 - (2.0 * Y - 1.0) * model.decision_function(X)))[::-1]
    size = min(n, (1.0 - q) * n + tau * sqrt(n))
    whole = int(size)
    worst = losses[:whole].sum() + (size - whole) * (losses[whole] if whole < n else 0.0)
    factor = 4.0 + sqrt((1.0 + lam / (2.0 * (1.0 + tau))) * log(1.0 / delta))
    assert bound.empirical == pytest.approx(worst / (n * (1.0 - q)))
    assert bound.complexity == pytest.approx(sqrt(2.0 * (1.0 + tau) / (n * (1.0 - q) * lam)) * factor)
    assert bound.is_vacuous


# --- against other methods ----------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"fit_intercept": False}, {"lam": 1.0}], ids=str)
def test_simplemkl_is_no_budget(parameters):
    simple = SimpleMKLClassifier(**parameters).fit(X, Y)
    stochastic = StPMKLClassifier(rho=None, **parameters).fit(X, Y)
    assert simple.primal_ == stochastic.primal_
    assert_same_decisions(simple, stochastic)


@pytest.mark.parametrize("lam", [1e-3, 0.01, 0.1])
@pytest.mark.parametrize("weights", [np.ones(60), WEIGHTS + 0.5], ids=["unit", "weighted"])
def test_one_kernel_is_a_support_vector_machine(lam, weights):
    K, y, S = paper_grams(X, X)[2], 2.0 * Y - 1.0, weights.sum()
    svm = SVC(C=1.0, kernel="precomputed", tol=1e-9).fit(K, Y, sample_weight=weights / (S * lam))
    beta = np.zeros(60)
    beta[svm.support_] = svm.dual_coef_[0]
    losses = np.maximum(0.0, 1.0 - y * svm.decision_function(K))
    objective = 0.5 * lam * beta @ K @ beta + weights @ losses / S
    model = SimpleMKLClassifier(lam=lam, kernels="precomputed", **TIGHT).fit(K[None], Y, weights)
    assert model.primal_ == pytest.approx(objective, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(K[None]), svm.decision_function(K), atol=1e-3)


@pytest.mark.parametrize("solver", ["interior-point", "simplemkl"])
def test_solvers_agree(solver):
    K = paper_grams(X, X)[::5]
    reference = SimpleMKLClassifier(kernels="precomputed", **TIGHT).fit(K, Y)
    model = SimpleMKLClassifier(kernels="precomputed", solver=solver, tol=1e-4).fit(K, Y)
    assert reference.dual_ <= model.primal_ + 1e-12
    assert model.primal_ <= reference.primal_ * (1.0 + 1e-4) + 1e-12


# --- warnings -----------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["interior-point", "amp", "vi", "simplemkl"])
def test_stopping_early_warns_with_the_numbers_and_a_remedy(solver):
    with pytest.warns(ConvergenceWarning) as caught:
        model = StPMKLClassifier(solver=solver, max_iter=2, tol=1e-6).fit(X, Y)
    text = str(caught[0].message)
    assert len(caught) == 1
    assert model.result_.status is Status.MAX_ITER
    assert model.n_iter_ == 2
    for part in (f"gap is {model.gap_:.3g}", f"tolerance {1e-6 * model.primal_:.3g}", "After 2 iterations", "max_iter"):
        assert part in text
    assert model.predict(NEW).shape == (60,)


def test_warning_points_at_the_call_of_fit():
    with pytest.warns(ConvergenceWarning) as caught:
        StPMKLClassifier(max_iter=2).fit(X, Y)
    assert caught[0].filename == __file__


def test_atol_is_enough():
    model = StPMKLClassifier(tol=0.0, atol=1e-3).fit(X, Y)
    assert model.gap_ <= 1e-3


# --- scikit-learn's tools -----------------------------------------------------------------------


@pytest.mark.parametrize("classifier", [StPMKLClassifier, SimpleMKLClassifier])
@pytest.mark.parametrize("solver", ["interior-point", "amp"])
def test_warm_start_does_no_work_twice(classifier, solver):
    model = classifier(solver=solver, warm_start=True, tol=0.05, kernels=SMALL, lam=0.1).fit(X, Y)
    decisions, work = model.decision_function(NEW), model.n_iter_
    model.fit(X, Y)
    assert model.n_iter_ == 1 < work
    np.testing.assert_array_equal(model.decision_function(NEW), decisions)


def test_warm_start_of_more_classes():
    model = StPMKLClassifier(warm_start=True, kernels=SMALL).fit(IRIS_X, IRIS_Y)
    decisions = model.decision_function(IRIS_X)
    assert model.fit(IRIS_X, IRIS_Y).n_iter_ == 1
    np.testing.assert_array_equal(model.decision_function(IRIS_X), decisions)


def test_warm_start_on_other_data_is_solved_anew():
    model = StPMKLClassifier(warm_start=True).fit(X, Y).set_params(lam=0.1).fit(NEW, Y)
    assert model.gap_ <= 1e-4 * model.primal_
    fresh = StPMKLClassifier(lam=0.1).fit(NEW, Y)
    assert model.primal_ == pytest.approx(fresh.primal_, rel=2e-4)


@pytest.mark.parametrize("shape", [(40, 2), (60, 3)], ids=str)
def test_warm_start_on_a_table_of_another_shape(shape):
    other = np.random.default_rng(0).normal(size=shape)
    y = np.arange(shape[0]) % 2
    model = StPMKLClassifier(warm_start=True).fit(X, Y).fit(other, y)
    np.testing.assert_array_equal(
        model.decision_function(other), StPMKLClassifier().fit(other, y).decision_function(other)
    )


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_fitting_twice_is_deterministic(classifier):
    one, two = (classifier(random_state=3).fit(X, Y) for _ in range(2))
    assert_same_decisions(one, two)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_clone_has_the_parameters_and_no_fit(classifier):
    model = classifier(lam=0.2, kernels=SMALL, tol=1e-3).fit(X, Y)
    copy = clone(model)
    assert repr(copy.get_params()) == repr(model.get_params())
    assert not hasattr(copy, "result_")
    assert copy.fit(X, Y).gap_ <= 1e-3 * copy.primal_


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("kernels", ["paper", SMALL], ids=["paper", "dictionary"])
def test_pickle_predicts_the_same(classifier, kernels):
    model = classifier(kernels=kernels).fit(X, Y)
    assert_same_decisions(pickle.loads(pickle.dumps(model)), model)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_constructor_keeps_its_arguments_as_they_are(classifier):
    for name, value in classifier().get_params().items():
        assert getattr(classifier(**{name: value}), name) is value
    assert classifier(lam="nonsense").lam == "nonsense"


def test_set_params():
    model = StPMKLClassifier().set_params(lam=0.3, rho=0.8)
    assert_same_decisions(model.fit(X, Y), StPMKLClassifier(lam=0.3, rho=0.8).fit(X, Y))


@pytest.mark.parametrize(
    "parameters",
    [
        {"lam": np.float32(0.25)},
        {"rho": np.float16(0.75)},
        {"noise_level": np.float16(0.25)},
        {"max_iter": np.int64(50)},
    ],
    ids=str,
)
def test_parameters_of_numpy_types(parameters):
    """A short float must not make the certificate one of single precision."""
    plain = {name: value.item() for name, value in parameters.items()}
    assert_same_decisions(StPMKLClassifier(**parameters).fit(X, Y), StPMKLClassifier(**plain).fit(X, Y))


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("solver", ["interior-point", "amp"])
def test_flags_of_numpy_type(value, solver):
    common = {"kernels": SMALL, "solver": solver, "tol": 0.1, "lam": 0.1}
    one, other = (StPMKLClassifier(fit_intercept=f, **common).fit(X, Y) for f in (np.bool_(value), value))
    assert_same_decisions(one, other)


def test_pipeline():
    model = make_pipeline(StandardScaler(), StPMKLClassifier(kernels=SMALL)).fit(X, Y)
    assert model.score(X, Y) > 0.7
    model.fit(X, Y, stpmklclassifier__sample_weight=WEIGHTS)


def test_grid_search():
    grid = {"lam": [0.01, 1.0], "rho": [None, 0.8], "kernels": [SMALL, KernelDictionary(Linear())]}
    search = GridSearchCV(StPMKLClassifier(), grid, cv=3).fit(X, Y)
    assert len(search.cv_results_["params"]) == 8
    assert search.score(X, Y) == search.best_estimator_.score(X, Y) > 0.7


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_cross_validation(classifier):
    assert cross_val_score(classifier(kernels=SMALL), X, Y, cv=3).mean() > 0.6


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities_by_calibration(method):
    """The recipe for probabilities: they rise with the decision function."""
    model = CalibratedClassifierCV(StPMKLClassifier(kernels=SMALL), method=method, cv=3, ensemble=False).fit(X, Y)
    probabilities = model.predict_proba(NEW)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    inner = model.calibrated_classifiers_[0].estimator
    ordered = probabilities[np.argsort(inner.decision_function(NEW)), 1]
    assert np.diff(ordered).min() >= 0.0


# --- containers ---------------------------------------------------------------------------------

FRAMES = {
    "pandas": lambda A: pd.DataFrame(A, columns=["age", "bmi"]),
    "polars": lambda A: pl.DataFrame(A, schema=["age", "bmi"]),
    "pyarrow": lambda A: pa.table({"age": A[:, 0], "bmi": A[:, 1]}),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_frames_name_their_columns(frame):
    model = StPMKLClassifier().fit(frame(X), Y)
    assert model.feature_names_in_.tolist() == ["age", "bmi"]
    assert model.kernel_names_[[10, 20]].tolist() == ["gaussian(age; w=0.125)", "gaussian(bmi; w=0.125)"]
    array = StPMKLClassifier().fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(frame(NEW)), array.decision_function(NEW))


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_dictionary_takes_columns_by_name(frame):
    model = StPMKLClassifier(kernels=KernelDictionary((Linear(), "bmi"))).fit(frame(X), Y)
    assert model.kernel_names_.tolist() == ["linear(bmi)"]


@pytest.mark.parametrize("frame", [FRAMES["pandas"], FRAMES["polars"]], ids=["pandas", "polars"])
@pytest.mark.parametrize("columns", [["bmi", "age"], ["age", "height"]], ids=["order", "names"])
def test_other_columns_at_prediction_are_refused(frame, columns):
    model = StPMKLClassifier(kernels=SMALL).fit(frame(X), Y)
    wrong = frame(X)
    wrong = wrong[columns] if "height" not in columns else wrong.rename(**_renaming(wrong))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(wrong)


def _renaming(frame):
    return {"columns": {"bmi": "height"}} if isinstance(frame, pd.DataFrame) else {"mapping": {"bmi": "height"}}


def test_pandas_extension_types():
    frame = pd.DataFrame({"age": pd.array(np.arange(60), dtype="Int64"), "flag": np.arange(60) % 2 == 0})
    array = np.column_stack([np.arange(60.0), np.arange(60) % 2 == 0])
    one, other = StPMKLClassifier().fit(frame, Y), StPMKLClassifier().fit(array, Y)
    np.testing.assert_array_equal(one.decision_function(frame), other.decision_function(array))


def read_only(A):
    A = A.copy()
    A.setflags(write=False)
    return A


@pytest.mark.parametrize(
    "layout", [read_only, np.asfortranarray, lambda A: np.repeat(A, 2, axis=0)[::2], np.ndarray.tolist]
)
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_memory_layout_does_not_matter(classifier, layout):
    model = classifier(random_state=0).fit(layout(X), layout(Y), layout(WEIGHTS))
    np.testing.assert_array_equal(
        model.decision_function(layout(NEW)), classifier(random_state=0).fit(X, Y, WEIGHTS).decision_function(NEW)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, np.float16])
def test_number_types_are_taken_at_their_values(dtype):
    whole = np.round(np.abs(X)).clip(0, 200).astype(dtype)
    model = StPMKLClassifier(kernels=SMALL).fit(whole, Y)
    wide = StPMKLClassifier(kernels=SMALL).fit(whole.astype(np.float64), Y)
    np.testing.assert_array_equal(model.decision_function(whole), wide.decision_function(whole.astype(np.float64)))


@pytest.mark.parametrize("layout", [read_only, np.asfortranarray, np.float32, np.ndarray.tolist])
def test_precomputed_layouts(layout):
    K = paper_grams(X, X)[:3] + 1e-3 * np.eye(60)  # positive definite in single precision too
    model = gram_model().fit(layout(K), Y)
    assert model.primal_ == pytest.approx(gram_model().fit(K, Y).primal_, rel=1e-4)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("kernels", ["paper", "precomputed", SMALL], ids=["paper", "precomputed", "dictionary"])
def test_input_is_not_modified(classifier, kernels):
    A = paper_grams(X, X)[:3] if kernels == "precomputed" else X
    given = (A.copy(), Y.copy(), WEIGHTS.copy())
    model = classifier(kernels=kernels, class_weight="balanced").fit(*given)
    model.predict(given[0])
    if classifier is not MiPMKLClassifier:
        model.certificate(*given)
    for now, before in zip(given, (A, Y, WEIGHTS), strict=True):
        np.testing.assert_array_equal(now, before)


def test_fitted_model_does_not_hold_the_input():
    """A change of the training table after the fit changes no prediction."""
    A, y = X.copy(), Y.copy()
    model = StPMKLClassifier().fit(A, y)
    before = model.decision_function(NEW)
    A[:], y[:] = 0.0, 0
    np.testing.assert_array_equal(model.decision_function(NEW), before)


def test_new_rows_are_predicted_one_by_one():
    model = StPMKLClassifier().fit(X, Y)
    single = np.concatenate([model.decision_function(row[None]) for row in NEW])
    np.testing.assert_allclose(single, model.decision_function(NEW), atol=1e-12)
