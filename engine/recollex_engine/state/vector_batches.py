"""Which checksums must the rows of the vectors file have? Those in the log, batch by batch.

A transaction that adds rows holds in its first `retain` their number and checksum. A `restore`
records that rows were embedded again, and their new checksum. A `reembed` records the checksums of
all rows.
"""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from recollex_engine.domain.schema import RETAINING
from recollex_engine.domain.settings import REEMBED
from recollex_engine.log.reader import Operation
from recollex_engine.storage.vectors_file import VectorsReader, checksum

BATCH = 1024
"""Rows that share a checksum, and are embedded together, when all rows are embedded again."""


@dataclass(frozen=True, slots=True)
class VectorBatch:
    """Rows [first, end), and the checksum of their bytes."""

    first: int
    end: int
    sha256: str


def batch_checksums(rows: NDArray[Any]) -> list[tuple[int, str]]:
    """Return (end, checksum) of each `BATCH` rows, as a `reembed` records them."""
    ends = [*range(BATCH, len(rows), BATCH), len(rows)] if len(rows) else []
    return [(end, checksum(rows[max(0, end - 1) // BATCH * BATCH : end])) for end in ends]


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

    def add(self, operation: Operation) -> None:
        """Read one operation; call this in the order of the log."""
        payload = operation.payload
        if payload is None:
            return
        if operation.kind in RETAINING and (said := payload.get("vectors")):
            self.in_force.append(VectorBatch(self.rows, self.rows + said["rows"], said["sha256"]))
            self.rows += said["rows"]
        elif operation.kind == "restore":
            new = VectorBatch(payload["first"], payload["end"], payload["sha256"])
            kept = [b for b in self.in_force if b.end <= new.first or new.end <= b.first]
            self.in_force = sorted([*kept, new], key=lambda batch: batch.first)
        elif operation.kind == REEMBED:
            ends = [end for end, _ in payload["batches"]]
            self.in_force = [
                VectorBatch(first, end, sha256)
                for first, (end, sha256) in zip([0, *ends], payload["batches"], strict=False)
            ]

    def damaged(self, vectors: VectorsReader) -> list[tuple[VectorBatch, str]]:
        """Return (batch, found checksum) of the batches whose bytes have another checksum.

        Raises `CorruptError` if the file is too short. Cost: 0.7 ms a megabyte.
        """
        return [
            (batch, found)
            for batch in self.in_force
            if (found := checksum(vectors.rows(batch.end)[batch.first :])) != batch.sha256
        ]
