"""Which rows are near a query? A walk through an HNSW graph, read from its file.

usearch 2 writes, for each node: its key in 8 bytes, its highest level in 2, then for level 0 and
each one above a count and room for so many slots of neighbours, 4 bytes each: twice the graph's
connectivity on level 0, once above.

Heaps of a search: the rows to look at next, and the best rows so far. An entry is one number.
Entries order by score, which is not NaN, and equal scores by falling row: one comparison of
integers orders two entries.

Which rows are near a query? A walk through an HNSW graph, by four bits a component.
The graph is one of usearch's (Malkov and Yashunin, HNSW, 2016): levels, each a graph of fewer nodes
than the one below. A node names its neighbours by slot. The walk compares the query with the codes
of a slot's row, which have half the bytes of the graph's own vectors: most of a walk is waiting for
memory. The walk only proposes rows: their float16 vectors are scored afterwards.
"""

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from recollex_kernels.machine.intrinsics import contiguous, data_of
from recollex_kernels.machine.jit import F32, I16, I64, U8, U32, kernel
from recollex_kernels.machine.memory_access import prefetch, prefetch_row
from recollex_kernels.vectors._best_rows import prune, room
from recollex_kernels.vectors._four_bits import TOGETHER, encode_query, four_sums

WORD = 4
_HEAD = 10  # a key and a level
_LINE = 64  # bytes that memory gives at once


def _code(typing: Any, nodes: Any, place: Any) -> Any:
    contiguous("nodes", nodes)

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, b, signature.args[0], args[0])
        loaded = b.load(b.bitcast(b.gep(data, [args[1]]), ir.IntType(32).as_pointer()))
        loaded.align = 1
        return loaded

    return types.uint32(nodes, types.int64), build


word_at = cast(Callable[[U8, int], np.uint32], intrinsic(_code))
"""Returns the number of four bytes, little-endian, that stand at a place of ``nodes``."""


@kernel
def places_of(levels: I16, connectivity: int, first: int, out: I64) -> int:
    """Return where the last node ends, and fill where each begins; the first one at ``first``.

    Shapes: levels int16[n], not negative; out int64[n]. Cost: O(n), 1 ms a million.
    """
    own = _HEAD + WORD * (1 + 2 * connectivity)
    above = WORD * (1 + connectivity)
    place = first
    for i in range(levels.shape[0]):
        out[i] = place
        place += own + above * levels[i]
    return place


@kernel
def links_at(nodes: U8, place: int, level: int, connectivity: int) -> tuple[int, int]:
    """Return where the neighbours of the node at ``place`` stand on a level, and how many.

    There are none if the file ends before them.
    """
    at = place + _HEAD
    most = connectivity
    if level == 0:
        most = 2 * connectivity
    else:
        at += WORD * (1 + 2 * connectivity) + (level - 1) * WORD * (1 + connectivity)
    if at + WORD * (1 + most) > nodes.shape[0]:
        return at, 0
    return at + WORD, min(int(word_at(nodes, at)), most)


@kernel
def prefetch_links(nodes: U8, place: int, connectivity: int) -> None:
    """Prefetch a node's neighbours on level 0."""
    for line in range(0, _HEAD + WORD * (1 + 2 * connectivity), _LINE):
        prefetch(nodes, place + line)


_HALF = np.int64(32)
_SIGN = np.int32(31)
_MOST = np.int32(0x7FFFFFFF)
_LOWER = np.int64(0xFFFFFFFF)


@kernel
def entry(bits: np.int32, row: np.uint32) -> np.int64:
    """Return the entry of a row whose score has these bits."""
    ordered = np.int32(bits ^ ((bits >> _SIGN) & _MOST))
    return np.int64(np.int64(ordered) << _HALF) | np.int64(np.uint32(~row))


@kernel
def row_of(entry: np.int64) -> np.uint32:
    """Return the row of an entry."""
    return np.uint32(~np.uint32(entry & _LOWER))


@kernel
def push(n: int, entry: np.int64, heap: I64) -> int:
    """Return the size of a heap of ``n``, the greatest on top, after one more entry."""
    i = n
    while i > 0:
        above = (i - 1) >> 1
        if heap[above] >= entry:
            break
        heap[i] = heap[above]
        i = above
    heap[i] = entry
    return n + 1


@kernel
def sink(n: int, entry: np.int64, heap: I64) -> None:
    """Put an entry in the place of the top one of a heap of ``n``."""
    i = 0
    below = 1
    while below < n:
        if below + 1 < n:
            below += int(heap[below + 1] > heap[below])
        if heap[below] <= entry:
            break
        heap[i] = heap[below]
        i = below
        below = 2 * i + 1
    heap[i] = entry


@kernel
def longer(heap: I64) -> I64:
    """Return the heap with room for as many entries again."""
    return np.concatenate((heap, np.empty(heap.shape[0], np.int64)))


ARRIVED = 0
TOO_FAR = 1
OTHER_ROWS = 2

Graph: TypeAlias = tuple[U8, I64, U32, int, int, int, int]
"""A graph of n nodes: nodes, places, own_rows, first_row, connectivity, top, start.

nodes         uint8[]    the graph's file, see `word_at`
places        int64[n]   where each slot's node begins, from `places_of`
own_rows      uint32[n]  the row of each slot; empty: slot s is row ``first_row`` + s
connectivity  neighbours of a node on the levels above 0; twice as many on level 0
top, start    the highest level, and the slot where the walk begins on it
"""

Coded: TypeAlias = tuple[U8, F32, U32]
"""Rows as a walk compares them: codes uint8[N, D / 2], steps float32[N], from `codes.encode`;
memory_of_row uint32[N]."""
_ABOVE = 16  # nodes kept on the levels above the lowest
_ONE = np.uint64(1)
_SIX = np.uint64(6)
_LOW_SIX = np.uint64(63)


@kernel
def slot_rows(nodes: U8, places: I64, out: U32) -> None:
    """Set ``out[s]`` to the row of slot s, which is its key.

    Shapes: as for `near_rows`; out uint32[n]. Cost: reading a line of every node.
    """
    for s in range(places.shape[0]):
        out[s] = word_at(nodes, places[s])


@kernel
def near_rows(
    graph: Graph,
    coded: Coded,
    allowed: U8,
    query: F32,
    wide: int,
    most: int,
    farthest: int,
) -> tuple[int, U32]:
    """Return `ARRIVED` and rows near ``query``, in no order; or why there are none.

    They are, among the allowed rows that the walk looked at, the ``most`` with the greatest
    estimates (see `_four_bits`). On the lowest level the walk expands the best node that it has not
    expanded, allowed or not, until ``wide`` allowed ones are better than that node: the fewer rows
    are allowed, the farther it goes. `TOO_FAR`: it expanded ``farthest`` nodes and had not ended.
    `OTHER_ROWS`: a slot's row is not the expected one.

    Shapes, for M memories: graph, coded: see `Graph` and `Coded`; allowed uint8[M]; query
    float32[D].
    wide, most: at least 1. A slot or a row out of range is passed over.

    Cost: 0.8 us for each expanded node, of 384 components, if memory is cold.
    """
    nodes, places, own_rows, first_row, connectivity, top, start = graph
    codes, steps, memory_of_row = coded
    known = own_rows.shape[0] > 0
    slots_end = np.uint32(places.shape[0])
    rows_end = np.uint32(memory_of_row.shape[0])
    query_codes = np.empty(query.shape[0], np.int8)
    code = encode_query(query, query_codes)
    step = np.float32(code[0])
    shift = np.int32(code[3])
    width = max(_ABOVE, 2 * connectivity) + TOGETHER
    slots = np.empty(width, np.uint32)
    rows = np.empty(width, np.uint32)
    sums = np.empty(width, np.int32)
    scores = np.empty(width, np.float32)
    bits = scores.view(np.int32)
    seen = np.zeros((places.shape[0] >> 6) + 1, np.uint64)
    front = np.empty(1024, np.int64)
    best = np.empty(max(_ABOVE, wide), np.int64)  # the least on top, as its complement
    kept = np.empty(room(most), np.float32)
    kept_rows = np.empty(room(most), np.uint32)
    spare = np.empty(room(most), np.uint32)
    n_kept = 0
    limit = -np.float32(np.inf)
    slots[0] = np.uint32(start)
    n = 1 if slots[0] < slots_end else 0
    for level in range(top, -1, -1):
        size = 0
        found = 0
        hops = 0
        wanted = wide if level == 0 else _ABOVE
        seen[:] = np.uint64(0)
        for p in range(n):
            s = np.uint64(slots[p])
            seen[s >> _SIX] |= _ONE << (s & _LOW_SIX)
        while n > 0:
            m = 0
            for p in range(n):
                s = slots[p]
                row = own_rows[s] if known else np.uint32(first_row + s)
                slots[m] = s
                rows[m] = row
                m += int(row < rows_end)
            n = m
            for p in range(n):
                row = rows[p]
                prefetch_row(codes, row)
                prefetch(steps, int(row))
                prefetch(memory_of_row, int(row))
            if size > 0:
                prefetch_links(nodes, places[row_of(front[0])], connectivity)
            for p in range(0, n, TOGETHER):
                last = n - 1
                four_sums(
                    codes,
                    rows[p],
                    rows[min(p + 1, last)],
                    rows[min(p + 2, last)],
                    rows[min(p + 3, last)],
                    query_codes,
                    sums,
                    p,
                )
            for p in range(n):
                whole = np.float32(np.int32(np.int32(2) * sums[p] - shift))
                scores[p] = (steps[rows[p]] * step) * whole
            if size + n > front.shape[0]:
                front = longer(front)
            for p in range(n):
                own = entry(bits[p], slots[p])
                full = found == wanted
                if full and own < ~best[0] and (level > 0 or scores[p] <= limit):
                    continue
                if not full or own > ~best[0]:
                    size = push(size, own, front)
                if level == 0:
                    if allowed[memory_of_row[rows[p]]] == 0:
                        continue
                    if scores[p] > limit:
                        kept[n_kept] = scores[p]
                        kept_rows[n_kept] = rows[p]
                        n_kept += 1
                        if n_kept == kept.shape[0]:
                            limit = prune(most, kept, kept_rows, spare)
                            n_kept = most
                if not full:
                    found = push(found, ~own, best)
                elif own > ~best[0]:
                    sink(found, ~own, best)
            n = 0
            while n == 0 and size > 0:
                own = front[0]
                if found == wanted and own < ~best[0]:
                    break
                if level == 0 and hops == farthest:
                    return TOO_FAR, kept_rows[:0]
                hops += 1
                size -= 1
                if size > 0:
                    sink(size, front[size], front)
                slot = row_of(own)
                place = places[slot]
                if not known and word_at(nodes, place) != np.uint32(first_row + slot):
                    return OTHER_ROWS, kept_rows[:0]
                at, count = links_at(nodes, place, level, connectivity)
                for i in range(count):
                    other = word_at(nodes, at + WORD * i)
                    if other < slots_end:
                        word = np.uint64(other) >> _SIX
                        bit = _ONE << (np.uint64(other) & _LOW_SIX)
                        slots[n] = other
                        n += int(seen[word] & bit == 0)
                        seen[word] |= bit
        n = found if level > 0 else 0
        for p in range(n):
            slots[p] = row_of(~best[p])
    if n_kept > most:
        prune(most, kept[:n_kept], kept_rows[:n_kept], spare[:n_kept])
        n_kept = most
    return ARRIVED, kept_rows[:n_kept]
