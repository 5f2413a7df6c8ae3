"""The surface of a fact, an event or an episode: the readable text by which it is searched.

::

    Ann lives in Rome, since May 1, 2024
    Ann moved to Rome. With Ben (driver). May 1, 2024 to June 1, 2024
    A year of moves. January 1, 2024 to January 1, 2025

REMem calls the text of a fact its surface form, and indexes it for words and for vectors (appendix
B, "Index"). The text is made from the content of a version, as a record of the log holds it, and is
not stored: the words and the vector of the text are.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from recollex_engine.clock import DAY, MONTH_NAMES, OPEN_END, from_micros
from recollex_engine.domain.intervals import OPEN_START
from recollex_engine.domain.literals import Mention

FACTS = ("upsert_edge", "retro_correct")
"""The kinds of record that make a version of a fact."""
EVENTS = ("upsert_event", "upsert_episode")
"""The kinds of record that make a version of an event or an episode."""
SURFACE = "surface"
"""The kind of the record that adds a surface to a version that has none; and in the record of a
version, the field that holds its surface."""
PHRASES = "phrases"
"""The field of the record of a fact that holds the surfaces of the entities it names first."""

_MEMO_DAYS = 65_536
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def surface_of(kind: str, content: Mapping[str, Any]) -> str:
    """Return the text of a version; ``kind``: of the record that makes it, of `FACTS` or `EVENTS`.

    >>> surface_of("upsert_edge", {"subject": ["Ann", 0], "predicate": "lives_in",
    ...     "object": {"entity": ["Rome", 1]}, "valid": [0, OPEN_END]})
    'Ann lives in Rome, since January 1, 1970'
    """
    if kind in FACTS:
        subject = content["subject"][0]
        said = _object(content["object"])
        return fact_text(subject, content["predicate"], said, tuple(content["valid"]))
    who = {
        target[0]: role
        for relation, target, role in content["edges"]
        if relation == "has_participant"
    }
    return event_text(content["summary"], who, content["span"])


@lru_cache(maxsize=8192)
def fact_text(subject: str, predicate: str, said: str, valid: tuple[int, int]) -> str:
    """Return the text of a fact; ``said``: its object in words, ``valid``: in microseconds.

    >>> fact_text("Ann", "worksAt", "Acme", (-OPEN_END, 0))
    'Ann works At Acme, until January 1, 1970'
    """
    span = _span(*valid)
    words = f"{subject} {_relation(predicate)} {said}"
    return f"{words}, {span}" if span else words


def fact_parts(content: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the text of a version of a fact in parts that many facts share.

    It has the words of the parts, one part after another: a space begins each.

    >>> fact_parts({"subject": ["Ann", 0], "predicate": "lives_in", "object": {"text": "Rome"},
    ...     "valid": [0, OPEN_END]})
    ('Ann', 'lives in', 'Rome', 'since', 'January 1, 1970')
    """
    said = _object(content["object"])
    span = _span_parts(*content["valid"])
    return (content["subject"][0], _relation(content["predicate"]), said, *span)


@lru_cache(maxsize=8192)
def _relation(predicate: str) -> str:
    return _CAMEL.sub(" ", predicate).replace("_", " ")


def event_text(summary: str, who: Mapping[str, str | None], span: Sequence[int]) -> str:
    """Return the text of an event or episode: summary, participants that it lacks, span.

    >>> event_text("Ann moved.", {"Ann": None, "Ben": "driver"}, (-OPEN_END, OPEN_END))
    'Ann moved. With Ben (driver).'
    """
    others = {name: role for name, role in who.items() if name not in summary}
    names = [name if role is None else f"{name} ({role})" for name, role in others.items()]
    return " ".join(
        filter(None, (summary, f"With {', '.join(names)}." if names else "", _span(*span)))
    )


def object_text(value: object) -> str:
    """Return an object of a fact, as `literals.from_column` gives it, in words.

    >>> object_text(True), object_text(0.5), object_text(42)
    ('yes', '0.5', '42')
    """
    if isinstance(value, str):  # as a rule
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:.15g}"
    if isinstance(value, datetime):
        return _date(value.astimezone(UTC))
    return value.text if isinstance(value, Mention) else str(value)


def _object(record: Mapping[str, Any]) -> str:
    if (named := record.get("entity")) is not None:  # as a rule
        return str(named[0])
    ((kind, value),) = record.items()
    if kind == "time":
        return _date(from_micros(value))
    return object_text(Mention.from_json(value) if kind == "mention" else value)


def _span(start: int, end: int) -> str:
    """Return a time in words; an empty string if it is open at both ends."""
    return " ".join(_span_parts(start, end))


def _span_parts(start: int, end: int) -> tuple[str, ...]:
    if start == OPEN_START:
        return () if end == OPEN_END else ("until", _day(end // DAY))
    first = _day(start // DAY)
    return ("since", first) if end == OPEN_END else (first, "to", _day(end // DAY))


def _date(at: datetime) -> str:
    return f"{MONTH_NAMES[at.month - 1]} {at.day}, {at.year}"


class _Days(dict[int, str]):
    """Cache: a day's number since 1970 -> the day in words. Bounded: many facts share one.

    `lru_cache` keeps an order, so a hit touches two more entries, which lie far away.
    """

    def __missing__(self, number: int) -> str:
        if len(self) >= _MEMO_DAYS:
            self.clear()
        self[number] = day = _date(from_micros(number * DAY))
        return day


_day = _Days().__getitem__
