"""How is a store made from a backup? Pieces become the files of its agents, which are then checked.

The log and the vectors are written; columns and indexes are built from them by the first opening.
"""

import os
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from shutil import rmtree

from recollex_engine.agents.folder_names import agent_folder
from recollex_engine.agents.snapshot import check_vectors, copy_until, new_agent
from recollex_engine.agents.store import create_store
from recollex_engine.backup.agent_backup import VECTOR_ROWS
from recollex_engine.backup.manifest import (
    AgentRecord,
    BackupManifest,
    Piece,
    last_manifest,
    read_manifest,
    read_piece,
    read_record,
)
from recollex_engine.backup.target import Target
from recollex_engine.clock import from_micros
from recollex_engine.errors import CorruptError, InputError
from recollex_engine.log.files import plain_path
from recollex_engine.log.reader import LogFollower
from recollex_engine.state.replica import LOG
from recollex_engine.state.vector_batches import VectorBatches, read_batches
from recollex_engine.storage.disk import (
    FileSink,
    flush,
    flush_folder,
    make_folder,
    open_file,
    replace_file,
    system_errors,
    write_at,
)
from recollex_engine.storage.encryption import Cipher, cipher_for_writing, put_key_file
from recollex_engine.storage.lock import WriterLock
from recollex_engine.storage.unfinished import (
    BESIDE,
    INSIDE,
    remove_unfinished,
    unfinished_folder,
)
from recollex_engine.storage.vectors_file import (
    HEADER_BYTES,
    VectorsReader,
    bytes_checksum,
    open_rows,
    row_bytes,
    vectors_header,
)


# What can a backup mend that a log cannot? Vectors that a caller gave.
def mend_vectors(folder: Path, name: str, target: Target) -> int:
    """Write damaged or lost vectors of an agent again, from its newest backup; return how many.

    Only batches whose checksum is the one that the log has are written. Returns 0 if the backup has
    no such agent, or other vectors. Raises `CorruptError` for a damaged log or backup, and
    `LockedError` while a writer has the agent open. Cost: reading the log, and the pieces with
    damaged rows.
    """
    entry = last_manifest(target).agents.get(name)
    if entry is None:
        return 0
    with WriterLock(folder / "LOCK"):
        batches, settings = read_batches(folder / LOG)
        record = read_record(target, entry)
        if settings is None or record.settings != settings:
            return 0
        path = folder / settings.vectors_file
        cipher = cipher_for_writing(path)
        header = vectors_header(settings.dimension, sealed=cipher is not None)
        size_of_row = row_bytes(settings.dimension, sealed=cipher is not None)
        if not path.exists():
            replace_file(path, header)

        def opened(stored: bytes, first: int) -> bytes:
            if cipher is None:
                return stored
            return open_rows(cipher, stored, settings.dimension, first).tobytes()

        pieces: dict[int, bytes] = {}
        mended = 0
        fd = open_file(path, os.O_RDWR)
        try:
            write_at(fd, header, 0, path)
            for batch in batches.in_force:
                offset = HEADER_BYTES + batch.first * size_of_row
                size = (batch.end - batch.first) * size_of_row
                held = opened(os.pread(fd, size, offset), batch.first)
                if batch.sha256 in (None, bytes_checksum(held)) or batch.end > record.rows:
                    continue
                wanted = range(batch.first // VECTOR_ROWS, (batch.end - 1) // VECTOR_ROWS + 1)
                pieces = {
                    each: pieces.get(each) or read_piece(target, record.vectors[each])
                    for each in wanted
                }
                first = (batch.first - wanted.start * VECTOR_ROWS) * size_of_row
                rows = b"".join(pieces.values())[first : first + size]
                if bytes_checksum(opened(rows, batch.first)) == batch.sha256:
                    write_at(fd, rows, offset, path)
                    mended += batch.end - batch.first
            flush(fd)
        finally:
            os.close(fd)
        return mended


_THREADS = 8
RestoreProgress = Callable[[int], None]
"""Called with the number of further bytes that were restored."""


@dataclass(frozen=True, slots=True)
class Restoration:
    """What was restored: the number and time of the backup, agents with their last operations."""

    number: int
    taken_at: datetime
    agents: dict[str, int]


def chosen(
    target: Target, number: int | None = None, agents: Collection[str] | None = None
) -> BackupManifest:
    """Return a backup, the newest one by default, with all agents or those named.

    Raises `InputError` if there is no such backup, or no such agent in it.
    """
    manifest = last_manifest(target) if number is None else read_manifest(target, number)
    if agents is None:
        return manifest
    for name in agents:
        if name not in manifest.agents:
            known = ", ".join(sorted(manifest.agents)[:12]) or "none"
            raise InputError(
                f"backup {manifest.number} in {target.place} has no agent {name!r}, only {known}"
            )
    entries = {name: manifest.agents[name] for name in agents}
    return replace(manifest, agents=entries)


def size_of(target: Target, manifest: BackupManifest) -> int:
    """Return the bytes of all pieces of a backup's agents."""
    records = (read_record(target, entry) for entry in manifest.agents.values())
    return sum(piece.size for record in records for piece in record.pieces)


def restore(
    target: Target,
    manifest: BackupManifest,
    path: Path,
    *,
    at: int | None = None,
    progress: RestoreProgress | None = None,
    key: bytes | None = None,
) -> Restoration:
    """Make the agents of a backup in the store at ``path``, as they were at the time ``at``.

    ``at``: in microseconds; None for the backup's end. The store may exist, without these agents.
    An agent that had no operation at that time is not made. Each agent's chain of hashes and
    vectors are checked, for which encrypted agents need their ``key``. Raises `InputError` for a
    time that the backup does not reach, or a ``path`` that is not free, and `CorruptError` if a
    piece is lost or damaged; then no agent is made. Cost: all pieces are read; with ``at`` they are
    copied once more.
    """
    for name in manifest.agents:
        if agent_folder(path, name).exists():
            raise InputError(
                f"{path} has an agent {name!r} already: give another folder, or agents to restore"
            )
    late = max((each.recorded_at for each in manifest.agents.values()), default=0)
    if at is not None and at > max(late, manifest.taken_at):
        raise InputError(
            f"the backup knows nothing after {from_micros(manifest.taken_at)}, when it was taken, "
            f"got {from_micros(at)}: give an earlier time"
        )
    counting = threading.Lock()

    def count(more: int) -> None:
        if progress is not None:
            with counting:
                progress(more)

    def one(name: str) -> int:
        record = read_record(target, manifest.agents[name])
        return _restore_agent(target, record, place, name, at, count, key)

    names = list(manifest.agents)
    with _place(path) as place, ThreadPoolExecutor(_THREADS) as pool:
        try:
            operations = list(pool.map(one, names))  # their flushes and requests overlap
        except BaseException:
            pool.shutdown(cancel_futures=True)
            for name in names:
                with suppress(OSError):
                    rmtree(agent_folder(place, name))
            raise
    restored = {name: op for name, op in zip(names, operations, strict=True) if op}
    return Restoration(manifest.number, from_micros(manifest.taken_at), restored)


@contextmanager
def _place(path: Path) -> Iterator[Path]:
    """Yield the folder of a store; a new one appears at ``path`` once the body has succeeded."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        yield path  # `new_agent` looks at what is there
        return
    with system_errors(path):
        make_folder(path.absolute().parent)
    remove_unfinished(path)
    with unfinished_folder(path.absolute().parent, BESIDE) as place:
        create_store(place)
        yield place
        flush_folder(place)
        place.rename(path)
        flush_folder(path.absolute().parent)


def _restore_agent(
    target: Target,
    record: AgentRecord,
    path: Path,
    name: str,
    at: int | None,
    progress: RestoreProgress,
    key: bytes | None,
) -> int:
    """Make one agent; return its last operation, 0 if it had none at the time."""
    with new_agent(path, name) as folder:
        if at is None or at >= record.end.recorded_at:
            cipher = _unlocked(record, folder, key)
            write_agent(target, record, folder, progress)
            _check(record, folder, None)
            del cipher
            return record.end.op
        with unfinished_folder(path, INSIDE) as whole:
            cipher = _unlocked(record, whole, key)
            write_agent(target, record, whole, progress)
            op = _check(record, whole, at)
            if op:
                copy_until(whole, record.settings, record.end.op, op, folder)
            del cipher
            return op


def _unlocked(record: AgentRecord, folder: Path, key: bytes | None) -> Cipher | None:
    """Write the KEY of an encrypted agent; its files are unlocked as long as the result is held."""
    return put_key_file(folder, record.key.encode(), key) if record.key else None


def write_agent(
    target: Target, record: AgentRecord, folder: Path, progress: RestoreProgress = lambda _: None
) -> None:
    """Write an agent's log and vectors from their pieces, without flushing them."""

    def copy(pieces: tuple[Piece, ...], sink: FileSink) -> None:
        for piece in pieces:
            content = read_piece(target, piece)
            sink.write(content)
            progress(len(content))

    make_folder(folder / LOG)
    for number, pieces in enumerate(record.files, 1):
        with FileSink(plain_path(folder / LOG, number)) as sink:
            copy(pieces, sink)
    if record.rows:
        with FileSink(folder / record.settings.vectors_file) as sink:
            sink.write(vectors_header(record.settings.dimension, sealed=bool(record.key)))
            copy(record.vectors, sink)


def _check(record: AgentRecord, folder: Path, at: int | None) -> int:
    """Compare an agent's files with its record; return its last operation by the time ``at``."""
    batches = VectorBatches()
    then = 0
    follower = LogFollower(folder / LOG, verify=True)
    try:
        for transaction in follower.read_new():
            for operation in transaction.operations:
                batches.add(operation)
            if at is None or transaction.recorded_at <= at:
                then = transaction.position.op
    finally:
        follower.close()
    if follower.position != record.end:
        raise CorruptError(folder / LOG, f"{record.end}", follower.position)
    if batches.rows != record.rows:
        raise CorruptError(folder / LOG, f"{record.rows} rows of vectors", batches.rows)
    if record.rows:
        path = folder / record.settings.vectors_file
        check_vectors(batches, VectorsReader(path, record.settings.dimension))
    return then
