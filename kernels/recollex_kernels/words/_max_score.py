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
   reach is replaced by what k do reach, and all is done again. Of thousands that hold one word with
   a column alone, those that k others precede are dropped (see `drop_tied`).

Few documents are left; `_exact_scores` scores them once all segments were searched. So what is
pruned, and in which order, changes nothing in a result.

Which documents hold one word of a question alone, and surely come after the best?
A word that nearly all documents hold, beside words that few hold, makes thousands of candidates.
What each scores depends on its code alone, so they need not be scored one by one.
"""

from typing import TypeAlias

import numpy as np

from recollex_kernels.machine.jit import F32, I64, U8, U16, U32, inlined, kernel
from recollex_kernels.words._bounds import (
    LANES,
    all_allowed,
    count_reaching,
    keep_allowed,
    keep_reaching,
    reached_by,
    reached_by_codes,
    take_reaching,
)
from recollex_kernels.words._posting_sums import (
    add,
    add_below,
    ask_for,
    gather,
    look_up,
    probe,
)
from recollex_kernels.words.bm25 import Weights
from recollex_kernels.words.impacts import DENSE, code_bounds, code_values
from recollex_kernels.words.segments import (
    SLICE,
    SLICE_BITS,
    columns_of,
    extent,
    limits_of,
    postings_of,
    set_stops,
    slices_in,
)

CROWDED = 1024
"""So many candidates, and more, are looked at by their codes."""


@kernel
def drop_tied(
    columns: U8,
    columned: I64,
    first: int,
    size: int,
    added: U16,
    idf: F32,
    values: F32,
    k: int,
    start: int,
    n: int,
    out: U32,
    out_sums: U16,
) -> int:
    """Drop those of [start, n) that ``k`` others surely precede; return how many there are now.

    Looked at are documents whose sum is what one word with a column adds: no other is in them, as
    each adds at least 1. Two with one code have one score, and the lower one is first.

    Shapes, for documents [first, first + size) of a segment, Q words:
        columns, columned   as `search_segment` has them
        added               uint16[Q, 256], what a posting of each code adds to a sum
        idf                 float32[Q]
        values              float32[256], see `_impact_decoding.code_values`
        out, out_sums       [>= n]; from ``start`` on documents ascend, all are allowed, and sums
                            are whole

    Cost: 2 ns a candidate for each word with a column; nothing below `CROWDED`.
    """
    if n - start < max(CROWDED, 4 * k):
        return n
    counts = np.empty(256, np.int64)
    room = np.empty(256, np.int64)
    scores = np.empty(256, np.float32)
    for q in range(columned.shape[0]):
        if columned[q] < 0:
            continue
        base = columned[q] * size - first
        of_code = added[q]
        counts[:] = 0
        for i in range(start, n):
            code = columns[np.uint64(base + np.int64(out[np.uint64(i)]))]
            counts[code] += int(out_sums[np.uint64(i)] == of_code[code])
        for code in range(256):
            known = code > 0 and counts[code] > 0 and values[code] > 0
            scores[code] = idf[q] * values[code] if known else -np.float32(np.inf)
        rest = scores.copy()
        least = np.float32(0)
        before = 0
        while before < k:  # what the k best of them score at least
            best = np.argmax(rest)
            least = rest[best]
            if least < 0:
                break
            before += counts[best]
            rest[best] = -np.float32(np.inf)
        for code in range(256):
            room[code] = n if scores[code] < 0 else k if scores[code] >= least else 0
        kept = np.uint64(start)
        for i in range(start, n):
            d = out[np.uint64(i)]
            held = out_sums[np.uint64(i)]
            code = columns[np.uint64(base + np.int64(d))]
            alone = int(code != 0) & int(held == of_code[code])
            out[kept] = d
            out_sums[kept] = held
            kept += np.uint64((alone ^ 1) | int(room[code] > 0))
            room[code] -= alone
        n = int(np.int64(kept))
    return n


_MOST = 0xFFFF
_FEW = 32  # documents for each posting from which sums are gathered, not looked through
_HIT = 12  # postings that take as long to add as a candidate takes to look up
_WINDOW = 32768  # documents whose sums stay in the first cache
_SHARE = 16  # of a segment, whose best tell what the best of all may reach
_SAMPLE = 8192  # codes of a word that are looked at for a guess

Admitted: TypeAlias = tuple[int, U8, bool]
"""Which documents may be found: end_document, allowed, every.

end_document  only documents before it
allowed       uint8[>= end_document]
every         whether all are known to be allowed
"""

Reached: TypeAlias = tuple[int, int, float]
"""How far a search over several segments has come: n, limit, apart; (0, 0, 1.0) at first.

n      how many documents stand in ``out``
limit  what the sum of each of the k best reaches
apart  the greatest ratio so far of what a code adds at most to what it adds at least
"""

_Lists: TypeAlias = tuple[U16, U8, U8, int, int]
"""A segment's documents, codes, columns, its first document, and how many it has."""

_Words: TypeAlias = tuple[U16, I64, I64, I64]
"""Of each word what a code adds, uint16[Q, 256]; its stops; its column or -1; left_out."""


@inlined
def _look_up_all(
    lists: _Lists, words: _Words, guess: int, start: int, n: int, out: U32, out_sums: U16
) -> int:
    """Add the words left out to those of [start, n); drop what cannot reach ``guess``."""
    columns = lists[2]
    first = lists[3]
    size = lists[4]
    added, _, columned, left_out = words
    rest = np.sum(left_out)
    for q in range(left_out.shape[0]):
        if left_out[q] > 0:
            look_up(columns, columned[q] * size - first, added[q], out[start:n], out_sums[start:n])
            rest -= left_out[q]
            n = keep_reaching(max(1, guess - rest), start, n, out, out_sums)
    return n


@inlined
def _any_allowed(allowed: U8, first: int, end: int) -> bool:
    """Return whether one of documents [first, end) is: of most segments an early one."""
    d = first
    while d < end and allowed[np.uint64(d)] == 0:
        d += 1
    return d < end


@inlined
def _set_added(most: F32, weight: np.float32, out: U16) -> None:
    """Set what a posting of each code of a word adds to a sum, rounded up: uint16[256]."""
    for code in range(256):
        out[code] = np.uint16(np.int32(weight * most[code] + np.float32(1)))
    out[0] = 0


@inlined
def _search_few(
    lists: _Lists,
    words: _Words,
    longest: int,
    admitted: Admitted,
    k: int,
    reached: Reached,
    guess: int,
    scratch_sums: U16,
    out: tuple[U32, U16],
) -> tuple[int, int, bool]:
    """Search a segment whose words have few postings: step 2 of the module's description.

    Return how many stand in ``out``, what the k best reach, and whether that confirms ``guess``.
    ``longest``: the postings of the longest list.
    """
    documents, codes, columns, first, size = lists
    added, stops, columned, left_out = words
    _, allowed, every = admitted
    found, sums = out
    n, limit, apart = reached
    n_terms = added.shape[0]
    slices = slices_in(size)
    start = n
    rest = int(np.sum(left_out))
    error = n_terms + 2
    biggest = -1
    for q in range(n_terms):
        begin = stops[q, 0]
        end = stops[q, -1]
        if columned[q] < 0 and begin < end:
            if biggest < 0 and end - begin == longest:
                biggest = q
                continue
            for slice_ in range(slices):
                b = stops[q, slice_]
                e = stops[q, slice_ + 1]
                add(documents, codes, added[q], b, e, slice_ * SLICE, scratch_sums)
    least = max(1, guess - rest)
    if biggest >= 0:
        for slice_ in range(slices):
            b = stops[biggest, slice_]
            e = stops[biggest, slice_ + 1]
            base = slice_ * SLICE
            n = probe(
                documents,
                codes,
                added[biggest],
                b,
                e,
                first + base,
                base,
                least,
                scratch_sums,
                n,
                found,
                sums,
            )
        for i in range(start, n):
            scratch_sums[np.uint64(found[i] - np.uint32(first))] = 0
    for q in range(n_terms):
        if columned[q] < 0 and q != biggest:
            for slice_ in range(slices):
                b = stops[q, slice_]
                e = stops[q, slice_ + 1]
                base = slice_ * SLICE
                n = gather(documents, b, e, first + base, base, least, scratch_sums, n, found, sums)
    reach = reached_by(sums, n, k)
    if reach > 0 and not every and not all_allowed(reach, start, n, found, sums, allowed):
        n = keep_allowed(start, n, found, sums, allowed)
        reach = reached_by(sums, n, k)
    limit = max(limit, int((reach - error) / apart))
    if limit > guess:
        guess = limit
        n = keep_reaching(guess - rest, start, n, found, sums)
    for q in range(n_terms):
        if left_out[q] > 0:
            ask_for(columns, columned[q] * size - first, found[start:n])
    if not every:
        n = keep_allowed(start, n, found, sums, allowed)
    n = _look_up_all(lists, words, guess, start, n, found, sums)
    limit = max(limit, int((reached_by(sums, n, k) - error) / apart))
    return n, limit, limit >= guess


@inlined
def _search_windows(
    lists: _Lists,
    words: _Words,
    idf: F32,
    admitted: Admitted,
    k: int,
    reached: Reached,
    guess: int,
    scratch: tuple[U16, U32],
    out: tuple[U32, U16],
) -> tuple[int, int]:
    """Search a segment a window after another: step 3 of the module's description.

    Return how many stand in ``out``, and what the k best reach.
    """
    documents, codes, _, first, size = lists
    added, stops, _, left_out = words
    end_document, allowed, _ = admitted
    scratch_sums, scratch_blocks = scratch
    found, sums = out
    n, limit, apart = reached
    n_terms = added.shape[0]
    start = n
    done = False
    rest = int(np.sum(left_out))
    error = n_terms + 2
    begins = stops[:, 0]
    ends = stops[:, -1]
    finish = max(first, min(first + size, end_document))
    sampled = size // _SHARE & ~(LANES - 1) if limit == 0 else 0
    while not done:
        positions = begins.copy()
        low = first
        n = start
        last = start
        while low < finish:
            high = min(finish, low + _WINDOW - (low - first) % _WINDOW)  # it ends where slices do
            if sampled > 0 and low == first:
                high = min(high, low + sampled)
            slice_ = (low - first) >> SLICE_BITS
            base = first + slice_ * SLICE
            for q in range(n_terms):
                if left_out[q] == 0:
                    positions[q] = add_below(
                        documents,
                        codes,
                        added[q],
                        positions[q],
                        stops[q, slice_ + 1],
                        low - base,
                        high - base,
                        scratch_sums,
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
                positions[best] = add_below(
                    documents,
                    codes,
                    added[best],
                    begins[best],
                    stops[best, 1],
                    low - base,
                    high - base,
                    scratch_sums,
                )
                rest -= left_out[best]
                left_out[best] = 0
            here = n
            n = take_reaching(
                scratch_sums,
                high - low,
                max(1, guess - rest),
                low,
                allowed,
                scratch_blocks,
                n,
                found,
                sums,
            )
            if rest > 0:
                n = _look_up_all(lists, words, guess, here, n, found, sums)
            low = high
            if sampled > 0 and high == first + sampled and start == 0:
                likely = k / _SHARE
                reach = reached_by(sums, n, 1 + int(likely + 3 * np.sqrt(likely)))
                guess = max(guess, int((reach - error) / apart))
            if n - last >= 2 * k and low < finish:
                limit = max(limit, int((reached_by(sums, n, k) - error) / apart))
                guess = max(limit, guess)
                last = n = keep_reaching(guess, start, n, found, sums)
        limit = max(limit, int((reached_by(sums, n, k) - error) / apart))
        done = limit >= guess
        guess = limit
        sampled = 0
    return n, limit


@kernel
def search_segment(
    table: I64,
    s: int,
    weights: Weights,
    admitted: Admitted,
    k: int,
    reached: Reached,
    scratch: tuple[U16, U32],
    stops: I64,
    columned: I64,
    out: tuple[U32, U16],
) -> Reached:
    """Append the allowed documents of a segment that may be among the ``k`` best of all segments.

    ``stops`` is set to which postings of each term count, slice by slice, and ``columned`` to the
    number of its column or -1.

    Shapes, for documents [first, end) of the segment, Q terms, n documents found before:
        table, s            int64[S, 14], in [0, S)   the segment's lists, see `segments`
        weights             idf above 0; a term >= V is in no document
        k                   at least 1
        reached             what the last call returned
        scratch             sums uint16[>= end - first, to the next 64], all 0 before and after;
                            blocks uint32[> (end - first) / 64]
        stops, columned     int64[Q, > slices of the segment], int64[Q]   stops as `set_stops`
                            sets them, or 0 if no document counts
        out                 documents uint32, sums uint16[>= n + end - first + 64]

    Cost: 0.5 ns a posting of the words without a column, or twice as many of those that are needed;
    0.05 ns a document unless postings are few; 5 ns a candidate.
    """
    terms, idf, fixed, per_word = weights
    end_document, allowed, _ = admitted
    start, limit, apart = reached
    first, end = extent(table, s)
    stops[:] = 0
    columned[:] = -1
    if not _any_allowed(allowed, first, min(end, end_document)):
        return reached
    documents, codes = postings_of(table, s)
    dense, greatest, columns = columns_of(table, s)
    size = end - first
    n_terms = terms.shape[0]
    begins = stops[:, 0]
    ends = stops[:, -1]
    most = np.empty(256, np.float32)
    added = np.empty((n_terms, 256), np.uint16)
    apart = max(apart, code_bounds(limits_of(table, s), fixed, per_word, most))
    whole = np.float64(0)
    for q in range(n_terms):
        whole += np.float64(idf[q])
    scale = max(0, _MOST - 2 * n_terms) / whole
    left_out = np.zeros(n_terms, np.int64)
    rest = walked = guess = longest = 0
    for q in range(n_terms):
        begin, behind = set_stops(table, s, terms[q], end_document, q, stops)
        if begins[q] == ends[q]:
            continue
        of_code = added[q]
        _set_added(most, np.float32(np.float64(idf[q]) * scale), of_code)
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
    for q in range(n_terms):
        if guess + limit == 0 and ends[q] - begins[q] >= k:
            code = reached_by_codes(codes, begins[q], min(ends[q], begins[q] + _SAMPLE), k + k // 8)
            guess = max(guess, int((np.int64(added[q, code]) - n_terms - 2) / apart))
    guess = max(limit, guess)
    lists = (documents, codes, columns, first, size)
    words = (added, stops, columned, left_out)
    n = start
    done = False
    if (walked - longest) * _FEW < size and (guess > rest or rest == 0):
        n, limit, done = _search_few(
            lists,
            words,
            longest,
            admitted,
            k,
            (start, limit, apart),
            guess,
            scratch[0],
            out,
        )
        guess = limit
    if done:
        return keep_reaching(limit, start, n, out[0], out[1]), limit, apart
    n, limit = _search_windows(
        lists, words, idf, admitted, k, (start, limit, apart), guess, scratch, out
    )
    n = keep_reaching(limit, start, n, out[0], out[1])
    code_values(limits_of(table, s), fixed, per_word, most)
    n = drop_tied(columns, columned, first, size, added, idf, most, k, start, n, out[0], out[1])
    return n, limit, apart
