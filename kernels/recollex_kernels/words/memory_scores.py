"""The BM25 scores of some memories, from posting lists or from their own words.

Memories that no list covers were scored by the keyword arm: those scores are looked up.
"""

from typing import TypeAlias

import numpy as np

from recollex_kernels.machine.bit_masks import Bits, place_of
from recollex_kernels.machine.jit import F32, I64, U32, U64, kernel
from recollex_kernels.words.bm25 import Weights, scores_of
from recollex_kernels.words.impacts import DENSE, code_values
from recollex_kernels.words.segments import (
    SLICE,
    columns_of,
    extent,
    limits_of,
    list_of,
    postings_of,
    set_stops,
    slices_of,
)

Asked: TypeAlias = tuple[I64, F32, U32, U64, U32, float, float, U32, F32]
"""What scores a question's words: table of segments (see `segments`); tail, the scores of the
documents after them as far as they are known, in order (see `search_weighed`); lengths,
forward_offsets, forward_terms (see `bm25.Forward`), fixed, per_word, terms, idf (see
`bm25.Weights`)."""
_PATIENCE = 128  # postings that take as long to walk as one memory's own words take


@kernel
def _sum_lists(
    bits: Bits,
    before: U32,
    memories: U32,
    chosen: I64,
    table: I64,
    s: int,
    weights: Weights,
    out: F32,
) -> None:
    """Add each word to the ``chosen`` memories of segment ``s`` that hold it, by their places."""
    terms, idf, fixed, per_word = weights
    first, end = extent(table, s)
    documents, codes = postings_of(table, s)
    slices = slices_of(table, s)
    stops = np.empty((1, slices + 1), np.int64)
    dense, _, columns = columns_of(table, s)
    values = np.empty(256, np.float32)
    code_values(limits_of(table, s), fixed, per_word, values)
    size = end - first
    end_document = bits[0].shape[0] << 6
    low = np.searchsorted(chosen, np.searchsorted(memories, first))
    high = np.searchsorted(chosen, np.searchsorted(memories, end))
    for q in range(terms.shape[0]):
        begin, behind = set_stops(table, s, terms[q], end_document, 0, stops)
        if begin == behind:
            continue
        if (behind - begin) * DENSE > size:
            at = np.searchsorted(dense, terms[q]) * size
            column = columns[at : at + size]
            for i in chosen[low:high]:  # loads that wait together: no branch on what is held
                code = column[np.uint64(memories[i] - np.uint32(first))]
                value = values[code]
                out[i] += idf[q] * (value if code != 0 else np.float32(0))
            continue
        for slice_ in range(slices):
            base = np.uint64(first + slice_ * SLICE)
            b = stops[0, slice_]
            e = stops[0, slice_ + 1]
            held = documents[b:e]
            own = codes[b:e]
            for p in range(held.shape[0]):
                d = base + np.uint64(held[p])
                if (bits[0][d >> np.uint64(6)] >> (d & np.uint64(63))) & np.uint64(1):
                    out[place_of(bits, before, int(d))] += idf[q] * values[own[p]]


@kernel
def _walked(table: I64, terms: U32) -> int:
    """Return how many postings of the terms have no column."""
    count = 0
    for s in range(table.shape[0]):
        first, end = extent(table, s)
        for term in terms:
            begin, behind = list_of(table, s, term)
            if (behind - begin) * DENSE <= end - first:
                count += behind - begin
    return count


@kernel
def scores_among(
    bits: Bits,
    before: U32,
    memories: U32,
    chosen: I64,
    first_row: U32,
    asked: Asked,
) -> F32:
    """Return the BM25 scores of the ``chosen`` of some memories: those of `bm25.scores_of`.

    Shapes:
        bits, before, memories   the set and what `bitmap.listed` returns of it
        chosen      int64[n]     places in memories, ascending
        first_row   see `bm25.Forward`
        returned    float32[n]

    Cost: 0.5 ns for each posting of the terms that have no column and 2 ns for each memory and term
    that has one, or 60 ns for each chosen; of those that ``asked`` has the scores of, 1 ns.
    """
    table, tail, lengths, forward_offsets, forward_terms, k_fixed, k_per_word, terms, idf = asked
    forward = lengths, first_row, forward_offsets, forward_terms
    weights = terms, idf, np.float32(k_fixed), np.float32(k_per_word)
    n = chosen.shape[0]
    end = 0
    if table.shape[0] > 0:
        end = extent(table, table.shape[0] - 1)[1]
    scores = np.empty(n, np.float32)
    unsure = np.empty(n, np.int64)
    count = 0
    listed = 0
    while listed < n and memories[chosen[listed]] < end:
        listed += 1
    if listed > 0 and _walked(table, terms) < _PATIENCE * listed:
        sums = np.zeros(memories.shape[0], np.float32)
        for s in range(table.shape[0]):
            _sum_lists(bits, before, memories, chosen, table, s, weights, sums)
        for i in range(listed):
            scores[i] = sums[chosen[i]]
            unsure[count] = i
            count += int(scores[i] < 0)
    else:
        unsure[:listed] = np.arange(listed)
        count = listed
    for i in range(listed, n):
        place = np.int64(memories[chosen[i]]) - end
        if place < tail.shape[0]:
            scores[i] = tail[place]
        else:
            unsure[count] = i
            count += 1
    if count > 0:
        read = np.empty(count, np.float32)
        scores_of(memories[chosen[unsure[:count]]], forward, weights, read)
        for i in range(count):
            scores[unsure[i]] = read[i]
    return scores
