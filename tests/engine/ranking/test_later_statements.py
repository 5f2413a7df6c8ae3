"""A question of the present ranks the latest of the memories that say the same first."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recollex

DIMENSION = 16
ASKED, PARIS, ROME, BERLIN = range(4)
TEXTS = {PARIS: "I live in Paris.", ROME: "I moved to Rome.", BERLIN: "My sister lives in Berlin."}
TIMES = {
    PARIS: datetime(2023, 5, 1, tzinfo=UTC),
    BERLIN: datetime(2023, 8, 1, tzinfo=UTC),
    ROME: datetime(2024, 5, 1, tzinfo=UTC),
}


def vectors(*cosines: tuple[int, int, float]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return unit vectors of the question and the memories, with these cosines, 0 for others."""
    gram = np.eye(4)
    for one, other, cosine in cosines:
        gram[one, other] = gram[other, one] = cosine
    found = np.zeros((4, DIMENSION), np.float32)
    found[:, :4] = np.linalg.cholesky(gram)
    return found


USUAL = vectors((ASKED, PARIS, 0.5), (ASKED, ROME, 0.5), (PARIS, ROME, 0.5), (ASKED, BERLIN, 0.35))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[recollex.Store]:
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(DIMENSION)) as store:
        yield store


def retain(agent: recollex.Agent, given: Any = USUAL, **changes: str) -> None:
    for place, text in enumerate(TEXTS.values(), start=1):
        agent.retain(
            changes.get(f"m{place}", text),
            event_at=TIMES[place],
            recorded_at=TIMES[place] if place != BERLIN else datetime(2024, 6, 1, tzinfo=UTC),
            embedding=given[place],
        )


def ask(agent: recollex.Agent, question: str, given: Any = USUAL, **options: Any) -> list[str]:
    recall = agent.recall(question, query_embedding=given[ASKED], explain=True, **options)
    assert not recall.trace.errors
    for memory in recall:
        assert sum(memory.parts.values()) == pytest.approx(memory.score)
    scores = [memory.score for memory in recall]
    assert scores == sorted(scores, reverse=True)
    return [memory.text for memory in recall]


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live now?",
        "Where do I currently live?",
        "Where do I live these days?",
        "Where do I live at the moment?",
        "Do I still live in the same town?",
    ],
)
def test_the_later_statement_comes_first(store: recollex.Store, question: str) -> None:
    agent = store.agent("a")
    retain(agent)
    assert ask(agent, question)[:2] == [TEXTS[ROME], TEXTS[PARIS]]
    recall = agent.recall(question, query_embedding=USUAL[ASKED], explain=True)
    if "currently" not in question:  # which prefers the latest by itself
        assert recall[0].parts["later"] > 0 and recall[1].parts["later"] == 0
    before = agent.at(datetime(2023, 12, 1, tzinfo=UTC))
    assert ask(before, question)[0] == TEXTS[PARIS]


@pytest.mark.parametrize(
    "question",
    ["Where do I live?", "Where did I live until now?", "Where do I live now, in May 2023?"],
)
def test_other_questions_do_not_prefer_it(store: recollex.Store, question: str) -> None:
    agent = store.agent("a")
    retain(agent)
    assert ask(agent, question)[0] == TEXTS[PARIS]


@pytest.mark.parametrize(
    "given",
    [
        vectors((ASKED, PARIS, 0.5), (ASKED, ROME, 0.5), (PARIS, ROME, 0.38)),
        vectors((ASKED, PARIS, 0.5), (ASKED, ROME, 0.43), (PARIS, ROME, 0.55)),
    ],
    ids=["it says something else", "it is much less near to the question"],
)
def test_a_memory_of_another_matter_does_not(store: recollex.Store, given: Any) -> None:
    agent = store.agent("a")
    retain(agent, given)
    assert ask(agent, "Where do I live now?", given)[0] == TEXTS[PARIS]


def test_what_is_very_alike_may_be_less_near_to_the_question(store: recollex.Store) -> None:
    agent = store.agent("a")
    given = vectors((ASKED, PARIS, 0.5), (ASKED, ROME, 0.43), (PARIS, ROME, 0.65))
    retain(agent, given)
    assert ask(agent, "Where do I live now?", given)[0] == TEXTS[ROME]


def test_a_statement_about_another_does_not(store: recollex.Store) -> None:
    agent = store.agent("a")
    retain(agent, m1="Jonas Berg lives in Paris.", m2="Anita Holm moved to Rome.")
    assert ask(agent, "Where does Jonas Berg live now?")[0] == "Jonas Berg lives in Paris."


class Table(recollex.GivenVectors):
    """An embedder that looks up the end of a text."""

    def embed(self, texts: Sequence[str], threads: int = 1, progress: Any = None) -> Any:
        ends = {text: place for place, text in TEXTS.items()}
        return np.array([USUAL[ends[text.split(": ")[1]]] for text in texts])


@pytest.mark.parametrize(("speaker", "first"), [("Ann", "Ann: I moved"), ("Ben", "Ann: I live")])
def test_only_the_same_speaker_is_believed(tmp_path: Path, speaker: str, first: str) -> None:
    with recollex.open(tmp_path / "s", embedder=Table(DIMENSION)) as store:
        agent = store.agent("a")
        for name, place in (("Ann", PARIS), (speaker, ROME)):
            turn = {"speaker": name, "text": TEXTS[place], "at": TIMES[place]}
            agent.retain_dialogue([turn], document_id=str(place))
        assert ask(agent, "Where does she live now?")[0].startswith(first)


def test_the_turns_of_one_talk_add_to_each_other(tmp_path: Path) -> None:
    with recollex.open(tmp_path / "s", embedder=Table(DIMENSION)) as store:
        agent = store.agent("a")
        turns = [
            {"speaker": "Ann", "text": TEXTS[place], "at": TIMES[place]} for place in (PARIS, ROME)
        ]
        agent.retain_dialogue(turns, document_id="talk")
        assert ask(agent, "Where does she live now?")[0] == f"Ann: {TEXTS[PARIS]}"
