"""The passes of the interior point over the rows: what one block of rows does with a message.

Kept of each row: ``alpha`` and its multipliers ``lower`` and ``upper``, the dual residual, the diagonal of the Newton
matrix A, and columns: right-hand sides under a name, their solutions under "x " and the name. ``U = diag(omega y) B``.
Free rows are those that stay out of the Woodbury formula.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from ..rows import Block, Summary


def begin(block: Block, up: float, down: float, upper: float) -> Summary:
    """Set the starting point: one alpha a class."""
    block["alpha"] = np.where(block.y > 0, up, down)
    block["lower"] = np.full(block.y.size, 0.5)
    block["upper"] = np.full(block.y.size, upper)
    return project(block)


def project(block: Block) -> Summary:
    """Return ``z = B'(omega y alpha)``, ``sum omega alpha`` and ``sum omega y alpha``."""
    return Summary(_images(block, block["alpha"]))


def _images(block: Block, alpha: Floats) -> dict[str, Floats]:
    signed = block.signed * alpha
    return {
        "z": block.adjoint(signed),
        "mass": np.asarray(block.omega @ alpha),
        "tilt": np.asarray(signed.sum()),
    }


def observe(block: Block, v: Floats, b: float, kappa: float, h: float) -> Summary:
    """Keep the dual residual at ``f = -B v - b``; return the complementarity of the bounds."""
    alpha, lower, upper = block["alpha"], block["lower"], block["upper"]
    block["residual"] = -1.0 - block.y * (block.forward(v) + b) - lower + upper + kappa
    return Summary({"complementarity": np.asarray(block.omega @ (lower * alpha + upper * (h - alpha)))})


def weigh(block: Block, h: float, most: int) -> Summary:
    """Keep the diagonal ``omega D``, D = l/alpha + x/(h - alpha); return the largest values of ``omega / D``."""
    D = block["lower"] / block["alpha"] + block["upper"] / (h - block["alpha"])
    block["diagonal"], block["size"] = block.omega * D, block.omega / D
    rest = max(0, D.size - most)
    return Summary(lists={"size": [np.partition(block["size"], rest)[rest:] if rest else block["size"]]})


def split(block: Block, cut: float) -> Summary:
    """Set apart the free rows, ``omega / D > cut`` (ties are not free).

    Return U and the diagonal of the free rows, and ``U_O' W U_O`` of the others.
    """
    free = block["size"] > cut
    block.free = np.flatnonzero(free)
    block["inverse"] = np.where(free, 0.0, 1.0 / block["diagonal"])
    gram = np.zeros((0, 0)) if np.isneginf(cut) else block.gram(np.where(free, 0.0, block["size"]))
    signed = block.signed[free]
    return Summary(
        {"gram": gram},
        lists={
            "U": [block.basis[block.free] * signed[:, None]],
            "signed": [signed],
            "diagonal": [block["diagonal"][free]],
        },
    )


def border(block: Block, pull: Floats, intercept: bool, budget: bool) -> Summary:
    """Keep the border's columns: of t, of the intercept, of the budget."""
    columns = [-block.signed * block.forward(pull)]
    columns += [-block.signed] * intercept + [block.omega] * budget
    block["border"] = np.stack(columns, axis=1)
    return Summary()


def aim(block: Block, push: Floats, mu: float, h: float, second_order: bool) -> Summary:
    """Keep the right-hand side of the direction towards complementarity ``mu``."""
    alpha, room = block["alpha"], h - block["alpha"]
    r_lower, r_upper = mu - block["lower"] * alpha, mu - block["upper"] * room
    if second_order:  # Mehrotra's term, from the predictor that is still kept
        r_lower -= block["d lower"] * block["d alpha"]
        r_upper += block["d upper"] * block["d alpha"]
    block["r lower"], block["r upper"] = r_lower, r_upper
    top = -block["residual"] + r_lower / alpha - r_upper / room + block.y * block.forward(push)
    block["top"] = (block.omega * top)[:, None]
    return Summary()


def residual(block: Block, name: str, Hu: Floats | None, low: Floats | None) -> Summary:
    """Take as right-hand side what is left of the columns: ``rhs - A x - border low``; return its small parts.

    The first time (``Hu`` is None) x is 0. The small parts are ``U_O' diag(inverse) rhs`` of the rows that are not
    free, and the rows of the free.
    """
    left = block[name]
    if Hu is None:
        block["x " + name] = np.zeros_like(left)
    else:
        left = left - block["diagonal"][:, None] * block["x " + name] - block.signed[:, None] * block.forward(Hu)
    if low is not None:
        left = left - (block["border"] @ low)[:, None]
    block["rhs"] = left
    scale, free = block["inverse"] * block.signed, block.free
    g = block.adjoint(scale[:, None] * left) if free.size < scale.size else np.zeros((block.rank, left.shape[1]))
    return Summary({"g": g, "norm": np.asarray(np.sum(left * left))}, lists={"free": [left[free]]})


def expand(block: Block, V: Floats, x_free: list[Floats]) -> Summary:
    """Keep the solution dx of ``A dx = rhs``, given its small parts; return ``border' dx``."""
    free = block.free
    if free.size < block.y.size:
        dx = block["inverse"][:, None] * (block["rhs"] - block.signed[:, None] * block.forward(V))
    else:
        dx = np.zeros_like(block["rhs"])
    dx[free] += x_free[block.number]
    block["dx"] = dx
    return Summary({"inner": block["border"].T @ dx})


def accept(block: Block, name: str, low: Floats | None) -> Summary:
    """Add dx, less the border's part, to the solution x; return ``U'x`` and ``border' x``."""
    dx = block["dx"] if low is None else block["dx"] - (block["x border"] @ low)[:, None]
    x = block["x " + name] + dx
    block["x " + name] = x
    return Summary({"u": block.adjoint(block.signed[:, None] * x), "inner": block["border"].T @ x})


def settle(block: Block, h: float) -> Summary:
    """Turn the solution into the direction of the row variables; return its images and the longest step."""
    alpha, d = block["alpha"], block["x top"][:, 0]
    room = h - alpha
    block["d alpha"] = d
    block["d lower"] = (block["r lower"] - block["lower"] * d) / alpha
    block["d upper"] = (block["r upper"] + block["upper"] * d) / room
    pairs = ((alpha, d), (room, -d), (block["lower"], block["d lower"]), (block["upper"], block["d upper"]))
    return Summary(_images(block, d) | _along(block, room), {"step": min(longest(v, dv) for v, dv in pairs)})


def _along(block: Block, room: Floats) -> dict[str, Floats]:
    """Return the coefficients of t and t^2 in the complementarity after a step t."""
    d, lower, upper = block["d alpha"], block["d lower"], block["d upper"]
    linear = lower * block["alpha"] + block["lower"] * d + upper * room - block["upper"] * d
    return {
        "linear": np.asarray(block.omega @ linear),
        "quadratic": np.asarray(block.omega @ (lower * d - upper * d)),
    }


def longest(value: Floats, change: Floats) -> float:
    """Return the largest step that keeps ``value + step change >= 0``."""
    falling = change < 0.0
    return float((-value[falling] / change[falling]).min(initial=np.inf))


def advance(block: Block, step: float) -> Summary:
    """Move the row variables along the direction."""
    for name in ("alpha", "lower", "upper"):
        block[name] = block[name] + step * block["d " + name]
    return project(block)
