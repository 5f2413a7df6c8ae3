"""Is a backup whole? Every object is read and compared with its name, every log with its chain."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import orjson

from recollex_engine.backup.manifest import (
    AgentRecord,
    BackupManifest,
    Piece,
    read_piece,
    read_record,
)
from recollex_engine.backup.restoring import RestoreProgress
from recollex_engine.backup.target import Target
from recollex_engine.clock import from_micros
from recollex_engine.domain.schema import ERASE
from recollex_engine.errors import CorruptError
from recollex_engine.log.format import START, Position, Record, decode_header, decode_record
from recollex_engine.log.reader import LogOperation
from recollex_engine.log.rewriting import StubDigest, problem_of_stubs, said_of_stubs
from recollex_engine.state.vector_batches import VectorBatch, VectorBatches
from recollex_engine.storage.vectors_file import row_bytes


@dataclass(frozen=True, slots=True)
class BackupVerification:
    """How much of a backup was read, and the problems found: none if `ok`.

    An object that is lost or damaged is written again by a backup with ``fresh=True``, as long as
    the store still has its content.
    """

    number: int
    taken_at: datetime
    agents: int
    operations: int
    objects: int
    bytes: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems


class _Reader:
    """Reads the pieces of one backup; damage is a problem, and reading goes on."""

    def __init__(self, target: Target, progress: RestoreProgress | None) -> None:
        self.target = target
        self.problems: list[str] = []
        self.objects = self.bytes = 0
        self._progress = progress

    def contents(self, pieces: tuple[Piece, ...]) -> Iterator[bytes | None]:
        """Yield the content of each piece, None for a damaged one."""
        for piece in pieces:
            try:
                content: bytes | None = read_piece(self.target, piece)
            except CorruptError as error:
                self.problems.append(str(error))
                content = None
            self.objects += 1
            self.bytes += piece.size
            if self._progress is not None:
                self._progress(piece.size)
            yield content


def verify_backup(
    target: Target, manifest: BackupManifest, progress: RestoreProgress | None = None
) -> BackupVerification:
    """Return the damage of a backup, without restoring it.

    Each object's content is compared with its SHA-256, each log with its chain of hashes, and the
    vectors and what is left of erased operations with their checksums in the log. Those of an
    encrypted agent are sealed, and are not compared: no key is needed. Cost: all objects are read,
    10 us for an operation.
    """
    reader = _Reader(target, progress)
    operations = 0
    for name, entry in manifest.agents.items():
        try:
            record = read_record(target, entry)
        except CorruptError as error:
            reader.problems.append(f"{name}: {error}")
            continue
        reader.objects += 1
        operations += record.end.op
        before = len(reader.problems)
        batches = _read_log(reader, record, name)
        _check_vectors(reader, record, batches, name)
        found = reader.problems[before:]
        reader.problems[before:] = [p if p.startswith(name) else f"{name}: {p}" for p in found]
    return BackupVerification(
        manifest.number,
        from_micros(manifest.taken_at),
        len(manifest.agents),
        operations,
        reader.objects,
        reader.bytes,
        tuple(reader.problems),
    )


def _read_log(reader: _Reader, record: AgentRecord, name: str) -> VectorBatches | None:
    """Follow the chain of a log through its pieces; None if it breaks, which is a problem."""
    batches = VectorBatches()
    position = START
    stubs = _StubCheck()
    is_whole = True
    for number, pieces in enumerate(record.files, 1):
        rest = b""
        offset = 0
        for content in reader.contents(pieces):
            if content is None or not is_whole:
                is_whole = False
                continue
            *lines, rest = (rest + content).split(b"\n")
            for line in lines:
                offset += len(line) + 1
                after = _follow(
                    line, number, offset, position, None if record.key else batches, stubs
                )
                if after is None:
                    reader.problems.append(
                        f"{name}: the log's chain breaks after operation {position.op}"
                    )
                    is_whole = False
                    break
                position = after
        if is_whole and rest:
            reader.problems.append(f"{name}: log file {number} ends with a part of a line")
            is_whole = False
    if is_whole and position != record.end:
        reader.problems.append(f"{name}: the log ends at {position}, expected {record.end}")
    if is_whole and (problem := stubs.problem(sealed=bool(record.key))) is not None:
        reader.problems.append(f"{name}: {problem}")
    return batches if is_whole else None


def _follow(
    line: bytes,
    number: int,
    offset: int,
    before: Position,
    batches: VectorBatches | None,
    stubs: "_StubCheck",
) -> Position | None:
    """Return the position after a line of a log; None if the line does not continue ``before``.

    ``batches`` takes in what the line says of vectors; None for a sealed payload. ``stubs`` takes
    in what it says of erasures.
    """
    if offset == len(line) + 1:
        after = Position(number, offset, before.op, before.recorded_at, before.chain)
        return after if decode_header(line) == after else None
    record = decode_record(line)
    if record is None or record.op != before.op + 1:
        return None
    chain = record.extend(before.chain)
    if record.chain is not None and record.chain != chain:
        return None
    stubs.add(record)
    if batches is not None:
        payload = None if record.payload is None else orjson.loads(record.payload)
        batches.add(LogOperation(record.op, record.recorded_at, record.kind.decode(), payload))
    return Position(number, offset, record.op, record.recorded_at, chain)


class _StubCheck:
    """What a log says of erased operations, and what is left of them, read in its order."""

    def __init__(self) -> None:
        self._found = StubDigest()
        self._before = self._found.said
        self._last: Record | None = None

    def add(self, record: Record) -> None:
        if record.erased is not None:
            self._found.add(record.op, record.payload)
        elif record.kind.decode() == ERASE:
            self._last = record
            self._before = self._found.said

    def problem(self, *, sealed: bool) -> str | None:
        """Return what is wrong; None for nothing. ``sealed``: payloads cannot be read."""
        found = self._found.said
        before = self._before
        if not sealed:
            return problem_of_stubs(found, before, said_of_stubs(self._last))
        if found == before:
            return None
        return f"{found['stubs'] - before['stubs']} operations are erased after the last {ERASE!r}"


def _check_vectors(
    reader: _Reader, record: AgentRecord, batches: VectorBatches | None, name: str
) -> None:
    """Compare the vectors with the checksums of their batches, which may begin anywhere.

    The checksums of an encrypted agent are sealed: only its size is compared.
    """
    wanted: list[VectorBatch] = [] if batches is None else batches.in_force
    size = row_bytes(record.settings.dimension, sealed=bool(record.key))
    if record.key and sum(piece.size for piece in record.vectors) != record.rows * size:
        reader.problems.append(f"{name}: vectors of other than {record.rows} rows")
    at = 0
    place = 0
    digest = hashlib.sha256()
    for content in reader.contents(record.vectors):
        if content is None:
            wanted = []
            continue
        used = 0
        while used < len(content) and place < len(wanted):
            batch = wanted[place]
            most = min(len(content), used + batch.end * size - at)
            digest.update(content[used:most])
            at += most - used
            used = most
            if at == batch.end * size:
                if batch.sha256 not in (None, digest.hexdigest()[:32]):
                    rows = f"rows {batch.first} to {batch.end - 1}"
                    reader.problems.append(f"{name}: vectors of {rows} differ from the log")
                place = place + 1
                digest = hashlib.sha256()
    if wanted and at != record.rows * size:
        reader.problems.append(f"{name}: vectors of {at // size} rows, not {record.rows}")
