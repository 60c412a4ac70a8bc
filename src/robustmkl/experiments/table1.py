"""Table 1 of the paper, from the tables that ship with the package."""

from __future__ import annotations

from typing import NamedTuple

from ..datasets import load_uci

PRINTED = {
    "ionosphere": (351, 34),
    "heart": (270, 13),
    "sonar": (208, 60),
    "breast-cancer": (683, 10),
    "australia": (690, 14),
}


class Entry(NamedTuple):
    """One line: rows and attributes as printed and as found."""

    dataset: str
    printed: tuple[int, int]
    found: tuple[int, int]

    @property
    def agrees(self) -> bool:
        """Whether the bundled table has the printed size."""
        return self.printed == self.found


def check_table1() -> list[Entry]:
    """Return every line of Table 1 beside what the bundled tables hold."""
    return [Entry(name, printed, _size(name)) for name, printed in PRINTED.items()]


def _size(name: str) -> tuple[int, int]:
    rows, columns = load_uci(name, return_X_y=True)[0].shape
    return int(rows), int(columns)
