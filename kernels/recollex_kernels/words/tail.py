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

import numpy as np

from recollex_kernels.machine.jit import I64, U8, U32, U64, kernel
from recollex_kernels.words.chains import BLOCK

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
