"""The algorithms of MKLpy: kernel weights by another criterion than (11), then one SVC on the weighted sum.

EasyMKL, AverageMKL and GRAM do not solve problem (11). They get what is in their favour: the C that (11) has at fixed
weights, 1/(lam S), the best of a small grid of their own hyperparameter, and the best multiple and intercept of what
they return (:mod:`suite.credit`). GRAM has no stopping rule of its own but a number of steps (1000): it is
stopped, through a callback of its own interface, at the time limit. Where one of its quadratic programs fails, which
happens after some steps, the weights before that step are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np

from robustmkl import Problem

from .credit import along_gradients
from .measure import seconds

EASY_LAMS = (0.01, 0.1, 0.5, 0.9)
NAMES = ("EasyMKL", "AverageMKL", "GRAM")


def candidates(name: str, limit: float) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what was chosen, and the algorithm, for each hyperparameter tried."""
    from MKLpy import algorithms

    if name == "EasyMKL":
        for lam in EASY_LAMS:
            yield f"its lam {lam:g}", lambda: algorithms.EasyMKL(lam=lam, learner=_svc(1.0))
    elif name == "AverageMKL":
        yield "", lambda: algorithms.AverageMKL(learner=_svc(1.0))
    else:
        from MKLpy.scheduler import ReduceOnWorsening

        yield "", lambda: algorithms.GRAM(scheduler=ReduceOnWorsening(), callbacks=[_stop_after(limit)])


def solve(problem: Problem, grams: list[Any], make: Callable[[], Any]) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the time of weights and SVC, the dual point and the coefficients of f."""
    import torch

    y = torch.tensor(problem.y)
    combine_time, weights = seconds(lambda: _weights(make(), grams, y))
    eta = np.asarray(weights, dtype=np.float64)
    eta = eta / eta.sum()
    K = sum(w * K.numpy() for w, K in zip(eta, grams, strict=True))
    svc_time, svc = seconds(lambda: _svc(1.0 / (problem.lam * problem.total)).fit(K, problem.y, problem.s))
    alpha = np.zeros(problem.y.size)
    alpha[svc.support_] = np.abs(svc.dual_coef_[0]) * problem.lam * problem.total / problem.s[svc.support_]
    return combine_time + svc_time, alpha, along_gradients(problem, alpha, eta / problem.lam)


def _weights(model: Any, grams: list[Any], y: Any) -> Any:
    """Return the kernel weights; those of the last step that worked where a quadratic program inside GRAM fails."""
    try:
        return model.combine_kernels(grams, y).weights
    except ValueError:  # "domain error" of cvxopt, after some steps
        if model.solution is None:
            raise
        return model.solution.weights


def _svc(C: float) -> Any:
    from sklearn.svm import SVC

    return SVC(C=C, kernel="precomputed", tol=1e-6, cache_size=500)


def _stop_after(limit: float) -> Any:
    from MKLpy.callbacks import Callback

    class Stop(Callback):
        def on_train_begin(self) -> None:
            self.begin = perf_counter()

        def on_step_end(self, step: int) -> None:
            self.model.convergence = perf_counter() - self.begin > limit

    return Stop()
