"""BM25: what a document scores. Words are added in one order, so its bits are always the same."""

import numpy as np

from recollex_kernels.machine.jit import F32, I64, U32, U64, kernel
from recollex_kernels.machine.prefetch import prefetch

NONE = np.uint32(0xFFFFFFFF)
_TABLE = 1024
_AHEAD = 8  # documents asked of memory before they are read


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
    end_memory: int,
    out: U32,
) -> None:
    """Set ``out``, for each memory, to the passage in which the query's words weigh most.

    The weight of a passage is its BM25 score as if it were a document (see `_chains.add_chains`),
    its length in tokens. Ties: the first passage.

    Shapes, for n memories, M memories and R rows in all, Q query terms:
        first_row        uint32[>= M+1]  passages of m are rows first_row[m]:first_row[m + 1]
        forward_offsets  int64 or uint64[>= R+1]  the terms of each passage
        memories         uint32[n]       in [0, end_memory), which is at most M
        terms, idf       uint32[Q], float32[Q]
        out              uint32[>= n]

    Cost: nothing for a memory of one passage, else O(its tokens * Q).
    """
    if np.int64(first_row[end_memory]) == end_memory:  # each has one
        out[: memories.shape[0]] = memories
        return
    counts = np.zeros(terms.shape[0], np.float32)
    for i in range(memories.shape[0]):
        m = np.int64(memories[i])
        first, end = np.int64(first_row[m]), np.int64(first_row[m + 1])
        out[i] = np.uint32(first)
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
                out[i] = np.uint32(row)


@kernel
def scores_of(
    documents: U32,
    first_row: U32,
    forward_offsets: U64 | I64,
    forward_terms: U32,
    lengths: U32,
    fixed: np.float32,
    per_word: np.float32,
    terms: U32,
    idf: F32,
    out: F32,
) -> None:
    """Set ``out`` to the BM25 scores of documents, each read from its own words.

    Equation and order of the sum: those of `_chains.add_chains`, to the bit, counts at most 255.

    Shapes: documents uint32[n], out float32[n]; the others as for `best_rows` and
    `_chains.add_chains`.

    Cost: 15 ns a document of 25 words, whose words are asked of memory beforehand.
    """
    n, n_terms = documents.shape[0], terms.shape[0]
    asked, counts = np.zeros(_TABLE, np.uint8), np.zeros(n_terms, np.int64)
    for term in terms:
        asked[term & np.uint32(_TABLE - 1)] = 1
    begins, ends = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):  # loads that wait for memory together
        begins[i] = np.int64(forward_offsets[first_row[documents[i]]])
        ends[i] = np.int64(forward_offsets[first_row[documents[i] + np.uint32(1)]])
    for i in range(n + _AHEAD):
        if i < n and begins[i] < ends[i]:
            prefetch(forward_terms, begins[i])
            prefetch(forward_terms, ends[i] - 1)
        if i < _AHEAD:
            continue
        at = i - _AHEAD
        own, held = forward_terms[begins[at] : ends[at]], False
        for j in range(own.shape[0]):
            word = own[np.uint64(j)]
            if asked[np.uint64(word & np.uint32(_TABLE - 1))] != 0:
                for q in range(n_terms):
                    if terms[q] == word:
                        counts[q] += 1
                        held = True
        score = np.float32(0)
        if held:
            norm = fixed + per_word * np.float32(lengths[documents[at]])
            for q in range(n_terms):
                if counts[q] > 0:
                    f = np.float32(min(counts[q], 255))
                    score += idf[q] * (f / (f + norm))
                    counts[q] = 0
        out[at] = score
