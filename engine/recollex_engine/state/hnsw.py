"""Which rows of a graph are near this vector? A usearch HNSW graph over eight-bit codes.

usearch builds the graph from codes of ours, which have one scale a row (cosine ignores the scale).
usearch's own cast loses a twentieth of the recall. A recall searches the file with a kernel of ours
(`recollex_kernels.vectors.graph_search`), which compares the columns' codes of four bits a
component and skips rows that a filter excludes. Both only propose rows;
`recollex_kernels.vectors.codes.cosines` scores them, so a similarity is the same number however a
row was found.
"""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from recollex_engine import fork
from recollex_engine.errors import CorruptError, StoreFullError, TooManyFilesError
from recollex_engine.storage.column import read_only
from recollex_engine.storage.content_file import map_content, write_sealed
from recollex_engine.storage.disk import Replacement, flush
from recollex_engine.storage.encryption import cipher_for_writing
from recollex_kernels.vectors.hnsw import ARRIVED, OTHER_ROWS, near_rows, places_of, slot_rows

PROPOSED = 576
"""Rows that the graphs propose to a recall, at the least: how wide a walk must be depends on it."""
CONNECTIVITY = 16
EXPANSION_ADD = 128
WIDTHS = (64, 96, 128, 192, 256, 384, 512)
"""Widths that are tried: how many nodes the walk of a recall keeps (HNSW's ef). How wide a graph's
walk must be depends on its vectors. Recall of the nearest 10 and of the nearest 100:

| width | 99,000 real messages, queries: questions | 1,000,000 generated vectors |
| --- | --- | --- |
| 64 | 0.934, 0.838 | 0.992, 0.948 |
| 128 | 0.970, 0.926 | 0.998, 0.991 |
| 256 | 0.981, 0.968 | 0.998, 0.995 |
| 512 | 0.992, 0.989 | - |

Questions are harder to search for than the graph's own rows. So the width is the one that finds
`SHARE` of the nearest rows of sampled rows, and one step more.
"""
SHARE = 0.99
NEAREST = 100
SAMPLED = 64
"""The share of the `NEAREST` nearest rows that must be found, over `SAMPLED` rows of a graph."""
COMPARED_ROWS = 65_536
"""Rows that the sampled rows are compared with at once."""
LEAST_OF_EACH = 16
"""Where there are several graphs, each proposes twice its share of the rows, and this many more."""
PATIENCE = 4
"""A walk is given up when it is this many times as long as it would be if the rows that a filter
admits were spread evenly."""
EXPANSION_LINK = 64
"""Width of the search that links a new memory to its nearest ones."""
CHUNK = 1_024
"""Rows that are added between two questions for the number of threads. One thread adds the first
of them: threads that begin a graph together do not see each other's rows. Of 1,000 rows, built 150
times, the worst graph had 0.88 of the nearest rows with 8 threads, 0.98 with two, 0.99 with one."""

CodedRows: TypeAlias = tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32], npt.NDArray[np.uint32]]
"""The rows' codes in four bits a component, uint8[rows, dimension / 2]; their steps, float32[rows];
and their memories, uint32[rows]."""

_MAGIC = b"usearch"
_VERSION = 2
_COSINE = 99
_EIGHT_BITS = 23
_KEYS = 14
_SLOTS = 15
_SIZES = 8
_HEAD = 64
_SHAPE = 40
"""Sizes in bytes of parts of the file: rows and columns; usearch's header; the graph's numbers."""


def processors() -> int:
    """Return how many processors this machine has."""
    return os.cpu_count() or 1


def _empty(dimension: int, expansion: int = EXPANSION_LINK) -> Any:
    from usearch.index import Index

    return Index(
        ndim=dimension,
        metric="cos",
        dtype="i8",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        expansion_search=expansion,
    )


@dataclass(slots=True, eq=False, kw_only=True)
class Hnsw:
    """A graph over rows [first_row, end_row), mapped from its file; it never changes.

    The file of an encrypted agent is decrypted into memory.

    width: how many nodes the walk of a recall keeps; 0 if not measured yet.

    Threads: any number may search.
    """

    path: Path
    first_row: int
    end_row: int
    width: int
    nodes: npt.NDArray[np.uint8]  # the file
    _places: npt.NDArray[np.int64]
    _top: int
    _start: int
    _own_rows: npt.NDArray[np.uint32]  # of each slot; empty if slots are in the order of rows
    _linking: Any = None
    _loading: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def open(
        cls, path: Path, dimension: int, first_row: int, end_row: int, width: int = 0
    ) -> "Hnsw":
        """Map the graph of ``path``. Raises `CorruptError` for a file that is not such a graph."""
        try:
            pages = map_content(path)
        except TooManyFilesError:
            raise
        except (OSError, ValueError) as error:
            raise CorruptError(path, "a graph", str(error)) from error
        nodes = np.frombuffer(pages, np.uint8)
        count = end_row - first_row
        rows, columns = _numbers(nodes, 0, np.uint32, 2)
        at = _SIZES + rows * columns
        said = bytes(nodes[at : at + 17])
        kinds = (_COSINE, _EIGHT_BITS, _KEYS, _SLOTS)
        if said[:8] != _MAGIC + bytes([_VERSION]) or tuple(said[13:]) != kinds:
            raise CorruptError(path, "a graph", f"{len(nodes)} other bytes")
        if rows != count or columns != dimension:
            found = f"{rows} of {columns} dimensions"
            raise CorruptError(path, f"{count} rows of {dimension}", found)
        at += _HEAD
        size, connectivity, lowest, top, start = _numbers(nodes, at, np.uint64, 5)
        at += _SHAPE
        places = np.empty(count, np.int64)
        end = at
        levels = nodes[at : at + 2 * count]
        if len(levels) == 2 * count and int(levels.view(np.int16).min()) >= 0:
            end = places_of(levels.view(np.int16), CONNECTIVITY, at + 2 * count, places)
        if (
            (size, connectivity, lowest) != (count, CONNECTIVITY, 2 * CONNECTIVITY)
            or end != len(nodes)
            or start >= count
            or top != levels.view(np.int16)[start]
        ):
            raise CorruptError(path, "a graph", "numbers that contradict each other")
        return cls(
            path=path,
            first_row=first_row,
            end_row=end_row,
            width=width,
            nodes=nodes,
            _places=places,
            _top=top,
            _start=start,
            _own_rows=np.empty(0, np.uint32),
        )

    @property
    def links(self) -> npt.NDArray[np.uint8]:
        """The part of the file that a walk reads: everything after the vectors."""
        rows, columns = _numbers(self.nodes, 0, np.uint32, 2)
        return self.nodes[_SIZES + rows * columns :]

    def walk_width(self, share: float, budget: int) -> int:
        """Return how many nodes a walk keeps for ``budget`` rows, if ``share`` of them is allowed.

        A walk keeps only allowed nodes, but also visits excluded ones. So it needs to keep only as
        many nodes as are wanted to search as widely as a walk without a filter. While `width` is
        not measured, the largest of `WIDTHS` is taken.
        """
        width = self.width or WIDTHS[-1]
        return max(int(width * share), min(width, budget))

    def search(
        self,
        coded: CodedRows,
        allowed: npt.NDArray[np.uint8],
        query: npt.NDArray[np.float32],
        count: int,
        *,
        budget: int = WIDTHS[-1],
        share: float = 1.0,
        graphs: int = 1,
    ) -> npt.NDArray[np.uint32] | None:
        """Return uint32[at most count]: rows near ``query``, about the nearest allowed ones.

        Returns None if the walk takes too long because the allowed rows are far away.

        coded: the rows' codes, see `CodedRows`. allowed uint8[memories]: 1 for allowed ones.
        query: float32[dimension]. budget: how many rows are wanted in the end. share: the allowed
        share of the memories. graphs: how many graphs are searched for these rows; each proposes
        twice its share.

        Raises `CorruptError` if the graph is of other rows.
        """
        width = max(1, self.walk_width(share, budget) // graphs)
        most = max(1, min(count, 2 * count // graphs + LEAST_OF_EACH))
        farthest = int(PATIENCE * width / max(share, 1 / len(allowed)))
        while True:
            state, rows = near_rows(
                (
                    self.nodes,
                    self._places,
                    self._own_rows,
                    self.first_row,
                    CONNECTIVITY,
                    self._top,
                    self._start,
                ),
                coded,
                allowed,
                query,
                width,
                most,
                farthest,
            )
            if state != OTHER_ROWS:
                return rows if state == ARRIVED else None
            self._own_rows = self.rows_of_slots()

    def rows_of_slots(self) -> npt.NDArray[np.uint32]:
        """Return uint32[slots]: the row of each slot; concurrent inserts leave slots out of order.

        Raises `CorruptError` unless they are the graph's rows, each once. Cost: reading all nodes,
        30 ms a million.
        """
        rows = np.empty(len(self._places), np.uint32)
        slot_rows(self.nodes, self._places, rows)
        if (np.sort(rows) != np.arange(self.first_row, self.end_row)).any():
            found = "keys that are not"
            raise CorruptError(self.path, f"rows {self.first_row} to {self.end_row - 1}", found)
        return rows

    def search_many(
        self, codes: npt.NDArray[np.int8], count: int, threads: int = 0
    ) -> npt.NDArray[np.uint32]:
        """Return rows near each of ``codes`` int8[n, dimension]: uint32[n, min(count, rows)].

        usearch itself searches here, for the links of a batch of new memories.
        """
        with self._loading:
            if self._linking is None:
                self._linking = _empty(codes.shape[1])
                # Not by path: usearch 2.26 closes a random descriptor if the file is missing.
                self._linking.view(self.nodes.data)
        found = self._linking.search(codes, min(count, len(self._places)), threads=threads)
        return np.asarray(found.keys, dtype=np.uint32).reshape(len(codes), -1)


def _numbers(nodes: npt.NDArray[np.uint8], at: int, kind: Any, count: int) -> list[int]:
    """Return ``count`` numbers at byte ``at`` of the file; zeros beyond its end."""
    part = nodes[at : at + count * np.dtype(kind).itemsize]
    whole = np.zeros(count * np.dtype(kind).itemsize, np.uint8)
    whole[: len(part)] = part
    return [int(number) for number in whole.view(kind)]


def least_width(
    graph: Hnsw,
    coded: CodedRows,
    proposed: int,
    codes: Callable[[int, int], npt.NDArray[np.int8]],
) -> int:
    """Return how wide the walk of a recall in a graph must be, measured on some of its rows.

    proposed: how many rows each search asks for. codes(first, end) returns the codes of rows,
    int8[end - first, dimension]. The exact nearest rows are computed from all codes.

    Cost: comparing `SAMPLED` rows with all rows, some seconds for a million, and their searches.
    """
    first = graph.first_row
    count = graph.end_row - graph.first_row
    places = first + np.linspace(0, count - 1, min(SAMPLED, count)).astype(np.int64)
    rows = np.concatenate([codes(place, place + 1) for place in places.tolist()])
    queries = read_only(rows.astype(np.float32))
    wanted = min(NEAREST, count)
    truth = _exact(rows, codes, first, graph.end_row, wanted)
    allowed = np.ones(int(coded[2][-1]) + 1, np.uint8)
    for width, more in pairwise(WIDTHS):
        trial = replace(graph, width=width)
        shared = 0
        for nearest, query in zip(truth, queries, strict=True):
            found = trial.search(coded, allowed, query, proposed)
            shared += 0 if found is None else len(np.intersect1d(nearest, found))
        if shared >= SHARE * truth.size:
            return more
    return WIDTHS[-1]


def _exact(
    asked: npt.NDArray[np.int8],
    codes: Callable[[int, int], npt.NDArray[np.int8]],
    first_row: int,
    end_row: int,
    wanted: int,
) -> npt.NDArray[np.int64]:
    """Return the ``wanted`` rows of [first_row, end_row) nearest to each of ``asked``."""
    queries = asked.astype(np.float32)
    best = np.empty((len(asked), 0), np.float32)
    rows = np.empty((len(asked), 0), np.int64)
    for start in range(first_row, end_row, COMPARED_ROWS):
        part = codes(start, min(start + COMPARED_ROWS, end_row)).astype(np.float32)
        part /= np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1)
        with fork.unforked:
            cosines = queries @ part.T
        best = np.hstack([best, cosines])
        numbers = np.arange(start, start + len(part))
        rows = np.hstack([rows, np.broadcast_to(numbers, (len(asked), len(part)))])
        if best.shape[1] > wanted:
            kept = np.argpartition(-best, wanted - 1, axis=1)[:, :wanted]
            best = np.take_along_axis(best, kept, 1)
            rows = np.take_along_axis(rows, kept, 1)
    return rows


def extend_graph(
    path: Path,
    before: Path | None,
    codes: npt.NDArray[np.int8],
    first_row: int,
    threads: Callable[[], int] = processors,
) -> bool:
    """Write to ``path`` the graph of ``before`` with ``codes`` int8[n, D] added from ``first_row``.

    ``threads()`` is asked every `CHUNK` rows how many threads may insert them; one inserts the
    first `CHUNK` rows of a graph. Returns True when the file is durable; False, without a file,
    once ``threads()`` is 0. Raises `StoreFullError` with nothing at ``path``, and `CorruptError`
    for a damaged ``before``.

    Cost: reading and writing the whole graph, which is in memory meanwhile, and one insertion a
    row.
    """
    index = _empty(codes.shape[1])
    cipher = cipher_for_writing(path)
    if before is not None:
        try:
            # an encrypted graph is loaded from memory
            index.load(str(before) if cipher is None else map_content(before))
        except Exception as error:
            raise CorruptError(before, "a graph", str(error)) from error
    for start in range(0, len(codes), CHUNK):
        allowed = threads()
        if allowed == 0:
            return False
        if len(index) < CHUNK:
            allowed = 1
        part = codes[start : start + CHUNK]
        keys = np.arange(first_row + start, first_row + start + len(part), dtype=np.uint64)
        index.add(keys, part, threads=allowed)
    try:
        if cipher is not None:
            write_sealed(path, cipher, index.save())
            return True
        with Replacement(path) as file:
            index.save(str(file.path))
            with file.path.open("rb") as saved:
                flush(saved.fileno())
            file.take_place()
    except Exception as error:  # usearch raises RuntimeError for any failed write
        raise StoreFullError(f"cannot write {path}: {error}") from error
    return True
