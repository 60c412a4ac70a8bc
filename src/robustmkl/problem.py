"""The problem and its certificate: primal value, dual value and gap, for any alpha and any f.

    min_f max_{alpha in Q}  lam/2 (sum_j ||f_j||)^2 + (1/S) sum_i s_i alpha_i (1 - y_i f(x_i))          (11)

    P(f)     = lam/2 (sum_j ||f_j||)^2 + (1/S) max_{alpha in Q} sum_i s_i alpha_i (1 - y_i f(x_i))
    D(alpha) = (1/S) sum_i s_i alpha_i - max_j q_j / (2 lam),    q_j = S^-2 (s alpha y)' K_j (s alpha y)

``P(f) >= optimum >= D(alpha)`` for every f and every alpha in Q (with an intercept: and sum s alpha y = 0), so
``P - D`` proves how far from the optimum either can be. Nothing here knows how f and alpha were found. Q is the set
of (11), or one of the tighter sets of (10) and (8), see :mod:`robustmkl.uncertainty`: none of this depends on which.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from .arrays import Floats
from .kernels.bank import KernelBank
from .kernels.precomputed import Precomputed
from .parameters import flag, store
from .penalty import SquaredBlockNorm
from .uncertainty import Budget, UncertaintySet


class Certificate(NamedTuple):
    """Bounds on the optimum: ``dual <= optimum <= primal``, ``gap = primal - dual``."""

    primal: float
    dual: float
    gap: float


@dataclass(frozen=True)
class KernelFunction:
    """A function ``f = sum_j f_j + b``: the one that the certificate takes and that predictions use.

    Attributes
    ----------
    coef : array
        The coefficients ``a_j`` of every kernel, flat, as :class:`~robustmkl.kernels.KernelBank` lays them out
        (with precomputed kernels ``coef.reshape(m, n)`` and ``f_j = K_j a_j``).
    intercept : float
        The unpenalised constant b.
    """

    coef: Floats
    intercept: float = 0.0


@dataclass(frozen=True)
class Problem:
    """Problem (11), or (10) or (8), on given training rows.

    Attributes
    ----------
    kernels : KernelBank
    y : array of -1 and +1
    s : array of positive weights
    lam : float
    budget : Budget, ProbabilityBudget or ChanceBudget
        The set Q: of (11), (10) or (8).
    fit_intercept : bool
    """

    kernels: KernelBank
    y: Floats
    s: Floats
    lam: float = 0.01
    budget: UncertaintySet = field(default_factory=Budget)
    fit_intercept: bool = True

    def __post_init__(self) -> None:
        store(self, lam=SquaredBlockNorm(self.lam).lam, fit_intercept=flag("fit_intercept", self.fit_intercept))
        for name, array in (("y", self.y), ("s", self.s)):
            if array.shape != (self.kernels.n,):
                raise ValueError(f"{name} has shape {array.shape} for {self.kernels.n} training rows.")
        if not np.all(np.abs(self.y) == 1.0):
            raise ValueError(f"y must hold -1 and +1 only, got {np.unique(self.y)[:5]}.")
        if not (np.all(np.isfinite(self.s)) and np.all(self.s > 0.0)):
            raise ValueError(
                f"weights must be positive and finite, got {float(self.s.min())!r}: leave rows of weight 0 out."
            )

    @classmethod
    def from_grams(
        cls,
        grams: Floats,
        y: Floats,
        lam: float = 0.01,
        rho: float | None = None,
        h: float = 1.0,
        sample_weight: Floats | None = None,
        fit_intercept: bool = True,
        budget: UncertaintySet | None = None,
    ) -> Problem:
        """Build the problem from Gram matrices (m, n, n); ``rho=None`` is no budget.

        ``budget`` is a set Q in the place of ``Budget(rho, h)``. Rows of weight 0 are absent: neither alpha nor f has
        an entry for them.
        """
        if budget is None:
            budget = Budget(h if rho is None else rho, h)
        elif rho is not None or h != 1.0:
            raise ValueError(f"budget={budget!r} brings its own rho and bound: leave out rho={rho!r} and h={h!r}.")
        family, y = Precomputed(grams), np.asarray(y, dtype=np.float64)
        s = np.ones(y.size) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if s.shape == y.shape and (s == 0.0).any():
            kept = np.flatnonzero(s)
            family, y, s = Precomputed(family.cores[:, kept[:, None], kept]), y[kept], s[kept]
        n = family.cores.shape[1]
        return cls(KernelBank([family], [None], n), y, s, lam, budget, fit_intercept)

    @property
    def total(self) -> float:
        """The total weight S."""
        return float(self.s.sum())

    @property
    def penalty(self) -> SquaredBlockNorm:
        """The penalty ``lam/2 (sum ||f_j||)^2``."""
        return SquaredBlockNorm(self.lam)

    @property
    def zero(self) -> KernelFunction:
        """The function f = 0."""
        return KernelFunction(np.zeros(self.kernels.size))

    def without_budget(self) -> Problem:
        """Return the problem in which no label may count as wrong: for (11) and (10) the ordinary one, (2), times h."""
        return replace(self, budget=self.budget.without_budget())

    def evaluate(self, f: KernelFunction) -> tuple[Floats, Floats]:
        """Return ``f(x_i)`` on the training rows, and the norms ``||f_j||``."""
        bank = self.kernels
        image = bank.cores_times(f.coef)
        norms = np.sqrt(np.maximum(bank.inner(f.coef, image), 0.0))
        return bank.forward(bank.collapse(image)) + f.intercept, norms

    def primal(self, f: KernelFunction) -> float:
        """Return P(f)."""
        return self.value(*self.evaluate(f))

    def value(self, values: Floats, norms: Floats) -> float:
        """Return P of a function with these values on the training rows and these norms."""
        return self.penalty.value(norms) + self.budget.support(1.0 - self.y * values, self.s) / self.total

    def gradient_norms(self, alpha: Floats) -> Floats:
        """Return ``q_j = ||g_j||^2`` of every kernel, ``g_j = (1/S) sum_i s_i alpha_i y_i k_j(x_i, .)``."""
        z = self.kernels.expand(self.kernels.adjoint(self.s * alpha * self.y / self.total))
        return np.maximum(self.kernels.inner(z, self.kernels.cores_times(z)), 0.0)

    def dual(self, alpha: Floats) -> float:
        """Return D at the dual feasible point that :meth:`restore` makes of ``alpha``."""
        alpha = self.restore(alpha)
        q = self.gradient_norms(alpha)
        return float(np.dot(self.s, alpha)) / self.total - self.penalty.conjugate(q)

    def check(self, alpha: Floats, f: KernelFunction) -> None:
        """Refuse an alpha or an f that does not belong to this problem."""
        for name, array, size in (("alpha", alpha, self.kernels.n), ("f.coef", f.coef, self.kernels.size)):
            if np.shape(array) != (size,):
                raise ValueError(f"{name} has shape {np.shape(array)}, and this problem asks for ({size},).")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} holds NaN or infinity at {int(np.argmin(np.isfinite(array)))}.")

    def restore(self, alpha: Floats) -> Floats:
        """Return a dual feasible point: ``alpha`` itself where it is one, else projected and balanced.

        With an intercept a dual point needs ``sum s_i alpha_i y_i = 0``: the heavier class is scaled down, which every
        Q allows. What rounding adds in the projection of a far point is scaled away too.
        """
        alpha = self.budget.project(alpha, self.s)
        alpha = alpha * self.budget.shrink(alpha, self.s)
        if not self.fit_intercept:
            return alpha
        positive = self.y > 0
        up, down = float(np.dot(self.s[positive], alpha[positive])), float(np.dot(self.s[~positive], alpha[~positive]))
        lighter = min(up, down)
        factors = np.where(positive, _ratio(lighter, up), _ratio(lighter, down))
        return alpha * factors

    def certificate(self, alpha: Floats, f: KernelFunction) -> Certificate:
        """Return primal value, dual value and gap of any ``alpha`` and any ``f``."""
        primal, dual = self.primal(f), self.dual(alpha)
        return Certificate(primal, dual, primal - dual)

    def theta(self, alpha: Floats, values: Floats, gap: float = 0.0) -> float:
        """Return the price theta of the budget at alpha and the values of f: 0 where the budget is inactive.

        Inactive means that dropping the budget changes the primal value of f by no more than ``gap``: then the
        same pair proves the optimum of the problem without budget. Nor has a budget a price of which alpha leaves
        a larger share unused than the price: at the optimum one of the two is zero.
        """
        v = 1.0 - self.y * values
        unbounded = self.budget.without_budget().support(v, self.s)
        if unbounded - self.budget.support(v, self.s) <= max(gap, 1e-12 * unbounded / self.total) * self.total:
            return 0.0
        theta = self.budget.multiplier(v, self.s)
        return theta if theta > self.budget.unused(alpha, self.s) else 0.0

    def kernel_error(self, primal: float) -> float:
        """Return the relative error of the certificate against the exact kernels, ``2 delta P / lam``."""
        return 2.0 * self.kernels.entry_error * primal / self.lam


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0.0 else 1.0


def certificate(problem: Problem, alpha: Floats, f: KernelFunction) -> Certificate:
    """Recompute the certificate from kernels, labels, weights, alpha and f alone.

    Parameters
    ----------
    problem : Problem
        Kernels, labels, weights, budget, lam: see :meth:`Problem.from_grams`.
    alpha : array of shape (n,)
        Any dual point; one that is not feasible is made so first.
    f : KernelFunction
        Any function; of a fitted model the one that predictions use.

    Returns
    -------
    Certificate
        ``(primal, dual, gap)`` with ``dual <= optimum <= primal``.
    """
    alpha = np.asarray(alpha, dtype=np.float64)
    problem.check(alpha, f)
    return problem.certificate(alpha, f)
