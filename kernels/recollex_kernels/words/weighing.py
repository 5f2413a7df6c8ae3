"""What do the words of a question weigh? By how many of the memories hold each."""

from typing import TypeAlias

import numpy as np

from recollex_kernels.machine.bit_masks import TILE, count_bits, marked
from recollex_kernels.machine.jit import F32, I64, U8, U32, kernel
from recollex_kernels.machine.prefetch import prefetch
from recollex_kernels.words._impact_decoding import DENSE
from recollex_kernels.words._segment_table import (
    SLICE_BITS,
    ask_for_stops,
    chains_of,
    columns_of,
    extent,
    list_of,
    postings_of,
    set_stops,
    slices_of,
)
from recollex_kernels.words.chains import admitted_chain_frequency, chain_frequency

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
