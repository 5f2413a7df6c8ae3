"""What int8 codes of rows and int16 codes of a query say about a similarity, with certainty.

With v ~ s c a row and its codes, q ~ t d a query and its codes, r and e the norms of what the
codes lose, the similarity in float32 (see ``_float16``) is at most
    s t c.d + e |s c| + r |q| + g |q| (|s c| + r) + tiny,     |s c| <= 127 s sqrt(D),
where g bounds float32's rounding over the longest chain of sums and ``tiny`` its underflow.
"""

import numpy as np

from recollex_kernels._jit import F32, I8, I16, kernel

_ROUNDING = 2.0**-23  # twice float32's unit roundoff
_TINY = 1e-30  # times the least scale above 0, 4e-10, more than D products lose by underflow
_SLACK = 1.000001  # above what float64 loses here
_MOST = 32000  # the largest code of a query
_SUM_MOST = 2**31 - 1


@kernel
def code_dot(codes: I8, query: I16) -> np.int32:
    """Return the dot product of one row's codes and a query's codes, exactly."""
    total = np.int32(0)
    for j in range(codes.shape[0]):
        # int32 throughout: numba widens sums to int64, which halves the speed
        total = np.int32(total + np.int32(codes[j]) * np.int32(query[j]))
    return total


@kernel
def encode_query(query: F32, out_codes: I16) -> tuple[float, float, float]:
    """Return ``step``, ``per_scale`` and ``per_residual``, and fill the query's codes.

    Whatever the row, its similarity to the query is at most
        scale * (step * code_dot(codes, out_codes) + per_scale) + residual * per_residual

    Shapes: query float32[D], finite; out_codes int16[D], small enough that no ``code_dot``
    overflows int32.

    Cost: O(D).
    """
    width = query.shape[0]
    most = min(_MOST, _SUM_MOST // (127 * width))
    largest = np.float32(0)
    for j in range(width):
        largest = max(largest, abs(query[j]))
    step = np.float64(largest) / most
    lost = 0.0
    norm = 0.0
    for j in range(width):
        q = np.float64(query[j])
        code = 0.0
        if step > 0:
            code = min(np.float64(most), max(-np.float64(most), np.rint(q / step)))
        out_codes[j] = np.int16(code)
        lost += (q - step * code) ** 2
        norm += q * q
    lost = np.sqrt(lost) * _SLACK + step * 1e-6
    norm = np.sqrt(norm) * _SLACK
    rounding = (width / 32 + 16) * _ROUNDING
    per_scale = (lost + rounding * norm) * 127.0 * np.sqrt(np.float64(width)) * _SLACK
    return step, per_scale + _TINY, norm * (1.0 + rounding)
