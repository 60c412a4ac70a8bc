"""The paper's section 4 as experiments: the batched algorithm, the runs, resuming, the judgement."""

import csv
import io
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import islice

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from robustmkl import Budget, Problem, solve
from robustmkl.experiments import Settings, table1
from robustmkl.experiments import rules as rules_of
from robustmkl.experiments.batched import Columns, batched_amp
from robustmkl.experiments.certified import certified
from robustmkl.experiments.comparison import Comparison, Verdict, holm, of_differences, signed_rank
from robustmkl.experiments.laws import slope
from robustmkl.experiments.lemmas import project, shrinkage
from robustmkl.experiments.loose import loose
from robustmkl.experiments.record import Line
from robustmkl.experiments.report import write_report
from robustmkl.experiments.runs import Choice, Collection, Run
from robustmkl.experiments.settings import Key
from robustmkl.experiments.statements import DRAWS, _lemma_1
from robustmkl.experiments.store import Store
from robustmkl.experiments.trial import Trial, scaled_table
from robustmkl.experiments.work import collect
from robustmkl.penalty import SquaredBlockNorm
from robustmkl.solvers.amp import amp

TINY = Settings(
    datasets=("heart",),
    noise=(0.0, 0.3),
    certified_trials=2,
    trials=1,
    best_case_trials=1,
    lams=(1.0, 0.1, 0.03),
    coarse=2,
    rhos=(1.0, 0.7),
    more_rhos=(0.3,),
    max_iter=20,
    gammas=(1.0, 10.0),
    simulations=500,
)

DRIVER = """
import sys
from pathlib import Path
from robustmkl.experiments import Settings
from robustmkl.experiments.store import Store
from robustmkl.experiments.work import collect
settings = eval(sys.argv[2])
collect(Store(Path(sys.argv[1]), settings), settings)
"""


@pytest.fixture(scope="module")
def heart():
    return Trial(Key("paper", "heart", 0.2, 0))


# -- the batch ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["heart", "sonar"])
def test_batch_is_algorithm_1_column_by_column(table):
    problem = Trial(Key("paper", table, 0.2, 0)).problem
    lams, rhos = np.array([0.3, 0.01, 0.01, 0.001]), np.array([1.0, 1.0, 0.4, 0.2])
    columns = Columns(lams, rhos, np.ones((problem.kernels.n, 4)))
    for lam, rho, found in zip(lams, rhos, batched_amp(problem, columns, 0.0, 60), strict=True):
        own = replace(problem, lam=lam, budget=Budget(rho))
        point = next(islice(amp(own), 59, None))()
        assert found.n_iter == 60
        assert np.allclose(found.alpha, point.alpha, rtol=0, atol=1e-12)
        assert np.allclose(found.f.coef, point.f.coef, rtol=0, atol=1e-12)
        assert np.isclose(found.gap, own.certificate(*point).gap, rtol=1e-9)
        assert np.isclose(found.primal, own.primal(point.f), rtol=1e-9)


def test_columns_stop_by_their_own_gaps_and_leave_the_others_alone(heart):
    problem, n = heart.problem, heart.problem.kernels.n
    lams, rhos = np.array([1.0, 0.01, 1.0]), np.array([1.0, 0.5, 0.5])
    together = batched_amp(problem, Columns(lams, rhos, np.ones((n, 3))), 0.4, 80)
    assert together[1].n_iter == 80
    assert together[2].n_iter < 80
    for c, outcome in enumerate(together):
        alone = batched_amp(problem, Columns(lams[c : c + 1], rhos[c : c + 1], np.ones((n, 1))), 0.4, 80)[0]
        assert alone.n_iter == outcome.n_iter
        assert np.allclose(alone.f.coef, outcome.f.coef, rtol=0, atol=1e-12)
        assert outcome.gap <= 0.4 or outcome.n_iter == 80


def test_bounds_give_the_weighted_problem_of_the_best_case():
    rng = np.random.default_rng(3)
    X, p = rng.random((30, 2)), (rng.random(30) < 0.7).astype(float)
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(30) > 0.5, 1.0, -1.0)
    grams = np.stack([np.exp(-cdist(X, X, "sqeuclidean") / s) for s in (0.1, 1.0)])
    problem, kept = Problem.from_grams(grams, y, fit_intercept=False), np.flatnonzero(p)
    (found,) = batched_amp(problem, Columns(np.array([0.1]), np.ones(1), p[:, None]), 1e-4, 20_000)
    share = kept.size / 30
    part = Problem.from_grams(grams[:, kept[:, None], kept], y[kept], lam=0.1 / share, fit_intercept=False)
    assert found.gap <= 1e-4
    assert np.isclose(found.primal, share * solve(part, tol=1e-8).primal, atol=2e-4)


def test_batch_refuses_an_intercept(heart):
    with pytest.raises(ValueError, match="fit_intercept=False"):
        batched_amp(replace(heart.problem, fit_intercept=True), Columns(*np.ones((2, 1)), np.ones((194, 1))), 0.1, 5)


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_projection_is_the_nearest_point(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(1, 12)), 3
    v, bounds = 2.0 * rng.standard_normal((n, p)), (rng.random((n, p)) < 0.8) * rng.choice([1.0, 0.5], (n, p))
    budgets = np.array([0.3 * n, 1e-3, 10.0 * n])
    found = project(v, bounds, budgets)
    for c in range(p):
        a = cp.Variable(n)
        limits = [a >= 0, a <= bounds[:, c], cp.sum(a) <= budgets[c]]
        cp.Problem(cp.Minimize(cp.sum_squares(a - v[:, c])), limits).solve(solver="CLARABEL")
        assert np.allclose(found[:, c], a.value, atol=1e-4)
        ordinary = Budget(min(1.0, budgets[c] / n))
        assert np.allclose(
            project(v, np.ones((n, p)), np.full(p, ordinary.rho * n))[:, c], ordinary.project(v[:, c], np.ones(n))
        )


@given(st.integers(0, 10_000))
@settings(max_examples=50, deadline=None)
def test_shrinkage_is_lemma_3_in_each_column(seed):
    rng = np.random.default_rng(seed)
    norms = rng.exponential(size=(int(rng.integers(1, 9)), 4)) * rng.integers(0, 2, size=4)
    lams, gamma = rng.exponential(size=4) + 1e-3, 0.7
    found = shrinkage(norms, gamma * lams)
    for c in range(4):
        assert np.allclose(found[:, c], SquaredBlockNorm(lams[c]).prox(norms[:, c], gamma), atol=1e-12)


# -- trials and runs ----------------------------------------------------------------------------------------------


def test_trial_is_that_of_section_4():
    trial = Trial(Key("paper", "sonar", 0.3, 1))
    X, y = scaled_table("sonar")
    assert X.min(axis=0).max() == 0.0
    assert X.max(axis=0).min() == 1.0
    parts = [trial.train, trial.valid, trial.test]
    assert [part.y.size for part in parts] == [149, 17, 42]
    joined = np.vstack([np.column_stack([part.X, part.clean]) for part in parts])
    assert np.array_equal(np.unique(joined, axis=0), np.unique(np.column_stack([X, y]), axis=0))
    wrong = np.concatenate([part.y != part.clean for part in parts])
    assert 0.15 < wrong.mean() < 0.45
    assert trial.problem.kernels.m == 610


def test_seeds_are_of_table_noise_and_trial_alone():
    one, same = Trial(Key("paper", "heart", 0.3, 1)), Trial(Key("certified", "heart", 0.3, 1))
    assert np.array_equal(one.train.X, same.train.X)
    assert np.array_equal(one.train.y, same.train.y)
    for other in (Key("paper", "heart", 0.2, 1), Key("paper", "heart", 0.3, 2)):
        assert not np.array_equal(one.train.X, Trial(other).train.X)
    clean = Trial(Key("paper", "heart", 0.0, 0))
    assert np.array_equal(clean.train.y, clean.train.clean)


def test_counts_are_those_of_gaussian_kernels_written_out(heart):
    """One certified candidate, predicted by exp(-|x - x'|^2 / (2 w^2)) and nothing of the package's bases."""
    content = certified(Key("certified", "heart", 0.2, 0), TINY)
    line = next(line for line in map(Line._make, content["lines"]) if line[:3] == ("StPMKL", 0.1, 0.7))
    X, new = heart.train.X, np.vstack([heart.valid.X, heart.test.X])
    columns = [list(range(13)), *([j] for j in range(13))]

    def grams(A, B):
        return np.stack(
            [
                np.exp(-cdist(A[:, c], B[:, c], "sqeuclidean") / (2 * w * w))
                for c in columns
                for w in 2.0 ** np.arange(-3, 7)
            ]
        )

    problem = Problem.from_grams(grams(X, X), heart.train.y, lam=0.1, rho=0.7, fit_intercept=False)
    result = solve(problem, tol=1e-6)
    assert line.gap <= TINY.tol * line.primal
    assert np.isclose(line.primal, result.primal, rtol=2e-4)
    values = np.einsum("jni,ji->n", grams(new, X), result.f.coef.reshape(140, -1))
    sure = np.abs(values) > 1e-2 * np.abs(values).max()
    right = np.where(values > 0, 1.0, -1.0) == np.concatenate([heart.valid.y, heart.test.clean])
    low, high = (right & sure)[22:].sum(), (right | ~sure)[22:].sum()
    assert low <= line.clean <= high
    assert content["sizes"] == {"train": 194, "valid": 22, "test": 54}


def test_twins_agree_and_every_candidate_is_proved():
    content = certified(Key("certified", "heart", 0.3, 0), TINY)
    run = Run.of(content)
    for line in run.lines:
        if line.method != "MiPMKL":
            assert -1e-12 <= line.gap <= TINY.tol * line.primal
            assert 0 <= line.valid <= run.sizes["valid"]
            assert 0 <= line.clean <= run.sizes["test"]
    binding = [twin for twin in run.twins if twin["theta"] > 0.0]
    assert binding
    assert all(twin["differ"] == 0 and twin["distance"] < 0.05 for twin in binding)
    best = [line for line in run.lines if line.method == "MiPMKL"]
    assert {(line.lam, line.rho) for line in best} == {(lam, rho) for lam in (1.0, 0.03) for rho in (1.0, 0.7)}
    ordinary = {line.lam: line.primal for line in run.lines if line.method == "SiPMKL"}
    assert all(line.primal <= ordinary[line.lam] + 1e-9 for line in best)  # the ramp loss is below the hinge


def test_stopping_rule_of_the_paper():
    run = Run.of(loose(Key("paper", "heart", 0.2, 0), replace(TINY, gap=0.2, max_iter=200)))
    for line in run.lines:
        if line.method != "MiPMKL":
            assert line.gap <= 0.2 or line.iterations == 200
    assert {line.iterations < 200 for line in run.lines} == {True, False} or all(c.gap <= 0.2 for c in run.lines)


# -- killed and resumed -------------------------------------------------------------------------------------------


def files(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    collect(store := Store(folder, TINY), TINY)
    write_report(Collection.load(store, TINY), folder, "robustmkl reproduce figure1")
    return folder


def test_killed_and_resumed_gives_the_same_bytes(undisturbed, tmp_path):
    command = [sys.executable, "-c", DRIVER, str(tmp_path), repr(TINY)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while process.poll() is None and not list((tmp_path / "runs").glob("certified*")):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = len(list((tmp_path / "runs").glob("[!.]*")))
    assert 0 < done < len(TINY.plan())
    (tmp_path / "runs" / ".certified-heart-0.3-1.json.1").write_bytes(b"{half a ru")  # a draft that was left
    ran = []
    collect(store := Store(tmp_path, TINY), TINY, report=ran.append)
    assert len(ran) == len(TINY.plan()) - done
    write_report(Collection.load(store, TINY), tmp_path, "robustmkl reproduce figure1")
    assert files(tmp_path) == files(undisturbed)


def test_other_settings_are_refused(undisturbed):
    with pytest.raises(ValueError, match=r"other settings \(max_iter, tol\)"):
        Store(undisturbed, replace(TINY, tol=1e-3, max_iter=30))
    Store(undisturbed, replace(TINY, certified_trials=3))  # more trials of the same


# -- the judgement ------------------------------------------------------------------------------------------------


def test_csv_has_every_run_and_its_accuracy(undisturbed):
    lines = list(csv.DictReader(io.StringIO((undisturbed / "runs.csv").read_text())))
    assert {(line["kind"], line["noise"], line["trial"]) for line in lines} == {
        *(("certified", q, t) for q in ("0.0", "0.3") for t in "01"), *(("paper", q, "0") for q in ("0.0", "0.3"))
    }  # fmt: skip
    assert {line["method"] for line in lines} == {"StPMKL", "SiPMKL", "MiPMKL"}
    for line in lines:
        assert np.isclose(float(line["accuracy"]), 100 * int(line["test_right_clean"]) / int(line["test_rows"]))
        assert float(line["gap"]) >= -1e-12


def test_report_is_self_contained_and_judges_every_claim(undisturbed):
    page, text = ((undisturbed / f"report.{form}").read_text() for form in ("html", "md"))
    assert all(source.startswith("data:image/png;base64,") for source in re.findall(r'src="([^"]*)"', page))
    assert len(re.findall(r"<img", page)) == 3
    assert "<script" not in page
    assert "<link" not in page
    for claim in (
        "more resilient",
        "worst case",
        "Without noise StPMKL",
        "AMP is",
        "Theorem 2",
        "Theorem 1",
        "Lemma 1",
        "Proposition 1",
        "(9)",
    ):
        assert re.search(rf"^### .*{re.escape(claim)}", text, re.M), claim
    assert (undisturbed / "figure1.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (undisturbed / "figure1.svg").read_text()


def made_up(valid_clean):
    """A run of candidates (lam, rho, right validation rows, right test rows)."""
    found = [
        Line("SiPMKL" if rho == 1.0 else "StPMKL", lam, rho, 0.5, 0.0, 0.0, 1, valid, clean, 0)
        for lam, rho, valid, clean in valid_clean
    ]
    return Run(Key("certified", "heart", 0.2, 0), {"train": 10, "valid": 10, "test": 10}, 2, found, [], 0.5)


def test_validation_chooses_and_ties_go_to_the_largest_lam_then_rho():
    run = made_up([(1.0, 1.0, 5, 1), (0.1, 1.0, 7, 2), (0.1, 0.8, 7, 3), (0.01, 0.8, 7, 4)])
    whole = Choice(("SiPMKL", "StPMKL"), (1.0, 0.1, 0.01), (1.0, 0.8))
    assert whole.chosen(run).clean == 2
    assert Choice(("StPMKL",), (0.1, 0.01), (0.8,)).chosen(run).clean == 3
    assert Choice(("SiPMKL",), (0.01,), (1.0,)).chosen(run) is None
    runs = Collection(TINY, "clean", {"certified": [run], "paper": []}, [], [], [])
    assert runs.scores("certified", whole) == {("heart", 0.2, 0): 20.0}
    assert runs.scores_over_ties("certified", whole) == {("heart", 0.2, 0): pytest.approx(30.0)}
    paper = rules_of.rules(replace(runs, settings=replace(TINY, lams=(1.0, 0.1, 0.01))))["ρ = 1 − q, λ tuned"]
    assert [line.rho for line in paper.candidates(run)] == [0.8, 0.8]


def test_tests_and_corrections_against_known_values():
    assert signed_rank(np.array([1.0, 2.0, 3.0, 4.0, 5.0])) == pytest.approx(2 / 2**5)
    assert signed_rank(np.zeros(30)) == 1.0
    found = [Comparison("", 30, 0, 0, 0.0, 0.0, 0.0, p) for p in (0.01, 0.04, 0.03)]
    assert [c.p for c in holm(found)] == pytest.approx([0.03, 0.06, 0.06])
    c = of_differences("", np.array([1.0, 3.0]))
    assert (c.mean, c.high) == pytest.approx((2.0, 2.0 + 12.7062047))  # Student, one degree of freedom


@pytest.mark.parametrize(
    ("differences", "better", "same"),
    [
        (np.full(30, 2.0) + np.linspace(-1, 1, 30), Verdict.HOLDS, Verdict.FAILS),
        (np.tile([0.5, -0.5], 15), Verdict.FAILS, Verdict.HOLDS),
        (np.tile([20.0, -18.0], 15), Verdict.OPEN, Verdict.OPEN),
        (np.zeros(5), Verdict.OPEN, Verdict.OPEN),
        (np.full(30, -2.0) + np.linspace(-1, 1, 30), Verdict.FAILS, Verdict.FAILS),
    ],
)
def test_verdicts(differences, better, same):
    found = of_differences("", differences)
    assert found.superiority() is better
    assert found.equality() is same


def test_slope_is_the_exponent():
    t = np.unique(np.geomspace(1, 1000, 50).round())
    assert slope(t, 7.0 / t**0.8) == pytest.approx(-0.8)


def test_lemma_1_holds_for_independent_errors_and_fails_for_one_coin():
    rng, losses = np.random.default_rng(0), np.ones(100)
    assert _lemma_1(losses, 0.2, DRAWS["independent"], rng, 4000) <= 0.05
    assert _lemma_1(losses, 0.2, DRAWS["one coin"], rng, 4000) == pytest.approx(0.8, abs=0.03)


def test_quick_runs_every_kind_in_small():
    quick = Settings().quick()
    assert {key.kind for key in quick.plan()} == {key.kind for key in Settings().plan()}
    assert len(quick.plan()) < 40
    assert quick.coarse_lams[0] == 1.0
    assert quick.rhos[0] == 1.0


# -- the command line ---------------------------------------------------------------------------------------------


def invoke(*words):
    runner = pytest.importorskip("typer.testing").CliRunner()
    from robustmkl.commands import app

    return runner.invoke(app, ["reproduce", *map(str, words)])


def test_table1(monkeypatch):
    found = invoke("table1")
    assert found.exit_code == 0
    assert found.output.count("yes") == 5
    monkeypatch.setitem(table1.PRINTED, "heart", (271, 13))
    wrong = invoke("table1")
    assert wrong.exit_code == 1
    assert "no: 271 x 13" in wrong.output


def test_figure1_runs_resumes_and_says_what_it_writes(tmp_path):
    words = ("figure1", "--datasets", "heart", "--noise", "0.3", "--certified-trials", 1, "--quick", "--out", tmp_path)
    first = invoke(*words)
    assert first.exit_code == 0, first.output
    assert "report.html" in first.output
    before = files(tmp_path)
    assert (
        "robustmkl reproduce figure1 --datasets heart --noise 0.3 --certified-trials 1 --quick"
        in before["report.md"].decode()
    )
    assert invoke(*words).exit_code == 0
    assert files(tmp_path) == before
    assert invoke(*words, "--report-only", "--test-labels", "noisy").exit_code == 0
    assert "noisy test labels" in (tmp_path / "report.md").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--datasets", "iris"), "not iris"),
        (("--noise", "0.1,x"), "--noise must be numbers"),
        (("--noise", "0.7"), r"\[0, 0.5\)"),
        (("--test-labels", "dirty"), "clean or noisy"),
        (("--lams", "0.1,-1"), "--lams must be positive"),
    ],
)
def test_wrong_options_are_named(words, message, tmp_path):
    found = invoke("figure1", "--out", tmp_path, *words)
    assert found.exit_code == 2
    assert re.search(message, found.output)


def test_parts_can_be_left_out(tmp_path):
    """No trials at all: the algorithm and the theory are judged, accuracy is not."""
    settings = replace(TINY, certified_trials=0, trials=0)
    collect(store := Store(tmp_path, settings), settings)
    write_report(Collection.load(store, settings), tmp_path, "robustmkl reproduce figure1")
    text = (tmp_path / "report.md").read_text()
    assert "## The theory" in text
    assert "more resilient" not in text
    assert store.folder == tmp_path


def test_without_typer_it_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; from robustmkl.cli import main; main()"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert "pip install 'robustmkl[cli]'" in found.stderr
    assert "Traceback" not in found.stderr
