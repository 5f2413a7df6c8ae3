"""Which sentences speak of the future."""

import doctest

import pytest

from recollex_engine.dates import tense
from recollex_engine.dates.tense import future_sentences, speaks_of_future
from recollex_engine.dates.time_range import find_range
from tests.engine.dates.day_ranges import NOW


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(tense).failed == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He'll come.", True),
        ("He\u2019ll come. I didn't", False),  # straight apostrophes are expected
        ("I can't wait", True),
        ("the WILLOW", False),
        ("I plan to go", True),
        ("my plan", False),
    ],
)
def test_words_of_the_future_are_whole(text, expected):
    assert speaks_of_future(text) is expected


@pytest.mark.parametrize(
    ("text", "ahead"),
    [
        ("Reschedule it.", []),
        ("Schedule it.", ["Schedule it."]),
        ("He\u2019ll come. I didn\u2019t", ["He'll come."]),
        ("Will she come? She did.", ["Will she come?"]),
        ("Is it scheduled?", []),  # a question must say "will"
        ("It is booked and needed", ["It is booked and needed"]),
        ("It was booked", []),
        ("Move the meeting. Move it. Move on.", ["Move the meeting.", " Move it.", " Move on."]),
        ("Move the dot. meeting", []),
    ],
)
def test_a_sentence_is_ahead_unless_it_has_a_verb_of_the_past(text, ahead):
    straight = text.replace("\u2019", "'")
    assert [straight[start:end] for start, end in future_sentences(text)] == ahead


@pytest.mark.parametrize(
    "text", ["I have a paper due monday", "Who came in May 2023?", "in June of last year"]
)
def test_no_tense_is_read_where_no_time_depends_on_it(text, monkeypatch):
    monkeypatch.setattr(tense, "future_sentences", None)
    find_range(text, NOW)
