"""What a section aims at, as its lines in the table of goals."""

from __future__ import annotations

from typing import Any, NamedTuple


class Goal(NamedTuple):
    """One goal: the work, what is aimed at, what was measured; ``met`` is None where nothing could be measured."""

    work: str
    aim: str
    measured: str
    met: bool | None

    @property
    def verdict(self) -> str:
        """Met or not, in plain words."""
        return "not measured" if self.met is None else "met" if self.met else "**NOT met**"


def table(header: list[str], rows: list[list[Any]]) -> str:
    """Return a Markdown table; all columns but the first to the right."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [header, rule, *rows])


def ratio(value: float) -> str:
    """Return a ratio of times with the digits that mean something."""
    return f"{value:.2g} x" if value < 10 else f"{value:,.0f} x"


def duration(value: float) -> str:
    """Return seconds, readably."""
    return f"{1e3 * value:.0f} ms" if value < 1 else f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def gib(nbytes: float) -> str:
    """Return bytes in GiB."""
    return f"{nbytes / 2**30:.3f} GiB"
