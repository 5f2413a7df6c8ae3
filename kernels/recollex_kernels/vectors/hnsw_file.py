"""How are the nodes of an HNSW graph's file read? As numbers of four bytes, at any offset.

usearch 2 writes, for each node: its key in 8 bytes, its highest level in 2, then for level 0 and
each one above a count and room for so many slots of neighbours, 4 bytes each: twice the graph's
connectivity on level 0, once above.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from recollex_kernels.machine.arrays import contiguous, data_of
from recollex_kernels.machine.jit import I16, I64, U8, kernel
from recollex_kernels.machine.prefetch import prefetch

WORD = 4
_HEAD = 10  # a key and a level
_LINE = 64  # bytes that memory gives at once


def _code(typing: Any, nodes: Any, place: Any) -> Any:
    contiguous("nodes", nodes)

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, b, signature.args[0], args[0])
        loaded = b.load(b.bitcast(b.gep(data, [args[1]]), ir.IntType(32).as_pointer()))
        loaded.align = 1
        return loaded

    return types.uint32(nodes, types.int64), build


word_at = cast(Callable[[U8, int], np.uint32], intrinsic(_code))
"""Returns the number of four bytes, little-endian, that stand at a place of ``nodes``."""


@kernel
def places_of(levels: I16, connectivity: int, first: int, out: I64) -> int:
    """Return where the last node ends, and fill where each begins; the first one at ``first``.

    Shapes: levels int16[n], not negative; out int64[n]. Cost: O(n), 1 ms a million.
    """
    own = _HEAD + WORD * (1 + 2 * connectivity)
    above = WORD * (1 + connectivity)
    place = first
    for i in range(levels.shape[0]):
        out[i] = place
        place += own + above * levels[i]
    return place


@kernel
def links_at(nodes: U8, place: int, level: int, connectivity: int) -> tuple[int, int]:
    """Return where the neighbours of the node at ``place`` stand on a level, and how many.

    There are none if the file ends before them.
    """
    at = place + _HEAD
    most = connectivity
    if level == 0:
        most = 2 * connectivity
    else:
        at += WORD * (1 + 2 * connectivity) + (level - 1) * WORD * (1 + connectivity)
    if at + WORD * (1 + most) > nodes.shape[0]:
        return at, 0
    return at + WORD, min(int(word_at(nodes, at)), most)


@kernel
def prefetch_links(nodes: U8, place: int, connectivity: int) -> None:
    """Prefetch a node's neighbours on level 0."""
    for line in range(0, _HEAD + WORD * (1 + 2 * connectivity), _LINE):
        prefetch(nodes, place + line)
