"""Simulated label noise: wrong labels whose whereabouts are known.

Every kind of noise is one list of flip probabilities, one for each row. A kind says how much more
often one row is flipped than another (its weights w); the rate then fixes the scale c of
p_i = min(1, c w_i), so that the mean of p is the rate.
"""

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import KDTree
from scipy.stats import rankdata

from robustmkl.arrays import Bools, Floats, Ints

Kind = Literal["symmetric", "class", "instance"]
RandomState = int | np.random.Generator | np.random.RandomState | None

_KINDS: Final[tuple[str, ...]] = get_args(Kind)
_LAST_TO_FIRST_CLASS: Final = 3.0
_NEIGHBOURS: Final = 5


class _Labels(NamedTuple):
    values: NDArray[Any]
    classes: NDArray[Any]
    codes: Ints


def flip_labels(
    y: ArrayLike,
    rate: float | Mapping[Any, float],
    kind: Kind = "symmetric",
    X: ArrayLike | None = None,
    random_state: RandomState = None,
) -> tuple[NDArray[Any], Bools]:
    """Flip labels at random, and say which were flipped.

    Row i is flipped with probability p_i, independently of the other rows; a flipped label becomes
    one of the other classes, each with the same chance.

    Parameters
    ----------
    y : array-like of shape (n,)
        Class labels of any type, two classes or more. Never modified.
    rate : float or mapping of label to float
        Expected share of flipped labels, in [0, 1): the mean of p. With ``kind="class"`` also a
        mapping that gives every class of `y` its own rate.
    kind : {"symmetric", "class", "instance"}, default="symmetric"
        How p depends on the row, see Notes.
    X : array-like of shape (n, d), optional
        The rows' numeric attributes, without missing values. Needed by ``kind="instance"``; the
        other kinds do not look at it.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None, default=None
        An int gives the same flips every time. A generator is advanced; None draws fresh entropy.

    Returns
    -------
    y_noisy : ndarray of shape (n,)
        The labels after flipping, with the dtype of `y`.
    flipped : ndarray of shape (n,), bool
        Where ``y_noisy`` differs from `y`.

    Notes
    -----
    In all three kinds p_i = min(1, c w_i), with c such that the mean of p over the rows is `rate`.

    ``"symmetric"``: w_i = 1, so p_i = `rate` everywhere. This is the noise of the experiments in
    Yang et al. (ICML 2012, section 4).

    ``"class"``: the classes in sorted order have weights from 1 for the first to 3 for the last in
    equal steps. Two classes with n_1 and n_2 rows get the rates r and 3 r, where
    r = `rate` (n_1 + n_2) / (n_1 + 3 n_2), as long as 3 r <= 1. A mapping sets the rates directly.

    ``"instance"``: rows near the boundary between classes are flipped more often. On columns
    standardised to variance 1, let d_k(i) be the distance of row i to its fifth nearest row of
    class k (an earlier one if any class has fewer than six rows; the row itself does not count).
    Row i is as far from the boundary as the second smallest of these distances exceeds the
    smallest. With rank_i = 1 for the row nearest to the boundary, ..., n for the farthest (ties
    share their mean rank), w_i = 1 - (rank_i - 1/2) / n: for rates up to 1/2, p_i falls linearly
    from 2 `rate` to 0.

    At high rates some p_i exceed 1/2 in the last two kinds: of two classes, the wrong one is then
    the more frequent label there, and the labels alone cannot tell which is right.

    With one integer seed, a row that is flipped at some rate is flipped at every higher rate too,
    to the same label.

    Examples
    --------
    >>> from robustmkl.noise import flip_labels
    >>> y_noisy, flipped = flip_labels(["no", "yes", "no", "yes"], 0.4, random_state=1)
    >>> y_noisy.tolist()
    ['no', 'yes', 'yes', 'yes']
    >>> flipped.tolist()
    [False, False, True, False]
    """
    labels = _encode(y)
    probability = _probabilities(labels, rate, kind, X)
    generator = _generator(random_state)
    n, n_classes = labels.codes.size, labels.classes.size
    # Both are drawn for every row, whatever the rate: a higher rate keeps the flips of a lower one.
    flipped = generator.random(n) < probability
    others = (labels.codes + generator.integers(1, n_classes, size=n)) % n_classes
    noisy = labels.values.copy()
    noisy[flipped] = labels.classes[others[flipped]]
    return noisy, flipped


def _probabilities(labels: _Labels, rate: float | Mapping[Any, float], kind: str, X: ArrayLike | None) -> Floats:
    if kind not in _KINDS:
        known = ", ".join(map(repr, _KINDS))
        raise ValueError(f"kind={kind!r} is not a kind of label noise: use one of {known}")
    if isinstance(rate, Mapping):
        return _mapped_rates(labels, rate, kind)
    return _scaled_to_mean(_weights(labels, kind, X), _checked_rate(rate, "rate"))


def _weights(labels: _Labels, kind: str, X: ArrayLike | None) -> Floats:
    """How often each row is flipped, relative to the others; positive."""
    if kind == "class":
        by_class = np.linspace(1.0, _LAST_TO_FIRST_CLASS, labels.classes.size)
        return by_class.take(labels.codes)
    if kind == "instance":
        distance = _distance_to_boundary(_standardised(_checked_rows(X, labels)), labels)
        rank: Floats = rankdata(distance)
        return 1.0 - (rank - 0.5) / rank.size
    return np.ones(labels.codes.size)


def _scaled_to_mean(weights: Floats, mean: float) -> Floats:
    """min(1, c w) with the one c that gives this mean < 1."""
    n = weights.size
    falling = np.sort(weights)[::-1]
    remaining = np.cumsum(falling[::-1])[::-1]
    # with the j heaviest rows at 1, the others share what is left of the sum n * mean
    scale: Floats = (n * mean - np.arange(n)) / remaining
    n_at_one = np.argmax(scale * falling <= 1.0)
    return (float(scale[n_at_one]) * weights).clip(0.0, 1.0)


def _mapped_rates(labels: _Labels, rates: Mapping[Any, float], kind: str) -> Floats:
    if kind != "class":
        raise ValueError(f"rate is a mapping of class rates, which kind={kind!r} does not take: use kind='class'")
    classes = labels.classes.tolist()
    unknown = [label for label in rates if label not in classes]
    if unknown:
        raise ValueError(f"rate names {unknown!r}, not among the classes of y: use {classes!r}")
    absent = [label for label in classes if label not in rates]
    if absent:
        raise ValueError(
            f"rate gives the classes {absent!r} of y no rate: name every class, with rate 0 for one that stays as it is"
        )
    by_class = [_checked_rate(rates[label], f"rate[{label!r}]") for label in classes]
    return np.array(by_class).take(labels.codes)


def _distance_to_boundary(rows: Floats, labels: _Labels) -> Floats:
    """By how much the second nearest class is farther away than the nearest."""
    smallest = int(np.bincount(labels.codes).min())
    # one number of neighbours for all classes: distances to them are compared
    n_neighbours = max(1, min(_NEIGHBOURS, smallest - 1))
    by_class = [_distance_to_class(rows, labels.codes == code, n_neighbours) for code in range(labels.classes.size)]
    two_nearest = np.partition(np.stack(by_class), 1, axis=0)[:2]
    return np.diff(two_nearest, axis=0).ravel()


def _distance_to_class(rows: Floats, member: Bools, n_neighbours: int) -> Floats:
    """Distance to the k-th nearest row of a class; infinite for the only row of a class."""
    tree = KDTree(rows[member])
    distances = np.asarray(tree.query(rows, k=[n_neighbours, n_neighbours + 1])[0])
    # a member finds itself first: its k-th neighbour is the next one
    return np.where(member, distances[:, 1], distances[:, 0])


def _standardised(rows: Floats) -> Floats:
    """Columns with standard deviation 1; constant columns become 0."""
    # Over the range first: a constant column is then exactly 0, and tiny columns do not underflow.
    span = np.ptp(rows, axis=0)
    lowest: Floats = rows.min(axis=0)
    unit = (rows - lowest) / np.where(span > 0, span, 1.0)
    return unit / np.where(span > 0, unit.std(axis=0), 1.0)


def _encode(y: ArrayLike) -> _Labels:
    values = np.array(y)
    if values.ndim != 1:
        raise ValueError(f"y has shape {values.shape}: pass one label for each row, shape (n,)")
    if values.size == 0:
        raise ValueError("y is empty, shape (0,): pass at least one label of each of two classes")
    # a list is looked at as it is, for NumPy would read ["a", nan] as ["a", "nan"]
    _reject_missing(values if hasattr(y, "dtype") else np.asarray(y, dtype=object))
    classes, codes = _classes(values)
    if classes.size < 2:
        raise ValueError(
            f"y has only one class, {classes.tolist()[0]!r}, so that no label can be flipped: "
            "pass labels of two classes or more"
        )
    return _Labels(values, classes, codes)


def _reject_missing(values: NDArray[Any]) -> None:
    missing = np.array([_is_missing(value) for value in values.tolist()])
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(
            f"y has {missing.sum()} missing labels, the first in row {row} ({values.tolist()[row]!r}): drop these rows"
        )


def _is_missing(value: object) -> bool:
    # pandas.NA is told by name: pandas is no dependency, and NA has no truth value to test
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or type(value).__name__ in ("NAType", "NaTType")
    )


def _classes(values: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    try:
        classes, codes = np.unique(values, return_inverse=True)
    except TypeError as error:
        types = ", ".join(sorted({type(value).__name__ for value in values.tolist()}))
        raise ValueError(
            f"y mixes labels of the types {types}, which have no order: use one type for all labels"
        ) from error
    return classes, codes


def _checked_rate(rate: object, name: str) -> float:
    if not isinstance(rate, Real):
        raise TypeError(
            f"{name}={rate!r} is a {type(rate).__name__}: pass a number in [0, 1), or for "
            "kind='class' a mapping of label to number"
        )
    share = float(rate)
    if not 0.0 <= share < 1.0:
        raise ValueError(f"{name}={share} is not in [0, 1): pass the expected share of flips")
    return share


def _checked_rows(X: ArrayLike | None, labels: _Labels) -> Floats:
    n = labels.codes.size
    if X is None:
        raise ValueError("X is None, but kind='instance' needs the attributes of the rows: pass X")
    rows = _as_numbers(X)
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise ValueError(f"X has shape {rows.shape}: pass rows x columns, shape ({n}, d), d >= 1")
    if rows.shape[0] != n:
        raise ValueError(f"X has {rows.shape[0]} rows and y has {n} labels: pass one row per label")
    bad = np.argwhere(~np.isfinite(rows))
    if bad.size:
        row, column = bad[0].tolist()
        raise ValueError(
            f"X has {len(bad)} missing or infinite values, the first in row {row}, column {column} "
            f"({rows[row, column]}): drop or impute them"
        )
    return rows


def _as_numbers(X: ArrayLike) -> Floats:
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"X is not a dense table of numbers ({error}): encode text as numbers, impute missing "
            "values, and convert a sparse matrix with X.toarray()"
        ) from error


def _generator(random_state: RandomState) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1, size=4).tolist())
    seed = isinstance(random_state, Integral) and random_state >= 0
    if random_state is None or seed or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    raise ValueError(
        f"random_state={random_state!r} is no seed: pass an int >= 0, a numpy.random.Generator, "
        "a numpy.random.RandomState or None"
    )
