"""Simulated label noise: rates, kinds, seeds, types, and what is refused."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from robustmkl import noise
from robustmkl.datasets import load_uci
from robustmkl.noise import flip_labels

KINDS = ("symmetric", "class", "instance")
RATES = (0.0, 0.05, 0.2, 0.4, 0.6, 0.95)


def tolerance(rate, n):
    """Five standard deviations of the share of n independent flips, at most at this rate."""
    return 5 * np.sqrt(max(rate * (1 - rate), 1e-12) / n)


def two_clusters(n, seed=0):
    """Two overlapping clusters along the first column; the boundary is at 0."""
    rng = np.random.default_rng(seed)
    y = np.repeat(["left", "right"], n // 2)
    X = rng.normal(size=(n, 2))
    X[:, 0] += np.where(y == "left", -2.0, 2.0)
    return X, y


def observed_frequency(y, rate, kind, X=None, n_draws=400):
    """Share of draws in which each row is flipped."""
    draws = [flip_labels(y, rate, kind, X, random_state=seed)[1] for seed in range(n_draws)]
    return np.mean(draws, axis=0)


def test_exports():
    assert "flip_labels" in noise.__all__


# --- what is returned ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rate", RATES)
def test_flipped_is_where_labels_differ(kind, rate):
    X, y = two_clusters(300)
    y_noisy, flipped = flip_labels(y, rate, kind, X, random_state=0)
    assert flipped.dtype == np.bool_
    np.testing.assert_array_equal(flipped, y_noisy != y)


@pytest.mark.parametrize(
    "y",
    [
        np.array(["no", "yes"] * 50),
        np.array(["no", "yes"] * 50, dtype=object),
        np.array([b"no", b"yes"] * 50),
        np.array([-1, 1] * 50),
        np.array([0, 1] * 50, dtype=np.int8),
        np.array([0, 1] * 50, dtype=">i4"),
        np.array([1, 2] * 50, dtype=np.uint64),
        np.array([False, True] * 50),
        np.array([0.0, 1.0] * 50),
        np.array([-1, 1] * 50, dtype=np.float32),
        np.array([0, 1, 2, 7] * 25),
        np.array(["2020-01-01", "2021-01-01"] * 50, dtype="datetime64[D]"),
    ],
    ids=lambda y: y.dtype.str,
)
def test_labels_of_any_type_keep_it(y):
    y_noisy, flipped = flip_labels(y, 0.3, random_state=0)
    assert y_noisy.dtype == y.dtype
    assert y_noisy.shape == flipped.shape == y.shape
    assert set(y_noisy.tolist()) == set(y.tolist())
    np.testing.assert_array_equal(flipped, y_noisy != y)
    assert 10 < flipped.sum() < 50


@pytest.mark.parametrize(
    "y",
    [
        ["no", "yes"] * 50,
        tuple(["no", "yes"] * 50),
        pd.Series(["no", "yes"] * 50, index=range(100, 200)),
        pd.Series(["no", "yes"] * 50, dtype="category"),
        pd.Series(["no", "yes"] * 50, dtype=object),
    ],
    ids=["list", "tuple", "series", "categorical", "object"],
)
def test_containers_give_the_same_flips(y):
    expected, _ = flip_labels(np.array(["no", "yes"] * 50), 0.3, random_state=0)
    y_noisy, flipped = flip_labels(y, 0.3, random_state=0)
    assert type(y_noisy) is type(flipped) is np.ndarray
    assert y_noisy.tolist() == expected.tolist()


def test_nullable_integers_of_pandas():
    y_noisy, flipped = flip_labels(pd.Series([0, 1] * 50, dtype="Int64"), 0.3, random_state=0)
    assert set(y_noisy.tolist()) == {0, 1}
    assert flipped.any()


def test_frame_as_X_gives_the_flips_of_the_array():
    X, y = two_clusters(100)
    expected, _ = flip_labels(y, 0.3, "instance", X, random_state=0)
    y_noisy, _ = flip_labels(y, 0.3, "instance", pd.DataFrame(X), random_state=0)
    np.testing.assert_array_equal(y_noisy, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_input_is_never_modified(kind):
    X, y = two_clusters(100)
    X_before, y_before = X.copy(), y.copy()
    X.flags.writeable = y.flags.writeable = False
    y_noisy, _ = flip_labels(y, 0.5, kind, X, random_state=0)
    y_noisy[:] = "left"
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)


def test_result_is_a_copy_even_without_flips():
    y = np.array([0, 1])
    y_noisy, _ = flip_labels(y, 0.0)
    assert not np.shares_memory(y, y_noisy)


# --- rates --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", RATES)
def test_symmetric_rate_within_binomial_tolerance(rate):
    y = np.array([0, 1] * 50_000)
    _, flipped = flip_labels(y, rate, random_state=3)
    assert abs(flipped.mean() - rate) <= tolerance(rate, y.size)


def test_symmetric_rate_is_the_same_in_every_class():
    y = np.repeat(["a", "b", "c"], [60_000, 30_000, 10_000])
    _, flipped = flip_labels(y, 0.2, random_state=4)
    for label, n in (("a", 60_000), ("b", 30_000), ("c", 10_000)):
        assert abs(flipped[y == label].mean() - 0.2) <= tolerance(0.2, n)


def test_flips_of_different_rows_are_independent():
    y = np.array([0, 1] * 50)
    counts = [flip_labels(y, 0.3, random_state=seed)[1].sum() for seed in range(4000)]
    assert np.mean(counts) == pytest.approx(30, abs=5 * np.sqrt(21 / 4000))
    # independence: the number of flips has binomial variance, n rate (1 - rate)
    assert np.var(counts) == pytest.approx(21, rel=0.12)


def test_flips_go_to_every_other_class_alike():
    y = np.repeat([0, 1, 2, 3], 30_000)
    y_noisy, flipped = flip_labels(y, 0.6, random_state=5)
    for label in range(4):
        goals = y_noisy[flipped & (y == label)]
        others, counts = np.unique(goals, return_counts=True)
        assert others.tolist() == [k for k in range(4) if k != label]
        np.testing.assert_allclose(counts / goals.size, 1 / 3, atol=tolerance(1 / 3, goals.size))


def test_rate_zero_flips_nothing():
    X, y = two_clusters(100)
    for kind in KINDS:
        y_noisy, flipped = flip_labels(y, 0, kind, X)
        assert not flipped.any()
        np.testing.assert_array_equal(y_noisy, y)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rate", RATES)
def test_mean_rate_is_the_rate_in_every_kind(kind, rate):
    X, y = two_clusters(40_000)
    y = np.where(np.arange(y.size) % 5 == 0, "middle", y)
    _, flipped = flip_labels(y, rate, kind, X, random_state=6)
    assert abs(flipped.mean() - rate) <= tolerance(rate, y.size)


@pytest.mark.parametrize("rate", [np.float32(0.25), np.float64(0.25), Fraction(1, 4)])
def test_rate_may_be_any_real_number(rate):
    y = np.array([0, 1] * 100)
    expected, _ = flip_labels(y, 0.25, random_state=0)
    np.testing.assert_array_equal(flip_labels(y, rate, random_state=0)[0], expected)


# --- class-dependent ----------------------------------------------------------------------------


def test_class_rates_follow_the_documented_formula():
    n_1, n_2, rate = 60_000, 40_000, 0.25
    y = np.repeat(["a", "b"], [n_1, n_2])
    _, flipped = flip_labels(y, rate, "class", random_state=7)
    r = rate * (n_1 + n_2) / (n_1 + 3 * n_2)
    assert abs(flipped[:n_1].mean() - r) <= tolerance(r, n_1)
    assert abs(flipped[n_1:].mean() - 3 * r) <= tolerance(3 * r, n_2)


def test_class_rates_rise_in_equal_steps():
    y = np.repeat([0, 1, 2], 50_000)
    _, flipped = flip_labels(y, 0.3, "class", random_state=8)
    shares = flipped.reshape(3, -1).mean(axis=1)
    np.testing.assert_allclose(shares, [0.15, 0.3, 0.45], atol=tolerance(0.45, 50_000))


def test_class_rate_stops_at_one():
    # uncapped, the second class would be flipped at 3 * 0.8 / 2 = 1.2
    y = np.repeat([0, 1], 50_000)
    _, flipped = flip_labels(y, 0.8, "class", random_state=9)
    assert flipped[y == 1].all()
    assert abs(flipped[y == 0].mean() - 0.6) <= tolerance(0.6, 50_000)


@pytest.mark.parametrize(
    ("y", "rates"),
    [
        (np.repeat(["a", "b"], 40_000), {"a": 0.1, "b": 0.35}),
        (np.repeat(["a", "b"], 40_000), {"b": 0.35, "a": 0}),
        (np.repeat([0, 1, 2], 40_000), {0: 0.5, 1: 0.0, 2: 0.9}),
        (np.repeat([False, True], 40_000), {True: 0.2, False: 0.4}),
        (np.repeat([-1.0, 1.0], 40_000), {-1: 0.2, 1: 0.4}),
    ],
)
def test_mapping_gives_each_class_its_rate(y, rates):
    _, flipped = flip_labels(y, rates, "class", random_state=10)
    for label, rate in rates.items():
        assert abs(flipped[y == label].mean() - rate) <= tolerance(rate, 40_000)


def test_equal_class_rates_are_symmetric_noise():
    y = np.array([0, 1, 1] * 100)
    symmetric = flip_labels(y, 0.3, random_state=11)
    mapped = flip_labels(y, {0: 0.3, 1: 0.3}, "class", random_state=11)
    np.testing.assert_array_equal(symmetric[0], mapped[0])


# --- instance-dependent -------------------------------------------------------------------------


def test_rows_near_the_boundary_are_flipped_more_often():
    X, y = two_clusters(400)
    frequency = observed_frequency(y, 0.2, "instance", X)
    near = np.argsort(np.abs(X[:, 0]))
    # the nearest and the farthest quarter: about 2 * 0.2 * 7/8 and 2 * 0.2 * 1/8 if X[:, 0] ranked
    assert frequency[near[:100]].mean() > 0.28
    assert frequency[near[-100:]].mean() < 0.14
    assert frequency.mean() == pytest.approx(0.2, abs=tolerance(0.2, 400 * 400))


def test_flip_frequency_is_linear_in_the_rank():
    X, y = two_clusters(400)
    frequency = np.sort(observed_frequency(y, 0.2, "instance", X))
    expected = 0.4 * (np.arange(400) + 0.5) / 400
    np.testing.assert_allclose(frequency, expected, atol=0.06)


@pytest.mark.parametrize(("counts", "n_neighbours"), [((60, 50, 40), 5), ((60, 50, 4), 3)])
def test_probabilities_follow_the_documented_formula(counts, n_neighbours):
    rng = np.random.default_rng(14)
    y = np.repeat(["a", "b", "c"], counts)
    X = rng.normal(size=(y.size, 3)) * [1.0, 10.0, 0.1]
    distance = cdist(X / X.std(axis=0), X / X.std(axis=0))
    np.fill_diagonal(distance, np.inf)
    by_class = [np.sort(distance[:, y == k], axis=1)[:, n_neighbours - 1] for k in "abc"]
    nearest, second, _ = np.sort(by_class, axis=0)
    rank = 1 + np.argsort(np.argsort(second - nearest))
    probability = 2 * 0.3 * (1 - (rank - 0.5) / y.size)
    _, flipped = flip_labels(y, 0.3, "instance", X, random_state=5)
    # the first draw of the generator decides which rows are flipped
    np.testing.assert_array_equal(flipped, np.random.default_rng(5).random(y.size) < probability)


def test_boundary_need_not_be_a_line():
    rng = np.random.default_rng(12)
    angle, radius = rng.uniform(0, 2 * np.pi, 400), rng.uniform(0.1, 2.0, 400)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    frequency = observed_frequency((radius > 1).astype(int), 0.2, "instance", X)
    ring = np.abs(radius - 1)
    assert frequency[ring < 0.2].mean() > 2 * frequency[ring > 0.6].mean()


def test_distance_between_the_two_nearest_of_three_classes():
    # classes at 0, 10 and 30 on a line: rows between 0 and 10 are nearest to a boundary
    rng = np.random.default_rng(13)
    x = rng.uniform(0, 30, 600)
    y = np.digitize(x, [10, 20])
    frequency = observed_frequency(y, 0.2, "instance", x[:, None])
    near = np.minimum(np.abs(x - 10), np.abs(x - 20))
    assert frequency[near < 1].mean() > 0.3
    assert frequency[near > 6].mean() < 0.15


def test_columns_are_standardised_first():
    X, y = two_clusters(200)
    expected, _ = flip_labels(y, 0.3, "instance", X, random_state=0)
    rescaled = X * np.array([2.0**20, 2.0**-20]) + np.array([1.0, 0.0])
    y_noisy, _ = flip_labels(y, 0.3, "instance", rescaled, random_state=0)
    np.testing.assert_array_equal(y_noisy, expected)


def test_constant_and_tiny_columns_are_harmless():
    X, y = two_clusters(200)
    expected, _ = flip_labels(y, 0.3, "instance", X, random_state=0)
    with_constants = np.column_stack([np.full(200, 0.1), X, np.zeros(200)])
    y_noisy, _ = flip_labels(y, 0.3, "instance", with_constants, random_state=0)
    np.testing.assert_array_equal(y_noisy, expected)
    tiny, _ = flip_labels(y, 0.3, "instance", X * 1e-200, random_state=0)
    np.testing.assert_array_equal(tiny, expected)


def test_rows_that_no_attribute_tells_apart_share_one_rate():
    y = np.array([0, 1] * 100)
    expected, _ = flip_labels(y, 0.3, random_state=0)
    y_noisy, _ = flip_labels(y, 0.3, "instance", np.ones((200, 2)), random_state=0)
    np.testing.assert_array_equal(y_noisy, expected)


@pytest.mark.parametrize("y", [[0, 1], [0, 0, 0, 1], [0, 1, 2], [0, 0, 1, 2, 2]])
def test_classes_of_a_single_row(y):
    X = np.arange(len(y), dtype=float)[:, None]
    frequency = observed_frequency(np.array(y), 0.4, "instance", X, n_draws=2000)
    assert frequency.mean() == pytest.approx(0.4, abs=tolerance(0.4, 2000 * len(y)))


@pytest.mark.parametrize("name", ["ionosphere", "heart", "sonar", "breast-cancer", "australia"])
def test_instance_noise_on_the_uci_tables(name):
    X, y = load_uci(name, return_X_y=True)
    frequency = observed_frequency(y, 0.2, "instance", X, n_draws=100)
    assert frequency.mean() == pytest.approx(0.2, abs=tolerance(0.2, 100 * y.size))
    assert np.quantile(frequency, 0.9) > 0.3
    assert np.quantile(frequency, 0.1) < 0.1


@pytest.mark.parametrize("kind", ["symmetric", "class"])
def test_other_kinds_do_not_look_at_X(kind):
    y = np.array([0, 1] * 20)
    with_X, _ = flip_labels(y, 0.3, kind, X="not a table", random_state=0)
    without, _ = flip_labels(y, 0.3, kind, random_state=0)
    np.testing.assert_array_equal(with_X, without)


# --- seeds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [int, np.random.default_rng, np.random.RandomState, np.int64])
def test_same_seed_same_flips(kind, make):
    X, y = two_clusters(200)
    first, _ = flip_labels(y, 0.3, kind, X, random_state=make(42))
    second, _ = flip_labels(y, 0.3, kind, X, random_state=make(42))
    other, _ = flip_labels(y, 0.3, kind, X, random_state=make(43))
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_are_advanced(make):
    y = np.array([0, 1] * 100)
    generator = make(42)
    first, _ = flip_labels(y, 0.3, random_state=generator)
    second, _ = flip_labels(y, 0.3, random_state=generator)
    assert (first != second).any()


def test_no_seed_draws_anew():
    y = np.array([0, 1] * 100)
    first, _ = flip_labels(y, 0.3)
    second, _ = flip_labels(y, 0.3)
    assert (first != second).any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_higher_rate_keeps_the_flips_of_a_lower_one(kind):
    X, y = two_clusters(300)
    y = np.where(np.arange(300) % 3 == 0, "middle", y)
    lower, flipped = flip_labels(y, 0.2, kind, X, random_state=0)
    higher, flipped_more = flip_labels(y, 0.7, kind, X, random_state=0)
    assert flipped_more[flipped].all()
    np.testing.assert_array_equal(lower[flipped], higher[flipped])


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [float("nan"), -0.1, 1, 1.0, 1.5, float("inf"), -float("inf")])
@pytest.mark.parametrize("kind", KINDS)
def test_rate_outside_the_interval(rate, kind):
    with pytest.raises(ValueError, match=rf"rate={float(rate)} is not in \[0, 1\): pass"):
        flip_labels([0, 1], rate, kind, X=[[0.0], [1.0]])


@pytest.mark.parametrize(("rate", "name"), [("0.2", "str"), (None, "NoneType"), ([0.2], "list"), (0.2j, "complex")])
def test_rate_that_is_no_number(rate, name):
    with pytest.raises(TypeError, match=f"^rate=.* is a {name}: pass a number in"):
        flip_labels([0, 1], rate)


@pytest.mark.parametrize("kind", ["symmetrical", "", None, 1, ["class"]])
def test_unknown_kind(kind):
    with pytest.raises(ValueError, match="use one of 'symmetric', 'class', 'instance'") as caught:
        flip_labels([0, 1], 0.2, kind)
    assert f"kind={kind!r}" in str(caught.value)


@pytest.mark.parametrize("kind", ["symmetric", "instance"])
def test_mapping_is_for_class_noise_only(kind):
    with pytest.raises(ValueError, match=f"kind='{kind}' does not take: use kind='class'"):
        flip_labels([0, 1], {0: 0.1, 1: 0.2}, kind, X=[[0.0], [1.0]])


def test_mapping_with_an_unknown_class():
    with pytest.raises(ValueError, match=r"names \['yes'\], not among .* use \['No', 'Yes'\]"):
        flip_labels(["No", "Yes"], {"No": 0.1, "yes": 0.2}, "class")


def test_mapping_without_a_class():
    with pytest.raises(ValueError, match=r"gives the classes \[1\] of y no rate: name every class"):
        flip_labels([0, 1, 2], {0: 0.1, 2: 0.2}, "class")


@pytest.mark.parametrize("rate", [1.0, -0.1, float("nan")])
def test_mapping_with_a_rate_outside_the_interval(rate):
    with pytest.raises(ValueError, match=rf"^rate\['b'\]={rate} is not in"):
        flip_labels(["a", "b"], {"a": 0.1, "b": rate}, "class")


def test_mapping_with_a_rate_that_is_no_number():
    with pytest.raises(TypeError, match=r"^rate\['b'\]='high' is a str: pass a number"):
        flip_labels(["a", "b"], {"a": 0.1, "b": "high"}, "class")


@pytest.mark.parametrize(
    "y", [[], np.array([], dtype=int), pd.Series([], dtype=object)], ids=["list", "array", "series"]
)
def test_empty_y(y):
    with pytest.raises(ValueError, match=r"y is empty, shape \(0,\): pass at least"):
        flip_labels(y, 0.2)


@pytest.mark.parametrize("rate", [0.0, 0.2])
@pytest.mark.parametrize("y", [["yes"] * 5, [1]])
def test_one_class(y, rate):
    with pytest.raises(ValueError, match=f"y has only one class, {y[0]!r}.*two classes or more"):
        flip_labels(y, rate)


@pytest.mark.parametrize("y", [np.zeros((3, 1)), np.zeros((2, 2)), "yes", 3, None])
def test_y_that_is_not_a_sequence_of_labels(y):
    with pytest.raises(ValueError, match=r"y has shape \(.*\): pass one label for each row"):
        flip_labels(y, 0.2)


@pytest.mark.parametrize(
    "y",
    [
        np.array([0.0, 1.0, np.nan]),
        np.array([0.0, 1.0, np.nan], dtype=np.float32),
        np.array(["a", "b", None], dtype=object),
        ["a", "b", float("nan")],
        ["a", "b", None],
        [0, 1, None],
        pd.Series(["a", "b", None]),
        pd.Series(["a", "b", pd.NA], dtype="string"),
        pd.Series([0, 1, pd.NA], dtype="Int64"),
        pd.Series(["a", "b", None], dtype="category"),
    ],
)
def test_missing_labels(y):
    with pytest.raises(ValueError, match=r"y has 1 missing labels, the first in row 2 \(.*drop"):
        flip_labels(y, 0.2)


def test_labels_without_an_order():
    with pytest.raises(ValueError, match="types int, str, which have no order: use one type"):
        flip_labels(np.array([1, "a", 1], dtype=object), 0.2)


def test_instance_noise_needs_X():
    with pytest.raises(ValueError, match=r"X is None, but kind='instance' needs .*: pass X"):
        flip_labels([0, 1], 0.2, "instance")


def test_X_of_the_wrong_length():
    with pytest.raises(ValueError, match="X has 3 rows and y has 2 labels: pass one row per label"):
        flip_labels([0, 1], 0.2, "instance", X=np.zeros((3, 2)))


@pytest.mark.parametrize("shape", [(2,), (2, 2, 2), (2, 0), ()])
def test_X_of_the_wrong_shape(shape):
    with pytest.raises(ValueError, match=r"X has shape \(.*\): pass rows x columns, shape \(2, d\)"):
        flip_labels([0, 1], 0.2, "instance", X=np.zeros(shape))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_X_with_values_that_are_not_finite(value):
    X = [[0.0, 1.0], [2.0, value]]
    with pytest.raises(ValueError, match=rf"X has 1 .*row 1, column 1 \({value}\): drop or impute"):
        flip_labels([0, 1], 0.2, "instance", X=X)


@pytest.mark.parametrize(
    "X",
    [
        [["red"], ["green"]],
        pd.DataFrame({"colour": ["red", "green"]}),
        pd.DataFrame({"age": pd.array([3, pd.NA], dtype=object)}),
    ],
)
def test_X_that_is_not_numeric(X):
    with pytest.raises(ValueError, match=r"X is not a dense table of numbers .*: encode text"):
        flip_labels([0, 1], 0.2, "instance", X=X)


def test_sparse_X():
    with pytest.raises(ValueError, match=r"X is not a dense table of numbers .*X.toarray\(\)"):
        flip_labels([0, 1], 0.2, "instance", X=csr_array(np.eye(2)))


@pytest.mark.parametrize("random_state", [-1, 1.5, "0", [1, 2]])
def test_random_state_that_is_no_seed(random_state):
    with pytest.raises(ValueError, match="is no seed: pass an int >= 0") as caught:
        flip_labels([0, 1], 0.2, random_state=random_state)
    assert f"random_state={random_state!r}" in str(caught.value)
