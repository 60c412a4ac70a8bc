"""Passes over the training rows: the only way in which the default solver touches them.

A pass is a function ``(block, *message) -> Summary``: it sees one block of rows, may update what is kept of them, and
returns sums, minima and lists that add up. An engine has the blocks, runs a pass over all of them and adds the
summaries; :class:`MemoryRows` is the one for tables in memory.
"""

from .block import Block, Summary
from .engine import Engine, Pass
from .memory import MemoryRows

__all__ = ["Block", "Engine", "MemoryRows", "Pass", "Summary"]
