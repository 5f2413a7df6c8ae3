"""The posting lists of all segments as one argument: where the arrays of each lie in memory.

A view has as many segments as its rows ask for, and a kernel is compiled for the number of its
arguments, each of which costs 0.1 us to pass. So a kernel is given a table of addresses, a row a
segment, and reads arrays through it. Whoever calls keeps the arrays alive until it returns.
"""

from typing import Any, TypeAlias

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from recollex_kernels._jit import I64, U8, U32, U64, kernel

Texts: TypeAlias = tuple[U32, U32, U32, U8, U32, U32, U64, U32]
"""What no segment has: head, previous, documents and counts of the chains (see ``tail``); lengths,
first_row, forward_offsets, forward_terms (see ``_bm25``)."""
Lists: TypeAlias = tuple[I64, U32, U8, U32, U32, U8, U8, int, int]
"""Of documents [first, end): starts, documents (see `postings.build_postings`); codes, limits,
dense, greatest, columns (see `impacts.grade_postings`); first, end."""
FIRST, END, TERMS, POSTINGS, DENSE_TERMS = 7, 8, 9, 10, 11
FIELDS = 12
"""Columns of the table: seven addresses, in the order of `Lists`, and these."""
_NUMBA: Any = numba
_carray = _NUMBA.carray


def _pointer_code(typing: Any, address: Any) -> Any:
    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        return b.inttoptr(args[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), build


_pointer: Any = intrinsic(_pointer_code)


@kernel
def chains_of(texts: I64) -> tuple[U32, U32, U32, U8]:
    """Return the chains of the tail: head, previous, documents and counts (see ``tail``)."""
    n = texts[1, 1]
    return (
        _carray(_pointer(texts[0, 0]), (texts[0, 1],), np.uint32),
        _carray(_pointer(texts[1, 0]), (n,), np.uint32),
        _carray(_pointer(texts[2, 0]), (n,), np.uint32),
        _carray(_pointer(texts[3, 0]), (n,), np.uint8),
    )


@kernel
def forward_of(texts: I64) -> tuple[U32, U32, U64, U32]:
    """Return the documents' lengths, first rows, and their rows' offsets and terms."""
    return (
        _carray(_pointer(texts[4, 0]), (texts[4, 1],), np.uint32),
        _carray(_pointer(texts[5, 0]), (texts[5, 1],), np.uint32),
        _carray(_pointer(texts[6, 0]), (texts[6, 1],), np.uint64),
        _carray(_pointer(texts[7, 0]), (texts[7, 1],), np.uint32),
    )


@kernel
def extent(table: I64, s: int) -> tuple[int, int]:
    """Return the first document of segment ``s`` and the one behind its last."""
    return table[s, FIRST], table[s, END]


@kernel
def postings_of(table: I64, s: int) -> tuple[I64, U32, U8]:
    """Return the starts, documents and codes of segment ``s``."""
    n = table[s, POSTINGS]
    return (
        _carray(_pointer(table[s, 0]), (table[s, TERMS] + 1,), np.int64),
        _carray(_pointer(table[s, 1]), (n,), np.uint32),
        _carray(_pointer(table[s, 2]), (n,), np.uint8),
    )


@kernel
def limits_of(table: I64, s: int) -> U32:
    """Return what the codes of segment ``s`` stand for."""
    limits: U32 = _carray(_pointer(table[s, 3]), (1024,), np.uint32)
    return limits


@kernel
def columns_of(table: I64, s: int) -> tuple[U32, U8, U8]:
    """Return the dense terms of segment ``s``, the greatest code of each, and their columns."""
    n = table[s, DENSE_TERMS]
    return (
        _carray(_pointer(table[s, 4]), (n,), np.uint32),
        _carray(_pointer(table[s, 5]), (n,), np.uint8),
        _carray(_pointer(table[s, 6]), (n * (table[s, END] - table[s, FIRST]),), np.uint8),
    )
