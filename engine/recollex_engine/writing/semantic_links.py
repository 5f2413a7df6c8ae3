"""Which earlier memories is a new one similar to? Semantic links, found once, kept in the log.

A new passage is compared with every earlier passage that no graph covers. While these are few, the
comparison is exact; else the one-bit codes select the passages to compare. The passages that a
graph proposes are compared too. A replay repeats the links that the log holds.
"""

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.schema import words
from recollex_engine.fork import ThreadPool
from recollex_engine.state.replica import Replica
from recollex_engine.state.row_codes import PassageColumns
from recollex_kernels.vectors.codes import cosines, eight_bits
from recollex_kernels.vectors.semantic_links import likely_links, links

LIMIT = 5
"""Maximum links of a memory to earlier ones: TEMPR 2.4.3 counts 3 to 5."""
PROPOSED_LINKS = 16
"""Rows that a graph proposes for a passage."""

SCANNED_ROWS = 524_288
"""Up to this many rows, all of them are compared, even if there is a graph."""
EXACT_ROWS = 32_768
"""Up to this many rows, four-bit codes select the pairs to score; above it, one-bit codes."""
TOGETHER = 64
"""From this many new passages on, two threads share the work."""

WeightedLinks = list[tuple[int, float]]


def semantic_links(
    replica: Replica,
    rows: PassageColumns,
    vectors: npt.NDArray[np.uint16],
    threshold: float,
) -> list[WeightedLinks]:
    """Return, for each memory of the new rows, its links as (earlier memory, weight).

    The weight is the cosine, at least ``threshold`` (TEMPR 2.4.2). Best first, up to `LIMIT`.
    ``rows``: the columns of all rows with the new ones, as `Columns.with_rows` returns them;
    ``vectors`` uint16[rows, dimension]. Forgotten memories are not linked to.
    """
    columns = replica.columns
    memory_of_row = rows.memory_of_row
    first_row = columns.rows
    end_row = len(memory_of_row)
    codes = rows.code4.reshape(end_row, columns.dimension // 2)
    memories = int(memory_of_row[-1]) + 1
    allowed = columns.open[:memories]  # new memories are open in its spare capacity
    if len(allowed) < memories:
        allowed = np.ones(memories, np.uint8)
        allowed[: columns.memories] = columns.open[: columns.memories]
    count = end_row - first_row
    found = np.empty((count, LIMIT), np.uint32)
    weights = np.empty((count, LIMIT), np.float32)
    counts = np.empty(count, np.int64)
    first_scan = 0
    proposed: list[npt.NDArray[np.uint32]] = []
    if first_row > SCANNED_ROWS:
        new = np.empty((count, columns.dimension), np.int8)
        eight_bits(vectors[first_row:], new)
        for graph in replica.indexes.graphs:
            if graph.first_row == first_scan:
                proposed.append(graph.search_many(new, PROPOSED_LINKS))
                first_scan = graph.end_row

    bits = rows.code1.reshape(end_row, words(columns.dimension))

    def compare(first: int, end: int) -> None:
        part = slice(first - first_row, end - first_row)
        asked = (memory_of_row, allowed, first_scan, first, end, threshold, LIMIT)
        told = (found[part], weights[part], counts[part])
        coded = codes, rows.code_step, rows.code_norm, rows.code_loss
        if first_row - first_scan > EXACT_ROWS:
            likely_links(vectors, coded, (bits, rows.code_factor), *asked, told)
        else:
            links(vectors, coded, *asked, told)

    if count < TOGETHER:
        compare(first_row, end_row)
    else:
        middle = first_row + count // 2
        other = _comparing.submit(compare, first_row, middle)
        compare(middle, end_row)
        other.result()
    by_memory: dict[int, dict[int, float]] = {
        memory: {} for memory in range(int(memory_of_row[first_row]), memories)
    }
    for place in range(count):
        best = by_memory[int(memory_of_row[first_row + place])]
        for memory, weight in zip(
            found[place, : counts[place]].tolist(),
            weights[place, : counts[place]].tolist(),
            strict=True,
        ):
            best[memory] = max(weight, best.get(memory, weight))
        for each in proposed:
            _add_proposed(
                best, each[place], vectors, first_row + place, memory_of_row, allowed, threshold
            )
    return [
        [
            (memory, round(weight, 4))
            for memory, weight in sorted(best.items(), key=lambda item: (-item[1], item[0]))[:LIMIT]
        ]
        for best in by_memory.values()
    ]


_comparing = ThreadPool(1, "recollex links")


def _add_proposed(
    best: dict[int, float],
    rows: npt.NDArray[np.uint32],
    vectors: npt.NDArray[np.uint16],
    row: int,
    memory_of_row: npt.NDArray[np.uint32],
    allowed: npt.NDArray[np.uint8],
    threshold: float,
) -> None:
    """Add to ``best`` the ``rows`` whose cosine with ``row`` is at least ``threshold``."""
    scores = np.empty(len(rows), np.float32)
    cosines(vectors, rows, vectors[row].view(np.float16).astype(np.float32), scores)
    near = (scores >= threshold) & (allowed[memory_of_row[rows]] == 1)
    for memory, weight in zip(
        memory_of_row[rows[near]].tolist(), scores[near].tolist(), strict=True
    ):
        best[memory] = max(weight, best.get(memory, weight))
