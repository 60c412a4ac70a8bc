"""BLAS threads by size: on small matrices several threads are slower than one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

SERIAL_ROWS = 1500  # up to this many rows one thread was at least as fast


@contextmanager
def blas_threads(n: int) -> Iterator[None]:
    """Limit BLAS to one thread for work on ``n`` rows where that is faster; restore the caller's limits after."""
    if n > SERIAL_ROWS:
        yield
        return
    with threadpool_limits(limits=1, user_api="blas"):
        yield
