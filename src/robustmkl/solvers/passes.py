"""The passes of the interior point over the rows: what one block of rows does with a message.

Kept of each row: its variables and their move (:mod:`.shares`), the value of f, the dual residuals, the diagonal of the
Newton matrix A, and columns: right-hand sides, and solutions of A. ``U = diag(omega y) B``. Free rows are those that
stay out of the Woodbury formula.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..rows import Block, Summary
from .shares import Limits, Shares


def begin(block: Block, up: float, down: float, limits: Limits) -> Summary:
    """Set the starting point, so many times its level for either class."""
    block["shares"] = limits.start(np.where(block.y > 0, up, down))
    return project(block)


def project(block: Block) -> Summary:
    """Return ``z = B'(omega y alpha)``, the loads of the constraints on sums, and ``sum omega y alpha``."""
    signed = block.signed * block["shares"].alpha
    sums = {"loads": block["shares"].loads(block.omega), "tilt": np.asarray(signed.sum())}
    sums["mass"] = np.asarray(np.abs(signed).sum())
    return Summary(sums | {"z": block.adjoint(signed)})


def resume(block: Block, shares: list[Shares], tau: float) -> Summary:
    """Set tau times these variables."""
    block["shares"] = shares[block.number].scaled(tau)
    return project(block)


def gather(block: Block) -> Summary:
    """Return alpha itself."""
    return Summary(lists={"alpha": [block["shares"].alpha]})


def variables(block: Block) -> Summary:
    """Return the variables of the rows."""
    return Summary(lists={"shares": [block["shares"]]})


def observe(block: Block, v: Floats, b: float, prices: Floats) -> Summary:
    """Keep ``-B v``, which is f without its constant -b, and the dual residuals; return the complementarity."""
    block["f"], block["prices"] = -block.forward(v), prices
    block["residuals"] = block["shares"].residuals(-1.0 + block.y * (block["f"] - b), prices)
    return Summary({"complementarity": np.asarray(block["shares"].complementarity(block.omega))})


def weigh(block: Block, most: int) -> Summary:
    """Reduce the Newton equations to alpha, keep the diagonal ``omega D`` of A; return the largest ``omega / D``."""
    block["reduced"] = block["shares"].eliminate(block["prices"])
    D = block["reduced"].D
    block["diagonal"], block["size"] = block.omega * D, block.omega / D
    rest = max(0, D.size - most)
    largest = np.partition(block["size"], rest)[rest:] if rest else block["size"]
    return Summary({"corner": block["reduced"].corner(block.omega)}, lists={"size": [largest]})


def split(block: Block, cut: float) -> Summary:
    """Set apart the free rows, ``omega / D > cut`` (ties are not free).

    Return basis, signs and diagonal of the free rows, and ``U_O' W U_O`` of the others.
    """
    free = block["size"] > cut
    block.free = np.flatnonzero(free)
    block["inverse"] = np.where(free, 0.0, 1.0 / block["diagonal"])
    lists = {
        "basis": [block.basis.dense() if block.is_free else block.basis.rows(block.free).dense()],
        "signed": [block.signed[free]],
        "diagonal": [block["diagonal"][free]],
    }
    gram = np.zeros((0, 0)) if np.isneginf(cut) else block.gram(np.where(free, 0.0, block["size"]))
    return Summary({"gram": gram}, lists=lists)


def predict(block: Block, pull: Floats, intercept: bool) -> Summary:
    """Keep the columns of the border: of t, the intercept and the prices; and the right-hand side of the predictor.

    The predictor asks the cones for ``-zeta``, whose pull on the rows is that of f.
    """
    columns = [-block.signed * block.forward(pull)]
    columns += [-block.signed] * intercept + [block.omega * column for column in block["reduced"].columns()]
    block["border"] = np.stack(columns, axis=1)
    return _ask(block, block["shares"].aim(0.0), block["residuals"], block.y * block["f"], block["border"])


def correct(block: Block, push: Floats, mu: float, d_prices: Floats) -> Summary:
    """Keep the right-hand side of the corrector, with Mehrotra's second-order terms of the predictor."""
    shares, affine = block["shares"], block["move"]
    block["bent"] = shares.bent(block["residuals"], affine, d_prices)
    return _ask(block, shares.aim(mu, affine), block["bent"], block.y * block.forward(push))


def centre(block: Block, push: Floats, mu: float, length: float) -> Summary:
    """Keep the right-hand side of one more centrality correction of the move."""
    asked = block["shares"].centre(mu, block["move"], length)
    return _ask(block, asked, block["bent"], block.y * block.forward(push))


def _ask(
    block: Block, asked: list[list[Floats]], residuals: list[Floats], push: Floats, others: Floats | None = None
) -> Summary:
    """Keep the right-hand side that asks this of the products, behind other columns; return its small parts."""
    reduced, t = block["reduced"], block["shares"].targets(asked, residuals)
    right = (block.omega * (reduced.right(t) + push))[:, None]
    block["asked"], block["t"] = asked, t
    block["right"] = right if others is None else np.column_stack([others, right])
    block["x"] = np.zeros_like(block["right"])
    return _reduce(block, block["right"], shift=reduced.shift(t, block.omega))


def _reduce(block: Block, left: Floats, **sums: Floats) -> Summary:
    """Keep what is left to solve for; return ``U_O' W left`` of the rows that are not free, and the free rows."""
    block["left"] = left
    scaled = (block["inverse"] * block.signed)[:, None] * left
    g = np.zeros((block.rank, left.shape[1])) if block.is_free else block.adjoint(scaled)
    norm = (1.0 / block["diagonal"]) @ (left * left)
    return Summary({"g": g, "norm": norm} | sums, lists={"free": [left if block.is_free else left[block.free]]})


def expand(block: Block, V: Floats, x_free: list[Floats]) -> Summary:
    """Add the solution dx of ``A dx = left``, given its small parts, to x; return ``border' dx`` and ``U' dx``."""
    dx = x_free[block.number]
    if not block.is_free:
        dx = block["inverse"][:, None] * (block["left"] - block.signed[:, None] * block.forward(V))
        dx[block.free] += x_free[block.number]
    block["x"] = block["x"] + dx
    return Summary({"inner": block["border"].T @ dx, "u": block.adjoint(block.signed[:, None] * dx)})


def combine(block: Block, low: Floats) -> Summary:
    """Set the border's columns of the solution apart, and take their part out of the last."""
    block["x border"], block["x"] = block["x"][:, :-1], block["x"][:, -1:]
    return subtract(block, low)


def subtract(block: Block, low: Floats) -> Summary:
    """Take the border's part out of the solution."""
    block["x"] = block["x"] - (block["x border"] @ low)[:, None]
    return Summary()


def residual(block: Block, pull: Floats, low: Floats) -> Summary:
    """Keep what is left of the right-hand side, given how the cones pull and the border but for its column of t."""
    left = block["right"] - block["diagonal"][:, None] * block["x"] - block.signed[:, None] * block.forward(pull)
    return _reduce(block, left - (block["border"][:, 1:] @ low)[:, None])


def settle(block: Block, d_prices: Floats) -> Summary:
    """Take the solution for the move of the rows; return what it changes, and the longest step."""
    shares, parts = block["shares"], block["reduced"].parts(block["x"][:, 0], block["t"], d_prices)
    block["before"], block["move"] = block.get("move"), shares.move(parts, block["asked"])
    return Summary(block["move"].changes(shares, block.omega), {"step": block["move"].longest(shares)})


def withdraw(block: Block) -> Summary:
    """Return to the move before the last."""
    block["move"] = block["before"]
    return Summary()


def advance(block: Block, length: float) -> Summary:
    """Move the rows; return ``sum omega y alpha``."""
    block["shares"] = block["shares"].after(block["move"], length)
    return Summary({"tilt": np.asarray(block.signed @ block["shares"].alpha)})
