"""Which rule to follow when the noise level is known: accuracy along rho and along lam, and rules against tuning."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .claims import Judgement, Table, said, table_of
from .comparison import Comparison, compare, holm
from .runs import BUDGETED, ORDINARY, Choice, Collection, Run

TUNED = "λ tuned, fine grid, no budget"


def _share(value: Callable[[float], float]) -> Callable[[Run], Sequence[float]]:
    """Return a rule for rho by the noise level: the share that was computed, if there is one."""
    return lambda run: [rho for rho in {line.rho for line in run.lines} if abs(rho - value(run.key.noise)) < 1e-9]


def _part_of_max(share: float) -> Callable[[Run], Sequence[float]]:
    """Return a rule for lam: the value of the grid nearest to a share of lam_max, in the logarithm."""

    def nearest(run: Run) -> Sequence[float]:
        lams = {line.lam for line in run.lines if line.method == "SiPMKL"}
        return [min(lams, key=lambda lam: abs(np.log(lam / (share * run.lam_max))))]

    return nearest


def rules(runs: Collection) -> dict[str, Choice]:
    """Return the rules. At the largest lam a binding budget alone decides, as nu does in a nu-SVM."""
    s = runs.settings
    paper, steinwart = _share(lambda q: 1.0 - q), _share(lambda q: 2.0 * q)
    return {
        TUNED: Choice(ORDINARY, s.lams, (1.0,)),
        "λ and ρ tuned, fine grid": Choice(BUDGETED, s.lams, s.rhos),
        "ρ = 1 − q, λ tuned": Choice(BUDGETED, s.lams, paper),
        "ρ = 1 − q alone": Choice(BUDGETED, s.lams[:1], paper),
        "ρ = 2q alone": Choice(BUDGETED, s.lams[:1], steinwart),
        "ρ tuned alone, .1 to 1": Choice(BUDGETED, s.lams[:1], (*s.rhos, *s.more_rhos)),
        "λ = λ_max / 3": Choice(ORDINARY, _part_of_max(1 / 3), (1.0,)),
        "λ = λ_max / 10": Choice(ORDINARY, _part_of_max(1 / 10), (1.0,)),
    }


def which_rule(runs: Collection) -> list[Judgement]:
    """Compare every rule with tuning lam alone."""
    scores = {name: runs.scores("certified", choice) for name, choice in rules(runs).items()}
    found = [compare(name, scores[name], scores[TUNED], runs.noisy_levels) for name in scores if name != TUNED]
    found = holm([c for c in found if c.pairs])
    if not found:
        return []
    by_name = {c.label: c for c in found}
    paper = by_name["ρ = 1 − q, λ tuned"] if "ρ = 1 − q, λ tuned" in by_name else found[0]
    claim = "A budget set by the noise level, ρ = 1 − q, is better than no budget."
    reason = f"{paper.label}, less {TUNED}: {said(paper)}. {_advice(found)}"
    basis = "proved optima, all q > 0"
    tables = [table_of(found, f"rule, less: {TUNED}"), level_table(runs)]
    return [Judgement(claim, basis, paper.superiority(), reason, tables)]


def _advice(found: Sequence[Comparison]) -> str:
    """Say which rules are better and worse than tuning lam alone, and which has the highest mean."""
    better = [c.label for c in found if c.significant and c.mean > 0.0]
    worse = [c.label for c in found if c.significant and c.mean < 0.0]
    best = max(found, key=lambda c: c.mean)
    highest = f"{best.label} ({best.mean:+.2f})" if best.mean > 0.0 else "tuning λ itself"
    return (
        f"Beyond chance better than tuning λ alone: {'; '.join(better) or 'no rule'}. Beyond chance worse: "
        f"{'; '.join(worse) or 'no rule'}. The highest mean over all q > 0: {highest}."
    )


def level_table(runs: Collection) -> Table:
    """Return the mean accuracy of each rule at each noise level."""
    scores = {name: runs.scores("certified", choice) for name, choice in rules(runs).items()}
    rows = [
        (name, *(_mean([v for p, v in found.items() if p[1] == q]) for q in runs.settings.noise))
        for name, found in scores.items()
    ]
    return ("mean accuracy", *(f"q = {q:g}" for q in runs.settings.noise)), rows


def along_rho(runs: Collection) -> tuple[list[float], dict[float, list[float]]]:
    """Return the mean accuracy for each share at the largest lam, where it depends on rho alone, by noise level."""
    s = runs.settings
    shares = sorted((*s.rhos, *s.more_rhos))
    return shares, _curves(runs, [Choice(BUDGETED, s.lams[:1], (rho,)) for rho in shares])


def along_lam(runs: Collection) -> tuple[list[float], dict[float, list[float]]]:
    """Return the mean accuracy of SiPMKL for each lam, by noise level."""
    lams = sorted(runs.settings.lams)
    return lams, _curves(runs, [Choice(ORDINARY, (lam,), (1.0,)) for lam in lams])


def _curves(runs: Collection, choices: Sequence[Choice]) -> dict[float, list[float]]:
    found = [runs.scores("certified", choice) for choice in choices]
    mean = {q: [_average([v for p, v in scores.items() if p[1] == q]) for scores in found] for q in runs.settings.noise}
    return {q: values for q, values in mean.items() if not np.isnan(values).all()}


def curve_table(first: str, at: Sequence[float], curves: dict[float, list[float]]) -> Table:
    """Return curves as a table, one column a noise level."""
    rows = [(f"{x:g}", *(f"{values[i]:.1f}" for values in curves.values())) for i, x in enumerate(at)]
    return (first, *(f"q = {q:g}" for q in curves)), rows


def best_of(at: Sequence[float], curves: dict[float, list[float]]) -> dict[float, float]:
    """Return where each curve is highest."""
    return {q: at[int(np.nanargmax(values))] for q, values in curves.items()}


def _average(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _mean(values: list[float]) -> str:
    return f"{np.mean(values):.1f}" if values else "-"
