"""Checks that a caller's number is within its bounds."""

import math

import numpy as np

from recollex_engine.errors import InputError


def check_count(value: object, name: str, least: int, most: int) -> None:
    """Raise `InputError` unless ``value`` is a whole number in [least, most]."""
    if type(value) is int and least <= value <= most:  # the common case
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{name} must be an int, got {type(value).__name__}")
    if not least <= value <= most:
        raise InputError(f"{name} must lie in [{least}, {most}], got {value}")


def check_number(value: object, name: str, least: float, most: float) -> None:
    """Raise `InputError` unless ``value`` is a finite number in [least, most]."""
    if type(value) is float and least <= value <= most:  # the common case; NaN fails it
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name} must be a number, got {type(value).__name__}")
    if not (math.isfinite(value) and least <= value <= most):
        raise InputError(f"{name} must lie in [{least:g}, {most:g}], got {value}")
