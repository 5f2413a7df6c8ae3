"""Posting lists, and the forward terms that they are made of.

Forward terms are the term ids of each document in text order, with repetitions; the terms of
document d are ``forward_terms[forward_offsets[d]:forward_offsets[d + 1]]``. The entry ``STOP``
marks the place of a stop word: it is never counted, and a phrase may ask for it. Which stretch of
text is a document, the offsets say: the engine gives memories to BM25 and passages to phrases.
"""

import numpy as np

from recollex_kernels._jit import I64, U8, U32, U64, kernel
from recollex_kernels._positions import position_of

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
def documents_of_all(starts: I64, documents: U32, terms: U32, end_document: int) -> U32:
    """Return the documents before ``end_document`` that hold every term: ascending, each once.

    Shapes, for V indexed terms, P postings, Q terms, at least one:
        starts, documents  int64[V+1], uint32[P]  as `build_postings` returns them
        terms     uint32[Q]   a term >= V is in no document

    Cost: O(postings of the terms), 1 ns each.
    """
    rarest = 0
    for q in range(terms.shape[0]):
        t = np.int64(terms[q])
        if t >= starts.shape[0] - 1:
            return np.empty(0, np.uint32)
        r = np.int64(terms[rarest])
        if starts[t + 1] - starts[t] < starts[r + 1] - starts[r]:
            rarest = q
    t = np.int64(terms[rarest])
    stop = position_of(documents, starts[t], starts[t + 1], end_document)
    found = documents[starts[t] : stop].copy()
    n = found.shape[0]
    for q in range(terms.shape[0]):
        if q == rarest:
            continue
        t = np.int64(terms[q])
        at, end, kept = starts[t], starts[t + 1], 0
        for i in range(n):
            while at < end and documents[at] < found[i]:
                at += 1
            if at < end and documents[at] == found[i]:
                found[kept] = found[i]
                kept += 1
        n = kept
    return found[:n]


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
