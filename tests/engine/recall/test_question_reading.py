"""What the words of a question say, and who reads the time that it names."""

import doctest
from dataclasses import dataclass, field

import pytest

import recollex
from recollex_engine.recall import question_reading
from recollex_engine.recall.question_reading import read_question
from recollex_engine.text.analyzer import Analyzer
from recollex_engine.text.question_cues import read_cues

ENGLISH = Analyzer()


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(question_reading).failed == 0


@pytest.mark.parametrize(
    ("text", "searched"),
    [
        ("Where does Ann live now?", ("ann", "live")),
        ("What is Ann\u2019s current job?", ("ann", "current", "job")),  # a title may hold it
        ("Did Ann live here now?", ("ann", "live", "now")),  # of the past
        ("Who came these days?", ("came",)),
    ],
)
def test_a_word_that_asks_for_the_present_is_not_searched(text, searched):
    reading = read_question(ENGLISH, text)
    assert reading.searched == searched
    assert (reading.cues, reading.parsed) == (read_cues(text), ENGLISH.query(text))


@dataclass(eq=False)
class Asked:
    """A parser of times that keeps what it was asked."""

    month_first: bool | None = None
    name: str = "asked"
    texts: list[tuple[str, bool | None]] = field(default_factory=list)

    def find(self, text, now):
        self.texts.append((text, self.month_first))


@pytest.mark.parametrize(("locale", "month_first"), [("en-GB", None), ("en-US", True)])
def test_another_parser_reads_every_question_in_the_locale(tmp_path, locale, month_first):
    parser = Asked()
    preset = recollex.presets.Preset(name="asked", arms=("keyword",), time_parser=parser)
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8), locale=locale) as store:
        alice = store.agent("alice")
        alice.retain("Ann came.", embedding=[1.0] * 8)
        alice.recall("Wer kam gestern?", preset=preset)
    assert parser.texts == [("Wer kam gestern?", month_first)]
