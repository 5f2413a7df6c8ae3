"""Which terms are spelled like a word? Those that share most of its trigrams.

The trigrams of a word are the runs of three letters in it, with a begin before its first letter and
an end after its last: "tea" has (begin, t, e), (t, e, a) and (e, a, end). Each counts once.

Equation (Dice 1945), A and B the trigrams of two words:
    likeness = 2 |A & B| / (|A| + |B|)

Terms are bytes of UTF-8, one term after another (see `storage.dictionary`). A term with a digit, or
with fewer than `SHORTEST` or more than `LONGEST` letters, is like no word.

A term's mark, uint64, decides for most terms that they are not alike: its upper 6 bits are
the number of trigrams, 0 for a term that is like no word; of the lower 58 bits, one is set for each
trigram, by a hash.
"""

import numpy as np

from recollex_kernels.machine.bit_masks import count_bits
from recollex_kernels.machine.jit import F32, I64, U8, U32, U64, kernel

SHORTEST = 4
LONGEST = 40
"""Letters of the words that are compared."""
# no letters
_BEGIN = np.uint64(1)
_END = np.uint64(2)
_PLACES = np.uint64(58)
_BITS = np.uint64((1 << 58) - 1)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # Knuth's multiplicative hash


@kernel
def trigrams(text: U8, first: int, end: int, out: U64) -> int:
    """Set the trigrams of the term ``text[first:end]``, each once; return how many.

    0 if the term is like no word. Bytes that are no UTF-8 give some trigrams.

    Shapes: text uint8[]; out uint64[>= LONGEST], three code points of 21 bits each.
    """
    letters = 0
    n = 0
    i = first
    before = np.uint64(0)
    last = _BEGIN
    while True:
        letter = _END
        if i < end:
            lead = text[i]
            if 0x30 <= lead <= 0x39 or letters == LONGEST:
                return 0
            more = 0 if lead < 0xC0 else 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
            letter = np.uint64(lead) if more == 0 else np.uint64(lead & (0x3F >> more))
            for j in range(i + 1, min(i + 1 + more, end)):
                letter = (letter << np.uint64(6)) | np.uint64(text[j] & 0x3F)
            i += 1 + more
            letters += 1
        if letters > 1 or letter == _END:
            gram = (before << np.uint64(42)) | (last << np.uint64(21)) | letter
            new = True
            for j in range(n):
                new &= out[j] != gram
            if new:
                out[n] = gram
                n += 1
        if letter == _END:
            return n if letters >= SHORTEST else 0
        before = last
        last = letter


@kernel
def _mark(grams: U64, n: int) -> np.uint64:
    """Return the mark of a term with ``n`` trigrams."""
    mark = np.uint64(n) << _PLACES
    for j in range(n):
        place = (((grams[j] * _FACTOR) >> np.uint64(32)) * _PLACES) >> np.uint64(32)
        mark |= np.uint64(1) << place
    return mark


@kernel
def marks(text: U8, ends: I64, first: int, out: U64) -> None:
    """Set the marks of the terms from ``first`` on.

    Shapes, for V terms: text uint8[], ends int64[V]; out uint64[>= V], changed from ``first`` on.

    Cost: 100 ns for a term of eight letters.
    """
    grams = np.empty(LONGEST, np.uint64)
    for term in range(first, ends.shape[0]):
        start = ends[term - 1] if term > 0 else 0
        out[term] = _mark(grams, trigrams(text, start, ends[term], grams))


@kernel
def spelled_like(
    text: U8, ends: I64, of_terms: U64, word: U8, least: float, out_terms: U32, out_likeness: F32
) -> int:
    """Set the terms with a likeness of at least ``least``, ascending; return how many.

    There are no more than fit: the first ones. So the answer for fewer terms is a part of the
    answer for more.

    Shapes, for V terms:
        text, ends       uint8[], int64[>= V]
        of_terms         uint64[V]   their marks
        word             uint8[]     in UTF-8
        least            above 0
        out_terms, out_likeness   uint32[k], float32[k]

    Cost: 1 ns for each term, and 100 ns for each that its mark does not exclude.
    """
    own = np.empty(LONGEST, np.uint64)
    other = np.empty(LONGEST, np.uint64)
    a = trigrams(word, 0, word.shape[0], own)
    if a == 0:
        return 0
    bits = _mark(own, a) & _BITS
    # trigrams that share a bit with another
    hidden = a - count_bits(bits)
    found = 0
    for term in range(of_terms.shape[0]):
        b = int(of_terms[term] >> _PLACES)
        if b == 0 or 2.0 * (count_bits(of_terms[term] & bits) + hidden) / (a + b) < least:
            continue
        if found == out_terms.shape[0]:
            break
        common = 0
        trigrams(text, ends[term - 1] if term > 0 else 0, ends[term], other)
        for j in range(b):
            for k in range(a):
                common += int(other[j] == own[k])
        if 2.0 * common / (a + b) >= least:
            out_terms[found] = term
            out_likeness[found] = 2.0 * common / (a + b)
            found += 1
    return found
