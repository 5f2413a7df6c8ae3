"""What does one reader see? A prefix of the operations, named by one number.

A view holds the arrays as they were when it was taken. Nothing that it covers changes afterwards,
so a recall works on it without a lock while the writer appends and checkpoints.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.columns import Columns
from recollex_engine.hnsw import Hnsw
from recollex_engine.postings import Postings
from recollex_engine.tail import Tail, TailPostings
from recollex_engine.timeline import Timeline

_NO_TAIL = Tail(0).now


@dataclass(frozen=True, slots=True)
class Segment:
    """The immutable indexes of rows [first_row, end_row): posting lists, and a graph over some."""

    number: int
    postings: Postings
    hnsw: Hnsw | None = None


class View:
    """The memories recorded by operation `op`, and the indexes that cover some of their rows.

    Memories [indexed_memories, memories) are the keyword tail, found through chains in memory; rows
    that no graph covers are scanned through their codes.
    """

    def __init__(
        self,
        columns: Columns,
        op: int,
        segments: tuple[Segment, ...],
        vectors: npt.NDArray[np.uint16],
        timeline: Timeline,
    ) -> None:
        self.columns = columns
        self.op = op
        self.segments = segments
        # heads before the arrays that they point into: see `chain.Chain`
        self.entity_head = columns.mentions.head
        self.link_head = columns.incoming.head
        self._buffers = {name: column.buffer for name, column in columns.column.items()}
        self.memories = int(self._buffers["op_memories"][op - 1]) if op else 0
        self.rows = int(self._buffers["op_rows"][op - 1]) if op else 0
        self.total_length = int(self._buffers["op_length"][op - 1]) if op else 0
        self.open = columns.open_at(self.memories, op)
        self.vectors = vectors
        self.timeline = timeline.before(self.memories)
        indexed = segments[-1].postings.end_memory if segments else 0
        self.indexed_memories = min(self.memories, indexed)

    def buffer(self, name: str) -> npt.NDArray[Any]:
        """Return a column with its spare room: heads of chains may be newer than the view."""
        return self._buffers[name]

    def of_memories(self, name: str) -> npt.NDArray[Any]:
        """Return a property of the view's memories."""
        return self._buffers[name][: self.memories]

    def of_rows(self, name: str) -> npt.NDArray[Any]:
        """Return a property of the view's rows."""
        return self._buffers[name][: self.rows]

    def offsets(self, name: str) -> npt.NDArray[Any]:
        """Return the offsets of a list of the view's memories, with the end of the last."""
        return self._buffers[name][: self.memories + 1]

    def term_offsets(self, first: int, end: int) -> npt.NDArray[np.uint64]:
        """Return where the terms of memories [first, end) begin, with the end of the last."""
        offsets: npt.NDArray[np.uint64] = self._buffers["term_offset"][
            self._buffers["first_row"][first : end + 1]
        ]
        return offsets

    @cached_property
    def tail(self) -> TailPostings:
        """The postings of memories [indexed_memories, memories), and perhaps of newer ones."""
        columns, first = self.columns, self.indexed_memories
        if first == self.memories:
            return _NO_TAIL
        tail = columns.tail
        if tail.first_memory != first:
            tail = columns.tail = Tail(first)
        return tail.postings(
            self._buffers["first_row"],
            self._buffers["term_offset"],
            self._buffers["term"],
            self.memories,
            columns.dictionary["terms"].count,
        )

    @property
    def indexed_rows(self) -> int:
        """How many rows belong to memories that the posting lists cover."""
        return int(self._buffers["first_row"][self.indexed_memories]) if self.memories else 0

    @cached_property
    def codes(self) -> npt.NDArray[np.int8]:
        """The rows' vectors in eight bits: int8[rows, dimension]."""
        dimension = self.columns.dimension
        flat = self._buffers["code"][: self.rows * dimension]
        return flat.reshape(self.rows, dimension)

    @cached_property
    def memory_of_row(self) -> npt.NDArray[np.uint32]:
        """The memory of each row."""
        return self.of_rows("memory_of_row")

    @property
    def entities(self) -> int:
        """How many entities have a place in `entity_head`."""
        return len(self.entity_head)

    @cached_property
    def entity_weight(self) -> npt.NDArray[np.float32]:
        """What a link through each entity weighs: 1 / (1 + ln n), n the memories that name it.

        TEMPR 2.4.3 gives 1 to all. The speakers of a conversation name every turn of it, and would
        drown what is rare. float32[entities], as the view counts.
        """
        end = int(self._buffers["mention_offset"][self.memories])
        counts = np.bincount(self._buffers["mention_entity"][:end], minlength=self.entities)
        return (1 / (1 + np.log(np.maximum(counts, 1)))).astype(np.float32)
