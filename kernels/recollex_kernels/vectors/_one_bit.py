"""What one bit a component says about a similarity: an estimate from 48 bytes of a row of 384.

A row is turned (`turn`), and the sign of each component kept: b in {-1, 1}. The turn is orthogonal
and mixes all components, so the signs carry about as much of every component of any vector.
With v and q turned, the estimate (Gao and Long, RaBitQ, SIGMOD 2024, section 3.2) is
    <v, q>  ~  <b, q> |v|^2 / <b, v>
whose error does not depend on the direction of v; for vectors of length 1 and D = 384 its standard
deviation is .038. Of q, three bits a component are used, d in -4..3 and q ~ t d, which makes it
.040; a fourth bit took a third longer and gained as much as 64 more proposed rows.
With S the sum of d where b = 1, <b, q> = t (2 S - sum d): whole numbers, so every processor agrees.
As t is the same for all rows, what is compared is (2 S - sum d) |v|^2 / <b, v>.

A row of width D is W = ceil(D / 64) words of 64 bits: bit j of word i is set where component
64 i + j is not negative. The planes of a query are words too: bit p of each d, in two's complement.
"""

from typing import Any

import numpy as np
from llvmlite import ir

from recollex_kernels.machine.jit import F32, U64, kernel
from recollex_kernels.vectors._row_sums import MIXED, TOGETHER, WORD, lanes_of, row_sums, set_bits

_SHORT = ir.IntType(16)
_ROUNDS = 4
_WIDEST = 4.5  # steps in a query's largest component: clipping these few helps the rest
PLANES = 3
"""Bits of a query's components."""


@kernel
def turn(row: F32, out: F32, spare: F32) -> None:
    """Fill ``out`` with the row, turned: the same for every row of a width, on every processor.

    Rounds of flipping signs and a Walsh-Hadamard transform, alternately of the first and the last P
    components, P the greatest power of two up to D.

    Shapes: row, out, spare float32[D]. Cost: O(D log D), 1 us for 384.
    """
    width = row.shape[0]
    size = 1
    while 2 * size <= width:
        size *= 2
    half = size // 2
    scale = np.float32(1 / np.sqrt(np.float64(size)))
    for j in range(width):
        out[j] = row[j]
    state = np.uint64(0x9E3779B97F4A7C15)
    for turned in range(_ROUNDS):
        for j in range(width):
            if j % 64 == 0:  # splitmix64
                state += np.uint64(0x9E3779B97F4A7C15)
                word = state
                word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                word = word ^ (word >> np.uint64(31))
            if (word >> np.uint64(j % 64)) & np.uint64(1):
                out[j] = -out[j]
        part = out[:size] if turned % 2 == 0 else out[width - size :]
        other = spare[:size]
        span = 1
        while (
            span < size
        ):  # neighbours-to-be are half the length apart, and come to stand side by side
            for j in range(half):
                x, y = part[j], part[j + half]
                other[2 * j] = x + y
                other[2 * j + 1] = x - y
            part, other = other, part
            span *= 2
        ends = out[:size] if turned % 2 == 0 else out[width - size :]
        for j in range(size):
            ends[j] = part[j] * scale


@kernel
def encode_bits(turned: F32, out: U64) -> float:
    """Fill the words of a turned row, and return its factor |v|^2 / <b, v>, 0 for a row of zeros.

    Shapes: turned float32[D], out uint64[W]. Cost: O(D).
    """
    square, along = 0.0, 0.0
    for i in range(out.shape[0]):
        word = np.uint64(0)
        for j in range(64 * i, min(64 * i + 64, turned.shape[0])):
            v = np.float64(turned[j])
            square += v * v
            along += abs(v)
            if v >= 0:
                word |= np.uint64(1) << np.uint64(j - 64 * i)
        out[i] = word
    return square / along if along > 0 else 0.0


@kernel
def _step(turned: F32) -> float:
    largest = np.float32(0)
    for j in range(turned.shape[0]):
        largest = max(largest, abs(turned[j]))
    return np.float64(largest) / _WIDEST


@kernel
def _digit(value: np.float32, step: float) -> int:
    """Return d: a component in whole steps, in the range that `PLANES` bits can hold."""
    if step == 0:
        return 0
    half = 1 << (PLANES - 1)
    return int(min(half - 1.0, max(-1.0 * half, np.rint(np.float64(value) / step))))


@kernel
def scale_of(turned: F32) -> float:
    """Return t = |q|^2 / <q, d> of a turned query: an estimate times it is a similarity.

    It is 0 for a query of zeros. Cost: O(D).
    """
    step = _step(turned)
    square, along = 0.0, 0.0
    for j in range(turned.shape[0]):
        q = np.float64(turned[j])
        square += q * q
        along += q * _digit(turned[j], step)
    return square / along if along > 0 else 0.0


@kernel
def encode_planes(turned: F32, out_planes: U64) -> int:
    """Fill the planes of a turned query and return the sum of its d.

    They are repeated as the words of rows are: ``out_planes[p, j]`` is word j mod W of plane p.

    Shapes: turned float32[D]; out_planes uint64[PLANES, TOGETHER * W]. Cost: O(D).
    """
    words = out_planes.shape[1] // TOGETHER
    step = _step(turned)
    total = 0
    out_planes[:, :] = np.uint64(0)
    for j in range(turned.shape[0]):
        d = _digit(turned[j], step)
        total += d
        for p in range(PLANES):
            out_planes[p, j // 64] |= np.uint64((d >> p) & 1) << np.uint64(j % 64)
    for j in range(words, out_planes.shape[1]):
        for p in range(PLANES):
            out_planes[p, j] = out_planes[p, j - words]
    return total


def _counted(b: Any, word: Any, planes: list[Any]) -> Any:
    """Return the sums of d over the set bits of each word: Horner's rule over the planes."""
    total = b.neg(set_bits(b, b.and_(word, planes[-1])))
    for plane in reversed(planes[:-1]):
        total = b.add(b.add(total, total), set_bits(b, b.and_(word, plane)))
    return total


def _shuffled(b: Any, x: Any, y: Any, lanes: list[int]) -> Any:
    return b.shuffle_vector(x, y, ir.Constant(lanes_of(WORD, len(lanes)), lanes))


def _joined(b: Any, parts: list[Any], n: int) -> Any:
    """Return two, or four, vectors of ``n`` lanes as one."""
    while len(parts) > 1:
        parts = [
            _shuffled(b, parts[i], parts[i + 1], list(range(2 * n)))
            for i in range(0, len(parts), 2)
        ]
        n *= 2
    return parts[0]


def _summed(b: Any, counts: list[Any]) -> Any:
    """Return the sums of rows from what was counted in their words, in 16 bits each."""
    shorts = [b.trunc(count, lanes_of(_SHORT, TOGETHER)) for count in counts]
    low = _joined(b, shorts[:4], TOGETHER)
    high = _joined(b, [*shorts[4:], *shorts[4:]], TOGETHER)
    sums = _shuffled(b, low, high, [MIXED * row for row in range(TOGETHER)])
    for i in range(1, MIXED):
        sums = b.add(sums, _shuffled(b, low, high, [MIXED * row + i for row in range(TOGETHER)]))
    return b.sext(sums, lanes_of(WORD, TOGETHER))


plane_sums = row_sums(PLANES, _counted, _summed)
"""Writes S of ``groups`` times `TOGETHER` rows, from ``first`` on, to the front of ``out``."""
