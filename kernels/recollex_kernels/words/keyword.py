"""BM25: what the words of a question weigh, and which memories hold them best.

Documents stand in posting lists (see ``postings``) and, where none covers them yet, in chains (see
``tail``). `search_words` runs all steps, because a call from the interpreter costs as much as
a small search.
"""

from typing import TypeAlias

import numpy as np

from recollex_kernels.machine.bit_masks import TILE, count_bits, lowest, marked
from recollex_kernels.machine.jit import F32, I64, U8, U32, inlined, kernel
from recollex_kernels.machine.memory_access import prefetch
from recollex_kernels.machine.top_k import kth_greatest
from recollex_kernels.words._bounds import LANES, count_reaching, keep_reaching, reaching
from recollex_kernels.words._exact_scores import score_found
from recollex_kernels.words._max_score import Admitted, search_segment
from recollex_kernels.words.bm25 import Forward, Weights, best_rows, scores_of
from recollex_kernels.words.impacts import DENSE
from recollex_kernels.words.segments import (
    SLICE_BITS,
    ask_for_stops,
    chains_of,
    columns_of,
    extent,
    forward_of,
    list_of,
    postings_of,
    set_stops,
    slices_of,
)
from recollex_kernels.words.tail import (
    Chains,
    add_chains,
    admitted_chain_frequency,
    chain_frequency,
)

# What do the words of a question weigh? By how many of the memories hold each.
NONE = np.uint32(0xFFFFFFFF)
_ASKED = 32  # cache lines of a list that are prefetched; the hardware goes on by itself

Words: TypeAlias = tuple[U32, F32]
"""The words of a question: terms, shares.

terms   uint32[Q]   NONE for a word that the agent never met
shares  float32[A]  the last A terms are no words of the question but spelled like one, and each
        counts this share of its idf
"""


@kernel
def document_frequency(table: I64, s: int, terms: U32, end_document: int) -> I64:
    """Return, for each term, how many documents of a segment before ``end_document`` hold it.

    Shapes, for Q query terms:
        table, s      int64[S, 14], in [0, S)   the segment's lists, see `segments`
        terms         uint32[Q]   one that the segment does not know is in no document
        returned      int64[Q]

    Cost: O(Q), and of a view that ends within the segment O(Q log P), for P postings.
    """
    frequency = np.zeros(terms.shape[0], np.int64)
    for q in range(terms.shape[0]):
        if end_document < extent(table, s)[1]:
            stops = np.empty((1, slices_of(table, s) + 1), np.int64)
            set_stops(table, s, terms[q], end_document, 0, stops)
            frequency[q] = stops[0, -1] - stops[0, 0]
        else:
            begin, end = list_of(table, s, terms[q])
            frequency[q] = end - begin
    return frequency


@kernel
def admitted_frequency(table: I64, s: int, terms: U32, end_document: int, allowed: U8) -> I64:
    """Return, for each term, how many allowed documents of a segment it is in.

    Shapes: as for `document_frequency`; allowed uint8[>= end_document].

    Cost: O(postings of the terms), 1 ns each; of a term that has a column the documents, 64 at a
    time.
    """
    frequency = np.zeros(terms.shape[0], np.int64)
    first, last = extent(table, s)
    size = min(end_document, last) - first
    if size <= 0:
        return frequency
    stops = np.empty((1, slices_of(table, s) + 1), np.int64)
    documents = postings_of(table, s)[0]
    dense, _, columns = columns_of(table, s)
    mask = allowed[first : first + size]
    for q in range(terms.shape[0]):
        row = np.searchsorted(dense, terms[q])
        if row < dense.shape[0] and dense[row] == terms[q]:
            column = columns[row * (last - first) : row * (last - first) + size]
            frequency[q] += _both(column, mask)
            continue
        set_stops(table, s, terms[q], end_document, 0, stops)
        for slice_ in range(stops.shape[1] - 1):
            part = mask[slice_ << SLICE_BITS :]
            for at in range(stops[0, slice_], stops[0, slice_ + 1]):
                frequency[q] += np.int64(part[documents[at]])
    return frequency


@kernel
def _both(codes: U8, mask: U8) -> int:
    """Return at how many places neither is 0, 64 at a time."""
    size = codes.shape[0]
    count = 0
    whole = size // TILE * TILE
    for d in range(0, whole, TILE):
        count += count_bits(marked(codes, d) & marked(mask, d))
    for d in range(whole, size):
        count += int((codes[d] != 0) & (mask[d] != 0))
    return count


@kernel
def _ask_for_lists(table: I64, s: int, terms: U32) -> None:
    """Prefetch the beginnings of the terms' lists; the hardware prefetches the rest."""
    documents, codes = postings_of(table, s)
    first, last = extent(table, s)
    for t in terms:
        ask_for_stops(table, s, t)
        begin, end = list_of(table, s, t)
        if (end - begin) * DENSE > last - first:
            continue
        for line in range(min(_ASKED, (end - begin + 31) >> 5)):
            prefetch(documents, begin + 32 * line)
        for line in range(min(_ASKED >> 1, (end - begin + 63) >> 6)):
            prefetch(codes, begin + 64 * line)


@kernel
def _frequencies(
    table: I64,
    head: U32,
    chain_postings: U32,
    terms: U32,
    end_document: int,
    allowed: U8,
    population: int,
) -> I64:
    """Return, for each term, how many of the N documents of `word_weights` hold it."""
    for s in range(table.shape[0]):
        _ask_for_lists(table, s, terms)
    if population < end_document:
        frequency = admitted_chain_frequency(head, chain_postings, terms, end_document, allowed)
        for s in range(table.shape[0]):
            frequency += admitted_frequency(table, s, terms, end_document, allowed)
    else:
        frequency = chain_frequency(head, chain_postings, terms, end_document)
        for s in range(table.shape[0]):
            frequency += document_frequency(table, s, terms, end_document)
    return frequency


@kernel
def word_frequencies(
    table: I64, terms: U32, texts: I64, end_document: int, allowed: U8, population: int
) -> I64:
    """Return, for each term, how many of the N documents of `word_weights` hold it: int64[Q].

    Shapes and cost: as for `search_words` and `word_weights`.
    """
    chains = chains_of(texts)
    return _frequencies(table, chains[0], chains[1], terms, end_document, allowed, population)


@kernel
def word_weights(
    table: I64,
    head: U32,
    chain_postings: U32,
    words: Words,
    end_document: int,
    allowed: U8,
    population: int,
    out_terms: U32,
    out_idf: F32,
) -> tuple[int, float, float]:
    """Set the terms that are known and their idf; return how many, the sum of all idf, and a share.

    The share is that of the words that no document of the N holds. Neither counts terms that are no
    words of the question.

    Equation, N = ``population``, df how many of these documents hold the term:
        idf = share * ln(1 + (N - df + 0.5) / (df + 0.5))
    The documents are those before ``end_document``; if ``population`` is less, the allowed ones
    of them, which are so many.

    Shapes, for Q terms (see `Words`):
        table              int64[S, 14]  as `segments.table` returns it
        head, chain_postings   see `chains.chain_frequency`
        allowed            uint8[>= end_document]
        out_terms, out_idf   uint32[Q], float32[Q]   the terms in their order without NONE

    Cost: O(Q log P) and the chains of the terms; with a lesser ``population`` as for
    `admitted_frequency`.
    """
    terms, shares = words
    frequency = _frequencies(table, head, chain_postings, terms, end_document, allowed, population)
    n = 0
    most = 0.0
    unmet = 0.0
    said = terms.shape[0] - shares.shape[0]
    for q in range(terms.shape[0]):
        df = np.float64(frequency[q])
        idf = np.log1p((population - df + 0.5) / (df + 0.5))
        if q >= said:
            idf *= np.float64(shares[q - said])
        else:
            most += idf
            if frequency[q] == 0:
                unmet += idf
        if terms[q] != NONE:
            out_terms[n] = terms[q]
            out_idf[n] = idf
            n += 1
    return n, most, unmet / most


SCRATCH = 7
"""Rows of what a search works in."""
_FEW = 160  # scores up to which each is compared with all, which takes less than to sort them


@inlined
def search_weighed(
    table: I64,
    chains: Chains,
    forward: Forward,
    weights: Weights,
    admitted: Admitted,
    k: int,
    scratch: U32,
    out: tuple[U32, F32],
    out_tail: F32,
) -> int:
    """Set the best ``k`` allowed memories with a score above 0, and their scores; return how many.

    Scores are those of `bm25.scores_of`. Order: higher score, then lower memory.

    Shapes, for documents [0, end) in segments and [end, end_document) in chains:
        table           int64[S, 14]   as `segments.table` returns it
        weights .. k    as for `search_segment`
        scratch         uint32[SCRATCH, >= end_document + 128]   the first two rows are 0 before and
                        after
        out             memories uint32[k], scores float32[k]
        out_tail        float32[max(end_document - end, 0)]   set to the score of each of those in
                        chains, allowed or not

    Cost: that of its steps.
    """
    lengths, (end_document, allowed, _) = forward[0], admitted
    out_tail[:] = 0
    reached = (0, 0, 1.0)
    end = 0
    segments = table.shape[0]
    if segments > 0:
        end = extent(table, segments - 1)[1]
    found = scratch[4]
    scores = scratch[6].view(np.float32)
    if k > 0 and weights[0].shape[0] > 0:
        slices = 0
        n_terms = weights[0].shape[0]
        for s in range(segments):
            slices = max(slices, slices_of(table, s))
        stops = np.empty((segments, n_terms, slices + 1), np.int64)
        columned = np.empty((segments, n_terms), np.int64)
        sums = scratch[5].view(np.uint16)
        for s in range(segments):
            reached = search_segment(
                table,
                s,
                weights,
                admitted,
                k,
                reached,
                (scratch[0].view(np.uint16), scratch[2]),
                stops[s],
                columned[s],
                (found, sums),
            )
        n = keep_reaching(reached[1], 0, reached[0], found, sums)
        start = 0
        for s in range(segments):
            last = start
            while last < n and found[last] < extent(table, s)[1]:
                last += 1
            score_found(
                table,
                s,
                weights,
                stops[s],
                columned[s],
                lengths,
                found[start:last],
                (scratch[0].view(np.uint16), scratch[1], scratch[3]),
                scores[start:last],
            )
            start = last
        _settle(found[:n], scores[:n], forward, weights)
        if end < end_document:
            add_chains(chains, lengths[end:], weights, end, end_document, out_tail)
            least = np.float32(kth_greatest(scores[:n], k)) if n >= k else np.float32(0)
            n = _reaching(out_tail, least, end, allowed, n, found, scores)
    return _best(found[:n], scores[:n], k, out[0], out[1])


@kernel
def _reaching(
    tail: F32, least: np.float32, first: int, allowed: U8, n: int, found: U32, scores: F32
) -> int:
    """Append to ``n`` found the allowed documents above 0 that reach ``least``; return the count.

    tail: scores of documents from ``first`` on.
    """
    bits = tail.view(np.uint32)
    whole = tail.shape[0] & ~(LANES - 1)
    limit = max(np.float32(least).view(np.uint32), np.uint32(1))  # from 0 on, bits are in order
    for start in range(0, whole, LANES):
        held = reaching(bits, start, limit)
        while held != 0:
            d = start + lowest(held)
            held &= held - np.uint64(1)
            found[n] = first + d
            scores[n] = tail[d]
            n += int(allowed[first + d])
    for d in range(whole, tail.shape[0]):
        if bits[d] >= limit and allowed[first + d] == 1:
            found[n] = first + d
            scores[n] = tail[d]
            n += 1
    return n


@kernel
def search_words(
    table: I64,
    words: Words,
    texts: I64,
    fixed: float,
    per_word: float,
    allowed: U8,
    every: bool,
    population: int,
    scratch: U32,
    out_memories: U32,
    out_scores: F32,
    out_rows: U32,
    out_terms: U32,
    out_idf: F32,
) -> tuple[int, int, float, float]:
    """Do `word_weights`, `search_weighed` and `best_rows`; return how many memories and terms.

    Also returned are the last two that `word_weights` returns. Results come in arrays of the
    caller's, because each one that a kernel makes costs 0.6 us to hand over, and each that it is
    given 0.1: so those of a view come as addresses. A tuple costs more than its items, so the
    scalars of `Weights` and the parts of `Admitted` are arguments of their own.

    Shapes: as for the three; texts int64[7, 2], see `segments.places`; allowed uint8[end_document];
    out_memories and out_rows [k] for the best k, one array if each memory has one passage;
    out_scores [k + n], theirs, then `search_weighed`'s ``out_tail``; out_terms and out_idf [Q].
    """
    chains = chains_of(texts)
    forward = forward_of(texts)
    k = out_memories.shape[0]
    end_document = allowed.shape[0]
    known, most, unmet = word_weights(
        table,
        chains[0],
        chains[1],
        words,
        end_document,
        allowed,
        population,
        out_terms,
        out_idf,
    )
    weights = out_terms[:known], out_idf[:known], np.float32(fixed), np.float32(per_word)
    found = search_weighed(
        table,
        chains,
        forward,
        weights,
        (end_document, allowed, every),
        k,
        scratch,
        (out_memories, out_scores[:k]),
        out_scores[k:],
    )
    best_rows(forward, out_memories[:found], weights, end_document, out_rows)
    return found, known, most, unmet


@kernel
def _settle(found: U32, scores: F32, forward: Forward, weights: Weights) -> None:
    """Score the documents whose score is -inf by their own words."""
    count = 0
    for i in range(found.shape[0]):
        count += int(scores[i] < 0)
    if count > 0:
        unsure = np.empty(count, np.int64)
        true = np.empty(count, np.float32)
        at = 0
        for i in range(found.shape[0]):
            if scores[i] < 0:
                unsure[at] = i
                at += 1
        scores_of(found[unsure], forward, weights, true)
        for i in range(count):
            scores[unsure[i]] = true[i]


@kernel
def _best(found: U32, scores: F32, k: int, out: U32, out_scores: F32) -> int:
    """Set the ``k`` of greatest score, in order; ties to the lower document. Scores are above 0.

    Return how many they are. ``found`` ascends; its order is lost.

    Cost: O(n + k log k) as a rule; up to 160, each is compared with all, 64 at a time.
    """
    n = found.shape[0]
    size = int(max(0, min(k, n)))
    if size == 0:
        return 0
    # of positive numbers, in order
    bits = scores.view(np.uint32)
    best = out_scores.view(np.uint32)
    if n > _FEW:
        least = np.float32(kth_greatest(scores, size)).view(np.uint32)
        kept = np.uint64(0)
        ties = size
        for i in range(n):
            ties -= int(bits[i] > least)
        for i in range(n):  # the first that tie: a word of nearly all documents ties thousands
            held = bits[i]
            tied = int(held == least) & int(ties > 0)
            ties -= tied
            found[kept] = found[i]
            bits[kept] = held
            kept += np.uint64(int(held > least) | tied)
        n = np.int64(kept)
    if n <= _FEW:
        order = np.zeros(_FEW + LANES, np.uint32)
        before = np.zeros(_FEW, np.uint8)
        order[:n] = bits[:n]
        for i in range(n):
            above = count_reaching(order, n, order[i] + np.uint32(1))
            place = above + np.int64(before[above])  # equal ones came earlier
            before[above] += np.uint8(1)
            if place < size:
                out[place] = found[i]
                best[place] = order[i]
    else:
        keys = np.empty(n, np.int64)
        for i in range(n):
            keys[i] = (np.int64(bits[i]) << np.int64(32)) | np.int64(NONE - found[i])
        keys = np.sort(keys)[::-1]
        for i in range(size):
            out[i] = NONE - np.uint32(keys[i] & np.int64(NONE))
            best[i] = np.uint32(keys[i] >> np.int64(32))
    return size
