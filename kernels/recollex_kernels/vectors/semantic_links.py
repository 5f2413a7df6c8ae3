"""Semantic links: the most similar earlier memories of new rows, many rows at a time.

Vectors are float16, given as their bit patterns (``vectors.view(np.uint16)``), C-contiguous, of a
width D that is a multiple of 8, and finite.
"""

from typing import TypeAlias

import numpy as np

from recollex_kernels.machine.bit_masks import TILE, lowest
from recollex_kernels.machine.jit import F32, I8, I64, U8, U16, U32, kernel
from recollex_kernels.machine.memory_access import prefetch_row
from recollex_kernels.vectors._four_bits import TOGETHER as FOUR
from recollex_kernels.vectors._four_bits import bounds, encode_query, four_sums
from recollex_kernels.vectors._one_bit import turn
from recollex_kernels.vectors._query_levels import (
    PLANES,
    TOGETHER,
    encode_levels,
    estimate_tile,
    level_estimates,
    scale_of,
)
from recollex_kernels.vectors.codes import FourBits, OneBit
from recollex_kernels.vectors.similarity import decode_row, similarity

Found: TypeAlias = tuple[U32, F32, I64]
"""What `links` finds of new rows: memories, weights, counts."""
_TILE = 64  # rows of codes that stay in the first-level cache while new rows pass over them
_BLOCK = 512  # the same, of rows of bits
_AHEAD = 48  # rows prefetched ahead
_MARGIN = 0.135  # three standard deviations of an estimate from one bit a component


@kernel
def _insert(memory: np.uint32, weight: np.float32, n: int, memories: U32, weights: F32) -> int:
    """Return the length of a list ordered by weight, then lower memory, after one more offer.

    A memory already listed keeps its greater weight; a full list drops its last.
    """
    for i in range(n):
        if memories[i] == memory:
            if weight <= weights[i]:
                return n
            for j in range(i, n - 1):
                memories[j] = memories[j + 1]
                weights[j] = weights[j + 1]
            n -= 1
            break
    i = n
    while i > 0 and (
        weights[i - 1] < weight or (weights[i - 1] == weight and memories[i - 1] > memory)
    ):
        i -= 1
    if i == memories.shape[0]:
        return n
    end = min(n, memories.shape[0] - 1)
    for j in range(end, i, -1):
        memories[j] = memories[j - 1]
        weights[j] = weights[j - 1]
    memories[i] = memory
    weights[i] = weight
    return int(end + 1)


@kernel
def links(
    vectors: U16,
    coded: FourBits,
    memory_of_row: U32,
    allowed: U8,
    first_scan: int,
    first_new: int,
    end_new: int,
    threshold: float,
    limit: int,
    out: Found,
) -> None:
    """Find, for each new row, the most similar earlier memories: the semantic links.

    For row first_new + i, counts[i] memories stand in memories[i] of ``out`` and their
    similarities in weights[i]: those earlier than the row's own memory, with
    ``allowed[memory]``, whose best row in [first_scan, ...) has similarity >= ``threshold``, at
    most ``limit``, by higher similarity, then lower memory. (TEMPR 2.4.2: threshold 0.7, weight =
    cosine.) The similarities are those of ``cosines``, the lists those of comparing every pair.

    A pair is scored exactly only if its upper bound (see `_four_bits`) reaches the threshold.

    Shapes, for N vectors of width D, M memories, n = end_new - first_new new rows:
        vectors            uint16[N, D]  float16 bit patterns
        coded              from ``encode``
        memory_of_row      uint32[N]     ascending
        allowed            uint8[M]
        out                uint32[n, limit], float32[n, limit], int64[n]

    Cost: O(n * rows * D), about 3 ns a pair at width 384; codes are read a cache block at a time.
    """
    codes, steps, norms, losses = coded
    out_memories, out_weights, out_counts = out
    width = vectors.shape[1]
    fresh = end_new - first_new
    query = np.empty(width, np.float32)
    query_codes = np.empty((fresh, width), np.int8)
    factors = np.empty((fresh, 3), np.float32)  # what `bounds` needs of a query
    shifts = np.empty(fresh, np.int32)
    ends = np.empty(fresh, np.int64)  # the first row of each new row's own memory
    sums = np.empty(_TILE + FOUR, np.int32)
    likely = np.empty(_TILE, np.float32)
    most = np.empty(_TILE, np.float32)
    least = np.float32(threshold)
    last = 0
    for i in range(fresh):
        row = first_new + i
        out_counts[i] = 0
        decode_row(vectors, row, query)
        step, per_norm, per_loss, shift = encode_query(query, query_codes[i])
        factors[i, 0] = step
        factors[i, 1] = per_norm
        factors[i, 2] = per_loss
        shifts[i] = shift
        ends[i] = row
        while ends[i] > 0 and memory_of_row[ends[i] - 1] == memory_of_row[row]:
            ends[i] -= 1
        last = max(last, ends[i])
    if limit <= 0:
        return
    for first in range(first_scan, last, _TILE):
        for i in range(fresh):
            size = min(_TILE, ends[i] - first)
            if size <= 0:
                continue
            codes_of_query = query_codes[i]
            for p in range(0, size, FOUR):
                row = first + p
                four_sums(
                    codes,
                    row,
                    min(row + 1, ends[i] - 1),
                    min(row + 2, ends[i] - 1),
                    min(row + 3, ends[i] - 1),
                    codes_of_query,
                    sums,
                    p,
                )
            asked = factors[i, 0], factors[i, 1], factors[i, 2], shifts[i]
            bounds(sums, (steps, norms, losses), first, size, asked, likely, most, 0)
            decoded = False
            for p in range(size):
                row = first + p
                if most[p] < least or allowed[memory_of_row[row]] == 0:
                    continue
                n = out_counts[i]
                if n == limit and most[p] < out_weights[i, limit - 1]:
                    continue
                if not decoded:
                    decoded = True
                    decode_row(vectors, first_new + i, query)
                exact = similarity(vectors, row, query)
                if exact >= least:
                    out_counts[i] = _insert(
                        memory_of_row[row],
                        exact,
                        n,
                        out_memories[i, :limit],
                        out_weights[i, :limit],
                    )


@kernel
def _bound_rows(coded: FourBits, rows: U32, query: I8, factors: F32, shift: np.int32) -> F32:
    """Return an upper bound of the similarity of each row to a query; see `_four_bits`.

    query, factors, shift: from `encode_query`. Cost: 20 ns a row, where they are in no cache.
    """
    codes, steps, norms, losses = coded
    n = rows.shape[0]
    sums = np.empty(n + FOUR, np.int32)
    own = np.empty((3, n), np.float32)
    likely = np.empty(n, np.float32)
    most = np.empty(n, np.float32)
    for p in range(min(n, _AHEAD)):
        prefetch_row(codes, rows[p])
    for p in range(0, n, FOUR):
        for ahead in range(p + _AHEAD, min(n, p + _AHEAD + FOUR)):
            prefetch_row(codes, rows[ahead])
        second = min(p + 1, n - 1)
        third = min(p + 2, n - 1)
        last = min(p + 3, n - 1)
        four_sums(codes, rows[p], rows[second], rows[third], rows[last], query, sums, p)
    for p in range(n):
        own[0, p] = steps[rows[p]]
        own[1, p] = norms[rows[p]]
        own[2, p] = losses[rows[p]]
    asked = factors[0], factors[1], factors[2], shift
    bounds(sums, (own[0], own[1], own[2]), 0, n, asked, likely, most, 0)
    return most


@kernel
def likely_links(
    vectors: U16,
    coded: FourBits,
    signs: OneBit,
    memory_of_row: U32,
    allowed: U8,
    first_scan: int,
    first_new: int,
    end_new: int,
    threshold: float,
    limit: int,
    out: Found,
) -> None:
    """Find nearly what `links` finds, in a quarter of its time.

    A pair is bounded by four bits, and then scored, if its estimate (see `_query_levels`) is no
    more than `_MARGIN` below the threshold, or below the weight of the last of a full list: one of
    a thousand that are just as similar as that is missed. The similarities are those of
    ``cosines``.

    Shapes: as for `links`; signs from `encode_signs`.

    Cost: O(n * rows * D / 64), about 0.8 ns a pair at width 384.
    """
    bits, row_factors = signs
    out_memories, out_weights, out_counts = out
    width = vectors.shape[1]
    words = bits.shape[1]
    fresh = end_new - first_new
    query = np.empty(width, np.float32)
    turned = np.empty(width, np.float32)
    query_codes = np.empty((fresh, width), np.int8)
    factors = np.empty((fresh, 3), np.float32)  # what `bounds` needs of a query
    shifts = np.empty(fresh, np.int32)
    planes = np.empty((fresh, PLANES, TOGETHER * words), np.uint64)
    totals = np.empty(fresh, np.int32)
    scales = np.empty(fresh, np.float32)  # of an estimate: what makes a similarity of it
    least = np.empty(fresh, np.float32)  # the estimate from which a pair is scored
    ends = np.empty(fresh, np.int64)  # the first row of each new row's own memory
    estimates = np.empty(_BLOCK, np.float32)
    near = np.empty(_BLOCK, np.uint32)
    scratch = np.empty((TILE, words), np.uint64), np.empty(TILE, np.float32)
    last = 0
    for i in range(fresh):
        row = first_new + i
        out_counts[i] = 0
        decode_row(vectors, row, query)
        step, per_norm, per_loss, shift = encode_query(query, query_codes[i])
        factors[i, 0] = step
        factors[i, 1] = per_norm
        factors[i, 2] = per_loss
        shifts[i] = shift
        turn(query, turned)
        totals[i] = encode_levels(turned, planes[i])
        scales[i] = np.float32(scale_of(turned))
        least[i] = np.float32(np.inf)
        if scales[i] > 0:
            least[i] = np.float32((threshold - _MARGIN) / np.float64(scales[i]))
        ends[i] = row
        while ends[i] > 0 and memory_of_row[ends[i] - 1] == memory_of_row[row]:
            ends[i] -= 1
        last = max(last, ends[i])
    if limit <= 0:
        return
    for first in range(first_scan, last, _BLOCK):
        for i in range(fresh):
            size = min(_BLOCK, ends[i] - first)
            if size <= 0:
                continue
            query_planes = planes[i]
            total = totals[i]
            n = 0
            for part in range(0, size, TILE):
                if part + TILE <= size:
                    reached = level_estimates(
                        bits,
                        row_factors,
                        first + part,
                        query_planes,
                        total,
                        least[i],
                        estimates,
                        part,
                    )
                else:
                    reached = estimate_tile(
                        signs,
                        near[:0],
                        first,
                        part,
                        size - part,
                        query_planes,
                        total,
                        least[i],
                        estimates,
                        part,
                        scratch,
                    )
                while reached != 0:
                    p = part + lowest(reached)
                    reached &= reached - np.uint64(1)
                    if estimates[p] > least[i] and allowed[memory_of_row[first + p]] != 0:
                        near[n] = first + p
                        n += 1
            if n == 0:
                continue
            most = _bound_rows(coded, near[:n], query_codes[i], factors[i], shifts[i])
            decode_row(vectors, first_new + i, query)
            for p in range(n):
                row = near[p]
                if most[p] < np.float32(threshold) or estimates[row - first] <= least[i]:
                    continue
                exact = similarity(vectors, row, query)
                if exact < np.float32(threshold):
                    continue
                out_counts[i] = _insert(
                    memory_of_row[row],
                    exact,
                    out_counts[i],
                    out_memories[i, :limit],
                    out_weights[i, :limit],
                )
                if out_counts[i] == limit:
                    weakest = np.float64(out_weights[i, limit - 1]) - _MARGIN
                    least[i] = max(least[i], np.float32(weakest / np.float64(scales[i])))
