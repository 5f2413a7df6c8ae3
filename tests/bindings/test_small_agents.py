"""In an agent of few memories one shared word is chance, and no name is rare."""

from pathlib import Path

import numpy as np
import pytest

import recollex
from recollex_engine.ranking.small_stores import names_speaker
from tests.bindings.given_cosines import DIMENSION, at_cosine
from tests.bindings.word_vectors import WordVectors

AISLE = "I always book the aisle because I have long legs."
THEATRE = "Sabine wants to see the theatre of Epidaurus."


def made(store: recollex.Store, told: dict[str, float], others: int) -> recollex.Agent:
    """Return an agent of these memories, text -> cosine, among others at a cosine of 0.02."""
    agent = store.agent(f"{others}")
    texts = {f"The station of line {n} lies in district {n}.": 0.02 for n in range(others)} | told
    vectors = [at_cosine(cosine, n % 60) for n, cosine in enumerate(texts.values())]
    agent.retain_many(list(texts), embedding=np.array(vectors))
    return agent


def first(agent: recollex.Agent, question: str) -> str:
    return agent.recall(question, query_embedding=at_cosine(1.0, 0))[0].text


@pytest.mark.parametrize("others", [3, 18, 40])
def test_one_word_shared_by_chance_does_not_win(tmp_path: Path, others: int) -> None:
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(DIMENSION)) as store:
        agent = made(store, {AISLE: 0.316, THEATRE: 0.196}, others)
        assert first(agent, "Which seat do I want?") == AISLE


def test_a_tag_makes_a_small_agent_of_a_large_one(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(DIMENSION)) as store:
        agent = made(store, {}, 300)
        told = {AISLE: 0.316, THEATRE: 0.196, "The lamp is green.": 0.1}
        vectors = np.array([at_cosine(cosine, n) for n, cosine in enumerate(told.values())])
        agent.retain_many(list(told), embedding=vectors, tags=[["trip"]] * 3)
        question = "Which seat do I want?"
        found = agent.recall(question, query_embedding=at_cosine(1.0, 0), tags=["trip"])
        assert found[0].text == AISLE


def test_two_words_are_no_chance(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(DIMENSION)) as store:
        agent = made(store, {AISLE: 0.316, THEATRE: 0.196}, 18)
        assert first(agent, "Which theatre does Sabine want to see?") == THEATRE


def test_a_name_is_no_chance(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(DIMENSION)) as store:
        agent = made(store, {"The plan was sent by Leila.": 0.196, AISLE: 0.316}, 18)
        assert first(agent, "Which seat did leila take?") == "The plan was sent by Leila."


def test_a_name_is_read_in_the_language_of_the_agent(tmp_path: Path) -> None:
    model = recollex.GivenVectors(DIMENSION)
    with recollex.open(tmp_path, embedder=model, language="german") as store:
        agent = made(store, {"Der Plan kam von Jürgen.": 0.196, AISLE: 0.316}, 18)
        assert first(agent, "Welchen Sitz nahm Jürgen?") == "Der Plan kam von Jürgen."


def test_a_rare_word_of_a_large_agent_is_no_chance(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(DIMENSION)) as store:
        agent = made(store, {AISLE: 0.316, THEATRE: 0.196}, 2_000)
        assert first(agent, "What did they say of the theatre?") == THEATRE


def test_a_shared_name_counts_less_in_a_small_agent(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(DIMENSION)) as store:
        told = {"Ada met Bo in Oslo.": 0.6, "Ada is allergic to cats.": 0.07}
        received = []
        for others in (3, 300):
            agent = made(store, told, others)
            found = agent.recall(
                "Who was met?",
                query_embedding=at_cosine(1.0, 0),
                explain=True,
            )
            received += [m.parts["association"] for m in found if m.text.startswith("Ada is")]
        assert 0 < received[0] < 0.1 * received[1]


def test_a_name_that_speaks_later_speaks_in_no_earlier_view(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        agent.retain("Bob likes tea.")
        then = agent.list()[0].recorded_at
        said = {"speaker": "Ann", "text": "I lost the tea.", "at": "2024-05-04T10:00:00Z"}
        agent.retain_dialogue([said], document_id="d")
        now, before = agent.engine.view(), agent.at(then).engine.view()
        assert now is not None and before is not None
        (named,) = now.columns.speakers.by_name(now.of_memories("speaker"), frozenset({"ann"}))
        assert len(named) == 1
        assert names_speaker(now, named) and not names_speaker(before, named)


def test_a_name_in_an_address_is_no_chance(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(DIMENSION)) as store:
        told = "Calendar: Budget review with anaya.patel@atlas.com, 2023-12-13."
        agent = made(store, {told: 0.196, AISLE: 0.316}, 18)
        assert first(agent, "Cancel what I planned with anaya.") == told
        assert first(agent, "Which atlas did I want?") == AISLE  # no name is shared
