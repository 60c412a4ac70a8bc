"""The path over lam and the grid over (lam, rho): certified, equal to single solutions, and cheap where it says so."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from problems import PROBLEMS, from_dictionary, gaussians, plain, problem, solve_reference, table
from robustmkl import Budget, ChanceBudget, KernelFunction, Problem, Status, certificate, mkl_path, solve
from robustmkl.kernels import Gaussian, KernelDictionary, Linear, paper_dictionary
from robustmkl.solvers import Point, run
from robustmkl.solvers import path as module
from robustmkl.solvers.interior_point import InteriorPoint
from robustmkl.solvers.known import Known
from robustmkl.solvers.path import Walk, lam_grid, lam_max, mkl_grid
from robustmkl.solvers.trail import Trail

interior_point = module.interior_point
LAMS = np.geomspace(1.0, 1e-4, 9)
RHOS = [None, 0.9, 0.7, 0.5]
OPTIONS = [{}, {"fit_intercept": False}, {"rho": 0.6}, {"rho": 1.5, "h": 2.2}]
weighted = {"sample_weight": np.random.default_rng(5).random(30) + 0.1}

every_problem = pytest.mark.parametrize("name", [n for n in PROBLEMS if problem(n).budget.kind == "alpha"])
options = pytest.mark.parametrize("option", [*OPTIONS, weighted], ids=lambda o: ", ".join(o) or "plain")


def table_problem(n=80, d=4, **extra):
    """Return the kernels of the paper on a table, so that there are families of several kernels."""
    X, y = table(n, d)
    return from_dictionary(paper_dictionary(), X, y, **extra)


@pytest.fixture
def anew(monkeypatch):
    """Return the lams for which a path has to solve anything, as they come."""
    solved, solve_anew = [], Walk._solve_anew

    def counted(self, p, *rest):
        solved.append(p.lam)
        return solve_anew(self, p, *rest)

    monkeypatch.setattr(Walk, "_solve_anew", counted)
    return solved


# --- every result is certified, by its own problem ----------------------------------------------


@every_problem
def test_every_problem_is_certified_along_a_path(name):
    p = problem(name)
    lams = p.lam * np.array([10.0, 3.0, 1.0, 0.3])
    for lam, result in zip(lams, mkl_path(p, lams=lams), strict=True):
        assert result.converged
        assert certificate(replace(p, lam=lam), result.alpha, result.f).gap <= 1e-4 * result.primal


@options
def test_values_are_those_of_single_solutions(option):
    p = plain(**option)
    for lam, result in zip(LAMS, mkl_path(p, lams=LAMS, tol=1e-7), strict=True):
        alone = solve(replace(p, lam=lam), tol=1e-9)
        assert result.primal == pytest.approx(alone.primal, rel=1e-6)
        assert result.dual == pytest.approx(alone.dual, rel=1e-6)
        assert result.gap <= 1e-7 * result.primal


def test_values_are_those_of_single_solutions_with_families_of_kernels():
    p = table_problem()
    lams = lam_grid(p, 8)
    for lam, result in zip(lams, mkl_path(p, lams=lams, tol=1e-7), strict=True):
        assert result.primal == pytest.approx(solve(replace(p, lam=lam), tol=1e-9).primal, rel=1e-6)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda o: ", ".join(o) or "plain")
def test_values_are_those_of_cvxpy(option):
    p = plain(20, **option)
    lams = [0.5, 0.05, 0.005]
    for lam, result in zip(lams, mkl_path(p, lams=lams, tol=1e-7), strict=True):
        assert result.primal == pytest.approx(solve_reference(replace(p, lam=lam)).optimum, rel=1e-6)


def test_decision_functions_are_those_of_single_solutions():
    p = table_problem()
    lams = lam_grid(p, 6)
    for lam, result in zip(lams, mkl_path(p, lams=lams, tol=1e-10), strict=True):
        single = replace(p, lam=lam)
        f, g = (single.evaluate(r.f)[0] for r in (result, solve(single, tol=1e-10)))
        np.testing.assert_allclose(f, g, atol=1e-3)


@pytest.mark.parametrize("solver", ["amp", "vi", "simplemkl"])
def test_other_solvers(solver):
    p = plain(20)
    tol = {"amp": 0.02, "vi": 0.5, "simplemkl": 1e-3}[solver]
    results = mkl_path(p, lams=[1.0, 0.3], solver=solver, tol=tol, max_iter=2000)
    assert [r.converged for r in results] == [True, True]


def test_order_of_lams_is_kept():
    p = plain()
    for order in (LAMS, LAMS[::-1], np.random.default_rng(0).permutation(LAMS)):
        found = [r.primal for r in mkl_path(p, lams=order, tol=1e-7)]
        np.testing.assert_allclose(found, [solve(replace(p, lam=lam), tol=1e-8).primal for lam in order], rtol=1e-6)


def test_lam_of_the_problem_is_not_used():
    a, b = (mkl_path(plain(lam=lam), lams=[0.1, 0.05]) for lam in (1.0, 1e-3))
    assert [r.primal for r in a] == [r.primal for r in b]


def test_rho_overrides_the_budget_of_the_problem():
    over, own = mkl_path(plain(rho=0.9), lams=[0.1], rho=0.5), mkl_path(plain(rho=0.5), lams=[0.1])
    assert over[0].primal == own[0].primal


# --- lam_max ------------------------------------------------------------------------------------


def balanced(**option):
    X, y = table(30)
    y[np.argsort(y)] = np.repeat([-1.0, 1.0], 15)
    return Problem.from_grams(gaussians(X), y, **option)


@pytest.mark.parametrize(
    "build",
    [
        balanced,
        lambda: plain(fit_intercept=False),
        lambda: plain(fit_intercept=False, h=2.2),
        lambda: table_problem(40),
    ],
    ids=["equal classes", "no intercept", "high bound", "unequal classes"],
)
def test_above_lam_max_f_is_scaled_and_alpha_stays(build):
    p = build()
    top = lam_max(p)
    at, above = (replace(p, lam=c * top) for c in (1.0, 5.0))
    f, g = (solve(q, tol=1e-11) for q in (at, above))
    np.testing.assert_allclose(5.0 * g.norms, f.norms, atol=1e-4 * f.norms.sum())
    saturated = np.minimum(f.alpha, g.alpha)[p.y == (1.0 if p.y.sum() <= 0.0 else -1.0)]
    assert saturated.min() > (1.0 - 1e-4) * p.budget.h


@pytest.mark.parametrize("build", [balanced, lambda: plain(fit_intercept=False)], ids=["equal classes", "no intercept"])
def test_below_lam_max_alpha_changes(build):
    p = build()
    least = [solve(replace(p, lam=c * lam_max(p)), tol=1e-11).alpha.min() for c in (1.001, 0.98)]
    assert least[0] > 1.0 - 1e-4
    assert least[1] < 1.0 - 1e-2


def test_f_is_constant_for_no_lam():
    """The penalty is the square of a norm: ``lam sum ||f_j|| = G > 0``, whatever lam."""
    for lam in (1.0, 1e3, 1e6):
        p = balanced(lam=lam)
        result = solve(p, tol=1e-10)
        assert lam * result.norms.sum() == pytest.approx(np.sqrt(p.gradient_norms(np.ones(30)).max()), rel=1e-3)


@pytest.mark.parametrize("option", [{}, weighted, {"sample_weight": 10.0 ** np.linspace(-2, 2, 30)}], ids=str)
def test_lam_max_is_an_upper_bound_for_unequal_classes(option):
    p = plain(**option)
    top = lam_max(p)
    masses = [float(p.s @ solve(replace(p, lam=c * top), tol=1e-10).alpha) / p.total for c in (1.0, 100.0)]
    assert masses[0] == pytest.approx(masses[1], rel=1e-4)
    assert masses[0] == pytest.approx(2.0 * min(p.s[p.y > 0].sum(), p.s[p.y < 0].sum()) / p.total, rel=1e-4)


def test_lam_max_where_nothing_can_be_learnt():
    X, y = table(10)
    p = Problem.from_grams(gaussians(np.tile(X, (2, 1))), np.concatenate([y, -y]))
    assert lam_max(p) > 0.0
    assert all(np.allclose(p.evaluate(r.f)[0], 0.0, atol=1e-3) for r in mkl_path(p, lams=4))


def test_grid_of_lams():
    p = plain()
    lams = lam_grid(p, 4)
    np.testing.assert_allclose(lams, lam_max(p) * np.array([1.0, 0.1, 0.01, 0.001]))
    np.testing.assert_allclose(lam_grid(p, 3, span=1e-4), lam_max(p) * np.array([1.0, 0.01, 0.0001]))
    assert lam_grid(p, 1).tolist() == [lam_max(p)]
    paths = mkl_path(p, lams=4), mkl_path(p, lams=np.int64(4)), mkl_path(p, lams=lams)
    assert len({tuple(r.primal for r in results) for results in paths}) == 1


# --- nothing is solved twice --------------------------------------------------------------------


def test_nothing_is_solved_at_lam_max_and_above(anew):
    p = balanced()
    assert all(r.n_iter == 1 for r in mkl_path(p, lams=[100.0, 10.0, lam_max(p)], tol=1e-9))
    assert anew == []


def test_one_solution_serves_all_larger_lam_of_a_budget(anew):
    lams = [0.1, 1.0, 10.0]
    first, *others = mkl_path(plain(rho=0.5), lams=lams, tol=1e-6)
    assert anew == [0.1]
    assert first.budget_active
    for lam, result in zip(lams[1:], others, strict=True):
        assert lam * (1.0 - result.theta) == pytest.approx(0.1 * (1.0 - first.theta), rel=1e-4)
        np.testing.assert_allclose(result.alpha, first.alpha, rtol=1e-9)
        np.testing.assert_allclose(result.f.coef, 0.1 / lam * first.f.coef)
        assert result.intercept == pytest.approx(0.1 / lam * first.intercept)


def test_hard_margin_is_solved_once(anew):
    p = plain(10, fit_intercept=False)
    lams = [1e-4, 1e-5, 1e-6, 1e-7]
    results = mkl_path(p, lams=lams, tol=1e-6)
    assert results[0].alpha.max() < 0.99
    assert anew == [1e-4]
    for lam, result in zip(lams, results, strict=True):
        assert result.converged
        np.testing.assert_allclose(result.alpha, lam / 1e-4 * results[0].alpha, rtol=1e-2)


def test_same_lam_twice_is_solved_once(anew):
    results = mkl_path(plain(), lams=[0.01, 0.01])
    assert anew == [0.01]
    assert results[0].gap == pytest.approx(results[1].gap, rel=1e-3)


def test_kernels_that_are_missing_are_found():
    """A first guess of no use: the others enter as they are missed."""
    p = replace(table_problem(60, 6), lam=0.003)
    known = Known.of(p, Point(np.where(p.y > 0, 0.5, 0.5), p.zero))
    q = np.full(p.kernels.m, 1e-6)
    q[-1] = 1.0
    walk = Walk(p, module.Rule(1e-6), known=[replace(known, q=q)])
    result = walk.solve(0.003, Budget())
    assert result.converged
    assert result.primal == pytest.approx(solve(p, tol=1e-8).primal, rel=1e-5)


STARTS = [{}, {"fit_intercept": False}, {"budget": Budget(0.4)}, {"budget": ChanceBudget(0.3, 0.5)}]


def first_iterate(p, past):
    """Return a solver of the paper's kernels that has been put at an iterate for another lam."""
    inside = past.begin(p.lam, None)
    return InteriorPoint(p, kernels=inside.kernels, past=inside)


@pytest.mark.parametrize("option", STARTS, ids=str)
def test_start_from_a_larger_lam_is_strictly_feasible(option):
    p = replace(table_problem(), lam=0.02, **option)
    trail = Trail()
    assert run(p, interior_point(p, trail=trail), module.Rule(1e-4)).converged
    for lam in (0.02, 0.01, 0.001):
        q = replace(p, lam=lam)
        solver = first_iterate(q, trail)
        alpha = solver.point().alpha
        assert q.budget.contains(alpha, q.s)
        assert (q.gradient_norms(alpha)[solver.active.kernels] < solver.state.t**2).all()
        assert solver.state.zeta.determinants().min() > 0.0
        assert solver.state.zeta.head.sum() == pytest.approx(solver.state.t / lam, rel=0.05)
        assert alpha.sum() == pytest.approx(np.sqrt(lam / 0.02) * first_iterate(p, trail).point().alpha.sum())


def test_start_from_a_larger_lam_saves_iterations():
    p = table_problem()
    lams, trail = lam_grid(p, 10)[1:], Trail()
    taken = np.zeros((lams.size, 2), dtype=int)
    for k, lam in enumerate(lams):
        q = replace(p, lam=lam)
        for i, hints in enumerate(({}, {"trail": trail})):
            result = run(q, interior_point(q, **hints), module.Rule(1e-4))
            assert result.converged
            taken[k, i] = result.n_iter
    assert taken[:, 1].sum() < 0.85 * taken[:, 0].sum()


def test_solver_starts_anew_for_larger_lam_and_for_other_kernels():
    p = replace(table_problem(), lam=0.02)
    trail = Trail()
    run(p, interior_point(p, trail=trail), module.Rule(1e-4))
    known = trail.inside.kernels
    assert trail.begin(0.03, None) is None
    assert trail.begin(0.01, np.setdiff1d(np.arange(p.kernels.m), known)) is None
    assert trail.begin(0.01, known[:1]).kernels.tolist() == known[:1].tolist()


@pytest.mark.parametrize("negligible", [0.0, 1e-9])
def test_thinned_kernels_are_the_same_functions(negligible):
    p = table_problem(50, 3)
    kernels = np.array([0, 5, 12, 13, 33])
    part = p.kernels.select(kernels, negligible)
    assert part.bank.names == tuple(p.kernels.names[j] for j in kernels)
    assert (part.bank.rank < p.kernels.select(kernels).bank.rank) == (negligible > 0.0)
    small = replace(p, kernels=part.bank)
    result = solve(small)
    values, norms = p.evaluate(KernelFunction(part.embed(result.f.coef), result.intercept))
    np.testing.assert_allclose(values, small.evaluate(result.f)[0], atol=1e-6)
    np.testing.assert_allclose(norms[kernels], result.norms, atol=1e-6)
    assert np.delete(norms, kernels).max() == 0.0
    np.testing.assert_allclose(p.gradient_norms(result.alpha)[kernels], small.gradient_norms(result.alpha), atol=1e-8)


# --- the grid over (lam, rho) -------------------------------------------------------------------


@pytest.mark.parametrize("option", [{}, {"fit_intercept": False}, weighted], ids=lambda o: ", ".join(o) or "plain")
def test_grid_equals_separate_solutions(option):
    p = plain(**option)
    for rho, row in zip(RHOS, mkl_grid(p, LAMS, RHOS, tol=1e-7), strict=True):
        for lam, result in zip(LAMS, row, strict=True):
            q = replace(p, lam=lam, budget=Budget(rho or 1.0))
            alone = solve(q, tol=1e-9)
            assert result.primal == pytest.approx(alone.primal, rel=1e-6)
            assert result.gap <= 1e-7 * result.primal
            assert q.budget.contains(result.alpha, q.s)
            assert result.theta == pytest.approx(alone.theta, abs=0.02)


def test_grid_takes_one_solution_a_lam_and_one_a_binding_budget(anew):
    p = plain(fit_intercept=False)
    lams = np.geomspace(10.0, 1e-3, 12)
    rows = mkl_grid(p, lams, RHOS, tol=1e-5)
    assert len(anew) <= len(lams) + len(RHOS) - 1
    assert len(set(anew)) <= len(lams)
    for rho, row in zip(RHOS[1:], rows[1:], strict=True):
        critical = [lam * (1.0 - r.theta) for lam, r in zip(lams, row, strict=True) if r.theta > 0.0]
        np.testing.assert_allclose(critical, critical[0], rtol=0.02)
        for lam, free, r in zip(lams, rows[0], row, strict=True):
            if r.theta == 0.0:
                assert lam <= critical[0] * 1.02
                assert r.primal == pytest.approx(free.primal, rel=1e-4), (rho, lam)


def test_grid_without_rho_none_is_as_good():
    p = plain()
    with_none, without = mkl_grid(p, LAMS, [None, 0.7], tol=1e-6)[1], mkl_grid(p, LAMS, [0.7], tol=1e-6)[0]
    np.testing.assert_allclose([r.primal for r in with_none], [r.primal for r in without], rtol=3e-6)


def test_order_of_rhos_is_kept():
    p = plain()
    a, b = mkl_grid(p, [0.1], [0.5, 0.9]), mkl_grid(p, [0.1], [0.9, 0.5])
    np.testing.assert_allclose([row[0].primal for row in a], [row[0].primal for row in b[::-1]], rtol=2e-4)


def test_rho_is_in_units_of_h():
    p = plain(h=2.0)
    result = mkl_grid(p, [0.1], [1.4], tol=1e-7)[0][0]
    assert result.primal == pytest.approx(2.0 * solve(plain(lam=0.05, rho=0.7), tol=1e-8).primal, rel=1e-6)


# --- rows ---------------------------------------------------------------------------------------

X, Y = table(40, 3)
SMALL = KernelDictionary(Gaussian((0.25, 1.0)), Linear(joint=True))


def values(results):
    return [r.primal for r in results]


def test_rows_and_labels():
    p = from_dictionary(paper_dictionary(), X, Y)
    assert values(mkl_path(X, Y, 3)) == values(mkl_path(p, lams=3))


def test_words_as_labels():
    assert values(mkl_path(X, np.where(Y > 0, "b", "a"), 3)) == values(mkl_path(X, Y, 3))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_frames_have_named_columns(frame):
    data = frame({"age": X[:, 0], "bmi": X[:, 1], "x": X[:, 2]})
    by_name = mkl_path(data, Y, 3, kernels=KernelDictionary((Gaussian((0.5,)), ["bmi"])))
    assert values(by_name) == values(mkl_path(X, Y, 3, kernels=KernelDictionary((Gaussian((0.5,)), [1]))))


def test_precomputed_kernels():
    grams = gaussians(X)
    p = Problem.from_grams(grams, Y, rho=0.7, fit_intercept=False)
    found = mkl_path(grams, Y, [0.1, 0.01], rho=0.7, kernels="precomputed", fit_intercept=False)
    assert values(found) == pytest.approx(values(mkl_path(p, lams=[0.1, 0.01])), rel=1e-9)


def test_weight_zero_is_absence():
    weight = np.where(np.arange(40) % 4, 1.0, 0.0)
    kept = weight > 0.0
    given = mkl_path(X, Y, [0.1, 0.01], sample_weight=weight, kernels=SMALL)
    assert values(given) == values(mkl_path(X[kept], Y[kept], [0.1, 0.01], kernels=SMALL))
    assert given[0].alpha.size == kept.sum()


def test_bound_of_rows():
    high, low = (mkl_path(X, Y, [h * 0.1], rho=h * 0.7, h=h, tol=1e-7) for h in (2.0, 1.0))
    assert high[0].primal == pytest.approx(2.0 * low[0].primal, rel=1e-6)


def test_kernels_are_exact_enough_for_the_smallest_lam():
    result = mkl_path(X, Y, [1e-10], kernels=KernelDictionary(Gaussian()))[0]
    assert result.kernel_error <= 1e-5


def test_problem_and_its_labels():
    p = plain()
    for y in (p.y, np.where(p.y > 0, "yes", "no")):
        assert values(mkl_path(p, y, [0.1])) == values(mkl_path(p, lams=[0.1]))


# --- errors and interrupts ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: mkl_path(p, lams=0), ValueError, "lams must be a whole number >= 1, got 0"),
        (lambda p: mkl_path(p, lams=True), TypeError, "lams must be a whole number"),
        (lambda p: mkl_path(p, lams=[]), ValueError, "lams must be a number of values or a sequence of positive"),
        (lambda p: mkl_path(p, lams=0.1), ValueError, "lams must be a number of values or a sequence of positive"),
        (lambda p: mkl_path(p, lams=[0.1, -1.0]), ValueError, "positive numbers"),
        (lambda p: mkl_path(p, lams=[np.nan]), ValueError, "positive numbers"),
        (lambda p: mkl_path(p, lams=[0.1], rho=1.5), ValueError, "rho must .*got 1.5"),
        (lambda p: mkl_path(p, lams=[0.1], tol=-1.0), ValueError, "tol must"),
        (lambda p: mkl_path(p, lams=[0.1], max_iter=0), ValueError, "max_iter must"),
        (lambda p: mkl_path(p, lams=[0.1], solver="newton"), ValueError, "solver must be"),
        (lambda p: mkl_path(p, lams=[0.1], rho=0.5, solver="simplemkl"), ValueError, "knows no budget"),
        (lambda p: mkl_path(p, -p.y, lams=[0.1]), ValueError, "not the labels of the Problem"),
        (lambda p: mkl_path(X, np.arange(40) % 3), ValueError, "y holds 3 classes"),
        (lambda p: mkl_path(X, np.ones(40)), ValueError, "y holds 1 classes"),
        (lambda p: mkl_path(X, Y[:-1]), ValueError, "one label and one weight a row"),
        (lambda p: mkl_path(X[0], Y), ValueError, "give rows"),
        (lambda p: mkl_path(np.where(X > 0.9, np.nan, X), Y), ValueError, "must be finite"),
        (lambda p: mkl_path(X, Y, sample_weight=-np.ones(40)), ValueError, "weights >= 0"),
        (lambda p: mkl_path(X, Y, kernels="rbf"), ValueError, "kernels must be 'paper'"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call(plain())


def test_stopping_early_is_said():
    results = mkl_path(plain(), lams=[0.01, 0.003], max_iter=2)
    assert [r.status for r in results] == [Status.MAX_ITER] * 2
    assert all(r.gap >= 0.0 for r in results)


def interrupted(after):
    """Return an interior point that is interrupted in a run after so many."""
    runs = iter(range(100))

    def iterates(p, **hints):
        stop = next(runs) >= after
        for k, iterate in enumerate(interior_point(p, **hints)):
            if stop and k == 3:
                raise KeyboardInterrupt
            yield iterate

    return iterates


def test_interrupt_ends_the_path_with_what_there_is(monkeypatch, anew):
    p, lams = plain(), [0.03, 0.01, 0.003, 0.001]
    monkeypatch.setattr(module, "interior_point", interrupted(after=1))
    results = mkl_path(p, lams=lams)
    assert anew == lams[: len(results)]
    assert [r.status for r in results] == [Status.CONVERGED] * (len(results) - 1) + [Status.INTERRUPTED]
    for lam, result in zip(lams, results, strict=False):
        certified = certificate(replace(p, lam=lam), result.alpha, result.f)
        assert certified.gap == pytest.approx(result.gap, rel=1e-6)


def test_interrupt_ends_the_grid(monkeypatch):
    monkeypatch.setattr(module, "interior_point", interrupted(after=1))
    with pytest.raises(KeyboardInterrupt):
        mkl_grid(plain(), [0.1, 0.01], [0.5, None, 0.3])
