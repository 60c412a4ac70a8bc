"""The command line: ``robustmkl reproduce ..``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or say what it needs."""
    try:
        from .commands import app
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("typer", "rich", "matplotlib", "markdown_it"):
            raise
        sys.exit(f"robustmkl: the command line needs {error.name}. Install it with: pip install 'robustmkl[cli]'")
    app()


if __name__ == "__main__":
    main()
