"""Which of many sums reach the k-th best? Sums are whole numbers of 16 bits, 64 at a step."""

import numpy as np

from recollex_kernels._above import count_bits, lowest
from recollex_kernels._jit import U16, U32, kernel
from recollex_kernels._lanes import LANES, reaching

_SAMPLE = 4096  # sums that are looked at for a guess
_STEP = 128  # a guess is a multiple of it


@kernel
def reached_by(values: U16, n: int, k: int) -> int:
    """Return the greatest number that ``k`` of the first ``n`` values reach; 0 if they are fewer.

    Values up to the next multiple of 64 are set to 0, so there must be room for them.

    Cost: n / 64 steps for each of 16 bits.
    """
    end = (n + LANES - 1) & ~(LANES - 1)
    values[n:end] = 0
    low, high = 0, 1 << 16
    while high - low > 1:
        middle, count = (low + high) >> 1, 0
        for place in range(0, end, LANES):
            count += count_bits(reaching(values, place, np.uint16(middle)))
        if count >= k:
            low = middle
        else:
            high = middle
    return low


@kernel
def likely(sums: U16, size: int, k: int) -> int:
    """Return a number that about ``k`` of the first ``size`` sums reach, rather more than fewer.

    It is read off every n-th 64 sums, so nothing follows from it. Sums behind ``size`` are 0.

    Cost: 1 us.
    """
    blocks = (size + LANES - 1) // LANES
    apart = max(1, size // _SAMPLE)
    looked_at = (blocks + apart - 1) // apart
    wanted = k if apart == 1 else 2 + 3 * k * looked_at // (2 * blocks)
    low, high = 0, (1 << 16) // _STEP
    while high - low > 1:
        middle, count = (low + high) >> 1, 0
        for place in range(0, size, apart * LANES):
            count += count_bits(reaching(sums, place, np.uint16(middle * _STEP)))
        if count >= wanted:
            low = middle
        else:
            high = middle
    return low * _STEP


@kernel
def roughly(sums: U16, size: int, least: int) -> int:
    """Return about how many of the first ``size`` sums are at least ``least``, by a sample."""
    apart, count = max(1, size // _SAMPLE), 0
    for place in range(0, size, apart * LANES):
        count += count_bits(reaching(sums, place, np.uint16(least)))
    return count * apart


@kernel
def places_reaching(
    sums: U16, size: int, least: int, scratch_blocks: U32, start: int, out: U32
) -> int:
    """Set ``out`` from ``start`` on to the places whose sum is at least ``least``; return the end.

    Shapes: sums uint16[>= size, to the next 64], below ``least`` behind size; scratch_blocks
    uint32[> size / 64]; out uint32 has room for 4 more than there are.

    Cost: 0.02 ns a sum, 2 ns a place.
    """
    limit, blocks, end = np.uint16(least), 0, start
    for place in range(0, size, LANES):  # without a branch, which would be guessed wrong too often
        scratch_blocks[blocks] = place
        blocks += int(reaching(sums, place, limit) != 0)
    for block in scratch_blocks[:blocks]:
        bits = reaching(sums, np.int64(block), limit)
        count = count_bits(bits)
        for i in range(4):  # most have no more; what is written too much is written over
            out[end + i] = np.int64(block) + lowest(bits)
            bits &= bits - np.uint64(1)
        for i in range(4, count):
            out[end + i] = np.int64(block) + lowest(bits)
            bits &= bits - np.uint64(1)
        end += count
    return end


@kernel
def keep_reaching(least: int, start: int, n: int, out: U32, out_sums: U16) -> int:
    """Drop those of [start, n) whose sum is below ``least``; return how many there are now."""
    kept = start
    for i in range(start, n):
        out[kept], out_sums[kept] = out[i], out_sums[i]
        kept += int(out_sums[i] >= least)
    return kept
