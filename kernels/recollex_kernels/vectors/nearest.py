"""Exact nearest vectors: a scan of four-bit codes that never changes the float16 result.

Vectors are float16, given as their bit patterns (``vectors.view(np.uint16)``), C-contiguous, of a
width D that is a multiple of 8, and finite. Their norm is about 1, but nothing here relies on it.
"""

import numpy as np

from recollex_kernels.machine.jit import F32, U8, U16, U32, kernel
from recollex_kernels.machine.top_k import kth_greatest, strongest
from recollex_kernels.vectors._best_rows import best_rows, prune, room, rows_of_allowed
from recollex_kernels.vectors._four_bits import TOGETHER, bounds, encode_query, four_sums
from recollex_kernels.vectors.codes import FourBits
from recollex_kernels.vectors.similarity import similarity

_DIRECT = 256  # fewer rows than this are scored without looking at their codes
_SPARSE = 3  # fewer than one in so many allowed: their rows are listed first
_TILE = 64  # rows whose bounds are computed and compared together


@kernel
def _any_reaches(most: F32, first: int, limit: np.float32) -> bool:
    """Return whether one of a tile's bounds, from place ``first`` on, is at least ``limit``.

    The last, short tile may be said to. The constant trip count and the int32 sum are what lets
    the compiler use vector compares.
    """
    if first + _TILE > most.shape[0]:
        return True
    reached = np.int32(0)
    for i in range(_TILE):
        reached = np.int32(reached + np.int32(most[np.uint64(first + i)] >= limit))
    return bool(reached > 0)


@kernel
def _least_of_best(
    vectors: U16, rows: U32, memory_of_row: U32, query: F32, floor: np.float32, k: int
) -> np.float32:
    """Return a similarity that the ``k``-th best memory of all reaches, at least ``floor``.

    It is that of the k-th best memory among those of ``rows``; ``floor`` if they are fewer.
    """
    order = np.argsort(rows)
    best = np.empty(rows.shape[0], np.float32)
    n = 0
    for place in range(order.shape[0]):
        row = rows[order[place]]
        score = similarity(vectors, row, query)
        if place > 0 and memory_of_row[row] == memory_of_row[rows[order[place - 1]]]:
            best[n - 1] = max(best[n - 1], score)
        else:
            best[n] = score
            n += 1
    if n < k:
        return floor
    return max(floor, np.float32(kth_greatest(best[:n], k)))


@kernel
def _bound_rows(
    coded: FourBits,
    chosen: U32,
    first: int,
    memory_of_row: U32,
    allowed: U8,
    query: F32,
    floor: np.float32,
    k: int,
    out_most: F32,
) -> U32:
    """Set ``out_most[i]`` to a bound of row chosen[i], of row first + i where none is chosen.

    Return the rows that are likely the best: the ``k`` allowed rows with the greatest estimates
    above ``floor``.
    """
    codes, steps, norms, losses = coded
    query_codes = np.empty(query.shape[0], np.int8)
    code = encode_query(query, query_codes)
    asked = np.float32(code[0]), np.float32(code[1]), np.float32(code[2]), np.int32(code[3])
    sums = np.empty(_TILE + TOGETHER, np.int32)
    likely = np.empty(_TILE, np.float32)
    own = np.empty((3, _TILE), np.float32)
    best = np.empty(room(k), np.float32)
    rows = np.empty(room(k), np.uint32)
    spare = np.empty(room(k), np.uint32)
    limit = floor
    n = 0
    for low in range(0, out_most.shape[0], _TILE):
        size = min(_TILE, out_most.shape[0] - low)
        whole = size - size % TOGETHER
        if chosen.shape[0] > 0:
            for p in range(0, size, TOGETHER):
                last = low + size - 1
                four_sums(
                    codes,
                    chosen[low + p],
                    chosen[min(low + p + 1, last)],
                    chosen[min(low + p + 2, last)],
                    chosen[min(low + p + 3, last)],
                    query_codes,
                    sums,
                    p,
                )
            for p in range(size):
                row = chosen[low + p]
                own[0, p] = steps[row]
                own[1, p] = norms[row]
                own[2, p] = losses[row]
            bounds(sums, (own[0], own[1], own[2]), 0, size, asked, likely, out_most, low)
        else:
            at = first + low
            for p in range(0, whole, TOGETHER):
                row = at + p
                four_sums(codes, row, row + 1, row + 2, row + 3, query_codes, sums, p)
            if whole < size:
                last = at + size - 1
                second = min(at + whole + 1, last)
                third = min(at + whole + 2, last)
                four_sums(codes, at + whole, second, third, last, query_codes, sums, whole)
            bounds(sums, (steps, norms, losses), at, size, asked, likely, out_most, low)
        if size == _TILE and not _any_reaches(likely, 0, limit):
            continue
        for p in range(size):
            if likely[p] > limit:
                row = chosen[low + p] if chosen.shape[0] > 0 else np.uint32(first + low + p)
                if allowed[memory_of_row[row]] == 0:
                    continue
                best[n] = likely[p]
                rows[n] = row
                n += 1
                if n == best.shape[0]:
                    limit = prune(k, best, rows, spare)
                    n = k
    return rows[strongest(best[:n], k)]


@kernel
def scan_top(
    vectors: U16,
    coded: FourBits,
    first: int,
    end: int,
    memory_of_row: U32,
    first_row: U32,
    allowed: U8,
    query: F32,
    floor: float,
    k: int,
) -> tuple[U32, U32, F32]:
    """Return the exact ``k`` best memories of rows [first, end): memories, rows, scores.

    A memory scores as its best row, the lowest row on ties. Only scores >= ``floor`` and memories
    with ``allowed[memory]`` count. Order: higher score, then lower memory. The scores are those
    of ``cosines``; the result is that of scoring every row so and sorting, to the bit.

    One pass over the codes bounds every row's similarity; the rows that look best are scored, which
    says what the k-th best reaches at least; then the rows are scored whose bound reaches that.

    Shapes, for N vectors of width D, M memories:
        vectors            uint16[N, D]  float16 bit patterns
        coded              from ``encode``
        memory_of_row      uint32[N]     ascending, so rows of one memory are consecutive
        first_row          uint32[>= M+1]  rows of memory m are first_row[m]:first_row[m + 1]
        allowed            uint8[M]
        query              float32[D]

    Cost: O(rows * D / 2) reads of a byte, about 3 ns a row of 384 in cache, and 20 ns for each of
    the rows scored exactly: of 100,000 real messages 1,500 as a rule. Where fewer than a third
    are allowed, a byte a memory and 10 ns for each that is.
    """
    size = max(0, min(k, end - first))
    if size == 0:
        return np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0, np.float32)
    limit = np.float32(floor)
    _, few, listed = rows_of_allowed(first, end, memory_of_row, first_row, allowed, _SPARSE)
    count = listed.shape[0] if few else end - first
    best = np.empty(room(size), np.float32)
    memories = np.empty(room(size), np.uint32)
    rows = np.empty(room(size), np.uint32)
    bounded = count >= _DIRECT
    most = np.empty(count if bounded else 0, np.float32)
    if bounded:
        likely = _bound_rows(coded, listed, first, memory_of_row, allowed, query, limit, size, most)
        limit = _least_of_best(vectors, likely, memory_of_row, query, limit, size)
    near = np.empty(count, np.uint32)
    reached = 0
    for low in range(0, count, _TILE):
        if bounded and not _any_reaches(most, low, limit):
            continue
        for place in range(low, min(low + _TILE, count)):
            if not bounded or most[place] >= limit:
                i = listed[place] if few else np.uint32(first + place)
                if allowed[memory_of_row[i]] != 0:
                    near[reached] = i
                    reached += 1
    return best_rows(
        vectors, near[:reached], memory_of_row, query, limit, size, best, memories, rows
    )


@kernel
def best_of_rows(
    vectors: U16,
    rows: U32,
    memory_of_row: U32,
    allowed: U8,
    query: F32,
    floor: float,
    k: int,
) -> tuple[U32, U32, F32]:
    """Return the exact ``k`` best memories among ``rows``: memories, rows, scores.

    Scores, ties and order are those of `scan_top`; rows from the end of memory_of_row on are left
    out.

    Shapes: as for `scan_top`; rows uint32[n], in any order, none twice.

    Cost: O(n log n), and reading the rows.
    """
    near = np.sort(rows)
    n = 0
    for i in range(near.shape[0]):
        row = near[i]
        if row < memory_of_row.shape[0] and allowed[memory_of_row[row]] != 0:
            near[n] = row
            n += 1
    size = max(0, min(k, n))
    best = np.empty(room(size), np.float32)
    memories = np.empty(room(size), np.uint32)
    kept = np.empty(room(size), np.uint32)
    if size == 0:
        return memories[:0], kept[:0], best[:0]
    return best_rows(
        vectors, near[:n], memory_of_row, query, np.float32(floor), size, best, memories, kept
    )
