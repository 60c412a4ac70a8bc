"""BLAS threads by size: on small matrices several threads are slower than one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

SERIAL_ROWS = 1500  # up to this many rows one thread was at least as fast


@cache
def _controller() -> ThreadpoolController:
    """Look for the BLAS libraries once: finding them takes milliseconds."""
    return ThreadpoolController()


@contextmanager
def blas_threads(n: int) -> Iterator[None]:
    """Limit BLAS to one thread for work on ``n`` rows where that is faster; restore the caller's limits after."""
    if n > SERIAL_ROWS:
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        yield
