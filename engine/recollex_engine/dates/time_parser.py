"""The interface of what finds the range of time in a question, and its default, `EnglishDates`."""

from dataclasses import dataclass, is_dataclass, replace
from datetime import UTC, tzinfo
from typing import Any, Protocol, cast

from recollex_engine.dates.locales import check_month_first, check_zone, puts_month_first
from recollex_engine.dates.time_range import TimeRange, find_range


class TimeParser(Protocol):
    """Finds the range of time that a question asks about.

    A recall calls it once, from any thread. If it raises, the error is reported in the recall's
    trace, and the question is answered as if it named no time. A dataclass may have a field
    `month_first`; where that is None, a recall sets it to the order of the agent's locale.
    """

    @property
    def name(self) -> str:
        """The name in traces and tables."""

    def find(self, text: str, now: int) -> TimeRange | None:
        """Return the range of time that ``text``, asked at ``now`` (microseconds), is about."""


@dataclass(frozen=True, slots=True)
class EnglishDates:
    """Reads English by a grammar, without a model: see `time_range.find_range`.

    month_first: whether 5/7/2023 is 7 May; None for the order of the agent's locale.

    >>> EnglishDates().find("Who came in May 2023?", 1_763_000_000_000_000).text
    'May 2023'
    """

    tz: tzinfo = UTC
    month_first: bool | None = None

    def __post_init__(self) -> None:
        check_zone(self.tz)
        check_month_first(self.month_first)

    @property
    def name(self) -> str:
        """Return "english"."""
        return "english"

    def find(self, text: str, now: int) -> TimeRange | None:
        """Return the range of time that ``text`` is about, or None. Cost: as `find_range`."""
        return find_range(text, now, self.tz, self.month_first is True)


def in_locale(parser: TimeParser, locale: str) -> TimeParser:
    """Return ``parser``; one that leaves the order of day and month open, in that of ``locale``."""
    made: Any = parser
    is_open = getattr(made, "month_first", False) is None
    if is_open and puts_month_first(locale) and is_dataclass(made) and not isinstance(made, type):
        return cast(TimeParser, replace(made, month_first=True))
    return parser
