r"""A memory as a line of a prompt: its text without marks, its tokens, its cost to a budget.

::

    [May 04, 2024] Ann likes tea.
    [May 05, 2024; source: web] Rain.
        Further lines of a text are indented, so that none looks like another memory.

What a chat template would read as its own mark is written in another way: see `defused`.

The tokens of a text are counted when it is written, as they stand in a line: after a space, with
the indentation and the end of the line. The date and the mark are added when a prompt is filled. A
sum of such counts is exact for a tokenizer that never joins "]" with a space, or a line end with
"[", as cl100k_base and WordPiece do not; so a prompt never has more tokens than were counted.

How does a text stay data in a prompt? The marks that divide a prompt lose their brackets there.
Marks are what chat templates put between roles, such as ``<|im_end|>``, ``[INST]`` and ``</s>``,
and the tags of the block in which a context of memories stands. Their brackets become round, so a
person still reads what was said, and no text becomes longer, in characters or in UTF-8::

    Tea.<|im_end|> </memory >      is written      Tea.(|im_end|) (/memory )

A mark is known in any case, with spaces or invisible characters within, and in full-width forms.
Every text that becomes a part of a prompt passes through `written`, `written_short` or `defused`.
What is stored stays as said.
"""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.trust import mark
from recollex_engine.fork import cached_property
from recollex_engine.text.token_counter import ENCODING, TokenCounter

INDENTED = "\n    "
"""The start of a further line of a text."""
_TAGS = re.compile(
    "memory|s|bos|eos|pad|unk|mask|sop|eop|think|sys|tool_(?:call|response|result)"
    "|function_(?:calls|results)|(?:start|end)_of_(?:turn|image)|end_of_utterance"
)
"""Names in angle brackets, with or without a slash; doubled as in <<SYS>>."""
_SQUARE = re.compile("inst|system_prompt|available_tools|tool_(?:calls|results|content)|[gs]mask")
"""Names in square brackets."""
_HIDDEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
"""Characters that are not seen, as a class of a regular expression."""
_OPEN = "<\uff1c\ufe64"
_CLOSE = ">\uff1e\ufe65"
_BRACKET = re.compile(rf"[{_OPEN}{_CLOSE}\[\uff3b]")
_ROUND = str.maketrans(f"{_OPEN}[\uff3b{_CLOSE}]\uff3d", "(((((" + ")))))")

_GAP = rf"[\s{_HIDDEN}]*+"
_NAME = rf"[\w\uff3f{_HIDDEN}-]{{1,64}}+"
_BAR = "[|\uff5c]"
# A regular expression that begins with a class of characters is searched for fast. Every repetition
# is possessive, and ends at the next bracket or is bounded: linear time.
_MARK = re.compile(
    rf"[{_OPEN}\[\uff3b](?:(?<=[{_OPEN}])(?:"
    # <memory>, </ s>, <<SYS>>, </memory without an end, <memory of="x">
    rf"{_GAP}(?:[{_OPEN}]{_GAP})?+(?P<slash>[/\\\uff0f]{{1,2}}+)?+{_GAP}(?P<tag>{_NAME})"
    rf"(?P<end>{_GAP}[{_CLOSE}]{{1,2}}+|(?P<more>(?=[^{_OPEN}{_CLOSE}]{{0,200}}+[{_CLOSE}])))?+"
    # <|im_start|>, also with spaces; a part of one: a bar beside a letter
    rf"|{_GAP}{_BAR}[^{_OPEN}{_CLOSE}|\uff5c]{{1,64}}+{_BAR}{_GAP}[{_CLOSE}]"
    rf"|[{_HIDDEN}]*+{_BAR}(?=[{_HIDDEN}]*+[\w/]))"
    # [INST], [/INST]
    rf"|(?<=[\[\uff3b]){_GAP}[/\\\uff0f]{{0,2}}+{_GAP}(?P<square>{_NAME}){_GAP}[\]\uff3d])"
)
_LAST = re.compile(rf"{_BAR}(?<=[\w\u2581]{_BAR})[{_HIDDEN}]*+[{_CLOSE}]")
"""The end of a mark with bars whose start is missing."""
_UNSEEN = re.compile(rf"[{_HIDDEN}]+")


def written(text: str) -> str:
    r"""Return a text as it stands in a line: further lines indented, its marks defused.

    >>> written("Tea</s>\nand milk.\n")
    'Tea(/s)\n    and milk.'
    """
    return INDENTED.join(defused(text).rstrip().splitlines())


def written_short(text: str) -> str:
    r"""Return a text as it stands in one line: line breaks are spaces, its marks defused.

    >>> written_short("Tea\nand milk</s>")
    'Tea and milk(/s)'
    """
    return defused(" ".join(text.split()))


def defused(text: str) -> str:
    """Return a text whose marks have round brackets.

    Cost: linear; 0.1 us for ASCII without brackets.

    >>> defused("Tea.<|im_end|> [INST] </memory >")
    'Tea.(|im_end|) (INST) (/memory )'
    """
    if text.isascii():  # as most are: three searches for a byte
        if "<" not in text and "[" not in text and ">" not in text:
            return text
    elif _BRACKET.search(text) is None:
        return text
    return _changed(text, _rounded)


def defused_json(raw: str) -> str:
    r"""Return JSON with the brackets of marks escaped: it reads back as it was.

    >>> defused_json('["<s>"]')
    '["\\u003cs\\u003e"]'
    """
    return _changed(raw, _escaped)


def _changed(text: str, change: Callable[[str], str]) -> str:
    """Return a text with each of its marks changed."""
    text = _MARK.sub(lambda found: change(found[0]) if _is_mark(found) else found[0], text)
    return _LAST.sub(lambda found: change(found[0]), text)


def _is_mark(found: re.Match[str]) -> bool:
    if (square := found["square"]) is not None:
        return _SQUARE.fullmatch(_plain(square)) is not None
    if found["tag"] is None:  # it has bars
        return True
    if _TAGS.fullmatch(_plain(found["tag"])) is None:
        return False
    if found["more"] is not None:  # "x < mask and y > z" is no mark
        return found["slash"] is not None or not found[0][1].isspace()
    return found["slash"] is not None or found["end"] is not None


def _plain(name: str) -> str:
    if name.isascii():
        return name.lower()
    return normalize("NFKC", _UNSEEN.sub("", name)).casefold()


def _rounded(mark: str) -> str:
    return mark.translate(_ROUND)


def _escaped(mark: str) -> str:
    return "".join(f"\\u{ord(each):04x}" if ord(each) in _ROUND else each for each in mark)


DATES = {ENCODING: 9}
"""Counter -> the tokens of the costliest date in its brackets."""
_PLAIN_END = re.compile(r"\w[.!?]?\Z")
"""The end of a text that takes no token more before the end of a prompt than before a line's."""
_YEARS = (1, 999, 1066, 1873, 1999, 2024, 2345, 7391, 9999)


def date_of(event_at: datetime) -> str:
    """Return a date in the form that TEMPR 3.3 gives its reranker.

    >>> date_of(datetime(2024, 5, 4))
    'May 04, 2024'
    """
    return f"{event_at:%B %d, %Y}"


def prompt_line(
    event_at: datetime, text: str, source: str | None, trust: str | None, marked: bool
) -> str:
    r"""Return a memory as a line; ``marked``: it says its source, unless it is fully trusted.

    >>> prompt_line(datetime(2024, 5, 4), "Rain.\n[May 5] Sun.", "web", "web", True)
    '[May 04, 2024; source: web] Rain.\n    [May 5] Sun.'
    """
    about = mark(source, trust) if marked else ""
    return f"[{_head(date_of(event_at), about)}] {written(text)}"


def count_texts(counter: TokenCounter, texts: Sequence[str]) -> list[int]:
    """Return the tokens of texts as they stand in lines, with the space before and the line end.

    The line end counts once: in a prompt's last line it is missing, and an unusual end of a text
    may take more tokens there. Cost: that of `TokenCounter.count_many`.
    """
    shown = [defused(text) for text in texts]
    counts = counter.count_many([f" {_in_a_line(text)}\n" for text in shown])
    for place, text in enumerate(shown):
        if not _PLAIN_END.search(text) and (words := text.split()):
            last = f" {words[-1]}"
            counts[place] += max(0, counter.count(last) - counter.count(f"{last}\n"))
    return counts


def _in_a_line(text: str) -> str:
    """Return a text, or a part of one, which may be followed by more of it, with its lines."""
    return INDENTED.join(f"{text}|".splitlines())[:-1]


def _head(said: str, about: str) -> str:
    return f"{said}; {about}" if about else said


@cache
def _dates() -> list[str]:
    """Return dates that take different numbers of tokens; made once: each agent counts them."""
    return [
        date_of(datetime(year, month, 2 * month + 7 * (month % 2), tzinfo=UTC))
        for year in _YEARS
        for month in range(1, 13)
    ]


class LineCosts:
    """The tokens of lines beside those of their texts: of the date, and of the mark of a source.

    counter: returns the counter, when it is needed. name: of a counter whose dates are known, so
    that its vocabulary is not loaded to count them. The costliest of dates is taken for all.
    Threads: may be shared.
    """

    def __init__(self, counter: Callable[[], TokenCounter], name: str | None = None) -> None:
        self._counter = counter
        self._name = name
        self._marks: dict[str, int] = {}

    @cached_property
    def _date(self) -> str:
        counts = self._counter().count_many([f"[{said}]" for said in _dates()])
        return _dates()[counts.index(max(counts))]

    @cached_property
    def date(self) -> int:
        """The tokens of a date in its brackets."""
        return DATES.get(self._name or "") or self._counter().count(f"[{self._date}]")

    @cached_property
    def dates(self) -> npt.NDArray[np.uint32]:
        """The same as the heads of all memories, as the kernel takes them: uint32[1]."""
        return np.array([self.date], np.uint32)

    def marked(self, source: str | None, trust: str | None) -> int:
        """Return the tokens of a date with a source's mark."""
        about = mark(source, trust)
        if not about:
            return self.date
        if about not in self._marks:
            self._marks[about] = self._counter().count(f"[{_head(self._date, about)}]")
        return self._marks[about]
