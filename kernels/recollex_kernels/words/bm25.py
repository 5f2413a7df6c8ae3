"""BM25: the score of a document. Words are added in one order, so its bits are always the same.

Equation (Kamphuis et al., ECIR 2020, Table 1, "Lucene (accurate)"), for the words q of a question:
    score(d) = sum over q of idf[q] * f / (f + norm(d)), f: how often document d holds q
    idf[q] = ln(1 + (N - df + 0.5) / (df + 0.5)), df: how many of N documents hold q
    norm(d) = k1 * (1 - b + b * length(d) / mean length)
"""

from typing import TypeAlias

import numpy as np

from recollex_kernels.machine.jit import F32, U32, U64, kernel
from recollex_kernels.machine.memory_access import prefetch

NONE = np.uint32(0xFFFFFFFF)
_TABLE = 1024
_AHEAD = 8  # documents prefetched ahead

Forward: TypeAlias = tuple[U32, U32, U64, U32]
"""The words of memories in text order: lengths, first_row, offsets, terms.

lengths    uint32[>= M]    how many words each memory has, without stop words
first_row  uint32[>= M+1]  the passages of memory m are rows first_row[m]:first_row[m + 1]
offsets    uint64[>= R+1]  the terms of row r are terms[offsets[r]:offsets[r + 1]]
terms      uint32[]
"""

Weights: TypeAlias = tuple[U32, F32, np.float32, np.float32]
"""The words of a question and what they weigh: terms, idf, fixed, per_word.

terms  uint32[Q]
idf    float32[Q]        aligned with terms
fixed, per_word          the norm of a document is fixed + per_word * its length
"""


@kernel
def best_rows(forward: Forward, memories: U32, weights: Weights, end_memory: int, out: U32) -> None:
    """Set ``out``, for each memory, to the passage in which the query's words weigh most.

    The weight of a passage is its BM25 score as if it were a document (see `chains.add_chains`),
    its length in tokens. Ties: the first passage.

    Shapes, for n memories of M: memories uint32[n], in [0, end_memory), which is at most M;
    out uint32[>= n]. The lengths of ``forward`` are not read.

    Cost: nothing for a memory of one passage, else O(its tokens * Q).
    """
    _, first_row, forward_offsets, forward_terms = forward
    terms, idf, fixed, per_word = weights
    if np.int64(first_row[end_memory]) == end_memory:  # each has one
        out[: memories.shape[0]] = memories
        return
    counts = np.zeros(terms.shape[0], np.float32)
    for i in range(memories.shape[0]):
        m = np.int64(memories[i])
        first = np.int64(first_row[m])
        end = np.int64(first_row[m + 1])
        out[i] = np.uint32(first)
        if end - first == 1:
            continue
        most = np.float32(-1)
        for row in range(first, end):
            start = np.int64(forward_offsets[row])
            stop = np.int64(forward_offsets[row + 1])
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
def scores_of(documents: U32, forward: Forward, weights: Weights, out: F32) -> None:
    """Set ``out`` to the BM25 scores of documents, each read from its own words.

    Equation and order of the sum: those of `chains.add_chains`, to the bit, counts at most 255.

    Shapes: documents uint32[n], out float32[n].

    Cost: 15 ns a document of 25 words, whose words are prefetched.
    """
    lengths, first_row, forward_offsets, forward_terms = forward
    terms, idf, fixed, per_word = weights
    n = documents.shape[0]
    n_terms = terms.shape[0]
    asked = np.zeros(_TABLE, np.uint8)
    counts = np.zeros(n_terms, np.int64)
    for term in terms:
        asked[term & np.uint32(_TABLE - 1)] = 1
    begins = np.empty(n, np.int64)
    ends = np.empty(n, np.int64)
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
        own = forward_terms[begins[at] : ends[at]]
        held = False
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
