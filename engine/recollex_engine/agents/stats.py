"""How much does an agent hold? Counts of memories, facts, events and bytes."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from recollex_engine.clock import from_micros
from recollex_engine.errors import CorruptError
from recollex_engine.facts.events import EVENT
from recollex_engine.facts.fact_view import FactView
from recollex_engine.state.manifest import NAME, Manifest
from recollex_engine.state.view import View
from recollex_engine.storage.disk import bytes_in
from recollex_engine.storage.encryption import is_encrypted
from recollex_engine.storage.lock import is_locked

# How well is an agent kept? Its checkpoint, its tail, its files, and whether a writer has it.
PARTS = {
    "log": "log",
    "vectors": "vectors*",
    "columns": "columns*",
    "segments": "segment-*",
    "graphs": "graphs*",
}
"""Part of an agent's folder -> the names of its files and folders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The last checkpoint: up to which operation it holds everything, and when it was written."""

    op: int
    recorded_at: datetime
    written_at: datetime
    generation: int
    segments: int
    graphs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How an agent is kept.

    checkpoint: None if there is none, or none that can be read; then opening reads the whole log.
    tail_operations: how many the checkpoint lacks. tail_memories: those that keyword search finds
    through the tail, not through a segment. recorded_at: of the last operation. writer: whether a
    process has the agent open for writing. files: the bytes of each part of the folder.
    """

    operations: int
    recorded_at: datetime | None
    checkpoint: Checkpoint | None
    tail_operations: int
    tail_memories: int
    writer: bool
    encrypted: bool
    files: dict[str, int]


def health(view: View | None, folder: Path) -> Health:
    """Return how the agent in ``folder`` is kept. Cost: that of listing its files."""
    found = _checkpoint(folder)
    op = view.op if view is not None else 0
    at = int(view.buffer("op_recorded_at")[op - 1]) if view is not None and op else None
    return Health(
        operations=op,
        recorded_at=None if at is None else from_micros(at),
        checkpoint=found,
        tail_operations=max(0, op - (found.op if found is not None else 0)),
        tail_memories=0 if view is None else view.memories - view.indexed_memories,
        writer=is_locked(folder / "LOCK"),
        encrypted=is_encrypted(folder),
        files=_files(folder),
    )


def _checkpoint(folder: Path) -> Checkpoint | None:
    with suppress(CorruptError, FileNotFoundError):  # it is replaced at any time
        manifest = Manifest.read(folder)
        if manifest is not None:
            written = (folder / NAME).stat().st_mtime
            return Checkpoint(
                op=manifest.position.op,
                recorded_at=from_micros(manifest.position.recorded_at),
                written_at=datetime.fromtimestamp(written, UTC),
                generation=manifest.generation,
                segments=len(manifest.segments),
                graphs=len(manifest.graphs),
            )
    return None


def _files(folder: Path) -> dict[str, int]:
    """Return the bytes of the log, the vectors, the columns, segments and graphs, and the rest."""
    found = {part: sum(map(_bytes, folder.glob(pattern))) for part, pattern in PARTS.items()}
    return found | {"other": max(0, bytes_in(folder) - sum(found.values()))}


def _bytes(path: Path) -> int:
    with suppress(FileNotFoundError):  # a checkpoint renames its files
        return bytes_in(path) if path.is_dir() else path.stat().st_size
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """How much an agent holds.

    forgotten: versions of memories that were forgotten, replaced, corrected or amended; not erased.
    facts, events: those that are open; a hidden event, which includes a closed fact, counts too.
    """

    memories: int
    forgotten: int
    archived: int
    passages: int
    entities: int
    terms: int
    links: int
    facts: int
    events: int
    operations: int
    tail_passages: int
    bytes_on_disk: int
    model: str | None
    language: str | None
    locale: str | None
    zone: str | None
    token_counter: str | None


def count(view: View | None, folder: Path) -> Stats:
    """Return the statistics of ``view`` of the agent in ``folder``; None for an empty agent."""
    used = bytes_in(folder)
    if view is None:
        return Stats(
            memories=0,
            forgotten=0,
            archived=0,
            passages=0,
            entities=0,
            terms=0,
            links=0,
            facts=0,
            events=0,
            operations=0,
            tail_passages=0,
            bytes_on_disk=used,
            model=None,
            language=None,
            locale=None,
            zone=None,
            token_counter=None,
        )
    settings = view.columns.settings
    opened = int(np.count_nonzero(view.open))
    archived = _archived(view)
    facts = FactView(view.columns, view.op)
    return Stats(
        memories=opened,
        forgotten=view.memories - opened - archived - _erased(view),
        archived=archived,
        passages=view.rows,
        entities=view.named_entities,
        terms=view.terms,
        links=int(view.offsets("link_offset")[-1]),
        facts=len(facts.all()),
        events=_events(facts),
        operations=view.op,
        tail_passages=view.rows - view.indexed_rows,
        bytes_on_disk=used,
        model=settings.model if settings else None,
        language=settings.language if settings else None,
        locale=settings.locale if settings else None,
        zone=settings.zone if settings else None,
        token_counter=settings.counter if settings else None,
    )


def _erased(view: View) -> int:
    """Return how many memories are erased: their own operation closes them."""
    closed_by = view.of_memories("closed_by")
    op = view.of_memories("op")
    return int(np.count_nonzero(closed_by == op))


def _archived(view: View) -> int:
    """Return how many memories are archived in ``view``."""
    kind = view.columns.dictionary["labels"].get("k:archive")
    if kind is None:
        return 0
    closed = np.flatnonzero(view.open == 0)
    forgotten = view.of_memories("forgotten_by")[closed]
    left = closed[(forgotten == 0) | (forgotten > view.op)]
    by = view.of_memories("closed_by")[left].astype(np.int64)
    return int(np.count_nonzero(view.buffer("op_kind")[by - 1] == kind))


def _events(view: FactView) -> int:
    """Return how many events, without episodes, are open in ``view``."""
    end = view.count_of("event")
    kinds, closed = (
        view.columns.column[f"event_{name}"].buffer[:end] for name in ("kind", "closed_by")
    )
    opened = (closed == 0) | (closed > view.op)
    return int(np.count_nonzero(opened & (kinds == EVENT)))
