"""Where a difference of StPMKL and SiPMKL comes from: the choice of one point on one path."""

from __future__ import annotations

import numpy as np

from .claims import Judgement, Table, by_level, said, table_of
from .comparison import Comparison, Verdict, compare, holm
from .record import Line
from .runs import Choice, Collection, Run, Scores

GRIDS = ("SiPMKL", "StPMKL", "SiPMKL fine", "StPMKL fine")


def equivalence(runs: Collection) -> list[Judgement]:
    """Judge by twins: StPMKL(lam, rho) against SiPMKL(lam (1 - theta)), both proved, on the test rows."""
    pairs = [(run, twin) for run in runs.runs["certified"] for twin in run.twins if twin["theta"] > 0.0]
    if not pairs:
        return []
    rows = sum(run.sizes["test"] for run, _ in pairs)
    differ = int(sum(twin["differ"] for _, twin in pairs))
    distance = np.array([twin["distance"] for _, twin in pairs])
    reason = (
        f"{len(pairs)} classifiers with a binding budget and their twins without one: of {rows} predictions on test "
        f"rows {differ} differ. After scaling, the values differ by {np.median(distance):.0e} of the largest in "
        f"the median, {distance.max():.0e} at most."
    )
    claim = "(Not in the paper.) StPMKL(λ, ρ) is SiPMKL(λ (1 − θ)): same signs everywhere."
    verdict = Verdict.HOLDS if differ <= 0.001 * rows else Verdict.FAILS
    return [Judgement(claim, "proved optima, relative gap 1e-6", verdict, reason)]


def effective(line: Line) -> float:
    """Return ``lam (1 - theta)``: the lam of ordinary MKL whose signs a candidate has."""
    return line.lam * (1.0 - line.theta)


def nearest_ordinary(run: Run, line: Line) -> Line:
    """Return the candidate of SiPMKL on the fine grid whose lam is nearest to that of a candidate's signs."""
    ordinary = [c for c in run.lines if c.method == "SiPMKL"]
    return min(ordinary, key=lambda c: abs(np.log(c.lam / max(effective(line), 1e-300))))


def matched(runs: Collection) -> list[Judgement]:
    """Judge whether StPMKL is as accurate as SiPMKL at the fine grid's lam nearest to lam (1 - theta)."""
    chosen = {run.place: (run, line) for run in runs.runs["certified"] if (line := runs.choices["StPMKL"].chosen(run))}
    mine = {place: runs.accuracy(run, line) for place, (run, line) in chosen.items()}
    matches = {place: runs.accuracy(run, nearest_ordinary(run, line)) for place, (run, line) in chosen.items()}
    compared = holm(by_level(mine, matches, runs.noisy_levels))
    same = sum(line.theta == 0.0 for place, (_, line) in chosen.items() if place[1] > 0.0)
    reason = (
        f"StPMKL less SiPMKL at the λ of the fine grid nearest to λ (1 − θ): {said(compared[0])}. In {same} of "
        f"{compared[0].pairs} choices the budget was inactive: there StPMKL is SiPMKL of the same λ. "
        + _gains(mine, matches, runs.scores("certified", runs.choices["SiPMKL"]))
    )
    claim = "(Not in the paper.) Where StPMKL is better, it has chosen a better λ of SiPMKL."
    basis = "proved optima, the candidate that StPMKL chose on the coarse grid, all q > 0"
    return [Judgement(claim, basis, compared[0].equality(), reason, [table_of(compared), lam_table(runs)])]


def _gains(mine: Scores, matches: Scores, ordinary: Scores) -> str:
    """Say how much of the advantage, in the runs with one, SiPMKL at the matching lam has as well."""
    ahead = [p for p in mine if p[1] > 0.0 and p in ordinary and mine[p] > ordinary[p] + 1e-9]
    if not ahead:
        return "In no run was StPMKL better than SiPMKL on the coarse grid."
    gain, other = (float(np.mean([scores[p] - ordinary[p] for p in ahead])) for scores in (mine, matches))
    return (
        f"In the {len(ahead)} runs in which StPMKL was better than SiPMKL on the coarse grid, by {gain:.2f} points, "
        f"SiPMKL at that λ is better by {other:.2f}."
    )


def lam_table(runs: Collection) -> Table:
    """Return the median of lam (1 - theta) that was chosen, by noise level."""
    rows = []
    for q in runs.settings.noise:
        of_level = [run for run in runs.runs["certified"] if run.key.noise == q]
        rows.append((f"{q:g}", *(_median(of_level, runs.choices[name]) for name in GRIDS)))
    return ("chosen λ (1 − θ), median; q", *(name.replace(" ", ", ") for name in GRIDS)), rows


def _median(runs: list[Run], choice: Choice) -> str:
    chosen = [effective(line) for run in runs if (line := choice.chosen(run)) is not None]
    return f"{np.median(chosen):.3g}" if chosen else "-"


def grids(runs: Collection) -> list[Judgement]:
    """Measure what happens when SiPMKL gets a grid as fine as that of StPMKL."""
    noise = runs.noisy_levels
    scores = {name: runs.scores("certified", choice) for name, choice in runs.choices.items()}
    pairs = [
        ("StPMKL", "SiPMKL"),
        ("SiPMKL fine", "SiPMKL"),
        ("StPMKL", "SiPMKL fine"),
        ("StPMKL fine", "SiPMKL fine"),
    ]
    found = holm([_named(scores, a, b, noise) for a, b in pairs])
    s = runs.settings
    reason = (
        f"On the coarse grid ({len(s.coarse_lams)} λ) StPMKL has {len(s.coarse_lams) * len(s.rhos)} candidates and "
        f"SiPMKL {len(s.coarse_lams)}: {said(found[0])}. SiPMKL gains from {len(s.lams)} λ: {said(found[1])}. Against "
        f"it the StPMKL of the coarse grid has {said(found[2])}."
    )
    claim = "An advantage of StPMKL is more than a finer grid of λ."
    return [Judgement(claim, "proved optima, all q > 0", found[2].superiority(), reason, [table_of(found)])]


def _named(scores: dict[str, Scores], a: str, b: str, noise: list[float]) -> Comparison:
    label = f"{a.replace(' ', ', ')} less {b.replace(' ', ', ')}"
    return compare(label, scores[a], scores[b], noise)


def stopping(runs: Collection) -> list[Judgement]:
    """Measure whether the paper's stopping rule acts as a regulariser: the same trials, coarse grid, both ways."""
    found = []
    for name in ("SiPMKL", "StPMKL", "MiPMKL"):
        loose, proved = (runs.scores(kind, runs.choices[name]) for kind in ("paper", "certified"))
        found += [
            compare(f"{name}, all q > 0", loose, proved, runs.noisy_levels),
            compare(f"{name}, q = 0", loose, proved, [0.0]),
        ]
    found = holm([c for c in found if c.pairs])
    lines = [c for run in runs.runs["paper"] for c in run.lines if c.method != "MiPMKL"]
    within = 100.0 * float(np.mean([c.gap <= runs.settings.gap for c in lines]))
    gaps = np.array([c.gap for c in lines])
    reason = (
        f"Of {len(lines)} fits by Algorithm 1, {within:.0f} % reached a gap of {runs.settings.gap:g} within "
        f"{runs.settings.max_iter} iterations; the median gap is {np.median(gaps):.3f}. SiPMKL stopped there less "
        f"SiPMKL at its proved optimum: {said(found[0])}."
    )
    claim = "(Not in the paper.) Stopping at 1e-2 or after 1000 iterations acts as a regulariser."
    basis = "the same trials, coarse grid"
    return [Judgement(claim, basis, found[0].superiority(), reason, [table_of(found, "stopped less proved")])]


def ties(runs: Collection) -> list[Judgement]:
    """Measure how much hangs on the rule for ties: the mean over the best candidates instead of one."""
    one, other = (runs.scores_over_ties("certified", runs.choices[name]) for name in ("StPMKL", "SiPMKL"))
    found = holm(by_level(one, other, runs.noisy_levels))
    claim = "StPMKL is more resilient than SiPMKL, whatever the rule for ties on the validation rows."
    basis = "proved optima, coarse grid, mean over all candidates that are best on the validation rows"
    return [Judgement(claim, basis, found[0].superiority(), f"{said(found[0])}.", [table_of(found)])]


JUDGES = (equivalence, matched, grids, ties)
