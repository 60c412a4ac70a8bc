"""The default solver: a primal-dual interior point for the dual of eq. (11).

    minimise   -sum_i omega_i alpha_i + t^2 / (2 lam)
    subject to 0 <= alpha <= h,  sum_i omega_i alpha_i <= rho,  sum_i omega_i y_i alpha_i = 0 (with an intercept),
               (t, R_j'z) in the second-order cone for every kernel j,   z = B'(omega y alpha),  C_j = R_j R_j'

with ``omega = s / S``. Mehrotra's predictor-corrector with Nesterov-Todd scaling, from a strictly feasible start:
the slacks are linear in (alpha, t), so only the dual residuals are driven to zero. The multipliers are l and x
(bounds), kappa (budget: theta), -b (intercept) and zeta (cones), whose vector parts are the functions:
``f_j = -zeta1_j``. Row i carries weight s_i in the barrier, so that weight 2 is exactly a row given twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..arrays import Floats
from ..kernels.bank import KernelBank
from ..problem import KernelFunction, Problem
from .cone import Cones, Scaling, largest_step, product, quotient
from .driver import Iterates, Point

FRACTION = 0.995  # of the way to the boundary
STALLED = 15  # iterations without a new lowest mu after which the numbers have run out


@dataclass(frozen=True)
class State:
    """The iterate. ``slack`` and ``left`` are functions of (alpha, t), recomputed rather than updated."""

    alpha: Floats
    lower: Floats  # l, multiplier of alpha >= 0
    upper: Floats  # x, multiplier of alpha <= h
    kappa: float  # multiplier of the budget
    b: float  # multiplier of the intercept's equality
    t: float
    slack: Cones  # (t, R_j'z)
    zeta: Cones
    left: float  # rho - sum omega alpha


@dataclass(frozen=True)
class Direction:
    """A Newton direction, with the linear images that the corrector and the step length need."""

    alpha: Floats
    lower: Floats
    upper: Floats
    kappa: float
    b: float
    t: float
    slack: Cones
    zeta: Cones
    left: float


@dataclass(frozen=True)
class Model:
    """The constants of the cone program."""

    problem: Problem
    omega: Floats

    @classmethod
    def of(cls, problem: Problem) -> Model:
        return cls(problem, problem.s / problem.total)

    @property
    def degree(self) -> float:
        """The degree of the barrier: two bounds a row (of mean weight 1), the budget, one a cone."""
        return 2.0 * self.problem.kernels.n + (not self.problem.budget.is_slack) + self.problem.kernels.m

    def cones(self, heads: Floats, coef: Floats) -> Cones:
        bank = self.problem.kernels
        return Cones(bank, heads, coef, bank.cores_times(coef))

    def slack(self, alpha: Floats, t: float) -> Cones:
        """Return ``(t, R_j'z)`` for every j: linear in (alpha, t)."""
        bank = self.problem.kernels
        z = bank.adjoint(self.omega * self.problem.y * alpha)
        return self.cones(np.full(bank.m, t), bank.expand(z))

    def values(self, zeta: Cones, b: float) -> Floats:
        """Return f on the training rows: ``-B sum_j C_j zeta1_j - b``."""
        bank = self.problem.kernels
        return -bank.forward(bank.collapse(zeta.image)) - b

    def mu(self, v: State) -> float:
        """Return the mean complementarity."""
        rows = self.omega * (v.lower * v.alpha + v.upper * (self.problem.budget.h - v.alpha))
        return (float(rows.sum()) + v.kappa * v.left + v.slack.dot(v.zeta)) / self.degree


def start(model: Model) -> State:
    """Return a strictly feasible point, primal and dual: f = 0, and alpha on a ray where the dual is sensible."""
    problem, omega = model.problem, model.omega
    h, rho, m = problem.budget.h, problem.budget.rho, problem.kernels.m
    alpha = np.full(problem.kernels.n, 0.5 * min(h, rho))
    if problem.fit_intercept:
        alpha = problem.restore(alpha)
    q = float(problem.gradient_norms(alpha).max())
    mass = float(np.dot(omega, alpha))
    alpha = alpha * float(np.clip(problem.lam * mass / max(q, 1e-300), 1e-3, 1.0))
    slack = model.slack(alpha, 0.0)
    t = max(1.5 * float(slack.norms().max()), 0.1 * np.sqrt(problem.lam))
    kappa = 0.0 if problem.budget.is_slack else 0.5
    zeta = model.cones(np.full(m, t / (problem.lam * m)), np.zeros(problem.kernels.size))
    rows = np.ones_like(alpha)
    return State(
        alpha=alpha,
        lower=0.5 * rows,
        upper=(1.5 - kappa) * rows,
        kappa=kappa,
        b=0.0,
        t=t,
        slack=replace(slack, head=np.full(m, t)),
        zeta=zeta,
        left=rho - float(np.dot(omega, alpha)),
    )


def workspace(n: int) -> int:
    """Return the bytes of the dense Newton matrix, its factor and the copies made on the way."""
    return 8 * 4 * n * n


class Newton:
    """The Newton system at a state: factored once, solved for the predictor and for the corrector.

    Unknowns (d_alpha, d_t, d_b, d_kappa); the matrix of d_alpha is

        A = diag(omega D) + U H U',   D = l/alpha + x/(h - alpha),   U = diag(omega y) B,
        H = sum_j eta_j^-2 (C_j + 2 p_j p_j'),   p_j = C_j w1_j,   by family,

    and t, the intercept and the budget are a border of at most three.
    """

    def __init__(self, model: Model, v: State) -> None:
        self.model, self.v = model, v
        self.problem, self.bank, self.omega = model.problem, model.problem.kernels, model.omega
        self.room = self.problem.budget.h - v.alpha
        self.scaling = Scaling.of(v.slack, v.zeta)
        self.lam_point = self.scaling.apply(v.zeta)
        self._factor()

    def _factor(self) -> None:
        v, w, e2 = self.v, self.scaling.w, self.scaling.eta**-2
        D = v.lower / v.alpha + v.upper / self.room
        self.A = _weighted_gram(self.bank, e2, w.image, self.omega * self.problem.y)
        self.A.flat[:: self.bank.n + 1] += self.omega * D
        self.cholesky = _cholesky(self.A)
        pull = self.bank.collapse(self.bank.spread(2.0 * e2 * w.head) * w.image)
        border = [-self.omega * self.problem.y * self.bank.forward(pull)]  # t
        corner = [1.0 / self.problem.lam + float((e2 * (2.0 * w.head**2 - 1.0)).sum())]
        if self.problem.fit_intercept:
            border.append(-self.omega * self.problem.y)
            corner.append(0.0)
        if not self.problem.budget.is_slack:
            border.append(self.omega)
            corner.append(-v.left / v.kappa)
        self.border, self.corner = np.stack(border, axis=1), np.diag(corner)
        self.inverse_border = cho_solve(self.cholesky, self.border)
        self.schur = self.corner - self.border.T @ self.inverse_border

    def _solve_once(self, top: Floats, bottom: Floats) -> tuple[Floats, Floats]:
        reduced = cho_solve(self.cholesky, top)
        low: Floats = np.linalg.solve(self.schur, bottom - self.border.T @ reduced).astype(np.float64)
        return reduced - self.inverse_border @ low, low

    def solve(self, top: Floats, bottom: Floats, refinements: int = 2) -> tuple[Floats, Floats]:
        """Solve the bordered system, with iterative refinement."""
        x, low = self._solve_once(top, bottom)
        for _ in range(refinements):
            dx, dlow = self._solve_once(
                top - self.A @ x - self.border @ low, bottom - self.border.T @ x - self.corner @ low
            )
            x, low = x + dx, low + dlow
        return x, low

    def direction(self, mu: float, affine: Direction | None = None) -> Direction:
        """Return the direction towards complementarity ``mu``, with Mehrotra's second-order term if given."""
        v, problem = self.v, self.problem
        row_mu = mu * self.bank.n
        r_lower = row_mu - v.lower * v.alpha
        r_upper = row_mu - v.upper * self.room
        r_kappa = mu - v.kappa * v.left
        target = product(self.lam_point, self.lam_point) * -1.0
        if affine is not None:
            r_lower -= affine.lower * affine.alpha
            r_upper += affine.upper * affine.alpha
            r_kappa -= affine.kappa * affine.left
            second = product(self.scaling.solve(affine.slack), self.scaling.apply(affine.zeta))
            target = target + second * -1.0
        target = replace(target, head=target.head + mu)
        pushed = self.scaling.solve(quotient(self.lam_point, target))
        r_alpha = -1.0 + problem.y * self.model.values(v.zeta, v.b) - v.lower + v.upper + v.kappa
        r_t = v.t / problem.lam - float(v.zeta.head.sum())
        rhs = -r_alpha + r_lower / v.alpha - r_upper / self.room
        rhs += problem.y * self.bank.forward(self.bank.collapse(pushed.image))
        bottom = [-r_t + float(pushed.head.sum())]
        if problem.fit_intercept:
            bottom.append(float(np.dot(self.omega * problem.y, v.alpha)))
        if not problem.budget.is_slack:
            bottom.append(-r_kappa / v.kappa)
        d_alpha, low = self.solve(self.omega * rhs, np.array(bottom))
        return self._complete(d_alpha, low, r_lower, r_upper, pushed)

    def _complete(self, d_alpha: Floats, low: Floats, r_lower: Floats, r_upper: Floats, pushed: Cones) -> Direction:
        v, problem = self.v, self.problem
        slack = self.model.slack(d_alpha, float(low[0]))
        return Direction(
            alpha=d_alpha,
            lower=(r_lower - v.lower * d_alpha) / v.alpha,
            upper=(r_upper + v.upper * d_alpha) / self.room,
            kappa=0.0 if problem.budget.is_slack else float(low[-1]),
            b=float(low[1]) if problem.fit_intercept else 0.0,
            t=float(low[0]),
            slack=slack,
            zeta=pushed + self.scaling.solve_twice(slack) * -1.0,
            left=-float(np.dot(self.omega, d_alpha)),
        )

    def largest_step(self, d: Direction) -> float:
        """Return the largest step, at most 1, that stays inside."""
        v = self.v
        rows = ((v.alpha, d.alpha), (self.room, -d.alpha), (v.lower, d.lower), (v.upper, d.upper))
        steps = [_ratio(value, change) for value, change in rows]
        if not self.problem.budget.is_slack:
            steps += [_ratio(np.array([p]), np.array([q])) for p, q in ((v.kappa, d.kappa), (v.left, d.left))]
        return min(1.0, *steps, largest_step(v.slack, d.slack), largest_step(v.zeta, d.zeta))


def _ratio(value: Floats, change: Floats) -> float:
    falling = change < 0.0
    return float((-value[falling] / change[falling]).min(initial=np.inf))


def _weighted_gram(bank: KernelBank, e2: Floats, image: Floats, signs: Floats) -> Floats:
    """Return ``U H U'`` with U = diag(signs) B."""
    A = np.zeros((bank.n, bank.n))
    weights, p = bank.spread(e2), bank.spread(np.sqrt(2.0 * e2)) * image
    for s in bank.stacks:
        P = s.a_view(p)
        H = np.einsum("fk,fkrs->frs", s.a_view(weights)[:, :, 0], s.cores, optimize=True)
        H += np.swapaxes(P, 1, 2) @ P
        if s.basis is None:
            A += H[0]
        else:
            F, _, r = s.shape
            B = s.basis.reshape(bank.n, F, r)
            A += np.einsum("nfr,frs->nfs", B, H, optimize=True).reshape(bank.n, F * r) @ s.basis.T
    A *= signs[:, None]
    A *= signs[None, :]
    return 0.5 * (A + A.T)


def _cholesky(A: Floats) -> tuple[Floats, bool]:
    """Factor A, with as little added to the diagonal as makes it positive definite; refinement takes it out."""
    diagonal = A.diagonal().copy()
    for jitter in (0.0, *(10.0**k for k in range(-15, -3))):
        try:
            shifted = A.copy()
            shifted.flat[:: A.shape[0] + 1] = diagonal * (1.0 + jitter)
            factor, lower = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
            return factor, bool(lower)
        except np.linalg.LinAlgError:
            continue
    raise FloatingPointError("the Newton matrix is not positive definite")


def _advance(model: Model, v: State, d: Direction, step: float) -> State:
    alpha, t = v.alpha + step * d.alpha, v.t + step * d.t
    return State(
        alpha=alpha,
        lower=v.lower + step * d.lower,
        upper=v.upper + step * d.upper,
        kappa=v.kappa + step * d.kappa,
        b=v.b + step * d.b,
        t=t,
        slack=model.slack(alpha, t),
        zeta=model.cones(v.zeta.head + step * d.zeta.head, v.zeta.coef + step * d.zeta.coef),
        left=model.problem.budget.rho - float(np.dot(model.omega, alpha)),
    )


def _inside(v: State, h: float) -> bool:
    """Whether rounding has left the iterate strictly inside."""
    rows = min(v.alpha.min(), (h - v.alpha).min(), v.lower.min(), v.upper.min())
    return bool(rows > 0.0 and v.slack.determinants().min() > 0.0 and v.zeta.determinants().min() > 0.0)


def interior_point(problem: Problem) -> Iterates:
    """Yield the iterates of the predictor-corrector method; end where rounding allows no further step."""
    model = Model.of(problem)
    v = start(model)
    best, idle = np.inf, 0
    while idle < STALLED:
        yield lambda: Point(v.alpha, KernelFunction(-v.zeta.coef, -v.b))
        mu = model.mu(v)
        idle = 0 if mu < best else idle + 1
        best = min(mu, best)
        try:
            newton = Newton(model, v)
        except (FloatingPointError, np.linalg.LinAlgError):
            return
        affine = newton.direction(0.0)
        ahead = _advance(model, v, affine, newton.largest_step(affine))
        sigma = min(1.0, max(model.mu(ahead) / mu, 0.0)) ** 3  # Mehrotra's choice
        d = newton.direction(sigma * mu, affine)
        step = FRACTION * newton.largest_step(d)
        step = 1.0 if step >= FRACTION else step
        while step > 1e-12 and not _inside(_advance(model, v, d, step), problem.budget.h):
            step *= 0.8
        if not step > 1e-12:
            return
        v = _advance(model, v, d, step)
