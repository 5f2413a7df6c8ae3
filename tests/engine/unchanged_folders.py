"""The folder of a kept store, which an opening for reading must leave as it is."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import recollex


def files(folder: Path) -> dict[Path, bytes]:
    """Return the content of each file."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def opens_without_a_change(
    folder: Path,
    opened: Callable[..., recollex.Store],
    holds: Callable[[recollex.Agent], Any],
) -> None:
    """Open for reading, without a warning; check what agent "ann" holds, and every byte."""
    before = files(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with opened(folder, read_only=True) as store:
            holds(store.agent("ann"))
    assert files(folder) == before
