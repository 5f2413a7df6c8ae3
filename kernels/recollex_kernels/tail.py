"""BM25 over documents that no posting list covers yet: chains of postings, newest first.

A posting says which document a term is in and how often. Postings stand in the order in which
documents came; each holds the number of the one before it with the same term, ``head`` the newest
of each term, and number 0 is none. So adding a document costs its words, and a reader who sees
only the documents before ``end_document`` walks from the head and skips what is newer.

Two steps add documents, so that a reader in another thread never meets a posting half written:
`extend_chains` writes postings that no head leads to, `publish_chains` moves the heads.
"""

import numpy as np

from recollex_kernels._jit import I64, U8, U32, U64, kernel

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
    out_previous: U32,
    out_documents: U32,
    out_counts: U8,
) -> int:
    """Return the number of the next posting after those of [first_document, end_document).

    Shapes, for D documents, R rows, V terms, room for P postings:
        first_row     uint32[>= D+1]  rows of document d are first_row[d]:first_row[d + 1]
        term_offset   uint64[>= R+1]  terms of row r are terms[term_offset[r]:term_offset[r + 1]]
        terms         uint32[]        in [0, V), or STOP, which is not counted
        size          the number of the first new posting, at least 1
        out_latest    uint32[V]       the newest posting of each term, published or not; 0 for none
        out_previous, out_documents, out_counts   uint32[P], uint32[P], uint8[P]   at most 255

    Cost: O(tokens). P must be ``size`` and a posting for each token at the most.
    """
    for document in range(first_document, end_document):
        first, end = term_offset[first_row[document]], term_offset[first_row[document + 1]]
        for i in range(np.int64(first), np.int64(end)):
            t = terms[i]
            if t == STOP:
                continue
            latest = out_latest[t]
            if latest != 0 and out_documents[latest] == document:
                if out_counts[latest] < _MOST:
                    out_counts[latest] += np.uint8(1)
                continue
            out_previous[size] = latest
            out_documents[size] = document
            out_counts[size] = 1
            out_latest[t] = size
            size += 1
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
    first, end = term_offset[first_row[first_document]], term_offset[first_row[end_document]]
    for i in range(np.int64(first), np.int64(end)):
        t = terms[i]
        if t != STOP:
            out_head[t] = latest[t]
