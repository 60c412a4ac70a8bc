"""The dual of problem (11) as a conic program, for solvers that are not ours.

    minimise    t^2 / (2 lam) - sum_i omega_i alpha_i                          over x = (alpha, z, t)
    subject to  z_g = B_g' (omega y alpha)          for every family g with a basis
                sum_i omega_i y_i alpha_i = 0       (with an intercept)
                0 <= alpha <= h,  omega' alpha <= rho
                (t, R_j' z_g) in the second-order cone for every kernel j,     C_j = R_j R_j',  omega_i = s_i / S

The shared bases are what makes it small: a kernel of one column is a cone of some twenty dimensions, not of n.
Kernels without a basis enter by ``R_j' (omega y alpha)``; unlinked, all do, by ``(B_g R_j)' (omega y alpha)`` and
without z: more numbers in fewer variables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from robustmkl import Problem

CUT = 1e-12  # eigenvalues of a core below this share of its largest are left out


@dataclass(frozen=True)
class Factor:
    """``C = R R'``, R of full column rank, with the solution of ``R'a = w``."""

    R: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, C: np.ndarray) -> Factor:
        values, V = np.linalg.eigh(C)
        kept = values > CUT * values[-1]
        return cls(V[:, kept] * np.sqrt(values[kept]), values[kept])

    def solve(self, w: np.ndarray) -> np.ndarray:
        return np.asarray(self.R @ (w / self.values))


@dataclass(frozen=True)
class Conic:
    """``minimise x'Px/2 + q'x`` with ``A x = 0``, ``G x <= h`` and ``(-H_j x) in`` the cones, one H_j a kernel."""

    P: sp.csc_matrix
    q: np.ndarray
    A: sp.csc_matrix
    G: sp.csc_matrix
    h: np.ndarray
    H: list[sp.csr_matrix]
    factors: list[Factor]
    problem: Problem

    @classmethod
    def of(cls, problem: Problem, linked: bool = True) -> Conic:
        n, bank = problem.kernels.n, problem.kernels
        omega = problem.s / problem.total
        bases = bank.bases
        links = [B for B in bases if B is not None] if linked else []
        width = n + sum(B.shape[1] for B in links) + 1
        factors = [[Factor.of(C) for C in cores] for cores in bank.cores]
        q = np.zeros(width)
        q[:n] = -omega
        P = sp.csc_matrix(([1.0 / problem.lam], ([width - 1], [width - 1])), shape=(width, width))
        A = _equalities(problem, omega * problem.y, links)
        G, h = _inequalities(problem, omega, width)
        H = _cones(bases, factors, omega * problem.y, width)
        return cls(P, q, A, G, h, H, list(chain.from_iterable(factors)), problem)

    def coefficients(self, tails: list[np.ndarray]) -> np.ndarray:
        """Return the flat coefficients of f: ``R_j' a_j = w_j`` for the multipliers w_j of the cones."""
        found = [factor.solve(w) for factor, w in zip(self.factors, tails, strict=True)]
        bank, position = self.problem.kernels, 0
        flat = np.empty(bank.size)
        for places in bank.blocks(np.arange(bank.size)):
            flat[places] = found[position : position + len(places)]
            position += len(places)
        return flat


def _equalities(problem: Problem, signed: np.ndarray, links: list[np.ndarray]) -> sp.csc_matrix:
    blocks = [B.T * -signed for B in links] + [signed[None]] * problem.fit_intercept
    if not blocks:
        return sp.csc_matrix((0, problem.kernels.n + 1))
    dense = sp.csr_matrix(np.concatenate(blocks))
    ranks = sum(B.shape[1] for B in links)
    return sp.csc_matrix(sp.hstack([dense, sp.eye(dense.shape[0], ranks), sp.csr_matrix((dense.shape[0], 1))]))


def _inequalities(problem: Problem, omega: np.ndarray, width: int) -> tuple[sp.csc_matrix, np.ndarray]:
    n, budget = omega.size, problem.budget
    rows, bounds = [-sp.eye(n, width), sp.eye(n, width)], [np.zeros(n), np.full(n, budget.h)]
    if not budget.is_slack:
        rows.append(sp.csr_matrix((omega, (np.zeros(n, int), np.arange(n))), shape=(1, width)))
        bounds.append(np.array([budget.rho]))
    return sp.csc_matrix(sp.vstack(rows)), np.concatenate(bounds)


def _cones(
    bases: list[np.ndarray | None], factors: list[list[Factor]], signed: np.ndarray, width: int
) -> list[sp.csr_matrix]:
    """Return ``-(t, R_j' z)`` as matrices; z, if there is one, begins at its family's place behind alpha."""
    n, cones, start = signed.size, [], signed.size
    linked = width > n + 1
    for B, of_family in zip(bases, factors, strict=True):
        if B is not None and linked:
            cones += [_cone(factor.R.T, start, width) for factor in of_family]
            start += B.shape[1]
        else:
            tails = (factor.R.T if B is None else (B @ factor.R).T for factor in of_family)
            cones += [_cone(tail * signed, 0, width) for tail in tails]
    return cones


def _cone(tail: np.ndarray, first: int, width: int) -> sp.csr_matrix:
    head = sp.csr_matrix(([-1.0], ([0], [width - 1])), shape=(1, width))
    left, right = (sp.csr_matrix((len(tail), k)) for k in (first, width - first - tail.shape[1]))
    return sp.csr_matrix(sp.vstack([head, sp.hstack([left, sp.csr_matrix(-tail), right])]))


@dataclass(frozen=True)
class Answer:
    """What a conic solver says: alpha, the coefficients of f from its multipliers, its status, its own gap."""

    alpha: np.ndarray
    coef: np.ndarray
    status: str
    claimed: float


def clarabel(conic: Conic, limit: float) -> Callable[[], Answer]:
    """Prepare Clarabel; the call solves."""
    import clarabel as package

    A = sp.csc_matrix(sp.vstack([conic.A, conic.G, *conic.H]))
    sizes = [H.shape[0] for H in conic.H]
    b = np.concatenate([np.zeros(conic.A.shape[0]), conic.h, np.zeros(sum(sizes))])
    cones: list[Any] = [package.ZeroConeT(conic.A.shape[0])] if conic.A.shape[0] else []
    cones += [package.NonnegativeConeT(conic.h.size), *map(package.SecondOrderConeT, sizes)]
    settings = package.DefaultSettings()
    settings.verbose, settings.time_limit, settings.direct_solve_method = False, limit, "qdldl"
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-8

    def solve() -> Answer:
        found = package.DefaultSolver(sp.triu(conic.P, format="csc"), conic.q, A, b, cones, settings).solve()
        x, z = np.array(found.x), np.array(found.z)
        claimed = abs(found.obj_val - found.obj_val_dual) / max(abs(found.obj_val), 1e-300)
        return _answer(conic, x, z[-sum(sizes) :], str(found.status), claimed)

    return solve


def cvxopt(conic: Conic, limit: float) -> Callable[[], Answer]:
    """Prepare cvxopt's quadratic cone solver; the call solves. It has no time limit of its own."""
    from cvxopt import matrix, solvers, spmatrix

    def sparse(M: sp.spmatrix) -> spmatrix:
        C = sp.coo_matrix(M)
        return spmatrix(C.data.tolist(), C.row.tolist(), C.col.tolist(), C.shape)

    sizes = [H.shape[0] for H in conic.H]
    G, h = sparse(sp.vstack([conic.G, *conic.H])), matrix(np.concatenate([conic.h, np.zeros(sum(sizes))]))
    P, q, A, b = sparse(conic.P), matrix(conic.q), sparse(conic.A), matrix(np.zeros(conic.A.shape[0]))
    options = {"show_progress": False, "abstol": 1e-9, "reltol": 1e-8, "feastol": 1e-8, "maxiters": 200}

    def solve() -> Answer:
        dims = {"l": conic.h.size, "q": sizes, "s": []}
        found = solvers.coneqp(P, q, G, h, dims, A, b, options=options)
        x, z = np.array(found["x"]).ravel(), np.array(found["z"]).ravel()
        claimed = float(found["relative gap"] if found["relative gap"] is not None else found["gap"])
        return _answer(conic, x, z[-sum(sizes) :], found["status"], claimed)

    return solve


def _answer(conic: Conic, x: np.ndarray, z: np.ndarray, status: str, claimed: float) -> Answer:
    """Take alpha from x and f from the multipliers of the cones, (head, -w_j) each."""
    cuts = np.cumsum([H.shape[0] for H in conic.H])[:-1]
    tails = [-cone[1:] for cone in np.split(z, cuts)]
    return Answer(x[: conic.problem.kernels.n], conic.coefficients(tails), status, claimed)
