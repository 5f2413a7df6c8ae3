"""The table through which kernels read the posting lists of all segments.

The posting lists of all segments as one argument: where the arrays of each lie in memory.
The number of segments differs between views, a kernel is compiled for the number of its arguments,
and each argument costs 0.1 us to pass. So a kernel takes a table of addresses, a row for each
segment, and reads arrays through it. The caller keeps the arrays alive until the kernel returns.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from recollex_kernels.machine.jit import I64, U8, U16, U32, U64, kernel
from recollex_kernels.machine.memory_access import prefetch
from recollex_kernels.words.impacts import DENSE


@kernel
def position_of(documents: U16 | U32, first: int, end: int, end_document: int) -> int:
    """Return the first position in [first, end) of ascending ``documents`` not below the last."""
    if first < end and documents[end - 1] < end_document:
        return end
    while first < end:
        middle = (first + end) >> 1
        if documents[middle] < end_document:
            first = middle + 1
        else:
            end = middle
    return first


Texts: TypeAlias = tuple[U32, U32, U8, U32, U32, U64, U32]
"""What is in no segment: head, postings and counts of the chains (see `tail`); lengths,
first_row, forward_offsets, forward_terms (see `bm25.Forward`)."""
Lists: TypeAlias = tuple[U32, U16, U16, U8, U32, U32, U32, U8, U8, int, int]
"""Of documents [first, end): starts, cuts, documents (see `postings.divide_postings`); codes,
limits, dense (see `impacts.grade_postings`); dense_cuts; greatest, columns; first, end."""
FIRST = 9
END = 10
TERMS = 11
POSTINGS = 12
DENSE_TERMS = 13
FIELDS = 14
"""Columns of the table: nine addresses, in the order of `Lists`, and these."""
SLICE_BITS = 16
SLICE = 1 << SLICE_BITS
"""Documents of a slice of a segment: their numbers within it have 16 bits."""
_NUMBA: Any = numba
_carray = _NUMBA.carray


def _pointer_code(typing: Any, address: Any) -> Any:
    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        return b.inttoptr(args[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), build


_pointer: Any = intrinsic(_pointer_code)


@kernel
def chains_of(texts: I64) -> tuple[U32, U32, U8]:
    """Return the chains of the tail: head, postings and counts (see ``tail``)."""
    n = texts[1, 1]
    return (
        _carray(_pointer(texts[0, 0]), (texts[0, 1],), np.uint32),
        _carray(_pointer(texts[1, 0]), (n,), np.uint32),
        _carray(_pointer(texts[2, 0]), (n,), np.uint8),
    )


@kernel
def forward_of(texts: I64) -> tuple[U32, U32, U64, U32]:
    """Return the documents' lengths, first rows, and their rows' offsets and terms."""
    return (
        _carray(_pointer(texts[3, 0]), (texts[3, 1],), np.uint32),
        _carray(_pointer(texts[4, 0]), (texts[4, 1],), np.uint32),
        _carray(_pointer(texts[5, 0]), (texts[5, 1],), np.uint64),
        _carray(_pointer(texts[6, 0]), (texts[6, 1],), np.uint32),
    )


@kernel
def extent(table: I64, s: int) -> tuple[int, int]:
    """Return the first document of segment ``s`` and the one after its last."""
    return table[s, FIRST], table[s, END]


@kernel
def slices_in(size: int) -> int:
    """Return into how many slices so many documents are divided, at least 1."""
    return max(1, (size + SLICE - 1) >> SLICE_BITS)


@kernel
def slices_of(table: I64, s: int) -> int:
    """Return into how many slices the documents of segment ``s`` are divided."""
    return slices_in(table[s, END] - table[s, FIRST])


@kernel
def postings_of(table: I64, s: int) -> tuple[U16, U8]:
    """Return the documents, as numbers within their slice, and codes of segment ``s``."""
    n = table[s, POSTINGS]
    return (
        _carray(_pointer(table[s, 2]), (n,), np.uint16),
        _carray(_pointer(table[s, 3]), (n,), np.uint8),
    )


@kernel
def list_of(table: I64, s: int, term: np.uint32) -> tuple[int, int]:
    """Return where the postings of a term begin and end in segment ``s``: nowhere if it has none.

    The two are equal then.
    """
    t = np.int64(term)
    n = table[s, TERMS]
    if t >= n:
        return 0, 0
    starts = _carray(_pointer(table[s, 0]), (n + 1,), np.uint32)
    begin = np.int64(starts[np.uint64(t)])
    end = np.int64(starts[np.uint64(t + 1)])
    return int(begin), int(end)


@kernel
def ask_for_stops(table: I64, s: int, term: np.uint32) -> None:
    """Prefetch what `set_stops` reads of a term besides `list_of`."""
    cuts = slices_of(table, s) - 1
    near = _carray(_pointer(table[s, 1]), (table[s, TERMS] * cuts,), np.uint16)
    prefetch(near, int(term) * cuts)


@kernel
def set_stops(
    table: I64, s: int, term: np.uint32, end_document: int, q: int, out: I64
) -> tuple[int, int]:
    """Set where a term's postings of documents before ``end_document`` begin and end, by slice.

    Return where they would begin and end if the view were as long as the segment. Postings of
    slice p are those from out[q, p] to out[q, p + 1]; out int64[Q, > slices], whose last entries
    say where all end.

    Cost: two loads, and a search if the view ends within the segment.
    """
    begin, end = list_of(table, s, term)
    first, last = extent(table, s)
    cuts = slices_of(table, s) - 1
    out[q, 0] = begin
    if cuts > 0 and (end - begin) * DENSE > last - first:
        dense = columns_of(table, s)[0]
        row = cuts * np.searchsorted(dense, term)
        far = _carray(_pointer(table[s, 6]), (dense.shape[0] * cuts,), np.uint32)
        for slice_ in range(cuts):
            out[q, slice_ + 1] = begin + np.int64(far[row + slice_])
    elif begin < end:
        near = _carray(_pointer(table[s, 1]), (table[s, TERMS] * cuts,), np.uint16)
        for slice_ in range(cuts):
            out[q, slice_ + 1] = begin + np.int64(near[np.int64(term) * cuts + slice_])
    else:
        cuts = 0
    stop = end
    if end_document < last:
        behind = max(0, end_document - first)
        slice_ = behind >> SLICE_BITS
        final = out[q, slice_ + 1] if slice_ < cuts else end
        documents = postings_of(table, s)[0]
        stop = position_of(documents, out[q, min(slice_, cuts)], final, behind & (SLICE - 1))
        cuts = min(slice_, cuts)
    for slice_ in range(cuts + 1, out.shape[1]):
        out[q, slice_] = stop
    return begin, end


@kernel
def limits_of(table: I64, s: int) -> U32:
    """Return what the codes of segment ``s`` stand for."""
    limits: U32 = _carray(_pointer(table[s, 4]), (1024,), np.uint32)
    return limits


@kernel
def columns_of(table: I64, s: int) -> tuple[U32, U8, U8]:
    """Return the dense terms of segment ``s``, the greatest code of each, and their columns."""
    n = table[s, DENSE_TERMS]
    return (
        _carray(_pointer(table[s, 5]), (n,), np.uint32),
        _carray(_pointer(table[s, 7]), (n,), np.uint8),
        _carray(_pointer(table[s, 8]), (n * (table[s, END] - table[s, FIRST]),), np.uint8),
    )


def table(segments: Sequence[Lists]) -> I64:
    """Return the table of ``segments``: int64[S, 14], valid as long as their arrays live."""
    rows = np.zeros((len(segments), FIELDS), np.int64)
    for row, lists in zip(rows, segments, strict=True):
        arrays, (first, end) = lists[:-2], lists[-2:]
        starts = lists[0]
        documents = lists[2]
        dense = lists[5]
        row[:FIRST] = [array.ctypes.data for array in arrays]
        row[FIRST:] = first, end, len(starts) - 1, len(documents), len(dense)
    return rows


def places(texts: Texts) -> I64:
    """Return the addresses and lengths of arrays that stay alive: int64[7, 2]."""
    return np.array([(array.ctypes.data, len(array)) for array in texts], np.int64)
