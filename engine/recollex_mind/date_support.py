"""Which dates of a fact does the talk support? The others are taken out of it, and named.

A model that is told "last Friday" should write the date. One that invents a date must not be
believed, so each time in a fact is held against the turns that it was drawn from. One is supported
if

- a turn names it: the same time, or a part of it ("last Friday" supports that day and its month);
- a turn was said at that time, as far as the time is a day or longer ("today", "this year");
- its words, such as "since 2016", stand in a turn.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recollex_engine.clock import DAY
from recollex_engine.dates.time_range import EARLIEST, LATEST, TimeRange, find_event_ranges

_BEFORE = re.compile(
    r"(?<![\s,])[\s,]*+(?:\(\s*+)?\b(?:happened |starting |until |up to )?"
    r"(?:on|in|at|during|since|until|till|by|around|about|from|of|for|before|after|to)?"
    r"(?: the)?\s*+$",
    re.I,
)
"""What leads to a date, and goes with it."""
_WORDS = re.compile(r"\w+")
_SMALL = frozenset(("on", "in", "at", "of", "the", "since", "until", "by", "from", "to", "and"))


@dataclass(frozen=True, slots=True)
class Said:
    """A turn: its words, and when they were said, in microseconds."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Dated:
    """A text with the dates that are supported, and those that were taken out of it."""

    text: str
    dropped: tuple[str, ...]


class Calendar:
    """The times that some turns name. Cost: 0.1 ms a turn."""

    def __init__(self, turns: Sequence[Said], month_first: bool = False) -> None:
        self._turns = turns
        self._month_first = month_first
        self._named = [
            found
            for turn in turns
            for found in find_event_ranges(turn.text, turn.at, month_first=month_first)
        ]
        self._words = {word for turn in turns for word in _WORDS.findall(turn.text.lower())}

    def supported(self, text: str, at: int) -> Dated:
        """Return a text, written at a time, without the dates that no turn supports.

        >>> at = 1_714_816_800_000_000  # a Saturday, 4 May 2024
        >>> calendar = Calendar([Said("I met Carol last Friday.", at)])
        >>> calendar.supported("Ann met Carol on 3 May 2024, and moved in March 2019.", at)
        Dated(text='Ann met Carol on 3 May 2024, and moved.', dropped=('March 2019',))
        """
        dropped = []
        kept = text
        found = find_event_ranges(text, at, month_first=self._month_first, bounds=True)
        for each in reversed(list(found)):
            if not self._supports(each, at):
                dropped.append(each.text)
                kept = _without(kept, *each.span)
        return Dated(kept, tuple(reversed(dropped)))

    def read(self, when: str, at: int) -> int | None:
        """Return the start of a time that a model names, if a turn supports it; None otherwise."""
        found = next(find_event_ranges(when, at, month_first=self._month_first), None)
        if found is None or not self._supports(found, at):
            return None
        return found.start

    def _supports(self, time: TimeRange, at: int) -> bool:
        is_open = time.start <= EARLIEST or time.end >= LATEST or time.end == at
        if not is_open:
            if any(time.start <= each.start and each.end <= time.end for each in self._named):
                return True
            if time.end - time.start >= DAY and any(
                time.start <= turn.at < time.end for turn in self._turns
            ):
                return True
        words = {*_WORDS.findall(time.text.lower())} - _SMALL
        return bool(words) and words <= self._words


def _without(text: str, start: int, end: int) -> str:
    """Return a text without [start, end), and without what leads there."""
    before = text[:start]
    after = text[end:]
    led = _BEFORE.search(before)
    opened = led is not None and "(" in led[0]
    before = before[: led.start()] if led else before
    if opened and (closed := re.match(r"\s*\)", after)):
        after = after[closed.end() :]
    joined = before.rstrip() + ("" if re.match(r"\s*[.,;:!?)]", after) else " ") + after.lstrip()
    return joined.lstrip(" ,;:").rstrip()
