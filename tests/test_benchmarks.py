"""The benchmark suite: its records say what their definitions say, its rivals solve our problem, its page renders."""

import json
import sys
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.svm import SVC

from problems import PROBLEMS, problem, reference

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / "benchmarks"
QUICK = Namespace(quick=True, repeats=1, limit=5.0, limit_ours=60.0, sizes=[60], count=10, jobs=1)


@pytest.fixture(scope="module")
def suite():
    """Import the suite as the script does."""
    sys.path.insert(0, str(BENCHMARKS))
    import suite.page

    yield suite
    sys.path.remove(str(BENCHMARKS))


def small_table(n=40):
    rng = np.random.default_rng(3)
    X = rng.random((n, 3))
    return X, np.where(X[:, 0] + 0.4 * rng.normal(size=n) > 0.5, 1.0, -1.0)


def paper_grams(X):
    """Return the paper's kernels from their formula."""
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    blocks = [X, *(X[:, [j]] for j in range(X.shape[1]))]
    return np.stack([np.exp(-(cdist(b, b) ** 2) / (2 * 4.0**k)) for b in blocks for k in range(-3, 7)])


def hinge(y, f, rho):
    """Return the mean of the largest hinge losses up to the share rho."""
    losses = np.sort(np.maximum(0.0, 1.0 - y * f))[::-1]
    taken = np.clip(rho * y.size - np.arange(y.size), 0.0, 1.0)
    return float(losses @ taken) / y.size


@pytest.mark.parametrize("rho", [1.0, 0.7])
def test_record_is_that_of_the_definition(suite, rho):
    from suite import ours

    (X, y), lam = small_table(), 0.01
    model = ours.fit(X, y, lam, rho, tol=1e-6)
    record, alpha = ours.record(model, X, y), model.alpha_
    q = [a @ K @ a for a in [alpha * y / y.size] for K in paper_grams(X)]
    primal = 0.5 * lam * model.result_.norms.sum() ** 2 + hinge(y, model.decision_function(X), rho)
    dual = alpha.mean() - max(q) / (2.0 * lam)
    assert record["primal"] == pytest.approx(primal, abs=1e-9)
    assert record["dual"] == pytest.approx(dual, abs=1e-9)
    assert record["gap"] == pytest.approx((primal - dual) / primal, abs=1e-8)
    assert 0.0 <= record["gap"] <= 1e-6


def judged(solver, posed, linked):
    from suite import conic, credit

    answer = getattr(conic, solver)(conic.Conic.of(posed, linked), 30.0)()
    return answer, credit.true_gap(posed, [answer.alpha], [answer.coef])


@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize("solver", ["clarabel", "cvxopt"])
@pytest.mark.parametrize("rho", [1.0, 0.7])
def test_conic_program_is_our_problem(suite, solver, linked, rho):
    """Somebody else's solver of the conic program has our optimum, as alpha and as f."""
    pytest.importorskip(solver)
    from suite import ours

    X, y = small_table()
    model = ours.fit(X, y, 0.01, rho, tol=1e-9)
    posed, _ = ours.posed(model, X, y)
    answer, gap = judged(solver, posed, linked)
    assert gap <= 1e-6
    assert posed.dual(answer.alpha) == pytest.approx(model.result_.dual, rel=1e-6)


@pytest.mark.parametrize("name", [name for name in sorted(PROBLEMS) if problem(name).budget.kind == "alpha"][::3])
def test_conic_program_has_the_optimum_that_cvxpy_finds(suite, name):
    """With weights, h > 1, without intercept, kernels of rank one: as it comes."""
    answer, gap = judged("clarabel", problem(name), True)
    assert problem(name).dual(answer.alpha) == pytest.approx(reference(name).dual, rel=1e-5, abs=1e-7)
    assert gap <= 1e-5


def test_rivals_are_judged_by_the_certificate(suite):
    """Whatever solves our problem has a small true gap; kernel weights from elsewhere have a large one."""
    from suite import credit, ours, rivals

    X, y = small_table()
    posed, _ = ours.posed(ours.fit(X, y, 0.01), X, y)
    assert rivals._by_cones("Clarabel", posed, 30.0)["gap"] <= 1e-6
    assert rivals._simplemkl("SimpleMKL", posed, 30.0)["gap"] <= 1e-4
    uniform = credit.along_gradients(posed, np.ones(y.size), np.ones(posed.kernels.m))
    assert credit.true_gap(posed, [np.ones(y.size)], [uniform]) >= 1e-2


def test_tables_measure_what_they_say(suite):
    from suite import tables

    found = tables.setting(*small_table(), 0.01, 0.7, 1)
    assert min(found["ours"], found["peer"]) > 0.0
    assert max(found["gap"], found["gap_exact"]) <= 1e-6
    assert found["gap_fine"] <= 1e-8
    assert found["gap"] == pytest.approx(found["gap_exact"], abs=1e-9)


def test_peer_evaluates_the_papers_kernels(suite):
    from suite import peers

    X, y = small_table()
    mean = paper_grams(X).mean(axis=0)
    svc = SVC(kernel="precomputed").fit(mean, y)
    ours = peers.grams_and_svc(X, y)
    np.testing.assert_allclose(ours.decision_function(mean), svc.decision_function(mean), atol=1e-6)


def test_credit_finds_the_best_multiple_and_intercept(suite):
    """A solution spoilt by factors and without its intercept has its gap back."""
    from suite import credit, ours

    X, y = small_table()
    posed, (alpha, f) = ours.posed(ours.fit(X, y, 0.01, 0.8, tol=1e-9), X, y)
    assert credit.true_gap(posed, [0.3 * alpha], [7.0 * f.coef]) <= 1e-5


def test_a_process_apart_is_stopped_and_says_why_it_fails(suite):
    from suite.apart import apart

    assert apart("subprocess:run", 0.3, args=["sleep", "3"]) == {"over": 0.3}
    assert apart("operator:index")["error"].startswith("TypeError: ")
    assert apart("math:fsum_of_nothing")["error"].startswith("AttributeError")


def test_peak_sees_what_is_allocated_inside(suite):
    from suite.measure import Peak

    with Peak() as peak:
        np.ones(40_000_000).sum()
    assert 300e6 <= peak.nbytes <= 400e6


def test_nasty_problems_are_certified_anew(suite):
    from robustmkl import certificate, solve
    from suite import nasty

    found = nasty.attempt(5)
    result = solve(nasty.nasty_problem(5), tol=1e-8)
    certified = certificate(nasty.nasty_problem(5), result.alpha, result.f)
    assert found["gap"] == pytest.approx(certified.gap / certified.primal, abs=1e-12)
    assert found["gap"] <= 1e-8


@pytest.fixture(scope="module")
def records(suite, tmp_path_factory):
    """Run the light sections in their quick form on tiny inputs."""
    from datetime import UTC, datetime

    folder = tmp_path_factory.mktemp("site") / "benchmarks"
    for name in ("rows", "nasty"):
        data = suite.page.SECTIONS[name].run(QUICK)
        suite.page.store(folder, name, data, True, datetime.now(UTC))
    return folder


def test_records_say_where_they_come_from(records):
    record = json.loads((records / "rows.json").read_text())
    assert record["quick"]
    assert {"command", "date", "machine", "versions", "source"} <= set(record)
    (size,) = record["data"]["sizes"]
    assert size["n"] == 60
    assert size["gap"] <= 1e-6
    assert min(size["boosting"], size["rough"], size["fine"], size["memory"]["basis"]) > 0


def test_page_is_made_of_the_records(suite, records):
    pytest.importorskip("matplotlib")
    page = suite.page.render(records).read_text()
    count = json.loads((records / "nasty.json").read_text())["data"]["count"]
    assert f"of {count} are certified at 1e-6" in page
    assert "A quick run, not the full measurement" in page
    assert "Not measured yet: tables, rivals, magic, spambase, gap." in page
    for picture in ("rows", "nasty"):
        assert f"(benchmarks/{picture}.png)" in page
        assert (records / f"{picture}.png").stat().st_size > 10_000


def test_page_calls_a_goal_that_is_not_met_not_met(suite):
    from suite import nasty, spambase

    met = nasty.summary([{"seed": k, "gap": 1e-9, "seconds": 0.1, "iterations": 9} for k in range(100)])
    assert [goal.verdict for goal in nasty.goals(met)] == ["met"] * 3
    slow = {"seed": 100, "gap": 1e-5, "seconds": 11.0, "iterations": 99}
    missed = nasty.summary([{"seed": k, "gap": 2e-8, "seconds": 0.1, "iterations": 9} for k in range(100)] + [slow])
    assert [goal.verdict for goal in nasty.goals(missed)] == ["**NOT met**"] * 3
    refused = {"n": 9, "peers": {"grams and SVC": 1.0}, "ours": {"refused": "9 TiB"}, "memory": {"refused": "9 TiB"}}
    assert all(goal.met is False and "9 TiB" in goal.measured for goal in spambase.goals({"sizes": [refused]}))
    assert "9 TiB" in spambase.markdown({"sizes": [refused]})


def test_committed_page_is_that_of_the_committed_records(suite):
    """Nothing on it is typed in by hand: `python benchmarks/solver.py page` after any change of records or text."""
    records = suite.page.load(ROOT / "docs" / "benchmarks")
    assert records
    assert suite.page.text(records) == (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
