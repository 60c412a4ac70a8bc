"""A function in a process of its own: its memory is its own, and it can be stopped.

python -m suite.apart MODULE:FUNCTION ARGUMENTS ANSWER      (arguments and answer as JSON)
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parents[1]


def apart(function: str, stop: float | None = None, /, **arguments: Any) -> Any:
    """Return what ``module:function`` returns, ``{"over": stop}`` after so many seconds, or ``{"error": why}``."""
    path = os.pathsep.join([str(HOME), *filter(None, [os.environ.get("PYTHONPATH")])])
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, "-m", "suite.apart", function, json.dumps(arguments), str(answer)]
        try:
            environment = {**os.environ, "PYTHONPATH": path}
            done = subprocess.run(command, env=environment, timeout=stop, capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            return {"over": stop}
        if answer.exists():
            return json.loads(answer.read_text(encoding="utf-8"))
    return {"error": _last_line(done.stderr) or f"ended with status {done.returncode}"}


def surely(function: str, **arguments: Any) -> Any:
    """Return what a function returns that has no reason to fail."""
    found = apart(function, **arguments)
    if isinstance(found, dict) and "error" in found:
        raise RuntimeError(f"{function} failed with {arguments}: {found['error']}")
    return found


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def main(function: str, arguments: str, answer: str) -> None:
    """Answer to :func:`apart`, in the other process."""
    module, _, name = function.partition(":")
    value = getattr(importlib.import_module(module), name)(**json.loads(arguments))
    Path(answer).write_text(json.dumps(value), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
