"""The interior point sees its rows through passes: cut into blocks, or beyond Woodbury, the answer is the same."""

import pickle
import sys
from functools import partial, reduce
from operator import add

import numpy as np
import pytest

from robustmkl import Budget, Problem, solve
from robustmkl.kernels import Gaussian, KernelDictionary, paper_dictionary
from robustmkl.rows import Block, Engine, MemoryRows, Summary
from robustmkl.solvers import Rule, interior_point, run
from robustmkl.solvers.interior_point import InteriorPoint
from robustmkl.uncertainty import ChanceBudget, ProbabilityBudget


def table(n, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    f = np.sin(6 * X[:, 0]) + 2 * (X[:, 1] - 0.5) + np.cos(9 * X[:, 2]) + 0.4 * rng.normal(size=n)
    y = np.where(f > np.median(f), 1.0, -1.0)
    return X, np.where(rng.random(n) < 0.2, -y, y)


def problem(n, d=8, joint=False, weights=False, **options):
    X, y = table(n, d)
    dictionary = paper_dictionary() if joint else KernelDictionary(Gaussian())
    s = np.random.default_rng(1).uniform(0.1, 3.0, n) if weights else np.ones(n)
    return Problem(dictionary.fit(X).bank(X), y, s, **options)


TAU = 0.6

CASES = {
    "few rows": {"n": 150, "lam": 0.01},
    "joint kernels": {"n": 150, "joint": True, "lam": 0.01},
    "beyond the rank": {"n": 1100, "d": 4, "lam": 0.003},
    "budget": {"n": 1100, "d": 4, "lam": 0.03, "budget": Budget(0.6)},
    "h": {"n": 1100, "d": 4, "lam": 0.03, "budget": Budget(1.2, 1.8)},
    "no intercept": {"n": 1100, "d": 4, "lam": 0.003, "fit_intercept": False},
    "(10)": {"n": 1100, "d": 4, "lam": 0.003, "budget": ProbabilityBudget(0.7, TAU)},
    "(8)": {"n": 1100, "d": 4, "lam": 0.003, "budget": ChanceBudget(0.7, TAU)},
    "weights": {"n": 1100, "d": 4, "weights": True, "lam": 0.003},
}


class SentRows(Engine):
    """Blocks that live elsewhere: nothing but bytes goes there and comes back, and bases are evaluated there."""

    def __init__(self, y, omega, rows):
        self.cuts = [slice(i, i + rows) for i in range(0, y.size, rows)]
        self.there = [pickle.dumps(Block(k, y[cut], omega[cut])) for k, cut in enumerate(self.cuts)]

    def attach(self, bank):
        self.bank = bank
        self.unit = [[slice(s.z.start + cut.start, s.z.start + cut.stop) for s in bank.identities] for cut in self.cuts]

    def run(self, work, *message):
        found = []
        for k, cut in enumerate(self.cuts):
            block = pickle.loads(self.there[k])
            block.attach(self.bank.basis.rows(cut), self.unit[k], self.bank.rank)
            found.append(pickle.loads(pickle.dumps(work(block, *pickle.loads(pickle.dumps(message))))))
            block.attach(None, [], 0)
            self.there[k] = pickle.dumps(block)
        return reduce(add, found)


@pytest.mark.parametrize("case", CASES)
def test_rows_can_live_elsewhere(case):
    """State is in the blocks alone, and messages and summaries are all that passes exchange."""
    p = problem(**CASES[case])
    here = run(p, interior_point(p), Rule(tol=1e-9, max_iter=100))
    there = run(p, interior_point(p, partial(SentRows, rows=50)), Rule(tol=1e-9, max_iter=100))
    assert there.converged
    assert there.primal == pytest.approx(here.primal, rel=1e-10)
    assert there.dual == pytest.approx(here.dual, rel=1e-9)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("block", [1, 7, 400])
def test_blocks_of_rows_give_the_same_answer(case, block):
    if block == 1 and CASES[case]["n"] > 200:
        block = 101
    p = problem(**CASES[case])
    whole = run(p, interior_point(p), Rule(tol=1e-9, max_iter=100))
    blocks = run(p, interior_point(p, partial(MemoryRows, rows=block)), Rule(tol=1e-9, max_iter=100))
    assert whole.converged
    assert blocks.converged
    assert blocks.primal == pytest.approx(whole.primal, rel=1e-10)
    assert blocks.dual == pytest.approx(whole.dual, rel=1e-9)
    np.testing.assert_allclose(p.evaluate(blocks.f)[0], p.evaluate(whole.f)[0], atol=1e-4)


@pytest.mark.parametrize("case", [name for name, options in CASES.items() if options["n"] > 1000])
def test_woodbury_equals_the_dense_factor(case, monkeypatch):
    p = problem(**CASES[case])
    woodbury = run(p, interior_point(p), Rule(tol=1e-8, max_iter=100))
    monkeypatch.setattr(sys.modules["robustmkl.solvers.interior_point"], "FEW", 10_000)
    dense = run(p, interior_point(p), Rule(tol=1e-8, max_iter=100))
    assert woodbury.converged
    assert dense.converged
    assert woodbury.primal == pytest.approx(dense.primal, rel=2e-8)


def test_few_kernels_are_active_and_all_are_certified():
    p = problem(400, d=30, lam=0.02)
    solver = InteriorPoint(p)
    for _ in range(12):
        mu = solver.observe()
        solver.exchange(mu)
        solver.step(mu)
    assert solver.active.kernels.size < 100  # of 300
    result = solve(p, tol=1e-7)
    assert result.converged
    q = p.gradient_norms(result.alpha)
    t = np.sqrt(q.max())
    assert result.dual == pytest.approx(result.alpha.mean() - t**2 / (2 * p.lam), abs=1e-12)
    assert np.flatnonzero(result.norms > 1e-3 * result.norms.sum()).size >= 3


def test_a_kernel_that_looks_idle_at_first_enters():
    """Its gradient is small at alpha = const, and large once the strong column is explained."""
    rng = np.random.default_rng(3)
    X = rng.random((300, 6))
    y = np.where((X[:, 0] > 0.5) ^ ((X[:, 1] > 0.45) & (X[:, 1] < 0.55)), 1.0, -1.0)
    p = Problem(KernelDictionary(Gaussian()).fit(X).bank(X), y, np.ones(300), 0.001)
    begin = InteriorPoint(p).active.kernels
    result = solve(p, tol=1e-8)
    assert not np.intersect1d(begin, np.arange(10, 20)).size
    assert result.converged
    assert result.norms.reshape(6, 10)[1].sum() > 0.02 * result.norms.sum()


def test_summaries_add_up():
    first = Summary({"z": np.ones(2)}, {"step": 0.5}, {"free": [np.zeros(1)]})
    second = Summary({"z": np.ones(2)}, {"step": 0.25}, {"free": [np.ones(2)]})
    both = first + second
    np.testing.assert_array_equal(both.sums["z"], [2.0, 2.0])
    assert both.least["step"] == 0.25
    np.testing.assert_array_equal(np.concatenate(both.lists["free"]), [0.0, 1.0, 1.0])


def test_passes_over_blocks_are_matrix_products():
    p = problem(50, d=3, joint=True)
    rows = MemoryRows(p.y, p.s / p.total, 17)
    rows.attach(p.kernels)
    q, v = np.random.default_rng(0).normal(size=50), np.random.default_rng(1).normal(size=p.kernels.rank)
    found = rows.run(lambda block: Summary({"z": block.adjoint(q[block.number * 17 :][: block.y.size])}))
    np.testing.assert_allclose(found.sums["z"], p.kernels.adjoint(q), atol=1e-12)
    forward = rows.run(lambda block: Summary(lists={"f": [block.forward(v)]}))
    np.testing.assert_allclose(np.concatenate(forward.lists["f"]), p.kernels.forward(v), atol=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
def test_rows_that_tie_lose_no_digits(intercept):
    """One column of two values carries the classifier: many rows are alike, and none stands out as free."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 1500), rng.random(1500)])
    y = np.where(rng.random(1500) < 0.2 + 0.6 * X[:, 0], 1.0, -1.0)
    p = Problem(KernelDictionary(Gaussian()).fit(X).bank(X), y, np.ones(1500), 0.1, fit_intercept=intercept)
    assert solve(p, tol=1e-7).converged
