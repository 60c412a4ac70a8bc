"""What an engine is: it has the rows of a problem, runs passes over them and adds up what they say.

An engine is made from the labels and the shares of the total weight; the kernels come later, and change. To write
another one, for rows that are not in this process's memory: give each :class:`~robustmkl.rows.Block` to the passes
where it lives, and send back the summaries, which are small.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from ..kernels.bank import KernelBank
from .block import Summary

Pass = Callable[..., Summary]  # (block, *message) -> summary


class Engine(ABC):
    """The rows of a problem, in blocks."""

    @abstractmethod
    def attach(self, bank: KernelBank) -> None:
        """Give the rows their kernels, or exchange them; what is kept of the rows stays."""

    @abstractmethod
    def run(self, work: Pass, *message: Any) -> Summary:
        """Run a pass over all blocks and add the summaries."""
