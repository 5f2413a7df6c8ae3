"""A heap of what to look at next: entries of activation, closeness and tag, greatest first.

An entry is two numbers side by side, in an array in which the caller keeps room: ``key``, which
orders by activation and then by closeness, and the tag. Two comparisons of integers order two
entries, so the way down the heap needs no branch.
"""

import numpy as np

from recollex_kernels.machine.jit import U64, kernel

_HALF = np.uint64(32)
_LOWER = np.uint64(0xFFFFFFFF)
_SIGN = np.uint32(0x80000000)
_TOP = np.uint32(31)
_ZERO = np.float32(0)


@kernel
def _ordered(value: np.float32) -> np.uint32:
    """Return a number that orders as the float does; both zeros give one number, no NaN."""
    bits = np.float32(value + _ZERO).view(np.uint32)
    negative = np.uint32(bits >> _TOP)
    return np.uint32(bits ^ np.uint32(_SIGN | np.uint32(-np.int64(negative))))


@kernel
def _value(ordered: np.uint32) -> np.float32:
    """Return the float whose `_ordered` number this is."""
    positive = np.uint32(ordered >> _TOP)
    flipped = np.uint32(_SIGN | np.uint32(np.int64(positive) - 1))
    return np.uint32(ordered ^ flipped).view(np.float32)


@kernel
def key(activation: np.float32, closeness: np.float32) -> np.uint64:
    """Return a number that orders as (activation, closeness) does."""
    return np.uint64(_ordered(activation)) << _HALF | np.uint64(_ordered(closeness))


@kernel
def activation_of(key: np.uint64) -> np.float32:
    """Return the activation in a key."""
    return _value(np.uint32(key >> _HALF))


@kernel
def closeness_of(key: np.uint64) -> np.float32:
    """Return the closeness in a key."""
    return _value(np.uint32(key & _LOWER))


@kernel
def longer(heap: U64, size: int) -> U64:
    """Return the heap with room for at least ``size`` entries."""
    more = max(2 * size - heap.shape[0], heap.shape[0])
    return np.concatenate((heap, np.empty(more, np.uint64)))


@kernel
def _rise(i: int, key: np.uint64, tag: np.uint64, heap: U64) -> None:
    """Put an entry at place ``i`` or above, where no greater one is below it."""
    while i > 0:
        p = (i - 1) >> 1
        if key < heap[2 * p] or (key == heap[2 * p] and tag <= heap[2 * p + 1]):
            break
        heap[2 * i], heap[2 * i + 1] = heap[2 * p], heap[2 * p + 1]
        i = p
    heap[2 * i] = key
    heap[2 * i + 1] = tag


@kernel
def push(n: int, key: np.uint64, tag: np.uint64, heap: U64) -> int:
    """Return the heap's size after one more entry, for which there is room."""
    _rise(n, key, tag, heap)
    return n + 1


@kernel
def sink(n: int, key: np.uint64, tag: np.uint64, heap: U64) -> None:
    """Put an entry in the place of the top one of a heap of ``n``.

    The gap goes down to a leaf, and the entry up from there: most come from near the leaves.
    """
    i = 0
    child = 1
    while child < n:
        if child + 1 < n:
            left = heap[2 * child]
            right = heap[2 * child + 2]
            later = (right == left) & (heap[2 * child + 3] > heap[2 * child + 1])
            child += int((right > left) | later)
        heap[2 * i], heap[2 * i + 1] = heap[2 * child], heap[2 * child + 1]
        i = child
        child = 2 * i + 1
    _rise(i, key, tag, heap)


@kernel
def pop(n: int, heap: U64) -> int:
    """Return the heap's size after its top entry was dropped."""
    n -= 1
    sink(n, heap[2 * n], heap[2 * n + 1], heap)
    return n
