"""How much does an agent hold? As its files say, without opening it."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.agents.folder_names import agent_folder
from recollex_engine.clock import from_micros
from recollex_engine.domain.schema import CLOSING, HOLE, RETAINING, schema
from recollex_engine.domain.settings import REEMBED, Settings, settings_of
from recollex_engine.errors import CorruptError, EncryptionError, FormatError
from recollex_engine.log.format import START, HeadFile, Position
from recollex_engine.log.reader import LogFollower, last_of_kind
from recollex_engine.state.manifest import Manifest
from recollex_engine.state.replica import LOG
from recollex_engine.storage.column import Column
from recollex_engine.storage.commit_word import CommitWord, fence
from recollex_engine.storage.disk import bytes_in, system_errors
from recollex_engine.storage.encryption import is_encrypted, open_key, unlock
from recollex_engine.storage.lock import is_locked


# With which model was an agent written? Read from its files, without opening it or a model.
def recorded_settings(path: Path, name: str, key: bytes | None = None) -> Settings | None:
    """Return the settings of an agent of the store at ``path``; None if it has recorded nothing.

    key: of an encrypted agent. Raises `EncryptionError` without it, and `CorruptError` for damaged
    files. Cost: 0.1 ms a megabyte of log after the last checkpoint.
    """
    folder = agent_folder(path, name)
    if not (folder / LOG).exists():
        return None
    cipher = open_key(folder, key)
    try:
        manifest = Manifest.read(folder)
        after = START if manifest is None else manifest.position
        if (moved := last_of_kind(folder / LOG, REEMBED, after)) is not None:
            return settings_of(REEMBED, moved.payload)
        return _created(folder) if manifest is None else manifest.settings
    finally:
        del cipher  # an encrypted agent is read as long as it is held


def _created(folder: Path) -> Settings | None:
    follower = LogFollower(folder / LOG)
    try:
        for transaction in follower.read_new():
            first = transaction.operations[0]
            return settings_of(first.kind, first.payload)
    finally:
        follower.close()
    return None


_CLOSED_BY = "closed_by"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSummary:
    """How much an agent holds, from `Store.agents`.

    memories: as in `Stats`; None for an encrypted agent without its key, and for a damaged one.
    operations, written_at: of the last record that its log is known to hold; None if not known.
    """

    id: str
    memories: int | None
    operations: int | None
    written_at: datetime | None
    bytes_on_disk: int


def summarize(name: str, folder: Path, key: bytes | None) -> AgentSummary:
    """Return the summary of an agent; ``key``: with which it is encrypted, if it is.

    Cost: that of reading the log after the last checkpoint; a quarter of opening 100 memories.
    """
    memories = None
    operations = None
    written = None
    with system_errors(folder):
        try:
            cipher = unlock(folder, key) if is_encrypted(folder) else None
            memories, end = _count(folder)
            operations = end.op
            written = end.recorded_at
            del cipher  # its files are read as long as it is held
        except (CorruptError, EncryptionError, FormatError):
            with suppress(FormatError):
                if (head := HeadFile(folder / LOG).read()) is not None and head.op:
                    operations = head.op
                    written = head.recorded_at
        return AgentSummary(
            id=name,
            memories=memories,
            operations=operations,
            written_at=from_micros(written) if operations and written is not None else None,
            bytes_on_disk=bytes_in(folder),
        )


def _count(folder: Path) -> tuple[int, Position]:
    """Return how many memories are open at the end of the log, and that end."""
    closed, start = _at_checkpoint(folder)
    memories = len(closed)
    opened = int(np.count_nonzero(~closed))
    until = None
    if is_locked(folder / "LOCK"):  # its writer may take back what it has not published
        until = CommitWord(folder / "COMMIT").op
        fence()
    later: set[int] = set()
    follower = LogFollower(folder / LOG, start)
    try:
        for transaction in follower.read_new(until):
            for operation in transaction.operations:
                payload: dict[str, Any] = operation.payload or {}
                if operation.payload is not None and operation.kind in RETAINING:
                    if HOLE in payload:
                        later.add(memories)
                    elif (replaced := payload.get("replaces")) is not None:
                        later.add(replaced)
                    memories += 1
                    opened += 1
                elif operation.kind in CLOSING and HOLE not in payload:
                    later.update(payload.get("memories", ()))
    finally:
        follower.close()
    closes = sum(1 for memory in later if memory >= len(closed) or not closed[memory])
    return opened - closes, follower.position


def _at_checkpoint(folder: Path) -> tuple[npt.NDArray[np.bool_], Position]:
    """Return which memories were closed at the last checkpoint, and its position."""
    with suppress(CorruptError):  # then all of the log is read
        manifest = Manifest.read(folder)
        if manifest is not None:
            home = folder / manifest.settings.columns_folder
            count = manifest.columns[_CLOSED_BY]
            by = Column(schema()[_CLOSED_BY], home / _CLOSED_BY, count).array
            return (by != 0) & (by <= manifest.position.op), manifest.position
    return np.zeros(0, np.bool_), START
