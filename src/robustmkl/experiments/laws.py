"""A judgement of the paper's theorems, lemmas and of its algorithm, from the runs that measured them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats
from .claims import Judgement, Table
from .comparison import Verdict
from .runs import Collection
from .statements import EPSILON

TAIL = 0.1  # the slope of the gap is measured from this share of the iterations on


def best_vi(run: dict[str, Any]) -> tuple[str, list[float]]:
    """Return the run of VI with the smallest last gap: "the best convergence with the best gamma_0"."""
    length = len(run["iterations"])
    whole = {name: r["gap"] for name, r in run["runs"].items() if name != "AMP" and len(r["gap"]) == length}
    name = min(whole, key=lambda name: whole[name][-1])
    return name, whole[name]


def faster(runs: Collection) -> list[Judgement]:
    """Judge "the accelerated mirror prox method is significantly more efficient than VI"."""
    rows, wins = [], 0
    for run in runs.gaps:
        name, vi = best_vi(run)
        amp, at = run["runs"]["AMP"]["gap"], run["iterations"]
        wins += amp[-1] < vi[-1]
        reached = next((t for t, gap in zip(at, amp, strict=True) if gap <= vi[-1]), None)
        caught = "not reached" if reached is None else str(reached)
        rows.append((*map(str, run["key"][1:]), name[3:], f"{amp[-1]:.4f}", f"{vi[-1]:.4f}", caught))
    last = runs.settings.max_iter
    head = (
        "table",
        "q",
        "trial",
        "best γ₀ of VI",
        f"gap of AMP after {last}",
        f"gap of VI after {last}",
        "AMP is there at",
    )
    verdict = Verdict.HOLDS if wins == len(runs.gaps) else Verdict.FAILS if wins == 0 else Verdict.OPEN
    reason = f"After {last} iterations the gap of AMP is the smaller in {wins} of {len(runs.gaps)} runs."
    basis = f"gap of the averages, λ = {runs.settings.gap_lam:g}, Σα ≤ {runs.settings.gap_total:g}"
    return [Judgement("AMP is significantly more efficient than VI.", basis, verdict, reason, [(head, rows)])]


def slope(iterations: Floats, gaps: Floats) -> float:
    """Return the exponent of the decrease over the last iterations, by least squares in the logarithms."""
    tail = (iterations >= TAIL * iterations[-1]) & (gaps > 0.0)
    return float(np.polyfit(np.log(iterations[tail]), np.log(gaps[tail]), 1)[0]) if tail.sum() > 1 else float("nan")


def theorem_2(runs: Collection) -> list[Judgement]:
    """Judge Theorem 2: ``gap <= (||f*||^2 + ||alpha*||^2) sqrt(m) / (sqrt(2 n) T)`` at every T; and the rate."""
    found = [(run, np.array(run["runs"]["AMP"]["gap"])) for run in (*runs.gaps, *runs.rates)]
    ratios = [gaps / np.array(run["runs"]["AMP"]["bound"]) for run, gaps in found]
    exponents = [slope(np.array(run["iterations"]), gaps) for run, gaps in found]
    rows = [
        (run["key"][1], str(run["iterations"][-1]), f"{e:.2f}", f"{r.max():.2f}", f"{r[-1]:.2f}", f"{gaps[-1]:.4f}")
        for (run, gaps), r, e in zip(found, ratios, exponents, strict=True)
    ]
    head = ("table", "iterations", "exponent of T", "largest gap / bound", "last gap / bound", "last gap")
    worst = max(float(r.max()) for r in ratios)
    reason = f"The gap is {worst:.2f} of the bound at most, over {sum(r.size for r in ratios)} certificates."
    claim, basis = "Theorem 2: the gap is at most (‖f*‖² + ‖α*‖²) √m / (√(2n) T).", "the problems of the right panels"
    bound = Judgement(claim, basis, Verdict.HOLDS if worst <= 1.0 else Verdict.FAILS, reason, [(head, rows)])
    return [bound, _rate(basis, found[-1][0]["iterations"][-1], exponents[len(runs.gaps) :] or exponents)]


def _rate(basis: str, last: int, exponents: list[float]) -> Judgement:
    """Judge "significantly faster than the classical O(1/sqrt(T)) rate" by the observed exponents."""
    fast, slow = sum(e <= -0.9 for e in exponents), sum(e >= -0.6 for e in exponents)
    verdict = Verdict.HOLDS if fast == len(exponents) else Verdict.FAILS if slow == len(exponents) else Verdict.OPEN
    reason = (
        f"Over the last nine tenths of {last} iterations the gap falls like T to the power {min(exponents):.2f} to "
        f"{max(exponents):.2f}; -1 is 1/T, -0.5 is 1/√T."
    )
    return Judgement("The gap falls like 1/T, faster than 1/√T.", basis, verdict, reason)


def theorem_1(runs: Collection) -> list[Judgement]:
    """Judge Theorem 1 against the hinge loss on the test rows."""
    found = [(run, bound) for run in runs.statements for bound in run["theorem 1"]]
    totals = np.array([bound["empirical"] + bound["complexity"] for _, bound in found])
    measured = np.array([bound["measured"] for _, bound in found])
    first = np.array([bound["empirical"] for _, bound in found])
    excess = [run.wrong > run.key.noise * run.sizes["train"] for run in runs.runs["certified"] if run.key.noise > 0.0]
    vacuous = int((totals >= 1.0).sum())
    reason = (
        f"The bound is 1 or more, which f = 0 meets, in {vacuous} of {totals.size} cases; its values are "
        f"{totals.min():.2f} to {totals.max():.1f}, of the test loss {measured.min():.2f} to {measured.max():.2f}. "
        f"Its first term alone is exceeded by the test loss in {int((measured > first).sum())}. Its assumption of at "
        f"most nq wrong labels fails in {sum(excess)} of {len(excess)} runs."
    )
    if (measured > totals).any():
        verdict = Verdict.FAILS
    else:
        verdict = Verdict.OPEN if 2 * vacuous > totals.size else Verdict.HOLDS
    terms = ("empirical", "complexity", "measured")
    rows = [
        (r["key"][1], *(f"{v:g}" for v in (r["key"][2], b["lam"])), *(f"{b[k]:.2f}" for k in terms)) for r, b in found
    ]
    head = ("table", "q", "λ", "first term", "second term", "test loss")
    basis = f"solutions of (10), ε = δ = {EPSILON:g}, hinge loss on clean test rows"
    return [Judgement("Theorem 1 bounds the expected hinge loss.", basis, verdict, reason, [(head, rows)])]


def _violations(runs: Collection, name: str) -> tuple[Table, dict[str, float]]:
    """Return how often a statement is violated, for each table and noise level, and the largest for each dependence."""
    kinds = list(runs.statements[0][name])
    rows = [(run["key"][1], f"{run['key'][2]:g}", *(f"{run[name][k]:.4f}" for k in kinds)) for run in runs.statements]
    return (("table", "q", *kinds), rows), {k: max(run[name][k] for run in runs.statements) for k in kinds}


def lemma_1(runs: Collection) -> list[Judgement]:
    """Judge Lemma 1, with and "WITHOUT having to assume" independence."""
    table, largest = _violations(runs, "lemma 1")
    holds = largest["independent"] <= EPSILON
    dependent = {k: v for k, v in largest.items() if k != "independent"}
    shares = ", ".join(f"{100 * v:.1f} % ({k})" for k, v in dependent.items())
    basis = f"{runs.settings.simulations} draws of label errors for each table and noise level, ε = {EPSILON:g}"
    return [
        Judgement(
            "Lemma 1: (8) implies the chance constraint (5), for independent label errors.",
            basis,
            Verdict.HOLDS if holds else Verdict.FAILS,
            f"Violated in at most {100 * largest['independent']:.2f} % of the draws.",
        ),
        Judgement(
            "Lemma 1 holds WITHOUT the assumption that label errors are independent.",
            basis,
            Verdict.FAILS if max(dependent.values()) > EPSILON else Verdict.OPEN,
            f"Violated in up to {shares} of the draws, where the lemma promises at most {100 * EPSILON:g} %.",
            [table],
        ),
    ]


def proposition_1(runs: Collection) -> list[Judgement]:
    """Judge Proposition 1 for rows that are independent; report the others."""
    table, largest = _violations(runs, "proposition 1")
    others = ", ".join(f"{100 * v:.1f} % ({k})" for k, v in largest.items() if k != "independent")
    return [
        Judgement(
            "Proposition 1: (1/n) Σ pᵢ ≤ 1 − q + τ/√n with probability 1 − ε.",
            f"pᵢ in {{0, 1}}, the widest they can scatter; {runs.settings.simulations} draws, ε = {EPSILON:g}",
            Verdict.HOLDS if largest["independent"] <= EPSILON else Verdict.FAILS,
            f"For independent rows violated in at most {100 * largest['independent']:.2f} % of the draws; rows drawn "
            f"together, which it does not claim: {others}.",
            [table],
        )
    ]


def relaxation(runs: Collection) -> list[Judgement]:
    """Measure what (9) gives away against (8)."""
    bounds = [run["bounds"] for run in runs.statements]
    ratio = np.array([b["(9)"] / b["(8)"] for b in bounds if b["(8)"] > 0.0])
    above = sum(b["(9)"] >= b["certain"] for b in bounds)
    names = ("least", "(8)", "certain", "(9)")
    rows = [(r["key"][1], f"{r['key'][2]:g}", *(f"{r['bounds'][k]:.3f}" for k in names)) for r in runs.statements]
    return [
        Judgement(
            "(9) is a usable relaxation of (8).",
            f"losses of the solutions of (10) at λ = 0.1, ε = {EPSILON:g}",
            Verdict.FAILS if above == len(bounds) else Verdict.OPEN,
            f"The t of (9) is {ratio.min():.2f} to {ratio.max():.2f} times that of (8). In {above} of {len(bounds)} "
            "cases it is no less than the mean loss, which is never exceeded, whatever the errors.",
            [(("table", "q", "least t, independent", "(8)", "mean loss", "(9)"), rows)],
        )
    ]
