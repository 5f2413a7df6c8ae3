"""Which of many sums reach the k-th best? Sums are whole numbers of 16 bits, 64 at a step."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from recollex_kernels.machine.bit_masks import count_bits, lowest
from recollex_kernels.machine.intrinsics import data_of, load, repeated
from recollex_kernels.machine.jit import U8, U16, U32, kernel

# Which of 64 neighbours reach a limit? As the bits of one number, by LLVM vector compares.
LANES = 64
_I64 = ir.IntType(64)


def _reaching_code(typing: Any, array: Any, place: Any, limit: Any) -> Any:
    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, b, signature.args[0], args[0])
        held = load(b, data, args[1], data.type.pointee, LANES, array.dtype.bitwidth // 8)
        return b.bitcast(b.icmp_unsigned(">=", held, repeated(b, args[2], LANES)), _I64)

    return types.uint64(array, types.int64, array.dtype), build


reaching = cast(Callable[[U8 | U16 | U32, Any, Any], Any], intrinsic(_reaching_code))
"""Bit i tells whether ``array[place + i] >= limit``; there must be 64 from ``place`` on."""


@kernel
def reached_by(values: U16, n: int, k: int) -> int:
    """Return the greatest number that ``k`` of the first ``n`` values reach; 0 if they are fewer.

    Values up to the next multiple of 64 are set to 0, so there must be room for them.

    Cost: n / 64 steps for each of 16 bits.
    """
    end = (n + LANES - 1) & ~(LANES - 1)
    values[n:end] = 0
    low = 0
    high = 1 << 16
    while high - low > 1:
        middle = (low + high) >> 1
        count = 0
        for place in range(0, end, LANES):
            count += count_bits(reaching(values, place, np.uint16(middle)))
        if count >= k:
            low = middle
        else:
            high = middle
    return low


@kernel
def reached_by_codes(codes: U8, first: int, end: int, k: int) -> int:
    """Return a code that ``k`` of ``codes[first:end]`` reach; 0 without one.

    The greatest is at most 3 above it; 0 is returned only if it is 0. Codes after the last whole 64
    are not looked at.

    Cost: (end - first) / 64 steps for each of 6 bits, of 8 where the greatest is below 4.
    """
    end = first + ((end - first) & ~(LANES - 1))
    low = 0
    high = 256
    while high - low > (4 if low > 0 else 1) and end - first >= k:
        middle = (low + high) >> 1
        count = 0
        for place in range(first, end, LANES):
            count += count_bits(reaching(codes, place, np.uint8(middle)))
        if count >= k:
            low = middle
        else:
            high = middle
    return low


@kernel
def count_reaching(sums: U16 | U32, size: int, least: int) -> int:
    """Return how many of the first ``size`` sums are at least ``least``; the rest are below.

    Shapes: sums [>= size, to the next 64].

    Cost: 0.02 ns a sum.
    """
    count = 0
    limit = sums.dtype.type(least)
    for place in range(0, size, LANES):
        count += count_bits(reaching(sums, place, limit))
    return count


@kernel
def take_reaching(
    sums: U16,
    size: int,
    least: int,
    first: int,
    allowed: U8,
    scratch_blocks: U32,
    start: int,
    out: U32,
    out_sums: U16,
) -> int:
    """Append the allowed documents whose sum is at least ``least``, and the sums; return the end.

    Document ``first + i`` has sums[i]. All sums are 0 then.

    Shapes: sums uint16[>= size, to the next 64], below ``least`` after size; scratch_blocks
    uint32[> size / 64]; out, out_sums have room for 4 more than there are.

    Cost: 0.02 ns a sum, 2 ns an appended one.
    """
    limit = np.uint16(least)
    blocks = np.uint64(0)
    end = np.uint64(start)
    for place in range(0, size, LANES):  # without a branch: it would be mispredicted too often
        scratch_blocks[blocks] = place
        blocks += np.uint64(reaching(sums, place, limit) != 0)
    for block in scratch_blocks[: np.int64(blocks)]:
        held = int(block)
        bits = reaching(sums, held, limit)
        place = first + held
        count = count_bits(bits)
        for i in range(4):  # most have no more; surplus entries are overwritten
            at = lowest(bits) & (LANES - 1)
            bits &= bits - np.uint64(1)
            out[end], out_sums[end] = place + at, sums[np.uint64(held + at)]
            end += np.uint64(int(i < count) & int(allowed[np.uint64(place + at)]))
        for _ in range(4, count):
            at = lowest(bits) & (LANES - 1)
            bits &= bits - np.uint64(1)
            out[end], out_sums[end] = place + at, sums[np.uint64(held + at)]
            end += np.uint64(allowed[np.uint64(place + at)])
    sums[:size] = 0
    return int(np.int64(end))


@kernel
def keep_reaching(least: int, start: int, n: int, out: U32, out_sums: U16) -> int:
    """Drop those of [start, n) whose sum is below ``least``; return how many there are now."""
    kept = np.uint64(start)
    limit = np.uint16(least)
    for i in range(start, n):
        held = out_sums[np.uint64(i)]
        out[kept] = out[np.uint64(i)]
        out_sums[kept] = held
        kept += np.uint64(held >= limit)
    return int(np.int64(kept))


@kernel
def all_allowed(least: int, start: int, n: int, out: U32, out_sums: U16, allowed: U8) -> bool:
    """Return whether all of [start, n) whose sums reach ``least`` are allowed; the rest are 0."""
    refused = np.uint8(0)
    for place in range(start & ~(LANES - 1), n, LANES):
        bits = reaching(out_sums, place, np.uint16(least))
        for _ in range(count_bits(bits)):
            refused |= np.uint8(1) ^ allowed[np.uint64(out[np.uint64(place + lowest(bits))])]
            bits &= bits - np.uint64(1)
    return int(refused) == 0


@kernel
def keep_allowed(start: int, n: int, out: U32, out_sums: U16, allowed: U8) -> int:
    """Drop those of [start, n) that are not allowed; return how many there are now."""
    kept = np.uint64(start)
    for i in range(start, n):
        d = out[np.uint64(i)]
        out[kept], out_sums[kept] = d, out_sums[np.uint64(i)]
        kept += np.uint64(allowed[np.uint64(d)])
    return int(np.int64(kept))
