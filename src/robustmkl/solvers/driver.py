"""The loop around every solver: certify, decide, record.

A solver is a generator that yields its iterates and nothing else. Whether one is good enough is decided here,
by the certificate of :mod:`robustmkl.problem`, so that no solver can call itself converged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import NamedTuple

import numpy as np

from ..arrays import Floats
from ..parameters import number, whole
from ..problem import Certificate, KernelFunction, Problem
from ..progress import logger
from .result import Record, SolveResult, Status


class Point(NamedTuple):
    """A candidate: any alpha and any f."""

    alpha: Floats
    f: KernelFunction


# An iterate is made only when it is asked for: averages cost as much as an iteration.
Iterate = Callable[[], Point]
Iterates = Iterator[Iterate]


@dataclass(frozen=True)
class Rule:
    """When to stop: ``gap <= atol + tol * primal``, looked at every ``every`` iterations, or after ``max_iter``."""

    tol: float = 1e-4
    atol: float = 0.0
    max_iter: int = 1000
    every: int = 1

    def __post_init__(self) -> None:
        for name in ("tol", "atol"):
            number(name, getattr(self, name), "be a finite number >= 0", lambda value: value >= 0.0)
        for name in ("max_iter", "every"):
            whole(name, getattr(self, name), 1)

    def met(self, certificate: Certificate) -> bool:
        """Return whether the certificate is within the tolerance."""
        return certificate.gap <= self.atol + self.tol * certificate.primal


class Averages:
    """The uniform averages of a first-order method's iterates: what Algorithm 1 outputs (line 8)."""

    def __init__(self, problem: Problem) -> None:
        self.T, self.alpha, self.coef, self.b = 0, np.zeros(problem.kernels.n), np.zeros(problem.kernels.size), 0.0

    def add(self, alpha: Floats, coef: Floats, b: float) -> None:
        """Take in one iterate."""
        self.T += 1
        self.alpha += alpha
        self.coef += coef
        self.b += b

    def point(self) -> Point:
        """Return the averages so far."""
        return Point(self.alpha / self.T, KernelFunction(self.coef / self.T, self.b / self.T))


class Best:
    """The best alpha and the best f so far. Each is valid by itself, so the two need not be of one iteration."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.point: Point | None = None
        self.certificate = Certificate(np.inf, -np.inf, np.inf)

    def offer(self, point: Point) -> Certificate:
        """Certify a point, keep what is better in it, and return the point's own certificate."""
        new, old = self.problem.certificate(*point), self.certificate
        alpha, f = self.point or point
        if new.dual >= old.dual:
            alpha = point.alpha
        if new.primal <= old.primal:
            f = point.f
        self.point = Point(alpha, f)
        primal, dual = np.fmin(new.primal, old.primal), np.fmax(new.dual, old.dual)
        self.certificate = Certificate(float(primal), float(dual), float(primal - dual))
        return new


def run(
    problem: Problem,
    iterates: Iterates,
    rule: Rule,
    history: bool = False,
    verbose: int = 0,
) -> SolveResult:
    """Drive a solver's iterates until the certificate meets the rule, and return the certified result."""
    best, records, start = Best(problem), [], perf_counter()
    status, iteration = Status.NUMERICAL, 0
    try:
        for iteration, iterate in enumerate(islice(iterates, rule.max_iter), 1):
            if iteration % rule.every and iteration < rule.max_iter:
                continue
            found = best.offer(iterate())
            records.append(Record(iteration, perf_counter() - start, found.primal, found.dual))
            if verbose:
                logger.info("iteration %d, %.2f s: primal %.9g, dual %.9g, gap %.3g", *records[-1], found.gap)
            if rule.met(best.certificate):
                status = Status.CONVERGED
                break
        else:
            status = Status.MAX_ITER if iteration == rule.max_iter else Status.NUMERICAL
    except KeyboardInterrupt:
        if best.point is None:
            raise
        status = Status.INTERRUPTED
    return finish(problem, best, status, iteration, records if history else [])


def finish(
    problem: Problem, best: Best, status: Status, n_iter: int, records: list[Record] | None = None
) -> SolveResult:
    """Assemble the result at the best point known; without one, at f = 0."""
    if best.point is None:
        best.offer(Point(np.zeros(problem.kernels.n), problem.zero))
    alpha, f = best.point or Point(np.zeros(problem.kernels.n), problem.zero)
    feasible = problem.restore(alpha)
    primal, dual, gap = best.certificate
    return SolveResult(
        primal=primal,
        dual=dual,
        gap=gap,
        alpha=feasible,
        f=f,
        norms=problem.evaluate(f)[1],
        theta=problem.theta(feasible, f, gap),
        kernel_error=problem.kernel_error(primal),
        n_iter=n_iter,
        status=status,
        history=records or [],
        budgeted=not problem.budget.is_slack,
    )
