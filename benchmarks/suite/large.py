"""What the sections magic and spambase share: peers and solver on some thousand rows, time and memory apart."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from . import data, ours, peers
from .apart import apart
from .goal import duration, gib, ratio
from .measure import Peak, turns

LAM, TOL = 1e-3, 1e-6
WORKS = {
    "grams": lambda X, y: peers.evaluate_grams(X),
    "grams and SVC": peers.grams_and_svc,
    "RBF SVC": peers.rbf_svc,
}


def measure(table: str, n: int, works: list[str], options: Namespace) -> dict[str, Any]:
    """Return the record of one size: times of one process, our memory of another."""
    print(f"  {table}, n = {n:,}", flush=True)
    repeats = options.repeats if n <= 5000 else 1
    arguments = {"table": table, "n": n}
    found = apart("suite.large:times", options.limit_ours, **arguments, works=works, repeats=repeats)
    if "over" in found or "error" in found:  # the peers alone then
        alone = apart("suite.large:times", None, **arguments, works=works, repeats=1, alone=True)
        found = {**alone, "ours": found}
    memory = apart("suite.large:memory", options.limit_ours, **arguments)
    return {"n": n, **found, "memory": memory}


def times(table: str, n: int, works: list[str], repeats: int, alone: bool = False) -> dict[str, Any]:
    """Let the peers and the solver take turns; a solver that refuses the size is a result too."""
    X, y = data.keel(table, n)
    turn = {name: lambda work=WORKS[name]: work(X, y) for name in works}
    ours.warm_up()
    if alone:
        return {"d": X.shape[1], "peers": turns(repeats, **turn)[0]}
    try:
        times, results = turns(repeats, ours=lambda: ours.fit(X, y, LAM, tol=TOL), **turn)
    except MemoryError as error:
        return {"d": X.shape[1], "peers": turns(repeats, **turn)[0], "ours": {"refused": str(error)}}
    us = {"seconds": times.pop("ours"), **ours.record(results["ours"], X, y)}
    return {"d": X.shape[1], "ours": us, "peers": times}


def memory(table: str, n: int) -> dict[str, Any]:
    """Return the peak memory of one fit."""
    X, y = data.keel(table, n)
    ours.warm_up()
    try:
        with Peak() as peak:
            ours.fit(X, y, LAM, tol=TOL)
    except MemoryError as error:
        return {"refused": str(error)}
    return {"bytes": peak.nbytes}


def trouble(found: dict[str, Any]) -> str | None:
    """Return why there is no figure, or None."""
    if "refused" in found:
        return f"refused: {found['refused']}"
    if "over" in found:
        return f"stopped after {found['over']:g} s"
    return f"failed: {found['error']}" if "error" in found else None


def time_row(found: dict[str, Any], works: list[str]) -> list[str]:
    """Return n, the peers' times, ours, and the figures of the certificate."""
    times = [duration(found["peers"][name]) for name in works]
    us = found["ours"]
    if trouble(us):
        return [f"{found['n']:,}", *times, "no result", *["-"] * (len(works) + 4)]
    against = [ratio(us["seconds"] / found["peers"][name]) for name in works]
    figures = [f"{us['gap']:.1e}", f"{us['kernel_error']:.0e}", us["iterations"]]
    return [f"{found['n']:,}", *times, duration(us["seconds"]), *against, *figures, memory_of(found)]


def memory_of(found: dict[str, Any]) -> str:
    """Return the peak memory or a dash."""
    return gib(found["memory"]["bytes"]) if "bytes" in found["memory"] else "-"


def header(works: list[str]) -> list[str]:
    """Return the header for :func:`time_row`."""
    against = [f"ours / {name}" for name in works]
    return ["rows", *works, "ours", *against, "gap", "kernel_error", "iterations", "peak memory"]


def remarks(records: list[dict[str, Any]]) -> str:
    """Say why sizes have no figure, a line each."""
    said = [(found["n"], trouble(found["ours"])) for found in records]
    return "".join(f"\n* {n:,} rows: {why}" for n, why in said if why)
