"""What stands around a memory: its neighbours in a document, the document's best, its last mark."""

import numpy as np

from recollex_kernels._jit import F64, I64, U8, U32, U64, kernel

NONE = np.uint32(0xFFFFFFFF)


@kernel
def neighbours(
    memories: U32, document: U32, said_at: I64, visible: U8, reach: int, window: int
) -> I64:
    """Return the memories around each one in its document: one and two before, one and two after.

    A neighbour has the same document, which is not NONE, is visible, stands at most ``reach``
    places away in recorded order (other documents may be written in between) and was said at most
    ``window`` away from the memory in time.

    Shapes, for n memories, M in all:
        memories  uint32[n]        in [0, M)
        document  uint32[M]        a label, or NONE
        said_at   int64[M]         microseconds
        visible   uint8[M]
        returned  int64[n, 4]      before, after, second before, second after; -1 for none

    Cost: O(n * reach) at worst, O(n) where a document is written in one go.
    """
    found = np.full((memories.shape[0], 4), -1, np.int64)
    for i in range(memories.shape[0]):
        m = np.int64(memories[i])
        label = document[m]
        if label == NONE:
            continue
        for side in range(2):
            step = -1 if side == 0 else 1
            met = 0
            other = m + step
            while met < 2 and 0 <= other < document.shape[0] and abs(other - m) <= reach:
                if document[other] == label and visible[other] == 1:
                    if abs(said_at[other] - said_at[m]) > window:
                        break
                    found[i, 2 * met + side] = other
                    met += 1
                other += step
    return found


@kernel
def best_of_document(documents: U32, scores: F64) -> F64:
    """Return, for each entry, the greatest score among those of its document; 0 without one.

    Shapes, for n entries: documents uint32[n], a label or NONE; scores float64[n].

    Cost: O(n), by a hash table of at most 4n places.
    """
    n = documents.shape[0]
    bits = 2
    while (1 << bits) < 2 * n:
        bits += 1
    mask = (1 << bits) - 1
    keys = np.full(1 << bits, NONE, np.uint32)
    best = np.zeros(1 << bits, np.float64)
    at = np.full(n, -1, np.int64)
    for i in range(n):
        label = documents[i]
        if label == NONE:
            continue
        place = ((np.int64(label) * 2654435769) >> 7) & mask  # Knuth's multiplicative hash
        while keys[place] != NONE and keys[place] != label:
            place = (place + 1) & mask
        if keys[place] == NONE or scores[i] > best[place]:
            best[place] = scores[i]
        keys[place] = label
        at[i] = place
    out = np.zeros(n, np.float64)
    for i in range(n):
        if at[i] >= 0:
            out[i] = best[at[i]]
    return out


@kernel
def asks(memories: I64, text: U8, text_offset: U64) -> U8:
    """Return, for each memory, 1 if its text ends with a question mark, white space aside.

    Question marks are ``?``, the full-width one and the Arabic one, in UTF-8. A memory of -1
    gives 0.

    Shapes: memories int64[n]; text uint8[], all texts one after another; text_offset uint64[M+1].

    Cost: O(n).
    """
    out = np.zeros(memories.shape[0], np.uint8)
    for i in range(memories.shape[0]):
        if memories[i] < 0:
            continue
        first, end = np.int64(text_offset[memories[i]]), np.int64(text_offset[memories[i] + 1])
        while end > first and text[end - 1] in (32, 9, 10, 13):
            end -= 1
        if end > first and text[end - 1] == 0x3F:
            out[i] = 1
        if end - first >= 3 and text[end - 3] == 0xEF and text[end - 2] == 0xBC:
            out[i] = np.uint8(text[end - 1] == 0x9F)
        if end - first >= 2 and text[end - 2] == 0xD8 and text[end - 1] == 0x9F:
            out[i] = 1
    return out
