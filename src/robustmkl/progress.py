"""Progress lines: the logger "robustmkl", shown on the error stream where the application has not set up logging."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

logger = logging.getLogger("robustmkl")


@contextmanager
def shown(verbose: int) -> Iterator[None]:
    """Let progress lines be seen while some work lasts, if they are asked for and nobody else would show them."""
    if not verbose or logger.hasHandlers():
        yield
        return
    handler, level = logging.StreamHandler(), logger.level
    handler.setFormatter(logging.Formatter("robustmkl: %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
