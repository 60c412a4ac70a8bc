"""A judgement of each claim about accuracy: from the collected runs to a verdict, with the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Floats
from .comparison import MARGIN, Comparison, Verdict, compare, differences, holm
from .runs import Collection, Scores

Table = tuple[Sequence[str], Sequence[Sequence[str]]]  # head, rows


@dataclass(frozen=True)
class Judgement:
    """One claim judged.

    Attributes
    ----------
    claim : str
        What the paper says.
    basis : str
        What it was judged by.
    verdict : Verdict
    reason : str
        The numbers in a sentence.
    tables : list of Table
    """

    claim: str
    basis: str
    verdict: Verdict
    reason: str
    tables: list[Table] = field(default_factory=list)


BASES = {
    "paper": ("Algorithm 1 under the paper's stopping rule, coarse grid", "paper", ""),
    "certified": ("proved optima, coarse grid", "certified", ""),
    "fine": ("proved optima, fine grid", "certified", " fine"),
}


def bases(runs: Collection, names: Sequence[str] = tuple(BASES)) -> list[tuple[str, str, str]]:
    """Return what a claim can be judged by: text, kind of runs, grid."""
    return [BASES[name] for name in names if runs.runs[BASES[name][1]]]


def contrast(runs: Collection, kind: str, a: str, b: str, noise: Sequence[float]) -> list[Comparison]:
    """Compare two choices over all these noise levels, then at each, with Holm's correction over all of them."""
    one, other = (runs.scores(kind, runs.choices[name]) for name in (a, b))
    return holm(by_level(one, other, noise))


def by_level(one: Scores, other: Scores, noise: Sequence[float]) -> list[Comparison]:
    """Compare over all noise levels together, then at each of them."""
    pooled = [compare("all q > 0" if min(noise) > 0.0 else "all q", one, other, noise)] if len(noise) > 1 else []
    return pooled + [compare(f"q = {q:g}", one, other, [q]) for q in noise]


def table_of(found: Sequence[Comparison], first: str = "") -> Table:
    """Return comparisons as a table."""
    head = (first, "pairs", "better / worse", "mean difference", "95 % interval", "p (Holm)")
    return head, [
        (c.label, str(c.pairs), f"{c.better} / {c.worse}", f"{c.mean:+.2f}", f"{c.low:+.2f} .. {c.high:+.2f}", p_(c.p))
        for c in found
    ]


def p_(p: float) -> str:
    """Return a p-value as text."""
    return f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"


def said(c: Comparison) -> str:
    """Return a comparison as a phrase."""
    interval = f"{c.low:+.2f} to {c.high:+.2f}"
    return f"{c.mean:+.2f} points on average over {c.pairs} pairs (95 % interval {interval}, p = {p_(c.p)} after Holm)"


def resilience(runs: Collection) -> list[Judgement]:
    """Judge "StPMKL is significantly more resilient than SiPMKL to the label noise"."""
    out = []
    for basis, kind, fine in bases(runs):
        found = contrast(runs, kind, "StPMKL" + fine, "SiPMKL" + fine, runs.noisy_levels)
        out.append(
            Judgement(
                "StPMKL is significantly more resilient to label noise than SiPMKL.",
                basis,
                found[0].superiority(),
                f"StPMKL less SiPMKL: {said(found[0])}.",
                [table_of(found), table_of(by_table(runs, kind, "StPMKL" + fine, "SiPMKL" + fine), "all q > 0")],
            )
        )
    return out


def by_table(runs: Collection, kind: str, a: str, b: str) -> list[Comparison]:
    """Compare two choices on each table, over all noise levels above 0."""
    one, other = (runs.scores(kind, runs.choices[name]) for name in (a, b))
    return holm([compare(d, one, other, runs.noisy_levels, d) for d in runs.settings.datasets])


def worst_against_best(runs: Collection) -> list[Judgement]:
    """Judge "the worst case analysis is better than the best case analysis, particularly when the noise is high"."""
    out = []
    for basis, kind, _ in bases(runs, ["paper", "certified"]):
        found = contrast(runs, kind, "StPMKL", "MiPMKL", runs.noisy_levels)
        highest = found[-1]
        out.append(
            Judgement(
                "The worst case (StPMKL) is better than the best case (MiPMKL), particularly at high noise.",
                basis,
                found[0].superiority(),
                f"StPMKL less MiPMKL: {said(found[0])}; at {highest.label}: {said(highest)}.",
                [table_of(found), table_of(by_table(runs, kind, "StPMKL", "MiPMKL"), "all q > 0")],
            )
        )
    return out


def without_noise(runs: Collection) -> list[Judgement]:
    """Judge "without noise StPMKL achieves similar performance, if not the same, to SiPMKL"."""
    if 0.0 not in runs.settings.noise:
        return []
    out = []
    for basis, kind, fine in bases(runs):
        (found,) = contrast(runs, kind, "StPMKL" + fine, "SiPMKL" + fine, [0.0])
        reason = f"StPMKL less SiPMKL: {said(found)}; the same accuracy in {found.pairs - found.better - found.worse}."
        claim = "Without noise StPMKL performs like SiPMKL, if not the same."
        out.append(Judgement(claim, basis, found.equality(), reason))
    return out


def best_case_without_noise(runs: Collection) -> list[Judgement]:
    """Judge "without noise MiPMKL could give different results (e.g. on ionosphere, heart, sonar)".

    Both see the same rows and labels, so that a difference is one of the methods; the question is its size.
    """
    if 0.0 not in runs.settings.noise:
        return []
    out = []
    for basis, kind, _ in bases(runs, ["paper", "certified"]):
        one, other = (runs.scores(kind, runs.choices[name]) for name in ("MiPMKL", "SiPMKL"))
        tables = {d: differences(one, other, [0.0], d) for d in runs.settings.datasets}
        out.append(_unlike(basis, {d: found for d, found in tables.items() if found.size}))
    return out


def _unlike(basis: str, by_table: dict[str, Floats]) -> Judgement:
    """Judge "different": by more than the margin, in the mean of the absolute differences, on some table."""
    large = [d for d, found in by_table.items() if np.abs(found).mean() > MARGIN]
    every = np.concatenate([np.zeros(0), *by_table.values()])
    reason = (
        f"The accuracies differ in {int((every != 0.0).sum())} of {every.size} runs, by more than {MARGIN:g} point in "
        f"the mean absolute difference on {', '.join(large) or 'no table'}."
    )
    rows = [
        (d, str(v.size), str(int((v != 0.0).sum())), f"{np.abs(v).mean():.2f}", f"{v.mean():+.2f}")
        for d, v in by_table.items()
    ]
    head = ("MiPMKL less SiPMKL", "runs", "unlike", "mean absolute difference", "mean difference")
    claim = "Without noise MiPMKL can give results different from SiPMKL."
    return Judgement(claim, basis, Verdict.HOLDS if large else Verdict.FAILS, reason, [(head, rows)])


def mean_accuracy(runs: Collection, kind: str, names: Sequence[str]) -> Table:
    """Return mean accuracy and standard deviation over the trials, for each table and noise level."""
    scores = {name: runs.scores(kind, runs.choices[name]) for name in names}
    rows = []
    for d in runs.settings.datasets:
        for q in runs.settings.noise:
            cells = [_mean([v for p, v in scores[name].items() if p[:2] == (d, q)]) for name in names]
            rows.append((d, f"{q:g}", *cells))
    return ("table", "q", *names), rows


def _mean(values: list[float]) -> str:
    if not values:
        return "-"
    return f"{np.mean(values):.1f} ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else f"{values[0]:.1f}"
