"""One file a run, written at once or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .settings import Key, Settings


class Store:
    """The folder of a reproduction: ``settings.json`` and ``runs/``."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder, self.runs = folder, folder / "runs"
        self.runs.mkdir(parents=True, exist_ok=True)
        self._claim(settings)

    def _claim(self, settings: Settings) -> None:
        """Refuse a folder of runs with other settings: they cannot be compared."""
        path, fixed = self.folder / "settings.json", settings.fixed()
        if not path.exists():
            write(path, fixed)
        elif (found := json.loads(path.read_text(encoding="utf-8"))) != fixed:
            other = sorted(name for name in fixed if found.get(name) != fixed[name])
            raise ValueError(
                f"{path} belongs to runs with other settings ({', '.join(other)}): give another --out, or the same "
                "options as before."
            )

    def path(self, key: Key) -> Path:
        """Return the file of a run."""
        return self.runs / f"{key.name}.json"

    def has(self, key: Key) -> bool:
        """Return whether a run is finished."""
        return self.path(key).exists()

    def load(self, key: Key) -> dict[str, Any]:
        """Return a finished run."""
        return dict(json.loads(self.path(key).read_text(encoding="utf-8")))


def write(path: Path, content: dict[str, Any]) -> None:
    """Write a file as a whole: whoever is killed leaves the old state or the new one."""
    replace(path, (json.dumps(content, separators=(",", ":")) + "\n").encode())


def replace(path: Path, content: bytes) -> None:
    """Write bytes to a file of another name, to the disk, and rename it."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    for stale in path.parent.glob(f".{path.name}.*"):  # of a process that was killed
        stale.unlink(missing_ok=True)
