"""The uncertainty about the labels: the set Q that the dual variables live in, for the paper's three constraints.

With ``S = sum s_i`` for sample weights ``s`` and the budget ``k = min(S, (1 - q) S + tau sqrt(S))``:

    (11)  Budget             0 <= alpha_i <= h,        sum_i s_i alpha_i <= rho S
    (10)  ProbabilityBudget  0 <= alpha_i <= 1 + tau,  sum_i s_i (alpha_i - tau)_+ <= k
    (8)   ChanceBudget       0 <= alpha_i,             distance of alpha from the set (11) with h = 1, rho S = k: <= tau

All three are sums of two parts,

    Q = { u + v :  v in the core,  u >= 0 in a ball of radius tau },

where the core is a set (11) and the ball is: the point 0 in (11), ``u_i <= tau`` for each row in (10),
``sum s_i u_i^2 <= tau^2`` in (8). The core prices the labels that may count as wrong; the ball is what the chance
constraint adds for the deviation from the mean. Everything that solvers and the certificate need of a set is here.
"""

from .base import UncertaintySet
from .budget import Budget, project_by_bisection, tau
from .widened import ChanceBudget, ProbabilityBudget

SETS: dict[str, type[UncertaintySet]] = {kind.kind: kind for kind in (Budget, ProbabilityBudget, ChanceBudget)}

__all__ = [
    "SETS",
    "Budget",
    "ChanceBudget",
    "ProbabilityBudget",
    "UncertaintySet",
    "project_by_bisection",
    "tau",
]
