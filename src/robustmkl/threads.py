"""BLAS threads by size: on small matrices several threads are slower than one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController

SERIAL_ROWS = 1500  # up to this many rows one thread was at least as fast

_limited = Lock()


@cache
def _controller() -> ThreadpoolController:
    """Look for the BLAS libraries once: finding them takes milliseconds."""
    return ThreadpoolController()


@contextmanager
def blas_threads(n: int) -> Iterator[None]:
    """Limit BLAS to one thread for work on ``n`` rows where that is faster; restore the caller's limits after.

    The number of threads belongs to the process. So one piece of work at a time limits it, the one that came first,
    and restores what it found; what is nested in it or runs beside it leaves the number alone.
    """
    if n > SERIAL_ROWS or not _limited.acquire(blocking=False):
        yield
        return
    try:
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _limited.release()
