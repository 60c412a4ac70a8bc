"""The benchmark suite: time, memory and true gap of the solver against its peers; records and one page of results.

    python benchmarks/solver.py [SECTION ..] [--quick]      measure, store, and make the page
    python benchmarks/solver.py page                        make the page from the records alone

Sections: tables rivals magic spambase rows nasty gap (default: all). Records and pictures go to docs/benchmarks, the
page to docs/benchmarks.md; those of quick runs to build/. rivals, magic and spambase need the extra ``bench``.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from suite.measure import CLOCK
from suite.page import SECTIONS, THREADS, render, store

ROOT = Path(__file__).resolve().parents[1]


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("sections", nargs="*", choices=[*SECTIONS, "page", []], default=[], metavar="SECTION")
    add("--quick", action="store_true", help="small versions of all sections")
    add("--jobs", type=int, default=2, help="processes of the section nasty")
    add("--count", type=int, help="problems of the section nasty")
    add("--sizes", type=int, nargs="+", help="rows in the sections magic, spambase and rows")
    add("--repeats", type=int, default=3, help="turns of which the median counts")
    add("--threads", type=int, default=1, help="BLAS and OpenMP threads of every process, ours and the peers'")
    add("--limit", type=float, default=60.0, help="seconds for a rival")
    add("--limit-ours", type=float, default=3600.0, help="seconds for a process with our solver on a large table")
    add("--out", type=Path, help="folder of the records")
    options = parser.parse_args(arguments)
    options.repeats = 1 if options.quick else options.repeats
    options.out = options.out or ROOT / ("build" if options.quick else "docs") / "benchmarks"
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    os.environ.update({name: str(options.threads) for name in THREADS})  # all work is done in processes started later
    os.environ[CLOCK] = "processor" if options.threads == 1 else "wall"
    for name in options.sections or SECTIONS:
        if name != "page":
            print(name, flush=True)
            begun = datetime.now(UTC)
            store(options.out, name, SECTIONS[name].run(options), options.quick, begun)
    print(render(options.out))


if __name__ == "__main__":
    main()
