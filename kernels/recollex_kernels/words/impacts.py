"""How much may one posting add to a score? Its impact, graded to a code of one byte.

What a posting adds depends on its count, on the length of its document, and on the mean length,
which differs between views. So the pairs (count, length) of a segment are graded into at most 255
codes; the least and the most that a code adds is known for any mean length, idf, k1 and b. In
short texts every pair has its own code.
"""

import numpy as np

from recollex_kernels.machine.jit import F32, I64, U8, U32, kernel

# What do the codes of postings add, under one mean length? See ``impacts``.
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


_EXACT = 256  # lengths below have a class each, above 16 an octave
_LENGTHS = _EXACT + 24 * 16
# counts from 12 on share classes
_COUNTS = 16
_WIDE = 12
_FIRST_COUNTS = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 32, 64, 256], np.int64)


@kernel
def _length_class(length: int) -> int:
    if length < _EXACT:
        return length
    octave = 8
    while length >> (octave + 1):
        octave += 1
    return _EXACT + (octave - 8) * 16 + ((length >> (octave - 4)) & 15)


@kernel
def _adds(count: float, length: float, fixed: float, per_word: float) -> float:
    """Return what a posting adds for each unit of idf."""
    return count / (count + fixed + per_word * length)


@kernel
def grade_postings(
    starts: I64, documents: U32, counts: U8, lengths: U32, first: int, end: int, k1: float, b: float
) -> tuple[U8, U32, U32, U8, U8]:
    """Return the postings' codes, what each code stands for, and what is kept of frequent terms.

    Codes begin at 1. A greater code adds more, under the mean length of the documents, ``k1`` and
    ``b``. A code stands for one count, except great ones, and for consecutive lengths that add
    about the same; for one length if there are codes enough.

    Shapes, for V terms, P postings, documents [first, end), D terms of more than
    (end - first) / `DENSE` postings:
        starts, documents, counts  int64[V+1], uint32[P], uint8[P]  as build_postings returns them
        lengths   uint32[end - first]
    Returned:
        codes     uint8[P]
        limits    uint32[4 * 256]  of each code the greatest count, then the least length, the least
                  count, the greatest length; zeros for an unused code
        dense     uint32[D]        ascending
        greatest  uint8[D]         the greatest code of each
        columns   uint8[D * (end - first)]

    Cost: O(P), some 5 ns each.
    """
    size = end - first
    total = 0.0
    classes = np.empty(size, np.uint16)
    rank = np.empty(256, np.uint8)
    for d in range(size):
        total += lengths[d]
        classes[d] = _length_class(int(lengths[d]))
    for count in range(256):
        rank[count] = np.searchsorted(_FIRST_COUNTS, count, "right") - 1
    per_word = k1 * b * size / total if total > 0 else 0.0
    # of each cell the greatest count, the least length, the least count, the greatest length
    cells = np.zeros((_COUNTS, _LENGTHS, 4), np.uint32)
    for p in range(documents.shape[0]):
        at = np.int64(documents[p]) - first
        f = np.uint32(counts[p])
        cell = cells[rank[f], classes[at]]
        length = lengths[at]
        if cell[0] == 0:
            cell[0] = f
            cell[1] = length
            cell[2] = f
            cell[3] = length
        elif rank[f] >= _WIDE or classes[at] >= _EXACT:
            cell[0], cell[1] = max(cell[0], f), min(cell[1], length)
            cell[2], cell[3] = min(cell[2], f), max(cell[3], length)
    graded, limits = _grade(cells, k1 * (1 - b), per_word)
    codes = np.empty(documents.shape[0], np.uint8)
    for p in range(documents.shape[0]):
        codes[p] = graded[rank[counts[p]], classes[np.int64(documents[p]) - first]]
    dense = np.flatnonzero((starts[1:] - starts[:-1]) * DENSE > size)
    greatest = np.zeros(dense.shape[0], np.uint8)
    columns = np.zeros(dense.shape[0] * size, np.uint8)
    for i in range(dense.shape[0]):
        for p in range(starts[dense[i]], starts[dense[i] + 1]):
            columns[i * size + np.int64(documents[p]) - first] = codes[p]
            greatest[i] = max(greatest[i], codes[p])
    return codes, limits, dense.astype(np.uint32), greatest, columns


@kernel
def _grade(cells: U32, fixed: float, per_word: float) -> tuple[U8, U32]:
    """Return the code of every cell that is met, and the limits of the codes."""
    group = np.zeros((_COUNTS, _LENGTHS), np.int64)
    # how far what a group adds lies apart, as a share
    groups = 256
    apart = 0.0
    value = np.zeros(_COUNTS * _LENGTHS, np.float64)
    while groups > 255:
        groups = 0
        for count in range(1, _COUNTS):
            least = 0.0
            for number in range(_LENGTHS):
                cell = cells[count, number]
                if cell[0] == 0:
                    continue
                added = _adds(float(cell[0]), float(cell[1]), fixed, per_word)
                if least == 0 or least > added * (1 + apart):  # it falls as the length grows
                    value[groups] = least = added
                    groups += 1
                group[count, number] = groups - 1
        apart = 2 * apart if apart > 0 else 1 / 256
    order = np.argsort(value[:groups])
    code = np.empty(groups, np.uint8)
    for i in range(groups):
        code[order[i]] = i + 1
    graded = np.zeros((_COUNTS, _LENGTHS), np.uint8)
    limits = np.zeros((4, 256), np.uint32)
    for count in range(1, _COUNTS):
        for number in range(_LENGTHS):
            cell = cells[count, number]
            if cell[0] == 0:
                continue
            graded[count, number] = code[group[count, number]]
            limit = limits[:, code[group[count, number]]]
            if limit[0] == 0:
                limit[:] = cell
            limit[0], limit[1] = max(limit[0], cell[0]), min(limit[1], cell[1])
            limit[2], limit[3] = min(limit[2], cell[2]), max(limit[3], cell[3])
    return graded, limits.ravel()
