"""What a caller sees of confidence: on every recall, and as a bound below which nothing comes."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recollex
import recollex.aio
from recollex import presets
from recollex_engine.errors import InputError
from recollex_engine.models.description import PAPER_THRESHOLDS
from recollex_engine.ranking import arm_table, arms
from tests.default_model import default_model

DIMENSION = 64
TALK = [
    ("Ann", "I adopted a puppy from the shelter on Sunday."),
    ("Ben", "Wonderful! I sold my old motorbike to a neighbour."),
    ("Ann", "The puppy chewed my cello bow."),
    ("Ben", "My sister won a chess tournament in Lisbon."),
    ("Ann", "I baked rye bread for the school fair."),
    ("Ben", "We painted the kitchen green."),
    ("Ann", "My brother repairs clocks in a small workshop."),
    ("Ben", "I planted tomatoes and basil on the balcony."),
    ("Ann", "The choir sings in the chapel on Fridays."),
    ("Ben", "The train to Porto was late again."),
    ("Ann", "I lost my umbrella at the museum."),
    ("Ben", "The dentist pulled out a tooth."),
]
ANSWERABLE = [
    "What did Ann adopt from the shelter?",
    "Did Ben plant tomatoes on the balcony?",
    "What did Ann bake for the school fair?",
    "Was the train to Porto late?",
]
WRONG_PERSON = [
    "What did Ben adopt from the shelter?",
    "Did Ann plant tomatoes on the balcony?",
    "What did Ben bake for the school fair?",
]
UNHEARD_OF = [
    "Quantum entanglement of photons?",
    "Which volcano erupted near Reykjavik?",
    "Who conducts the Chicago symphony orchestra?",
]


class WordVectors:
    """A memory is as like a question as they share words of four letters and more, by a stem."""

    dimension = DIMENSION
    fingerprint = "words-64"
    thresholds = PAPER_THRESHOLDS

    def embed(
        self, texts: Any, threads: int = 1, progress: Callable[[int], None] | None = None
    ) -> Any:
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> Any:
        words = [word.strip("?.!,:").lower() for word in text.split()]
        words = [word for word in words if len(word) > 3] or ["nothing"]
        seeds = [sum(ord(c) * 31**n for n, c in enumerate(word[:5])) for word in words]
        total = sum(np.random.default_rng(seed).normal(size=DIMENSION) for seed in seeds)
        return np.asarray(total / np.linalg.norm(total), np.float32)

    def count_tokens(self, text: str) -> int:
        return len(text.split())


def opened(path: Path, **options: Any) -> recollex.Store:
    return recollex.open(path / "s", embedder=WordVectors(), **options)


def turns(said: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [
        {"speaker": who, "text": text, "at": f"2024-05-{day:02}T10:00:00Z"}
        for day, (who, text) in enumerate(said, 1)
    ]


@pytest.fixture
def talk(tmp_path: Path) -> Any:
    with opened(tmp_path) as store:
        agent = store.agent("a")
        agent.retain_dialogue(turns(TALK), document_id="talk")
        yield agent


def test_what_was_said_is_surer_than_what_was_not(talk: recollex.Agent) -> None:
    def sure(queries: list[str]) -> list[float]:
        found = [talk.recall(query).confidence for query in queries]
        assert None not in found
        return found  # type: ignore[return-value]

    assert min(sure(ANSWERABLE)) > 0.6
    assert max(sure(WRONG_PERSON)) < 0.4
    assert max(sure(UNHEARD_OF)) < 0.1


TRIP = [
    ("Ann", "How was your summer?"),
    ("Ben", "We went to Lisbon for ten days in August, my sister and I."),
    ("Ann", "Lovely! Where did you stay?"),
    ("Ben", "In a small guesthouse in Alfama, with a view of the river."),
    ("Ann", "And what did you do all day?"),
    ("Ben", "We took the tram to Belem and ate far too many custard tarts."),
    ("Ben", "My sister lost her camera on the ferry to Cacilhas."),
    ("Ann", "Oh no! Did it come back?"),
    ("Ben", "A fisherman brought it to the guesthouse in the evening."),
    ("Ann", "I stayed at home and painted the kitchen green."),
    ("Ben", "Was that much work?"),
    ("Ann", "Three weekends, and my brother helped me with the ceiling."),
]
TOLD = [
    "How long was Ben in Lisbon?",
    "Who went to Lisbon with Ben?",
    "When did Ben go to Lisbon?",
]
UNTOLD = [
    "How much did Ben's trip to Lisbon cost?",
    "What was the price of Ben's trip to Lisbon?",
    "How much did Ben pay for the guesthouse in Lisbon?",
]


@pytest.mark.parametrize("model", [True, False])
def test_an_untold_price_of_a_told_trip_is_less_sure_than_what_was_told(
    tmp_path: Path, model: bool
) -> None:
    embedder = default_model() if model else WordVectors()
    with recollex.open(tmp_path / "s", embedder=embedder) as store:
        agent = store.agent("a")
        agent.retain_dialogue(turns(TRIP), document_id="talk")
        untold, told = (
            [agent.recall(query).confidence or 0 for query in queries] for queries in (UNTOLD, TOLD)
        )
    assert max(untold) < min(told)
    assert sum(untold) / len(untold) < sum(told) / len(told) - 0.05


def test_below_the_bound_nothing_is_returned_but_why(talk: recollex.Agent) -> None:
    query = WRONG_PERSON[0]
    free = talk.recall(query)
    assert free.confidence is not None and free.signs is not None and len(free)
    assert list(talk.recall(query, min_confidence=free.confidence)) == list(free)
    bound = talk.recall(query, min_confidence=float(np.nextafter(free.confidence, 1)))
    assert (list(bound), bound.ids, bound.tokens, bound.to_prompt()) == ([], [], 0, "")
    assert (bound.confidence, bound.signs) == (free.confidence, free.signs)
    assert bound.trace.total > 0 and "fusion" in bound.trace.stages and not bound.trace.errors
    told = bound.to_dict()
    assert (told["confidence"], told["memories"]) == (free.confidence, [])
    assert told["signs"]["misattributed"] > 0


def test_a_reranker_is_not_asked_for_what_is_not_returned(talk: recollex.Agent) -> None:
    def rerank(query: str, texts: list[str]) -> list[float]:
        raise AssertionError("asked")

    preset = replace(presets.default, reranker=presets.FunctionReranker(rerank))
    bound = talk.recall(UNHEARD_OF[0], preset=preset, min_confidence=0.9)
    assert not len(bound) and not bound.trace.errors


@pytest.mark.parametrize("preset", ["default", "tempr"])
def test_an_agent_that_holds_nothing_is_sure_of_it(tmp_path: Path, preset: str) -> None:
    with opened(tmp_path) as store:
        agent = store.agent("a")
        for _ in range(2):
            found = agent.recall("Who won?", preset=preset, min_confidence=0.5)
            assert (len(found), found.confidence) == (0, 0.0)
            assert found.signs is not None and found.signs.memories == 0
            agent.forget(agent.retain_many(["Ann won."]))  # then a store, and all of it forgotten


def test_nothing_that_a_filter_admits_is_confidence_0(talk: recollex.Agent) -> None:
    assert talk.recall(ANSWERABLE[0], tags=["none such"]).confidence == 0.0


def test_another_fusion_knows_no_confidence_and_says_what_does(talk: recollex.Agent) -> None:
    for preset in ("tempr", replace(presets.default, arms=("keyword",), name="words")):
        found = talk.recall(ANSWERABLE[0], preset=preset)
        assert len(found) and found.confidence is None and found.signs is None
        with pytest.raises(InputError, match="tells no confidence: use one with Contextual"):
            talk.recall(ANSWERABLE[0], preset=preset, min_confidence=0.5)


@pytest.mark.parametrize("arm", ["keyword", "semantic"])
def test_where_an_arm_failed_confidence_is_unknown_and_does_not_suffice(
    talk: recollex.Agent, monkeypatch: pytest.MonkeyPatch, arm: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError("gone")

    monkeypatch.setattr(arms if arm == "keyword" else arm_table, arm, fail)
    found = talk.recall(ANSWERABLE[0])
    assert arm in found.trace.errors and found.confidence is None and found.signs is None
    assert len(found)
    assert not len(talk.recall(ANSWERABLE[0], min_confidence=0.1))


RUSSIAN = "Где спит кошка?"


@pytest.fixture
def cats(tmp_path: Path) -> Any:
    with recollex.open(tmp_path / "cats", embedder=WordVectors()) as store:
        store.agent("a").retain_many(["Кошка спит на диване.", "The cat sleeps on the sofa."])
        yield store


def test_of_a_script_that_is_not_latin_confidence_is_not_known(cats: recollex.Store) -> None:
    agent = cats.agent("a")
    found = agent.recall(RUSSIAN)
    assert len(found) == 2 and found.confidence is None and found.signs is None
    english = agent.recall("Where does the cat sleep?")
    assert english.confidence is not None and english.signs is not None


def test_what_is_not_known_does_not_suffice(cats: recollex.Store) -> None:
    agent = cats.agent("a")
    for least in (0.01, 1.0):
        found = agent.recall(RUSSIAN, min_confidence=least)
        assert (len(found), found.confidence, found.trace.errors) == (0, None, {})
        both = cats.recall(RUSSIAN, agents=["a"], min_confidence=least)
        assert (len(both), both.confidence) == (0, None)
    with pytest.raises(InputError, match="tells no confidence: use one with Contextual"):
        agent.recall(RUSSIAN, preset="tempr", min_confidence=0.5)
    assert agent.recall(RUSSIAN, tags=["none such"], min_confidence=0.5).confidence == 0.0


@pytest.mark.parametrize("least", [-0.1, 1.5, float("nan"), "0.5", True, None])
def test_what_is_no_probability_is_refused(talk: recollex.Agent, least: Any) -> None:
    with pytest.raises(InputError, match="min_confidence must"):
        talk.recall("x", min_confidence=least)


def test_neither_checkpoint_nor_reopening_moves_it(talk: recollex.Agent, tmp_path: Path) -> None:
    queries = ANSWERABLE + WRONG_PERSON + UNHEARD_OF
    before = [talk.recall(query).signs for query in queries]
    talk.checkpoint()
    assert [talk.recall(query).signs for query in queries] == before
    with opened(tmp_path, read_only=True) as store:
        assert [store.agent("a").recall(query).signs for query in queries] == before


def test_many_and_awaited_recalls_take_the_bound(talk: recollex.Agent, tmp_path: Path) -> None:
    queries = [ANSWERABLE[0], UNHEARD_OF[0]]
    answered = [True, False]
    found = talk.recall_many(queries, min_confidence=0.5)
    assert [len(each) > 0 for each in found] == answered

    async def ask() -> list[recollex.Recall]:
        options = {"embedder": WordVectors(), "read_only": True}
        async with recollex.aio.open(tmp_path / "s", **options) as store:
            agent = await store.agent("a")
            return [await agent.recall(query, min_confidence=0.5) for query in queries]

    assert [len(each) > 0 for each in asyncio.run(ask())] == answered
