"""A filter's bank is ranked as it would be in an agent that holds it alone."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recollex
from tests.bindings.word_vectors import WordVectors

TOLD_AT = datetime(2024, 5, 1, tzinfo=UTC)
RNG = np.random.default_rng(5)
THINGS = ("tea", "rice", "soap", "bread", "milk", "plums", "salt", "oil", "wine", "corn")
PEOPLE = (("Ann", "Bo"), ("Cy", "Dee"), ("Eve", "Fay"))


def talk(bank: int) -> list[dict[str, Any]]:
    """A talk in which each word is rare or frequent, differently from the other banks."""
    turns = []
    for n in range(40):
        drawn = [THINGS[(bank * 3 + int(10 * RNG.random() ** 2)) % 10] for _ in range(3)]
        turns.append(
            {
                "speaker": PEOPLE[bank][n % 2],
                "text": f"I bought {drawn[0]} and {drawn[1]}, but no {drawn[2]}.",
                "at": TOLD_AT + timedelta(days=bank, minutes=n),
                "id": f"{bank}-{n}",
            }
        )
    return turns


TALKS = [talk(bank) for bank in range(3)]
QUESTIONS = ("Who bought plums and wine?", "What was said about the milk?", "salt or corn?")


def store_in(path: Path) -> recollex.Store:
    return recollex.open(path, embedder=WordVectors(), clock=lambda: TOLD_AT + timedelta(days=9))


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with store_in(tmp_path / "s") as store:
        for bank, turns in enumerate(TALKS):
            for name in ("together", f"bank-{bank}"):
                agent = store.agent(name)
                agent.retain_dialogue(turns, document_id=f"talk-{bank}", tags=[f"bank-{bank}"])
                if bank == 1 and name == "together":
                    agent.checkpoint()
        yield store


def keyword_parts(recall: recollex.Recall) -> dict[str, float]:
    return {memory.id: memory.parts["keyword"] for memory in recall}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("bank", range(3))
def test_words_weigh_as_in_an_agent_of_the_bank(
    store: recollex.Store, bank: int, question: str
) -> None:
    options: dict[str, Any] = {"explain": True, "max_tokens": 1 << 20}
    alone = store.agent(f"bank-{bank}").recall(question, **options)
    found = store.agent("together").recall(question, tags=[f"bank-{bank}"], **options)
    parts, expected = keyword_parts(found), keyword_parts(alone)
    assert parts.keys() == expected.keys()
    for id, part in parts.items():
        # the mean length is the agent's; all texts here are of about one length
        assert part == pytest.approx(expected[id], rel=0.05)
    assert found.signs is not None and alone.signs is not None
    assert found.signs.memories == alone.signs.memories == 40
    assert found.signs.unknown == pytest.approx(alone.signs.unknown, abs=0.01)


def test_a_filtered_cut_is_a_rebuilt_store(store: recollex.Store, tmp_path: Path) -> None:
    agent = store.agent("together")
    then = agent.get("1-39").recorded_at
    agent.snapshot(then, tmp_path / "then")
    with store_in(tmp_path / "then") as rebuilt:
        for question in QUESTIONS:
            asked = {"tags": ["bank-1"], "explain": True}
            cut = agent.recall(question, as_recorded=then, **asked)
            copy = rebuilt.agent("together").recall(question, now=then, exact=True, **asked)
            assert [(m.id, m.score) for m in cut] == [(m.id, m.score) for m in copy]
            assert cut.confidence == copy.confidence


def test_a_filter_that_admits_all_changes_nothing(store: recollex.Store) -> None:
    agent = store.agent("together")
    for question in QUESTIONS:
        found = agent.recall(question, since=TOLD_AT - timedelta(days=1))
        whole = agent.recall(question)
        assert [(m.id, m.score) for m in found] == [(m.id, m.score) for m in whole]


def test_a_later_speaker_changes_no_cut(tmp_path: Path) -> None:
    with store_in(tmp_path / "s") as store:
        agent = store.agent("a")
        texts = ["Rome is far away.", *(f"The bus number {n} is late." for n in range(60))]
        agent.retain_many(texts, id=[str(n) for n in range(61)])
        then = agent.get("0").recorded_at
        before = agent.recall("What happened to Rome and the bus?", explain=True)
        turn = {"speaker": "Rome", "text": "I am late.", "at": TOLD_AT}
        agent.retain_dialogue([turn], document_id="d")
        agent.recall("What did Rome say?")
        cut = agent.recall("What happened to Rome and the bus?", as_recorded=then, explain=True)
        assert keyword_parts(cut) == keyword_parts(before)
