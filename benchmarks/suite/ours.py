"""The solver under test, from raw rows: :class:`robustmkl.StPMKLClassifier`, and what its certificate says."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from robustmkl import Problem, StPMKLClassifier, certificate
from robustmkl.kernels import Gaussian, KernelDictionary
from robustmkl.solvers import Point

KERNELS = {"paper": "paper", "columns": KernelDictionary(Gaussian())}


def fit(
    X: np.ndarray, y: np.ndarray, lam: float, rho: float = 1.0, tol: float = 1e-6, kernels: str = "paper"
) -> StPMKLClassifier:
    """Train on raw rows to a relative gap of ``tol``; what is not reached is in the record, not in a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return StPMKLClassifier(lam=lam, rho=rho, tol=tol, kernels=KERNELS[kernels]).fit(X, y)


def warm_up() -> None:
    """Load what is loaded at the first fit, so that it counts neither as time nor as memory."""
    X = np.random.default_rng(0).random((20, 2))
    for kernels in KERNELS:
        fit(X, np.where(X[:, 0] > 0.5, 1.0, -1.0), 0.1, kernels=kernels)


def posed(model: StPMKLClassifier, X: np.ndarray, y: np.ndarray) -> tuple[Problem, Point]:
    """Return the problem that a model was trained on, and its solution."""
    return model.problem(X, y)[0]


def record(model: StPMKLClassifier, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return the certificate, recomputed from kernels, labels, alpha and f; the solver's own figures are not asked."""
    problem, point = posed(model, X, y)
    primal, dual, gap = certificate(problem, *point)
    return {
        "primal": primal,
        "dual": dual,
        "gap": gap / primal,
        "kernel_error": problem.kernel_error(primal),
        "iterations": model.n_iter_,
    }
