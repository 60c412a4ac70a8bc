"""Times of works that take turns, and the peak memory of one work."""

from __future__ import annotations

import os
import resource
import statistics
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Self

CLOCK = "BENCHMARK_CLOCK"  # "processor": what else the machine does counts little; only where all work is one thread's
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def clock() -> float:
    """Return the time, in seconds, of the clock that the script has chosen."""
    return process_time() if os.environ.get(CLOCK) == "processor" else perf_counter()


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long some work takes, and its result."""
    begin = clock()
    result = work()
    return clock() - begin, result


def turns(repeats: int, **works: Callable[[], Any]) -> tuple[dict[str, float], dict[str, Any]]:
    """Let several works take turns; return the median time of each, and its last result."""
    times: dict[str, list[float]] = {name: [] for name in works}
    results: dict[str, Any] = {}
    for _ in range(repeats):
        for name, work in works.items():
            took, results[name] = seconds(work)
            times[name].append(took)
    return {name: statistics.median(of) for name, of in times.items()}, results


class Peak:
    """The bytes that the work inside takes at its peak, beyond what the process held before.

    On Linux the high water mark of the process is reset first, so that neither imports nor the making of the data
    count; ``ru_maxrss`` would, and a child would begin with its parent's.
    """

    nbytes: int = 0

    def __enter__(self) -> Self:
        if STATUS.exists():
            CLEAR.write_text("5")
        self._before = _held("VmRSS")
        return self

    def __exit__(self, *error: object) -> None:
        self.nbytes = _held("VmHWM") - self._before


def _held(field: str) -> int:
    if not STATUS.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))
