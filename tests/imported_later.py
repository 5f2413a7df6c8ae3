"""Modules that a test needs and the collection of all tests does not.

Each process that runs tests collects all files, and runs only some of them.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest


class ImportedLater:
    """A module that is imported when the first of its public names is read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest asks for such names of all that a file defines
            raise AttributeError(name)
        return getattr(import_module(self._name), name)


def imported_later(name: str, reason: str) -> Any:
    """Return a module to be imported later; skips the calling file if it is not installed."""
    if find_spec(name.partition(".")[0]) is None:
        pytest.skip(reason, allow_module_level=True)
    return ImportedLater(name)
