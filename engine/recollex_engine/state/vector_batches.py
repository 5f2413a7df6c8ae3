"""Which checksums must the rows of the vectors file have? Those in the log, batch by batch.

A transaction that adds rows holds in its first `retain` their number and checksum. A `restore`
records that rows were embedded again, and their new checksum. A `reembed` records the checksums of
all rows. An `erase` has those of the batches in which it has set rows to zeros; the earlier
checksums of these batches are None, since a vector could be guessed with them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from numpy.typing import NDArray

from recollex_engine.domain.records import Erase, Reembed, Restore, RetainRecord
from recollex_engine.domain.schema import ERASE, RETAINING
from recollex_engine.domain.settings import REEMBED, Settings, settings_of
from recollex_engine.errors import CorruptError
from recollex_engine.log.format import Position
from recollex_engine.log.reader import LogFollower, LogOperation
from recollex_engine.models.embedder import EmbeddingProgress
from recollex_engine.storage.vectors_file import VectorsReader, checksum

BATCH = 1024
"""Rows that share a checksum, and are embedded together, when all rows are embedded again."""


@dataclass(frozen=True, slots=True)
class VectorBatch:
    """Rows [first, end), and the checksum of their bytes; None if a later `erase` has it."""

    first: int
    end: int
    sha256: str | None


def batch_checksums(rows: NDArray[Any]) -> list[tuple[int, str]]:
    """Return (end, checksum) of each `BATCH` rows, as a `reembed` records them."""
    ends = [*range(BATCH, len(rows), BATCH), len(rows)] if len(rows) else []
    return [(end, checksum(rows[max(0, end - 1) // BATCH * BATCH : end])) for end in ends]


def is_whole(vectors: VectorsReader, batch: VectorBatch) -> bool:
    """Return whether the rows of ``batch`` are in the file, with its checksum."""
    try:
        return checksum(vectors.rows(batch.end)[batch.first :]) == batch.sha256
    except CorruptError:
        return False


def torn_position(
    follower: LogFollower, rows: int, vectors: VectorsReader, flushed: int | None
) -> Position | None:
    """Return the position before the first transaction whose vectors did not reach the disk.

    ``follower`` reads the log from a position with ``rows`` rows on. None if no vectors are
    missing, or if it is damage: the file has lost its header, or vectors of an operation that a
    flush covered, ``flushed`` or an earlier one.
    """
    if flushed is None or not vectors.has_header():
        return None
    batches = VectorBatches(rows)
    began = [(rows, follower.position)]
    for transaction in follower.read_new():
        for operation in transaction.operations:
            batches.add(operation)
        began.append((batches.rows, transaction.position))
    lost = batches.lost(vectors)
    if not lost:
        return None
    first = min(batch.first for batch in lost)
    torn = [position for rows, position in began if rows <= first]
    return torn[-1] if torn and torn[-1].op >= flushed else None


def _batch(first: int, end: int, sha256: str | None) -> VectorBatch:
    """Return a batch as a log says it. Raises `TypeError` or `ValueError` for what is none."""
    if not 0 <= first <= end:
        raise ValueError(f"a batch has rows {first} to {end}")
    if not (sha256 is None or isinstance(sha256, str)):
        raise TypeError(f"a batch has the checksum {sha256!r}")
    return VectorBatch(first, end, sha256)


class VectorBatches:
    """The batches that currently apply, read from the log from row ``rows`` on.

    >>> batches = VectorBatches()
    >>> batches.add(Operation(1, 1, "retain", {"vectors": {"rows": 2, "sha256": "a"}}))
    >>> batches.add(Operation(2, 2, "restore", {"first": 0, "end": 2, "sha256": "b"}))
    >>> batches.in_force
    [VectorBatch(first=0, end=2, sha256='b')]
    """

    def __init__(self, rows: int = 0) -> None:
        self.rows = rows
        self.in_force: list[VectorBatch] = []

    def add(self, operation: LogOperation) -> None:
        """Read one operation; call this in the order of the log."""
        payload = operation.payload
        if payload is None:
            return
        if operation.kind in RETAINING and (said := cast(RetainRecord, payload).get("vectors")):
            self.in_force.append(_batch(self.rows, self.rows + said["rows"], said["sha256"]))
            self.rows += said["rows"]
        elif operation.kind == "restore":
            restored = cast(Restore, payload)
            self._replace([_batch(restored["first"], restored["end"], restored["sha256"])])
        elif operation.kind == ERASE:
            self._replace([_batch(*batch) for batch in cast(Erase, payload)["vectors"]])
        elif operation.kind == REEMBED:
            batches = cast(Reembed, payload)["batches"]
            firsts = [0, *(end for end, _ in batches)]
            self.in_force = [
                _batch(first, end, sha256)
                for first, (end, sha256) in zip(firsts, batches, strict=False)
            ]

    def read(
        self,
        follower: LogFollower,
        until_op: int | None = None,
        progress: EmbeddingProgress | None = None,
        watch: Callable[[LogOperation], None] | None = None,
    ) -> Settings | None:
        """Read the transactions that follow in a log; return the last settings in them, if any.

        progress: called with the number of operations of each transaction. watch: called with each
        operation.
        """
        settings = None
        for transaction in follower.read_new(until_op):
            for operation in transaction.operations:
                try:
                    self.add(operation)
                    settings = settings_of(operation.kind, operation.payload) or settings
                except (AttributeError, KeyError, TypeError, ValueError) as error:
                    expected = f"a payload of operation {operation.op} that fits its kind"
                    raise CorruptError(follower.folder, expected, repr(error)) from error
                if watch is not None:
                    watch(operation)
            if progress is not None:
                progress(len(transaction.operations))
        return settings

    def _replace(self, new: list[VectorBatch]) -> None:
        """Put batches in the place of those that they overlap; both are in the order of rows."""
        firsts = [batch.first for batch in self.in_force]
        ends = [batch.end for batch in self.in_force]
        for batch in reversed(new):  # of several, the later ones first: earlier places stay
            first = bisect_right(ends, batch.first)
            end = bisect_left(firsts, batch.end)
            self.in_force[first:end] = [batch]
            firsts[first:end] = [batch.first]
            ends[first:end] = [batch.end]

    def lost(self, vectors: VectorsReader) -> list[VectorBatch]:
        """Return the batches whose rows are missing in the file, or have another checksum.

        Cost: 0.7 ms a megabyte.
        """
        return [batch for batch in self.in_force if not is_whole(vectors, batch)]

    def damaged(self, vectors: VectorsReader) -> list[tuple[VectorBatch, str]]:
        """Return (batch, found checksum) of the batches whose bytes have another checksum.

        Batches without a checksum are left out.
        Raises `CorruptError` if the file is too short. Cost: 0.7 ms a megabyte.
        """
        return [
            (batch, found)
            for batch in self.in_force
            if batch.sha256 is not None
            and (found := checksum(vectors.rows(batch.end)[batch.first :])) != batch.sha256
        ]


def read_batches(log: Path) -> tuple[VectorBatches, Settings | None]:
    """Return the batches of a whole log, and its settings in force; None for an empty log.

    Raises `CorruptError` for damage: every chain is verified. Cost: 10 us an operation.
    """
    batches = VectorBatches()
    with closing(LogFollower(log, verify=True)) as follower:
        return batches, batches.read(follower)
