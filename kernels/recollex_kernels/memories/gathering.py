"""The properties of several memories, read from their columns in one pass."""

from typing import TypeAlias

import numpy as np

from recollex_kernels.machine.jit import I64, U8, U32, U64, kernel
from recollex_kernels.machine.memory_access import copy_bytes, prefetch

SAID, START, END, RECORDED, NETWORK, TOKENS = range(6)
"""Rows of the numbers that `gather_memories` returns."""
ROWS = 6
SEVERAL, CONTEXT, DOCUMENT, SPEAKER, TRUST, MENTIONS, LABELS, METADATA = (
    1 << bit for bit in range(8)
)
VALID_END, CLOSED, PREVIOUS = (1 << bit for bit in range(8, 11))
"""Bits of what it says that any of the memories has."""


Times: TypeAlias = tuple[I64, I64, I64, U64, I64]
"""When: said, start, end, op int64 and uint64[N]; recorded int64[O], of operation op from 1 on."""

Sizes: TypeAlias = tuple[U8, U32, U32]
"""What and how much: network, tokens [N], first_row [N + 1]."""

Labels: TypeAlias = tuple[U32, U32, U32, U8]
"""Where, who and from whom: context, document, speaker, trust [N]."""

Offsets: TypeAlias = tuple[U64, U64, U64]
"""Where the lists of each begin: mentions, labels, metadata [N + 1]."""

Ends: TypeAlias = tuple[I64, U64, U32]
"""How each ended, and what it replaced: valid_end, closed_by, previous [N]."""

Ids: TypeAlias = tuple[U32, U8, I64]
"""The ids: id uint32[N], in [0, S); heap uint8[], in UTF-8, one after another; ends int64[S]."""

Heap: TypeAlias = tuple[U8, U64]
"""The texts: heap uint8[], in UTF-8, one after another; offsets [N + 1]."""


@kernel
def gather_memories(
    places: I64,
    times: Times,
    sizes: Sizes,
    labels: Labels,
    offsets: Offsets,
    endings: Ends,
    ids: Ids,
    texts: Heap,
    none: int,
    open_end: int,
) -> tuple[I64, U8, I64, int]:
    """Return numbers of some memories, their ids and texts, and what any of them has.

    The numbers: when they were said, when what they speak of began and ended, when they were
    recorded, their networks and tokens, in rows that the constants above name. The bytes: the ids,
    one after another, and then the texts; next, where each ends. The last: bits for several rows,
    a label other than ``none``, a level of trust, mentions, tags, metadata, an end of validity
    other than ``open_end``, an operation that closed it, a previous version other than ``none``.

    Shapes, for N memories, n asked for, O operations, S ids (see the tuples):
        places                  int64[n]    in [0, N)
        returned                int64[6, n], uint8[], int64[2 n]

    Cost: O(n), 30 bytes here and there for each, and its id and text.
    """
    said, start, end, op, recorded = times
    network, tokens, first_row = sizes
    context, document, speaker, trust = labels
    mention_offset, label_offset, metadata_offset = offsets
    valid_end, closed_by, previous = endings
    id, id_heap, id_ends = ids
    text_heap, text_offset = texts
    n = places.shape[0]
    found = np.empty((ROWS, n), np.int64)
    ends = np.empty(2 * n, np.int64)
    has = 0
    size = np.int64(0)
    for i in range(n):
        k = np.int64(id[places[i]])
        size += id_ends[k] - (id_ends[k - 1] if k > 0 else 0)
        ends[i] = size
    for i in range(n):
        m = places[i]
        size += np.int64(text_offset[m + 1]) - np.int64(text_offset[m])
        ends[n + i] = size
    strings = np.empty(size, np.uint8)
    at = 0
    for i in range(n):
        k = np.int64(id[places[i]])
        first = id_ends[k - 1] if k > 0 else 0
        copy_bytes(strings, at, id_heap, first, ends[i] - at)
        at = ends[i]
    for i in range(n):
        copy_bytes(strings, at, text_heap, int(text_offset[places[i]]), ends[n + i] - at)
        at = ends[n + i]
    for i in range(n):
        m = places[i]
        found[SAID, i] = said[m]
        found[START, i] = start[m]
        found[END, i] = end[m]
        found[RECORDED, i] = recorded[np.int64(op[m]) - 1]
        found[NETWORK, i] = network[m]
        found[TOKENS, i] = tokens[m]
        if first_row[m + 1] > first_row[m] + 1:
            has |= SEVERAL
        if context[m] != none:
            has |= CONTEXT
        if document[m] != none:
            has |= DOCUMENT
        if speaker[m] != none:
            has |= SPEAKER
        if trust[m] != 0:
            has |= TRUST
        if mention_offset[m + 1] > mention_offset[m]:
            has |= MENTIONS
        if label_offset[m + 1] > label_offset[m]:
            has |= LABELS
        if metadata_offset[m + 1] > metadata_offset[m]:
            has |= METADATA
        if valid_end[m] != open_end:
            has |= VALID_END
        if closed_by[m] != 0:
            has |= CLOSED
        if previous[m] != none:
            has |= PREVIOUS
    return found, strings, ends, has


# Strings that lie one after another, read by number.
@kernel
def gather_strings(heap: U8, ends: I64, column: U32, places: U32, between: int) -> U8:
    """Return the bytes of some strings, one after another, and a byte between each two.

    Shapes, for N strings, M items that have one, n asked for:
        heap     uint8[B]     the bytes of all strings, one after another
        ends     int64[N]     where each ends in it
        column   uint32[M]    the number of each item's string, in [0, N)
        places   uint32[n]    in [0, M)
        returned uint8[]

    Cost: O(bytes returned), 10 ns for each string of 36 bytes.
    """
    n = places.shape[0]
    numbers = np.empty(n, np.int64)
    first = np.zeros(n, np.int64)
    end = np.empty(n, np.int64)
    for i in range(n):  # they lie anywhere, and waiting costs most
        numbers[i] = column[places[i]]
        prefetch(ends, numbers[i])
    total = max(n - 1, 0)
    for i in range(n):
        end[i] = ends[numbers[i]]
        if numbers[i] > 0:
            first[i] = ends[numbers[i] - 1]
        prefetch(heap, first[i])
        prefetch(heap, end[i] - 1)
        total += end[i] - first[i]
    out = np.empty(total, np.uint8)
    at = 0
    for i in range(n):
        size = end[i] - first[i]
        copy_bytes(out, at, heap, first[i], size)
        at += size
        if i + 1 < n:
            out[at] = between
            at += 1
    return out
