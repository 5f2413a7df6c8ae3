"""A set of memories as bits: lists them in order, each once, and tells where each stands."""

import numpy as np

from recollex_kernels._jit import U32, U64, kernel

_ONE = np.uint64(1)
_LOW_SIX = np.uint64(63)


@kernel
def bitmap(limit: int) -> U64:
    """Return an empty set of numbers in [0, limit). Cost: O(limit / 64)."""
    return np.zeros((limit >> 6) + 1, np.uint64)


@kernel
def mark(bits: U64, number: int) -> None:
    """Put ``number`` into the set."""
    bits[number >> 6] |= _ONE << (np.uint64(number) & _LOW_SIX)


@kernel
def _ones(word: np.uint64) -> np.uint64:
    """Return how many bits of a word are set (LLVM knows the pattern and makes it popcnt)."""
    word = word - ((word >> _ONE) & np.uint64(0x5555555555555555))
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.uint64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def listed(bits: U64) -> tuple[U32, U32]:
    """Return the numbers of the set, ascending, and how many stand before each word of the set.

    Cost: O(limit / 64 + numbers).
    """
    before = np.empty(bits.shape[0], np.uint32)
    count = np.uint64(0)
    for w in range(bits.shape[0]):
        before[w] = count
        if bits[w] != 0:
            count += _ones(bits[w])
    numbers = np.empty(np.int64(count), np.uint32)
    n = 0
    for w in range(bits.shape[0]):
        word = bits[w]
        while word != 0:
            low = word & (~word + _ONE)
            numbers[n] = np.uint64(w << 6) + _ones(low - _ONE)
            n += 1
            word ^= low
    return numbers, before


@kernel
def place_of(bits: U64, before: U32, number: int) -> int:
    """Return where ``number``, which is in the set, stands in its list."""
    below = (_ONE << (np.uint64(number) & _LOW_SIX)) - _ONE
    return int(before[number >> 6] + _ones(bits[number >> 6] & below))
