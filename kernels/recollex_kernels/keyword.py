"""BM25 over rows: postings for the indexed rows, a scan of forward terms for the tail.

Forward terms are the term ids of each row in text order, with repetitions; the terms of row r are
``forward_terms[forward_offsets[r]:forward_offsets[r + 1]]``. The entry ``STOP`` marks the place
of a stop word: it is never counted, and a phrase may ask for it.
"""

import numpy as np

from recollex_kernels._jit import F32, I64, U8, U32, U64, kernel

STOP = np.uint32(0xFFFFFFFF)
_MOST = 255  # counts saturate here
_BLOCK = 64  # tokens
_LOW = 4095


@kernel
def build_postings(
    forward_offsets: U64 | I64, forward_terms: U32, first_row: int, end_row: int, vocabulary: int
) -> tuple[I64, U32, U8]:
    """Return the postings of rows [first_row, end_row): ``starts``, ``rows``, ``counts``.

    Rows of term t are ``rows[starts[t]:starts[t + 1]]``, ascending, each once, with the number
    of times the term occurs in the row, at most 255.

    Shapes, for R rows, V = ``vocabulary``, P postings:
        forward_offsets  int64 or uint64[>= end_row + 1]
        forward_terms    uint32[]      in [0, V), or STOP
        returned         int64[V+1], uint32[P], uint8[P]

    Cost: O(tokens + V), a counting sort in two passes.
    """
    starts = np.zeros(vocabulary + 1, np.int64)
    latest = np.full(vocabulary, -1, np.int64)  # the last row seen to hold the term
    for row in range(first_row, end_row):
        for i in range(np.int64(forward_offsets[row]), np.int64(forward_offsets[row + 1])):
            t = forward_terms[i]
            if t != STOP and latest[t] != row:
                latest[t] = row
                starts[t + np.uint32(1)] += 1
    for v in range(vocabulary):
        starts[v + 1] += starts[v]
    rows = np.empty(starts[vocabulary], np.uint32)
    counts = np.empty(starts[vocabulary], np.uint8)
    ends = starts[:vocabulary].copy()
    latest[:] = -1
    for row in range(first_row, end_row):
        for i in range(np.int64(forward_offsets[row]), np.int64(forward_offsets[row + 1])):
            t = forward_terms[i]
            if t == STOP:
                continue
            if latest[t] == row:
                p = ends[t] - 1
                if counts[p] < _MOST:
                    counts[p] += np.uint8(1)
            else:
                latest[t] = row
                p = ends[t]
                ends[t] = p + 1
                rows[p] = row
                counts[p] = 1
    return starts, rows, counts


@kernel
def _rows_before(rows: U32, first: int, end: int, end_row: int) -> int:
    """Return the first position in [first, end) of ascending ``rows`` whose row >= ``end_row``."""
    while first < end:
        middle = (first + end) >> 1
        if rows[middle] < end_row:
            first = middle + 1
        else:
            end = middle
    return first


@kernel
def document_frequency(starts: I64, rows: U32, terms: U32, end_row: int) -> I64:
    """Return, for each term, how many indexed rows before ``end_row`` hold it.

    Shapes, for V indexed terms, P postings, Q query terms:
        starts, rows  int64[V+1], uint32[P]  as build_postings returns them
        terms         uint32[Q]              a term >= V is in no row
        returned      int64[Q]

    Cost: O(Q log P).
    """
    frequency = np.zeros(terms.shape[0], np.int64)
    for q in range(terms.shape[0]):
        t = np.int64(terms[q])
        if t < starts.shape[0] - 1:
            frequency[q] = _rows_before(rows, starts[t], starts[t + 1], end_row) - starts[t]
    return frequency


@kernel
def add_postings(
    starts: I64,
    rows: U32,
    counts: U8,
    lengths: U32,
    norms: F32,
    terms: U32,
    idf: F32,
    end_row: int,
    out: F32,
) -> None:
    """Add the BM25 weight of every query term to ``out``, from postings.

    Equation (Kamphuis et al., ECIR 2020, Table 1, "Lucene (accurate)"):
        out[d] += idf[q] * f / (f + norms[length of d])
        norms[l] = k1 * (1 - b + b * l / mean_length)

    evaluated in float32 as ``idf * (f / (f + norm))``, query terms in their order, so a row's
    sum has the same bits here and in ``add_counts``.

    Shapes, for V indexed terms, P postings, R rows, Q query terms:
        starts, rows, counts  int64[V+1], uint32[P], uint8[P]  as build_postings returns them
        lengths  uint32[R]
        norms    float32[L+1]  by length; a length above L takes the last
        terms    uint32[Q]     a term >= V adds nothing; a repeated term counts again
        idf      float32[Q]    aligned with terms
        out      float32[>= end_row]  changed in place for rows < end_row; the caller zeroes it

    Cost: O(postings of the Q terms), no allocation. Inputs may be read-only maps.
    """
    longest = np.uint32(norms.shape[0] - 1)
    for q in range(terms.shape[0]):
        t = np.int64(terms[q])
        if t >= starts.shape[0] - 1:
            continue
        first = starts[t]
        end = _rows_before(rows, first, starts[t + 1], end_row)
        term_rows, term_counts, weight = rows[first:end], counts[first:end], idf[q]
        for p in range(term_rows.shape[0]):
            d = term_rows[p]
            f = np.float32(term_counts[p])
            out[d] += weight * (f / (f + norms[min(lengths[d], longest)]))


@kernel
def _any_term(forward_terms: U32, first: int, terms: U32) -> bool:
    """Return whether one of the terms is among the ``_BLOCK`` tokens from ``first`` on.

    The constant trip count and the int32 sum are what lets the compiler use vector compares.
    """
    hits = np.int32(0)
    for term in terms:
        for i in range(_BLOCK):
            hits = np.int32(hits + np.int32(forward_terms[np.uint64(first + i)] == term))
    return bool(hits > 0)


@kernel
def count_terms(
    forward_offsets: U64 | I64,
    forward_terms: U32,
    first_row: int,
    end_row: int,
    terms: U32,
    out: U8,
) -> None:
    """Count the query terms in each row of the tail: ``out[row - first_row, q]``, at most 255.

    Shapes, for T = end_row - first_row, Q query terms:
        forward_offsets, forward_terms  as at the top of this file
        terms  uint32[Q]    a repeated term is counted in each of its places
        out    uint8[T, Q]  overwritten

    Cost: O(tokens of the tail * Q / vector width), the terms being compared with blocks of
    tokens; rows are looked for only in blocks that hold a term.
    """
    tail = out[: end_row - first_row]
    tail[:] = 0
    row = first_row
    end = int(np.int64(forward_offsets[end_row]))
    maybe = np.zeros(_LOW + 1, np.uint8)  # by the id's low bits: no query term there, no match
    for term in terms:
        maybe[term & np.uint32(_LOW)] = 1
    for first in range(np.int64(forward_offsets[first_row]), end, _BLOCK):
        if first + _BLOCK <= end and not _any_term(forward_terms, first, terms):
            continue
        for i in range(first, min(end, first + _BLOCK)):
            t = forward_terms[i]
            if maybe[t & np.uint32(_LOW)] == 0 or t == STOP:
                continue
            for q in range(terms.shape[0]):
                if terms[q] == t:
                    while np.int64(forward_offsets[row + 1]) <= i:
                        row += 1
                    if tail[row - first_row, q] < _MOST:
                        tail[row - first_row, q] += np.uint8(1)


@kernel
def add_counts(counts: U8, first_row: int, lengths: U32, norms: F32, idf: F32, out: F32) -> None:
    """Add the BM25 weight of every query term to ``out``, from the tail's counts.

    Equation and order of the sum: those of ``add_postings``, to the bit.

    Shapes, for T rows of the tail, Q query terms, R >= first_row + T rows:
        counts   uint8[T, Q]   as count_terms fills them
        lengths  uint32[R]
        norms    float32[L+1]  by length; a length above L takes the last
        idf      float32[Q]
        out      float32[R]    changed in place for rows [first_row, first_row + T)

    Cost: O(T * Q), no allocation.
    """
    longest = np.uint32(norms.shape[0] - 1)
    for i in range(counts.shape[0]):
        d = first_row + i
        norm = norms[min(lengths[d], longest)]
        for q in range(counts.shape[1]):
            f = np.float32(counts[i, q])
            if f > 0:
                out[d] += idf[q] * (f / (f + norm))


@kernel
def phrase_rows(forward_offsets: U64 | I64, forward_terms: U32, candidates: U32, phrase: U32) -> U8:
    """Return, for each candidate row, 1 if the phrase's terms occur in it one after another.

    A STOP in the phrase matches a STOP in the row, that is any stop word. An empty phrase is in
    every row.

    Shapes, for C candidates, P terms in the phrase:
        candidates  uint32[C]  rows
        phrase      uint32[P]
        returned    uint8[C]

    Cost: O(tokens of the candidates * P) at worst.
    """
    found = np.zeros(candidates.shape[0], np.uint8)
    length = phrase.shape[0]
    for c in range(candidates.shape[0]):
        row = np.int64(candidates[c])
        first, end = np.int64(forward_offsets[row]), np.int64(forward_offsets[row + 1])
        for i in range(first, end - length + 1):
            j = 0
            while j < length and forward_terms[i + j] == phrase[j]:
                j += 1
            if j == length:
                found[c] = 1
                break
    return found
