"""A budget is a weaker penalty: StPMKL(lam, rho) has the classifier of ordinary MKL at ``lam (1 - theta)``.

The five tables with 20 % of the labels flipped and the kernels of the paper, and the small problems by an
independent conic solver.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from problems import PROBLEMS, H, problem, reference, solve_reference
from robustmkl import Budget, Problem, certificate, solve
from robustmkl.datasets import load_uci
from robustmkl.kernels import paper_dictionary
from robustmkl.noise import flip_labels

TABLES = ("ionosphere", "heart", "sonar", "breast-cancer", "australia")
SMALL = [name for name in PROBLEMS if problem(name).budget.kind == "alpha" and not problem(name).budget.is_slack]

every_table = pytest.mark.parametrize("name", TABLES)
with_and_without_intercept = pytest.mark.parametrize("fit_intercept", [True, False])


@cache
def training_rows(name):
    """Return the kernels of 80 % of the rows, and their labels with 20 % flipped."""
    X, labels = load_uci(name, return_X_y=True)
    rows = np.random.default_rng(0).permutation(labels.size)[: int(0.8 * labels.size)]
    y = np.where(labels[rows] == np.unique(labels)[1], 1.0, -1.0)
    return paper_dictionary().fit(X[rows]).bank(X[rows]), flip_labels(y, 0.2, random_state=0)[0]


@cache
def table_problem(name, lam, share, h, fit_intercept):
    bank, y = training_rows(name)
    return Problem(bank, y, np.ones(y.size), lam, Budget(share * h, h), fit_intercept)


@cache
def solution(*case):
    return solve(table_problem(*case), tol=1e-8)


def ordinary(p, theta):
    """Return problem (2), times h, whose classifier is claimed to be the same."""
    return replace(p.without_budget(), lam=p.lam * (1.0 - theta))


def distance(f, g):
    """Return the largest difference of two functions on the rows, relative to the largest value."""
    return np.abs(f - g).max() / np.abs(f).max()


ACTIVE = [(0.01, 0.5, 1.0), (0.03, 0.5, H)]  # lam, rho/h, h: the budget binds on all tables
every_active_budget = pytest.mark.parametrize("budget", ACTIVE)


# --- The budget is active -----------------------------------------------------------------------


@every_table
@with_and_without_intercept
@every_active_budget
def test_the_budget_is_active_and_used_up(name, budget, fit_intercept):
    result, p = (function(name, *budget, fit_intercept) for function in (solution, table_problem))
    assert result.converged
    assert 0.01 < result.theta < 1.0
    assert result.alpha.mean() == pytest.approx(p.budget.rho, abs=1e-6)


@every_table
@with_and_without_intercept
@every_active_budget
def test_classifier_is_that_of_ordinary_mkl_at_a_weaker_penalty(name, budget, fit_intercept):
    result, p = (function(name, *budget, fit_intercept) for function in (solution, table_problem))
    other = ordinary(p, result.theta)
    f, g = p.evaluate(result.f)[0], other.evaluate(solve(other, tol=1e-8).f)[0]
    assert distance(f, (1.0 - result.theta) * g) <= 1e-3


@every_table
@with_and_without_intercept
@every_active_budget
def test_certificate_carries_over(name, budget, fit_intercept):
    """The same alpha and ``f / (1 - theta)`` prove the optimum of ordinary MKL, with gap / (1 - theta)."""
    result, p = (function(name, *budget, fit_intercept) for function in (solution, table_problem))
    grown = replace(
        result.f, coef=result.f.coef / (1.0 - result.theta), intercept=result.intercept / (1.0 - result.theta)
    )
    found = certificate(ordinary(p, result.theta), result.alpha, grown)
    assert found.gap <= 2.0 * result.gap / (1.0 - result.theta) + 1e-10


@every_table
@with_and_without_intercept
def test_the_classifier_depends_on_rho_alone(name, fit_intercept):
    """``lam (1 - theta)`` is the same for every lam at which the budget binds."""
    weak, strong = (solution(name, lam, 0.5, 1.0, fit_intercept) for lam in (0.01, 0.1))
    assert 0.1 * (1.0 - strong.theta) == pytest.approx(0.01 * (1.0 - weak.theta), rel=1e-3)
    f, g = (table_problem(name, 0.01, 0.5, 1.0, fit_intercept).evaluate(r.f)[0] for r in (weak, strong))
    assert distance(f, 10.0 * g) <= 5e-3


@every_table
@with_and_without_intercept
@every_active_budget
def test_rho_bounds_margin_errors_and_support_vectors(name, budget, fit_intercept):
    """As in the nu-SVM: rho/h is at least the share of the former and at most that of the latter."""
    result, p = (function(name, *budget, fit_intercept) for function in (solution, table_problem))
    v = 1.0 - p.y * p.evaluate(result.f)[0]
    assert np.mean(v > result.theta + 1e-3) <= budget[1] <= np.mean(v >= result.theta - 1e-3)


@pytest.mark.parametrize("name", [name for name in SMALL if not name.startswith("contradictory")])  # f = 0 there
def test_small_problems_by_an_independent_solver(name):
    p, result, theta = problem(name), solve(problem(name), tol=1e-9), max(reference(name).theta, 0.0)
    expected = solve_reference(ordinary(p, theta))
    assert distance(p.evaluate(result.f)[0], (1.0 - theta) * expected.f) <= 2e-3


# --- The budget is inactive ---------------------------------------------------------------------


INACTIVE = (1e-3, 0.9, 1.0)


@every_table
@with_and_without_intercept
def test_an_inactive_budget_says_so(name, fit_intercept):
    result = solution(name, *INACTIVE, fit_intercept)
    assert result.theta == 0.0
    assert not result.budget_active
    assert result.message.endswith("The budget is inactive.")


@every_table
@with_and_without_intercept
def test_an_inactive_budget_leaves_ordinary_mkl(name, fit_intercept):
    """The same alpha and f prove the optimum of problem (2)."""
    result, p = (function(name, *INACTIVE, fit_intercept) for function in (solution, table_problem))
    assert certificate(p.without_budget(), result.alpha, result.f).gap <= 2.0 * result.gap


@pytest.mark.parametrize("name", ["heart", "sonar"])
@with_and_without_intercept
def test_an_inactive_budget_leaves_the_same_classifier(name, fit_intercept):
    result, p = (function(name, *INACTIVE, fit_intercept) for function in (solution, table_problem))
    other = p.without_budget()
    assert distance(p.evaluate(result.f)[0], other.evaluate(solve(other, tol=1e-8).f)[0]) <= 1e-3


# --- The default solver -------------------------------------------------------------------------


@every_table
@pytest.mark.parametrize(("lam", "rho"), [(1e-1, 0.7), (1e-2, 1.0), (1e-2, 0.7), (1e-3, 1.0), (1e-4, 1.0), (1e-4, 0.7)])
def test_auto_proves_the_optimum_to_1e_6(name, lam, rho):
    result = solve(table_problem(name, lam, rho, 1.0, True), "auto", tol=1e-6)
    assert result.converged
    assert 0.0 <= result.gap <= 1e-6 * result.primal


@every_table
@pytest.mark.parametrize("rho", [1.0, 0.7])
def test_auto_proves_the_optimum_to_1e_6_without_intercept(name, rho):
    result = solve(table_problem(name, 1e-4, rho, 1.0, False), "auto", tol=1e-6)
    assert result.converged
    assert result.gap <= 1e-6 * result.primal


@every_table
def test_kernels_are_represented_well_enough_for_the_certificate(name):
    assert solution(name, *INACTIVE, True).kernel_error <= 1e-8 / 10.0
