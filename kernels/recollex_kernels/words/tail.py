"""BM25 over documents that no posting list covers yet: chains of blocks of postings, newest first.

A posting says which document a term is in and how often. Those of a term stand in blocks of
eight places, documents in the order of arrival: a walk waits for memory once a block, not once
a posting. A block's first place tells where the last posting of the block before it stands, so a
walk needs only ``head``, the place of each term's newest posting; place 0 is none. Adding a
document costs its words. A reader that sees only the documents before ``end_document`` walks from
the head and skips newer ones.

Two steps add documents, so that a reader in another thread never sees a half-written posting:
`extend_chains` writes postings that no head leads to, `publish_chains` moves the heads.
"""

from typing import TypeAlias

import numpy as np

from recollex_kernels.machine.jit import F32, I64, U8, U32, U64, kernel
from recollex_kernels.machine.memory_access import prefetch
from recollex_kernels.words.bm25 import Weights

# The chains of a tail, see ``tail``: how many documents hold a term, what do its words add?
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


STOP = np.uint32(0xFFFFFFFF)
_MOST = 255  # counts saturate here


@kernel
def extend_chains(
    first_row: U32,
    term_offset: U64 | I64,
    terms: U32,
    first_document: int,
    end_document: int,
    size: int,
    out_latest: U32,
    out_postings: U32,
    out_counts: U8,
) -> int:
    """Return where the next block begins after those of documents [first_document, end_document).

    Shapes, for D documents, R rows, V terms, room for P places:
        first_row     uint32[>= D+1]  rows of document d are first_row[d]:first_row[d + 1]
        term_offset   uint64[>= R+1]  terms of row r are terms[term_offset[r]:term_offset[r + 1]]
        terms         uint32[]        in [0, V), or STOP, which is not counted
        size          where the first new block begins, at least `BLOCK`
        out_latest    uint32[V]       the newest posting of each term, published or not; 0 for none
        out_postings, out_counts   uint32[P], uint8[P]   links and documents; at most 255

    Cost: O(tokens). P must be at least ``size`` plus a block for each token.
    """
    for document in range(first_document, end_document):
        first = term_offset[first_row[document]]
        end = term_offset[first_row[document + 1]]
        for i in range(np.int64(first), np.int64(end)):
            t = terms[i]
            if t == STOP:
                continue
            at = int(out_latest[t])
            if at != 0 and out_postings[at] == document:
                if out_counts[at] < _MOST:
                    out_counts[at] += np.uint8(1)
                continue
            at += 1
            if at % BLOCK == 0 or at == 1:  # its block is full, or there is none
                out_postings[size] = out_latest[t]
                at = size + 1
                size += BLOCK
            out_postings[at] = document
            out_counts[at] = 1
            out_latest[t] = at
    return size


@kernel
def publish_chains(
    first_row: U32,
    term_offset: U64 | I64,
    terms: U32,
    first_document: int,
    end_document: int,
    latest: U32,
    out_head: U32,
) -> None:
    """Set the head of each term of documents [first_document, end_document) to its newest posting.

    Shapes: as for `extend_chains`. Cost: O(tokens).
    """
    first = term_offset[first_row[first_document]]
    end = term_offset[first_row[end_document]]
    for i in range(np.int64(first), np.int64(end)):
        t = terms[i]
        if t != STOP:
            out_head[t] = latest[t]
