"""What do the codes of postings add, under one mean length? See ``impacts``."""

import numpy as np

from recollex_kernels._jit import F32, U32, kernel

DENSE = 16
"""A term in more than 1 / 16 of the documents has a column: the code of every document, or 0."""
_UNSURE = np.float32(-np.inf)


@kernel
def code_values(
    limits: U32, fixed: np.float32, per_word: np.float32, out: F32, out_most: F32
) -> float:
    """Set what a posting of each code adds for each unit of idf, and what it adds at most.

    Returned is the greatest ratio of what one code adds at most to what it adds at least.

    Equation: that of `_bm25.add_chains`, f / (f + (fixed + per_word * length)), in float32.

    Shapes: limits uint32[4 * 256] from `impacts.grade_postings`; out, out_most float32[256]. A code
    that stands for several pairs adds -inf in ``out``, so that a sum with one is told from others.
    """
    counts, shortest = limits[:256], limits[256:512]
    fewest, longest = limits[512:768], limits[768:]
    several = np.int32(0)
    for code in range(256):
        f = np.float32(counts[code])
        out_most[code] = f / (f + (fixed + per_word * np.float32(shortest[code])))
    for code in range(256):
        alike = (counts[code] == fewest[code]) & (shortest[code] == longest[code])
        out[code] = out_most[code] if alike else _UNSURE
        several += np.int32(not alike)
    ratio = 1.0
    if several > 0:
        for code in range(256):
            if out[code] == _UNSURE:
                f = np.float32(fewest[code])
                least = f / (f + (fixed + per_word * np.float32(longest[code])))
                ratio = max(ratio, float(out_most[code]) / float(least))
    return ratio
