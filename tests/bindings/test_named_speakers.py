"""A speaker whose name is an ordinary word: which questions are about him?"""

from collections.abc import Iterator
from pathlib import Path

import pytest

import recollex
from tests.bindings.word_vectors import WordVectors

TALK = (
    (None, "I repaired the fence in the garden on Sunday."),
    ("Ann", "The new bakery will open on Monday at seven."),
    (None, "Fresh bread in the morning is the best of all."),
    ("Ann", "With butter, if you ask me."),
    (None, "My car needs new tyres before winter."),
    ("Ann", "I repaired the roof of the shed in March."),
)


def talk_with(speaker: str, path: Path) -> recollex.Store:
    store = recollex.open(path / speaker, embedder=WordVectors())
    store.agent("talk").retain_dialogue(
        [
            {"speaker": said_by or speaker, "text": text, "at": f"2024-01-01T10:0{n}:00+00:00"}
            for n, (said_by, text) in enumerate(TALK)
        ],
        document_id="talk",
    )
    return store


@pytest.fixture(params=["Will", "A", "May", "Mark", "Grace", "Bill"])
def speaker(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def talk(speaker: str, tmp_path: Path) -> Iterator[recollex.Agent]:
    with talk_with(speaker, tmp_path) as store:
        yield store.agent("talk")


QUESTIONS = (
    "When will the bakery open?",
    "Will the new bakery open?",
    "A new bakery will open when?",
    "May I ask when the new bakery will open?",
    "Mark the date: when will the bakery open?",
    "When will the bill of the bakery mark the grace?",
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_ordinary_word_leaves_the_answer_alone(talk: recollex.Agent, question: str) -> None:
    found = talk.recall(question, explain=True)
    assert found[0].text == f"Ann: {TALK[1][1]}"
    assert found.signs is not None
    assert found.signs.named == found.signs.misattributed == 0
    assert all(memory.parts.get("speaker", 0) == 0 for memory in found)


def test_the_confidence_is_that_of_a_talk_without_such_a_name(
    talk: recollex.Agent, tmp_path: Path
) -> None:
    with talk_with("Bob", tmp_path) as store:
        expected = store.agent("talk").recall(QUESTIONS[0])
    found = talk.recall(QUESTIONS[0])
    assert found.confidence is not None and expected.confidence is not None
    assert found.confidence > expected.confidence - 0.05


def test_a_capital_inside_the_question_names_the_speaker(
    talk: recollex.Agent, speaker: str
) -> None:
    found = talk.recall(
        f"What was repaired by {speaker}?" if speaker != "May" else "What did May repair?"
    )
    assert found[0].text == f"{speaker}: {TALK[0][1]}"
    other = talk.recall("What did Ann repair?")
    assert other[0].text == f"Ann: {TALK[5][1]}"
