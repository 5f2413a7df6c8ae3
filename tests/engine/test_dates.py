import doctest
import json
import os
import re
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine import dates, periods
from recollex_engine.dates import EARLIEST, LATEST, find_range, resolve

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def us(*when, tz=UTC):
    return (datetime(*when, tzinfo=tz) - EPOCH) // timedelta(microseconds=1)


NOW = us(2023, 11, 15, 10)  # a Wednesday


def said(found):
    """Return a range as "first..last" days, with hours where it does not begin or end a day."""
    if found is None:
        return None
    if found.start == EARLIEST:
        return ".." + day(found.end - 1)
    return day(found.start) + ".." + ("" if found.end in (NOW, LATEST) else day(found.end - 1))


def day(at):
    when = EPOCH + timedelta(microseconds=at)
    return when.strftime("%Y-%m-%d" if when.hour in (0, 23) else "%Y-%m-%d+%H")


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(dates).failed == 0


QUESTIONS = {
    # the papers' examples (TEMPR 3.1.4, Memora 3.1.4)
    "What did Alice do last spring?": "2022-03-01..2022-05-31",
    "What did Alice do in June?": "2023-06-01..2023-06-30",
    "Where did she live last year?": "2022-01-01..2022-12-31",
    "What happened between March and May?": "2023-03-01..2023-05-31",
    # days
    "on May 7, 2023": "2023-05-07..2023-05-07",
    "on May 7th 2023": "2023-05-07..2023-05-07",
    "on 7 May 2023": "2023-05-07..2023-05-07",
    "the 7th of May, 2023": "2023-05-07..2023-05-07",
    "2023-05-07": "2023-05-07..2023-05-07",
    "at 2023-05-07T10:00:00Z": "2023-05-07..2023-05-07",
    "2023/05/07": "2023-05-07..2023-05-07",
    "25/12/2022": "2022-12-25..2022-12-25",
    "What did he send on December 1,2022?": "2022-12-01..2022-12-01",
    "on Friday, 12 May 2023": "2023-05-12..2023-05-12",
    "on Dec 20": "2022-12-20..2022-12-20",
    "on Nov. 15": "2023-11-15..2023-11-15",
    "on 29 February": "2020-02-29..2020-02-29",
    "on the evening of 7 July, 2023": "2023-07-07+18..2023-07-07",
    # months, seasons, years
    "the 30th of February 2022": "2022-02-01..2022-02-28",
    "June 2023": "2023-06-01..2023-06-30",
    "in June, 2000 people came": "2023-06-01..2023-06-30",
    "in June of last year": "2022-06-01..2022-06-30",
    "june '21": "2021-06-01..2021-06-30",
    "in december": "2022-12-01..2022-12-31",
    "in may": "2023-05-01..2023-05-31",
    "in November": "2023-11-01..2023-11-30",
    "2023-05 was in 2023-05": "2023-05-01..2023-05-31",
    "last June": "2023-06-01..2023-06-30",
    "in 2022": "2022-01-01..2022-12-31",
    "What did he do in 2021 with Nate?": "2021-01-01..2021-12-31",
    "the year 2021": "2021-01-01..2021-12-31",
    "summer 2021": "2021-06-01..2021-08-31",
    "the fall of 2021": "2021-09-01..2021-11-30",
    "in the summer": "2023-06-01..2023-08-31",
    "this summer": "2023-06-01..2023-08-31",
    "last winter": "2022-12-01..2023-02-28",
    "in the 1990s": "1990-01-01..1999-12-31",
    "in the '90s": "1990-01-01..1999-12-31",
    "in the 1800s": "1800-01-01..1899-12-31",
    "in the early 1990s": "1990-01-01..1993-04-30",
    "in the 19th century": "1801-01-01..1900-12-31",
    "Q3 2024": "2024-07-01..2024-09-30",
    "the third quarter of 2022": "2022-07-01..2022-09-30",
    "last quarter": "2023-07-01..2023-09-30",
    "at Christmas 2022": "2022-12-25..2022-12-25",
    "for Christmas": "2022-12-25..2022-12-25",
    "on Halloween": "2023-10-31..2023-10-31",
    "Thanksgiving 2022": "2022-11-24..2022-11-24",
    "on New Year\u2019s Eve": "2022-12-31..2022-12-31",
    "Easter 2024": "2024-03-31..2024-03-31",
    "the 4th of July": "2023-07-04..2023-07-04",
    # counted from now
    "today": "2023-11-15..2023-11-15",
    "yesterday's news": "2023-11-14..2023-11-14",
    "the day before yesterday": "2023-11-13..2023-11-13",
    "last night": "2023-11-14+18..2023-11-15+05",
    "yesterday morning": "2023-11-14+06..2023-11-14+11",
    "last week": "2023-11-06..2023-11-12",
    "last month": "2023-10-01..2023-10-31",
    "last weekend": "2023-11-11..2023-11-12",
    "over the weekend": "2023-11-11..2023-11-12",
    "last Friday": "2023-11-10..2023-11-10",
    "last Wednesday": "2023-11-08..2023-11-08",
    "last Tues": "2023-11-14..2023-11-14",
    "on Friday": "2023-11-10..2023-11-10",
    "on Wednesday": "2023-11-15..2023-11-15",
    "Friday last week": "2023-11-10..2023-11-10",
    "next Wednesday": "2023-11-22..2023-11-22",
    "this week": "2023-11-13..2023-11-19",
    "next month": "2023-12-01..2023-12-31",
    "two weeks ago": "2023-10-30..2023-11-05",
    "3 days ago": "2023-11-12..2023-11-12",
    "a few days ago": "2023-11-10..2023-11-13",
    "a couple of months ago": "2023-09-01..2023-09-30",
    "five years ago": "2018-01-01..2018-12-31",
    "an hour ago": "2023-11-15+08..2023-11-15+09",
    "in the past two weeks": "2023-11-01..2023-11-15",
    "the past month": "2023-10-15..2023-11-15",
    "the week before last": "2023-10-30..2023-11-05",
    # parts and steps
    "in early 2021": "2021-01-01..2021-04-30",
    "late 2021": "2021-09-01..2021-12-31",
    "mid-June": "2023-06-11..2023-06-20",
    "in the beginning of November 2022": "2022-11-01..2022-11-10",
    "the end of last year": "2022-09-01..2022-12-31",
    "the first half of September 2022": "2022-09-01..2022-09-15",
    "the first week of June": "2023-06-01..2023-06-07",
    "in the second week of November": "2023-11-08..2023-11-14",
    "the last Friday of May": "2023-05-26..2023-05-26",
    "the first weekend in October": "2023-10-07..2023-10-08",
    "the week of May 9": "2023-05-08..2023-05-14",
    "the week before 9 June 2023": "2023-06-02..2023-06-08",
    "the Sunday before October 25, 2022": "2022-10-23..2022-10-23",
    "two weeks before August 11, 2023": "2023-07-24..2023-07-30",
    "the weekend after 10 April 2023": "2023-04-15..2023-04-16",
    "last weekend before April 10, 2023": "2023-04-08..2023-04-09",
    "the month before June 2023": "2023-05-01..2023-05-31",
    "the day after Christmas": "2022-12-26..2022-12-26",
    # between two, or open at an end
    "between March and May (2022)": "2022-03-01..2022-05-31",
    "between November and February 2023": "2022-11-01..2023-02-28",
    "between August 11 and August 15 2023": "2023-08-11..2023-08-15",
    "between August 11 and 15, 2023": "2023-08-11..2023-08-15",
    "from Aug 1941 to Mar 1945": "1941-08-01..1945-03-31",
    "between 2019 and 2021": "2019-01-01..2021-12-31",
    "in 2019-2021": "2019-01-01..2021-12-31",
    "7-9 May 2023": "2023-05-07..2023-05-09",
    "March to May 2022": "2022-03-01..2022-05-31",
    "since June": "2023-06-01..",
    "since 2020": "2020-01-01..",
    "after May 2022": "2022-06-01..",
    "from 2020 on": "2020-01-01..",
    "before 2020": "..2019-12-31",
    "until last year": "..2022-12-31",
    "won by July 10, 2022": "..2022-07-10",
    # the one that names its year counts
    "What did he finish last Friday on 23 January, 2022?": "2022-01-23..2022-01-23",
}


@pytest.mark.parametrize(("text", "expected"), QUESTIONS.items())
def test_questions(text, expected):
    assert said(find_range(text, NOW)) == expected


NO_TIMES = [
    "When did X happen?",
    "Is port 2019 open?",
    "Which bug did v2020.1 fix?",
    "Did it cost $2000?",
    "Did it cost 2000 dollars in 1999 dollars?",
    "How did 2000 people come?",
    "Was there room for us in 1200 hotels?",
    "Are we in room 2023?",
    "I live at 1999 Oak Street",
    "May I come?",
    "You may ask. It may 5 times fail.",
    "We march on. They march 10 miles.",
    "Wait a second",
    "The sun sat on the sea",
    "June said hello to April and August",
    "Is Tuesday a fine name? Every Friday, on Fridays",
    "What did she buy on Black Friday?",
    "Where is the Christmas tree?",
    "Who lives on Easter Island?",
    "from 2000 to 2500 calories",
    "Was it 5/7/2023?",
    "2023-13-01, 2023-02-30, 32/13/2023",
    "Did it fall in spring-loaded springs?",
    "She did it recently, soon, the other day, these days",
    "years ago, weeks before the wedding",
    "It took two weeks. I learned it in two weeks.",
    "10:30, 3.14, 2,000, 192.168.2020.1, 555-2020, AB2020",
    "file-2023-05-07.txt",
    "the week before my birthday",
    "a day in the life, all day, night owl, last minute, last time",
    "This march was long",
    "What is Q5?",
    "9999 years ago",
    "",
]


@pytest.mark.parametrize("text", NO_TIMES)
def test_texts_without_a_time(text):
    assert find_range(text, NOW) is None


STATEMENTS = {
    "I went there last Friday, in 2020 style.": "2023-11-10..2023-11-10",
    "We met yesterday": "2023-11-14..2023-11-14",
    "Next month I will go": "2023-12-01..2023-12-31",
    "We went camping last summer": "2023-06-01..2023-08-31",
    "We went camping in June": "2023-06-01..2023-06-30",
    "The conference is in January": "2024-01-01..2024-01-31",
    "I'll see you in June": "2024-06-01..2024-06-30",
    "We will meet on Friday": "2023-11-17..2023-11-17",
    "We met on Friday": "2023-11-10..2023-11-10",
    "I'm going to run it in two weeks": "2023-11-27..2023-12-03",
    "I have lived here since 2016, and moved in 2020": "2020-01-01..2020-12-31",
    "We haven\u2019t talked in two weeks, I'm going to call": None,
    "I have lived here since 2016": None,
    "It was 4 years ago": "2019-01-01..2019-12-31",
    "She left recently and comes back soon": None,
    "I\u2019ll do it this weekend": "2023-11-18..2023-11-19",
}


@pytest.mark.parametrize(("text", "expected"), STATEMENTS.items())
def test_statements(text, expected):
    assert said(resolve(text, NOW)) == expected


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
    for read in (find_range, resolve):
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
