"""How much memory there is, and the refusal of what cannot fit, before it is allocated."""

from __future__ import annotations

import os
from pathlib import Path

_CGROUP = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def available_bytes() -> int | None:
    """Return the bytes that a process here can still get, or None where the system does not say."""
    free = [n for n in (_meminfo(), *(_cgroup(*paths) for paths in _CGROUP)) if n is not None]
    return min(free) if free else _sysconf()


def _meminfo() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    kilobytes = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(kilobytes[0]) * 1024 if kilobytes else None


def _cgroup(limit: str, usage: str) -> int | None:
    try:
        return max(0, int(Path(limit).read_text()) - int(Path(usage).read_text()))
    except (OSError, ValueError):  # no such group, or no limit ("max")
        return None


def _sysconf() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def require(nbytes: int, what: str, remedy: str = "use fewer rows, columns or widths") -> None:
    """Raise MemoryError, with the numbers, if ``what`` needs more bytes than there are."""
    free = available_bytes()
    if free is not None and nbytes > free:
        raise MemoryError(f"{what} need {format_bytes(nbytes)}, and {format_bytes(free)} are free: {remedy}.")


def format_bytes(nbytes: int) -> str:
    """Return a size in the unit that suits it."""
    size = float(nbytes)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024.0:
            return f"{size:.3g} {unit}"
        size /= 1024.0
    return f"{size:.3g} TiB"
