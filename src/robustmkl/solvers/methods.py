"""The solvers by name: what each can do, and one call for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..memory import require
from ..progress import shown
from ..threads import blas_threads
from ..uncertainty import SETS
from .amp import amp
from .driver import Iterates, Point, Rule, run
from .interior_point import interior_point, workspace
from .result import SolveResult
from .vi import vi

if TYPE_CHECKING:
    from ..kernels.dictionary import Extent
    from ..problem import Problem


@dataclass(frozen=True)
class Capabilities:
    """What a solver can do, checked before any work."""

    max_iter: int  # the default limit
    every: int = 1  # iterations between certificates
    budget: bool = True
    starts: bool = False  # takes a starting point
    precise: bool = False  # reaches gaps where the representation of the kernels shows
    sets: tuple[str, ...] = tuple(SETS)  # the constraints, by their kind


SOLVERS = {
    "interior-point": Capabilities(max_iter=200, precise=True),
    "amp": Capabilities(max_iter=1000, every=10, starts=True),
    "vi": Capabilities(max_iter=1000, every=10),
    "simplemkl": Capabilities(max_iter=500, budget=False, precise=True, sets=("alpha",)),
}


def choose(solver: str, kind: str = "alpha") -> str:
    """Return the name of the solver; "auto" is the first one that knows the constraint. Refuse all others.

    ``kind`` is that of the set: "alpha" for eq. (11), "p" for (10), "chance" for (8).
    """
    able = [name for name, capabilities in SOLVERS.items() if kind in capabilities.sets]
    if solver == "auto":
        return able[0]
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ValueError(f"solver must be 'auto' or one of {', '.join(map(repr, SOLVERS))}, got {solver!r}.")
    if solver not in able:
        raise ValueError(
            f"solver={solver!r} does not know budget={kind!r}, eq. {SETS[kind].equation}: use solver='auto' or "
            f"{' or '.join(map(repr, able))}, or budget='alpha'."
        )
    return solver


def solve(
    problem: Problem,
    solver: str = "auto",
    *,
    tol: float = 1e-4,
    atol: float = 0.0,
    max_iter: int | None = None,
    start: Point | None = None,
    gamma0: float = 1.0,
    history: bool = False,
    verbose: int = 0,
) -> SolveResult:
    """Solve problem (11), (10) or (8) and certify the result.

    Parameters
    ----------
    problem : Problem
    solver : {"auto", "interior-point", "amp", "vi", "simplemkl"}
    tol, atol : float
        Stop when ``gap <= atol + tol * primal``.
    max_iter : int, optional
        The default suits the solver: see ``SOLVERS``.
    start : Point, optional
        A guess of (alpha, f). If it is already within the tolerance nothing is done; ``amp`` starts from it.
    gamma0 : float
        The step size of ``vi`` is ``gamma0 / sqrt(max_iter)``.
    history : bool
        Keep every certificate: one an iteration.
    verbose : int
        Log progress to the logger "robustmkl".
    """
    name = choose(solver, problem.budget.kind)
    able = SOLVERS[name]
    if not (able.budget or problem.budget.is_slack):
        raise ValueError(
            f"solver={name!r} knows no budget and needs rho = {problem.budget.h:g} (got {problem.budget.rho:g}): "
            "use solver='interior-point'."
        )
    rule = Rule(tol, atol, able.max_iter if max_iter is None else max_iter, 1 if history else able.every)
    with shown(verbose), blas_threads(problem.kernels.n):
        if start is not None:
            guess = run(problem, iter([lambda: start]), Rule(tol, atol, 1, 1), history, verbose)
            if guess.converged:
                return guess
        return run(problem, _iterates(problem, name, rule, start, gamma0), rule, history, verbose)


def _iterates(problem: Problem, name: str, rule: Rule, start: Point | None, gamma0: float) -> Iterates:
    if name == "amp":
        return amp(problem, start)
    if name == "vi":
        return vi(problem, rule.max_iter, gamma0)
    if name == "simplemkl":
        from .simplemkl import simplemkl  # libsvm is loaded by those who ask for it

        return simplemkl(problem)
    check_workspace(problem)
    return interior_point(problem)


def check_workspace(problem: Problem) -> None:
    """Refuse a problem for whose interior point there is not the memory."""
    bank = problem.kernels
    need = workspace(bank.n, bank.rank, bool(bank.identities))
    require(need, f"the Newton matrices of {bank.n:,} rows", "use fewer rows, or solver='amp'")


def estimate_workspace(solver: str, n: int, extent: Extent) -> int:
    """Return the bytes that a solver, by its own name, needs beside the kernels."""
    vectors = 8 * 12 * (extent.coefficients + n)
    if solver == "interior-point":
        return vectors + workspace(n, extent.rank, extent.identity)
    return vectors + (8 * extent.kernels * n * n if solver == "simplemkl" else 0)
