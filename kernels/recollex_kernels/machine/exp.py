"""The exponential function of numbers below zero, the same on every processor."""

import numpy as np

from recollex_kernels.machine.jit import F64, I64, kernel

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490  # its last 32 bits are 0: n * _LN2_HIGH is exact
_LN2_LOW = 1.90821492927058770002e-10
_LEAST = -708.0  # exp of it is the last normal number of its size


@kernel
def exp(x: F64, scratch: I64, out: F64) -> None:
    """Set ``out[i]`` to e to the power ``x[i]``, for x <= 0, in vector code.

    Equation, with n the whole number nearest to x / ln 2 and r = x - n ln 2, |r| <= 0.3466:
        exp(x) = 2^n * (1 + r + r^2 / 2! + ... + r^12 / 12!)

    Relative error: below 4e-16 for x in [-708, 0] (2e-16 is cut off, the rest is rounding).
    Below -708 the result is exp(-708) = 3.3e-308, which adds nothing to any sum that matters.

    Shapes: three arrays of one length, apart in memory; ``scratch`` is overwritten.
    """
    for i in range(x.shape[0]):
        v = max(x[i], _LEAST)
        n = np.floor(v * _LOG2_E + 0.5)
        r = (v - n * _LN2_HIGH) - n * _LN2_LOW
        p = 1 / 479001600.0
        p = p * r + 1 / 39916800.0
        p = p * r + 1 / 3628800.0
        p = p * r + 1 / 362880.0
        p = p * r + 1 / 40320.0
        p = p * r + 1 / 5040.0
        p = p * r + 1 / 720.0
        p = p * r + 1 / 120.0
        p = p * r + 1 / 24.0
        p = p * r + 1 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        out[i] = p * r + 1.0
        scratch[i] = (np.int64(n) + 1023) << 52
    scales = scratch.view(np.float64)
    for i in range(x.shape[0]):
        out[i] *= scales[i]
