"""How is one agent backed up? Its log and its vectors become pieces; only new ones are read.

Each plain file of the log is cut into pieces of `LOG_BYTES`, the vectors into pieces of
`VECTOR_ROWS`. Both only grow, so every piece of the former backup is used again, except the last
one of each file. After an erasure, a restored vector or a move to another model everything is read
again; equal pieces have equal names.
"""

import time
from collections.abc import Callable
from pathlib import Path

import orjson

from recollex_engine.agents.snapshot import busy, check_vectors
from recollex_engine.backup.manifest import AgentRecord, Piece
from recollex_engine.domain.schema import ERASE
from recollex_engine.domain.settings import REEMBED, Settings, settings_of
from recollex_engine.errors import CorruptError
from recollex_engine.log.files import LogFile
from recollex_engine.log.format import NO_CHAIN, START, HeadFile, Position, Record, lost_lines
from recollex_engine.log.reader import BURST, LogFollower, LogOperation
from recollex_engine.state.read_replica import ErasureWatch
from recollex_engine.state.replica import LOG
from recollex_engine.state.vector_batches import VectorBatches
from recollex_engine.storage.commit_word import CommitWord
from recollex_engine.storage.encryption import is_encrypted, read_key_file
from recollex_engine.storage.lock import is_locked
from recollex_engine.storage.vectors_file import VectorsReader

LOG_BYTES = 4 << 20
"""Plain bytes of a log file in one piece."""
VECTOR_ROWS = 4096
"""Rows in one piece of the vectors: 3 MB of 384 dimensions."""

_ATTEMPTS = 20
_FAILURES = 3
_RETRY_SECONDS = 0.1
_PAUSE = 0.0002
"""Seconds of a pause, in which a writer's thread in this process takes the interpreter."""
_REWRITING = {ERASE, REEMBED, "restore"}
"""The kinds of operation that change earlier bytes of the log or of the vectors."""
_SAYING = {"create", *_REWRITING}
"""The kinds of operation that say which files there are; others may say how many vectors."""

Add = Callable[[bytes, bool], Piece]
"""Stores a content, compressed or not, and returns its piece."""


class _Rewritten(Exception):  # noqa: N818 - not an error: the agent is read from its beginning
    """Bytes before the end of the former backup have changed."""


def back_up_agent(
    folder: Path, former: AgentRecord | None, add: Add, *, fresh: bool = False
) -> AgentRecord | None:
    """Return the record of the agent in ``folder`` as it is published now; None if it is empty.

    ``former``: the agent's record in the former backup. ``fresh``: do not use it; the agent may
    be another one of the same name. Raises `CorruptError` if the log is damaged, is shorter than in
    the former backup or has diverged from it, and `LockedError` while memories are erased.
    An agent that is erased meanwhile is read again.

    A writer may write meanwhile, in any process. Cost: 10 us for each operation since ``former``,
    or for each operation if all is read; and hashing and storing new pieces.
    """
    base = None if fresh else former
    failures = 0
    for _ in range(_ATTEMPTS):
        with ErasureWatch(folder) as watch:
            try:
                if not watch.began_during_erasure:
                    former_end = None if fresh else former
                    record = read_agent(folder, base, former_end, add, _published(folder))
                    if not watch.has_seen_erasure:
                        return record
            except (CorruptError, FileNotFoundError, _Rewritten) as error:
                if base is not None:
                    base = None
                    continue
                if not watch.has_seen_erasure:
                    failures += 1  # files may have been replaced meanwhile: a move to a model
                if failures == _FAILURES or not folder.exists():
                    raise error
        time.sleep(_RETRY_SECONDS)
    raise busy(folder)


def _pause() -> None:
    time.sleep(_PAUSE)


def _published(folder: Path) -> int | None:
    """Return the last operation to read; None, for all, if no writer is open to take some back."""
    commit = CommitWord(folder / "COMMIT")
    return commit.op if commit.is_whole and is_locked(folder / "LOCK") else None


def read_agent(
    folder: Path,
    base: AgentRecord | None,
    former: AgentRecord | None,
    add: Add,
    until: int | None,
) -> AgentRecord | None:
    """Return the agent's record up to operation ``until``, None for all; None if it is empty.

    Pieces of ``base`` are kept; ``former`` must be the log's beginning.
    """
    head = HeadFile(folder / LOG).read() if until is None else None  # the log holds it by now
    settings: Settings | None = base.settings if base else None
    first = base.first if base else ""
    batches = VectorBatches(base.rows if base else 0)
    then = NO_CHAIN if former is None else None
    start = base.end if base else START
    follower = LogFollower(folder / LOG, start, verify=True, head=head, pause=_pause)
    try:
        for records, _ in follower.read_records(until):
            for number, record in enumerate(records, 1):
                if number % BURST == 0:
                    _pause()
                operation = _operation(record, follower.payload_of(record))
                if base is not None and operation.kind in _REWRITING:
                    raise _Rewritten
                settings = settings_of(operation.kind, operation.payload) or settings
                batches.add(operation)
            position = follower.position
            first = first or position.chain.hex()
            if former is not None and position.op == former.end.op:
                then = position.chain
    finally:
        follower.close()
    end = follower.position
    if head is not None and end.op < head.op:
        raise lost_lines(folder / LOG, head, end.op)
    if former is not None and base is None and then != former.end.chain:
        found = f"operation {end.op}, of another history" if then or end.op else "an empty log"
        if end.op < former.end.op:
            found = f"{end.op} operations"
        raise CorruptError(
            folder / LOG,
            f"the {former.end.op} operations of the last backup, and perhaps later ones",
            f"{found}: restore the backup to another folder and compare; fresh=True, or --fresh, "
            "backs up what is here, beside what was backed up before",
        )
    if not end.op:
        return None
    assert settings is not None
    files = tuple(
        _log_pieces(folder / LOG, number, end, base, add)
        for number in range(START.file, end.file + 1)
    )
    vectors = _vector_pieces(folder, settings, batches, base, add)
    key = read_key_file(folder).decode() if is_encrypted(folder) else ""
    return AgentRecord(first, end, settings, batches.rows, files, vectors, key)


def _operation(record: Record, payload: bytes | None) -> LogOperation:
    """Return an operation, without its payload if that says nothing about files."""
    kind = record.kind.decode()
    if payload is None or (kind not in _SAYING and b'"vectors":' not in payload):
        return LogOperation(record.op, record.recorded_at, kind, None)
    return LogOperation(record.op, record.recorded_at, kind, orjson.loads(payload))


def _log_pieces(
    log: Path, number: int, end: Position, base: AgentRecord | None, add: Add
) -> tuple[Piece, ...]:
    """Return the pieces of one log file; those that cannot have changed are taken from ``base``."""
    known = base.files[number - 1] if base and number <= base.end.file else ()
    if base and number < base.end.file:
        return known
    pieces = [each for each in known if each.size == LOG_BYTES]
    at = LOG_BYTES * len(pieces)
    last = end.offset if number == end.file else None
    file = LogFile(log, number)
    try:
        while chunk := _read_whole(file, at, LOG_BYTES if last is None else last - at):
            pieces.append(add(chunk, True))
            at += len(chunk)
    finally:
        file.close()
    if last is not None and at != last:
        raise CorruptError(file.path, f"{last} bytes", f"{at}")
    return tuple(pieces)


def _read_whole(file: LogFile, at: int, size: int) -> bytes:
    """Return ``size`` bytes at an offset, at most `LOG_BYTES`; fewer only at the file's end."""
    parts = []
    left = min(size, LOG_BYTES)
    while left and (part := file.read(at, left)):
        parts.append(part)
        at += len(part)
        left -= len(part)
    return b"".join(parts)


def _vector_pieces(
    folder: Path,
    settings: Settings,
    batches: VectorBatches,
    base: AgentRecord | None,
    add: Add,
) -> tuple[Piece, ...]:
    """Return the pieces of the vectors. Raises `CorruptError` if the log has other checksums."""
    if not batches.rows:
        return ()
    full = base.rows // VECTOR_ROWS if base else 0
    pieces = list(base.vectors[:full]) if base else []
    vectors = VectorsReader(folder / settings.vectors_file, settings.dimension)
    check_vectors(batches, vectors)
    for first in range(VECTOR_ROWS * full, batches.rows, VECTOR_ROWS):
        end = min(first + VECTOR_ROWS, batches.rows)
        pieces.append(add(vectors.stored(first, end), False))
    return tuple(pieces)
