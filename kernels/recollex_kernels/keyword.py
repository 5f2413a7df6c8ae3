"""BM25 over indexed documents: posting lists, and the forward terms that they are made of.

Forward terms are the term ids of each document in text order, with repetitions; the terms of
document d are ``forward_terms[forward_offsets[d]:forward_offsets[d + 1]]``. The entry ``STOP``
marks the place of a stop word: it is never counted, and a phrase may ask for it. Which stretch of
text is a document, the offsets say: the engine gives memories to BM25 and passages to phrases.
"""

import numpy as np

from recollex_kernels._jit import F32, I64, U8, U32, U64, kernel

STOP = np.uint32(0xFFFFFFFF)
_MOST = 255  # counts saturate here


@kernel
def build_postings(
    forward_offsets: U64 | I64,
    forward_terms: U32,
    first_document: int,
    end_document: int,
    vocabulary: int,
) -> tuple[I64, U32, U8]:
    """Return the postings of documents [first_document, end_document): starts, documents, counts.

    Documents of term t are ``documents[starts[t]:starts[t + 1]]``, ascending, each once, with the
    number of times the term occurs in the document, at most 255.

    Shapes, for D documents, V = ``vocabulary``, P postings:
        forward_offsets  int64 or uint64[>= end_document + 1]
        forward_terms    uint32[]      in [0, V), or STOP
        returned         int64[V+1], uint32[P], uint8[P]

    Cost: O(tokens + V), a counting sort in two passes.
    """
    starts = np.zeros(vocabulary + 1, np.int64)
    latest = np.full(vocabulary, -1, np.int64)  # the last document seen to hold the term
    for document in range(first_document, end_document):
        for i in range(
            np.int64(forward_offsets[document]), np.int64(forward_offsets[document + 1])
        ):
            t = forward_terms[i]
            if t != STOP and latest[t] != document:
                latest[t] = document
                starts[t + np.uint32(1)] += 1
    for v in range(vocabulary):
        starts[v + 1] += starts[v]
    documents = np.empty(starts[vocabulary], np.uint32)
    counts = np.empty(starts[vocabulary], np.uint8)
    ends = starts[:vocabulary].copy()
    latest[:] = -1
    for document in range(first_document, end_document):
        for i in range(
            np.int64(forward_offsets[document]), np.int64(forward_offsets[document + 1])
        ):
            t = forward_terms[i]
            if t == STOP:
                continue
            if latest[t] == document:
                p = ends[t] - 1
                if counts[p] < _MOST:
                    counts[p] += np.uint8(1)
            else:
                latest[t] = document
                p = ends[t]
                ends[t] = p + 1
                documents[p] = document
                counts[p] = 1
    return starts, documents, counts


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
    sum has the same bits here and in ``tail.add_chains``.

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
