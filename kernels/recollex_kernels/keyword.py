"""BM25: what the words of a question weigh, and which memories hold them best.

Documents stand in posting lists (see ``postings``) and, where none covers them yet, in chains (see
``tail``). `word_weights` and `search_words` run all steps of the last segment and the tail, because
each call from the interpreter costs as much as a small step.
"""

import numpy as np

from recollex_kernels._jit import F32, F64, I64, U8, U32, U64, kernel
from recollex_kernels._scores import kth_greatest
from recollex_kernels._topk import top_allowed

NONE = np.uint32(0xFFFFFFFF)
_SAMPLE = 1024  # postings of one word that are looked at for a score that the list reaches


@kernel
def _position_of(documents: U32, first: int, end: int, end_document: int) -> int:
    """Return the first position in [first, end) of ascending ``documents`` not below the last."""
    while first < end:
        middle = (first + end) >> 1
        if documents[middle] < end_document:
            first = middle + 1
        else:
            end = middle
    return first


@kernel
def document_frequency(starts: I64, documents: U32, terms: U32, end_document: int) -> I64:
    """Return, for each term, how many indexed documents before ``end_document`` hold it.

    Shapes, for V indexed terms, P postings, Q query terms:
        starts, documents  int64[V+1], uint32[P]  as build_postings returns them
        terms         uint32[Q]              a term >= V is in no document
        returned      int64[Q]

    Cost: O(Q log P).
    """
    frequency = np.zeros(terms.shape[0], np.int64)
    for q in range(terms.shape[0]):
        t = np.int64(terms[q])
        if t < starts.shape[0] - 1:
            frequency[q] = (
                _position_of(documents, starts[t], starts[t + 1], end_document) - starts[t]
            )
    return frequency


@kernel
def add_postings(
    starts: I64,
    documents: U32,
    counts: U8,
    lengths: U32,
    fixed: np.float32,
    per_word: np.float32,
    terms: U32,
    idf: F32,
    end_document: int,
    out: F32,
) -> None:
    """Add the BM25 weight of every query term to ``out``, from postings.

    Equation (Kamphuis et al., ECIR 2020, Table 1, "Lucene (accurate)"):
        out[d] += idf[q] * f / (f + norm(d))
        norm(d) = k1 * (1 - b) + (k1 * b / mean length) * length(d) = fixed + per_word * length(d)

    evaluated in float32 as ``idf * (f / (f + norm))``, query terms in their order, so a document's
    sum has the same bits here and in ``add_chains``.

    Shapes, for V indexed terms, P postings, D documents, Q query terms:
        starts, documents, counts  int64[V+1], uint32[P], uint8[P]  as build_postings returns them
        lengths  uint32[D]
        fixed, per_word  float32, from k1, b and the mean length
        terms    uint32[Q]     a term >= V adds nothing; a repeated term counts again
        idf      float32[Q]    aligned with terms
        out      float32[>= end_document]  changed in place below it; the caller zeroes it

    Cost: O(postings of the Q terms), no allocation. Inputs may be read-only maps.
    """
    for q in range(terms.shape[0]):
        t = np.int64(terms[q])
        if t >= starts.shape[0] - 1:
            continue
        first = starts[t]
        end = _position_of(documents, first, starts[t + 1], end_document)
        term_documents, term_counts, weight = documents[first:end], counts[first:end], idf[q]
        for p in range(term_documents.shape[0]):
            d = term_documents[p]
            f = np.float32(term_counts[p])
            out[d] += weight * (f / (f + (fixed + per_word * np.float32(lengths[d]))))


@kernel
def chain_frequency(head: U32, previous: U32, documents: U32, terms: U32, end_document: int) -> I64:
    """Return, for each term, how many documents of the chains before ``end_document`` hold it.

    Shapes, for Q terms: terms uint32[Q], a term >= V is in no document; returned int64[Q].

    Cost: O(postings of the Q terms).
    """
    frequency = np.zeros(terms.shape[0], np.int64)
    for q in range(terms.shape[0]):
        if terms[q] >= head.shape[0]:
            continue
        posting = head[terms[q]]
        while posting != 0:
            frequency[q] += documents[posting] < end_document
            posting = previous[posting]
    return frequency


@kernel
def add_chains(
    head: U32,
    previous: U32,
    documents: U32,
    counts: U8,
    lengths: U32,
    fixed: np.float32,
    per_word: np.float32,
    terms: U32,
    idf: F32,
    end_document: int,
    out: F32,
) -> None:
    """Add the BM25 weight of every query term to ``out``, from chains.

    Equation and order of each document's sum: those of ``add_postings``, to the bit.

    Shapes, for Q query terms, D documents:
        head, previous, documents, counts   as `extend_chains` and `publish_chains` leave them
        lengths  uint32[D]
        fixed, per_word  float32, as for ``add_postings``
        terms    uint32[Q]     a term >= V adds nothing; a repeated term counts again
        idf      float32[Q]    aligned with terms
        out      float32[>= end_document]  changed in place below it

    Cost: O(postings of the Q terms), no allocation.
    """
    for q in range(terms.shape[0]):
        if terms[q] >= head.shape[0]:
            continue
        posting = head[terms[q]]
        while posting != 0:
            d = documents[posting]
            if d < end_document:
                f = np.float32(counts[posting])
                out[d] += idf[q] * (f / (f + (fixed + per_word * np.float32(lengths[d]))))
            posting = previous[posting]


@kernel
def best_rows(
    first_row: U32,
    forward_offsets: U64 | I64,
    forward_terms: U32,
    memories: U32,
    terms: U32,
    idf: F32,
    fixed: np.float32,
    per_word: np.float32,
) -> U32:
    """Return, for each memory, the passage in which the query's words weigh most.

    The weight of a passage is its BM25 score as if it were a document (see ``add_postings``), its
    length in tokens. Ties: the first passage.

    Shapes, for n memories, M memories and R rows in all, Q query terms:
        first_row        uint32[>= M+1]  passages of m are rows first_row[m]:first_row[m + 1]
        forward_offsets  int64 or uint64[>= R+1]  the terms of each passage
        memories         uint32[n]       in [0, M)
        terms, idf       uint32[Q], float32[Q]
        returned         uint32[n]

    Cost: nothing for a memory of one passage, else O(its tokens * Q).
    """
    rows = np.empty(memories.shape[0], np.uint32)
    counts = np.zeros(terms.shape[0], np.float32)
    for i in range(memories.shape[0]):
        m = np.int64(memories[i])
        first, end = np.int64(first_row[m]), np.int64(first_row[m + 1])
        rows[i] = np.uint32(first)
        if end - first == 1:
            continue
        most = np.float32(-1)
        for row in range(first, end):
            start, stop = np.int64(forward_offsets[row]), np.int64(forward_offsets[row + 1])
            counts[:] = 0
            for p in range(start, stop):
                for q in range(terms.shape[0]):
                    if forward_terms[p] == terms[q]:
                        counts[q] += np.float32(1)
            norm = fixed + per_word * np.float32(stop - start)
            weight = np.float32(0)
            for q in range(terms.shape[0]):
                if counts[q] > 0:
                    weight += idf[q] * (counts[q] / (counts[q] + norm))
            if weight > most:
                most = weight
                rows[i] = np.uint32(row)
    return rows


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
        starts, documents  of one segment, see `document_frequency`
        head, previous, chain_documents   see `chain_frequency`
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
    rows: those of `_topk.top_allowed` and `best_rows`.

    Shapes: as for `add_postings`, `add_chains` and `best_rows`; idf float64[Q]
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
