"""Semantic links: the most similar earlier memories of new rows, many rows at a time.

Vectors are float16, given as their bit patterns (``vectors.view(np.uint16)``), C-contiguous, of a
width D that is a multiple of 8, and finite.
"""

import numpy as np

from recollex_kernels._codes import code_dot, encode_query
from recollex_kernels._float16 import decode_row, similarity
from recollex_kernels._jit import F32, I8, I64, U8, U16, U32, kernel

_SLACK = 1.000001  # above what float64 loses here
_TILE = 64  # rows of codes that stay in the first-level cache while new rows pass over them


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
                memories[j], weights[j] = memories[j + 1], weights[j + 1]
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
        memories[j], weights[j] = memories[j - 1], weights[j - 1]
    memories[i], weights[i] = memory, weight
    return int(end + 1)


@kernel
def links(
    vectors: U16,
    codes: I8,
    scales: F32,
    residuals: F32,
    memory_of_row: U32,
    allowed: U8,
    first_scan: int,
    first_new: int,
    end_new: int,
    threshold: float,
    limit: int,
    out_memories: U32,
    out_weights: F32,
    out_counts: I64,
) -> None:
    """Find, for each new row, the most similar earlier memories: the semantic links.

    For row first_new + i, ``out_counts[i]`` memories stand in ``out_memories[i]`` and their
    similarities in ``out_weights[i]``: those earlier than the row's own memory, with
    ``allowed[memory]``, whose best row in [first_scan, ...) has similarity >= ``threshold``, at
    most ``limit``, by higher similarity, then lower memory. (TEMPR 2.4.2: threshold 0.7, weight =
    cosine.) The similarities are those of ``cosines``, the lists those of comparing every pair.

    A pair is scored exactly only if its upper bound (see ``_codes``) reaches the threshold, and the
    second half of its codes is read only if the first half and the norms of the second leave that
    open: v.q <= v1.q1 + |v2| |q2| (Cauchy and Schwarz), which most pairs of texts do not survive.

    Shapes, for N vectors of width D, M memories, n = end_new - first_new new rows:
        vectors            uint16[N, D]  float16 bit patterns
        codes, scales, residuals  int8[N, D], float32[N], float32[N]  from ``quantize``
        memory_of_row      uint32[N]     ascending
        allowed            uint8[M]
        out_memories, out_weights, out_counts  uint32[n, limit], float32[n, limit], int64[n]

    Cost: O(n * rows * D), about 7 ns a pair at width 384; codes are read a cache block at a time.
    """
    width = vectors.shape[1]
    fresh = end_new - first_new
    query = np.empty(width, np.float32)
    query_codes = np.empty((fresh, width), np.int16)
    steps = np.empty(fresh, np.float64)
    per_scales = np.empty(fresh, np.float64)
    per_residuals = np.empty(fresh, np.float64)
    ends = np.empty(fresh, np.int64)  # the first row of each new row's own memory
    half = width // 2
    rests = np.empty(fresh, np.float64)  # the norms of the new rows' second halves
    tails = np.empty(_TILE, np.float64)  # bounds of the norms of the tile's second halves
    dots = np.empty(_TILE, np.int32)
    least = np.float32(threshold)
    last = 0
    for i in range(fresh):
        row = first_new + i
        out_counts[i] = 0
        decode_row(vectors, row, query)
        steps[i], per_scales[i], per_residuals[i] = encode_query(query, query_codes[i])
        rest = 0.0
        for j in range(half, width):
            rest += np.float64(query[j]) * np.float64(query[j])
        rests[i] = np.sqrt(rest) * _SLACK
        ends[i] = row
        while ends[i] > 0 and memory_of_row[ends[i] - 1] == memory_of_row[row]:
            ends[i] -= 1
        last = max(last, ends[i])
    if limit <= 0:
        return
    for first in range(first_scan, last, _TILE):
        for p in range(min(_TILE, last - first)):
            row = first + p
            squares = np.int32(0)
            for j in range(half, width):
                squares = np.int32(squares + np.int32(codes[row, j]) * np.int32(codes[row, j]))
            tails[p] = (
                np.float64(scales[row]) * np.sqrt(np.float64(squares)) + np.float64(residuals[row])
            ) * _SLACK
        for i in range(fresh):
            size = min(_TILE, ends[i] - first)
            for p in range(size):
                dots[p] = code_dot(codes[first + p, :half], query_codes[i, :half])
            decoded = False
            for p in range(size):
                row = first + p
                bound = np.float64(scales[row]) * (steps[i] * np.float64(dots[p]) + per_scales[i])
                bound += np.float64(residuals[row]) * per_residuals[i] + tails[p] * rests[i]
                if bound < least:
                    continue
                dots[p] += code_dot(codes[row, half:], query_codes[i, half:])
                bound = np.float64(scales[row]) * (steps[i] * np.float64(dots[p]) + per_scales[i])
                bound += np.float64(residuals[row]) * per_residuals[i]
                if bound < least or allowed[memory_of_row[row]] == 0:
                    continue
                n = out_counts[i]
                if n == limit and bound < out_weights[i, limit - 1]:
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
