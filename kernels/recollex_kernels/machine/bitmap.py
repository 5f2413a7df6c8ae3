"""A set of memories as bits, which can be listed in order, each with its place.

A set is two arrays: a bit a number, and above it a bit for each word of 64 that has any, so that
listing a few of a million numbers looks at few words.
"""

from typing import TypeAlias

import numpy as np

from recollex_kernels.machine.bit_masks import count_bits, lowest
from recollex_kernels.machine.jit import U32, U64, kernel

Bits: TypeAlias = tuple[U64, U64]

_ONE = np.uint64(1)
_SIX = np.uint64(6)
_LOW_SIX = np.uint64(63)


@kernel
def bitmap(limit: int) -> Bits:
    """Return an empty set of numbers in [0, limit). Cost: O(limit / 64), to write zeros."""
    words = (limit >> 6) + 1
    return np.zeros(words, np.uint64), np.zeros((words >> 6) + 1, np.uint64)


@kernel
def mark(bits: Bits, number: int) -> None:
    """Put ``number`` into the set."""
    n = np.uint64(number)
    word = n >> _SIX
    bits[0][word] |= _ONE << (n & _LOW_SIX)
    bits[1][word >> _SIX] |= _ONE << (word & _LOW_SIX)


@kernel
def listed(bits: Bits) -> tuple[U32, U32]:
    """Return the numbers of the set, ascending, and how many stand before each word that has any.

    Cost: O(limit / 4096 + numbers).
    """
    words, groups = bits
    before = np.empty(words.shape[0], np.uint32)
    count = 0
    for g in range(groups.shape[0]):
        group = groups[g]
        while group != 0:
            w = np.uint64((g << 6) + lowest(group))
            group &= group - _ONE
            before[w] = count
            count += count_bits(words[w])
    numbers = np.empty(count, np.uint32)
    n = np.uint64(0)
    for g in range(groups.shape[0]):
        group = groups[g]
        while group != 0:
            w = np.uint64((g << 6) + lowest(group))
            group &= group - _ONE
            word = words[w]
            first = np.uint32(w << _SIX)
            while word != 0:
                numbers[n] = first + np.uint32(lowest(word))
                word &= word - _ONE
                n += _ONE
    return numbers, before


@kernel
def place_of(bits: Bits, before: U32, number: int) -> int:
    """Return where ``number``, which is in the set, stands in its list."""
    n = np.uint64(number)
    word = n >> _SIX
    below = (_ONE << (n & _LOW_SIX)) - _ONE
    return int(before[word]) + count_bits(bits[0][word] & below)
