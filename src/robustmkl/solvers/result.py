"""What every solver returns, and the sentences in which it says how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from ..arrays import Floats
from ..problem import KernelFunction


class Status(Enum):
    """How a run ended. The value is the sentence that is shown."""

    CONVERGED = "Optimum proved: the duality gap is within the tolerance."
    MAX_ITER = "Stopped at the iteration limit before the gap reached the tolerance."
    NUMERICAL = "Stopped where rounding errors allow no further progress, before the gap reached the tolerance."
    INTERRUPTED = "Interrupted: the best certified point so far."


def remedy(status: Status, solver: str, best: str = "interior-point") -> str:
    """Return what to do about a run that has not converged; ``best`` is the best solver of the problem."""
    if status is Status.INTERRUPTED:
        return "fit again to go on"
    if status is Status.NUMERICAL:
        return "raise tol or lam; kernels of very different scales are a common cause"
    return "raise max_iter or tol" + ("" if solver == best else f", or use solver={best!r}")


class Record(NamedTuple):
    """One line of a run's history."""

    iteration: int
    seconds: float
    primal: float
    dual: float


@dataclass(frozen=True)
class SolveResult:
    """A certified solution of problem (11), (10) or (8).

    Attributes
    ----------
    primal, dual, gap : float
        The certificate, from :mod:`robustmkl.problem`: ``dual <= optimum <= primal``.
    alpha : array of shape (n,)
        The dual point, feasible.
    f : KernelFunction
        The function whose primal value is ``primal``, and that predictions use.
    norms : array of shape (m,)
        ``||f_j||``.
    theta : float
        The price of the budget; 0 where it is inactive.
    kernel_error : float
        Relative error of the certificate from representing the kernels, ``2 delta P / lam``.
    n_iter : int
    status : Status
    history : list of Record
        Every certificate computed on the way, if asked for.
    budgeted : bool
        Whether there was a budget at all: in (11) ``rho < h``, in (10) and (8) ``k < S``.
    """

    primal: float
    dual: float
    gap: float
    alpha: Floats
    f: KernelFunction
    norms: Floats
    theta: float
    kernel_error: float
    n_iter: int
    status: Status
    history: list[Record] = field(default_factory=list)
    budgeted: bool = True

    @property
    def intercept(self) -> float:
        """The constant b of f."""
        return self.f.intercept

    @property
    def budget_active(self) -> bool:
        """Whether the budget shapes the solution; if not, it solves :meth:`Problem.without_budget` as well."""
        return self.theta > 0.0

    @property
    def converged(self) -> bool:
        """Whether the certificate met the tolerance."""
        return self.status is Status.CONVERGED

    @property
    def message(self) -> str:
        """The status as a sentence, and whether a budget that was given made no difference."""
        inactive = self.budgeted and not self.budget_active
        return self.status.value + " The budget is inactive." * inactive
