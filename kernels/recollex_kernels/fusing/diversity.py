"""Lists that repeat themselves: maximal marginal relevance (MMR), fingerprints, sources.

Both ways of computing MMR use `similarity`, which is the same number for (a, b) and (b, a): they
give the same order to the bit.

Sixteen similarities at once: of each of four rows and each of four others.
Each is to the bit that of `similarity`: the same products and sums in the same order. It saves
reading: a row is read once for four pairs.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from recollex_kernels.machine.intrinsics import contiguous, load, row_of, splat, tree
from recollex_kernels.machine.jit import F32, F64, I64, U8, U16, U32, U64, kernel
from recollex_kernels.machine.memory_access import prefetch, prefetch_row
from recollex_kernels.vectors.similarity import decode_row, similarity

_BUILD: Any = _cgutils  # its functions carry no types
_I64 = ir.IntType(64)
_FLOAT = ir.FloatType()
SIDE = 4
"""Rows on either side."""


def _summed(b: Any, left: Any, right: Any, n: int, span: tuple[Any, Any, int, int]) -> list[Any]:
    """Return the sums of products of ``n`` lanes, of each pair: 16 vectors.

    span: from where to where, by how many components, and how far into each block.
    """
    first, end, step, shift = span
    sums = [_BUILD.alloca_once_value(b, splat(_FLOAT, n, 0.0)) for _ in range(SIDE * SIDE)]
    for at in sums:
        b.store(splat(_FLOAT, n, 0.0), at)
    with _BUILD.for_range_slice(b, first, end, _I64(step)) as (j, _):
        place = b.add(j, _I64(shift))
        of_right = [load(b, row, place, _FLOAT, n, 4) for row in right]
        for i, row in enumerate(left):
            of_left = load(b, row, place, _FLOAT, n, 4)
            for k in range(SIDE):
                at = sums[SIDE * i + k]
                b.store(b.fadd(b.load(at), b.fmul(of_left, of_right[k])), at)
    return [b.load(at) for at in sums]


def _code(typing: Any, rows: Any, first: Any, second: Any, out: Any) -> Any:
    contiguous("rows and similarities", rows, out)

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        found = [
            row_of(context, b, signature.args[0], args[0], b.add(row, _I64(i)))
            for row in args[1:3]
            for i in range(SIDE)
        ]
        rows = [row for row, _ in found]
        width = found[0][1]
        left = rows[:SIDE]
        right = rows[SIDE:]
        whole = b.and_(width, _I64(-32))
        low, high = (_summed(b, left, right, 16, (_I64(0), whole, 32, shift)) for shift in (0, 16))
        rest = _summed(b, left, right, 8, (whole, width, 8, 0))
        for i in range(SIDE):
            to, _ = row_of(context, b, signature.args[3], args[3], b.add(args[1], _I64(i)))
            for k in range(SIDE):
                pair = SIDE * i + k
                of_blocks = tree(b, b.fadd(low[pair], high[pair]), 16)
                found = b.fadd(of_blocks, tree(b, rest[pair], 8))
                b.store(found, b.gep(to, [b.add(args[2], _I64(k))]))
        return context.get_dummy_value()

    return types.void(rows, types.int64, types.int64, out), build


pair_similarities = cast(Callable[[F32, int, int, F32], None], intrinsic(_code))
"""Sets ``out[i, j]`` for `SIDE` rows i from ``first`` on and `SIDE` rows j from ``second`` on."""


# Which facts stand after all that they were drawn from? They say nothing new there.
UNREAD = -1
"""What `after_sources` returns if the sources of a memory are not known yet."""


@kernel
def after_sources(memories: U32, head: int, sources: tuple[U32, U32], ids: U32, out: I64) -> int:
    """Write the places of a list in which such facts follow the others; return how many there are.

    A fact among the first ``head`` memories is such a one if each of its sources is the id of a
    memory before it. They stand in their order after the others of the head; what is after the
    head stays. Returns `UNREAD` for a head with a memory whose sources are not known; then ``out``
    means nothing.

    Shapes:
        memories  uint32[n]    best first
        sources   (first, flat): first[m] is 1 + the place in flat of how many sources memory m
                  has, which are behind that; 0 or beyond the end of ``first``: not known
        ids       uint32       the id of each memory
        out       int64[n]     changed in place

    Cost: O(head * sources), and O(head) for each source; 1 us for 40 memories.
    """
    first, flat = sources
    n = memories.shape[0]
    head = min(head, n)
    leading = 0
    behind = 0
    later = np.empty(head, np.int64)
    for place in range(head):
        memory = memories[place]
        if memory >= first.shape[0] or first[memory] == 0:
            return UNREAD
        at = np.int64(first[memory]) - 1
        count = np.int64(flat[at])
        known = 0
        for source in flat[at + 1 : at + 1 + count]:
            for before in memories[:place]:
                if ids[before] == source:
                    known += 1
                    break
        if count > 0 and known == count:
            later[behind] = place
            behind += 1
        else:
            out[leading] = place
            leading += 1
    for place in range(behind):
        out[leading + place] = later[place]
    for place in range(head, n):
        out[place] = place
    return behind


_PAIRED = 3  # times that a similarity costs alone what it costs among all pairs


@kernel
def gram(vectors: U16, rows: U32) -> F32:
    """Return the similarity of every pair of rows, float32[n, n], symmetric.

    Shapes: vectors uint16[N, D], float16 bit patterns; rows uint32[n], in [0, N), may repeat.

    Cost: n (n + 1) / 2 similarities, about 5 ns each for D = 384: 30 us for 100 rows.
    """
    n = rows.shape[0]
    padded = (n + SIDE - 1) // SIDE * SIDE
    for i in range(n):  # rows lie anywhere, and waiting for them one by one costs most
        prefetch_row(vectors, rows[i])
    decoded = np.zeros((padded, vectors.shape[1]), np.float32)
    for i in range(n):
        decode_row(vectors, rows[i], decoded[i])
    out = np.empty((padded, padded), np.float32)
    for i in range(0, padded, SIDE):
        for j in range(0, i + 1, SIDE):
            pair_similarities(decoded, i, j, out)
    for i in range(padded):
        for j in range(i):
            out[j, i] = out[i, j]
    return out[:n, :n].copy() if n < padded else out


@kernel
def _next(near: F32, relevance: F64, apart: float, nearest: F32, values: F64) -> int:
    """Return the place to take next, having brought ``nearest`` up to date with ``near``.

    ``near`` float32[n] are the similarities to the one taken last; ``relevance`` is weighted, and
    minus infinity for those taken; ``values`` float64[n] is room. Ties: the lower place.
    """
    n = nearest.shape[0]
    for i in range(n):
        nearest[i] = max(nearest[i], near[i])
        values[i] = relevance[i] - apart * np.float64(nearest[i])
    first = -np.inf
    second = -np.inf
    third = -np.inf
    fourth = -np.inf
    for i in range(0, n - 3, 4):  # four at a time: one would wait for the one before
        first = max(first, values[i])
        second = max(second, values[i + 1])
        third = max(third, values[i + 2])
        fourth = max(fourth, values[i + 3])
    for i in range(n // 4 * 4, n):
        first = max(first, values[i])
    greatest = max(max(first, second), max(third, fourth))
    place = 0
    while values[place] != greatest:
        place += 1
    return place


@kernel
def _greatest(relevance: F64) -> int:
    """Return the place of the greatest relevance, the lowest on ties."""
    best = 0
    for i in range(relevance.shape[0]):
        if relevance[i] > relevance[best]:
            best = i
    return best


@kernel
def mmr_of_gram(similarities: F32, relevance: F64, balance: float, k: int) -> I64:
    """Return what `mmr` returns, from similarities that are known already.

    Shapes: similarities float32[n, n], from `gram`. Cost: O(k n), 10 us for all of 100 rows.
    """
    n = relevance.shape[0]
    size = max(0, min(k, n))
    order = np.empty(size, np.int64)
    if size == 0:
        return order
    weighted = balance * relevance
    nearest = np.full(n, -np.inf, np.float32)
    values = np.empty(n, np.float64)
    order[0] = _greatest(weighted)
    for place in range(1, size):
        last = order[place - 1]
        weighted[last] = -np.inf
        order[place] = _next(similarities[last], weighted, 1 - balance, nearest, values)
    return order


@kernel
def mmr(vectors: U16, rows: U32, relevance: F64, balance: float, k: int) -> I64:
    """Return the places of ``k`` rows in the order in which maximal marginal relevance takes them.

    Equation (Memora 3.4, after Carbonell & Goldstein 1998), lambda = ``balance``:
        next = argmax over c not taken of
               lambda * relevance[c] - (1 - lambda) * max over s taken of similarity(c, s)
    For the first the second term is 0. Ties: the lower place.

    Shapes: as for `gram`; relevance float64[n], finite; k >= 0, more than n gives all n.

    Cost: k n comparisons, for what is nearest among those taken is kept and not computed again,
    and the similarities: of every pair where those are few, of the taken with the rest where k is
    small beside n. 45 us for all of 100 rows.
    """
    n = rows.shape[0]
    size = max(0, min(k, n))
    if n * n <= _PAIRED * size * (2 * n - size):
        return mmr_of_gram(gram(vectors, rows), relevance, balance, k)
    order = np.empty(size, np.int64)
    if size == 0:
        return order
    weighted = balance * relevance
    for i in range(n):  # rows lie anywhere, and waiting for them one by one costs most
        prefetch_row(vectors, rows[i])
    nearest = np.full(n, -np.inf, np.float32)
    values = np.empty(n, np.float64)
    near = np.zeros(n, np.float32)
    row = np.empty(vectors.shape[1], np.float32)
    order[0] = _greatest(weighted)
    for place in range(1, size):
        last = order[place - 1]
        weighted[last] = -np.inf
        decode_row(vectors, rows[last], row)
        for i in range(n):
            if weighted[i] > -np.inf:
                near[i] = similarity(vectors, rows[i], row)
        order[place] = _next(near, weighted, 1 - balance, nearest, values)
    return order


@kernel
def fingerprints(
    memories: U32, first_row: U32, term_offset: U64, term: U32, speaker: U32, network: U8
) -> U64:
    """Return a number for each memory that is the same where speaker, network and words are.

    Equation (FNV-1a, on 32-bit words): h = (h xor w) * 1099511628211, over the speaker, the
    network and the terms of all passages in text order, a stop word being NONE. Unequal memories
    may share a number by chance, so the caller must compare the texts.

    Shapes, for n of M memories with R rows and T terms in all:
        memories     uint32[n]    in [0, M)
        first_row    uint32[M+1]  rows of memory m are first_row[m]:first_row[m + 1]
        term_offset  uint64[R+1]  terms of row r are term[term_offset[r]:term_offset[r + 1]]
        term         uint32[T]
        speaker      uint32[M]
        network      uint8[M]

    Cost: a multiplication a term, 3 us for 100 memories of 25 words.
    """
    out = np.empty(memories.shape[0], np.uint64)
    prime = np.uint64(1099511628211)
    for i in range(memories.shape[0]):  # they lie anywhere: the waits for memory overlap
        prefetch(first_row, int(memories[i]))
        prefetch(speaker, int(memories[i]))
    for i in range(memories.shape[0]):
        prefetch(term_offset, int(first_row[memories[i]]))
    for i in range(memories.shape[0]):
        prefetch(term, int(term_offset[first_row[memories[i]]]))
    for i in range(memories.shape[0]):
        m = memories[i]
        h = np.uint64(14695981039346656037)
        h = (h ^ np.uint64(speaker[m])) * prime
        h = (h ^ np.uint64(network[m])) * prime
        first = np.int64(term_offset[first_row[m]])
        end = np.int64(term_offset[first_row[m + 1]])
        for word in term[first:end]:
            h = (h ^ np.uint64(word)) * prime
        out[i] = h
    return out


@kernel
def _suspect(marks: U64, similarities: F32, limit: np.float32, i: int, j: int) -> bool:
    """Return whether two places have one mark, or are near where similarities are given."""
    if marks[i] == marks[j]:
        return True
    return bool(similarities.shape[0] > 0 and similarities[i, j] >= limit)


@kernel
def suspects(marks: U64, similarities: F32, threshold: float) -> I64:
    """Return the pairs of places, int64[p, 2], that may say the same, the later first.

    A pair has equal marks, or a similarity of ``threshold`` or more. In rising order.

    Shapes: marks uint64[n]; similarities float32[n, n], symmetric, or float32[0, 0] for none.

    Cost: O(n^2), 5 us for 100.
    """
    limit = np.float32(threshold)
    p = 0
    for i in range(marks.shape[0]):
        for j in range(i):
            p += _suspect(marks, similarities, limit, i, j)
    pairs = np.empty((p, 2), np.int64)
    p = 0
    for i in range(marks.shape[0]):
        for j in range(i):
            if _suspect(marks, similarities, limit, i, j):
                pairs[p, 0] = i
                pairs[p, 1] = j
                p += 1
    return pairs


@kernel
def repeats(
    memories: U32, first_row: U32, term_offset: U64, term: U32, speaker: U32, network: U8
) -> I64:
    """Return each place whose fingerprint an earlier place has, with the last such: int64[p, 2].

    In rising order, for arguments as `fingerprints` takes them. Cost: its cost, and 1 us for 100.
    """
    marks = fingerprints(memories, first_row, term_offset, term, speaker, network)
    n = marks.shape[0]
    bits = 1
    while (1 << bits) < 2 * n:
        bits += 1
    last = np.full(1 << bits, -1, np.int64)  # a hash table: the last place of each mark
    pairs = np.empty((n, 2), np.int64)
    p = 0
    for i in range(n):
        at = np.int64(marks[i] >> np.uint64(64 - bits))
        while last[at] >= 0 and marks[last[at]] != marks[i]:
            at = (at + 1) & ((1 << bits) - 1)
        if last[at] >= 0:
            pairs[p, 0] = i
            pairs[p, 1] = last[at]
            p += 1
        last[at] = i
    return pairs[:p].copy()
