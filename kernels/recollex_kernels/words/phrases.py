"""Which documents hold a phrase? The posting lists propose documents, the forward terms decide."""

import numpy as np

from recollex_kernels.machine.jit import I64, U8, U32, kernel
from recollex_kernels.machine.prefetch import prefetch
from recollex_kernels.words._segment_table import extent, forward_of
from recollex_kernels.words.bm25 import Forward
from recollex_kernels.words.postings import STOP, documents_of_all


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
