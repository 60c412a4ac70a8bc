"""What goes into an estimator, checked: tables, labels, weights. The errors name the place and the remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from ..arrays import Bools, Floats, Ints
from ..parameters import number, plain


def check_table(estimator: BaseEstimator, X: Any, reset: bool) -> Floats:
    """Return X as finite float64 rows; remember (``reset``) or verify number and names of the columns."""
    least = 2 if reset else 1
    try:
        table = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=np.float64,
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=least,
        )
    except ValueError as error:
        raise _name_text(X, error) from error
    except TypeError as error:
        raise _name_column(X, error) from error
    _refuse_missing(estimator, table)
    return np.asarray(table, dtype=np.float64)


def _refuse_missing(estimator: BaseEstimator, X: Floats) -> None:
    if np.isfinite(X).all():
        return
    row, column = (int(i) for i in np.argwhere(~np.isfinite(X))[0])
    names = getattr(estimator, "feature_names_in_", None)
    name = repr(str(names[column])) if names is not None else str(column)
    found = "NaN" if np.isnan(X[row, column]) else "infinity"
    others = int((~np.isfinite(X)).sum()) - 1
    raise ValueError(
        f"Input X contains {found} at row {row}, column {name}"
        + (f", and {others} more NaN or infinite values" if others else "")
        + f": {type(estimator).__name__} takes finite numbers only. Drop the rows, or fill the values in "
        "(sklearn.impute.SimpleImputer)."
    )


def _name_text(X: Any, error: ValueError) -> ValueError:
    """Add to a failed conversion the column in which the text stands; leave other errors as they are."""
    if "could not convert" not in str(error):
        return error
    columns = [str(c) for c in getattr(X, "column_names", getattr(X, "columns", []))]  # pyarrow, else pandas, polars
    cells = np.asarray(X, dtype=object)
    for j in range(cells.shape[1] if cells.ndim == 2 else 0):
        for i, cell in enumerate(cells[:, j]):
            if isinstance(cell, str) and not _is_number(cell):
                name = repr(columns[j]) if columns else str(j)
                return ValueError(
                    f"{error}: row {i}, column {name} holds text. Encode it as numbers "
                    "(sklearn.preprocessing.OrdinalEncoder) or leave the column out."
                )
    return error


def _name_column(X: Any, error: TypeError) -> TypeError:
    """Add to a failed conversion the first column of a frame that does not hold numbers, such as dates."""
    for name in getattr(X, "columns", []):
        kind = np.asarray(X[name]).dtype if isinstance(name, str) else np.dtype(float)
        if kind.kind not in "biufO":
            return TypeError(f"column {name!r} holds {kind}, not numbers: turn it into numbers or leave it out.")
    return error


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_stack(X: Any, rows: int | None = None) -> Floats:
    """Return precomputed kernels as a finite array (m, n, n), or (m, n_new, rows) to predict."""
    wanted = "(m, n, n)" if rows is None else f"(m, n_new, {rows})"
    if issparse(X):
        raise TypeError(f"Sparse matrices are no precomputed kernels: X must be an array of shape {wanted}.")
    try:
        grams = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"with kernels='precomputed' X must be numbers of shape {wanted}: {error}") from error
    if grams.ndim != 3 or 0 in grams.shape or grams.shape[2] != (rows or grams.shape[1]):
        raise ValueError(f"with kernels='precomputed' X must have shape {wanted}, got {grams.shape}.")
    if not np.isfinite(grams).all():
        j, i, k = (int(v) for v in np.argwhere(~np.isfinite(grams))[0])
        raise ValueError(f"Input X contains NaN or infinity in kernel {j} at ({i}, {k}).")
    return grams


def check_labels(y: Any, n: int) -> tuple[np.ndarray, Ints]:
    """Return the classes and each row's class as a number; refuse NaN, numbers that are no classes, one class."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None.")
    labels = column_or_1d(_one_type(y), warn=True)
    if labels.shape[0] != n:
        raise ValueError(f"y has {labels.shape[0]} labels for {n} rows of X: inconsistent numbers of samples.")
    missing = _missing(labels)
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(
            f"Input y contains NaN (or an empty label) at row {row}, and at {int(missing.sum()) - 1} more: "
            "leave the rows without a label out."
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.argmax(~np.isfinite(labels)))
        raise ValueError(f"Input y contains infinity at row {row}: labels name classes.")
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.reshape(-1)


def _missing(labels: np.ndarray) -> Bools:
    if labels.dtype.kind in "fc":
        return np.asarray(np.isnan(labels))
    if labels.dtype.kind == "O":
        return np.array([v is None or v != v or type(v).__name__ == "NAType" for v in labels], dtype=np.bool_)
    return np.zeros(labels.shape, dtype=np.bool_)


def _one_type(y: Any) -> Any:
    """Refuse labels of which some are words and some are not: as an array they would all become words."""
    mixed = isinstance(y, list | tuple) or getattr(getattr(y, "dtype", None), "kind", "") == "O"
    kinds = sorted({type(v).__name__ for v in np.ravel(np.asarray(y, dtype=object)) if v == v}) if mixed else []
    kinds = [kind for kind in kinds if kind != "NoneType"]
    if len(kinds) > 1 and "str" in kinds:
        raise ValueError(f"y mixes labels of the types {', '.join(kinds)}: give all labels one type.")
    return y


def check_weights(sample_weight: Any, n: int) -> Floats:
    """Return the sample weights: one a row, finite, none negative, not all zero; None is 1 for all."""
    if sample_weight is None:
        return np.ones(n)
    try:
        s = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold numbers, one a row: {error}.") from error
    if s.ndim == 0:
        s = np.full(n, float(s))
    if s.shape != (n,):
        raise ValueError(f"sample_weight has shape {s.shape} for {n} rows: give one weight a row.")
    wrong = ~np.isfinite(s) | (s < 0.0)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"sample_weight is {plain(s[row])} at row {row}: weights must be finite and >= 0.")
    if not np.isfinite(s.max() * n):
        raise ValueError(
            f"sample_weight goes up to {s.max():g}: its sum leaves the floating-point range. Scale it down."
        )
    if not s.any():
        raise ValueError("sample_weight is zero for every row: nothing is left to learn from.")
    return s


def check_two_classes(classes: np.ndarray, codes: Ints, s: Floats) -> tuple[np.ndarray, Ints]:
    """Return the classes that have rows of positive weight, renumbered; refuse fewer than two."""
    alive = np.bincount(codes, weights=s, minlength=classes.size) > 0
    if alive.sum() < 2:
        raise ValueError(
            f"y holds one class only ({plain(classes[alive][0])}) among the rows of positive weight: "
            "a classifier needs rows of at least two classes."
        )
    return classes[alive], (np.cumsum(alive) - 1)[codes]


def class_weights(class_weight: Any, classes: np.ndarray, codes: Ints, s: Floats) -> Floats:
    """Return the factor of each row's weight: "balanced" gives every class the same total weight."""
    if class_weight is None:
        return np.ones_like(s)
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(codes, weights=s, minlength=classes.size)
        alive = totals > 0
        factors = np.divide(s.sum() / alive.sum(), totals, out=np.ones_like(totals), where=alive)
        return np.asarray(factors[codes])
    if not isinstance(class_weight, dict):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict of label: weight, got {class_weight!r}.")
    unknown = set(class_weight) - set(classes.tolist())
    if unknown:
        raise ValueError(f"class_weight names {sorted(map(repr, unknown))}, not among the classes {classes.tolist()}.")
    wanted = "be finite and >= 0"
    given = [number("class_weight", class_weight.get(c, 1.0), wanted, lambda w: w >= 0.0) for c in classes.tolist()]
    return np.array(given)[codes]
