"""What do the codes of postings add, under one mean length? See ``impacts``."""

import numpy as np

from recollex_kernels.machine.jit import F32, U32, kernel

DENSE = 16
"""A term in more than 1 / 16 of the documents has a column: the code of every document, or 0."""
_UNSURE = np.float32(-np.inf)


@kernel
def code_bounds(limits: U32, fixed: np.float32, per_word: np.float32, out: F32) -> float:
    """Set what a posting of each code adds at most for each unit of idf.

    Return the greatest ratio of what one code adds at most to what it adds at least.

    Equation: that of `chains.add_chains`, f / (f + (fixed + per_word * length)), in float32.

    Shapes: limits uint32[4 * 256] from `impacts.grade_postings`; out float32[256].
    """
    counts = limits[:256]
    shortest = limits[256:512]
    fewest = limits[512:768]
    longest = limits[768:]
    several = np.int32(0)
    for code in range(256):
        f = np.float32(counts[code])
        out[code] = f / (f + (fixed + per_word * np.float32(shortest[code])))
        alike = (counts[code] == fewest[code]) & (shortest[code] == longest[code])
        several += np.int32(not alike)
    ratio = 1.0
    if several > 0:
        for code in range(256):
            if counts[code] != fewest[code] or shortest[code] != longest[code]:
                f = np.float32(fewest[code])
                least = f / (f + (fixed + per_word * np.float32(longest[code])))
                ratio = max(ratio, float(out[code]) / float(least))
    return ratio


@kernel
def code_counts(limits: U32, out: F32) -> None:
    """Set the count that each code stands for, 0 of no posting; -1 where it stands for several.

    Shapes: as for `code_bounds`.
    """
    for code in range(256):
        one = limits[code] == limits[512 + code]
        out[code] = np.float32(limits[code]) if one else np.float32(-1)


@kernel
def code_values(limits: U32, fixed: np.float32, per_word: np.float32, out: F32) -> None:
    """Set what a posting of each code adds for each unit of idf: -inf where it stands for several.

    So a sum that contains such a code can be recognised. Equation and shapes: as for `code_bounds`.
    """
    for code in range(256):
        f = np.float32(limits[code])
        length = np.float32(limits[256 + code])
        one = (limits[code] == limits[512 + code]) & (limits[256 + code] == limits[768 + code])
        out[code] = f / (f + (fixed + per_word * length)) if one else _UNSURE
