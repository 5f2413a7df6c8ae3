"""The interface of what finds the range of time in a question, and its default, `EnglishDates`."""

from dataclasses import dataclass, is_dataclass, replace
from datetime import UTC, tzinfo
from typing import Any, Protocol, cast

from recollex_engine.clock import named_zone
from recollex_engine.dates.locales import check_month_first, check_zone, puts_month_first
from recollex_engine.dates.time_range import TimeRange, find_range


class TimeParser(Protocol):
    """Finds the range of time that a question asks about.

    A recall calls it once, from any thread. If it raises, the error is reported in the recall's
    trace, and the question is answered as if it named no time. A dataclass may have the fields
    `month_first` and `tz`; where they are None, a recall sets them to the order of the agent's
    locale and to the zone in which the question is asked.
    """

    @property
    def name(self) -> str:
        """The name in traces and tables."""

    def find(self, text: str, now: int) -> TimeRange | None:
        """Return the range of time that ``text``, asked at ``now`` (microseconds), is about."""


@dataclass(frozen=True, slots=True)
class EnglishDates:
    """Reads English by a grammar, without a model: see `time_range.find_range`.

    tz: in which the asker's days begin; None for the zone of ``now`` in a recall, else UTC.
    month_first: whether 5/7/2023 is 7 May; None for the order of the agent's locale.

    >>> EnglishDates().find("Who came in May 2023?", 1_763_000_000_000_000).text
    'May 2023'
    """

    tz: tzinfo | None = None
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
        return find_range(text, now, self.tz or UTC, self.month_first is True)


def in_locale(parser: TimeParser, locale: str, zone: str | None = None) -> TimeParser:
    """Return ``parser``; one that leaves them open, in the order and the zone of the asker.

    locale: tells the order of day and month. zone: as `named_zone` takes it.
    """
    made: Any = parser
    if not is_dataclass(made) or isinstance(made, type):
        return parser
    chosen: dict[str, Any] = {}
    if puts_month_first(locale) and getattr(made, "month_first", False) is None:
        chosen["month_first"] = True
    if zone is not None and getattr(made, "tz", UTC) is None:
        chosen["tz"] = named_zone(zone)
    return cast(TimeParser, replace(made, **chosen)) if chosen else parser
