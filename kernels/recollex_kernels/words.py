"""A keyword search in two calls: what the words weigh, and which memories hold them best.

The steps are those of ``keyword``, ``tail`` and ``topk``; one call runs many of them, because each
call from the interpreter costs as much as a small step.
"""

import numpy as np

from recollex_kernels._jit import F32, F64, I64, U8, U32, U64, kernel
from recollex_kernels._scores import kth_greatest
from recollex_kernels.keyword import add_postings, best_rows, document_frequency
from recollex_kernels.tail import add_chains, chain_frequency
from recollex_kernels.topk import top_allowed

NONE = np.uint32(0xFFFFFFFF)
_SAMPLE = 1024  # postings of one word that are looked at for a score that the list reaches


@kernel
def word_weights(
    starts: I64,
    documents: U32,
    head: U32,
    previous: U32,
    chain_documents: U32,
    terms: U32,
    earlier: I64,
    end_document: int,
) -> tuple[U32, F64, float, float]:
    """Return the terms that are known and their idf, the sum of all idf, the share of the unmet.

    Equation, N = ``end_document``, df the documents before it that hold the term:
        idf = ln(1 + (N - df + .5) / (df + .5))

    Shapes, for Q terms:
        starts, documents  of one segment, see `keyword.document_frequency`
        head, previous, chain_documents   see `tail.chain_frequency`
        terms              uint32[Q]    NONE for a word that nobody ever met
        earlier            int64[Q]     documents of the segments before that hold each
        returned           uint32[n], float64[n], the terms in their order without NONE; the share
                           of idf that belongs to words which no document of the N holds

    Cost: O(Q log P) and the chains of the terms.
    """
    frequency = earlier + document_frequency(starts, documents, terms, end_document)
    frequency += chain_frequency(head, previous, chain_documents, terms, end_document)
    known, weights = np.empty(terms.shape[0], np.uint32), np.empty(terms.shape[0], np.float64)
    n, most, unmet = 0, 0.0, 0.0
    for q in range(terms.shape[0]):
        df = np.float64(frequency[q])
        idf = np.log1p((end_document - df + 0.5) / (df + 0.5))
        most += idf
        if frequency[q] == 0:
            unmet += idf
        if terms[q] != NONE:
            known[n], weights[n] = terms[q], idf
            n += 1
    return known[:n], weights[:n], most, unmet / most


@kernel
def _reached(
    starts: I64,
    documents: U32,
    terms: U32,
    idf: F32,
    scores: F32,
    allowed: U8,
    end_document: int,
    k: int,
) -> np.float32:
    """Return a number that the ``k``-th best score is above; 0 where none is known.

    It is just below the k-th best of the documents that hold the word of the greatest weight among
    those that enough documents hold.
    """
    best, weight = -1, np.float32(0)
    for q in range(terms.shape[0]):
        t = np.int64(terms[q])
        if t < starts.shape[0] - 1 and starts[t + 1] - starts[t] >= k and idf[q] > weight:
            best, weight = int(t), idf[q]
    if best < 0 or k < 1:
        return np.float32(0)
    found = np.empty(min(_SAMPLE, starts[best + 1] - starts[best]), np.float32)
    n = 0
    for p in range(starts[best], starts[best] + found.shape[0]):
        d = documents[p]
        if d >= end_document:
            break
        if allowed[d] == 1:
            found[n] = scores[d]
            n += 1
    if n < k:
        return np.float32(0)
    just_below: np.float32 = np.nextafter(np.float32(kth_greatest(found[:n], k)), np.float32(0))
    return just_below


@kernel
def search_words(
    starts: I64,
    documents: U32,
    counts: U8,
    head: U32,
    previous: U32,
    chain_documents: U32,
    chain_counts: U8,
    lengths: U32,
    fixed: np.float32,
    per_word: np.float32,
    terms: U32,
    idf: F64,
    end_document: int,
    allowed: U8,
    first_row: U32,
    forward_offsets: U64 | I64,
    forward_terms: U32,
    k: int,
    out: F32,
) -> tuple[U32, F32, U32]:
    """Add one segment's and the tail's weights to ``out``; return the best memories of all of it.

    Returned are the ``k`` best allowed memories with a score above 0, their scores and their best
    rows: those of `topk.top_allowed` and `keyword.best_rows`.

    Shapes: as for `keyword.add_postings`, `tail.add_chains` and `keyword.best_rows`; idf float64[Q]
    from `word_weights`, rounded here; out float32[>= end_document] holds what other segments add.

    Cost: that of its steps; which scores are looked at one by one is narrowed beforehand by what
    the documents with the weightiest word reach.
    """
    weights = idf.astype(np.float32)
    add_postings(
        starts, documents, counts, lengths, fixed, per_word, terms, weights, end_document, out
    )
    add_chains(
        head,
        previous,
        chain_documents,
        chain_counts,
        lengths,
        fixed,
        per_word,
        terms,
        weights,
        end_document,
        out,
    )
    reached = _reached(starts, documents, terms, weights, out, allowed, end_document, k)
    memories, best = top_allowed(out, allowed, float(reached), k)
    rows = best_rows(
        first_row, forward_offsets, forward_terms, memories, terms, weights, fixed, per_word
    )
    return memories, best, rows
