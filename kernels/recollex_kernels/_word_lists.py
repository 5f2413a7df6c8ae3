"""Which documents of a segment may be among the best by the words of a question, and their scores?

MaxScore (Turtle & Flood 1995), term at a time, in four steps:

1. Bounds. What a posting may add, idf times its code's greatest value, is rounded up to a whole
   number, and added to its document's sum of 16 bits. Words with a column are left out.
2. Frequent words. While what those left out could add together may reach the k-th best sum, or
   would leave too many candidates, the rarest of them joins.
3. Candidates. Sums that with the words left out may reach the k-th best are collected, 64 looked at
   in a step, and the words left out are looked up in their columns, a byte a document. Where there
   are few postings, their documents' sums are gathered first, and what was written is set back.
4. Scores. Few documents are left. Each word is walked once more, or looked up, and its weight is
   added to them in float32, words in the question's order: the score of `_bm25`, to the bit. A
   document with a code that stands for several pairs gets -inf, and is scored by its own words.

So what is pruned, and in which order, changes nothing in a result.
"""

import numpy as np

from recollex_kernels._bounds import keep_reaching, likely, places_reaching, reached_by, roughly
from recollex_kernels._impacts import DENSE, code_values
from recollex_kernels._jit import F32, I64, U8, U16, U32, kernel
from recollex_kernels._lanes import LANES
from recollex_kernels._positions import position_of
from recollex_kernels._segments import columns_of, extent, limits_of, postings_of

_MOST = 0xFFFF
_FAR = 32  # postings for each candidate above which candidates are searched for in a list
_FEW = 16  # documents for each posting from which sums are gathered, not swept
_HIT = 16  # postings that take as long to add as a candidate takes to look up


@kernel
def _add(documents: U32, codes: U8, added: U16, first: int, sums: U16) -> None:
    start = np.uint32(first)
    for p in range(documents.shape[0]):
        sums[np.uint64(documents[p] - start)] += added[codes[p]]


@kernel
def _look_up(columns: U8, base: int, added: U16, found: U32, out: U16) -> None:
    """Add a word to those found that hold it; document d has columns[base + d]."""
    for i in range(found.shape[0]):
        out[i] += added[columns[np.uint64(base + np.int64(found[i]))]]


@kernel
def _add_scores(
    documents: U32,
    codes: U8,
    weight: np.float32,
    values: F32,
    first: int,
    found: U32,
    places: U16,
    scores: F32,
) -> None:
    """Add a word to those found that hold it; places[d - first] is 1 + where d is found, or 0."""
    start = np.uint32(first)
    if documents.shape[0] > _FAR * found.shape[0]:
        at = 0
        for i in range(found.shape[0]):
            if i > 0 and found[i] < found[i - 1]:  # documents of another list begin
                at = 0
            at = position_of(documents, at, documents.shape[0], int(found[i]))
            if at < documents.shape[0] and documents[at] == found[i]:
                scores[i] += weight * values[codes[at]]
        return
    for p in range(documents.shape[0]):
        place = places[np.uint64(documents[p] - start)]
        if place != 0:
            scores[np.int64(place) - 1] += weight * values[codes[p]]


@kernel
def _gather(
    documents: U32,
    begins: I64,
    ends: I64,
    first: int,
    allowed: U8,
    sums: U16,
    out: U32,
    out_sums: U16,
) -> int:
    """Move the sums of all allowed documents of some lists to ``out``; return how many they are.

    All sums of the lists are 0 then.
    """
    n, start = 0, np.uint32(first)
    for q in range(begins.shape[0]):
        for d in documents[begins[q] : ends[q]]:
            at = np.uint64(d - start)
            held = sums[at]
            sums[at] = 0
            out[n], out_sums[n] = d, held
            n += int(held != 0) & int(allowed[np.uint64(d)])
    return n


@kernel
def _any_allowed(allowed: U8, first: int, end: int) -> bool:
    """Return whether one of documents [first, end) is: of most segments an early one."""
    d = first
    while d < end and allowed[np.uint64(d)] == 0:
        d += 1
    return d < end


@kernel
def search_list(
    table: I64,
    s: int,
    terms: U32,
    idf: F32,
    fixed: np.float32,
    per_word: np.float32,
    end_document: int,
    allowed: U8,
    k: int,
    limit: int,
    n: int,
    scratch_sums: U16,
    scratch_blocks: U32,
    scratch_gathered: U32,
    scratch_held: U16,
    out: U32,
    out_sums: U16,
    out_scores: F32,
) -> tuple[int, int]:
    """Append the allowed documents of a segment that may be among the ``k`` best of all segments.

    Returned are how many stand in ``out`` now, and what the sum of each of the k best reaches.
    ``out_scores`` holds the BM25 score of each, or -inf where only its own words tell.

    Shapes, for documents [first, end) of the segment, Q terms:
        table, s            int64[S, 12], in [0, S)   the segment's lists, see `segments`
        terms, idf          uint32[Q], float32[Q], above 0; a term >= V is in no document
        fixed, per_word     as for `_bm25.add_chains`
        allowed             uint8[>= end_document]
        k                   at least 1
        limit, n            what the last call returned; 0 and 0 at first
        scratch_sums        uint16[>= end - first, to the next 64], all 0, and so it is left
        scratch_blocks      uint32[> (end - first) / 64]
        scratch_gathered, scratch_held   uint32, uint16[>= n + end - first + 64]
        out, out_sums, out_scores   uint32, uint16, float32[>= n + end - first + 64]

    Cost: 0.5 ns a posting of the words without a column, or twice as many of those that are needed;
    0.03 ns a document; 5 ns a candidate.
    """
    first, end = extent(table, s)
    if not _any_allowed(allowed, first, min(end, end_document)):
        return n, limit
    starts, documents, codes = postings_of(table, s)
    dense, greatest, columns = columns_of(table, s)
    size, n_terms = end - first, terms.shape[0]
    whole = np.float64(0)
    for q in range(n_terms):
        whole += np.float64(idf[q])
    scale = max(0, _MOST - 2 * n_terms) / whole
    values, most = np.empty(256, np.float32), np.empty(256, np.float32)
    apart = code_values(limits_of(table, s), fixed, per_word, values, most)
    added = np.empty((n_terms, 256), np.uint16)
    begins, ends = np.zeros(n_terms, np.int64), np.zeros(n_terms, np.int64)
    columned, left_out = np.full(n_terms, -1, np.int64), np.zeros(n_terms, np.int64)
    rest = walked = 0
    for q in range(n_terms):
        t = np.int64(terms[q])
        if t >= starts.shape[0] - 1:
            continue
        begins[q] = starts[t]
        ends[q] = position_of(documents, starts[t], starts[t + 1], end_document)
        if begins[q] == ends[q]:
            continue
        of_code, weight = added[q], np.float32(np.float64(idf[q]) * scale)
        for code in range(256):
            of_code[code] = np.uint16(np.int32(weight * most[code] + np.float32(1)))
        of_code[0] = 0
        if (starts[t + 1] - starts[t]) * DENSE > size:
            columned[q] = np.searchsorted(dense, terms[q])
            for code in range(1, int(greatest[columned[q]]) + 1):
                left_out[q] = max(left_out[q], int(of_code[code]))
            rest += left_out[q]
        else:
            held = documents[begins[q] : ends[q]]
            _add(held, codes[begins[q] : ends[q]], of_code, first, scratch_sums)
            walked += held.shape[0]
    seen = max(0, min(end, end_document) - first)
    start, error, done = n, n_terms + 2, False
    if walked * _FEW < size:
        ends_walked = ends.copy()
        for q in range(n_terms):
            if columned[q] >= 0:
                ends_walked[q] = begins[q]
        m = _gather(
            *(documents, begins, ends_walked, first, allowed, scratch_sums),
            *(scratch_gathered, scratch_held),
        )
        scratch_held[m : m + n] = out_sums[:n]
        limit = max(limit, int((reached_by(scratch_held, m + n, k) - error) / apart))
        done = rest == 0 or limit > rest
        if done:
            scratch_held[m : m + LANES] = 0
            n = places_reaching(scratch_held, m, max(1, limit - rest), scratch_blocks, start, out)
            for i in range(start, n):
                place = np.uint64(out[i])
                out[i], out_sums[i] = scratch_gathered[place], scratch_held[place]
        else:
            for q in range(n_terms):
                held = documents[begins[q] : ends_walked[q]]
                _add(held, codes[begins[q] : ends_walked[q]], added[q], first, scratch_sums)
    swept, guess = not done, limit
    if swept and (limit == 0 or rest >= limit):
        guess = max(limit, int((likely(scratch_sums, seen, k) - error) / apart))
    while not done:
        while rest > 0:
            best = -1
            for q in range(n_terms):
                if left_out[q] > 0 and (best < 0 or idf[q] > idf[best]):
                    best = q
            held = documents[begins[best] : ends[best]]
            if guess > rest:
                hits = roughly(scratch_sums, seen, guess - rest)
                if hits * _HIT <= held.shape[0] + size // _FEW:
                    break
            _add(held, codes[begins[best] : ends[best]], added[best], first, scratch_sums)
            rest -= left_out[best]
            left_out[best] = 0
            guess = max(limit, int((likely(scratch_sums, seen, k) - error) / apart))
        least = max(1, guess - rest)
        stop = places_reaching(scratch_sums, seen, least, scratch_blocks, start, out)
        n = start
        for i in range(start, stop):
            d = np.uint64(out[i])
            out[n], out_sums[n] = np.uint32(d) + np.uint32(first), scratch_sums[d]
            n += int(allowed[d + np.uint64(first)])
        reached = reached_by(out_sums, n, k)
        limit = max(limit, int((reached - error) / apart))
        done = limit >= guess or (least == 1 and rest == 0)
        guess = limit if reached > 0 else guess // 4
    if swept:
        scratch_sums[:size] = 0
        n = keep_reaching(max(1, limit - rest), start, n, out, out_sums)
    for q in range(n_terms):
        if left_out[q] > 0:
            _look_up(columns, columned[q] * size - first, added[q], out[start:n], out_sums[start:n])
    limit = max(limit, int((reached_by(out_sums, n, k) - error) / apart))
    n = keep_reaching(limit, start, n, out, out_sums)
    found, scores = out[start:n], out_scores[start:n]
    if found.shape[0] >= _MOST:  # their places have no room in 16 bits
        scores[:] = np.float32(-np.inf)
        return n, limit
    scores[:] = 0
    for i in range(found.shape[0]):
        scratch_sums[np.uint64(found[i] - np.uint32(first))] = i + 1
    for q in range(n_terms):
        if begins[q] == ends[q]:
            continue
        if columned[q] >= 0:
            column = columns[columned[q] * size : (columned[q] + 1) * size]
            for i in range(found.shape[0]):
                code = column[np.uint64(found[i] - np.uint32(first))]
                if code != 0:
                    scores[i] += idf[q] * values[code]
            continue
        held = documents[begins[q] : ends[q]]
        own = codes[begins[q] : ends[q]]
        _add_scores(held, own, idf[q], values, first, found, scratch_sums, scores)
    for i in range(found.shape[0]):
        scratch_sums[np.uint64(found[i] - np.uint32(first))] = 0
    return n, limit
