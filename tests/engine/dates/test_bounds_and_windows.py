"""Bounds, short ranges and windows; half of each table are texts that name none, or another."""

from datetime import UTC, datetime

import pytest

from recollex_engine.clock import EPOCH, MICROSECOND
from recollex_engine.dates.time_range import EARLIEST, LATEST, find_event_range, find_range

NOW = (datetime(2026, 6, 18, 10, tzinfo=UTC) - EPOCH) // MICROSECOND  # a Thursday
BOUNDS = {
    "no later than March 2025": "..2025-04-01",
    "not later than March 2025": "..2025-04-01",
    "no earlier than March 2025": "2025-03-01..now",
    "not before March 2025": "2025-03-01..now",
    "not after March 2025": "..2025-04-01",
    "later than June 2025": "2025-07-01..now",
    "earlier than June 2025": "..2025-06-01",
    "prior to June 2025": "..2025-06-01",
    "up to June 2025": "..2025-07-01",
    "up to and including May 2025": "..2025-06-01",
    "from 2023 onwards": "2023-01-01..",
    "from 2023 on": "2023-01-01..",
    "post-2023": "2024-01-01..now",
    "pre-2023": "..2023-01-01",
    "starting in March 2025": "2025-03-01..now",
    "starting 3 March 2025": "2025-03-03..now",
    "beginning in 1974": "1974-01-01..now",
    "as of 2024": "2024-01-01..2025-01-01",
    "by the end of May 2025": "..2025-06-01",
    "Who is the later of the two?": None,
    "Is it not before me?": None,
    "What came up to the house?": None,
    "The post-office is shut": None,
    "a pre-war house": None,
    "starting now": None,
    "no more than 20 people": None,
    "earlier than usual": None,
    "better than June": None,
    "later than expected": None,
    "as of now": None,
}
RANGES = {
    "what happened on 2026-05-25/26?": "2026-05-25..2026-05-27",
    "what happened on 2026-05-25/2026-05-26?": "2026-05-25..2026-05-27",
    "between 2026-05-25 and 26?": "2026-05-25..2026-05-27",
    "2026-05-25..26": "2026-05-25..2026-05-27",
    "2026-05-25 to 26": "2026-05-25..2026-05-27",
    "25/26 May 2026": "2026-05-25..2026-05-27",
    "May 25 & 26": "2026-05-25..2026-05-27",
    "May 25 and 26": "2026-05-25..2026-05-27",
    "25.05.-26.05.2026": "2026-05-25..2026-05-27",
    "25-26 May 2026": "2026-05-25..2026-05-27",
    "May 25\u201326": "2026-05-25..2026-05-27",
    "from 25 to 26 May": "2026-05-25..2026-05-27",
    "May 25th through 26th": "2026-05-25..2026-05-27",
    "on the 25th and 26th of May": "2026-05-25..2026-05-27",
    # not half of what is not understood
    "25.-26.5.2026": None,
    "version 2.6.32-22.33": None,
    "see /blog/2026-05-25/26-notes": None,
    "It was May 25 and 26 people came": "2026-05-25..2026-05-26",
    "between 2026-05-25 and 2026 notes": "2026-05-25..2026-05-26",
    "on 25 May and 12 friends": "2026-05-25..2026-05-26",
    "a ratio of 25/26": None,
    "I did it in May .. now it fails": "2026-05-01..2026-06-01",
}
WINDOWS = {
    "over the past fortnight": "2026-06-04..2026-06-19",
    "in the last fortnight": "2026-06-04..2026-06-19",
    "during the trailing 30 days": "2026-05-19..2026-06-19",
    "the last three or four days": "2026-06-14..2026-06-19",
    "the last 3-4 days": "2026-06-14..2026-06-19",
    "over the last year and a half": "2024-12-18..2026-06-19",
    "a year and a half ago": "2024-12-01..2025-01-01",
    "3d ago": "2026-06-15..2026-06-16",
    "2w ago": "2026-06-01..2026-06-08",
    "7 mo ago": "2025-11-01..2025-12-01",
    "a fortnight ago": "2026-06-01..2026-06-08",
    "the last dozen days": "2026-06-06..2026-06-19",
    "the last half year": "2025-12-18..2026-06-19",
    "the last two and a half weeks": "2026-06-01..2026-06-19",
    "2 and a half days ago": "2026-06-15..2026-06-15",
    "the last 2 weeks": "2026-06-04..2026-06-19",
    # traps
    "a 3d print": None,
    "2w of power": None,
    "a dozen eggs": None,
    "half a cake": None,
    "the last half of the cake": None,
    "trailing spaces": None,
    "three or four eggs": None,
    "ten 3d models": None,
    "a week and a day": None,
    "the year and the half": None,
}


def written(found):
    """A range as the tables write it: days, "now", and nothing for an open end."""
    if found is None:
        return None
    start, end = (EPOCH + at * MICROSECOND if EARLIEST < at < LATEST else None for at in found[:2])
    first = "" if start is None else f"{start:%Y-%m-%d}"
    last = "now" if found.end == NOW else "" if end is None else f"{end:%Y-%m-%d}"
    return f"{first}..{last}"


@pytest.mark.parametrize(("text", "named"), [*BOUNDS.items(), *RANGES.items(), *WINDOWS.items()])
def test_a_question_names_it(text, named):
    assert written(find_range(text, NOW)) == named


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("yesterday 14:30-15:30", "14:30..15:30"),
        ("between 10am and 1pm yesterday", "10:00..13:00"),
        ("yesterday between 10am and 1pm", "10:00..13:00"),
        ("yesterday from 9:00 to 11:00", "09:00..11:00"),
        ("yesterday at 14h30", "14:15..14:45"),
        ("yesterday at 14.30", "14:15..14:45"),
        ("yesterday, 14.30 of it", "00:00..00:00"),
        ("yesterday at 2.5 times the price", "00:00..00:00"),
        ("yesterday from 15:00 to 14:00", "00:00..00:00"),
    ],
)
def test_hours_of_a_day(text, hours):
    start, end = (EPOCH + at * MICROSECOND for at in find_range(text, NOW)[:2])
    assert f"{start:%H:%M}..{end:%H:%M}" == hours and start.day == 17


def test_what_starts_on_a_day_happens_then():
    found = find_event_range("I have a research trip starting 5 July.", NOW)
    assert written(found) == "2026-07-05..2026-07-06"


HOURS = {
    "yesterday 14:30-15:30": "17T14:30..17T15:30",
    "14:30-15:30 yesterday": "17T14:30..17T15:30",
    "yesterday, 2pm-4pm": "17T14:00..17T16:00",
    "yesterday 2 pm-4:30 pm": "17T14:00..17T16:30",
    "yesterday 7:00-7:30 PM": "17T19:00..17T19:30",
    "yesterday 11:00-1:30 PM": "17T11:00..17T13:30",
    "yesterday 7:00-7:30 AM": "17T07:00..17T07:30",
    # traps: no hours, or one only
    "yesterday 10:00-05:00": "17T00:00..18T00:00",
    "yesterday 14:30-ish": "17T14:15..17T14:45",
    "room 3-14:30": None,
    "ratio 1:30-2:30": None,
}


@pytest.mark.parametrize(("text", "named"), HOURS.items())
def test_hours_joined_by_a_dash_are_read_whole(text, named):
    found = find_range(text, NOW)
    ends = found and [EPOCH + at * MICROSECOND for at in found[:2]]
    assert (ends and "..".join(f"{end:%dT%H:%M}" for end in ends)) == named
