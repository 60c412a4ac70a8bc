"""The statements of the paper as functions: what is guaranteed, for given losses and a given noise level.

``xi_i`` in {0, 1} says whether label i is right, ``p_i = E[xi_i]`` given the row and its label, and
``q = 1 - E[p]`` is the noise level. The hinge losses are ``l_i = max(0, 1 - y_i f(x_i))``. Each statement
holds with a probability: Proposition 1 over the draw of the rows, Lemma 1 over the correctness of the labels
given the rows. The two together hold with probability ``1 - 2 epsilon``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats
from .penalty import SquaredBlockNorm
from .uncertainty import Budget, tau


@dataclass(frozen=True)
class RiskBound:
    """A bound on the expected hinge loss ``E l(y f(x))``: the sum of two terms.

    Attributes
    ----------
    empirical : float
        The losses on the training rows, at the worst p that the noise level allows.
    complexity : float
        What is added for having learnt f from these rows.
    """

    empirical: float
    complexity: float

    @property
    def total(self) -> float:
        """The bound: ``empirical + complexity``."""
        return self.empirical + self.complexity

    @property
    def is_vacuous(self) -> bool:
        """Whether the bound says nothing: ``total >= 1``.

        The expected hinge loss bounds the error rate from above, and f = 0, which knows nothing, has an
        expected hinge loss of exactly 1.
        """
        return self.total >= 1.0


def mean_correctness_bound(noise_level: float, n: int, epsilon: float) -> float:
    """Return the upper bound ``1 - q + tau / sqrt(n)`` on ``(1/n) sum p_i``: Proposition 1.

    It holds with probability at least ``1 - epsilon`` over rows ``(x_i, y_i)`` that are independent and
    identically distributed (Hoeffding's inequality for the p_i, which lie in [0, 1]). The xi_i need not be
    independent. For ``q <= tau / sqrt(n)`` it is 1 or more and says nothing.

    Parameters
    ----------
    noise_level : float in [0, 1/2)
        The noise level q.
    n : int
        The number of rows.
    epsilon : float in (0, 1)
        The probability of failure.
    """
    if not n >= 1:
        raise ValueError(f"n must be at least 1, got {n!r}: it is the number of rows.")
    return Budget.from_noise_level(noise_level).rho + tau(epsilon) / sqrt(n)


def chance_bound(losses: ArrayLike, p: ArrayLike, epsilon: float, sample_weight: ArrayLike | None = None) -> float:
    """Return the smallest t that eq. (8) allows: Lemma 1.

    ``t = (1/n) sum p_i l_i + (tau/n) ||l||_2``. If the xi_i are independent given the rows and their labels,
    then ``(1/n) sum xi_i l_i`` exceeds t with probability at most ``epsilon``: the chance constraint (5).

    Parameters
    ----------
    losses : array of shape (n,)
        The hinge losses ``l_i >= 0``.
    p : array of shape (n,)
        The probabilities ``p_i`` that the labels are right.
    epsilon : float in (0, 1)
        The probability of failure.
    sample_weight : array of shape (n,), optional
        Weights ``s_i``: 0 is absence, 2 a row given twice, each with its own xi. With ``S = sum s_i``,
        ``t = (1/S) (sum s_i p_i l_i + tau sqrt(sum s_i l_i^2))``.

    Notes
    -----
    Independence cannot be dropped, although the paper says so. Take one coin for all rows, ``xi_i = xi`` with
    ``Pr(xi = 1) = .8``, and equal losses 1. Then ``t = .8 + tau / sqrt(n) < 1`` for ``n > 25 tau^2``, while
    ``(1/n) sum xi_i l_i`` is 1 with probability .8: the chance constraint fails for every ``epsilon < .8``.
    """
    losses, p = _losses(losses), _probabilities(p)
    s = np.ones(losses.size) if sample_weight is None else _weights(sample_weight)
    _same_length(losses=losses, p=p, sample_weight=s)
    return float(np.dot(s * p, losses) + tau(epsilon) * sqrt(np.dot(s, losses**2))) / float(s.sum())


def relaxed_chance_bound(losses: ArrayLike, p: ArrayLike, epsilon: float) -> float:
    """Return the smallest t that eq. (9) allows: ``(1/n) sum (p_i + tau) l_i``.

    Eq. (9) is eq. (8) with ``||l||_1`` for ``||l||_2``. Since ``||l||_2 <= ||l||_1``, a t that meets (9) also
    meets (8), and hence, with independent xi_i, the chance constraint (5). For ``epsilon <= exp(-2)``, where
    ``tau >= 1``, this t is no less than ``(1/n) sum l_i``, which ``(1/n) sum xi_i l_i`` never exceeds,
    however the xi_i depend on each other.

    Parameters
    ----------
    losses : array of shape (n,)
        The hinge losses ``l_i >= 0``.
    p : array of shape (n,)
        The probabilities ``p_i`` that the labels are right.
    epsilon : float in (0, 1)
        The probability of failure.
    """
    losses, p = _losses(losses), _probabilities(p)
    _same_length(losses=losses, p=p)
    return float(np.mean((p + tau(epsilon)) * losses))


def generalization_bound(
    losses: ArrayLike, noise_level: float, epsilon: float, lam: float, delta: float = 0.05
) -> RiskBound:
    """Return the bound of Theorem 1 on the expected hinge loss ``E l(y f(x))``, as its two terms.

    The empirical term is the maximum of ``(1/(n (1 - q))) sum p_i l_i`` over
    ``Qp = {p in [0, 1]^n, sum p_i <= (1 - q) n + tau sqrt(n)}``: p = 1 on the largest losses, a fraction on
    the last. The complexity term is
    ``sqrt(2 (1 + tau) / (n (1 - q) lam)) [4 + sqrt((1 + lam / (2 (1 + tau))) ln(1/delta))]``.

    Parameters
    ----------
    losses : array of shape (n,)
        The hinge losses ``l_i >= 0`` of f on the training rows.
    noise_level : float in [0, 1/2)
        The noise level q.
    epsilon : float in (0, 1)
        Sets ``tau``, in the problem (10) that f solves and in Qp.
    lam : float
        The lam of that problem.
    delta : float in (0, 1), default=0.05
        The theorem claims the bound with probability at least ``1 - delta``.

    Notes
    -----
    Assumptions: f solves (10), without an intercept; ``k_j(x, x) <= 1`` for every kernel; at most ``n q`` of
    the n labels are wrong. The printed constant 4 does not grow with the number m of kernels, as it has to:
    for very large m the statement is false (the documentation gives a counterexample). Take the result for
    the paper's formula, not for a guarantee.
    """
    losses, t = _losses(losses), tau(epsilon)
    n, share = losses.size, Budget.from_noise_level(noise_level).rho
    SquaredBlockNorm(lam)  # validates lam
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta must lie in (0, 1), got {delta!r}: it is a probability of failure.")
    Qp = Budget(rho=min(1.0, mean_correctness_bound(noise_level, n, epsilon)))
    confidence = sqrt((1.0 + lam / (2.0 * (1.0 + t))) * log(1.0 / delta))
    return RiskBound(
        empirical=Qp.support(losses, np.ones(n)) / (n * share),
        complexity=sqrt(2.0 * (1.0 + t) / (n * share * lam)) * (4.0 + confidence),
    )


def _vector(name: str, values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be an array of shape (n,) with n >= 1, got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds {array[~np.isfinite(array)][0]}: leave such rows out.")
    return array


def _losses(values: ArrayLike) -> Floats:
    array = _vector("losses", values)
    if array.min() < 0.0:
        raise ValueError(f"losses must be >= 0, got {array.min():g}: pass the hinge losses max(0, 1 - y f).")
    return array


def _probabilities(values: ArrayLike) -> Floats:
    array = _vector("p", values)
    outside = array[(array < 0.0) | (array > 1.0)]
    if outside.size:
        raise ValueError(f"p must lie in [0, 1], got {outside[0]:g}: it holds probabilities of right labels.")
    return array


def _weights(values: ArrayLike) -> Floats:
    array = _vector("sample_weight", values)
    if array.min() < 0.0:
        raise ValueError(f"sample_weight must be >= 0, got {array.min():g}: use 0 to leave a row out.")
    if not array.any():
        raise ValueError("sample_weight is 0 for every row: give at least one row a positive weight.")
    return array


def _same_length(**arrays: Floats) -> None:
    sizes = {name: array.size for name, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise ValueError(f"one entry a row is needed in each array: {listed}.")
