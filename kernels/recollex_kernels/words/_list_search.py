"""Which documents of a segment may be among the best by the words of a question?

MaxScore (Turtle & Flood 1995), term at a time:

1. Bounds. What a posting may add, idf times its code's greatest value, is rounded up to a whole
   number of 16 bits. Of each word the k-th greatest code is found, 64 looked at in a step: what it
   adds is a first guess at what the k-th best reaches. Words with a column are left out.
2. Few postings. All words but that of the longest list are added to their documents' sums; its list
   is only held against them. What reaches the guess is collected, and the sums are set back. What
   the k-th best of these reaches is a better guess, before any word left out is looked up.
3. Many postings. A window of documents after another, whose sums stay in the caches: postings are
   added, and sums that with the words left out may reach the guess are collected, 64 looked at in
   a step. While the words left out may reach it alone, or would leave too many to look up, the
   rarest of them joins. The first window is a sixteenth of the segment: what about a sixteenth of
   k reach in it is a better guess.
4. Words left out are looked up in their columns, a byte a document. A guess that not k documents
   reach is replaced by what k do reach, and all is done again.

Few documents are left; `_found_scores` scores them once all segments were searched. So what is
pruned, and in which order, changes nothing in a result.
"""

import numpy as np

from recollex_kernels.machine.bit_masks import lowest
from recollex_kernels.machine.jit import F32, I64, U8, U16, U32, kernel
from recollex_kernels.machine.prefetch import prefetch
from recollex_kernels.words._bounds import (
    all_allowed,
    count_reaching,
    keep_allowed,
    keep_reaching,
    reached_by,
    reached_by_codes,
    take_reaching,
)
from recollex_kernels.words._impact_codes import DENSE, code_bounds
from recollex_kernels.words._lanes import LANES, reaching
from recollex_kernels.words._positions import position_of
from recollex_kernels.words._segment_table import (
    PART,
    PART_BITS,
    columns_of,
    extent,
    limits_of,
    parts_of,
    postings_of,
    set_stops,
)

_MOST = 0xFFFF
_AHEAD = 512  # postings
_FEW = 16  # documents for each posting from which sums are gathered, not looked through
_HIT = 12  # postings that take as long to add as a candidate takes to look up
_WINDOW = 32768  # documents whose sums stay in the first cache
_SHARE = 16  # of a segment, whose best tell what the best of all may reach
_SAMPLE = 8192  # codes of a word that are looked at for a guess


@kernel
def _add(documents: U16, codes: U8, added: U16, begin: int, end: int, base: int, sums: U16) -> None:
    """Add the postings [begin, end), all of one part, whose document d has sums[base + d]."""
    start = np.uint64(base)
    for block in range(begin, end, LANES):
        _ask_ahead(documents, codes, block)
        for p in range(block, min(end, block + LANES)):
            at = np.uint64(p)
            sums[start + np.uint64(documents[at])] += added[codes[at]]


@kernel
def _ask_ahead(documents: U16, codes: U8, p: int) -> None:
    """Ask memory for 64 postings that will be read a little later than posting ``p``."""
    prefetch(codes, p + _AHEAD)
    prefetch(documents, p + _AHEAD)
    prefetch(documents, p + _AHEAD + LANES // 2)


@kernel
def _add_below(
    documents: U16, codes: U8, added: U16, p: int, end: int, first: int, stop: int, sums: U16
) -> int:
    """Add the postings of [p, end), all of one part, below document ``stop``; return the next one.

    Document d of the part has sums[d - first]; stop is at most `PART`.
    """
    behind, beyond = p, np.uint16(stop)
    if stop == PART:
        behind = end
    else:
        while behind + LANES <= end and documents[np.uint64(behind + LANES - 1)] < beyond:
            behind += LANES
        if behind + LANES <= documents.shape[0]:
            behind = min(end, behind + int(lowest(reaching(documents, behind, beyond))))
        else:
            behind = position_of(documents, behind, end, stop)
    _add(documents, codes, added, p, behind, -first, sums)
    return behind


@kernel
def _ask_for(columns: U8, base: int, found: U32) -> None:
    """Ask memory for what `_look_up` will read."""
    for d in found:
        prefetch(columns, base + int(d))


@kernel
def _look_up(columns: U8, base: int, added: U16, found: U32, out: U16) -> None:
    """Add a word to those found that hold it; document d has columns[base + d]."""
    for i in range(found.shape[0]):
        out[i] += added[columns[np.uint64(base + np.int64(found[i]))]]


@kernel
def _look_up_all(
    columns: U8,
    columned: I64,
    left_out: I64,
    size: int,
    first: int,
    added: U16,
    guess: int,
    start: int,
    n: int,
    out: U32,
    out_sums: U16,
) -> int:
    """Add the words left out to those of [start, n); drop what cannot reach ``guess``."""
    rest = np.sum(left_out)
    for q in range(left_out.shape[0]):
        if left_out[q] > 0:
            _look_up(columns, columned[q] * size - first, added[q], out[start:n], out_sums[start:n])
            rest -= left_out[q]
            n = keep_reaching(max(1, guess - rest), start, n, out, out_sums)
    return n


@kernel
def _probe(
    documents: U16,
    codes: U8,
    added: U16,
    begin: int,
    end: int,
    first: int,
    base: int,
    least: int,
    sums: U16,
    n: int,
    out: U32,
    out_sums: U16,
) -> int:
    """Append documents of [begin, end) that with it reach ``least``; return the end of what is out.

    Document d of the part is first + d and has sums[base + d], which does not change.
    """
    limit, to, start, zero = np.uint16(least), np.uint64(n), np.uint32(first), np.uint64(base)
    for block in range(begin, end, LANES):
        _ask_ahead(documents, codes, block)
        for p in range(block, min(end, block + LANES)):
            d = documents[np.uint64(p)]
            held = np.uint16(sums[zero + np.uint64(d)] + added[codes[np.uint64(p)]])
            out[to], out_sums[to] = start + np.uint32(d), held
            to += np.uint64(held >= limit)
    return int(np.int64(to))


@kernel
def _gather(
    documents: U16,
    begin: int,
    end: int,
    first: int,
    base: int,
    least: int,
    sums: U16,
    n: int,
    out: U32,
    out_sums: U16,
) -> int:
    """As `_probe`, of documents whose sums alone reach ``least``; their sums are 0 then."""
    limit, to, start, zero = np.uint16(least), np.uint64(n), np.uint32(first), np.uint64(base)
    for p in range(begin, end):
        d = documents[np.uint64(p)]
        at = zero + np.uint64(d)
        held = sums[at]
        sums[at] = 0
        out[to], out_sums[to] = start + np.uint32(d), held
        to += np.uint64(held >= limit)
    return int(np.int64(to))


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
    every: bool,
    k: int,
    limit: int,
    apart: float,
    n: int,
    scratch_sums: U16,
    scratch_blocks: U32,
    stops: I64,
    columned: I64,
    out: U32,
    out_sums: U16,
) -> tuple[int, int, float]:
    """Append the allowed documents of a segment that may be among the ``k`` best of all segments.

    Returned are how many stand in ``out`` now, what the sum of each of the k best reaches, and the
    greatest ratio so far of what a code adds at most to what it adds at least. Set are which
    postings of each term count, part by part, and the number of its column or -1.

    Shapes, for documents [first, end) of the segment, Q terms:
        table, s            int64[S, 14], in [0, S)   the segment's lists, see `segments`
        terms, idf          uint32[Q], float32[Q], above 0; a term >= V is in no document
        fixed, per_word     as for `_bm25.add_chains`
        allowed             uint8[>= end_document]
        every               whether all are known to be allowed
        k                   at least 1
        limit, apart, n     what the last call returned; 0, 1 and 0 at first
        scratch_sums        uint16[>= end - first, to the next 64], all 0, and so it is left
        scratch_blocks      uint32[> (end - first) / 64]
        stops, columned     int64[Q, > parts of the segment], int64[Q]   stops as
                            `_segments.set_stops` sets them, or 0 if no document counts
        out, out_sums       uint32, uint16[>= n + end - first + 64]

    Cost: 0.5 ns a posting of the words without a column, or twice as many of those that are needed;
    0.05 ns a document unless postings are few; 5 ns a candidate.
    """
    first, end = extent(table, s)
    stops[:], columned[:] = 0, -1
    if not _any_allowed(allowed, first, min(end, end_document)):
        return n, limit, apart
    documents, codes = postings_of(table, s)
    dense, greatest, columns = columns_of(table, s)
    size, n_terms = end - first, terms.shape[0]
    parts, begins, ends = parts_of(table, s), stops[:, 0], stops[:, -1]
    whole = np.float64(0)
    for q in range(n_terms):
        whole += np.float64(idf[q])
    scale = max(0, _MOST - 2 * n_terms) / whole
    most = np.empty(256, np.float32)
    apart = max(apart, code_bounds(limits_of(table, s), fixed, per_word, most))
    added = np.empty((n_terms, 256), np.uint16)
    left_out = np.zeros(n_terms, np.int64)
    rest = walked = guess = longest = 0
    for q in range(n_terms):
        begin, behind = set_stops(table, s, terms[q], end_document, q, stops)
        if begins[q] == ends[q]:
            continue
        of_code, weight = added[q], np.float32(np.float64(idf[q]) * scale)
        for code in range(256):
            of_code[code] = np.uint16(np.int32(weight * most[code] + np.float32(1)))
        of_code[0] = 0
        if (behind - begin) * DENSE > size:
            columned[q] = np.searchsorted(dense, terms[q])
            for code in range(1, int(greatest[columned[q]]) + 1):
                left_out[q] = max(left_out[q], int(of_code[code]))
            rest += left_out[q]
        else:
            walked += ends[q] - begins[q]
            longest = max(longest, ends[q] - begins[q])
            if limit == 0 and ends[q] - begins[q] >= k:
                code = reached_by_codes(codes, begins[q], ends[q], k + k // 8)
                guess = max(guess, int((np.int64(of_code[code]) - n_terms - 2) / apart))
    finish = max(first, min(end, end_document))
    start, error, done = n, n_terms + 2, False
    for q in range(n_terms):
        if guess + limit == 0 and ends[q] - begins[q] >= k:
            code = reached_by_codes(codes, begins[q], min(ends[q], begins[q] + _SAMPLE), k + k // 8)
            guess = max(guess, int((np.int64(added[q, code]) - error) / apart))
    guess = max(limit, guess)
    if (walked - longest) * _FEW < size and (guess > rest or rest == 0):
        biggest = -1
        for q in range(n_terms):
            if columned[q] < 0 and begins[q] < ends[q]:
                if biggest < 0 and ends[q] - begins[q] == longest:
                    biggest = q
                    continue
                of_code = added[q]
                for part in range(parts):
                    b, e = stops[q, part], stops[q, part + 1]
                    _add(documents, codes, of_code, b, e, part * PART, scratch_sums)
        least = max(1, guess - rest)
        if biggest >= 0:
            of_code = added[biggest]
            for part in range(parts):
                b, e, base = stops[biggest, part], stops[biggest, part + 1], part * PART
                n = _probe(
                    *(documents, codes, of_code, b, e, first + base, base, least, scratch_sums),
                    *(n, out, out_sums),
                )
            for i in range(start, n):
                scratch_sums[np.uint64(out[i] - np.uint32(first))] = 0
        for q in range(n_terms):
            if columned[q] < 0 and q != biggest:
                for part in range(parts):
                    b, e, base = stops[q, part], stops[q, part + 1], part * PART
                    n = _gather(
                        documents, b, e, first + base, base, least, scratch_sums, n, out, out_sums
                    )
        reached = reached_by(out_sums, n, k)
        if reached > 0 and not every and not all_allowed(reached, start, n, out, out_sums, allowed):
            n = keep_allowed(start, n, out, out_sums, allowed)
            reached = reached_by(out_sums, n, k)
        limit = max(limit, int((reached - error) / apart))
        if limit > guess:
            guess = limit
            n = keep_reaching(guess - rest, start, n, out, out_sums)
        for q in range(n_terms):
            if left_out[q] > 0:
                _ask_for(columns, columned[q] * size - first, out[start:n])
        if not every:
            n = keep_allowed(start, n, out, out_sums, allowed)
        n = _look_up_all(
            *(columns, columned, left_out, size, first, added, guess, start, n, out, out_sums)
        )
        limit = max(limit, int((reached_by(out_sums, n, k) - error) / apart))
        done, guess = limit >= guess, limit
    sampled = size // _SHARE & ~(LANES - 1) if limit == 0 else 0
    while not done:
        positions, low, n, last = begins.copy(), first, start, start
        while low < finish:
            high = min(finish, low + _WINDOW - (low - first) % _WINDOW)  # it ends where parts do
            if sampled > 0 and low == first:
                high = min(high, low + sampled)
            part = (low - first) >> PART_BITS
            base = first + part * PART
            for q in range(n_terms):
                if left_out[q] == 0:
                    positions[q] = _add_below(
                        *(documents, codes, added[q], positions[q], stops[q, part + 1]),
                        *(low - base, high - base, scratch_sums),
                    )
            while rest > 0 and low == first:  # does it pay to leave them out?
                best = -1
                for q in range(n_terms):
                    if left_out[q] > 0 and (best < 0 or idf[q] > idf[best]):
                        best = q
                if guess > rest:
                    hits = count_reaching(scratch_sums, high - low, guess - rest)
                    if hits * _HIT * size <= (ends[best] - begins[best]) * (high - low):
                        break
                positions[best] = _add_below(
                    *(documents, codes, added[best], begins[best], stops[best, 1]),
                    *(low - base, high - base, scratch_sums),
                )
                rest -= left_out[best]
                left_out[best] = 0
            here = n
            n = take_reaching(
                *(scratch_sums, high - low, max(1, guess - rest), low, allowed),
                *(scratch_blocks, n, out, out_sums),
            )
            if rest > 0:
                n = _look_up_all(
                    *(columns, columned, left_out, size, first, added, guess, here, n),
                    *(out, out_sums),
                )
            low = high
            if sampled > 0 and high == first + sampled and start == 0:
                likely = k / _SHARE
                reached = reached_by(out_sums, n, 1 + int(likely + 3 * np.sqrt(likely)))
                guess = max(guess, int((reached - error) / apart))
            if n - last >= 2 * k and low < finish:
                limit = max(limit, int((reached_by(out_sums, n, k) - error) / apart))
                guess = max(limit, guess)
                last = n = keep_reaching(guess, start, n, out, out_sums)
        limit = max(limit, int((reached_by(out_sums, n, k) - error) / apart))
        done, guess, sampled = limit >= guess, limit, 0
    return keep_reaching(limit, start, n, out, out_sums), limit, apart
