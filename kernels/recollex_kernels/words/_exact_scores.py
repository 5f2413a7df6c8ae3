"""The scores of the few documents that a search found in a segment, to the bit those of `bm25`.

Words are added in the question's order. A posting's code stands for one count, except great ones,
and a document's length is read once.
"""

from typing import TypeAlias

import numpy as np

from recollex_kernels.machine.bit_masks import lowest
from recollex_kernels.machine.jit import F32, I64, U8, U16, U32, kernel
from recollex_kernels.machine.memory_access import prefetch
from recollex_kernels.words._bounds import LANES, count_reaching, reaching
from recollex_kernels.words.bm25 import Weights
from recollex_kernels.words.impacts import code_counts
from recollex_kernels.words.segments import (
    SLICE,
    SLICE_BITS,
    columns_of,
    extent,
    limits_of,
    position_of,
    postings_of,
)

Room: TypeAlias = tuple[U16, U32, U32]
"""Scratch of `score_found`, for documents [first, end): places, bits, hits.

places  uint16[>= end - first], all 0 before and after
bits    uint32[> (end - first) / 32], all 0 before and after
hits    uint32[> postings of a term]
"""
_MOST = 0xFFFF
_UNSURE = np.float32(-np.inf)
_FEW = 160  # documents up to which each is compared with all, which takes less than to list bits
_FAR = 24  # postings for each found document above which it is searched for in a list


@kernel
def _part(f: np.float32, norm: np.float32) -> np.float32:
    """Return what a posting adds for each unit of idf, -inf of a code without a count."""
    return f / (f + norm) if f > 0 else _UNSURE


@kernel
def _add_scores(
    documents: U16,
    codes: U8,
    stops: I64,
    q: int,
    weight: np.float32,
    counts: F32,
    norms: F32,
    is_found: U32,
    places: U16,
    scratch_hits: U32,
    scores: F32,
) -> None:
    """Add a word to those found that hold it; places[d] is 1 + where document d is found."""
    n = np.uint64(0)
    for slice_ in range(stops.shape[1] - 1):  # bits first: they stay in the first cache
        start = np.uint64(slice_ * SLICE)
        for p in range(stops[q, slice_], stops[q, slice_ + 1]):
            at = start + np.uint64(documents[np.uint64(p)])
            scratch_hits[n] = p
            held = is_found[at >> np.uint64(5)] >> np.uint32(at & np.uint64(31))
            n += np.uint64(held & np.uint32(1))
    slice_ = 0
    for hit in scratch_hits[: np.int64(n)]:
        while np.int64(hit) >= stops[q, slice_ + 1]:
            slice_ += 1
        at = np.uint64(slice_ * SLICE) + np.uint64(documents[hit])
        place = np.uint64(places[at] - np.uint16(1))
        scores[place] += weight * _part(counts[codes[hit]], norms[place])


@kernel
def _search_scores(
    documents: U16,
    codes: U8,
    stops: I64,
    q: int,
    weight: np.float32,
    counts: F32,
    norms: F32,
    first: int,
    found: U32,
    scores: F32,
) -> None:
    """As `_add_scores`, of documents found that ascend: their places in the list are sought."""
    p = stops[q, 0]
    for i in range(found.shape[0]):
        held = np.int64(found[i]) - first
        slice_ = held >> SLICE_BITS
        d = np.uint16(held & (SLICE - 1))
        p = max(p, stops[q, slice_])
        end = stops[q, slice_ + 1]
        while p + LANES <= end and documents[np.uint64(p + LANES - 1)] < d:
            p += LANES
        if p + LANES <= documents.shape[0]:
            at = p + int(lowest(reaching(documents, p, d)))
        else:
            at = position_of(documents, p, end, int(d))
        if at < end and documents[np.uint64(at)] == d:
            scores[i] += weight * _part(counts[codes[np.uint64(at)]], norms[i])


@kernel
def _sort(found: U32, first: int, bits: U32) -> None:
    """Sort them, each once, by marking them among the ``bits``, which are 0."""
    low = np.uint32(0xFFFFFFFF)
    high = np.uint32(0)
    for d in found:
        at = d - np.uint32(first)
        word = at >> np.uint32(5)
        bits[np.uint64(word)] |= np.uint32(1) << (at & np.uint32(31))
        low = min(low, word)
        high = max(high, word)
    n = found.shape[0]
    if n <= _FEW:
        order = np.zeros(_FEW + LANES, np.uint32)
        order[:n] = found
        for d in order[:n]:
            found[n - 1 - count_reaching(order, n, d + np.uint32(1))] = d
        return
    n = 0
    for place in range(low & ~(LANES - 1), np.int64(high) + 1, LANES):
        words = reaching(bits, place, np.uint32(1))
        while words != 0:
            word = place + lowest(words)
            words &= words - np.uint64(1)
            held = np.uint64(bits[np.uint64(word)])
            while held != 0:
                found[np.uint64(n)] = np.uint32(first + 32 * word + lowest(held))
                held &= held - np.uint64(1)
                n += 1


@kernel
def score_found(
    table: I64,
    s: int,
    weights: Weights,
    stops: I64,
    columned: I64,
    lengths: U32,
    found: U32,
    scratch: Room,
    out: F32,
) -> None:
    """Set ``out`` to BM25 scores of documents of segment ``s``, or -inf where codes do not tell.

    Shapes, for documents [first, end) of the segment, Q terms:
        table, s, weights   as for `search_segment`
        stops           int64[Q, > slices of the segment]   the postings of each term that count
        columned        int64[Q]     the number of its column, or -1
        lengths         uint32[>= end]
        found           uint32[n], each once, which are put in order; out float32[n]
        scratch         see `Room`

    Cost: for each term 0.5 ns a posting, or 8 ns each found if they are few beside it, or
    2 ns each found if it has a column.
    """
    terms, idf, fixed, per_word = weights
    scratch_places, scratch_bits, scratch_hits = scratch
    first, end = extent(table, s)
    for d in found:
        prefetch(lengths, int(d))
    _sort(found, first, scratch_bits)
    if found.shape[0] >= _MOST:  # their places have no room in 16 bits
        for d in found:
            scratch_bits[np.uint64((d - np.uint32(first)) >> np.uint32(5))] = 0
        out[:] = _UNSURE
        return
    documents, codes = postings_of(table, s)
    columns = columns_of(table, s)[2]
    size = end - first
    norms = np.empty(found.shape[0], np.float32)
    counts = np.empty(256, np.float32)
    code_counts(limits_of(table, s), counts)
    for i in range(found.shape[0]):
        scratch_places[np.uint64(found[i] - np.uint32(first))] = i + 1
        norms[i] = fixed + per_word * np.float32(lengths[np.uint64(found[i])])
    out[:] = 0
    for q in range(terms.shape[0]):
        if stops[q, 0] == stops[q, -1]:
            continue
        if columned[q] >= 0:
            column = columns[columned[q] * size : (columned[q] + 1) * size]
            for i in range(found.shape[0]):
                code = column[np.uint64(found[i] - np.uint32(first))]
                out[i] += idf[q] * _part(counts[code], norms[i]) if code != 0 else np.float32(0)
            continue
        if stops[q, -1] - stops[q, 0] > _FAR * found.shape[0]:
            _search_scores(documents, codes, stops, q, idf[q], counts, norms, first, found, out)
        else:
            _add_scores(
                documents,
                codes,
                stops,
                q,
                idf[q],
                counts,
                norms,
                scratch_bits,
                scratch_places,
                scratch_hits,
                out,
            )
    for i in range(found.shape[0]):
        at = found[i] - np.uint32(first)
        scratch_places[np.uint64(at)] = 0
        scratch_bits[np.uint64(at >> np.uint32(5))] = 0
