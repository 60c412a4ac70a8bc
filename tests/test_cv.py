"""Cross-validation over lam and rho: scikit-learn's checks, GridSearchCV's answers, weights, folds, errors."""

import logging
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, make_scorer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from robustmkl import Status, StPMKLClassifier, StPMKLClassifierCV
from robustmkl.datasets import load_uci
from robustmkl.kernels import Gaussian, KernelDictionary, Linear
from robustmkl.noise import flip_labels
from robustmkl.solvers import path

SMALL = KernelDictionary(Gaussian((0.25, 1.0)), Linear(joint=True))
LAMS = [0.3, 0.1, 0.03, 0.01, 0.001]
RHOS = [1.0, 0.8, 0.5]


# One check gives a class 1e-7 of the weight: the smallest lam of the grid is then 1e-11, and a fold may stop short.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        StPMKLClassifierCV(lams=3, cv=3),
        StPMKLClassifierCV(lams=[0.3, 0.03], rhos=[1.0, 0.6], cv=2, fit_intercept=False, kernels=SMALL),
    ]
)
@pytest.mark.filterwarnings("ignore:.*solutions in the folds")  # one check has weights from 1e-4 to 1e3
def test_scikit_learn_check(estimator, check):
    check(estimator)


def table(n=80, d=3, noise=0.2, seed=0):
    """Return rows of two overlapping groups, with some labels wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + X[:, 1] ** 2 + rng.normal(scale=0.3, size=n) > 0.7, 1, 0)
    return X, np.where(rng.random(n) < noise, 1 - y, y)


X, Y = table()
NEW = table(seed=1)[0]
WEIGHT = np.random.default_rng(2).integers(0, 4, 80).astype(float)
IRIS_X, IRIS_Y = load_iris(return_X_y=True)
FLIPPED_IRIS = flip_labels(IRIS_Y, 0.2, random_state=0)[0]


def search(**options):
    return StPMKLClassifierCV(**{"lams": LAMS, "cv": 3, "kernels": SMALL} | options)


@pytest.fixture(scope="module")
def fitted():
    return search(rhos=RHOS).fit(X, Y)


# --- against GridSearchCV -----------------------------------------------------------------------


def grid_search(tol=1e-8, rhos=(None,), **options):
    model = StPMKLClassifier(kernels=SMALL, tol=tol)
    return GridSearchCV(model, {"rho": list(rhos), "lam": LAMS}, **{"cv": 3} | options)


@pytest.mark.parametrize(
    ("X", "y", "options"),
    [
        (X, Y, {}),
        (X, Y, {"rhos": RHOS}),
        (X, Y, {"scoring": "roc_auc"}),
        (X, Y, {"scoring": make_scorer(f1_score)}),
        (X, Y, {"cv": ShuffleSplit(4, random_state=0)}),
        (X, Y, {"cv": list(KFold(3, shuffle=True, random_state=1).split(X))}),
        (IRIS_X, FLIPPED_IRIS, {}),
        (IRIS_X, FLIPPED_IRIS, {"scoring": "f1_macro", "rhos": [0.5]}),
    ],
    ids=["plain", "rhos", "roc_auc", "f1", "shuffles", "list of folds", "iris", "iris, f1 and rho"],
)
def test_scores_are_those_of_grid_search(X, y, options):
    rhos = options.get("rhos")
    mine = search(tol=1e-8, **options).fit(X, y)
    other = grid_search(**options | {"rhos": rhos or [None]}).fit(X, y)
    for name, scores in other.cv_results_.items():
        if name.endswith("test_score") and name != "rank_test_score":
            np.testing.assert_allclose(mine.cv_results_[name], scores, atol=2e-3, err_msg=name)
    assert mine.best_score_ == pytest.approx(other.best_score_, abs=2e-3)
    best = mine.cv_results_["params"][mine.best_index_]
    alone = StPMKLClassifier(**best, kernels=SMALL, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(mine.decision_function(X), alone.decision_function(X), atol=1e-3)


def test_table_of_results_has_the_layout_of_grid_search(fitted):
    other = grid_search(tol=1e-3, rhos=RHOS).fit(X, Y).cv_results_
    mine = fitted.cv_results_
    assert mine["params"] == other["params"]
    shared = [name for name in other if not name.endswith("_time")]
    assert set(shared) | {"theta", "n_iter", "gap"} == set(mine)
    for name in shared:
        assert len(mine[name]) == len(other[name])
        if name.startswith("param_"):
            assert mine[name].tolist() == other[name].tolist()
    assert mine["rank_test_score"].dtype == other["rank_test_score"].dtype
    scores = np.stack([mine[f"split{k}_test_score"] for k in range(3)])
    np.testing.assert_allclose(mine["mean_test_score"], scores.mean(axis=0))
    np.testing.assert_allclose(mine["std_test_score"], scores.std(axis=0))
    pd.DataFrame(mine)


def test_nested_in_cross_validation_and_pipelines():
    scores = cross_val_score(make_pipeline(StandardScaler(), search()), X, Y, cv=2)
    assert scores.mean() > 0.5


# --- the best candidate -------------------------------------------------------------------------


def test_best_candidate(fitted):
    mean = fitted.cv_results_["mean_test_score"]
    assert fitted.best_score_ == mean.max()
    assert fitted.cv_results_["rank_test_score"][fitted.best_index_] == 1
    assert fitted.best_params_ == fitted.cv_results_["params"][fitted.best_index_]
    assert (fitted.lam, fitted.rho) == (fitted.best_params_["lam"], fitted.best_params_["rho"])
    assert fitted.n_splits_ == 3


def test_ties_go_to_the_largest_lam_then_the_largest_rho():
    for lams in (LAMS, LAMS[::-1]):
        model = search(lams=lams, rhos=RHOS[::-1], scoring=lambda *_: 1.0).fit(X, Y)
        assert model.best_params_ == {"lam": 0.3, "rho": 1.0}
        assert set(model.cv_results_["rank_test_score"]) == {1}


def test_classifier_is_the_one_of_the_best_parameters(fitted):
    alone = StPMKLClassifier(**fitted.best_params_, kernels=SMALL).fit(X, Y)
    assert fitted.primal_ == pytest.approx(alone.primal_, rel=2e-4)
    np.testing.assert_allclose(fitted.decision_function(NEW), alone.decision_function(NEW), atol=0.05)
    for name in ("alpha_", "kernel_weights_", "intercept_", "classes_", "kernel_names_"):
        assert np.shape(getattr(fitted, name)) == np.shape(getattr(alone, name)), name
    assert fitted.gap_ <= 1e-4 * fitted.primal_
    assert fitted.kernel_weights_.sum() == pytest.approx(1.0)
    assert fitted.memory_estimate_ > 0
    assert fitted.n_features_in_ == 3


def test_path_has_every_candidate_on_all_rows(fitted):
    assert fitted.path_[fitted.best_index_].primal == fitted.result_.primal
    for params, result in zip(fitted.cv_results_["params"], fitted.path_, strict=True):
        alone = StPMKLClassifier(**params, kernels=SMALL, tol=1e-7).fit(X, Y)
        assert result.primal == pytest.approx(alone.primal_, rel=1e-4)
        assert result.gap <= 1e-4 * result.primal
        assert result.alpha.shape == (80,)


def test_what_is_said_of_the_solutions_in_the_folds(fitted):
    table = fitted.cv_results_
    assert (table["gap"] > 0.0).all()
    assert (table["gap"] <= 1e-3).all()
    assert (table["n_iter"] >= 3).all()
    without, half = table["theta"].reshape(-1, 3).T[::2]
    assert not without.any()
    assert half[0] > 0.1
    assert (np.diff(half) <= 1e-9).all()


def test_certificate_is_recomputed(fitted):
    found = fitted.certificate(X, Y)
    assert found.primal == pytest.approx(fitted.primal_, rel=1e-6)
    assert found.gap <= 1.1e-4 * found.primal


def test_budget_adds_no_better_classifier_than_lam():
    """By the equivalence the grid over (lam, rho) lies on one path in lam."""
    model = search(lams=[0.3], rhos=RHOS, tol=1e-8).fit(X, Y)
    for result in model.path_:
        alone = StPMKLClassifier(lam=0.3 * (1.0 - result.theta), kernels=SMALL, tol=1e-8).fit(X, Y)
        shares = alone.result_.norms / alone.result_.norms.sum()
        np.testing.assert_allclose(result.norms / result.norms.sum(), shares, atol=2e-3)


@pytest.mark.parametrize("name", ["heart", "breast-cancer"])
def test_choice_under_noise(name):
    X, y = load_uci(name, return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))
    train, test = rows[:200], rows[200:]
    noisy = flip_labels(y[train], 0.3, random_state=0)[0]
    model = StPMKLClassifierCV(lams=6, cv=3, tol=1e-6).fit(X[train], noisy)
    weakest = float(model.cv_results_["param_lam"].min())
    chosen = model.score(X[test], y[test])
    assert model.lam > 5.0 * weakest  # noise wants regularisation
    assert chosen >= StPMKLClassifier(lam=weakest).fit(X[train], noisy).score(X[test], y[test]) - 0.01
    assert chosen > {"heart": 0.7, "breast-cancer": 0.9}[name]


def test_number_of_lams_takes_them_from_all_rows():
    model = search(lams=4).fit(X, Y)
    found = np.asarray(model.cv_results_["param_lam"], dtype=float)
    np.testing.assert_allclose(found, found[0] * np.array([1.0, 0.1, 0.01, 0.001]))
    single = StPMKLClassifier(lam=found[0], kernels=SMALL, tol=1e-9).fit(X, Y)
    double = StPMKLClassifier(lam=2.0 * found[0], kernels=SMALL, tol=1e-9).fit(X, Y)
    np.testing.assert_allclose(single.result_.norms, 2.0 * double.result_.norms, atol=1e-3)


# --- more than two classes ----------------------------------------------------------------------


def test_more_classes():
    model = search(rhos=[1.0, 0.5]).fit(IRIS_X, FLIPPED_IRIS)
    assert len(model.path_) == 10
    assert all(len(results) == 3 for results in model.path_)
    assert model.decision_function(IRIS_X).shape == (150, 3)
    assert model.kernel_weights_.shape == (3, 9)
    assert model.alpha_.shape == (3, 150)
    assert model.score(IRIS_X, IRIS_Y) > 0.85
    assert len(model.certificate(IRIS_X, FLIPPED_IRIS)) == 3


def test_words_as_classes():
    words = np.array(["a", "b", "c"])
    one, other = search().fit(IRIS_X, FLIPPED_IRIS), search().fit(IRIS_X, words[FLIPPED_IRIS])
    assert other.classes_.tolist() == ["a", "b", "c"]
    assert one.best_params_ == other.best_params_
    np.testing.assert_array_equal(words[one.predict(IRIS_X)], other.predict(IRIS_X))


# --- weights ------------------------------------------------------------------------------------


def repeated(X, y, weight, folds):
    """Return rows repeated instead of weighted, with folds that keep the repetitions together."""
    rows = np.repeat(np.arange(y.size), weight.astype(int))
    splits = [(np.flatnonzero(np.isin(rows, a)), np.flatnonzero(np.isin(rows, b))) for a, b in folds]
    return X[rows], y[rows], splits


@pytest.mark.parametrize(("X", "y"), [(X, Y), (IRIS_X, FLIPPED_IRIS)], ids=["two classes", "iris"])
def test_weights_are_repetitions(X, y):
    weight = np.random.default_rng(3).integers(0, 4, y.size).astype(float)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    weighted = search(cv=folds, rhos=[1.0, 0.6]).fit(X, y, sample_weight=weight)
    X2, y2, splits = repeated(X, y, weight, folds)
    repeats = search(cv=splits, rhos=[1.0, 0.6]).fit(X2, y2)
    np.testing.assert_allclose(
        weighted.cv_results_["mean_test_score"], repeats.cv_results_["mean_test_score"], rtol=0, atol=1e-12
    )
    assert weighted.best_params_ == repeats.best_params_
    np.testing.assert_allclose(weighted.decision_function(X), repeats.decision_function(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("cv", [3, StratifiedKFold(3), KFold(3)], ids=["int", "stratified", "plain"])
def test_rows_of_weight_zero_are_in_no_fold(cv):
    kept = WEIGHT > 0.0
    given = search(cv=cv).fit(X, Y, sample_weight=kept.astype(float))
    absent = search(cv=cv).fit(X[kept], Y[kept])
    np.testing.assert_allclose(given.cv_results_["mean_test_score"], absent.cv_results_["mean_test_score"], atol=1e-12)
    np.testing.assert_array_equal(given.decision_function(NEW), absent.decision_function(NEW))
    assert not given.path_[0].alpha[~kept].any()


def test_weight_of_one_is_no_weight():
    one, none = search().fit(X, Y, sample_weight=np.ones(80)), search().fit(X, Y)
    np.testing.assert_allclose(one.cv_results_["mean_test_score"], none.cv_results_["mean_test_score"], atol=1e-12)
    assert one.best_params_ == none.best_params_


def test_class_weights_are_sample_weights():
    by_class = search(class_weight={0: 3.0}).fit(X, Y)
    by_row = search().fit(X, Y, sample_weight=np.where(Y == 0, 3.0, 1.0))
    np.testing.assert_array_equal(by_class.cv_results_["mean_test_score"], by_row.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(by_class.decision_function(NEW), by_row.decision_function(NEW))


def test_balanced_classes_score_as_balanced_accuracy():
    X, y = table(200, noise=0.1)
    rare = np.flatnonzero((y == 0) | (np.arange(200) % 3 == 0))
    X, y = X[rare], y[rare]
    model = search(class_weight="balanced", lams=[0.01]).fit(X, y)
    expected = []
    for train, test in StratifiedKFold(3).split(X, y):
        alone = StPMKLClassifier(lam=0.01, kernels=SMALL, class_weight="balanced").fit(X[train], y[train])
        expected.append(balanced_accuracy_score(y[test], alone.predict(X[test])))
    assert model.best_score_ == pytest.approx(np.mean(expected), abs=0.02)


def test_scorer_gets_the_weights():
    given = []

    def scorer(model, X, y, sample_weight=None):
        given.append(sample_weight)
        return accuracy_score(y, model.predict(X), sample_weight=sample_weight)

    search(scoring=scorer, lams=[0.1]).fit(X, Y, sample_weight=WEIGHT)
    assert sum(w.sum() for w in given) == WEIGHT.sum()
    given.clear()
    search(scoring=scorer, lams=[0.1]).fit(X, Y)
    assert given == [None] * 3


# --- folds --------------------------------------------------------------------------------------


def test_random_state_shuffles_the_rows():
    plain, seeded, again, other = (search(random_state=seed).fit(X, Y) for seed in (None, 0, 0, 1))
    shuffled = search(cv=StratifiedKFold(3, shuffle=True, random_state=0)).fit(X, Y)

    def scores(model):
        return [model.cv_results_[f"split{k}_test_score"].tolist() for k in range(3)]

    assert scores(seeded) == scores(again) == scores(shuffled)
    assert scores(seeded) != scores(other)
    assert scores(plain) == scores(search(cv=StratifiedKFold(3)).fit(X, Y))


def test_no_cv_is_five_folds():
    assert search(cv=None, lams=[0.1]).fit(X, Y).n_splits_ == 5


def test_groups():
    groups = np.arange(80) % 4
    by_group = search(cv=LeaveOneGroupOut()).fit(X, Y, groups=groups)
    by_list = search(cv=[(groups != g, groups == g) for g in range(4)]).fit(X, Y)
    np.testing.assert_array_equal(by_group.cv_results_["mean_test_score"], by_list.cv_results_["mean_test_score"])
    weighted = search(cv=GroupKFold(4), lams=[0.1]).fit(X, Y, sample_weight=WEIGHT, groups=groups)
    assert weighted.n_splits_ == 4


def test_fold_without_some_class():
    """One class of three is missing in the training rows of a fold: its test rows are simply wrong."""
    y = np.repeat([0, 1, 2], 50)
    folds = [(np.arange(100), np.arange(80, 150)), (np.arange(0, 150, 2), np.arange(1, 150, 2))]
    model = search(cv=folds, lams=[0.01]).fit(IRIS_X, y)
    assert model.cv_results_["split0_test_score"][0] == pytest.approx(20 / 70, abs=0.05)


# --- data and parameters ------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_frames(frame):
    named = {"age": X[:, 0], "bmi": X[:, 1], "x": X[:, 2]}
    kernels = KernelDictionary((Gaussian((0.5,)), ["bmi"]), Linear(joint=True))
    model = search(kernels=kernels).fit(frame(named), Y)
    positions = KernelDictionary((Gaussian((0.5,)), [1]), Linear(joint=True))
    assert model.cv_results_["mean_test_score"].tolist() == (
        search(kernels=positions).fit(X, Y).cv_results_["mean_test_score"].tolist()
    )
    assert model.feature_names_in_.tolist() == list(named)
    assert "bmi" in model.kernel_names_[0]
    assert model.predict(frame(named)).shape == (80,)


def test_precomputed_kernels():
    grams = np.stack([rbf_kernel(X, gamma=g) for g in (0.1, 1.0)])
    folds = list(StratifiedKFold(3).split(X, Y))
    model = search(kernels="precomputed", rhos=[1.0, 0.6], cv=3).fit(grams, Y, sample_weight=WEIGHT)
    listed = search(kernels="precomputed", cv=folds).fit(grams, Y)
    for k, (train, test) in enumerate(folds):
        alone = StPMKLClassifier(lam=0.03, kernels="precomputed", tol=1e-3)
        alone.fit(grams[:, train][:, :, train], Y[train])
        assert listed.cv_results_[f"split{k}_test_score"][2] == pytest.approx(
            alone.score(grams[:, test][:, :, train], Y[test]), abs=0.05
        )
    new = np.stack([rbf_kernel(NEW, X, gamma=g) for g in (0.1, 1.0)])
    assert model.decision_function(new).shape == (80,)
    assert model.kernel_weights_.shape == (2,)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_folds_in_parallel_are_the_same(backend):
    with parallel_config(backend):
        parallel = search(rhos=[1.0, 0.6], n_jobs=2).fit(X, Y)
    serial = search(rhos=[1.0, 0.6]).fit(X, Y)
    np.testing.assert_allclose(
        parallel.cv_results_["mean_test_score"], serial.cv_results_["mean_test_score"], atol=1e-12
    )
    np.testing.assert_allclose(parallel.decision_function(NEW), serial.decision_function(NEW), atol=1e-9)


@pytest.mark.parametrize("solver", ["interior-point", "amp"])
def test_solvers(solver):
    model = search(lams=[0.3, 0.1], solver=solver, tol=0.01, max_iter=5000).fit(X, Y)
    assert model.gap_ <= 0.01 * model.primal_


def test_stopping_early_warns_of_folds_and_fit():
    with pytest.warns(ConvergenceWarning) as caught:
        model = search(lams=[0.01], max_iter=2).fit(X, Y)
    assert "3 of the solutions in the folds did not reach the tolerance" in str(caught[0].message)
    assert "After" in str(caught[1].message)
    assert [w.filename for w in caught] == [__file__] * 2
    assert model.result_.status is Status.MAX_ITER


def test_progress_is_logged(caplog):
    with caplog.at_level(logging.INFO, "robustmkl"):
        model = search(verbose=1).fit(X, Y)
    assert f"mean score {model.best_score_:.4f}, the best of 5 candidates" in caplog.text


def test_pickle_and_clone(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.decision_function(NEW), fitted.decision_function(NEW))
    assert again.best_params_ == fitted.best_params_
    assert not hasattr(clone(fitted), "best_params_")
    assert not hasattr(clone(fitted), "lam")


def test_fitting_twice_is_deterministic(fitted):
    again = clone(fitted).fit(X, Y)
    assert again.cv_results_["mean_test_score"].tolist() == fitted.cv_results_["mean_test_score"].tolist()
    np.testing.assert_array_equal(again.decision_function(NEW), fitted.decision_function(NEW))


def test_arguments_are_kept_as_they_are():
    lams, rhos = np.array(LAMS), list(RHOS)
    model = search(lams=lams, rhos=rhos).fit(X, Y)
    assert model.lams is lams
    assert model.rhos is rhos


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"lams": 0}, ValueError, "lams must be a whole number >= 1, got 0"),
        ({"lams": []}, ValueError, "lams must be a number of values or a sequence"),
        ({"lams": [0.1, 0.0]}, ValueError, "positive numbers"),
        ({"lams": "many"}, ValueError, "could not convert|lams"),
        ({"rhos": []}, ValueError, "rhos must be a sequence of budgets"),
        ({"rhos": 0.5}, ValueError, "rhos must be a sequence of budgets"),
        ({"rhos": [1.5]}, ValueError, "rho must .*got 1.5"),
        ({"cv": 1}, ValueError, "n_splits"),
        ({"cv": "five"}, ValueError, "cv"),
        ({"cv": [(np.arange(80), [])]}, ValueError, "fold 0 of cv has 0 test rows"),
        ({"cv": [(np.flatnonzero(Y == 1), np.arange(80))]}, ValueError, "1 classes to train on.*use fewer folds"),
        ({"scoring": "prettiness"}, ValueError, "prettiness"),
        ({"scoring": ["accuracy", "roc_auc"]}, ValueError, "scoring must be one scorer"),
        ({"scoring": lambda *_: np.nan}, ValueError, "gave NaN for every candidate"),
        ({"solver": "newton"}, ValueError, "solver must be"),
        ({"solver": "simplemkl", "rhos": [0.5]}, ValueError, "knows no budget"),
        ({"kernels": "rbf"}, ValueError, "kernels must be"),
        ({"tol": -1.0}, ValueError, "tol must"),
        ({"fit_intercept": "yes"}, TypeError, "fit_intercept must be True or False"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_errors(options, error, message):
    with pytest.raises(error, match=message):
        search(**options).fit(X, Y)


def test_scorer_without_weights_is_refused_when_there_are_some():
    with pytest.raises(ValueError, match="takes no sample_weight, and the rows have weights: use"):
        search(scoring=lambda model, X, y: 1.0).fit(X, Y, sample_weight=WEIGHT)


def test_failed_fit_leaves_the_model_as_it_was(fitted):
    model = clone(fitted).fit(X, Y)
    before = model.decision_function(NEW)
    model.set_params(scoring=lambda *_: np.nan)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X[:40], Y[:40])
    np.testing.assert_array_equal(model.decision_function(NEW), before)


def test_interrupt_is_passed_on(monkeypatch):
    def interrupted(problem, **hints):
        yield from ()
        raise KeyboardInterrupt

    monkeypatch.setattr(path, "interior_point", interrupted)
    model = search()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not hasattr(model, "best_params_")


def test_nan_scores_lose():
    def scorer(model, X, y):
        return np.nan if model.result_.norms.sum() > 3.0 else 0.5

    model = search(scoring=scorer).fit(X, Y)
    lost = np.isnan(model.cv_results_["mean_test_score"])
    assert lost.any()
    assert not lost.all()
    assert not lost[model.best_index_]
    assert (model.cv_results_["rank_test_score"][lost] > 1).all()
