"""What is kept of recent questions changes no answer."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.dates import time_range
from recollex_engine.dates.time_range import find_range
from recollex_engine.recall import question_reading
from recollex_engine.recall.question_reading import LONGEST, forget_readings, read_question
from recollex_engine.text.analyzer import Analyzer
from recollex_engine.text.question_cues import read_cues

ENGLISH, GERMAN = Analyzer(), Analyzer("german")
WORDS = st.sampled_from(
    (
        *("Where", "does", "Ann", "live", "now?", "these days", "you", "said", "last week", "May"),
        *("will", "we're", "going to", "plan to", "let's", "rescheduled", "reminded", "I'll"),
        *("can't wait", "won't", "booking", '"the red boat"', "in June", "next Friday.", "was"),
        *("an available room", "\u2019ll", "\u017fhall", "in two weeks", "3 pm", "\n"),
    )
)
TEXTS = st.one_of(st.lists(WORDS, max_size=8).map(" ".join), st.text(max_size=60))


def micros(*day):
    return int(datetime(*day, tzinfo=UTC).timestamp()) * 1_000_000


@settings(deadline=None)
@given(TEXTS, st.sampled_from((ENGLISH, GERMAN)))
def test_a_question_reads_the_same_whether_it_is_new_or_recent(text, analyzer):
    forget_readings()
    new, recent = (read_question(analyzer, text) for _ in range(2))
    assert recent == new == question_reading._read(analyzer, text)
    assert (new.cues, new.parsed) == (read_cues(text), analyzer.query(text))


@settings(deadline=None)
@given(TEXTS, st.integers(0, 3000).map(lambda days: micros(2020, 1, 1) + days * 86_400_000_000))
def test_a_recent_question_is_read_again_from_the_now_of_each_recall(text, now):
    find_range(text, micros(2023, 5, 17))
    recent = find_range(text, now)
    time_range.forget_questions()
    assert find_range(text, now) == recent


def test_last_week_moves_with_now():
    found = [find_range("Who came last week?", micros(2024, 3, day)).start for day in (7, 14, 21)]
    assert [start - found[0] for start in found] == [0, 7 * 86_400_000_000, 14 * 86_400_000_000]


@pytest.mark.parametrize("length", [LONGEST, LONGEST + 1])
def test_only_questions_up_to_a_length_are_kept(length):
    forget_readings()
    text = "in May " + "x" * (length - 7)
    for _ in range(2):
        read_question(ENGLISH, text)
        find_range(text, micros(2024, 3, 7))
    kept = 1 if length <= LONGEST else 0
    assert question_reading._recent.cache_info().hits == kept
    assert time_range._recent.cache_info().hits == kept
