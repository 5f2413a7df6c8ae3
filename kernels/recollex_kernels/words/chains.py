"""The chains of a tail, see ``tail``: how many documents hold a term, what do its words add?"""

from typing import TypeAlias

import numpy as np

from recollex_kernels.machine.jit import F32, I64, U8, U32, kernel
from recollex_kernels.machine.prefetch import prefetch
from recollex_kernels.words.bm25 import Weights

BLOCK = 8
"""Places of a block: a link and seven postings. Most terms of a small agent have one or two."""
_FIRST = ~(BLOCK - 1)

Chains: TypeAlias = tuple[U32, U32, U8]
"""The chains of a tail: head, postings, counts, as `extend_chains` and `publish_chains` leave them.
"""


@kernel
def chain_frequency(head: U32, postings: U32, terms: U32, end_document: int) -> I64:
    """Return, for each term, how many documents of the chains before ``end_document`` hold it.

    Shapes, for Q terms: head, postings as `extend_chains` and `publish_chains` leave them; terms
    uint32[Q], a term >= V is in no document; returned int64[Q].

    Cost: a block of seven postings of the Q terms at a time, and each that is newer.
    """
    frequency = np.zeros(terms.shape[0], np.int64)
    for term in terms:
        if term < head.shape[0]:
            prefetch(postings, int(head[term]) & _FIRST)
    for q in range(terms.shape[0]):
        if terms[q] >= head.shape[0]:
            continue
        at = np.int64(head[terms[q]])
        while at != 0:
            first = at & _FIRST
            while at > first and postings[at] >= end_document:
                at -= 1
            frequency[q] += at - first
            at = np.int64(postings[first])
    return frequency


@kernel
def admitted_chain_frequency(
    head: U32, postings: U32, terms: U32, end_document: int, allowed: U8
) -> I64:
    """Return, for each term, how many allowed documents before ``end_document`` hold it.

    Shapes: as for `chain_frequency`; allowed uint8[>= end_document].

    Cost: O(postings of the Q terms).
    """
    frequency = np.zeros(terms.shape[0], np.int64)
    for q in range(terms.shape[0]):
        if terms[q] >= head.shape[0]:
            continue
        at = np.int64(head[terms[q]])
        while at != 0:
            first = at & _FIRST
            for place in range(first + 1, at + 1):
                if postings[place] < end_document:
                    frequency[q] += np.int64(allowed[postings[place]])
            at = np.int64(postings[first])
    return frequency


@kernel
def add_chains(
    chains: Chains,
    lengths: U32,
    weights: Weights,
    first_document: int,
    end_document: int,
    out: F32,
) -> None:
    """Add the BM25 weight of every query term to ``out``, from chains.

    Equation (Kamphuis et al., ECIR 2020, Table 1, "Lucene (accurate)"):
        out[d] += idf[q] * f / (f + norm(d))
        norm(d) = k1 * (1 - b) + (k1 * b / mean length) * length(d) = fixed + per_word * length(d)

    evaluated in float32 as ``idf * (f / (f + norm))``, query terms in their order.

    Shapes, for D documents, V terms with a chain:
        lengths  uint32[D]     of the documents from ``first_document`` on, the first of the chains
        weights  a term >= V adds nothing; a repeated term counts again
        out      float32[>= end_document - first_document]  changed in place; the caller zeroes it

    Cost: O(postings of the Q terms), no allocation.
    """
    head, postings, counts = chains
    terms, idf, fixed, per_word = weights
    for q in range(terms.shape[0]):
        if terms[q] >= head.shape[0]:
            continue
        at = int(head[terms[q]])
        while at != 0:
            first = at & _FIRST
            before = int(postings[first])
            prefetch(postings, before & _FIRST)
            prefetch(counts, before)
            for place in range(first + 1, at + 1):
                if postings[place] < end_document:
                    d = np.int64(postings[place]) - first_document
                    f = np.float32(counts[place])
                    out[d] += idf[q] * (f / (f + (fixed + per_word * np.float32(lengths[d]))))
            at = before
