"""The squared block norm ``lam/2 (sum_j ||f_j||)^2`` of eq. (2): value, conjugate and the prox of Lemma 3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Floats
from .parameters import number, store


@dataclass(frozen=True)
class SquaredBlockNorm:
    """``R(f) = lam/2 (sum_j ||f_j||)^2``, as a function of the norms ``||f_j||``."""

    lam: float

    def __post_init__(self) -> None:
        store(self, lam=number("lam", self.lam, "be a positive finite number", lambda lam: lam > 0.0))

    def value(self, norms: Floats) -> float:
        """Return ``lam/2 (sum_j ||f_j||)^2``."""
        return 0.5 * self.lam * float(norms.sum()) ** 2

    def conjugate(self, squared_norms: Floats) -> float:
        """Return ``max_j ||g_j||^2 / (2 lam)``, the conjugate at g: the dual norm is the largest block."""
        return float(squared_norms.max(initial=0.0)) / (2.0 * self.lam)

    def prox(self, norms: Floats, gamma: float) -> Floats:
        """Return the factors that shrink each block in ``argmin_f ||f - fh||^2 / 2 + gamma R(f)``, eq. (13).

        Lemma 3: ``f_j = [1 - gamma lam mu / ||fh_j||]_+ fh_j`` with ``mu = sum_j ||f_j||``. (The paper prints
        ``gamma lam mu / 2``; setting the derivative of (13) to zero gives no 1/2.) With the norms sorted,
        ``mu = (sum of the k largest) / (1 + k gamma lam)`` for the largest k whose last norm stays positive.
        """
        step = gamma * self.lam
        ordered = np.sort(norms)[::-1]
        mus = np.cumsum(ordered) / (1.0 + step * np.arange(1, ordered.size + 1))
        alive = np.flatnonzero(ordered > step * mus)
        if alive.size == 0:
            return np.zeros_like(norms)
        threshold = step * mus[alive[-1]]
        kept = np.maximum(norms - threshold, 0.0)
        factors: Floats = np.divide(kept, norms, out=np.zeros_like(norms), where=norms > 0.0)
        return factors
