"""Ranges of time: their edges, zones and words, for any text at any time."""

import doctest
import json
import os
import re
import time
from datetime import UTC, date
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.dates import periods
from recollex_engine.dates import time_range as dates
from recollex_engine.dates.time_range import EARLIEST, LATEST, find_event_range, find_range
from tests.engine.dates.day_ranges import NOW, said, us


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(dates).failed == 0


def test_a_time_of_the_day_reaches_half_an_hour_or_a_quarter_to_either_side():
    found = find_range("Where was I yesterday at 3 PM?", NOW)
    assert (found.start, found.end) == (us(2023, 11, 14, 14, 30), us(2023, 11, 14, 15, 30))
    found = find_range("Where was I at 15:20 on 14 November?", NOW)
    assert (found.start, found.end) == (us(2023, 11, 14, 15, 5), us(2023, 11, 14, 15, 35))


def test_a_date_is_read_up_to_a_bound():
    before = find_event_range("a" * (dates.READ - 11) + " 3 May 2020 it rained.", NOW)
    assert (before.start, before.end) == (us(2020, 5, 3), us(2020, 5, 4))
    assert find_event_range("a" * (dates.READ + 9) + " 3 May 2020 it rained.", NOW) is None


def test_from_june_on_has_no_end():
    assert find_range("from September on", NOW).end == LATEST
    assert find_range("since September", NOW).end == NOW


def test_a_bound_names_what_it_counts_from():
    monday = us(2023, 11, 13), us(2023, 11, 14)
    for bound in ("since Monday", "until Monday", "from Monday on"):
        assert find_range(bound, NOW).named == monday
    assert find_range("since I left in May", NOW).named == (us(2023, 5, 1), us(2023, 6, 1))
    assert find_range("on Monday", NOW).named is None


def test_the_seasons_turn_with_now():
    january = us(2024, 1, 20)
    assert said(find_range("last winter", january)) == "2022-12-01..2023-02-28"
    assert said(find_range("this winter", january)) == "2023-12-01..2024-02-29"
    assert said(find_range("in the winter", january)) == "2023-12-01..2024-02-29"
    assert said(find_range("in March", january)) == "2023-03-01..2023-03-31"
    assert said(find_range("between March and May", january)) == "2023-03-01..2023-05-31"


def test_the_words_and_their_place_are_given():
    text = "So, what did we do the week before 9 June 2023, Mel?"
    found = find_range(text, NOW)
    assert found.text == "the week before 9 June 2023" == text[slice(*found.span)]


def test_a_day_begins_where_the_asker_lives():
    tokyo = ZoneInfo("Asia/Tokyo")
    late = us(2023, 11, 14, 20)  # already the 15th in Tokyo
    found = find_range("today", late, tokyo)
    assert (found.start, found.end) == (us(2023, 11, 14, 15), us(2023, 11, 15, 15))
    oslo = ZoneInfo("Europe/Oslo")
    found = find_range("on 29 October 2023", NOW, oslo)  # a day of 25 hours
    assert found.end - found.start == 25 * 3_600_000_000


def test_a_day_that_a_zone_skipped_is_no_range():
    assert find_range("2011-12-30", NOW, ZoneInfo("Pacific/Apia")) is None


_WORDS = """
last next this past the a an in on at of since before after until by from to between and - , ( ) '
week weekend month year day hour quarter decade century ago earlier june may march Mar feb 29 30
31 1 7 7th 2nd 0 99 1999 2023 9999 0001 2999 first second last early mid late end half friday sat
winter spring Christmas new year's eve yesterday tomorrow night morning two few couple several
1990s '90s 2023-02-29 9999-12-31 1/1/0001 q4 now will
"""
WORDS = _WORDS.split()
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text(
    st.characters(codec=None), max_size=30
)
ZONES = st.sampled_from([UTC, ZoneInfo("Pacific/Apia"), ZoneInfo("America/New_York")])


@settings(deadline=None, max_examples=500)
@given(texts, st.integers(us(1, 1, 1) - 10**15, us(9999, 12, 31) + 10**15), ZONES)
def test_any_text_at_any_time_gives_a_range_or_none(text, now, tz):
    for read in (find_range, find_event_range):
        found = read(text, now, tz)
        if found is not None:
            assert -(2**63) < EARLIEST - 86_400_000_000 <= found.start < found.end < 2**63
            assert found.text == text[slice(*found.span)]


@settings(deadline=None)
@given(
    st.dates(date(1000, 1, 1), date(2999, 12, 30)),
    st.sampled_from(["%d %B %Y", "%B %d, %Y", "%Y-%m-%d", "%b %d %Y"]),
)
def test_every_day_is_read_back(when, style):
    found = find_range(when.strftime(style), NOW)
    assert (found.start, found.end - found.start) == (
        us(when.year, when.month, when.day),
        86_400_000_000,
    )


@pytest.mark.parametrize("part", ["end of ", "last ", "week before ", "1 ", "2023-", "May ", "'"])
def test_a_hostile_text_takes_seconds_at_most(part):
    began = time.process_time()
    find_range(part * (100_000 // len(part)), NOW)
    assert time.process_time() - began < 5


def test_easter():
    sundays = [periods.holiday(("easter",), y)[0] for y in (1999, 2000, 2022, 2025)]
    assert [(when.month, when.day) for when in sundays] == [(4, 4), (4, 23), (4, 17), (4, 20)]


def locomo():
    folder = os.environ.get("RECOLLEX_DATA")
    path = Path(folder or "") / "locomo" / "locomo10.json"
    if not folder or not path.exists():
        pytest.skip("no LoCoMo; RECOLLEX_DATA names a folder with locomo/locomo10.json")
    return json.loads(path.read_text())


MONTH_AND_YEAR = (
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r",? (?:\d{1,2}, ?)?20\d\d\b"
)


def test_locomo_questions_that_write_a_month_and_year_have_a_range():

    asked = [qa["question"] for talk in locomo()[:5] for qa in talk["qa"]]
    dated = [question for question in asked if re.search(MONTH_AND_YEAR, question)]
    assert len(dated) > 50
    assert [question for question in dated if find_range(question, us(2024, 6, 1)) is None] == []
