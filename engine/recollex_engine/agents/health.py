"""How well is an agent kept? Its checkpoint, its tail, its files, and whether a writer has it."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from recollex_engine.clock import from_micros
from recollex_engine.errors import CorruptError
from recollex_engine.state.manifest import NAME, Manifest
from recollex_engine.state.view import View
from recollex_engine.storage.disk import bytes_in
from recollex_engine.storage.encryption import is_encrypted
from recollex_engine.storage.lock import is_locked

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
