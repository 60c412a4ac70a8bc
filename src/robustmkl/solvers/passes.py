"""The passes of the interior point over the rows: what one block of rows does with a message.

Kept of each row: alpha with its multipliers and their move (:mod:`.interval`), the value of f, the dual residual, the
diagonal of the Newton matrix A, and columns: right-hand sides, and solutions of A. ``U = diag(omega y) B``. Free rows
are those that stay out of the Woodbury formula.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..rows import Block, Summary
from .interval import Interval


def begin(block: Block, up: float, down: float, upper: float, h: float) -> Summary:
    """Set the starting point: one alpha a class."""
    alpha, ones = np.where(block.y > 0, up, down), np.ones(block.y.size)
    block["alpha"] = Interval(alpha, h - alpha, 0.5 * ones, upper * ones)
    return project(block)


def project(block: Block) -> Summary:
    """Return ``z = B'(omega y alpha)``, ``sum omega alpha`` and ``sum omega y alpha``."""
    alpha = block["alpha"].value
    sums = {"mass": np.asarray(block.omega @ alpha), "tilt": np.asarray(block.signed @ alpha)}
    return Summary(sums | {"z": block.adjoint(block.signed * alpha)})


def gather(block: Block) -> Summary:
    """Return alpha itself."""
    return Summary(lists={"alpha": [block["alpha"].value]})


def observe(block: Block, v: Floats, b: float, kappa: float) -> Summary:
    """Keep ``-B v``, which is f without its constant -b, and the dual residual; return the complementarity."""
    alpha, block["f"] = block["alpha"], -block.forward(v)
    block["residual"] = -1.0 + block.y * (block["f"] - b) - alpha.lower + alpha.upper + kappa
    return Summary({"complementarity": np.asarray(block.omega @ alpha.products())})


def weigh(block: Block, most: int) -> Summary:
    """Keep the diagonal ``omega D`` of A; return the largest values of ``omega / D``."""
    D = block["alpha"].diagonal
    block["diagonal"], block["size"] = block.omega * D, block.omega / D
    rest = max(0, D.size - most)
    return Summary(lists={"size": [np.partition(block["size"], rest)[rest:] if rest else block["size"]]})


def split(block: Block, cut: float) -> Summary:
    """Set apart the free rows, ``omega / D > cut`` (ties are not free).

    Return basis, signs and diagonal of the free rows, and ``U_O' W U_O`` of the others.
    """
    free = block["size"] > cut
    block.free = np.flatnonzero(free)
    block["inverse"] = np.where(free, 0.0, 1.0 / block["diagonal"])
    lists = {
        "basis": [block.basis if block.is_free else block.basis[block.free]],
        "signed": [block.signed[free]],
        "diagonal": [block["diagonal"][free]],
    }
    gram = np.zeros((0, 0)) if np.isneginf(cut) else block.gram(np.where(free, 0.0, block["size"]))
    return Summary({"gram": gram}, lists=lists)


def predict(block: Block, pull: Floats, intercept: bool, budget: bool) -> Summary:
    """Keep the columns of the border: of t, the intercept and the budget; and the right-hand side of the predictor.

    The predictor asks the cones for ``-zeta``, whose pull on the rows is that of f.
    """
    block["asked"] = block["alpha"].aim(0.0, None)
    columns = [-block.signed * block.forward(pull)]
    columns += [-block.signed] * intercept + [block.omega] * budget
    block["border"] = np.stack(columns, axis=1)
    right = block["alpha"].slope(block["asked"]) - block["residual"] + block.y * block["f"]
    return _ask(block, np.column_stack([block["border"], block.omega * right]))


def correct(block: Block, push: Floats, mu: float, step: float | None) -> Summary:
    """Keep the right-hand side of the corrector; with a ``step``, of one more centrality correction."""
    alpha, move = block["alpha"], block["move"]
    block["asked"] = alpha.aim(mu, move) if step is None else alpha.centre(mu, move, step)
    right = alpha.slope(block["asked"]) - block["residual"] + block.y * block.forward(push)
    return _ask(block, (block.omega * right)[:, None])


def _ask(block: Block, right: Floats) -> Summary:
    block["right"], block["x"] = right, np.zeros_like(right)
    return _reduce(block, right)


def _reduce(block: Block, left: Floats) -> Summary:
    """Keep what is left to solve for; return ``U_O' W left`` of the rows that are not free, and the free rows."""
    block["left"] = left
    scaled = (block["inverse"] * block.signed)[:, None] * left
    g = np.zeros((block.rank, left.shape[1])) if block.is_free else block.adjoint(scaled)
    norm = (1.0 / block["diagonal"]) @ (left * left)
    return Summary({"g": g, "norm": norm}, lists={"free": [left if block.is_free else left[block.free]]})


def expand(block: Block, V: Floats, x_free: list[Floats]) -> Summary:
    """Keep the solution dx of ``A dx = left``, given its small parts; return ``border' dx`` and ``U' dx``."""
    dx = x_free[block.number]
    if not block.is_free:
        dx = block["inverse"][:, None] * (block["left"] - block.signed[:, None] * block.forward(V))
        dx[block.free] += x_free[block.number]
    block["dx"] = dx
    return Summary({"inner": block["border"].T @ dx, "u": block.adjoint(block.signed[:, None] * dx)})


def combine(block: Block, low: Floats) -> Summary:
    """Set the border's columns of the solution apart, and take their part out of the last."""
    block["x border"], x = block["x"][:, :-1], block["x"][:, -1:]
    block["x"] = x - (block["x border"] @ low)[:, None]
    return Summary()


def add(block: Block, low: Floats) -> Summary:
    """Add dx, less the border's part, to the solution."""
    part = (block["x border"] @ low)[:, None] if low.any() else 0.0
    block["x"] = block["x"] + block["dx"] - part
    return Summary()


def residual(block: Block, Hu: Floats, low: Floats) -> Summary:
    """Keep what is left of the right-hand side, ``right - A x - border low``."""
    left = block["right"] - block["diagonal"][:, None] * block["x"] - block.signed[:, None] * block.forward(Hu)
    return _reduce(block, left - (block["border"] @ low)[:, None])


def settle(block: Block) -> Summary:
    """Take the solution for the move of the rows; return its mass, the products along it and the longest step."""
    block["before"], block["move"] = block.get("move"), block["alpha"].move(block["x"][:, 0], block["asked"])
    linear, quadratic = block["alpha"].change(block["move"])
    sums = {"mass": block["move"].value, "linear": linear, "quadratic": quadratic}
    steps = {"step": block["alpha"].longest(block["move"])}
    return Summary({name: np.asarray(block.omega @ rows) for name, rows in sums.items()}, steps)


def withdraw(block: Block) -> Summary:
    """Return to the move before the last."""
    block["move"] = block["before"]
    return Summary()


def advance(block: Block, step: float, h: float) -> Summary:
    """Move the rows."""
    block["alpha"] = block["alpha"].after(block["move"], step, h)
    return project(block)
