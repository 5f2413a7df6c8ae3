r"""A memory as a line of a prompt, and how many tokens of a budget the line takes.

::

    [May 04, 2024] Ann likes tea.
    [May 05, 2024; source: web] Rain.
        Further lines of a text are indented, so that none looks like another memory.

What a chat template would read as its own mark is written in another way: see `prompt_marks`.

The tokens of a text are counted when it is written, as they stand in a line: after a space, with
the indentation and the end of the line. The date and the mark are added when a prompt is filled. A
sum of such counts is exact for a tokenizer that never joins "]" with a space, or a line end with
"[", as cl100k_base and WordPiece do not; so a prompt never has more tokens than were counted.
"""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.prompt_marks import INDENTED, defused, written
from recollex_engine.domain.trust import mark
from recollex_engine.fork import cached_property
from recollex_engine.text.token_counter import ENCODING, TokenCounter

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
