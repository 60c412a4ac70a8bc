"""What was collected: candidates, and the choice among them by the validation rows, without solving anything again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .record import Line
from .settings import Key, Settings
from .store import Store

Place = tuple[str, float, int]  # table, noise level, trial
Scores = dict[Place, float]

ORDINARY, BUDGETED, BEST = ("SiPMKL",), ("SiPMKL", "StPMKL"), ("MiPMKL",)


@dataclass(frozen=True)
class Run:
    """One finished run of the kinds "certified" and "paper"."""

    key: Key
    sizes: dict[str, int]
    wrong: int
    lines: list[Line]
    twins: list[dict[str, float]]
    lam_max: float

    @classmethod
    def of(cls, content: dict[str, Any]) -> Run:
        """Read a run as it is stored."""
        lines = [Line(*line) for line in content["lines"]]
        more = content.get("twins", []), content.get("lam_max", float("nan"))
        return cls(Key(*content["key"]), content["sizes"], content["wrong"], lines, *more)

    @property
    def place(self) -> Place:
        """Table, noise level and trial: what the kinds share."""
        return self.key.dataset, self.key.noise, self.key.trial


@dataclass(frozen=True)
class Choice:
    """Candidates among which the validation rows choose, the largest lam and then rho of the best ones.

    Attributes
    ----------
    methods : tuple of str
        SiPMKL is also the rho = 1 of StPMKL.
    lams, rhos : tuple of float or function of the run
        The grid.
    """

    methods: tuple[str, ...]
    lams: Sequence[float] | Callable[[Run], Sequence[float]]
    rhos: Sequence[float] | Callable[[Run], Sequence[float]]

    def candidates(self, run: Run) -> list[Line]:
        """Return the lines that may be chosen; none where a rule asks for a rho that was not computed."""
        lams, rhos = (set(v(run) if callable(v) else v) for v in (self.lams, self.rhos))
        return [c for c in run.lines if c.method in self.methods and c.lam in lams and c.rho in rhos]

    def chosen(self, run: Run) -> Line | None:
        """Return the candidate that is chosen."""
        return max(self.candidates(run), key=lambda c: (c.valid, c.lam, c.rho), default=None)


@dataclass(frozen=True)
class Collection:
    """All finished runs.

    Attributes
    ----------
    settings : Settings
    test_labels : {"clean", "noisy"}
        Which labels of the test rows count.
    runs : dict of kind to list of Run
    gaps, rates, statements : list of dict
        The runs of these kinds as they are stored.
    missing : int
        How many runs of the plan are not finished.
    """

    settings: Settings
    test_labels: str
    runs: dict[str, list[Run]]
    gaps: list[dict[str, Any]]
    rates: list[dict[str, Any]]
    statements: list[dict[str, Any]]
    missing: int = 0

    @classmethod
    def load(cls, store: Store, settings: Settings, test_labels: str = "clean") -> Collection:
        """Read what is finished of the plan."""
        plan = settings.plan()
        contents = {key: store.load(key) for key in plan if store.has(key)}

        def of(kind: str) -> list[dict[str, Any]]:
            return [content for key, content in contents.items() if key.kind == kind]

        runs = {kind: [Run.of(content) for content in of(kind)] for kind in ("certified", "paper")}
        return cls(
            settings, test_labels, runs, of("convergence"), of("rate"), of("statements"), len(plan) - len(contents)
        )

    def accuracy(self, run: Run, line: Line) -> float:
        """Return the share of right test rows in percent."""
        return 100.0 * (line.clean if self.test_labels == "clean" else line.noisy) / run.sizes["test"]

    def scores(self, kind: str, choice: Choice) -> Scores:
        """Return the test accuracy of the chosen candidate in every run that has candidates."""
        picked = [(run, choice.chosen(run)) for run in self.runs[kind]]
        return {run.place: self.accuracy(run, line) for run, line in picked if line is not None}

    def scores_over_ties(self, kind: str, choice: Choice) -> Scores:
        """Return the mean test accuracy over all candidates of the best validation accuracy: no rule for ties."""
        out: Scores = {}
        for run in self.runs[kind]:
            candidates = choice.candidates(run)
            if candidates:
                best = max(c.valid for c in candidates)
                out[run.place] = float(np.mean([self.accuracy(run, c) for c in candidates if c.valid == best]))
        return out

    @cached_property
    def choices(self) -> dict[str, Choice]:
        """The methods on the coarse and on the fine grid."""
        s = self.settings
        return {
            "StPMKL": Choice(BUDGETED, s.coarse_lams, s.rhos),
            "SiPMKL": Choice(ORDINARY, s.coarse_lams, (1.0,)),
            "MiPMKL": Choice(BEST, s.coarse_lams, s.rhos),
            "StPMKL fine": Choice(BUDGETED, s.lams, s.rhos),
            "SiPMKL fine": Choice(ORDINARY, s.lams, (1.0,)),
        }

    @property
    def noisy_levels(self) -> list[float]:
        """The noise levels above 0."""
        return [q for q in self.settings.noise if q > 0.0]
