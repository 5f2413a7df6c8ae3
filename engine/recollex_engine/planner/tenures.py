"""Facts on a timeline: what came first, right before, at the same time, and for how long?

A `Tenure` is one fact with the precision in which its time was said. "From 1983 to 1986" names two
years, so it lasted three years from the first to the last, and it ended in 1986; datetimes are
moments, and the difference of two moments is exact. Where readings of a word lead to different
facts, a function returns None, and the caller says that it cannot decide (REMem F.1 names "before"
and "after" as what its tools get wrong).
"""

import itertools
from calendar import monthrange
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import cast

from recollex_engine.clock import DAY, OPEN_END, from_micros
from recollex_engine.domain.intervals import OPEN_START
from recollex_engine.domain.qualifiers import calendar_units, whole_period
from recollex_engine.domain.said_precision import Unit, said_units
from recollex_engine.domain.surfaces import object_text
from recollex_engine.facts.facts import Fact

FINEST_LAST: tuple[Unit, ...] = ("year", "month", "week", "day", "moment")


@dataclass(frozen=True, slots=True)
class Tenure:
    """A fact. start, end: of its valid time, in microseconds. begins, ends: their precision."""

    fact: Fact
    subject: str
    object: str
    start: int
    end: int
    begins: Unit
    ends: Unit

    @property
    def last(self) -> int:
        """The last moment at which it held."""
        return self.end if self.end == OPEN_END else self.end - 1

    @property
    def beginning(self) -> tuple[int, int]:
        """The period in which it began: [start, end)."""
        return self.start, period_end(self.start, self.begins)

    @property
    def ending(self) -> tuple[int, int]:
        """The period in which it ended."""
        return period_start(self.last, self.ends), self.end


def tenure_of(fact: Fact) -> Tenure:
    """Return a fact with the precision of its time."""
    data = fact.view.data
    start, end = data("fact_start")[fact.version], data("fact_end")[fact.version]
    begins, ends = calendar_units(*fact.valid, fact.uncertainty)
    names_none = said_units(fact.uncertainty) == ("moment", "moment")
    if names_none and (fact.uncertainty or "").startswith("parsed: "):
        begins = ends = _whole_unit(fact)  # "yesterday" is a day, "last month" a month
    return Tenure(fact, fact.subject, object_text(fact.object), start, end, begins, ends)


def _whole_unit(fact: Fact) -> Unit:
    """Return the period of the calendar that a fact's valid time is; "moment" if it is none."""
    start, end = fact.valid
    whole = None if start is None or end is None else whole_period(start, end)
    return "moment" if whole is None else cast(Unit, whole)


def is_rough(fact: Fact) -> bool:
    """Return whether the time of a fact is only approximate."""
    return (fact.uncertainty or "").startswith("approximate")


def period_start(at: int, unit: Unit) -> int:
    """Return the first moment of the calendar's period that holds a moment."""
    if unit == "moment":
        return at
    day = from_micros(at).date()
    if unit == "year":
        day = day.replace(month=1, day=1)
    elif unit == "month":
        day = day.replace(day=1)
    return _micros(day)


def period_end(at: int, unit: Unit) -> int:
    """Return the first moment after the calendar's period that holds a moment."""
    if unit == "moment":
        return at + 1
    day = from_micros(at).date()
    days = {"year": 366 if _leap(day.year) else 365, "month": monthrange(day.year, day.month)[1]}
    return period_start(at, unit) + days.get(unit, 1) * DAY


def spelled(at: int, unit: Unit) -> str:
    """Return a moment in ISO 8601, as precise as its unit; midnight is a day.

    >>> spelled(0, "month"), spelled(0, "moment"), spelled(1_000_000, "moment")
    ('1970-01', '1970-01-01', '1970-01-01T00:00:01+00:00')
    """
    moment = from_micros(at)
    if unit == "moment" and moment.time() != datetime.min.time():
        return moment.isoformat()
    return moment.date().isoformat()[: {"year": 4, "month": 7}.get(unit)]


def holding(tenures: Iterable[Tenure], span: tuple[int, int]) -> list[Tenure] | None:
    """Return the tenures that held at some time in [start, end); None if that is not certain.

    "From 1983 to 1986" held in 1983, but perhaps not in May 1983.
    """
    found = [each for each in tenures if each.start < span[1] and each.end > span[0]]
    return found if all(_surely(each, span) for each in found) else None


def _surely(tenure: Tenure, span: tuple[int, int]) -> bool:
    first, last = tenure.beginning, tenure.ending
    if span[0] < last[0] and span[1] > first[1]:
        return True
    return any(span[0] <= start and end <= span[1] for start, end in (first, last)) or any(
        unit == "moment" and start < span[1] and end > span[0]
        for unit, (start, end) in ((tenure.begins, first), (tenure.ends, last))
    )


def is_ordered(tenures: Iterable[Tenure]) -> bool:
    """Return whether it is known which of any two tenures began first, or that they did together.

    It is not where one is known by the day, and the other by the year of that day.
    """
    periods = sorted(each.beginning for each in tenures)
    return all(one == other or one[1] <= other[0] for one, other in itertools.pairwise(periods))


def by_start(tenures: Iterable[Tenure]) -> list[Tenure]:
    """Return tenures in the order in which they began, then ended, then were recorded."""
    return sorted(tenures, key=lambda each: (each.start, each.end, each.fact.version))


def first_of(tenures: Sequence[Tenure]) -> list[Tenure] | None:
    """Return the one that began first, or those that began together; None without a start."""
    start = min(each.start for each in tenures)
    return None if start == OPEN_START else [each for each in tenures if each.start == start]


def last_of(tenures: Sequence[Tenure]) -> list[Tenure] | None:
    """Return the one that began last; None if another one, which began before, ended later."""
    start, end = max(each.start for each in tenures), max(each.end for each in tenures)
    begun = [each for each in tenures if each.start == start]
    ended = [each for each in tenures if each.end == end]
    return begun if {id(each) for each in begun} == {id(each) for each in ended} else None


def before(
    tenures: Sequence[Tenure], span: tuple[int, int], border: tuple[int, int], part: str
) -> list[Tenure] | None:
    """Return those right before ``span``; None if two readings differ.

    One reading takes those that began last before it begins, the other those that were over last.
    border: the period in which ``span`` begins, which is as precise as it was said: what ended in
    it was over. part: "subject" or "object"; readings that find the same ones of it do not differ.
    """
    begun = [each for each in tenures if each.start < span[0]]
    over = [each for each in tenures if each.end <= border[1] and each.start < border[1]]
    over = [each for each in over if each.end <= span[0] or each.ending[0] >= border[0]]
    latest = max((each.start for each in begun), default=None)
    ended = max((each.ending for each in over), default=None)
    return _agreed(
        [each for each in begun if each.start == latest],
        [each for each in over if each.ending == ended],
        part,
    )


def after(
    tenures: Sequence[Tenure], span: tuple[int, int], border: tuple[int, int], part: str
) -> list[Tenure] | None:
    """Return those right after ``span``; None if two readings differ.

    One reading takes those that begin next after it begins, the other those that begin next when it
    is over. border: the period in which ``span`` ends: what begins in it begins afterwards.
    """
    begun = [each for each in tenures if each.start > span[0]]
    free = [each for each in tenures if each.start >= border[0]]
    return _agreed(_earliest(begun), _earliest(free), part)


def _earliest(tenures: Sequence[Tenure]) -> list[Tenure]:
    start = min((each.start for each in tenures), default=None)
    return [each for each in tenures if each.start == start]


def _agreed(one: list[Tenure], other: list[Tenure], part: str) -> list[Tenure] | None:
    names = [{getattr(each, part) for each in tenures} for tenures in (one, other)]
    return one if names[0] == names[1] else None


def lasted(tenure: Tenure, unit: Unit) -> int | None:
    """Return how many units a tenure lasted, from the first to the last period that was named.

    Between moments these are whole units. None if it has no whole number of them, or an open end.
    """
    if tenure.start == OPEN_START or tenure.end == OPEN_END:
        return None
    if tenure.begins == tenure.ends == "moment":
        return between(tenure.start, tenure.end, unit)
    if tenure.begins != tenure.ends:
        return None
    return between(tenure.start, period_start(tenure.last, tenure.ends), unit, tenure.ends)


def between(start: int, end: int, unit: Unit, named: Unit = "moment") -> int | None:
    """Return the units from one moment to another; None if they are no whole number.

    named: how precise both are: what is known by the year has no months or days.

    >>> between(0, 31 * DAY, "month"), between(0, 32 * DAY, "month"), between(0, 32 * DAY, "day")
    (1, None, 32)
    """
    if is_finer(unit, named):
        return None
    if unit in ("day", "week"):
        size = DAY * (7 if unit == "week" else 1)
        return None if (end - start) % size else (end - start) // size
    first, last = from_micros(start), from_micros(end)
    if (first.day, first.time()) != (last.day, last.time()):
        return None
    months = (last.year - first.year) * 12 + last.month - first.month
    if unit == "month":
        return months
    return None if months % 12 else months // 12


def is_finer(unit: Unit, other: Unit) -> bool:
    """Return whether a unit is shorter than another one: what is known by the other has none."""
    return FINEST_LAST.index(unit) > FINEST_LAST.index(other)


def elapsed(start: int, end: int, unit: Unit) -> int:
    """Return how many whole units have passed from one moment to another.

    >>> elapsed(0, 59 * DAY, "month"), elapsed(0, 59 * DAY, "day")
    (2, 59)
    """
    if unit in ("day", "week", "moment"):
        return (end - start) // (DAY * (7 if unit == "week" else 1))
    first, last = from_micros(start), from_micros(end)
    months = (last.year - first.year) * 12 + last.month - first.month
    months -= (last.day, last.time()) < (first.day, first.time())
    return months if unit == "month" else months // 12


def _leap(year: int) -> bool:
    return monthrange(year, 2)[1] == 29


def _micros(day: date) -> int:
    return (day.toordinal() - date(1970, 1, 1).toordinal()) * DAY
