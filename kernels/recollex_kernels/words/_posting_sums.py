"""What the postings of a word add to the sums of documents: 16 bits each, slice by slice.

A posting is a document's number within its slice, and a code; added[code] is what it adds.
"""

import numpy as np

from recollex_kernels.machine.bit_masks import lowest
from recollex_kernels.machine.jit import U8, U16, U32, kernel
from recollex_kernels.machine.memory_access import prefetch
from recollex_kernels.words._bounds import LANES, reaching
from recollex_kernels.words.segments import SLICE, position_of

_AHEAD = 512  # postings prefetched ahead


@kernel
def add(documents: U16, codes: U8, added: U16, begin: int, end: int, base: int, sums: U16) -> None:
    """Add the postings [begin, end), all of one slice, whose document d has sums[base + d]."""
    start = np.uint64(base)
    for block in range(begin, end, LANES):
        _ask_ahead(documents, codes, block)
        for p in range(block, min(end, block + LANES)):
            at = np.uint64(p)
            sums[start + np.uint64(documents[at])] += added[codes[at]]


@kernel
def _ask_ahead(documents: U16, codes: U8, p: int) -> None:
    """Prefetch 64 postings that will be read a little later than posting ``p``."""
    prefetch(codes, p + _AHEAD)
    prefetch(documents, p + _AHEAD)
    prefetch(documents, p + _AHEAD + LANES // 2)


@kernel
def add_below(
    documents: U16, codes: U8, added: U16, p: int, end: int, first: int, stop: int, sums: U16
) -> int:
    """Add the postings of [p, end), of one slice, below document ``stop``; return the next one.

    Document d of the slice has sums[d - first]; stop is at most `SLICE`.
    """
    behind = p
    beyond = np.uint16(stop)
    if stop == SLICE:
        behind = end
    else:
        while behind + LANES <= end and documents[np.uint64(behind + LANES - 1)] < beyond:
            behind += LANES
        if behind + LANES <= documents.shape[0]:
            behind = min(end, behind + int(lowest(reaching(documents, behind, beyond))))
        else:
            behind = position_of(documents, behind, end, stop)
    add(documents, codes, added, p, behind, -first, sums)
    return behind


@kernel
def ask_for(columns: U8, base: int, found: U32) -> None:
    """Prefetch what `look_up` will read."""
    for d in found:
        prefetch(columns, base + int(d))


@kernel
def look_up(columns: U8, base: int, added: U16, found: U32, out: U16) -> None:
    """Add a word to those found that hold it; document d has columns[base + d]."""
    for i in range(found.shape[0]):
        out[i] += added[columns[np.uint64(base + np.int64(found[i]))]]


@kernel
def probe(
    documents: U16,
    codes: U8,
    added: U16,
    begin: int,
    end: int,
    first: int,
    base: int,
    least: int,
    sums: U16,
    n: int,
    out: U32,
    out_sums: U16,
) -> int:
    """Append documents of [begin, end) that with it reach ``least``; return the end of what is out.

    Document d of the slice is first + d and has sums[base + d], which does not change.
    """
    limit = np.uint16(least)
    to = np.uint64(n)
    start = np.uint32(first)
    zero = np.uint64(base)
    for block in range(begin, end, LANES):
        _ask_ahead(documents, codes, block)
        for p in range(block, min(end, block + LANES)):
            d = documents[np.uint64(p)]
            held = np.uint16(sums[zero + np.uint64(d)] + added[codes[np.uint64(p)]])
            out[to] = start + np.uint32(d)
            out_sums[to] = held
            to += np.uint64(held >= limit)
    return int(np.int64(to))


@kernel
def gather(
    documents: U16,
    begin: int,
    end: int,
    first: int,
    base: int,
    least: int,
    sums: U16,
    n: int,
    out: U32,
    out_sums: U16,
) -> int:
    """As `probe`, of documents whose sums alone reach ``least``; their sums are 0 then."""
    limit = np.uint16(least)
    to = np.uint64(n)
    start = np.uint32(first)
    zero = np.uint64(base)
    for p in range(begin, end):
        d = documents[np.uint64(p)]
        at = zero + np.uint64(d)
        held = sums[at]
        sums[at] = 0
        out[to] = start + np.uint32(d)
        out_sums[to] = held
        to += np.uint64(held >= limit)
    return int(np.int64(to))
