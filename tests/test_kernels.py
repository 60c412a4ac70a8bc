"""Kernels against exact Gram matrices: scikit-learn's, or differences in extended precision."""

import re
import tracemalloc

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.preprocessing import MinMaxScaler

from robustmkl import memory
from robustmkl.kernels import Gaussian, KernelBank, KernelDictionary, Linear, Polynomial, Precomputed, paper_dictionary

PAPER_WIDTHS = tuple(2.0**k for k in range(-3, 7))
ROUNDING = 2e-15


def hostile(name, n=60):
    """A column that is hard on representations."""
    rng = np.random.default_rng(7)
    u = rng.random(n)
    columns = {
        "uniform": u,
        "two values": np.repeat([3.0, 7.0], n // 2),
        "heavy ties": np.where(u < 0.7, 0.0, np.round(4.0 * u)),
        "range 1e12": 1e12 * u,
        "offset 1e12": 1e12 + np.round(100.0 * u) * 2.0**-10,
        "one distinct value": np.full(n, 5.0),
        "denormal": np.round(100.0 * u) * 1e-310,
        "1e300": (u - 0.5) * 1e300,
        "widest range": np.append(u[2:] * 1e308, [-1.7e308, 1.7e308]),
        "Cauchy tails": rng.standard_cauchy(n),
        "one outlier": np.append(u[1:], 1e9),
        "integers": rng.integers(0, 90, n).astype(float),
        "44 distinct values": np.arange(n) % 44.0,
        "45 distinct values": np.arange(n) % 45.0,
        "n = 2": np.array([0.0, 1.0]),
    }
    return columns[name][:, None]


HOSTILE = (
    "uniform",
    "two values",
    "heavy ties",
    "range 1e12",
    "offset 1e12",
    "one distinct value",
    "denormal",
    "1e300",
    "widest range",
    "Cauchy tails",
    "one outlier",
    "integers",
    "44 distinct values",
    "45 distinct values",
    "n = 2",
)


def exact_gaussians(X, X2, widths, train=None):
    """Gram matrices (width, i, j) in extended precision; ``train`` gives the range that maps to [0, 1]."""
    X, X2 = X.astype(np.longdouble), X2.astype(np.longdouble)
    if train is not None:
        low, high = train.min(axis=0).astype(np.longdouble), train.max(axis=0).astype(np.longdouble)
        span = np.where(high > low, high - low, 1.0)
        X, X2 = (X - low) / span, (X2 - low) / span
    squared = ((X[:, None] - X2[None]) ** 2).sum(axis=2)
    with np.errstate(under="ignore"):
        return np.stack([np.exp(-squared / (2.0 * np.longdouble(w) ** 2)) for w in widths])


def represented(fitted, X):
    """Gram matrices of all kernels on the training rows, as represented."""
    bank = fitted.bank(X)
    return np.stack([bank.gram(j) for j in range(bank.m)])


def predicted(fitted, X, new, i):
    """``k_j(new, x_i)`` of every kernel by the prediction formula: the function spanned by training row i."""
    bank = fitted.bank(X)
    row = np.zeros(bank.n)
    row[i] = 1.0
    parts = fitted.expansion(bank.blocks(bank.expand(bank.adjoint(row)))).contributions(new)
    return np.stack([parts.get(j, np.zeros(len(new))) for j in range(bank.m)])


def new_rows(X, ranges=(-5.0, -2.0, -0.1, 1.1, 2.0, 6.0, 50.0)):
    """Rows inside the training range, and outside by several ranges."""
    low, high = X.min(), X.max()
    steps = np.concatenate([np.linspace(0.0, 1.0, 23), ranges]).astype(np.longdouble)
    rows = low + steps * ((np.longdouble(high) - low) or 1.0)
    return np.clip(rows, -np.finfo(float).max, np.finfo(float).max).astype(float)[:, None]


def worst(difference):
    return float(np.abs(difference).max())


# --- Gaussians of one column --------------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTILE)
def test_training_entries(name):
    X = hostile(name)
    grams = represented(KernelDictionary(Gaussian()).fit(X), X)
    assert worst(grams - exact_gaussians(X, X, PAPER_WIDTHS, train=X)) <= 1e-11


@pytest.mark.parametrize("name", HOSTILE)
def test_entries_at_new_rows(name):
    """Inside the range, several ranges outside, and at values that a few-valued column has not shown."""
    X = hostile(name)
    new, fitted = new_rows(X), KernelDictionary(Gaussian()).fit(X)
    for i in range(0, len(X), max(1, len(X) // 7)):
        exact = exact_gaussians(new, X[[i]], PAPER_WIDTHS, train=X)[:, :, 0]
        assert worst(predicted(fitted, X, new, i) - exact) <= 1e-11


@pytest.mark.parametrize("name", HOSTILE)
def test_exact_entries(name):
    X = hostile(name)
    grams = represented(KernelDictionary(Gaussian()).fit(X, exact=True), X)
    assert worst(grams - exact_gaussians(X, X, PAPER_WIDTHS, train=X)) <= ROUNDING


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("exact", [False, True])
def test_entries_without_scaling(name, exact):
    X = hostile(name)
    grams = represented(KernelDictionary(Gaussian(), scaling=None).fit(X, exact=exact), X)
    assert worst(grams - exact_gaussians(X, X, PAPER_WIDTHS)) <= 1e-11


WIDTHS = (
    (0.05,),
    (0.02,),  # some 200 nodes
    (0.01,),  # exact Gram matrices
    (1e-4,),
    (1e-3, 1e3),
    (0.1, 0.2, 0.3),
    (0.5,),
    (4.0,),
    (64.0,),
    (16.0, 32.0, 64.0),
    (1e6,),
)


@pytest.mark.parametrize("widths", WIDTHS, ids=str)
@pytest.mark.parametrize("name", ["uniform", "heavy ties", "44 distinct values"])
def test_training_entries_of_any_widths(widths, name):
    X = hostile(name)
    grams = represented(KernelDictionary(Gaussian(widths)).fit(X), X)
    assert worst(grams - exact_gaussians(X, X, widths, train=X)) <= 1e-11


@pytest.mark.parametrize("widths", WIDTHS, ids=str)
@pytest.mark.parametrize("name", ["uniform", "heavy ties", "44 distinct values"])
def test_entries_of_any_widths_at_new_rows(widths, name):
    X = hostile(name)
    new, fitted = new_rows(X), KernelDictionary(Gaussian(widths)).fit(X)
    for i in (0, 17, 42):
        exact = exact_gaussians(new, X[[i]], widths, train=X)[:, :, 0]
        assert worst(predicted(fitted, X, new, i) - exact) <= 1e-11


@pytest.mark.parametrize("widths", [(1e-160,), (1e-200, 1.0), (1e200,)], ids=str)
@pytest.mark.parametrize("joint", [False, True])
def test_widths_whose_square_leaves_the_floating_point_range(widths, joint):
    X = hostile("uniform")
    grams = represented(KernelDictionary(Gaussian(widths, joint=joint)).fit(X), X)
    assert worst(grams - exact_gaussians(X, X, widths, train=X)) <= 1e-11


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("widths", [PAPER_WIDTHS, (0.05,), (1e-3,), (64.0,)], ids=["paper", "0.05", "0.001", "64"])
def test_reported_entry_error_is_the_measured_one(name, widths):
    """The error of the representation; that of rounding the scaled rows is not part of it."""
    X = hostile(name)
    fitted = KernelDictionary(Gaussian(widths)).fit(X)
    scaled = fitted.scale(X)
    measured = worst(represented(fitted, X) - exact_gaussians(scaled, scaled, widths))
    assert measured <= 2.0 * fitted.bank(X).entry_error + ROUNDING


@pytest.mark.parametrize("name", ["uniform", "range 1e12", "Cauchy tails", "integers"])
def test_ten_paper_widths_share_a_small_basis(name):
    X = np.concatenate([hostile(name), hostile(name)[::-1] * 0.99])
    assert KernelDictionary(Gaussian()).fit(X).bank(X).rank <= 31


def test_narrow_widths_fall_back_on_gram_matrices():
    X = hostile("uniform")
    assert KernelDictionary(Gaussian((0.01,))).fit(X).families[0].basis(X) is None


def test_rank_does_not_grow_with_the_rows():
    X = np.random.default_rng(0).random((3000, 1))
    assert KernelDictionary(Gaussian()).fit(X).bank(X).rank <= 31


# --- families against scikit-learn --------------------------------------------------------------

TABLE = np.random.default_rng(1).normal(size=(40, 3)) * [1.0, 50.0, 0.01] + [0.0, 300.0, 5.0]
NEW = np.random.default_rng(2).normal(size=(15, 3)) * [3.0, 90.0, 0.02] + [0.0, 300.0, 5.0]

FAMILIES = {
    "gaussian, a column": (Gaussian((0.25, 2.0)), lambda A, B: [rbf_kernel(A, B, gamma=g) for g in (8.0, 0.125)]),
    "gaussian, joint": (
        Gaussian((0.25, 2.0), joint=True),
        lambda A, B: [rbf_kernel(A, B, gamma=g) for g in (8.0, 0.125)],
    ),
    "polynomial, a column": (Polynomial(3, 0.5), lambda A, B: [polynomial_kernel(A, B, 3, gamma=1, coef0=0.5)]),
    "polynomial, joint": (
        Polynomial(2, 1.0, joint=True),
        lambda A, B: [polynomial_kernel(A, B, 2, gamma=1, coef0=1.0)],
    ),
    "polynomial without constant": (Polynomial(4, 0.0), lambda A, B: [polynomial_kernel(A, B, 4, gamma=1, coef0=0.0)]),
    "linear, a column": (Linear(), lambda A, B: [linear_kernel(A, B)]),
    "linear, joint": (Linear(joint=True), lambda A, B: [linear_kernel(A, B)]),
}


def reference(name, A, B):
    family, kernel = FAMILIES[name]
    groups = [[0, 1, 2]] if family.joint else [[0], [1], [2]]
    return np.stack([K for group in groups for K in kernel(A[:, group], B[:, group])])


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("exact", [False, True])
def test_family_on_training_rows(name, exact):
    scaled = MinMaxScaler().fit_transform(TABLE)
    grams = represented(KernelDictionary(FAMILIES[name][0]).fit(TABLE, exact=exact), TABLE)
    np.testing.assert_allclose(grams, reference(name, scaled, scaled), rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("exact", [False, True])
def test_family_at_new_rows(name, exact):
    scaler = MinMaxScaler().fit(TABLE)
    fitted = KernelDictionary(FAMILIES[name][0]).fit(TABLE, exact=exact)
    wanted = reference(name, scaler.transform(NEW), scaler.transform(TABLE))
    for i in (0, 21):
        np.testing.assert_allclose(predicted(fitted, TABLE, NEW, i), wanted[:, :, i], rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("name", FAMILIES)
def test_family_without_scaling(name):
    X = TABLE / [1.0, 100.0, 10.0]
    grams = represented(KernelDictionary(FAMILIES[name][0], scaling=None).fit(X), X)
    np.testing.assert_allclose(grams, reference(name, X, X), rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("d", [1, 2, 60])
def test_joint_gaussian_entries_are_exact_to_rounding(d):
    X = np.random.default_rng(d).random((30, d))
    grams = represented(KernelDictionary(Gaussian(joint=True)).fit(X), X)
    assert worst(grams - exact_gaussians(X, X, PAPER_WIDTHS, train=X)) <= ROUNDING


@pytest.mark.parametrize("degree", [2, np.int64(2), np.uint8(2)])
def test_whole_degrees_of_any_type(degree):
    for joint in (False, True):
        grams = represented(KernelDictionary(Polynomial(degree, joint=joint)).fit(TABLE[:, :1]), TABLE[:, :1])
        scaled = MinMaxScaler().fit_transform(TABLE[:, :1])
        np.testing.assert_allclose(grams[0], polynomial_kernel(scaled, degree=2, gamma=1), atol=1e-12)


def test_training_rows_are_not_modified():
    X = TABLE.copy()
    dictionary = KernelDictionary(*(family for family, _ in FAMILIES.values()))
    dictionary.fit(X).bank(X)
    np.testing.assert_array_equal(X, TABLE)


# --- the bank against dense NumPy ---------------------------------------------------------------


class Dense:
    """A bank of families of every shape, and the same as dense matrices."""

    def __init__(self):
        rng = np.random.default_rng(3)
        X = np.column_stack([rng.random((25, 2)), rng.integers(0, 2, 25), rng.integers(0, 2, 25)])
        terms = ((Gaussian((0.3, 1.0)), [0, 2]), (Gaussian((0.5,), joint=True), [0, 1]), (Linear(joint=True), None))
        fitted = KernelDictionary(*terms, (Polynomial(), [1]), (Gaussian((0.3, 1.0)), [3, 1])).fit(X)
        self.bank, self.rng, self.n = fitted.bank(X), rng, len(X)
        scaled = fitted.scale(X)
        self.bases = []  # one a kernel
        self.cores = []
        for family, columns in zip(fitted.families, fitted.columns, strict=True):
            B = family.basis(scaled[:, columns])
            self.bases += [np.eye(self.n) if B is None else B] * len(family.names)
            self.cores += list(family.cores)
        self.grams = np.stack([B @ C @ B.T for B, C in zip(self.bases, self.cores, strict=True)])

    def coefficients(self):
        """Random coefficients, flat and one block a kernel."""
        a = self.rng.normal(size=self.bank.size)
        return a, [row for block in self.bank.blocks(a) for row in block]


@pytest.fixture
def dense():
    return Dense()


def test_bank_counts(dense):
    assert dense.bank.m == len(dense.bank.names) == len(dense.grams) == 11
    assert dense.bank.size == sum(len(C) for C in dense.cores)


def test_bank_grams(dense):
    for j, K in enumerate(dense.grams):
        np.testing.assert_allclose(dense.bank.gram(j), K, rtol=0, atol=1e-14)


@pytest.mark.parametrize("j", [-1, 11])
def test_bank_refuses_kernels_that_do_not_exist(dense, j):
    with pytest.raises(IndexError, match=f"kernel {j} .* 11"):
        dense.bank.gram(j)


def test_adjoint_expands_to_one_block_a_kernel(dense):
    q = dense.rng.normal(size=dense.n)
    blocks = [row for block in dense.bank.blocks(dense.bank.expand(dense.bank.adjoint(q))) for row in block]
    for block, B in zip(blocks, dense.bases, strict=True):
        np.testing.assert_allclose(block, B.T @ q, atol=1e-12)


def test_forward_sums_the_functions(dense):
    a, blocks = dense.coefficients()
    f = dense.bank.forward(dense.bank.collapse(dense.bank.cores_times(a)))
    wanted = sum(B @ C @ block for B, C, block in zip(dense.bases, dense.cores, blocks, strict=True))
    np.testing.assert_allclose(f, wanted, atol=1e-12)


def test_adjoint_is_the_adjoint_of_forward(dense):
    q, v = dense.rng.normal(size=dense.n), dense.rng.normal(size=dense.bank.rank)
    assert dense.bank.adjoint(q) @ v == pytest.approx(q @ dense.bank.forward(v), rel=1e-12)


def test_collapse_is_the_adjoint_of_expand(dense):
    (a, _), z = dense.coefficients(), dense.rng.normal(size=dense.bank.rank)
    assert dense.bank.expand(z) @ a == pytest.approx(z @ dense.bank.collapse(a), rel=1e-12)


def test_inner_products_in_the_order_of_the_kernels(dense):
    (a, left), (b, right) = dense.coefficients(), dense.coefficients()
    wanted = [p @ q for p, q in zip(left, right, strict=True)]
    np.testing.assert_allclose(dense.bank.inner(a, b), wanted, atol=1e-12)


def test_spread_scales_each_kernel_by_its_own_factor(dense):
    (a, blocks), factors = dense.coefficients(), np.arange(11.0)
    scaled = dense.coefficients()[0] * 0.0 + a * dense.bank.spread(factors)
    for j, row in enumerate(row for block in dense.bank.blocks(scaled) for row in block):
        np.testing.assert_array_equal(row, factors[j] * blocks[j])


def test_diagonal_bound(dense):
    wanted = [K.diagonal().max() for K in dense.grams]
    np.testing.assert_allclose(dense.bank.diagonal_bound(), wanted, rtol=1e-12)


def test_take_selects_rows_of_every_kernel(dense):
    rows = np.array([3, 1, 20, 7])
    part = dense.bank.take(rows)
    for j, K in enumerate(dense.grams):
        np.testing.assert_allclose(part.gram(j), K[np.ix_(rows, rows)], atol=1e-14)


def test_place_keeps_functions_and_norms(dense):
    """A function learnt on some rows is the same function among all rows."""
    rows, bank = np.array([3, 1, 20, 7]), dense.bank
    part = bank.take(rows)
    a = dense.rng.normal(size=part.size)
    placed = bank.place(a, part, rows)
    image, placed_image = part.cores_times(a), bank.cores_times(placed)
    f = bank.forward(bank.collapse(placed_image))
    np.testing.assert_allclose(f[rows], part.forward(part.collapse(image)), atol=1e-12)
    np.testing.assert_allclose(bank.inner(placed, placed_image), part.inner(a, image), atol=1e-12)


# --- the dictionary -----------------------------------------------------------------------------

NAMES = ["age", "bmi", "sex"]


def test_paper_kernels_in_the_order_of_the_paper():
    names = paper_dictionary().fit(TABLE, NAMES).kernel_names
    assert len(names) == 10 * (3 + 1)
    groups = [name.split("(")[1].split(";")[0] for name in names]
    assert groups == ["all columns"] * 10 + ["age"] * 10 + ["bmi"] * 10 + ["sex"] * 10
    widths = [float(name.split("w=")[1].rstrip(")")) for name in names]
    assert widths == list(PAPER_WIDTHS) * 4


def test_paper_kernels_against_scikit_learn():
    scaled = MinMaxScaler().fit_transform(TABLE)
    blocks = [scaled, scaled[:, [0]], scaled[:, [1]], scaled[:, [2]]]
    wanted = [rbf_kernel(block, gamma=0.5 / w**2) for block in blocks for w in PAPER_WIDTHS]
    np.testing.assert_allclose(represented(paper_dictionary().fit(TABLE), TABLE), wanted, rtol=0, atol=1e-11)


def test_constant_column_keeps_its_kernels():
    X = np.column_stack([TABLE[:, 0], np.full(40, 3.0)])
    np.testing.assert_array_equal(represented(paper_dictionary().fit(X), X)[-10:], np.ones((10, 40, 40)))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (None, [0, 1, 2]),
        ("bmi", [1]),
        (2, [2]),
        (["sex", "age"], [2, 0]),
        ([2, 0], [2, 0]),
        (["bmi", 0], [1, 0]),
        (np.array([2, 1]), [2, 1]),
        (np.int64(1), [1]),
        (("age", "sex"), [0, 2]),
        (range(2), [0, 1]),
    ],
    ids=str,
)
def test_columns_by_name_and_position(wanted, found):
    fitted = KernelDictionary((Linear(), wanted)).fit(TABLE, NAMES)
    assert [c.tolist() for c in fitted.columns] == [[j] for j in found]
    assert fitted.kernel_names == tuple(f"linear({NAMES[j]})" for j in found)


def test_joint_family_takes_its_columns_together():
    fitted = KernelDictionary((Linear(joint=True), ["age", "sex"])).fit(TABLE, NAMES)
    scaled = MinMaxScaler().fit_transform(TABLE)[:, [0, 2]]
    assert fitted.kernel_names == ("linear(age, sex)",)
    np.testing.assert_allclose(represented(fitted, TABLE)[0], scaled @ scaled.T, atol=1e-13)


def test_terms_keep_their_order():
    fitted = KernelDictionary((Linear(), "sex"), Gaussian((1.0,), joint=True), (Linear(), "age")).fit(TABLE, NAMES)
    assert fitted.kernel_names == ("linear(sex)", "gaussian(all columns; w=1)", "linear(age)")


def test_kernel_names_are_distinct():
    names = paper_dictionary().fit(TABLE).kernel_names
    assert len(set(names)) == len(names)


def test_minmax_is_scikit_learns():
    fitted, scaler = KernelDictionary(Linear()).fit(TABLE), MinMaxScaler().fit(TABLE)
    for X in (TABLE, NEW):
        np.testing.assert_allclose(fitted.scale(X), scaler.transform(X), rtol=1e-12, atol=1e-12)


def test_scaling_none_takes_columns_as_they_are():
    assert KernelDictionary(Linear(), scaling=None).fit(TABLE).scale is None


def test_repr_names_the_terms():
    assert repr(KernelDictionary((Linear(), ["age"]), scaling=None)) == (
        "KernelDictionary((Linear(joint=False), ['age']), scaling=None)"
    )


@pytest.mark.parametrize(
    ("terms", "error", "message"),
    [
        ((), ValueError, "at least one family"),
        (("gaussian",), TypeError, "kernel families .*got 'gaussian'"),
        ((Gaussian,), TypeError, "kernel families .*got .*Gaussian"),
        ((("age", Gaussian()),), TypeError, "kernel families .*got .*'age'"),
        (((Gaussian(),),), TypeError, "kernel families .*columns"),
    ],
    ids=["none", "word", "class", "swapped", "pair of one"],
)
def test_dictionary_refuses_what_is_no_family(terms, error, message):
    with pytest.raises(error, match=message):
        KernelDictionary(*terms)


@pytest.mark.parametrize("columns", ["height", ["age", "height"], 3, -1, [0, 7]], ids=str)
def test_dictionary_refuses_unknown_columns(columns):
    culprit = columns[-1] if isinstance(columns, list) else columns
    with pytest.raises(ValueError, match=f"column {re.escape(repr(culprit))} is not in the table.*age, bmi, sex"):
        KernelDictionary((Gaussian(), columns)).fit(TABLE, NAMES)


@pytest.mark.parametrize("columns", [[True, False, True], True, [1.5], 1.5, slice(0, 2)], ids=str)
def test_dictionary_refuses_columns_that_are_neither_names_nor_positions(columns):
    """A mask of booleans, above all, must not be read as the positions 0 and 1."""
    with pytest.raises((TypeError, ValueError), match="column"):
        KernelDictionary((Gaussian(), columns)).fit(TABLE, NAMES)


@pytest.mark.parametrize("joint", [False, True])
def test_dictionary_refuses_an_empty_choice_of_columns(joint):
    with pytest.raises(ValueError, match="column"):
        KernelDictionary((Gaussian(joint=joint), [])).fit(TABLE, NAMES)


def test_dictionary_refuses_unknown_scaling():
    with pytest.raises(ValueError, match=r"scaling must be 'minmax' or None, got 'standard'"):
        KernelDictionary(Gaussian(), scaling="standard")


@pytest.mark.parametrize("widths", [(), 0.0, -1.0, (1.0, np.nan), (np.inf,), "wide", None, [[1.0, 2.0]]], ids=str)
def test_gaussian_refuses_bad_widths(widths):
    with pytest.raises((TypeError, ValueError), match=r"Gaussian width.* must be .*positive.*got"):
        Gaussian(widths)


@pytest.mark.parametrize("degree", [0, -1, 1.5, np.nan, np.inf, "two", None], ids=str)
def test_polynomial_refuses_bad_degrees(degree):
    with pytest.raises((TypeError, ValueError), match=r"Polynomial degree must be a whole number .*got"):
        Polynomial(degree)


@pytest.mark.parametrize("coef0", [-1.0, np.nan, np.inf, "one"], ids=str)
def test_polynomial_refuses_bad_constants(coef0):
    with pytest.raises((TypeError, ValueError), match=r"Polynomial coef0 must be .*finite.*>= 0.*got"):
        Polynomial(2, coef0)


# --- precomputed --------------------------------------------------------------------------------


def grams(m=3, n=12):
    X = np.random.default_rng(5).random((n, 2))
    return np.stack([rbf_kernel(X, gamma=g) for g in np.linspace(1.0, 9.0, m)])


def spoilt(change):
    K = grams()
    change(K[1])
    return K


@pytest.mark.parametrize(
    ("stack", "message"),
    [
        (np.eye(3), r"shape \(m, n, n\), got \(3, 3\)"),
        (grams()[:, :5], r"shape \(m, n, n\), got \(3, 5, 12\)"),
        (grams()[:0], r"shape \(m, n, n\), got \(0, 12, 12\)"),
        (spoilt(lambda K: K.__setitem__((2, 4), np.nan)), r"kernel 1 holds NaN or infinity at \(2, 4\)"),
        (spoilt(lambda K: K.__setitem__((2, 4), np.inf)), r"kernel 1 holds NaN or infinity at \(2, 4\)"),
        (spoilt(lambda K: K.__setitem__((2, 4), 0.9)), r"kernel 1 is not symmetric: see entry \(2, 4\)"),
        (spoilt(lambda K: np.negative(K, out=K)), r"kernel 1 is not positive semi-definite \(smallest eigenvalue -"),
    ],
    ids=["2-D", "not square", "empty", "NaN", "infinity", "asymmetric", "indefinite"],
)
def test_precomputed_refuses(stack, message):
    with pytest.raises(ValueError, match=message):
        Precomputed(stack)


def test_precomputed_tells_the_smallest_eigenvalue():
    K = np.diag([1.0, 1.0, -0.25])
    with pytest.raises(ValueError, match=r"kernel 0 .*-0\.25"):
        Precomputed(K[None])


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1.0, 1e100])
def test_semi_definite_matrices_of_any_scale_pass(scale):
    x = np.random.default_rng(0).normal(size=(30, 2))
    assert Precomputed(scale * (x @ x.T)[None]).cores.shape == (1, 30, 30)


def test_zero_matrix_passes():
    Precomputed(np.zeros((1, 4, 4)))


def test_precomputed_prediction_is_the_product():
    K, family = grams(), Precomputed(grams())
    a = np.zeros((3, 12))
    a[[0, 2], 3:6] = np.random.default_rng(0).normal(size=(2, 3))
    new = np.random.default_rng(1).random((3, 5, 12))
    np.testing.assert_allclose(family.part(a).contributions(new), np.einsum("jni,ji->nj", new, a)[:, [0, 2]])
    np.testing.assert_array_equal(KernelBank([family], [None], 12).gram(2), K[2])


@pytest.mark.parametrize("names", [("a", "b", "c"), ["a", "b", "c"], np.array(["a", "b", "c"])], ids=type)
def test_precomputed_takes_names(names):
    assert list(Precomputed(grams(), names).names) == ["a", "b", "c"]


def test_precomputed_refuses_too_few_names():
    with pytest.raises(ValueError, match="names has 2 entries for 3 kernels"):
        Precomputed(grams(), ("a", "b"))


# --- memory -------------------------------------------------------------------------------------


def peak(dictionary, X):
    """Bytes at the peak of building the kernels."""
    dictionary.fit(X[:50]).bank(X[:50])  # what is cached is not counted
    tracemalloc.start()
    try:
        dictionary.fit(X).bank(X)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("n", "d"), [(300, 4), (100, 40), (800, 2)])
def test_memory_of_the_paper_dictionary_is_foreseen(n, d):
    X = np.random.default_rng(0).random((n, d))
    dictionary = paper_dictionary()
    assert 0.5 <= dictionary.estimate_memory(n, d) / peak(dictionary, X) <= 2.0


@pytest.mark.parametrize(
    "dictionary",
    [
        KernelDictionary(Gaussian((1e-3,))),  # exact Gram matrices for every column
        KernelDictionary(Gaussian((0.02,))),  # some 200 nodes
        KernelDictionary(Gaussian(), scaling=None),
        KernelDictionary(Polynomial(3, joint=True)),
        KernelDictionary(Linear(joint=True)),
    ],
    ids=["narrow", "many nodes", "unscaled", "polynomial", "linear"],
)
def test_memory_is_not_underestimated(dictionary):
    X = 100.0 * np.random.default_rng(0).random((400, 3))
    assert dictionary.estimate_memory(400, 3) >= 0.5 * peak(dictionary, X)


def test_what_does_not_fit_is_refused_with_the_numbers(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1024**2)
    with pytest.raises(MemoryError, match=r"kernels of 400 rows need .* MiB, and 1 MiB are free: use fewer rows"):
        paper_dictionary().fit(np.random.default_rng(0).random((400, 3)))


def test_require_passes_where_nothing_is_known(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    memory.require(10**30, "all kernels")


def test_available_memory_is_plausible():
    free = memory.available_bytes()
    assert free is None or 1024**2 < free < 1024**5


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1023, "1.02e+03 bytes"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (3 * 1024**2, "3 MiB"),
        (5 * 1024**3, "5 GiB"),
        (2 * 1024**4, "2 TiB"),
        (5000 * 1024**4, "5e+03 TiB"),
    ],
)
def test_format_bytes(size, text):
    assert memory.format_bytes(size) == text
