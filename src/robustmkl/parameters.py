"""Checks of single parameters. The message names the parameter, its value and what it may be."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np


def number(name: str, value: Any, wanted: str, valid: Callable[[float], bool], meaning: str = "") -> float:
    """Return ``value`` as a finite float for which ``valid`` holds.

    ``wanted`` says in words what a value must do to be valid, ``meaning`` what the parameter is.
    """
    end = f": {meaning}." if meaning else "."
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must {wanted}, got {value!r} of type {type(value).__name__}{end}")
    if not (np.isfinite(float(value)) and valid(float(value))):
        raise ValueError(f"{name} must {wanted}, got {plain(value)}{end}")
    return float(value)


def whole(name: str, value: Any, least: int) -> int:
    """Return ``value`` as an integer, ``least`` at the least."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number >= {least}, got {value!r} of type {type(value).__name__}.")
    if int(value) < least:
        raise ValueError(f"{name} must be a whole number >= {least}, got {plain(value)}.")
    return int(value)


def store(owner: object, **values: Any) -> None:
    """Set fields of a frozen dataclass while it is being made: Python numbers in the place of NumPy's short ones."""
    for name, value in values.items():
        object.__setattr__(owner, name, value)


def flag(name: str, value: Any) -> bool:
    """Return ``value`` as True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def plain(value: Any) -> str:
    """Return how Python itself would show a NumPy scalar."""
    return repr(value.item() if isinstance(value, np.generic) else value)
