"""Where is a long text cut into the passages that the arms index?

A passage is a run of whole sentences with about 100 words. Passages are short for two reasons: an
encoder reads no more than 256 word pieces, and a rare detail weighs more for BM25 in a short
passage than in a long text.
"""

import re

import numpy as np
import numpy.typing as npt

SLACK = 1.3
"""A text, or a sentence, of up to this many times the wanted words is left whole."""

_LONGEST_WORD = 16
"""A longer run without spaces counts as several words, so that every passage has a bound."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
)
_WIDE_STOP = "[\u3002\uff01\uff1f\uff61]+[\u300d\u300f\u201d\uff09]*"
_PIECE = re.compile(
    rf"(?:{_WIDE_STOP}|[{_UNSPACED}]{{1,4}}|[^\s{_UNSPACED}\u3002\uff01\uff1f\uff61]"
    rf"{{1,{_LONGEST_WORD}}}|\A)\s*"
)
_ENDING = np.frombuffer(".!?\u2026\"')]\u201d\u2019\u00bb".encode("utf-32-le"), np.uint32)
"""What a piece that ends a sentence ends with: few pieces do, and only they are searched."""
_STOP = re.compile(r"[.!?\u2026][\"')\]\u201d\u2019\u00bb]*\Z").search
_ABBREVIATION = re.compile(
    r"\W*(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|vs|cf|No|approx|e\.g|i\.e|[A-Z](?:\.[A-Z])*)\.\Z"
).match
_WIDE_STOPS = np.array([0x3002, 0xFF01, 0xFF1F, 0xFF61], np.uint32)


def _edges(ranges: str) -> npt.NDArray[np.uint32]:
    """Return the first code of each range of a character class, and the one after its last."""
    codes = [ord(letter) for letter in ranges.replace("-", "")]
    return np.array([code + place % 2 for place, code in enumerate(codes)], np.uint32)


_UNSPACED_EDGES = _edges(_UNSPACED)


def split(text: str, words: int = 100) -> list[tuple[int, int]]:
    """Return the character spans of the passages of `text`, in order.

    The spans are not empty, touch each other and cover the text; an empty text has no span. A text
    of up to `SLACK * words` words is one span. A longer text is cut after sentences (or lines) into
    passages of about equal size near `words`; no passage exceeds twice `words`. A sentence longer
    than `SLACK * words` is itself cut between words, and a run without spaces at any place. A
    character of a script written without spaces counts half a word, and so does a word of one
    character.

    Cost: linear; 0.2 us for a short text, about 1 us a word for a long one.

    >>> split("One two three. Four five six. Seven eight.", words=3)
    [(0, 15), (15, 30), (30, 42)]
    """
    longest = SLACK * words
    if not text:
        return []
    if len(text) <= 2 * longest:  # a text has at most half a word per character
        return [(0, len(text))]
    units = _units(text, words)
    left = sum(size for _, size in units)
    if left <= longest:
        return [(0, len(text))]

    wanted = left / max(2, round(left / words))
    starts = [0]
    held = 0.0
    held_end = 0
    for end, size in units:
        if held and (held + size / 2 > wanted or held + size > 1.5 * words):
            starts.append(held_end)
            left -= held
            wanted = left / max(1, round(left / words))
            held = 0.0
        held += size
        held_end = end
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def _units(text: str, words: int) -> list[tuple[int, float]]:
    """Return (end, words) of each sentence, or of each part of a sentence that is too long."""
    pieces = _PIECE.findall(text)
    bare = list(map(str.rstrip, pieces))
    whole = np.fromiter(map(len, pieces), np.int64, len(pieces))
    length = np.fromiter(map(len, bare), np.int64, len(bare))
    end = np.cumsum(whole)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    first = codes[end - whole]
    last = codes[end - whole + np.maximum(length, 1) - 1]
    spaced = whole > length
    stops = np.isin(first, _WIDE_STOPS)
    wide = stops | (np.searchsorted(_UNSPACED_EDGES, first, "right") % 2 == 1)
    so_far = np.cumsum(np.where(wide | (length <= 1), length / 2, 1.0))

    closes = stops.copy()
    for place in np.flatnonzero(spaced & ~stops & np.isin(last, _ENDING)).tolist():
        said = bare[place]
        closes[place] = _STOP(said) is not None and _ABBREVIATION(said) is None
    closes[np.searchsorted(end, np.flatnonzero(codes == ord("\n")), "right")] = True
    closes[-1] = True

    units: list[tuple[int, float]] = []
    closing = np.flatnonzero(closes)
    sizes = np.diff(so_far[closing], prepend=0.0)
    done = 0  # sentences
    for long in np.flatnonzero(sizes > SLACK * words).tolist():
        units += zip(end[closing[done:long]].tolist(), sizes[done:long].tolist(), strict=True)
        begin = closing[long - 1] + 1 if long else 0
        own = slice(begin, closing[long] + 1)
        before = so_far[closing[long]] - sizes[long]
        units += _parts(end[own], so_far[own] - before, (spaced | wide)[own], words)
        done = long + 1
    units += zip(end[closing[done:]].tolist(), sizes[done:].tolist(), strict=True)
    return units


def _parts(
    end: npt.NDArray[np.int64],
    so_far: npt.NDArray[np.float64],
    ends_word: npt.NDArray[np.bool_],
    words: int,
) -> list[tuple[int, float]]:
    """Return (end, words) of parts of about ``words`` words of a sentence that is too long.

    Of each piece of the sentence: where it ends, the words up to there, and whether a word ends.
    """
    size = float(so_far[-1])
    wanted = size / max(2, round(size / words))
    word_ends = np.append(np.flatnonzero(ends_word), len(end))
    parts: list[tuple[int, float]] = []
    held = 0.0  # words of the parts that are done
    while True:
        wish = np.searchsorted(so_far, held + wanted)
        limit = np.searchsorted(so_far, held + 1.1 * wanted)  # within a word, if need be
        cut = min(word_ends[np.searchsorted(word_ends, wish)], limit)
        if cut >= len(end) - 1:
            break
        parts.append((int(end[cut]), float(so_far[cut]) - held))
        held = float(so_far[cut])
    parts.append((int(end[-1]), size - held))
    return parts
