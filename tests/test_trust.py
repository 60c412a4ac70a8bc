"""What can be recomputed of a fitted model, what is refused, and what is given back to the process."""

import os
import subprocess
import sys

import numpy as np
import pytest

from robustmkl import KernelFunction, Problem, StPMKLClassifier, certificate
from robustmkl.datasets import load_uci
from robustmkl.kernels import Gaussian, KernelDictionary

X, Y = load_uci("heart", return_X_y=True)
X, Y = X[:90], Y[:90]


@pytest.mark.parametrize("weights", [None, np.arange(90) % 3], ids=["unit", "some zero"])
@pytest.mark.parametrize("classes", [2, 3])
def test_problem_and_solution_recompute_the_certificate(weights, classes):
    y = Y if classes == 2 else np.arange(90) % 4 % 3
    model = StPMKLClassifier(rho=0.7).fit(X, y, weights)
    results = model.result_ if isinstance(model.result_, list) else [model.result_]
    pairs = model.problem(X, y, weights)
    assert len(pairs) == len(results)
    for (problem, solution), result in zip(pairs, results, strict=True):
        again = certificate(problem, *solution)
        assert again == pytest.approx((result.primal, result.dual, result.gap), abs=1e-12)


def test_certificate_is_that_of_the_fit_whatever_is_set_later():
    model = StPMKLClassifier(lam=0.02, rho=0.7).fit(X, Y)
    before = model.certificate(X, Y)
    model.set_params(lam=5.0, rho=None, kernels="precomputed", fit_intercept=False)
    assert model.certificate(X, Y) == before
    assert model.predict(X).shape == (90,)


def test_rows_of_weight_zero_are_absent_from_a_problem():
    K = np.stack([X @ X.T, np.eye(90)]) / 1e4
    y, s = np.where(Y == "present", 1.0, -1.0), np.arange(90.0) % 2
    problem = Problem.from_grams(K, y, sample_weight=s)
    odd = Problem.from_grams(K[:, 1::2, 1::2], y[1::2])
    assert problem.kernels.n == 45
    assert problem.dual(np.ones(45)) == pytest.approx(odd.dual(np.ones(45)))


@pytest.mark.parametrize(
    ("alpha", "coef", "message"),
    [
        (np.ones(5), np.zeros(180), r"alpha has shape \(5,\), and this problem asks for \(90,\)"),
        (np.ones(90), np.zeros(5), r"f.coef has shape \(5,\), and this problem asks for \(180,\)"),
        (np.full(90, np.nan), np.zeros(180), "alpha holds NaN or infinity at 0"),
        (np.ones(90), np.r_[np.zeros(179), np.inf], "f.coef holds NaN or infinity at 179"),
    ],
)
def test_certificate_refuses_what_does_not_belong(alpha, coef, message):
    problem = Problem.from_grams(np.stack([np.eye(90), np.ones((90, 90))]), np.where(Y == "present", 1.0, -1.0))
    with pytest.raises(ValueError, match=message):
        certificate(problem, alpha, KernelFunction(coef))


def columns_of(model):
    return model.result_.f.coef.size


def test_exact_matrices_are_for_solvers_that_can_use_them():
    rough = StPMKLClassifier(kernels=KernelDictionary(Gaussian()), lam=1e-7, tol=1e-9)
    ordinary = StPMKLClassifier(kernels=KernelDictionary(Gaussian())).fit(X, Y)
    with pytest.warns(Warning, match="Stopped at the iteration limit"):
        amp = StPMKLClassifier(kernels=KernelDictionary(Gaussian()), solver="amp", tol=0.0, max_iter=3).fit(X, Y)
    assert columns_of(amp) == columns_of(ordinary)
    with np.errstate(all="ignore"):
        assert columns_of(rough.set_params(tol=1e-7).fit(X, Y)) > columns_of(ordinary)


def test_too_little_memory_for_exact_matrices_keeps_the_shared_basis(monkeypatch):
    model = StPMKLClassifier(kernels=KernelDictionary(Gaussian()), lam=1e-7, tol=1e-7)
    ordinary = StPMKLClassifier(kernels=KernelDictionary(Gaussian())).fit(X, Y)
    need = ordinary.memory_estimate_
    monkeypatch.setattr("robustmkl.estimators.base.available_bytes", lambda: need)
    model.fit(X, Y)
    assert model.memory_estimate_ == need
    assert columns_of(model) == columns_of(ordinary)


CONCURRENT = """
import threading
import numpy, scipy.linalg
from threadpoolctl import threadpool_info
from robustmkl.threads import blas_threads

def now():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

def work():
    for _ in range(200):
        with blas_threads(10), blas_threads(20):
            pass

before = now()
for _ in range(5):
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
assert now() == before, (before, now())
try:
    with blas_threads(10):
        assert set(now()) == {1}
        with blas_threads(10):
            pass
        assert set(now()) == {1}
        raise KeyboardInterrupt
except KeyboardInterrupt:
    assert now() == before
with blas_threads(10**6):
    assert now() == before
print(before)
"""


def test_blas_threads_are_restored():
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", CONCURRENT], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
