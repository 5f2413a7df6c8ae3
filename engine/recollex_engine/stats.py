"""What does an agent hold, in numbers?"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recollex_engine.view import View


@dataclass(frozen=True, slots=True)
class Stats:
    """What an agent holds."""

    memories: int
    forgotten: int
    passages: int
    entities: int
    terms: int
    links: int
    operations: int
    tail_passages: int
    bytes_on_disk: int
    model: str | None
    language: str | None
    token_counter: str | None


def count(view: View | None, folder: Path) -> Stats:
    """Return what ``view`` of the agent in ``folder`` holds; None for an agent with nothing yet."""
    used = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if view is None:
        return Stats(0, 0, 0, 0, 0, 0, 0, 0, used, None, None, None)
    columns, settings = view.columns, view.columns.settings
    opened = int(np.count_nonzero(view.open))
    return Stats(
        opened,
        view.memories - opened,
        view.rows,
        columns.entities,
        columns.dictionary["terms"].count,
        int(view.offsets("link_offset")[-1]),
        view.op,
        view.rows - view.indexed_rows,
        used,
        settings.model if settings else None,
        settings.language if settings else None,
        settings.counter if settings else None,
    )
