"""The default solver: a primal-dual interior point for the dual of eq. (11).

    minimise   -sum_i omega_i alpha_i + t^2 / (2 lam)
    subject to 0 <= alpha <= h,  sum_i omega_i alpha_i <= rho,  sum_i omega_i y_i alpha_i = 0 (with an intercept),
               (t, R_j'z) in the second-order cone for every kernel j,   z = B'(omega y alpha),  C_j = R_j R_j'

with ``omega = s / S``. Mehrotra's predictor-corrector with Nesterov-Todd scaling, from a strictly feasible start: the
slacks are linear in (alpha, t), so only the dual residuals are driven to zero. The multipliers are l and x (bounds),
kappa (budget: theta), -b (intercept) and zeta (cones), whose vector parts are the functions: ``f_j = -zeta1_j``. Row i
carries weight s_i in the barrier, so that weight 2 is exactly a row given twice.

The rows are touched through passes only (:mod:`.passes`); what is of size sum r is in :mod:`.newton`, the cones are
in :mod:`.cone`. Only some kernels are active; another enters when its ``||g_j||`` comes near t.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Ints
from ..kernels.side_by_side import LARGE
from ..problem import KernelFunction, Problem
from ..rows import Engine, MemoryRows, Pass, Summary
from . import passes
from .bounds import longest, longest_bent, outliers
from .cone import Cones, Scaling, inverse, largest_step, product, quotient, spectral
from .driver import Foreseen, Iterates, Point
from .newton import Solution, System
from .shares import Limits
from .trail import Inside, State, Trail

FRACTION = 0.995  # of the way to the boundary
STALLED = 15  # iterations without a new lowest mu after which the numbers have run out
DENSE = 1.5  # the rows are factored as they stand up to this many times the summed rank,
FEW = 1000  # and up to this number
FREE = 300  # rows at the least that stay out of the Woodbury formula
PROMISING = 0.7  # kernels begin active whose gradient is so large, relative to the largest
NEAR = 0.95  # a kernel enters when the norm of its gradient comes so near t,
FEWEST = 10  # so many at a time, or as many as there are, those of the largest norms first,
FAR = 0.93  # and may leave when it is below that
IDLE = 1e-3  # with a smaller share of the multipliers than this,
LEANER = 0.8  # if there are more than FEW rows and the summed rank gets so much smaller
SHORTEST = 1e-12  # step
CENTRAL = 2  # centrality corrections at most, each of which
FURTHER = 0.3  # looks so much further than the step that it wants to lengthen,
LONG = 0.95  # is not worth its while beyond this length,
GAIN = 1.01  # and is taken back unless it lengthens the step so much


@dataclass(frozen=True)
class Direction:
    """The small part of a direction, and what is needed of its row part."""

    prices: Floats
    b: float
    t: float
    slack: Cones
    zeta: Cones
    left: Floats
    bend: Floats  # after a step t the constraints on sums leave: left + t d.left - t^2 bend
    linear: float  # the complementarity of the bounds after a step: bounds + linear t + quadratic t^2
    quadratic: float
    longest: float


@dataclass(frozen=True)
class Aim:
    """What is asked of the products of slacks and multipliers: of the cones (scaled), of the constraints on sums."""

    cones: Cones
    sums: Floats


class InteriorPoint:
    """The cone program on the active kernels, its iterate, and one Newton step."""

    def __init__(
        self,
        problem: Problem,
        engine: Callable[[Floats, Floats], Engine] = MemoryRows,
        kernels: Ints | None = None,
        negligible: float = 0.0,
        past: Inside | None = None,
    ) -> None:
        """Begin with some of the kernels, at an iterate of the past that has these, or from the start."""
        self.problem, self.intercept, self.negligible = problem, problem.fit_intercept, negligible
        self.limits, self.trusted = Limits.of(problem.budget, problem.total), False
        self.gone: Ints = np.empty(0, dtype=np.intp)  # kernels that have left
        self.rows = engine(problem.y, problem.s / problem.total)
        up, down = self._scales()
        self._activate(self._promising(np.where(problem.y > 0, up, down)) if kernels is None else kernels)
        if past is None or not self._resume(past):
            self.state = self._start(up, down)

    # -- the iterate -----------------------------------------------------------------------------------------

    def _cones(self, head: Floats, coef: Floats) -> Cones:
        return Cones(self.bank, head, coef, self.bank.cores_times(coef))

    def _slack(self, z: Floats, t: float) -> Cones:
        return self._cones(np.full(self.bank.m, t), self.bank.expand(z))

    def _scales(self) -> tuple[float, float]:
        """Return by what to multiply the starting levels of either class, so that they balance."""
        if not self.intercept:
            return 1.0, 1.0
        positive = self.problem.y > 0
        up, down = float(self.problem.s[positive].sum()), float(self.problem.s[~positive].sum())
        return min(1.0, down / up), min(1.0, up / down)

    def _start(self, up: float, down: float) -> State:
        """Return a strictly feasible point: f = 0, and alpha on a ray where the dual is sensible."""
        problem, m = self.problem, self.bank.m
        image = self.rows.run(passes.begin, up, down, self.limits).sums
        largest = float(self._slack(image["z"], 0.0).norms().max())
        ray = float(np.clip(problem.lam * image["mass"] / max(largest**2, 1e-300), 1e-3, 1.0))
        image = self.rows.run(passes.begin, ray * up, ray * down, self.limits).sums
        t = max(1.5 * ray * largest, 0.1 * np.sqrt(problem.lam))
        zeta = self._cones(np.full(m, t / (problem.lam * m)), np.zeros(self.bank.size))
        return State(self.limits.prices(ray), 0.0, t, self._slack(image["z"], t), zeta, *self._left(image))

    def _resume(self, past: Inside) -> bool:
        """Go where a solver with these kernels has been for a larger lam; return whether it is strictly inside."""
        v, lam = past.state, self.problem.lam
        tau = float(np.sqrt(lam / past.lam))
        image, t = self.rows.run(passes.resume, past.shares, tau).sums, tau * v.t
        head = past.head + max(t / lam - float(past.head.sum()), 0.0) / self.bank.m
        zeta, slack = self._cones(head, self.active.restrict(past.coef)), self._slack(image["z"], t)
        left, tilt = self._left(image)
        self.state = replace(v, t=t, slack=slack, zeta=zeta, left=left, tilt=tilt)
        return bool((left > 0.0).all()) and min(slack.determinants().min(), zeta.determinants().min()) > 0.0

    def leave(self) -> Inside:
        """Return where this solver is, for another to begin there."""
        v, active = self.state, self.active
        shares = self.rows.run(passes.variables).lists["shares"]
        return Inside(self.problem.lam, active.kernels, v.zeta.head, active.embed(v.zeta.coef), shares, v)

    def dual(self) -> float:
        """Return D at this alpha over the active kernels, and a little less: t is no smaller than their norms."""
        p = self.problem
        return float(p.s @ self._alpha()) / p.total - self.state.t**2 / (2.0 * p.lam)

    def _left(self, image: dict[str, Floats]) -> tuple[Floats, float]:
        return self.limits.allowed - image["loads"], float(image["tilt"])

    def _alpha(self) -> Floats:
        return np.concatenate(self.rows.run(passes.gather).lists["alpha"])

    def point(self) -> Point:
        """Return the iterate as a candidate: alpha, and f from the multipliers of the cones."""
        coef = self.active.embed(-self.state.zeta.coef)
        return Point(self._alpha(), KernelFunction(coef, -self.state.b))

    @property
    def degree(self) -> float:
        """The degree of the barrier: the bounds of all rows (of mean weight 1), the sums, one a cone."""
        return self.limits.bounds * self.bank.n + self.limits.allowed.size + self.bank.m

    def observe(self) -> float:
        """Compute the dual residuals of the rows; return mu, the mean complementarity."""
        v = self.state
        pull = self.bank.collapse(v.zeta.image)
        bounds = float(self.rows.run(passes.observe, pull, v.b, v.prices).sums["complementarity"])
        self.state = replace(v, bounds=bounds)
        return (bounds + float(v.prices @ v.left) + v.slack.dot(v.zeta)) / self.degree

    # -- the active kernels ----------------------------------------------------------------------------------

    def _activate(self, kernels: Ints) -> None:
        self.active = self.problem.kernels.select(kernels, self.negligible)
        self.bank = self.active.bank
        self.rows.attach(self.bank)

    def _promising(self, alpha: Floats) -> Ints:
        """Return the kernels to begin with: those of the largest gradients."""
        q = self.problem.gradient_norms(alpha)
        return np.flatnonzero(q >= PROMISING**2 * q.max())

    def exchange(self, mu: float) -> bool:
        """Let in the kernels whose gradient has a norm near t, let idle ones go; return whether any came or went.

        t is raised to keep the new cones strictly satisfied; their zeta are on the central path of ``mu``.
        """
        v, old = self.state, self.active
        norms = np.sqrt(self.problem.gradient_norms(self._alpha()))
        new = np.setdiff1d(np.flatnonzero(norms > NEAR * v.t), old.kernels)
        new = np.sort(new[np.argsort(-norms[new], kind="stable")][: max(FEWEST, old.kernels.size)])
        kept = self._busy(norms[old.kernels])
        if new.size == 0 and kept.all():
            return False
        self.gone = np.union1d(self.gone, old.kernels[~kept])
        self._activate(np.union1d(old.kernels[kept], new))
        t = max(v.t, 1.05 * float(norms[new].max(initial=0.0)))
        slack = self._slack(self.rows.run(passes.project).sums["z"], t)
        central = inverse(slack) * mu
        known = np.isin(self.active.kernels, old.kernels)
        head = central.head.copy()
        head[known] = v.zeta.head[kept]
        restricted = self.active.restrict(old.embed(v.zeta.coef))
        coef = np.where(self.bank.spread(known.astype(np.float64)) > 0.0, restricted, central.coef)
        self.state = replace(v, t=t, slack=slack, zeta=self._cones(head, coef))
        return True

    def _busy(self, norms: Floats) -> NDArray[np.bool_]:
        """Return which active kernels stay: all, unless idle ones make the system of many rows much larger."""
        v, kernels = self.state, self.active.kernels
        busy = (norms >= FAR * v.t) | (v.zeta.head >= IDLE * v.zeta.head.sum())
        busy |= np.isin(kernels, self.gone)  # whoever comes back stays
        leaner = self.problem.kernels.rank_of(kernels[busy]) < LEANER * self.bank.rank
        return busy if leaner and self.bank.n > FEW else np.ones_like(busy)

    # -- one step --------------------------------------------------------------------------------------------

    def step(self, mu: float) -> float:
        """Take one step; return its length, 0 where rounding allows none."""
        try:
            with np.errstate(all="ignore"):  # an overflow is the end of the road, not a surprise
                return self._advance(*self._correct(mu))
        except np.linalg.LinAlgError:
            return 0.0

    def _factor(self) -> Summary:
        """Factor the Newton matrix; return the small parts of the border's columns and of the predictor."""
        v = self.state
        self.scaling = Scaling.of(v.slack, v.zeta)
        self.scaled = self.scaling.apply(v.zeta)
        w, e2 = self.scaling.w, self.scaling.eta**-2
        weighed = self.rows.run(passes.weigh, self._free + 1)
        split = self.rows.run(passes.split, self._cut(weighed))
        sums = np.pad(weighed.sums["corner"] - np.diag(v.left / v.prices), ((self.intercept, 0), (self.intercept, 0)))
        self.system = System(self.rows, self.bank, self.scaling, split, self.problem.lam, sums, self.trusted)
        pull = self.bank.collapse(self.bank.spread(2.0 * e2 * w.head) * w.image)
        return self.rows.run(passes.predict, pull, self.intercept)

    @property
    def _free(self) -> int:
        return max(self.bank.rank, FREE)

    def _cut(self, weighed: Summary) -> float:
        """Return the least ``omega / D`` of a free row; all rows are free where there are few, or where B = I."""
        if self.bank.identities or _is_dense(self.bank.n, self.bank.rank):
            return -np.inf
        return float(np.partition(np.concatenate(weighed.lists["size"]), -self._free - 1)[-self._free - 1])

    def _bottom(self, pushed: Floats, sums: Floats, shift: Floats) -> Floats:
        """Return the right-hand side of the border, given the heads that the cones are pushed to."""
        v = self.state
        t = -v.t / self.problem.lam + float((v.zeta.head + pushed).sum())
        return np.array([t] + [v.tilt] * self.intercept + list(-sums / v.prices - shift))

    def _predict(self) -> Direction:
        """Return the direction towards complementarity 0."""
        v, reduced = self.state, self._factor()
        bottom = self._bottom(-v.zeta.head, -v.prices * v.left, reduced.sums["shift"])
        return self._complete(self.system.begin(reduced, bottom), v.zeta * -1.0)

    def _correct(self, mu: float) -> tuple[Direction, float]:
        """Return the direction of a step and its longest: Mehrotra's corrector, made more central while that pays."""
        v, affine = self.state, self._predict()
        target = mu * min(1.0, max(self._mu_after(affine, self._longest(affine)) / mu, 0.0)) ** 3  # Mehrotra's choice
        second = product(self.scaling.solve(affine.slack), self.scaling.apply(affine.zeta))
        bent = affine.prices * affine.left - (v.prices + affine.prices) * affine.bend
        aim = Aim((second * -1.0).raised(target), target - v.prices * v.left - bent)
        d = self._towards(aim, passes.correct, target * self.bank.n, affine.prices)
        self.trusted = self.system.clean
        length = self._longest(d)
        for _ in range(CENTRAL * (length <= LONG)):
            ahead = min(1.0, length + FURTHER)
            aim = self._centre(aim, d, target, ahead)
            other = self._towards(aim, passes.centre, target * self.bank.n, ahead)
            if not self._longest(other) >= GAIN * length:
                self.rows.run(passes.withdraw)
                break
            d, length = other, self._longest(other)
            if length > LONG:
                break
        return d, length

    def _centre(self, aim: Aim, d: Direction, target: float, step: float) -> Aim:
        """Ask again, so that no product is far from the target after a step along a direction (Gondzio)."""
        moved = self.scaled + self.scaling.solve(d.slack) * step
        products = product(moved, self.scaled + self.scaling.apply(d.zeta) * step)
        cones = aim.cones + spectral(products, lambda values: outliers(values, target))
        return Aim(cones, aim.sums + outliers(self._sums_after(d, step), target))

    def _towards(self, aim: Aim, ask: Pass, *message: Any) -> Direction:
        """Return the direction that makes the products what they are asked to be."""
        v = self.state
        pushed = self.scaling.solve(quotient(self.scaled, aim.cones)) + v.zeta * -1.0
        reduced = self.rows.run(ask, self.bank.collapse(pushed.image), *message)
        bottom = self._bottom(pushed.head, aim.sums, reduced.sums["shift"])
        return self._complete(self.system.solve(reduced, bottom), pushed)

    def _complete(self, found: Solution, pushed: Cones) -> Direction:
        """Return the direction that a solution of the Newton equations means for all variables."""
        prices = found.low[1 + self.intercept :]
        rows = self.rows.run(passes.settle, prices)
        return Direction(
            prices=prices,
            b=float(found.low[1]) if self.intercept else 0.0,
            t=float(found.low[0]),
            slack=found.slack,
            zeta=pushed + found.response * -1.0,
            left=-rows.sums["loads"],
            bend=rows.sums["bend"],
            linear=float(rows.sums["linear"]),
            quadratic=float(rows.sums["quadratic"]),
            longest=rows.least["step"],
        )

    def _longest(self, d: Direction) -> float:
        """Return the longest step, at most 1, that stays inside."""
        v = self.state
        sums = min(longest(v.prices, d.prices), longest_bent(v.left, d.left, d.bend))
        return min(1.0, d.longest, max(sums, 0.0), largest_step(v.slack, d.slack), largest_step(v.zeta, d.zeta))

    def _left_after(self, d: Direction, length: float) -> Floats:
        """Return what the constraints on sums leave after a step."""
        return self.state.left + length * d.left - length * length * d.bend

    def _sums_after(self, d: Direction, length: float) -> Floats:
        """Return the products of the constraints on sums after a step."""
        return (self.state.prices + length * d.prices) * self._left_after(d, length)

    def _mu_after(self, d: Direction, length: float) -> float:
        v = self.state
        bounds = v.bounds + length * d.linear + length * length * d.quadratic
        sums = float(self._sums_after(d, length).sum())
        return (bounds + sums + (v.slack + d.slack * length).dot(v.zeta + d.zeta * length)) / self.degree

    def _inside(self, d: Direction, length: float) -> bool:
        """Whether rounding leaves cones and sums strictly satisfied after the step."""
        v = self.state
        moved = (v.slack + d.slack * length, v.zeta + d.zeta * length)
        left = self._left_after(d, length)
        return bool((left > 0.0).all()) and all(bool(cones.determinants().min() > 0.0) for cones in moved)

    def _advance(self, d: Direction, length: float) -> float:
        """Move a little less far than the longest step; return how far."""
        length = 1.0 if FRACTION * length >= FRACTION else FRACTION * length
        while length > SHORTEST and not self._inside(d, length):
            length *= 0.8
        if not length > SHORTEST:  # also if it is NaN
            return 0.0
        v, tilt = self.state, float(self.rows.run(passes.advance, length).sums["tilt"])
        prices, left = v.prices + length * d.prices, self._left_after(d, length)
        slack, zeta = v.slack + d.slack * length, v.zeta + d.zeta * length
        self.state = State(prices, v.b + length * d.b, v.t + length * d.t, slack, zeta, left, tilt)
        return length


def interior_point(
    problem: Problem,
    engine: Callable[[Floats, Floats], Engine] = MemoryRows,
    kernels: Ints | None = None,
    negligible: float = 0.0,
    trail: Trail | None = None,
) -> Iterates:
    """Yield the iterates of the predictor-corrector method; end where rounding allows no further step.

    Parameters
    ----------
    problem : Problem
    engine : callable
        Makes the engine that holds the rows, from their labels and shares of the total weight.
    kernels : array of int, optional
        Those to begin with; the others enter when they are missing. None: those of large gradients at f = 0.
    negligible : float
        Columns of a kernel's basis that count for less than this share are left out. The certificate has all.
    trail : Trail, optional
        Where this problem has been solved for another lam: begin there, and leave an iterate for the next.
    """
    if problem.fit_intercept and np.ptp(problem.y) == 0.0:  # one class: the constant has neither loss nor norm
        constant = KernelFunction(np.zeros(problem.kernels.size), float(problem.y[0]))
        yield lambda: Point(np.zeros(problem.kernels.n), constant)
        return
    past = trail.begin(problem.lam, kernels) if trail else None
    solver = InteriorPoint(problem, engine, past.kernels if past else kernels, negligible, past)
    best, idle, noted = np.inf, 0, False
    while idle < STALLED:
        mu = solver.observe()
        yield Foreseen(solver.point, mu * solver.degree)
        idle = 0 if mu < best else idle + 1
        best = min(mu, best)
        if solver.exchange(mu):
            mu = best = solver.observe()
        if trail is not None and not noted and (noted := trail.wants(mu * solver.degree, solver.dual())):
            trail.inside = solver.leave()
        if not solver.step(mu) > 0.0:
            return


def workspace(n: int, rank: int, identity: bool) -> int:
    """Return the bytes that the solver takes beside the kernels, at most: all kernels active."""
    rows = 60 * n + (0 if identity else min(n * rank, LARGE))
    return 8 * (rows + 6 * n * n if identity or _is_dense(n, rank) else rows + 10 * max(rank, FREE) ** 2)


def _is_dense(n: int, rank: int) -> bool:
    return n <= max(DENSE * rank, FEW)
