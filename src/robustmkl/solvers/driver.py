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

HOPEFUL = 10.0  # an iterate is certified if it is foreseen to be within so many tolerances,
LAST_DIGITS = 1e-5  # or so near the optimum, relative to the primal value
PATIENCE = 15  # certificates no better, of iterates foreseen to be within the tolerance: the numbers have run out


class Point(NamedTuple):
    """A candidate: any alpha and any f."""

    alpha: Floats
    f: KernelFunction


# An iterate is made only when it is asked for: averages cost as much as an iteration.
Iterate = Callable[[], Point]


@dataclass(frozen=True)
class Foreseen:
    """An iterate whose gap the solver can foresee. It saves certificates; it does not replace one."""

    make: Iterate
    gap: float

    def __call__(self) -> Point:
        return self.make()


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

    def tolerance(self, primal: float) -> float:
        """Return the largest gap that will do at a primal value."""
        return self.atol + self.tol * primal

    def met(self, certificate: Certificate) -> bool:
        """Return whether the certificate is within the tolerance."""
        return certificate.gap <= self.tolerance(certificate.primal)

    def worth(self, iterate: Iterate, primal: float) -> bool:
        """Return whether an iterate may be near the tolerance, or near the end of the digits."""
        near = HOPEFUL * self.tolerance(primal) + LAST_DIGITS * primal
        return not (isinstance(iterate, Foreseen) and iterate.gap > near)


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
        self.values, self.norms = np.zeros(problem.kernels.n), np.zeros(problem.kernels.m)
        self.certificate = Certificate(np.inf, -np.inf, np.inf)

    def offer(self, point: Point) -> Certificate:
        """Certify a point, keep what is better in it, and return the point's own certificate."""
        values, norms = self.problem.evaluate(point.f)
        primal, dual = self.problem.value(values, norms), self.problem.dual(point.alpha)
        new, old = Certificate(primal, dual, primal - dual), self.certificate
        alpha, f = self.point or point
        if new.dual >= old.dual:
            alpha = point.alpha
        if new.primal <= old.primal or self.point is None:
            f, self.values, self.norms = point.f, values, norms
        self.point = Point(alpha, f)
        primal, dual = float(np.fmin(new.primal, old.primal)), float(np.fmax(new.dual, old.dual))
        self.certificate = Certificate(primal, dual, primal - dual)
        return new


class Watch:
    """Certifies iterates as they come, and keeps the best and the records."""

    def __init__(self, problem: Problem, rule: Rule, verbose: int) -> None:
        self.rule, self.verbose, self.best = rule, verbose, Best(problem)
        self.records: list[Record] = []
        self.start, self.seen, self.idle = perf_counter(), 0, 0

    def certify(self, iteration: int, iterate: Iterate) -> bool:
        """Certify an iterate; return whether the best so far meets the rule."""
        before = self.best.certificate.gap
        found, self.seen = self.best.offer(iterate()), iteration
        self.idle = self.idle + 1 if self._foreseen(iterate) and self.best.certificate.gap > 0.99 * before else 0
        self.records.append(Record(iteration, perf_counter() - self.start, found.primal, found.dual))
        if self.verbose:
            logger.info("iteration %d, %.2f s: primal %.9g, dual %.9g, gap %.3g", *self.records[-1], found.gap)
        return self.rule.met(self.best.certificate)

    def _foreseen(self, iterate: Iterate) -> bool:
        """Whether an iterate was foreseen to be within the tolerance."""
        return isinstance(iterate, Foreseen) and iterate.gap <= self.rule.tolerance(self.best.certificate.primal)

    def follow(self, iterates: Iterates, every: bool) -> tuple[Status, int]:
        """Follow the iterates to the end, certifying every one or those that are worth it."""
        iteration, iterate, status = 0, None, Status.MAX_ITER
        try:
            for iteration, iterate in enumerate(islice(iterates, self.rule.max_iter), 1):
                due = not iteration % self.rule.every and (
                    every or self.rule.worth(iterate, self.best.certificate.primal)
                )
                if due and self.certify(iteration, iterate):
                    return Status.CONVERGED, iteration
                if self.idle >= PATIENCE:
                    return Status.NUMERICAL, iteration
            status = Status.MAX_ITER if iteration == self.rule.max_iter else Status.NUMERICAL
        except KeyboardInterrupt:
            if self.best.point is None:
                raise
            status = Status.INTERRUPTED
        met = iterate is not None and self.seen < iteration and self.certify(iteration, iterate)
        return Status.CONVERGED if met and status is not Status.INTERRUPTED else status, iteration


def run(
    problem: Problem,
    iterates: Iterates,
    rule: Rule,
    history: bool = False,
    verbose: int = 0,
) -> SolveResult:
    """Drive a solver's iterates until the certificate meets the rule, and return the certified result."""
    watch = Watch(problem, rule, verbose)
    status, iteration = watch.follow(iterates, history or verbose > 0)
    return finish(problem, watch.best, status, iteration, watch.records if history else [])


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
        norms=best.norms,
        theta=problem.theta(feasible, best.values, gap),
        kernel_error=problem.kernel_error(primal),
        n_iter=n_iter,
        status=status,
        history=records or [],
        budgeted=not problem.budget.is_slack,
    )
