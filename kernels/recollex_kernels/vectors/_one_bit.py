"""What one bit a component says about a similarity: 48 bytes of a row of 384.

A row is turned (`turn`), and the sign of each component kept: b in {-1, 1}. The turn is orthogonal
and mixes all components, so the signs carry about as much of every component of any vector.
With v and q turned, the estimate (Gao and Long, RaBitQ, SIGMOD 2024, section 3.2) is
    <v, q>  ~  <b, q> |v|^2 / <b, v>
whose error does not depend on the direction of v; for vectors of length 1 and D = 384 its standard
deviation is 0.038. Of q whole numbers are used, see `_query_levels`, which makes it 0.045.

A row of width D is W = ceil(D / 64) words of 64 bits: bit j of word i is set where component
64 i + j is not negative.
"""

import numpy as np

from recollex_kernels.machine.jit import F32, U64, kernel
from recollex_kernels.vectors._hadamard import transform

_ROUNDS = 4


@kernel
def turn(row: F32, out: F32) -> None:
    """Fill ``out`` with the row, turned: the same for every row of a width, on every processor.

    Rounds of flipping signs and a Walsh-Hadamard transform, alternately of the first and the last P
    components, P the greatest power of two up to D.

    Shapes: row, out float32[D]. Cost: O(D log D), 0.6 us for 384.
    """
    width = row.shape[0]
    size = 1
    while 2 * size <= width:
        size *= 2
    scale = np.float32(1 / np.sqrt(np.float64(size)))
    out[:] = row
    bits = out.view(np.uint32)
    state = np.uint64(0x9E3779B97F4A7C15)
    for turned in range(_ROUNDS):
        for low in range(0, width, 64):  # splitmix64
            state += np.uint64(0x9E3779B97F4A7C15)
            word = state
            word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            word = word ^ (word >> np.uint64(31))
            for j in range(min(64, width - low)):
                sign = (word >> np.uint64(j)) & np.uint64(1)
                bits[np.uint64(low + j)] ^= np.uint32(sign) << np.uint32(31)
        transform(out, 0 if turned % 2 == 0 else width - size, size, scale)


@kernel
def encode_bits(turned: F32, out: U64) -> float:
    """Fill the words of a turned row, and return its factor |v|^2 / <b, v>, 0 for a row of zeros.

    Shapes: turned float32[D], out uint64[W]. Cost: O(D).
    """
    square = 0.0
    along = 0.0
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
