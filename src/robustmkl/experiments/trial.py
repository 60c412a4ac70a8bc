"""One trial as in section 4: a table scaled as a whole, split 80/20, 10 % kept to validate, labels flipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import Floats, Ints
from ..datasets import load_uci
from ..kernels import Gaussian, KernelDictionary
from ..kernels.dictionary import FittedDictionary, MinMax
from ..noise import flip_labels
from ..problem import KernelFunction, Problem
from ..uncertainty import Budget
from .settings import Key

TEST, VALIDATION = 0.2, 0.1


@dataclass(frozen=True)
class Rows:
    """Some rows: scaled attributes, clean labels, and those that are seen."""

    X: Floats
    clean: Floats
    y: Floats


class Counts(NamedTuple):
    """How many rows a function gets right: on the noisy validation rows, and on the test rows by both labels."""

    valid: int
    clean: int
    noisy: int


class Trial:
    """The rows of a run and its kernels, without intercept, as in the paper."""

    def __init__(self, key: Key) -> None:
        order, flips, self.rng = key.generators(3)
        X, clean = scaled_table(key.dataset)
        y = np.asarray(flip_labels(clean, key.noise, random_state=flips)[0], dtype=np.float64)
        shuffled = order.permutation(clean.size)
        n_test = round(TEST * clean.size)
        n_valid = round(VALIDATION * (clean.size - n_test))
        parts = np.split(shuffled, [n_test, n_test + n_valid])
        self.test, self.valid, self.train = (_rows(X, clean, y, part) for part in parts)

    @cached_property
    def dictionary(self) -> FittedDictionary:
        """The m = 10 (d + 1) kernels, on the columns as they are: the whole table has been scaled."""
        return KernelDictionary(Gaussian(joint=True), Gaussian(), scaling=None).fit(self.train.X)

    @cached_property
    def problem(self) -> Problem:
        """Problem (11) without budget; lam is to be replaced."""
        bank = self.dictionary.bank(self.train.X)
        return Problem(bank, self.train.y, np.ones(bank.n), 1.0, Budget(), fit_intercept=False)

    def values(self, f: KernelFunction, X: Floats) -> Floats:
        """Return f at rows that need not be training rows."""
        expansion = self.dictionary.expansion(self.problem.kernels.blocks(f.coef))
        return expansion(X) + f.intercept

    def counts(self, functions: Sequence[KernelFunction]) -> list[Counts]:
        """Count what each function gets right; functions that differ by a factor are evaluated once."""
        seen: dict[bytes, Counts] = {}
        for f in functions:
            if (ray := _ray(f)) not in seen:
                seen[ray] = self._count(f)
        return [seen[_ray(f)] for f in functions]

    def _count(self, f: KernelFunction) -> Counts:
        both = self.values(f, np.vstack([self.valid.X, self.test.X]))
        signs = np.where(both > 0.0, 1.0, -1.0)
        valid, test = np.split(signs, [self.valid.y.size])
        pairs = (valid, self.valid.y), (test, self.test.clean), (test, self.test.y)
        return Counts(*(int((found == labels).sum()) for found, labels in pairs))


def scaled_table(name: str) -> tuple[Floats, Floats]:
    """Return the attributes scaled to [0, 1] over the whole table, as the paper does, and the labels as -1 and +1."""
    X, y = load_uci(name, return_X_y=True)
    X = np.asarray(X, dtype=np.float64)
    return MinMax.fit(X)(X), np.where(np.asarray(y) == np.unique(y)[1], 1.0, -1.0)


def _rows(X: Floats, clean: Floats, y: Floats, part: Ints) -> Rows:
    return Rows(X[part], clean[part], y[part])


def _ray(f: KernelFunction) -> bytes:
    """Return the same bytes for functions that are positive multiples of each other, up to rounding."""
    largest = float(np.abs(f.coef).max(initial=0.0))
    return np.round(f.coef / largest, 12).tobytes() if largest > 0.0 else b""
