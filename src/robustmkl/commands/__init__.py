"""The subcommands of ``robustmkl``, one module each."""

from __future__ import annotations

import typer

from .reproduce import reproduce

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.add_typer(reproduce, name="reproduce")


@app.callback()
def about() -> None:
    """Multiple kernel learning from noisy labels."""


__all__ = ["app"]
