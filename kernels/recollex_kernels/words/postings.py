"""Posting lists, and the forward terms that they are made of.

Forward terms are the term ids of each document in text order, with repetitions; the terms of
document d are ``forward_terms[forward_offsets[d]:forward_offsets[d + 1]]``. The entry ``STOP``
marks the place of a stop word: it is never counted, and a phrase may ask for it. Which stretch of
text is a document, the offsets say: the engine gives memories to BM25 and passages to phrases.
"""

import numpy as np

from recollex_kernels.machine.jit import I64, U8, U16, U32, U64, kernel
from recollex_kernels.words._positions import position_of
from recollex_kernels.words._segment_table import (
    SLICE,
    extent,
    postings_of,
    set_stops,
    slices_in,
    slices_of,
)

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
def divide_postings(
    starts: I64, documents: U32, dense: U32, first: int, end: int
) -> tuple[U32, U16, U16, U32]:
    """Return starts, cuts, documents and dense cuts: numbers of 16 bits within slices of a segment.

    A slice is 65,536 documents, the last one what is left. A document is its number within its
    slice, and a cut says how many of a term's postings stand before a slice.

    Shapes, for V terms, P postings, documents [first, end) in C + 1 slices, D terms with a column:
        starts, documents  int64[V+1], uint32[P]   as `build_postings` returns them
        dense              uint32[D]   as `impacts.grade_postings` returns them
    Returned:
        starts      uint32[V+1]
        cuts        uint16[V * C]   those of term t from t * C on; 0 for a term with a column, so
                    that up to a million documents in a segment every cut has 16 bits
        documents   uint16[P]
        dense_cuts  uint32[D * C]   of the terms with a column

    Cost: O(P + V C log P).
    """
    cuts = slices_in(end - first) - 1
    vocabulary = starts.shape[0] - 1
    near = np.zeros(vocabulary * cuts, np.uint16)
    far = np.zeros(dense.shape[0] * cuts, np.uint32)
    at = 0
    for t in range(vocabulary):
        p = starts[t]
        has_column = at < dense.shape[0] and dense[at] == t
        for slice_ in range(cuts):
            p = position_of(documents, p, starts[t + 1], first + SLICE * (slice_ + 1))
            if has_column:
                far[at * cuts + slice_] = p - starts[t]
            else:
                near[t * cuts + slice_] = p - starts[t]
        at += int(has_column)
    numbers = np.empty(documents.shape[0], np.uint16)
    for p in range(documents.shape[0]):
        numbers[p] = (np.int64(documents[p]) - first) & (SLICE - 1)
    return starts.astype(np.uint32), near, numbers, far


@kernel
def documents_of_all(table: I64, s: int, terms: U32, end_document: int) -> U32:
    """Return the documents of a segment before ``end_document`` with every term, ascending.

    Shapes, for Q terms, at least one:
        table, s  int64[S, 14], in [0, S)   the segment's lists, see `segments`
        terms     uint32[Q]   one that the segment does not know is in no document

    Cost: O(postings of the terms), 1 ns each.
    """
    documents, (first, _), slices = postings_of(table, s)[0], extent(table, s), slices_of(table, s)
    stops = np.empty((terms.shape[0], slices + 1), np.int64)
    rarest = 0
    for q in range(terms.shape[0]):
        set_stops(table, s, terms[q], end_document, q, stops)
        if stops[q, slices] - stops[q, 0] < stops[rarest, slices] - stops[rarest, 0]:
            rarest = q
    found = np.empty(stops[rarest, slices] - stops[rarest, 0], np.uint32)
    count = 0
    for slice_ in range(slices):
        n = count
        for p in range(stops[rarest, slice_], stops[rarest, slice_ + 1]):
            found[n] = documents[p]
            n += 1
        for q in range(terms.shape[0]):
            if q == rarest:
                continue
            at = stops[q, slice_]
            end = stops[q, slice_ + 1]
            kept = count
            for i in range(count, n):
                while at < end and documents[at] < found[i]:
                    at += 1
                if at < end and documents[at] == found[i]:
                    found[kept] = found[i]
                    kept += 1
            n = kept
        for i in range(count, n):
            found[i] += np.uint32(first + SLICE * slice_)
        count = n
    return found[:count]
