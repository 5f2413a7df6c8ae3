"""Numbers of several memories, read from their columns in one pass."""

import numpy as np

from recollex_kernels._jit import I64, U8, U32, U64, kernel

SAID, START, END, RECORDED, NETWORK, TOKENS = range(6)
"""Rows of what `memory_numbers` returns."""
SEVERAL, CONTEXT, DOCUMENT, SPEAKER, MENTIONS, LABELS, METADATA, VALID_END, CLOSED = (
    1 << bit for bit in range(9)
)
"""Bits of what it says that any of the memories has."""


@kernel
def memory_numbers(
    places: I64,
    said: I64,
    start: I64,
    end: I64,
    op: U64,
    recorded: I64,
    network: U8,
    tokens: U32,
    first_row: U32,
    context: U32,
    document: U32,
    speaker: U32,
    mention_offset: U64,
    label_offset: U64,
    metadata_offset: U64,
    valid_end: I64,
    closed_by: U64,
    none: int,
    open_end: int,
) -> tuple[I64, int]:
    """Return numbers of some memories, and what any of them has.

    The numbers: when they were said, when what they speak of began and ended, when they were
    recorded, their networks and tokens, in rows that the constants above name. The second: bits
    for several rows, a label ``none`` is not, mentions, tags, metadata, an end of validity that
    ``open_end`` is not, and an operation that closed it.

    Shapes, for N memories, n asked for, O operations:
        places                  int64[n]    in [0, N)
        said .. op, network .. tokens, context .. speaker, valid_end, closed_by   [N]
        recorded                int64[O]    of operation op, counted from 1
        first_row, .._offset    [N + 1]
        returned                int64[6, n]

    Cost: O(n), 20 bytes here and there for each.
    """
    n = places.shape[0]
    found = np.empty((6, n), np.int64)
    has = 0
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
    return found, has
