"""A time is read only at the places where one may stand."""

import doctest

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollex_engine.dates import scanner, time_range
from recollex_engine.dates.english_words import Tokens
from recollex_engine.dates.periods import HOLIDAYS
from recollex_engine.dates.scanner import leads
from recollex_engine.dates.time_range import find_event_range, find_range
from tests.engine.dates.day_ranges import NOW

WORDS = st.sampled_from(
    [
        *("last", "this", "next", "a", "the", "two", "few", "first", "early", "in", "of", "on"),
        *("before", "after", "since", "until", "between", "and", "to", "from", "ago", "now", "day"),
        *("week", "months", "year", "summer", "winter", "May", "june", "Feb", "Friday", "sat"),
        *("Christmas", "Easter", "new", "mother's", "good", "eve", "evening", "night", "29", "31"),
        *("2023", "21st", "3 pm", "'90s", "2023-05", "yesterday", "weekend", "quarter", "will"),
        *("met", ",", "?", ".", "5/7", "25.12.", "v1.2.3", "10.0.0.1:80"),
    ]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=9).map(" ".join)


def read(text):
    times = [NOW, NOW - 310 * 86_400_000_000]
    return [find(text, now) for now in times for find in (find_range, find_event_range)]


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(scanner).failed == 0


@settings(max_examples=500, deadline=None)
@given(TEXTS)
@example("from mid-to-late Feb")
@example("the first half of the third quarter of 2022")
@example("on St. Patrick's Day, New Year's Eve and the Mid-Autumn Festival")
@example("9:00 to 11:00, on Monday or Friday the 13th, at 3 pm yesterday")
@example("the last two or three days of May, two weeks or so ago")
@example("the season 2018/19, the '90s, Q3, 2022-05 until 25.12., in a couple of weeks")
@example("five years before Christmas")
@example("on 25.12. at 3 pm")
def test_a_time_begins_before_a_word_that_names_one(text):
    found = read(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time_range, "may_name_a_time", lambda text: True)
        patch.setattr(time_range, "leads", lambda tokens: set(range(len(tokens))))
        assert read(text) == found


def test_what_names_no_time_is_not_tried(monkeypatch):
    tried = []
    monkeypatch.setattr(scanner.Scanner, "_match", lambda self, i: tried.append(i))
    find_range("the first 18 of the new ones, this time, last week", NOW)
    assert tried == [11, 12]


@pytest.mark.parametrize("name", HOLIDAYS)
@pytest.mark.parametrize("before", ["on ", "the last "])
def test_every_holiday_is_found(name, before):
    assert find_range(before + " ".join(name), NOW) is not None


@pytest.mark.parametrize("text", ["a new disk", "a good friend of my mother", "women on earth"])
def test_a_word_of_a_holiday_alone_is_no_place_of_a_time(text):
    assert not leads(Tokens(text))
