"""Vectors: their similarities to a query, and their codes of four and of eight bits.

Vectors are float16, given as their bit patterns (``vectors.view(np.uint16)``), C-contiguous, of a
width D that is a multiple of 8, and finite. Their norm is about 1, but nothing here relies on it.
"""

from typing import TypeAlias

import numpy as np

from recollex_kernels.machine.jit import F32, I8, U8, U16, U32, U64, kernel
from recollex_kernels.vectors._four_bits import encode_row
from recollex_kernels.vectors.similarity import decode_row, similarity

FourBits: TypeAlias = tuple[U8, F32, F32, F32]
"""Rows in four bits a component, from `encode`: codes uint8[N, D / 2]; steps, norms, losses
float32[N]."""

Estimated: TypeAlias = tuple[U8, F32]
"""The first two of `FourBits`, which estimate a similarity without a bound: codes, steps."""

OneBit: TypeAlias = tuple[U64, F32]
"""Rows in one bit a component, from `cascade.encode_signs`: bits uint64[N, ceil(D / 64)], factors
float32[N]."""


@kernel
def cosines(vectors: U16, rows: U32, query: F32, out: F32) -> None:
    """Set ``out[i]`` to the similarity of row ``rows[i]`` and the query.

    Equation: the one at the top of `similarity`; a cosine if both norms are 1.

    Shapes, for N vectors of width D, n rows:
        vectors  uint16[N, D]  float16 bit patterns
        rows     uint32[n]     in [0, N), in any order, may repeat
        query    float32[D]
        out      float32[n]

    Cost: O(n D), about 14 ns a row of 384 in cache. Inputs may be read-only maps.
    """
    for i in range(rows.shape[0]):
        out[i] = similarity(vectors, rows[i], query)


@kernel
def encode(vectors: U16, out_codes: U8, out_steps: F32, out_norms: F32, out_losses: F32) -> None:
    """Approximate each row by four bits a component, and bound what that loses (see `_four_bits`).

    Shapes, for n rows of width D:
        vectors     uint16[n, D]    float16 bit patterns, finite
        out_codes   uint8[n, D / 2]
        out_steps, out_norms, out_losses  float32[n]

    Cost: O(n D), 2 us a row of 384.
    """
    row = np.empty(vectors.shape[1], np.float32)
    for i in range(vectors.shape[0]):
        decode_row(vectors, i, row)
        step, norm, loss = encode_row(row, out_codes[i])
        out_steps[i] = step
        out_norms[i] = norm
        out_losses[i] = loss


@kernel
def eight_bits(vectors: U16, out: I8) -> None:
    """Set each row to its direction in eight bits: round(127 v / max |v|), 0 for a row of zeros.

    Shapes: vectors uint16[n, D], float16 bit patterns, finite; out int8[n, D].

    Cost: O(n D).
    """
    width = vectors.shape[1]
    row = np.empty(width, np.float32)
    for i in range(vectors.shape[0]):
        decode_row(vectors, i, row)
        largest = np.float32(0)
        for j in range(width):
            largest = max(largest, abs(row[j]))
        scale = np.float32(largest / np.float32(127))
        for j in range(width):
            code = 0.0
            if scale > 0:
                code = min(127.0, max(-127.0, np.rint(np.float64(row[j]) / np.float64(scale))))
            out[i, j] = np.int8(code)
