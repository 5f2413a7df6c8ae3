"""Which rows of a graph are near this vector? A usearch HNSW graph over eight-bit codes.

The graph proposes rows; `recollex_kernels.vectors.cosines` scores them, so a similarity is the
same number whichever way a row was found. Codes are ours (one scale a row, which cosine ignores),
not usearch's own cast, which loses a twentieth of the recall.
"""

import mmap
import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.disk import flush
from recollex_engine.errors import CorruptError, StoreFullError

CONNECTIVITY = 16
EXPANSION_ADD = 128
EXPANSIONS = (128, 192, 256, 384, 512)
"""Candidates of a recall that are tried, and the most: what a graph needs, its vectors say.

| candidates | 99,000 real messages: 10 and 100 of a question | 100 of a row | 1,000,000 made up |
| --- | --- | --- | --- |
| 128 | .971, .922 | .950 | .988, .988 | .9993 |
| 192 | .981, .952 | .971 | .998, .999 | .9994 |
| 256 | .984, .967 | .981 | .998, .999 | .9995 |
| 512 | .991, .987 | .993 | .998, .999 | .9996 |

Questions are harder than rows: so `SHARE` of the rows' is asked for, and one step more is taken.
"""
SHARE, NEAREST, SAMPLED = 0.99, 100, 64
"""Which share of how many nearest must be found, for how many rows of a graph."""
PART = 65_536
"""Rows that the sampled ones are compared with at once."""
LEAST_OF_EACH = 16
"""Rows that each of several graphs proposes beside twice its share of them."""
EXPANSION_LINK = 64
"""Candidates when a new memory is linked to its few nearest."""
CHUNK = 1_024
"""Rows that are added before it is asked whether to go on."""


def _empty(dimension: int, expansion: int = EXPANSIONS[-1]) -> Any:
    from usearch.index import Index

    return Index(
        ndim=dimension,
        metric="cos",
        dtype="i8",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        expansion_search=expansion,
    )


@dataclass(frozen=True, slots=True)
class Hnsw:
    """A graph over rows [first_row, end_row), mapped from its file; never changed.

    Threads: searches from any number of threads.
    """

    first_row: int
    end_row: int
    index: Any
    linking: Any  # the same graph, searched with fewer candidates
    pages: memoryview  # what both look into
    expansion: int  # candidates of a recall

    @classmethod
    def open(
        cls,
        path: Path,
        dimension: int,
        first_row: int,
        end_row: int,
        expansion: int = EXPANSIONS[-1],
    ) -> "Hnsw":
        """Map the graph of ``path``. Raises `CorruptError` for a file that is not such a graph."""
        index, linking = _empty(dimension), _empty(dimension, EXPANSION_LINK)
        try:
            # Not by its name: where the file is absent, usearch 2.26 closes a descriptor at random.
            with path.open("rb") as file:
                pages = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            index.view(pages)
            linking.view(pages)
        except Exception as error:  # usearch raises RuntimeError for all that may be wrong
            raise CorruptError(path, "a graph", str(error)) from error
        if len(index) != end_row - first_row or index.ndim != dimension:
            found = f"{len(index)} of {index.ndim} dimensions"
            raise CorruptError(path, f"{end_row - first_row} rows of {dimension}", found)
        return cls(first_row, end_row, index, linking, pages, expansion)

    def search(
        self, code: npt.NDArray[np.int8], count: int, graphs: int = 1
    ) -> npt.NDArray[np.uint32]:
        """Return rows near ``code`` int8[dimension], approximately the nearest, at most ``count``.

        graphs: among how many the rows that are looked for lie; each gives twice its share.
        """
        count = min(count, 2 * count // graphs + LEAST_OF_EACH)
        expansion = max(count, self.expansion // graphs)
        if self.index.expansion_search != expansion:  # the same for all searches of a view
            self.index.expansion_search = expansion
        found = self.index.search(code, count)
        return np.asarray(found.keys, dtype=np.uint32)

    def search_many(
        self, codes: npt.NDArray[np.int8], count: int, threads: int = 0
    ) -> npt.NDArray[np.uint32]:
        """Return rows near each of ``codes``: uint32[n, count], as far as the graph has so many.

        With fewer candidates than `search`: for links, which a batch of new memories needs.
        """
        found = self.linking.search(codes, min(count, len(self.index)), threads=threads)
        return np.asarray(found.keys, dtype=np.uint32).reshape(len(codes), -1)


def least_expansion(graph: Hnsw, codes: Callable[[int, int], npt.NDArray[np.int8]]) -> int:
    """Return how many candidates a recall in a graph needs, by searching for some of its rows.

    codes(first, end) gives int8[end - first, dimension] of rows. Exact is what all codes say.
    Cost: a product of `SAMPLED` rows with all, some seconds for a million, and their searches.
    """
    first, count = graph.first_row, graph.end_row - graph.first_row
    places = first + np.linspace(0, count - 1, min(SAMPLED, count)).astype(np.int64)
    rows = np.concatenate([codes(place, place + 1) for place in places.tolist()])
    wanted = min(NEAREST, count)
    truth = _exact(rows, codes, first, graph.end_row, wanted)
    for expansion, more in pairwise(EXPANSIONS):
        graph.index.expansion_search = expansion
        found = np.asarray(graph.index.search(rows, wanted).keys).reshape(len(rows), -1)
        shared = sum(len(np.intersect1d(*pair)) for pair in zip(truth, found, strict=True))
        if shared >= SHARE * truth.size:
            return more
    return EXPANSIONS[-1]


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
    for start in range(first_row, end_row, PART):
        part = codes(start, min(start + PART, end_row)).astype(np.float32)
        part /= np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1)
        best = np.hstack([best, queries @ part.T])
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
    stopped: Callable[[], bool] = bool,
) -> bool:
    """Write to ``path`` the graph of ``before`` with ``codes`` int8[n, D] added from ``first_row``.

    Returns False, with no file left, once ``stopped()`` is True. Uses all processors but one.
    Durable once this returns True. Raises `StoreFullError` with nothing at ``path``, and
    `CorruptError` for a damaged ``before``. Cost: reading and writing the whole graph, which is in
    memory meanwhile, and an insertion a row.
    """
    index = _empty(codes.shape[1])
    if before is not None:
        try:
            index.load(str(before))
        except Exception as error:
            raise CorruptError(before, "a graph", str(error)) from error
    threads = max(1, (os.cpu_count() or 1) - 1)
    for start in range(0, len(codes), CHUNK):
        if stopped():
            return False
        part = codes[start : start + CHUNK]
        keys = np.arange(first_row + start, first_row + start + len(part), dtype=np.uint64)
        index.add(keys, part, threads=threads)
    try:
        index.save(str(path))
        with path.open("rb") as file:
            flush(file.fileno())
    except Exception as error:  # usearch raises RuntimeError for any failed write
        path.unlink(missing_ok=True)
        raise StoreFullError(f"cannot write {path}: {error}") from error
    return True
