"""How does an agent's past become a store of its own? A snapshot. And a log an agent? A replay.

A snapshot holds the bytes of the log up to an operation and the vectors of its rows; everything
else is derived. A replay does the same with any log, and with the vectors that lie beside it;
missing vectors are embedded again from the texts.

How does an agent get another data key, or its first? By a copy of its log and vectors.
The copy has the same operations, with the same numbers and times. Its lines have new salts, so its
chain of hashes is another one: lines of the old log and of the new one cannot be matched.
Stubs keep their commitments. Columns and indexes are built by the first opening.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from recollex_engine.agents.folder_names import agent_folder
from recollex_engine.agents.later_surfaces import LaterSurfaces
from recollex_engine.agents.readable_agent import ReadableAgent
from recollex_engine.agents.store import create_store
from recollex_engine.clock import system_clock
from recollex_engine.domain.schema import ERASE
from recollex_engine.domain.settings import REEMBED, Settings
from recollex_engine.errors import (
    CorruptError,
    FormatError,
    InputError,
    LockedError,
    ModelMismatchError,
)
from recollex_engine.log.files import LogFile, compressed_path, file_numbers, plain_path
from recollex_engine.log.format import (
    START,
    HeadFile,
    Position,
    encode_header,
    lost_lines,
)
from recollex_engine.log.reader import LogFollower, last_of_kind
from recollex_engine.log.rewriting import copied_transactions, read_stubs, said_of_stubs
from recollex_engine.log.writer import LogWriter
from recollex_engine.models.embedder import Embedder, EmbeddingProgress
from recollex_engine.state.read_replica import is_erasing
from recollex_engine.state.replica import LOG
from recollex_engine.state.vector_batches import (
    VectorBatch,
    VectorBatches,
    batch_checksums,
    read_batches,
)
from recollex_engine.storage.disk import (
    FileSink,
    copy_file,
    flush_folder,
    flush_tree,
    make_folder,
    permissions,
)
from recollex_engine.storage.encryption import Cipher, create_key, is_encrypted, open_key, share_key
from recollex_engine.storage.lock import WriterLock
from recollex_engine.storage.unfinished import INSIDE, remove_unfinished, unfinished_folder
from recollex_engine.storage.vectors_file import VectorsReader, VectorsWriter, checksum
from recollex_engine.writing.restoration import restore_vectors

_CHUNK = 1 << 20
_ROWS = 4096


def snapshot(
    agent: ReadableAgent, op: int, path: Path, progress: EmbeddingProgress | None = None
) -> None:
    """Copy ``agent`` as of operation ``op`` into the store at ``path``.

    Its log is the beginning of this log, byte for byte. If vectors were embedded again since, after
    a loss or by another model, one more record says so. Raises `InputError` unless ``path`` is free
    or a store without this agent, and `LockedError` if memories are erased meanwhile; then nothing
    is made. Cost: all data are read and written once.
    """
    before = _erasing(agent.folder)
    try:
        with agent.using():
            _snapshot(agent, op, path, progress)
    except CorruptError as error:
        if _erasing(agent.folder) == before:
            raise
        raise busy(agent.folder) from error


def _erasing(folder: Path) -> tuple[bool, int]:
    """Return whether an erasure is under way, and the number of the last one."""
    last = last_of_kind(folder / LOG, ERASE)
    return is_erasing(folder), 0 if last is None else last.op


def busy(folder: Path) -> LockedError:
    """Return the error for a log that is rewritten while it is copied."""
    return LockedError(folder, "an erasure", "its log is rewritten: try again")


def _snapshot(
    agent: ReadableAgent, op: int, path: Path, progress: EmbeddingProgress | None
) -> None:
    before = _erasing(agent.folder)
    with new_agent(path, agent.name) as folder:
        if not op:
            return
        replica = agent.replica()
        assert replica.settings is not None
        copy_until(agent.folder, replica.settings, replica.published, op, folder, progress)
        if before[0] or _erasing(agent.folder) != before:
            raise busy(agent.folder)
        agent.view()  # raises `StoreMovedError`: it was copied by name


def copy_until(
    source: Path,
    settings: Settings,
    published: int,
    op: int,
    folder: Path,
    progress: EmbeddingProgress | None = None,
) -> None:
    """Copy the log and the vectors of the agent in folder ``source`` up to operation ``op``.

    ``settings``: those in force at its last operation, ``published``. If vectors were embedded
    again after ``op``, tokens counted again, or memories erased, one more record for each in the
    copy's log says so. After a move to another model, the surfaces of its versions follow.
    """
    cipher = share_key(folder, source)  # the copy is unlocked as long as this is held
    follower = LogFollower(source / LOG, verify=True)
    batches = VectorBatches()
    later = LaterSurfaces()
    try:
        then = batches.read(follower, op, progress, later.count)
        end = follower.position
        rows = batches.rows
        copy_log(source / LOG, folder / LOG, end)
        vectors = VectorsReader(source / settings.vectors_file, settings.dimension)
        copy = VectorsReader(folder / settings.vectors_file, settings.dimension)
        if rows:
            copy_vectors(vectors, copy.path, rows)
        records = []
        assert then is not None
        if then.embedding != settings.embedding:
            payload = {
                "settings": settings.to_payload(),
                "batches": batch_checksums(copy.rows(rows)),
            }
            records = [(REEMBED, orjson.dumps(payload))]
        elif rows:
            changed = [VectorBatch(b.first, b.end, found) for b, found in batches.damaged(copy)]
            records = [("restore", orjson.dumps(asdict(batch))) for batch in changed]
        lacking = [] if records else [each for each in batches.in_force if not each.sha256]
        erased = _erased_since(folder / LOG, op, lacking, copy)
        if erased is not None:
            records.append((ERASE, orjson.dumps(erased)))
        if records:
            # the vectors that were embedded since
            batches.read(follower, published, watch=later.read)
            check_vectors(batches, vectors)
            if then.embedding != settings.embedding:
                records += later.records
            with LogWriter(folder / LOG, end) as log:
                log.append(end.recorded_at + 1, records)
    finally:
        follower.close()
        del cipher


def replay(
    log: Path,
    path: Path,
    name: str,
    embedder: Callable[[], Embedder],
    progress: EmbeddingProgress | None = None,
    key: bytes | None = None,
    latest: int | None = None,
) -> int:
    """Make agent ``name`` of the store at ``path`` from a log; return its number of operations.

    ``latest``: operations with a later recorded time get this one, see `copied_transactions`.

    ``key``: of an encrypted agent, whose file KEY lies beside its log folder.

    ``log``: an agent's folder, its log folder, or one file of a log. Vectors in the file beside it
    are used if their checksums match the log, else embedded again. Raises `CorruptError`, which
    names file and line; then nothing is made.
    """
    files, places = _find_log(log)
    home = next(filter(is_encrypted, places), places[0])
    source = open_key(home, key)
    with new_agent(path, name) as folder:
        copy = share_key(folder, home)
        make_folder(folder / LOG)
        for number, file in files:
            place = compressed_path if file.suffix == ".gz" else plain_path
            copy_file(file, place(folder / LOG, number))
        if latest is not None:
            _clamp_times(folder / LOG, copy, latest)
        with LogWriter(folder / LOG) as writer:  # checks the chain
            batches = VectorBatches()
            follower = LogFollower(folder / LOG)
            try:
                settings = batches.read(follower)
            finally:
                follower.close()
            if batches.rows:
                assert settings is not None
                path = folder / settings.vectors_file
                found = (place / settings.vectors_file for place in places)
                if (beside := next((file for file in found if file.is_file()), None)) is not None:
                    copy_file(beside, path)
                try:
                    check_vectors(batches, VectorsReader(path, settings.dimension))
                except (CorruptError, FormatError):

                    def loaded(settings: Settings) -> Embedder:
                        found = embedder()
                        if found.fingerprint != settings.model:
                            raise ModelMismatchError(name, settings.model, found.fingerprint)
                        return found

                    restore_vectors(
                        writer,
                        path,
                        loaded,
                        system_clock,
                        expected=True,
                        progress=progress,
                    )
            op = writer.position.op
        del source, copy  # both were unlocked as long as they were held
        return op


def _clamp_times(log: Path, cipher: Cipher | None, latest: int) -> None:
    """Write a log anew, in one file, without recorded times after ``latest``."""
    new = log.with_name("log.clamped")
    make_folder(new)
    follower = LogFollower(log, verify=True)
    try:
        with FileSink(plain_path(new, START.file)) as sink:
            sink.write(encode_header(START.file, START, cipher is not None))
            for lines in copied_transactions(follower, cipher, latest):
                sink.write(b"".join(lines))
            sink.sync()
    finally:
        follower.close()
    shutil.rmtree(log)
    new.rename(log)


def _erased_since(
    log: Path, op: int, lacking: list[VectorBatch], vectors: VectorsReader
) -> dict[str, Any] | None:
    """Return the record of what was erased by later operations than ``op``; None if nothing was."""
    stubs, last, before = read_stubs(log, ERASE, op)
    if not stubs.count or said_of_stubs(last) == before == stubs.said:
        return None
    sums = [
        [each.first, each.end, checksum(vectors.rows(each.end)[each.first :])] for each in lacking
    ]
    return {"why": "erased after the time of this copy", "left": stubs.said, "vectors": sums}


def check_vectors(batches: VectorBatches, vectors: VectorsReader) -> None:
    """Raise `CorruptError` unless the vectors match the checksums in the log."""
    vectors.rows(batches.rows)
    for batch, found in batches.damaged(vectors):
        rows = f"rows {batch.first} to {batch.end - 1}"
        raise CorruptError(vectors.path, f"checksum {batch.sha256} of {rows}", found)


@contextmanager
def new_agent(path: Path, name: str) -> Iterator[Path]:
    """Yield an empty folder that becomes agent ``name`` of the store at ``path``.

    It is removed after an error, or if it stays empty.
    """
    target = agent_folder(path, name)
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file: give a folder that is not there yet")
    if path.is_dir() and any(path.iterdir()) and not (path / "store.json").exists():
        raise InputError(f"{path} holds other files: give a folder that is not there yet, or empty")
    if target.exists():
        raise InputError(f"{path} has an agent {name!r} already: give another folder, or name")
    create_store(path)
    remove_unfinished(path)
    make_folder(target.parent, private=True)
    with unfinished_folder(path, INSIDE) as folder:
        folder.chmod(permissions(target.parent))
        yield folder
        if any(folder.iterdir()):
            flush_tree(folder)
            folder.rename(target)
            flush_folder(target.parent)
            flush_folder(path)  # else it may be in both places after a loss of power


def copy_log(source: Path, target: Path, end: Position) -> None:
    """Copy a log's files up to a position, uncompressed."""
    make_folder(target)
    for number in range(START.file, end.file + 1):
        file = LogFile(source, number)
        left = end.offset if number == end.file else None
        at = 0
        try:
            with FileSink(plain_path(target, number)) as copy:
                while chunk := file.read(at, _CHUNK if left is None else min(_CHUNK, left - at)):
                    copy.write(chunk)
                    at += len(chunk)
        finally:
            file.close()


def copy_vectors(source: VectorsReader, path: Path, rows: int) -> None:
    """Write the first ``rows`` vectors of ``source`` to a new file."""
    vectors = source.rows(rows)
    with VectorsWriter(path, source.dimension) as writer:
        for first in range(0, rows, _ROWS):
            writer.append(vectors[first : first + _ROWS])
        writer.sync()


def _find_log(log: Path) -> tuple[list[tuple[int, Path]], list[Path]]:
    """Return the files of a log with their numbers, and the folders that may hold its vectors."""
    if log.is_file():
        files = [(START.file, log)]
        places = [log.parent, log.parent.parent]
    else:
        folder = log / LOG if (log / LOG).is_dir() else log
        numbers = file_numbers(folder)
        files = [
            (n, p if (p := plain_path(folder, n)).exists() else compressed_path(folder, n))
            for n in numbers
        ]
        if numbers != list(range(START.file, len(numbers) + 1)):
            raise CorruptError(folder, f"log files 1 to {len(numbers)}", f"files {numbers}")
        places = [folder, folder.parent]
    if not files:
        raise InputError(
            f"there is no log at {log}: give an agent's folder, STORE/agents/NAME, its log folder, "
            "or a file of operations in JSON lines"
        )
    return files, places


def recrypt(
    source: Path,
    name: str,
    path: Path,
    key: bytes | None,
    new_key: bytes | None,
    progress: EmbeddingProgress | None = None,
) -> None:
    """Copy the agent in the folder ``source`` to the store at ``path``, as agent ``name``.

    ``key``: of the agent, None if it is not encrypted; ``new_key``: of the copy, the same. Raises
    `LockedError` while a writer has the agent open, or an erasure was begun, and `CorruptError` for
    a damaged log or damaged vectors; then no copy is made. Cost: 20 us for an operation.
    """
    with WriterLock(source / "LOCK"):
        if is_erasing(source):
            raise LockedError(source, "an erasure", "open the agent for writing to complete it")
        cipher = open_key(source, key)
        with new_agent(path, name) as folder:
            new = None if new_key is None else create_key(folder, new_key)
            make_folder(folder / LOG)
            with FileSink(plain_path(folder / LOG, START.file)) as log:
                log.write(encode_header(START.file, START, new is not None))
                for lines in _lines(source, new, progress):
                    log.write(lines)
            _copy_vectors(source, folder)
            del new
        del cipher


def _lines(source: Path, new: Cipher | None, progress: EmbeddingProgress | None) -> Iterator[bytes]:
    """Yield the lines of each transaction of a log as the copy has them."""
    head = HeadFile(source / LOG).read()
    follower = LogFollower(source / LOG, verify=True, head=head)
    try:
        for lines in copied_transactions(follower, new):
            yield b"".join(lines)
            if progress is not None:
                progress(len(lines))
        if head is not None and follower.position.op < head.op:
            raise lost_lines(source / LOG, head, follower.position.op)
    finally:
        follower.close()


def _copy_vectors(source: Path, folder: Path) -> None:
    """Copy the vectors that the log of the copy names, and compare them with its checksums."""
    batches, settings = read_batches(folder / LOG)
    if not batches.rows:
        return
    if settings is None:
        raise CorruptError(source / LOG, "the settings of an agent", "none")
    vectors = VectorsReader(source / settings.vectors_file, settings.dimension)
    check_vectors(batches, vectors)
    copy_vectors(vectors, folder / settings.vectors_file, batches.rows)
