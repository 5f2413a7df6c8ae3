"""Posting lists, the forward terms that they are made of, and documents that hold a phrase.

Forward terms are the term ids of each document in text order, with repetitions; the terms of
document d are ``forward_terms[forward_offsets[d]:forward_offsets[d + 1]]``. The entry ``STOP``
marks the place of a stop word: it is never counted, and a phrase may ask for it. Which stretch of
text is a document, the offsets say: the engine gives memories to BM25 and passages to phrases.
"""

import numpy as np

from recollex_kernels.machine.jit import I64, U8, U16, U32, U64, kernel
from recollex_kernels.machine.memory_access import prefetch
from recollex_kernels.words.bm25 import Forward
from recollex_kernels.words.segments import (
    SLICE,
    extent,
    forward_of,
    position_of,
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


# Which documents hold a phrase? The posting lists propose documents, the forward terms decide.
@kernel
def documents_holding(
    table: I64, texts: I64, phrases: U32, ends: I64, end_document: int, allowed: U8
) -> tuple[U32, I64]:
    """Return the allowed documents that hold a phrase, ascending, and how many phrases each holds.

    A document holds a phrase if its terms stand one after another in one of the document's rows. A
    STOP in a phrase stands for any stop word. An empty phrase is in every row.

    Shapes, for P phrases of T terms together:
        table         int64[S, 14]   as `segments.table` returns it
        texts         int64[7, 2]    see `segments.places`
        phrases       uint32[T]      one phrase after the other
        ends          int64[P]       where each ends in ``phrases``
        end_document  documents from here on are not looked at
        allowed       uint8[>= end_document]

    Cost: O(postings of the terms), 1 ns each, and the words of the documents with all terms of a
    phrase, and of those that no segment covers. A phrase of one term needs no words of the former.
    """
    forward = forward_of(texts)
    first = np.int64(0)
    found = np.empty(0, np.uint32)
    counts = np.empty(0, np.int64)
    for end in ends:
        holding = _holding(table, forward, phrases[first:end], end_document, allowed)
        found, counts = _counted(found, counts, holding)
        first = end
    return found, counts


@kernel
def _holding(table: I64, forward: Forward, phrase: U32, end_document: int, allowed: U8) -> U32:
    """Return the allowed documents that hold one phrase, ascending."""
    terms = phrase[phrase != STOP]
    found = np.empty(0, np.uint32)
    end = 0
    for s in range(table.shape[0]):
        first, last = extent(table, s)
        end = min(last, end_document)
        if terms.shape[0] > 0:
            proposed = documents_of_all(table, s, terms, end_document)
        else:
            proposed = _between(first, end)
        if phrase.shape[0] == 1 and terms.shape[0] == 1:
            count = _keep_allowed(proposed, allowed)
        else:
            count = _keep_holding(proposed, allowed, forward, phrase)
        found = np.concatenate((found, proposed[:count]))
    rest = _between(end, end_document)
    return np.concatenate((found, rest[: _keep_holding(rest, allowed, forward, phrase)]))


@kernel
def _counted(found: U32, counts: I64, more: U32) -> tuple[U32, I64]:
    """Return the union of two ascending lists, and the counts plus 1 for each of ``more``."""
    union = np.empty(found.shape[0] + more.shape[0], np.uint32)
    sums = np.empty(union.shape[0], np.int64)
    n = 0
    i = 0
    j = 0
    while i < found.shape[0] or j < more.shape[0]:
        both = i < found.shape[0] and j < more.shape[0] and found[i] == more[j]
        if both or j == more.shape[0] or (i < found.shape[0] and found[i] < more[j]):
            union[n], sums[n] = found[i], counts[i] + int(both)
            i = i + 1
            j = j + int(both)
        else:
            union[n] = more[j]
            sums[n] = 1
            j += 1
        n += 1
    return union[:n], sums[:n]


@kernel
def _between(first: int, end: int) -> U32:
    """Return the numbers in [first, end)."""
    numbers = np.empty(max(0, end - first), np.uint32)
    for i in range(numbers.shape[0]):
        numbers[i] = first + i
    return numbers


@kernel
def _keep_allowed(documents: U32, allowed: U8) -> int:
    """Move the allowed documents to the front, in order; return how many."""
    count = 0
    for d in documents:
        documents[count] = d
        count += int(allowed[d])
    return count


@kernel
def _keep_holding(documents: U32, allowed: U8, forward: Forward, phrase: U32) -> int:
    """Move the allowed documents that hold the phrase to the front, in order; return how many."""
    _, first_row, offsets, words = forward
    kept = _keep_allowed(documents, allowed)
    count = 0
    for i in range(kept):  # they lie anywhere: the waits for memory overlap
        prefetch(offsets, int(first_row[documents[i]]))
    for i in range(kept):
        prefetch(words, int(offsets[first_row[documents[i]]]))
    for i in range(kept):
        d = documents[i]
        for row in range(np.int64(first_row[d]), np.int64(first_row[d + np.uint32(1)])):
            row_words = words[np.int64(offsets[row]) : np.int64(offsets[row + 1])]
            if _holds(row_words, phrase):
                documents[count] = d
                count += 1
                break
    return count


@kernel
def _holds(words: U32, phrase: U32) -> bool:
    """Return whether the phrase stands somewhere in ``words``."""
    size = phrase.shape[0]
    for i in range(words.shape[0] - size + 1):
        j = 0
        while j < size and words[i + j] == phrase[j]:
            j += 1
        if j == size:
            return True
    return False
