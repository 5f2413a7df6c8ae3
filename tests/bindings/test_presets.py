"""A preset is every choice of a ranking: what each choice does, seen through a recall."""

import tempfile
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

import recollex
from recollex import presets
from recollex_engine.errors import InputError

DIMENSION = 16
START = datetime(2024, 5, 1, 9, tzinfo=UTC)
TEXTS = [
    "Ann went to the fair in Oslo.",
    "Bob bought a red kite at the fair.",
    "The kite flew over the harbour.",
    "Ann read Invisible Cities on the train.",
    "The invisible man walked through cities.",
    "Carla baked bread with rye.",
]


def vectors(seed: int, count: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Unit vectors that lean one way, so that every memory is near enough to every question."""
    found = np.random.default_rng(seed).normal(size=(count, DIMENSION)) * 0.3 + 1
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def agent() -> Iterator[recollex.Agent]:
    with (
        tempfile.TemporaryDirectory() as folder,
        recollex.open(folder, embedder=recollex.GivenVectors(DIMENSION)) as store,
    ):
        agent = store.agent("a")
        agent.retain_many(
            TEXTS,
            id=[f"m{n}" for n in range(len(TEXTS))],
            event_at=[START + timedelta(hours=n) for n in range(len(TEXTS))],
            network=["world", "world", "agent", "agent", "opinion", "opinion"],
            embedding=vectors(1, len(TEXTS)),
        )
        yield agent


QUERY = vectors(2, 1)[0]


def ask(agent: recollex.Agent, query: str, **options: Any) -> recollex.Recall:
    found = agent.recall(query, query_embedding=QUERY, now=START + timedelta(days=9), **options)
    assert not found.trace.errors
    return found


@pytest.mark.parametrize(
    "name", ["default", "tempr", "tempr-printed", "memora", "satf", "memotrace"]
)
def test_a_preset_ranks_under_its_name_and_as_itself(agent: recollex.Agent, name: str) -> None:
    preset = getattr(presets, name.replace("-", "_"))
    assert preset.name == name
    by_name, by_value = ask(agent, "kite fair", preset=name), ask(agent, "kite fair", preset=preset)
    assert by_name.ids == by_value.ids != []
    assert [m.score for m in by_name] == [m.score for m in by_value]


def test_a_preset_cannot_be_changed_but_copied() -> None:
    with pytest.raises(FrozenInstanceError):
        presets.default.name = "mine"
    assert replace(presets.default, name="mine").name == "mine"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"arms": ()}, "arms must be some of semantic"),
        ({"arms": ("words",)}, "'words'"),
        ({"k1": -1}, "k1 must"),
        ({"b": 1.5}, "b must"),
        ({"temporal": "prophet"}, "'prophet'"),
        ({"overflow": "burst"}, "'burst'"),
        ({"quotas": {"dreams": 3}}, "'dreams'"),
        ({"quotas": {"world": 0}}, r"quotas\['world'\]"),
        ({"depth": 0}, "depth must"),
    ],
)
def test_a_choice_that_is_none_is_refused_by_name(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        replace(presets.default, **change)


@pytest.mark.parametrize("preset", ["defualt", 3, None])
def test_an_unknown_preset_is_refused_with_the_ones_there_are(
    agent: recollex.Agent, preset: Any
) -> None:
    with pytest.raises(InputError, match="default, tempr, tempr-printed, memora, satf, memotrace"):
        agent.recall("kite", query_embedding=QUERY, preset=preset)


def test_the_parts_of_the_default_add_up_to_its_score(agent: recollex.Agent) -> None:
    for memory in ask(agent, "When did Ann go to the fair?", explain=True):
        assert sum(memory.parts.values()) == pytest.approx(memory.score, abs=1e-9)
    known = {field.name for field in fields(presets.Contextual)}
    assert set(memory.parts) <= known
    assert not ask(agent, "kite")[0].parts  # only an explanation costs that


def test_an_arm_that_is_left_out_brings_nothing(agent: recollex.Agent) -> None:
    words = replace(presets.tempr, arms=("keyword",))
    assert ask(agent, "rye", preset=words).ids == ["m5"]
    assert set(ask(agent, "rye", preset=words)[0].ranks) == {"keyword"}
    meaning = replace(presets.default, arms=("semantic",))
    assert all(set(m.ranks) <= {"semantic", "graph"} for m in ask(agent, "rye", preset=meaning))


def test_only_a_question_that_is_all_quotes_demands_their_words(agent: recollex.Agent) -> None:
    plain = ask(agent, "Who read Invisible Cities lately?")
    assert ask(agent, 'Who read "Invisible Cities" lately?').ids == plain.ids
    assert ask(agent, '"invisible cities"').ids == ["m3"]
    for nowhere in ("cities invisible", "harbour quokka"):
        assert ask(agent, f'"{nowhere}"').ids == ask(agent, nowhere).ids
    assert ask(agent, 'Who lives at the "harbour quokka"?')  # no such thing, and yet an answer


@pytest.mark.parametrize("quote", ['"{}"', "\u201c{}\u201d", ' "{}"\n'])
def test_a_question_that_is_passed_on_in_quotes_is_that_question(
    agent: recollex.Agent, quote: str
) -> None:
    for question in (
        "Who read Invisible Cities lately?",
        "When did Ann go to the fair?",
        "What happened last week.",
        "Tell me of the kite!",
    ):
        plain = ask(agent, question, explain=True)
        quoted = ask(agent, quote.format(question), explain=True)
        assert quoted.ids == plain.ids and quoted.ids
        assert [memory.score for memory in quoted] == [memory.score for memory in plain]
        assert quoted.time_range == plain.time_range


def test_a_quota_holds_for_each_network_apart(agent: recollex.Agent) -> None:
    preset = replace(presets.tempr, arms=("semantic",), quotas={"world": 1, "agent": 2})
    found = ask(agent, "fair", preset=preset)
    networks = [memory.network for memory in found]
    assert sorted(networks) == ["agent", "agent", "opinion", "opinion", "world"]


def test_a_list_may_end_at_the_first_memory_that_does_not_fit(agent: recollex.Agent) -> None:
    whole = ask(agent, "kite fair Ann", preset="tempr")
    sizes = [memory.tokens for memory in whole]
    budget = sizes[0] + min(sizes[1:])  # the second may not fit, a later one does
    stopped = ask(agent, "kite fair Ann", preset="tempr", max_tokens=budget)
    skipped = ask(
        agent, "kite fair Ann", preset=replace(presets.tempr, overflow="skip"), max_tokens=budget
    )
    assert stopped.ids == whole.ids[: len(stopped)]
    assert set(stopped.ids) <= set(skipped.ids)
    assert stopped.tokens <= skipped.tokens <= budget


def test_self_anchoring_says_whether_it_acted(agent: recollex.Agent) -> None:
    ever = replace(presets.satf, self_anchoring=presets.SelfAnchoring())
    assert ask(agent, "kite", preset=ever).trace.activated is True
    shut = replace(presets.satf, self_anchoring=presets.SelfAnchoring(gate=1.0))
    assert ask(agent, "kite", preset=shut).trace.activated is False
    assert ask(agent, "kite").trace.activated is None


def test_a_function_reranks_and_a_broken_one_is_only_reported(agent: recollex.Agent) -> None:
    shortest = presets.FunctionReranker(lambda query, texts: [-len(text) for text in texts])
    found = ask(agent, "kite fair", preset=replace(presets.default, reranker=shortest))
    assert [len(m.text) for m in found] == sorted(len(m.text) for m in found)

    def broken(query: str, texts: list[str]) -> list[float]:
        raise RuntimeError("no power")

    preset = replace(presets.default, reranker=presets.FunctionReranker(broken))
    fused = ask(agent, "kite fair")
    found = agent.recall("kite fair", query_embedding=QUERY, preset=preset)
    assert "no power" in found.trace.errors["rerank"]
    assert found.ids == fused.ids


def test_what_repetitions_were_folded_into_is_told(agent: recollex.Agent) -> None:
    agent.retain(
        "bob bought a red kite at the fair!", id="again", embedding=vectors(3, 1)[0], event_at=START
    )
    preset = replace(presets.default, diversity=presets.Diversity(balance=None, collapse=True))
    found = ask(agent, "red kite fair", preset=preset, explain=True)
    kept = next(memory for memory in found if memory.collapsed)
    assert {kept.id, *kept.collapsed} == {"m1", "again"}
    assert kept.to_dict()["collapsed"] == list(kept.collapsed)


def test_a_time_parser_of_ones_own_is_asked_and_may_fail(agent: recollex.Agent) -> None:
    class Broken:
        name = "broken"

        def find(self, text: str, now: int) -> None:
            raise ValueError("what time is it?")

    preset = replace(presets.default, time_parser=Broken())
    found = agent.recall("kite in May 2024", query_embedding=QUERY, preset=preset)
    assert "what time is it?" in found.trace.errors["parse"]
    assert found.time_range is None
    assert len(found)
