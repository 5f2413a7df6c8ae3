"""Where is a long text cut into the passages that the arms index?

A passage is a run of whole sentences with about 100 words. Passages are short for two reasons: an
encoder reads no more than 256 word pieces, and a rare detail weighs more for BM25 in a short
passage than in a long text.
"""

import re

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
    rf"(?:({_WIDE_STOP}|[{_UNSPACED}]{{1,4}})|([^\s{_UNSPACED}\u3002\uff01\uff1f\uff61]"
    rf"{{1,{_LONGEST_WORD}}}|\A))(\s*)"
)
_ENDING = frozenset(".!?\u2026\"')]\u201d\u2019\u00bb")
"""What a piece that ends a sentence ends with: few pieces do, and only they are searched."""
_STOP = re.compile(r"[.!?\u2026][\"')\]\u201d\u2019\u00bb]*\Z").search
_ABBREVIATION = re.compile(
    r"\W*(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|vs|cf|No|approx|e\.g|i\.e|[A-Z](?:\.[A-Z])*)\.\Z"
).match
_WIDE_STOPS = frozenset("\u3002\uff01\uff1f\uff61")


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
    units: list[tuple[int, float]] = []
    sentence: list[tuple[int, float, bool]] = []  # end, words, whether a word ends here
    size = 0.0
    end = 0
    for wide, narrow, space in _PIECE.findall(text):
        piece = wide or narrow
        end += len(piece) + len(space)
        count = len(piece) / 2 if wide or len(piece) <= 1 else 1.0
        size += count
        sentence.append((end, count, wide != "" or bool(space)))
        if (
            "\n" in space
            or (wide and wide[0] in _WIDE_STOPS)
            or (space and piece[-1:] in _ENDING and _STOP(piece) and not _ABBREVIATION(piece))
        ):
            _close(sentence, size, words, units)
            sentence = []
            size = 0.0
    if sentence:
        _close(sentence, size, words, units)
    return units


def _close(
    sentence: list[tuple[int, float, bool]],
    size: float,
    words: int,
    units: list[tuple[int, float]],
) -> None:
    """Append a sentence to `units`: whole, or in parts of about `words` words."""
    if size <= SLACK * words:
        units.append((sentence[-1][0], size))
        return
    wanted = size / max(2, round(size / words))
    held = 0.0
    for end, count, ends_word in sentence[:-1]:
        held += count
        if held >= wanted and (ends_word or held >= 1.1 * wanted):
            units.append((end, held))
            held = 0.0
    units.append((sentence[-1][0], held + sentence[-1][1]))
