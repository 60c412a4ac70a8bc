"""What is run: tables, noise levels, trials, grids; and the seeds, which depend on nothing else."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

TABLES = ("ionosphere", "heart", "sonar", "breast-cancer", "australia")
RHOS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)  # section 4
GAMMAS = (0.01, 0.1, 1.0, 10.0, 100.0)  # section 4, of VI


class Key(NamedTuple):
    """One run: the unit of work, of storage and of seeding."""

    kind: str
    dataset: str
    noise: float
    trial: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.kind}-{self.dataset}-{self.noise:g}-{self.trial}"

    @property
    def entropy(self) -> list[int]:
        """The seed. The kind does not enter: all kinds see the same split and labels."""
        return [crc32(self.dataset.encode()), round(self.noise * 1e6), self.trial]

    def generators(self, count: int) -> list[np.random.Generator]:
        """Return independent generators."""
        return [np.random.default_rng(child) for child in np.random.SeedSequence(self.entropy).spawn(count)]


@dataclass(frozen=True)
class Settings:
    """All that decides about the results.

    Attributes
    ----------
    datasets, noise
        Tables and noise levels q.
    certified_trials, trials, best_case_trials, convergence_trials : int
        Trials at the proved optimum, under the paper's stopping rule, of MiPMKL at proved f-steps, of the right panels.
    lams : tuple of float
        The fine grid. The coarse one, every ``coarse``-th of it, is that of the paper's stopping rule and of MiPMKL.
    rhos : tuple of float
        Shares, 1 first: the candidates of StPMKL and MiPMKL.
    more_rhos : tuple of float
        More shares at the proved optimum, to see accuracy along rho; no candidates.
    tol : float
        Relative gap of the proved optimum.
    gap, max_iter
        The paper's stopping rule.
    gap_noise, gap_lam, gap_total, gammas
        Of the right panels: noise level, lam, ``sum alpha <= gap_total``, the ``gamma_0`` of VI.
    simulations : int
        Draws of label errors for Lemma 1 and Proposition 1.
    """

    datasets: tuple[str, ...] = TABLES
    noise: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4)
    certified_trials: int = 30
    trials: int = 5
    best_case_trials: int = 5
    convergence_trials: int = 1
    lams: tuple[float, ...] = tuple(float(f"{lam:.6g}") for lam in 10.0 ** (-np.arange(19) / 6))
    coarse: int = 6
    rhos: tuple[float, ...] = RHOS
    more_rhos: tuple[float, ...] = (0.4, 0.3, 0.2, 0.1)
    tol: float = 1e-4
    gap: float = 1e-2
    max_iter: int = 1000
    gap_noise: float = 0.0
    gap_lam: float = 0.01
    gap_total: float = 100.0
    gammas: tuple[float, ...] = GAMMAS
    simulations: int = 20_000

    @property
    def coarse_lams(self) -> tuple[float, ...]:
        """Every ``coarse``-th value of the fine grid."""
        return self.lams[:: self.coarse]

    def plan(self) -> list[Key]:
        """Return all runs; those that every picture needs come first."""
        most = max(self.certified_trials, self.trials)
        found = [
            Key("convergence", d, self.gap_noise, t) for d in self.datasets for t in range(self.convergence_trials)
        ]
        found += [Key("rate", d, self.gap_noise, 0) for d in self.datasets if self.convergence_trials]
        found += [Key("statements", d, q, 0) for d in self.datasets for q in self.noise if q > 0.0]
        for trial in range(most):
            pairs = [(d, q) for d in self.datasets for q in self.noise]
            found += [Key("certified", d, q, trial) for d, q in pairs if trial < self.certified_trials]
            found += [Key("paper", d, q, trial) for d, q in pairs if trial < self.trials]
        return found

    def fixed(self) -> dict[str, Any]:
        """Return what all runs of one folder must share: all but how many there are."""
        free = {"datasets", "noise", "certified_trials", "trials", "convergence_trials"}
        fields = {name: value for name, value in asdict(self).items() if name not in free}
        return dict(json.loads(json.dumps(fields)))

    def quick(self) -> Settings:
        """Return a small version: every part is run, nothing is decided."""
        return replace(
            self,
            datasets=self.datasets[1:3] if self.datasets == TABLES else self.datasets,
            noise=tuple(self.noise[:: max(1, len(self.noise) // 2)]),
            certified_trials=min(self.certified_trials, 3),
            trials=1,
            best_case_trials=1,
            lams=self.lams[::3],
            coarse=2,
            rhos=self.rhos[::2],
            more_rhos=self.more_rhos[::2],
            max_iter=100,
            simulations=2000,
        )
