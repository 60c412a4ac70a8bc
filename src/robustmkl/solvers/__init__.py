"""Solvers of problem (11), and of (10) and (8): one call, four methods, one result.

interior-point   the default: a relative gap of 1e-6 in a dozen iterations or so
amp              Algorithm 1 of the paper
vi               the paper's baseline for it
simplemkl        the reduced gradient method that the paper compares with; no budget
"""

from .amp import amp
from .driver import Point, Rule, run
from .interior_point import interior_point
from .methods import SOLVERS, choose, estimate_workspace, solve
from .path import mkl_path
from .result import Record, SolveResult, Status
from .vi import vi

__all__ = [
    "SOLVERS",
    "Point",
    "Record",
    "Rule",
    "SolveResult",
    "Status",
    "amp",
    "choose",
    "estimate_workspace",
    "interior_point",
    "mkl_path",
    "run",
    "solve",
    "vi",
]
