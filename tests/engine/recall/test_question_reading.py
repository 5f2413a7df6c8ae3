"""What is kept of recent questions changes no answer."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import recollex
from recollex_engine.dates import time_range
from recollex_engine.dates.time_places import NAMED
from recollex_engine.dates.time_range import find_range
from recollex_engine.dates.time_words import may_hold_a_time
from recollex_engine.recall import question_reading, question_words
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
        *("it's", "well-known", "Anne-Marie's", "zig--zag", "a_b", "3.5", "10,000", "don't"),
        *("i.e.", "'90s", "1990s", "in 2023", "v2", "the 21stx", "3.4.", "12345", "x12/25"),
        *("x-1.2", "3,5", "10,000.5", "1.2.3.4.5.6.7.8.9.10.11"),
        *(
            "Jos\u00e9's",
            "\u00c9t\u00e9",
            "\u0130x",
            "\u00df-\u0149",
            "\u00abwe\u00bb",
            "3\u2013you",
            "Ma\u00df",
        ),
        *("the user said", "Will,", "Agent", "May said", "Ann's-x", "-", "''", "q3", "12/25"),
    )
)
TEXTS = st.one_of(st.lists(WORDS, max_size=8).map(" ".join), st.text(max_size=60))


def micros(*day):
    return int(datetime(*day, tzinfo=UTC).timestamp()) * 1_000_000


@settings(deadline=None, max_examples=300)
@given(TEXTS, st.sampled_from((ENGLISH, GERMAN)))
@example("Anne-Marie's well-known boat", ENGLISH)
@example("What did the user say in 3.5 or 10,000?", ENGLISH)
@example(
    "The user\u2019s sister, I\u2019m told, didn\u2019t see Ann\u2019s \u201cboat\u201d", ENGLISH
)
@example(
    "Qui a dit \u00abl\u2019\u00e9t\u00e9 dernier\u00bb \u2014 Jos\u00e9-Mar\u00eda, en May 3.5?",
    ENGLISH,
)
@example('Is Ann\'"s boat" red?', ENGLISH)
@example("Ann's well-known 3.5 boats, which Bo saw last week " * 9, ENGLISH)
@example('"see 3"."5" "it"', ENGLISH)
@example('Who said "the user\u2019s boat" on Will\u2019s day?', ENGLISH)
def test_a_question_reads_the_same_whether_it_is_new_or_recent(text, analyzer):
    forget_readings()
    new, recent = (read_question(analyzer, text) for _ in range(2))
    assert recent == new == question_reading._read(analyzer, text)
    assert (new.cues, new.parsed) == (read_cues(text), analyzer.query(text))
    assert new.timeless is not may_hold_a_time(text)
    assert not new.timeless or find_range(text, micros(2023, 5, 17)) is None


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


def test_the_memo_of_words_is_bounded_and_long_words_are_not_kept(monkeypatch):
    monkeypatch.setattr(question_words, "_WORDS", 3)
    memo = question_words.QuestionWords(ENGLISH)
    for word in ("ann", "bo", "cy", "di", "x" * 40):
        assert memo[word].names == word
    assert list(memo) == ["di"]


@settings(deadline=None, max_examples=400)
@given(
    st.sampled_from(sorted(question_words.ORDINARY | NAMED | {"user", "you", "caroline", "l", "q"}))
    | st.text("abceghinorstuy", min_size=1, max_size=40),
    st.sampled_from((ENGLISH, GERMAN, Analyzer("french"), Analyzer("none"))),
)
@example("user", ENGLISH)
@example("we", ENGLISH)
@example("last", GERMAN)
@example("l" * 33, ENGLISH)
def test_a_word_of_letters_says_what_the_whole_reading_finds_in_it(word, analyzer):
    memo = question_words.QuestionWords(analyzer)
    assert memo[word] == memo._read(word)


class Asked:
    """A parser of times that keeps what it was asked."""

    name = "asked"

    def __init__(self):
        self.texts = []

    def find(self, text, now):
        self.texts.append(text)


def test_another_parser_reads_every_question(tmp_path):
    parser = Asked()
    preset = recollex.presets.Preset(name="asked", arms=("keyword",), time_parser=parser)
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        alice = store.agent("alice")
        alice.retain("Ann came.", embedding=[1.0] * 8)
        alice.recall("Wer kam gestern?", preset=preset)
    assert parser.texts == ["Wer kam gestern?"]
