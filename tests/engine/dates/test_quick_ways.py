"""The quick ways to read a time give what the whole grammar gives."""

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollex_engine.dates import (
    expression_parser,
    relative_dates,
    scanner,
    tense,
    time_places,
    time_range,
    time_words,
)
from recollex_engine.dates.calendar_dates import NAMES_OF_DATES
from recollex_engine.dates.expression_parser import ExpressionParser
from recollex_engine.dates.holidays import HOLIDAYS
from recollex_engine.dates.time_range import find_event_range, find_range
from tests.engine.dates.day_ranges import NOW

WORDS = st.sampled_from(
    [
        *("last", "this", "next", "a", "the", "two", "few", "first", "early", "in", "of", "on"),
        *("before", "after", "since", "until", "between", "and", "to", "from", "ago", "now", "day"),
        *("week", "months", "year", "summer", "winter", "May", "june", "Feb", "Friday", "sat"),
        *(
            "Christmas",
            "Easter",
            "new",
            "mother's",
            "good",
            "eve",
            "evening",
            "night",
            "29",
            "31",
            "2023",
            "21st",
            "3 pm",
        ),
        *("'90s", "2023-05", "yesterday", "weekend", "quarter", "will", "met", ",", "?", "."),
    ]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=9).map(" ".join)
SAID = st.lists(
    st.sampled_from(
        [
            *("will", "Will", "won't", "can't wait", "going to", "going", "plan", "plans to", "ll"),
            *("I'll", "scheduled", "reschedule", "schedules", "reminder", "let's", "let", "move"),
            *("the meeting", "did", "didn't", "won", "needed", "ended", "red", "_ed", "ended2"),
            *("booked", "due", "\u017fhall", "\u2019ll", ".", "?", "!", "\n", ". ", "3.5", "trip"),
        ]
    ),
    max_size=9,
).map(" ".join)

AHEAD = (
    *("will", "shall", "gonna", "won't", "going to", "plan to", "plans to", "planning", "hope to"),
    *("hoping to", "upcoming", "looking forward", "can't wait", "excited for", "scheduled", "next"),
    *("I'll", "trip", "itinerary", "let's", "schedule", "reminder", "deadline", "book", "booked"),
    *("booking", "reserve", "due", "availability", "\u017fhall"),
)


class _Everything:
    """A set that holds every word."""

    def __contains__(self, word):
        return True

    def isdisjoint(self, words):
        return False


def read(text):
    times = [NOW, NOW - 310 * 86_400_000_000]
    return [
        find(text, now) for now, find in itertools.product(times, (find_range, find_event_range))
    ]


def assert_same_with(text, *changes):
    """Assert that a text is read alike with each change: an owner, an attribute, its new value."""
    found = read(text)
    with pytest.MonkeyPatch.context() as patch:
        for owner, name, value in changes:
            patch.setattr(owner, name, value)
        assert read(text) == found


@settings(max_examples=300, deadline=None)
@given(TEXTS)
@example("on 29 February")
@example("five years before Christmas")
@example("two weeks before Easter")
def test_the_latest_year_is_that_of_all_years(text):
    assert_same_with(text, (ExpressionParser, "_latest_begun", lambda self, of_year: None))


@settings(max_examples=300, deadline=None)
@given(TEXTS)
@example("the last three months of 2023")
@example("in two weeks I will come")
@example("two months ago")
@example("two weeks prior to Easter")
@example("a week from now")
@example("on 29 Feb")
def test_no_expression_begins_with_another_word(text):
    words = ("_FIRST", "_PARTS", "_OFFSETS", "_COUNTS", "_RELATIVE")
    assert_same_with(
        text,
        *((relative_dates, name, _Everything()) for name in words),
        *((expression_parser, name, _Everything()) for name in ("STEPPING", "_MONTHS")),
    )


@pytest.mark.parametrize(
    "text", ["I have a paper due monday", "Who came in May 2023?", "in June of last year"]
)
def test_no_tense_is_read_where_no_time_depends_on_it(text, monkeypatch):
    monkeypatch.setattr(tense, "future_sentences", None)
    find_range(text, NOW)


@settings(max_examples=500, deadline=None)
@given(TEXTS)
@example("from mid-to-late Feb")
@example("the first half of the third quarter of 2022")
@example("on St. Patrick's Day, New Year's Eve and the Mid-Autumn Festival")
@example("9:00 to 11:00, on Monday or Friday the 13th, at 3 pm yesterday")
@example("the last two or three days of May, two weeks or so ago")
@example("the season 2018/19, the '90s, Q3, 2022-05 until 25.12., in a couple of weeks")
def test_a_time_begins_before_a_word_that_names_one(text):
    assert_same_with(text, (time_places, "_NAMING", _Everything()))


def test_what_names_no_time_is_not_tried(monkeypatch):
    tried = []
    monkeypatch.setattr(scanner.Scanner, "_match", lambda self, i: tried.append(i))
    find_range("the first 18 of the new ones, this time, last week", NOW)
    assert tried == [11, 12]


def test_every_date_of_the_calendar_may_begin_an_expression():
    assert NAMES_OF_DATES <= relative_dates._FIRST


@settings(max_examples=500, deadline=None)
@given(SAID)
@example("Reschedule it.")
@example("He'll come. I didn't")
def test_words_tell_the_future_as_the_expressions_do(text):
    found = tense.future_sentences(text), tense.speaks_of_future(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tense, "_words", lambda text: None)
        patch.setattr(tense, "_SEVERAL_SENTENCES", lambda text: True)
        assert (tense.future_sentences(text), tense.speaks_of_future(text)) == found


@settings(deadline=None)
@given(st.sampled_from(AHEAD), st.sampled_from(("", "He ", "(", "He\u2019s ")), st.booleans())
def test_every_word_of_the_future_is_found_by_its_words_and_its_expression(word, before, upper):
    text = before + (word.upper() if upper else word) + " it"
    for words in (None, tense._words(text)):
        assert tense._FUTURE.found_in(text, words) or tense._ARRANGING.found_in(text, words)


NUMBERS = st.lists(
    st.sampled_from(
        [
            *(
                "2023",
                "1",
                "12",
                "90s",
                "the 21st",
                "the 2nd",
                "x",
                "\u00e9",
                "_",
                " ",
                "/",
                ".",
                "-",
            ),
            "'",
        ]
    ),
    max_size=6,
).map("".join)


@settings(deadline=None, max_examples=400)
@given(NUMBERS)
@example("the 21stx")
@example("x.5/7")
@example("_2023_")
def test_every_number_that_may_be_a_time_is_a_sign(text):
    assert time_words._YEAR(text) is None or time_words.may_hold_a_time(text)


PATHS = st.sampled_from(
    ["/lib/2.6.10-5-386/x", "v1.2.3", "-5/7", "5/7", "25.12.", "10.0.0.1:80", "1/2"]
)


@settings(deadline=None, max_examples=400)
@given(st.lists(WORDS | PATHS, min_size=1, max_size=7).map(" ".join))
@example("on 25.12. at 3 pm")
def test_a_text_that_may_hold_no_time_has_none(text):
    if not time_words.may_hold_a_time(text):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(time_range, "may_hold_a_time", lambda text: True)
            time_range.forget_questions()
            assert find_range(text, NOW) is None
            assert find_event_range(text, NOW) is None
        time_range.forget_questions()


@pytest.mark.parametrize("name", HOLIDAYS)
@pytest.mark.parametrize("before", ["on ", "the last "])
def test_every_holiday_may_hold_a_time(name, before):
    assert time_words.may_hold_a_time(before + " ".join(name))
    assert find_range(before + " ".join(name), NOW) is not None


@pytest.mark.parametrize("text", ["a new disk", "a good friend of my mother", "women on earth"])
def test_a_word_of_a_holiday_alone_holds_no_time(text):
    assert not time_words.may_hold_a_time(text)
