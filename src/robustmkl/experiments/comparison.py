"""Paired comparisons over trials and tables: Wilcoxon's signed rank test, Holm's correction, and what they decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from scipy import stats

from ..arrays import Floats
from .runs import Scores

LEVEL = 0.05
FEWEST = 20  # pairs: with fewer nothing is decided
MARGIN = 1.0  # percentage points: a smaller difference in mean accuracy is called none


class Verdict(Enum):
    """What the numbers say about a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    OPEN = "cannot be decided"


@dataclass(frozen=True)
class Comparison:
    """The difference of two classifiers in percentage points, over pairs of runs on the same rows.

    Attributes
    ----------
    label : str
    pairs, better, worse : int
        Pairs in all, and those with a positive and a negative difference.
    mean, low, high : float
        The mean and its 95 % interval (Student's).
    p : float
        Of Wilcoxon's signed rank test, two-sided; after :func:`holm`, corrected.
    """

    label: str
    pairs: int
    better: int
    worse: int
    mean: float
    low: float
    high: float
    p: float

    @property
    def significant(self) -> bool:
        """Whether the difference is not chance."""
        return self.p < LEVEL

    def superiority(self) -> Verdict:
        """Judge "better": above 0 beyond chance; or never by more than the margin."""
        if self.pairs < FEWEST:
            return Verdict.OPEN
        if self.significant and self.mean > 0.0 and self.low > 0.0:
            return Verdict.HOLDS
        negative = self.significant and self.mean < 0.0
        return Verdict.FAILS if negative or self.high < MARGIN else Verdict.OPEN

    def equality(self) -> Verdict:
        """Judge "the same": the whole interval is within the margin; or beyond it."""
        if self.pairs < FEWEST:
            return Verdict.OPEN
        if self.low > -MARGIN and self.high < MARGIN:
            return Verdict.HOLDS
        return Verdict.FAILS if self.low > MARGIN or self.high < -MARGIN else Verdict.OPEN


def compare(label: str, a: Scores, b: Scores, noise: Sequence[float], dataset: str | None = None) -> Comparison:
    """Compare two classifiers wherever both have a score, at these noise levels."""
    return of_differences(label, differences(a, b, noise, dataset))


def differences(a: Scores, b: Scores, noise: Sequence[float], dataset: str | None = None) -> Floats:
    """Return the differences in percentage points, rounded so that equal numbers of right rows give 0."""
    places = sorted(p for p in a.keys() & b.keys() if p[1] in noise and dataset in (None, p[0]))
    found: Floats = np.array([a[p] - b[p] for p in places], dtype=np.float64)
    return found.round(9)


def of_differences(label: str, d: Floats) -> Comparison:
    """Return the comparison of given differences."""
    mean = float(d.mean()) if d.size else float("nan")
    spread = float(stats.t.ppf(0.975, d.size - 1) * d.std(ddof=1) / np.sqrt(d.size)) if d.size > 1 else float("inf")
    better, worse = int((d > 0.0).sum()), int((d < 0.0).sum())
    return Comparison(label, int(d.size), better, worse, mean, mean - spread, mean + spread, signed_rank(d))


def signed_rank(d: Floats) -> float:
    """Return the two-sided p of Wilcoxon's test, zero differences left out; 1 where nothing differs."""
    d = d[d != 0.0]
    return float(stats.wilcoxon(d, method="exact" if _distinct(d) else "approx").pvalue) if d.size else 1.0


def _distinct(d: Floats) -> bool:
    return bool(d.size <= 25 and np.unique(np.abs(d)).size == d.size)


def holm(found: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons of one question with corrected p."""
    p = np.array([c.p for c in found])
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate((p.size - np.arange(p.size)) * p[order])
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(raised, 1.0)
    return [replace(c, p=float(value)) for c, value in zip(found, corrected, strict=True)]
