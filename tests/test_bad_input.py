"""What is refused, and how it is said; what is hard but must work; and what an error leaves behind."""

import re
from contextlib import suppress

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from robustmkl import MiPMKLClassifier, SimpleMKLClassifier, Status, StPMKLClassifier, memory
from robustmkl.kernels import Gaussian, KernelDictionary
from robustmkl.solvers.driver import Best

CLASSIFIERS = [StPMKLClassifier, SimpleMKLClassifier, MiPMKLClassifier]
SMALL = KernelDictionary(Gaussian((0.25, 1.0)))
RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = (X[:, 0] + 0.3 * RNG.normal(size=30) > 0.0).astype(int)
WORDS = np.array(["no", "yes"])[Y]
FRAME = pd.DataFrame(X, columns=["age", "bmi", "sex"])
K = np.stack([np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / w) for w in (1.0, 9.0)])


def with_entry(array, where, value):
    array = np.array(array)
    array[where] = value
    return array


def refused(estimator, *data, message, error=(TypeError, ValueError)):
    """The fit is refused with this message, and the same estimator can be fitted to good data afterwards."""
    with pytest.raises(error, match=message):
        estimator.fit(*data)
    usable(estimator.set_params(**type(estimator)(kernels=SMALL).get_params()))


def usable(estimator):
    assert estimator.fit(X, Y).score(X, Y) > 0.7


# --- X ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_missing_value_is_named_by_row_and_column(classifier, value, word):
    message = f"X contains {word} at row 3, column 1.*finite.*SimpleImputer"
    refused(classifier(kernels=SMALL), with_entry(X, (3, 1), value), Y, message=message)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_missing_value_is_named_by_the_columns_name(frame):
    spoilt = frame({"age": X[:, 0], "bmi": with_entry(X[:, 1], slice(3, 5), np.nan)})
    refused(StPMKLClassifier(kernels=SMALL), spoilt, Y, message="row 3, column 'bmi', and 1 more")


@pytest.mark.parametrize(
    ("spoilt", "place"),
    [
        (with_entry(X.astype(object), (2, 1), "tall"), "row 2, column 1"),
        (FRAME.assign(sex=["m", "f"] * 15), "row 0, column 'sex'"),
        (FRAME.assign(sex=pd.Categorical(["m", "f"] * 15)), "row 0, column 'sex'"),
        (pl.from_pandas(FRAME).with_columns(sex=pl.Series(["m", "f"] * 15)), "row 0, column 'sex'"),
        (pa.table({"age": X[:, 0], "sex": ["m", "f"] * 15}), "row 0, column 'sex'"),
    ],
    ids=["objects", "pandas", "category", "polars", "pyarrow"],
)
def test_text_is_named_by_row_and_column(spoilt, place):
    refused(StPMKLClassifier(kernels=SMALL), spoilt, Y, message=f"{place} holds text.*OrdinalEncoder")


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        (sp.csr_array(X), "[Ss]parse"),
        (sp.csr_matrix(X), "[Ss]parse"),
        (X[:, 0], "2D array"),
        (X[:1], "1 sample"),
        (X[:0], "0 sample"),
        (X[:, :0], "0 feature"),
        (X[None], "dim 3"),
        (X + 1j, "[Cc]omplex"),
        (None, "2D array"),
    ],
    ids=["sparse array", "sparse matrix", "1-D", "n = 1", "n = 0", "d = 0", "3-D", "complex", "None"],
)
def test_table_that_is_none(spoilt, message):
    rows = Y if spoilt is None or spoilt.ndim != 2 else Y[: spoilt.shape[0]]
    refused(StPMKLClassifier(kernels=SMALL), spoilt, rows, message=message)


def test_dates_are_named_by_their_column():
    refused(StPMKLClassifier(kernels=SMALL), FRAME.assign(sex=pd.date_range("2020", periods=30)), Y, message="sex")


# --- y ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        (None, "target y is None"),
        (with_entry(Y.astype(float), 4, np.nan), "y contains NaN .* row 4.*leave the rows"),
        (with_entry(Y.astype(float), 4, np.inf), "y contains infinity at row 4"),
        (with_entry(WORDS.astype(object), 4, None), "y contains NaN .*row 4"),
        (pd.Series(WORDS).mask(np.arange(30) == 4), "y contains NaN .*row 4"),
        (pd.Series(Y, dtype="Int64").mask(np.arange(30) == 4), "y contains NaN .*row 4"),
        (with_entry(WORDS.astype(object), 4, 3), "y mixes .*int, str.*one type"),
        (np.ones(30), r"y holds one class only \(1\.0\).* at least two classes"),
        (["no"] * 30, r"y holds one class only \('no'\)"),
        (Y[:5], "y has 5 labels for 30 rows"),
        (X[:, 0], "continuous"),
        (np.column_stack([Y, Y]), "1d array"),
        (3, "1d array"),
    ],
    ids=[
        "None",
        "NaN",
        "infinity",
        "None in objects",
        "missing in pandas words",
        "missing in pandas ints",
        "mixed types",
        "one class",
        "one word",
        "length",
        "continuous",
        "2-D",
        "scalar",
    ],
)
def test_labels_that_are_none(classifier, spoilt, message):
    refused(classifier(kernels=SMALL), X, spoilt, message=message)


# --- weights ------------------------------------------------------------------------------------

ONES = np.ones(30)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (with_entry(ONES, 3, -1.0), r"sample_weight is -1\.0 at row 3.*>= 0"),
        (with_entry(ONES, 3, np.nan), "sample_weight is nan at row 3.*finite"),
        (with_entry(ONES, 3, np.inf), "sample_weight is inf at row 3.*finite"),
        (ONES[:4], r"sample_weight has shape \(4,\) for 30 rows"),
        (np.column_stack([ONES, ONES]), r"sample_weight has shape \(30, 2\)"),
        (0.0 * ONES, "sample_weight is zero for every row"),
        (Y.astype(float), "one class only .*positive weight"),
        (["heavy"] * 30, "sample_weight"),
        (with_entry(ONES.astype(object), 3, None), "sample_weight"),
    ],
    ids=["negative", "NaN", "infinity", "length", "2-D", "all zero", "one class left", "words", "None"],
)
def test_bad_sample_weights(classifier, weights, message):
    refused(classifier(kernels=SMALL), X, Y, weights, message=message)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ("balance", "class_weight must be None, 'balanced' or a dict.*'balance'"),
        ([1.0, 2.0], "class_weight must be None, 'balanced' or a dict"),
        ({2: 1.0}, r"class_weight names \['2'\], not among the classes \[0, 1\]"),
        ({0: -1.0}, "class_weight must be finite and >= 0"),
        ({0: np.nan}, "class_weight must be finite and >= 0"),
        ({0: "heavy"}, "class_weight"),
        ({0: 0.0}, "one class only .*positive weight"),
    ],
    ids=str,
)
def test_bad_class_weights(weight, message):
    refused(StPMKLClassifier(kernels=SMALL, class_weight=weight), X, Y, message=message)


# --- parameters ---------------------------------------------------------------------------------

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("lam", v) for v in (0.0, -1.0, NAN, INF, "small", None)),
        *(("tol", v) for v in (-1.0, NAN, INF, "small", None)),
        *(("atol", v) for v in (-1.0, NAN, INF, "small", None)),
        *(("max_iter", v) for v in (0, -1, 2.5, NAN, "many")),
        *(("solver", v) for v in ("newton", None, 3)),
        *(("kernels", v) for v in ("rbf", None, 3, Gaussian())),
        ("fit_intercept", "no"),
    ],
    ids=str,
)
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_parameter_of_every_classifier_is_named(classifier, name, value):
    refused(classifier(**{"kernels": SMALL, name: value}), X, Y, message=_named(name, value))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("rho", v) for v in (0.0, -1.0, 1.5, NAN, INF, "some")),
        *(("noise_level", v) for v in (-0.1, 0.5, NAN, "some")),
        *(("epsilon", v) for v in (0.0, 1.0, -0.1, NAN, "some")),
        *(("budget", v) for v in ("beta", None)),
    ],
    ids=str,
)
def test_parameter_of_stpmkl_is_named(name, value):
    refused(StPMKLClassifier(**{"kernels": SMALL, name: value}), X, Y, message=_named(name, value))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("rho", v) for v in (0.0, -1.0, 1.5, NAN, "some", None)),
        *(("n_starts", v) for v in (0, -1, 2.5, "many", None)),
    ],
    ids=str,
)
def test_parameter_of_mipmkl_is_named(name, value):
    refused(MiPMKLClassifier(**{"kernels": SMALL, name: value}), X, Y, message=_named(name, value))


def _named(name, value):
    """Parameter and value stand in the message."""
    return f"(?s)(?=.*{name})(?=.*{re.escape(repr(value))})"


@pytest.mark.parametrize("name", ["lam", "tol"])
@pytest.mark.parametrize("kernels", ["paper", "precomputed"])
def test_parameters_are_checked_with_all_kernels(name, kernels):
    model = StPMKLClassifier(kernels=kernels, **{name: "small"})
    refused(model, K if kernels == "precomputed" else X, Y, message=name)


def test_rho_and_noise_level_contradict():
    model = StPMKLClassifier(kernels=SMALL, rho=0.7, noise_level=0.2)
    refused(model, X, Y, message=r"rho=0\.7 and noise_level=0\.2 contradict.*one of them", error=ValueError)


def test_rho_up_to_h_needs_epsilon():
    usable(StPMKLClassifier(kernels=SMALL, rho=1.5, epsilon=0.1))
    refused(StPMKLClassifier(kernels=SMALL, rho=2.5, epsilon=0.1), X, Y, message=r"rho must .* \(0, 2\.07.*2\.5")


def test_solver_without_budget_refuses_a_budget():
    model = StPMKLClassifier(kernels=SMALL, solver="simplemkl", rho=0.7)
    refused(model, X, Y, message=r"solver='simplemkl' .*rho = 1 \(got 0\.7\): use solver='interior-point'")


def test_unknown_parameter_is_refused():
    with pytest.raises(ValueError, match="Invalid parameter 'gamma'"):
        StPMKLClassifier().set_params(gamma=1.0)


# --- precomputed kernels ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stack", "message"),
    [
        (K[0], r"shape \(m, n, n\), got \(30, 30\)"),
        (K[:, :20], r"shape \(m, n, n\), got \(2, 20, 30\)"),
        (K[:0], r"shape \(m, n, n\), got \(0, 30, 30\)"),
        (K[:, :20, :20], "y has 30 labels for 20 rows"),
        (with_entry(K, (1, 2, 3), np.nan), r"NaN or infinity in kernel 1 at \(2, 3\)"),
        (with_entry(K, (1, 2, 3), 0.9), r"kernel 1 is not symmetric: see entry \(2, 3\)"),
        (np.stack([K[0], -K[1]]), r"kernel 1 is not positive semi-definite .*diagonal"),
        (sp.csr_array(K[0]), "[Ss]parse"),
        ([K[0], K[1][:20, :20]], r"shape \(m, n, n\)"),
        (np.full(K.shape, "a"), "precomputed"),
    ],
    ids=["2-D", "not square", "empty", "labels", "NaN", "asymmetric", "indefinite", "sparse", "ragged", "words"],
)
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_bad_gram_matrices(classifier, stack, message):
    refused(classifier(kernels="precomputed"), stack, Y, message=message)


@pytest.mark.parametrize(
    ("stack", "message"),
    [
        (K[0], r"shape \(m, n_new, 30\), got \(30, 30\)"),
        (K[:, :, :20], r"shape \(m, n_new, 30\), got \(2, 30, 20\)"),
        (K[:1], "X holds 1 kernels; the model was trained on 2"),
        (K[:, :0], r"shape \(m, n_new, 30\), got \(2, 0, 30\)"),
        (with_entry(K[:, :5], (1, 2, 3), np.nan), r"NaN or infinity in kernel 1 at \(2, 3\)"),
    ],
    ids=["2-D", "columns", "kernels", "no rows", "NaN"],
)
def test_bad_gram_matrices_at_prediction(stack, message):
    model = StPMKLClassifier(kernels="precomputed").fit(K, Y)
    with pytest.raises(ValueError, match=message):
        model.predict(stack)


# --- prediction ---------------------------------------------------------------------------------


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_not_fitted(classifier, method):
    with pytest.raises(NotFittedError, match=f"{classifier.__name__} instance is not fitted yet. Call 'fit'"):
        getattr(classifier(), method)(X)


@pytest.mark.parametrize("call", [lambda m: m.certificate(X, Y), lambda m: m.risk_bound(X, Y, 0.1)])
def test_not_fitted_proves_nothing(call):
    with pytest.raises(NotFittedError):
        call(StPMKLClassifier())


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (X[:, :2], "X has 2 features, but .* expecting 3"),
        (X[0], "2D array"),
        (X[:0], "0 sample"),
        (with_entry(X, (2, 1), np.nan), "X contains NaN at row 2, column 1"),
        (with_entry(X.astype(object), (2, 1), "tall"), "row 2, column 1 holds text"),
        (sp.csr_array(X), "[Ss]parse"),
    ],
    ids=["width", "1-D", "no rows", "NaN", "text", "sparse"],
)
def test_bad_rows_at_prediction(rows, message):
    model = StPMKLClassifier(kernels=SMALL).fit(X, Y)
    before = model.predict(X)
    with pytest.raises((TypeError, ValueError), match=message):
        model.predict(rows)
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("rows", [29, 31])
def test_certificate_needs_the_training_rows(rows):
    model = StPMKLClassifier(kernels=SMALL).fit(X, Y)
    other = np.resize(X, (rows, 3)), np.resize(Y, rows)
    with pytest.raises(ValueError, match="30"):
        model.certificate(*other)


def test_certificate_of_a_table_of_another_width():
    model = StPMKLClassifier(kernels=SMALL).fit(X, Y)
    with pytest.raises(ValueError, match=r"2 features, but .* expecting 3"):
        model.certificate(X[:, :2], Y)


@pytest.mark.parametrize("data", [(X[:, :2], Y), (X[:9], Y[:9]), (FRAME, Y), (X, Y[:4])], ids=["d", "n", "frame", "y"])
def test_certificate_never_changes_the_model(data):
    model = StPMKLClassifier(kernels=SMALL).fit(X, Y)
    before = model.decision_function(X)
    with suppress(Exception):
        model.certificate(*data)
    np.testing.assert_array_equal(model.decision_function(X), before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, Y[:5], 0.1), "5 .*30|30 .*5"),
        ((X, Y + 5, 0.1), "classes|labels"),
        ((X, Y, 0.6), "noise_level must .*0\\.6"),
        ((X, Y, 0.1, 2.0), "epsilon must .*2\\.0"),
        ((X, Y, 0.1, 0.1, 2.0), "delta must .*2\\.0"),
        ((X[:, :2], Y, 0.1), "2 features"),
    ],
    ids=["length", "labels", "noise level", "epsilon", "delta", "width"],
)
def test_bad_risk_bounds(arguments, message):
    model = StPMKLClassifier(kernels=SMALL, fit_intercept=False).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        model.risk_bound(*arguments)


def test_risk_bound_is_not_about_an_intercept_or_more_classes():
    with pytest.raises(ValueError, match="fit_intercept=False"):
        StPMKLClassifier(kernels=SMALL).fit(X, Y).risk_bound(X, Y, 0.1)
    three = StPMKLClassifier(kernels=SMALL, fit_intercept=False).fit(X, np.arange(30) % 3)
    with pytest.raises(ValueError, match="two classes, this model has 3"):
        three.risk_bound(X, Y, 0.1)


# --- memory -------------------------------------------------------------------------------------


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("kernels", ["paper", SMALL], ids=["paper", "dictionary"])
def test_too_little_memory_is_said_before_the_work(classifier, kernels, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(memory, "available_bytes", lambda: 10_000)
        with pytest.raises(MemoryError, match=r"kernels of 30 rows .*need .* KiB, and 9\.77 KiB are free: use fewer"):
            classifier(kernels=kernels).fit(X, Y)
    usable(classifier(kernels=kernels))


def test_too_little_memory_for_precomputed_kernels(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 10_000)
    with pytest.raises(MemoryError, match=r"30 rows .*need .* KiB, and 9\.77 KiB are free"):
        StPMKLClassifier(kernels="precomputed").fit(K, Y)


# --- hard, but it must work ---------------------------------------------------------------------

HARD = {
    "n = 2": (X[:2], [0, 1]),
    "d = 1": (X[:, :1], Y),
    "constant column": (np.column_stack([X, np.full(30, 7.0)]), Y),
    "all columns constant": (np.ones((30, 2)), Y),
    "duplicate rows with both labels": (np.repeat(X[:10], 2, axis=0), np.tile([0, 1], 10)),
    "all rows with both labels": (np.ones((10, 1)), np.tile([0, 1], 5)),
    "1e300": (1e300 * X, Y),
    "1.7e308": (1.7e308 * np.tanh(X), Y),
    "1.7e308 of one sign": (1.7e308 * np.abs(np.tanh(X)), Y),
    "denormal": (1e-310 * X, Y),
    "one huge value": (with_entry(X, (0, 0), 1e300), Y),
    "offset 1e15": (X + 1e15, Y),
    "more columns than rows": (RNG.normal(size=(8, 20)), np.arange(8) % 2),
    "one row of a class": (X, with_entry(np.zeros(30, dtype=int), 3, 1)),
    "perfectly separable": (X, (X[:, 0] > 0).astype(int)),
}


@pytest.mark.parametrize("data", HARD.values(), ids=HARD)
@pytest.mark.parametrize("parameters", [{}, {"rho": 0.6}, {"fit_intercept": False, "lam": 1e-4}], ids=str)
def test_hard_tables_are_solved_and_certified(data, parameters):
    model = StPMKLClassifier(**parameters).fit(*data)
    assert 0.0 <= model.gap_ <= 1e-4 * model.primal_
    assert np.isfinite(model.decision_function(data[0])).all()
    again = model.certificate(*data)
    assert again.primal == pytest.approx(model.primal_, abs=1e-9)
    assert again.dual == pytest.approx(model.dual_, abs=1e-9)


@pytest.mark.parametrize("data", HARD.values(), ids=HARD)
def test_hard_tables_are_solved_by_mipmkl(data):
    model = MiPMKLClassifier(rho=0.8, n_starts=2, kernels=SMALL, random_state=0).fit(*data)
    assert -1e-12 <= model.gap_ <= 1e-4 * model.primal_
    assert set(model.predict(data[0])) <= set(data[1])


@pytest.mark.parametrize(
    ("stack", "name"),
    [(K[:1], "m = 1"), (1e-100 * K, "tiny"), (1e8 * K, "large"), (0.0 * K, "zero"), (np.ones((1, 30, 30)), "ones")],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_hard_gram_matrices(stack, name):
    model = StPMKLClassifier(kernels="precomputed").fit(stack, Y)
    assert model.gap_ <= 1e-4 * model.primal_
    np.testing.assert_allclose(model.kernel_weights_.sum(), 1.0)


@pytest.mark.parametrize("intercept", [True, False])
def test_contradicted_rows_alone_leave_f_at_zero(intercept):
    X_twice, y_both = np.repeat(X[:10], 2, axis=0), np.tile([0, 1], 10)
    model = StPMKLClassifier(fit_intercept=intercept).fit(X_twice, y_both)
    np.testing.assert_allclose(model.decision_function(X), 0.0, atol=1e-3)
    assert model.primal_ == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(
    "weights",
    [1e-300 * ONES, 1e300 * ONES, 1e-320 * ONES, np.geomspace(1e-12, 1e12, 30), 2.0],
    ids=["1e-300", "1e300", "1e-320", "24 orders", "scalar"],
)
def test_hard_weights(weights):
    model = StPMKLClassifier(kernels=SMALL).fit(X, Y, weights)
    assert model.gap_ <= 1e-4 * model.primal_


@pytest.mark.parametrize("scale", [1.0, 1e10, 1e300])
def test_rows_far_outside_are_predicted(scale):
    """Gaussians vanish there: what remains is the intercept."""
    model = StPMKLClassifier(kernels=SMALL).fit(X, Y)
    far = model.decision_function(X + 1e6 * scale)
    np.testing.assert_allclose(far, model.intercept_[0], atol=1e-12)


# --- what an error leaves behind ----------------------------------------------------------------

FAILURES = {
    "NaN": (with_entry(X, (0, 0), np.nan), Y),
    "one class": (X, np.ones(30)),
    "missing label": (X, with_entry(Y.astype(float), 3, np.nan)),
    "one class, other width": (X[:, :2], np.ones(30)),
    "NaN, other width": (with_entry(X[:, :2], (0, 0), np.nan), Y),
    "frame, one class": (FRAME, np.ones(30)),
    "bad weight, other width": (X[:, :2], Y, -ONES),
}


@pytest.mark.parametrize("data", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_failing_refit_leaves_the_old_model(classifier, data):
    model = classifier(kernels=SMALL).fit(X, Y)
    before = model.decision_function(X)
    with pytest.raises(ValueError):
        model.fit(*data)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_refit_without_memory_leaves_the_old_model(monkeypatch):
    model = StPMKLClassifier(kernels=SMALL).fit(X, Y)
    before = model.decision_function(X)
    monkeypatch.setattr(memory, "available_bytes", lambda: 10_000)
    with pytest.raises(MemoryError):
        model.fit(X[:20, :2], Y[:20])
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_failing_refit_with_precomputed_kernels_leaves_the_old_model():
    model = StPMKLClassifier(kernels="precomputed").fit(K, Y)
    before = model.decision_function(K)
    with pytest.raises(ValueError):
        model.fit(K[:, :20, :20], np.ones(20))
    np.testing.assert_array_equal(model.decision_function(K), before)


@pytest.fixture
def interrupt(monkeypatch):
    """Let Ctrl-C come at the given certificate."""

    certify, calls = Best.offer, []

    def arrange(at):

        def offer(self, point):
            calls.append(1)
            if len(calls) == at:
                raise KeyboardInterrupt
            return certify(self, point)

        monkeypatch.setattr(Best, "offer", offer)
        return calls

    return arrange


def test_interrupted_fit_keeps_the_best_point(interrupt):
    interrupt(at=4)
    model = StPMKLClassifier(kernels=SMALL)
    with pytest.warns(ConvergenceWarning, match="Interrupted: the best certified point"):
        model.fit(X, Y)
    assert model.result_.status is Status.INTERRUPTED
    assert model.predict(X).shape == (30,)
    assert model.certificate(X, Y).primal == pytest.approx(model.primal_, abs=1e-9)
    usable(model)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_failing_first_fit_leaves_an_unfitted_model(classifier):
    model = classifier(kernels=SMALL)
    with pytest.raises(ValueError):
        model.fit(X, np.ones(30))
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_interrupt_before_the_first_point_is_passed_on(classifier, interrupt):
    interrupt(at=1)
    model = classifier(kernels=SMALL)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    usable(model)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("classes", [2, 3])
def test_interrupt_ends_the_fit(classifier, classes, interrupt):
    """Not only the class, the start or the f-step that was at work when it came."""
    certificates = interrupt(at=4)
    with suppress(KeyboardInterrupt):
        classifier(kernels=SMALL).fit(X, np.arange(30) % classes)
    assert len(certificates) < 10


def test_interrupted_refit_leaves_the_old_model(interrupt):
    model = StPMKLClassifier(kernels=SMALL).fit(X, Y)
    before = model.decision_function(X)
    interrupt(at=1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:20, :2], Y[:20])
    np.testing.assert_array_equal(model.decision_function(X), before)
