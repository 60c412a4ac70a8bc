"""The runs that are missing, in parallel: each is on disk before it counts as done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from .certified import certified
from .convergence import convergence, rate
from .loose import loose
from .settings import Key, Settings
from .statements import statements
from .store import Store, write

RUN: dict[str, Callable[[Key, Settings], dict[str, Any]]] = {
    "certified": certified,
    "paper": loose,
    "convergence": convergence,
    "rate": rate,
    "statements": statements,
}

Report = Callable[[Key], None]


def collect(store: Store, settings: Settings, jobs: int = 1, report: Report = lambda key: None) -> None:
    """Run what is missing; report each key when its file is written."""
    missing = [key for key in settings.plan() if not store.has(key)]
    with _one_thread_each(jobs):
        work = (delayed(_run)(key, settings, store.path(key)) for key in missing)
        for key in Parallel(jobs, return_as="generator_unordered")(work):
            report(Key(*key))


@contextmanager
def _one_thread_each(jobs: int) -> Iterator[None]:
    """Limit BLAS to one thread in every process: sums in another order are other bytes."""
    with threadpool_limits(1), parallel_config(backend="loky", inner_max_num_threads=1):
        yield


def _run(key: Key, settings: Settings, path: Path) -> Key:
    with threadpool_limits(1):
        write(path, RUN[key.kind](key, settings))
    return key
