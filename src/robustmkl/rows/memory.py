"""The engine for tables in memory: one block of rows, or several."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

from ..arrays import Floats
from ..kernels.bank import KernelBank
from .block import Block, Summary
from .engine import Engine, Pass


class MemoryRows(Engine):
    """The rows of a problem in memory.

    Parameters
    ----------
    y, omega : arrays
        Labels and shares of the total weight.
    rows : int, optional
        Rows a block; None: one block.
    """

    def __init__(self, y: Floats, omega: Floats, rows: int | None = None) -> None:
        step = rows or y.size
        self.cuts = [slice(i, min(i + step, y.size)) for i in range(0, y.size, step)]
        self.blocks = [Block(number, y[cut], omega[cut]) for number, cut in enumerate(self.cuts)]

    def attach(self, bank: KernelBank) -> None:
        starts = [s.z.start for s in bank.identities]
        for block, cut in zip(self.blocks, self.cuts, strict=True):
            unit = [slice(i + cut.start, i + cut.stop) for i in starts]
            block.attach(bank.basis.rows(cut), unit, bank.rank)

    def run(self, work: Pass, *message: Any) -> Summary:
        return reduce(add, (work(block, *message) for block in self.blocks))
