"""How the roles of a chat change its ranking: whom a question asks about, how long a reply is."""

from dataclasses import replace

import pytest

import recollex
from recollex import presets
from recollex_engine.ranking.contextual_fusion import Contextual
from tests.bindings.word_vectors import WordVectors

PLAN = "The trip goes to Oslo by train."
BLIND = replace(presets.default, fusion=Contextual(role=0.0, passages=0.0))


def first(agent: recollex.Agent, question: str, preset: presets.Preset = presets.default) -> str:
    return agent.recall(question, preset=preset)[0].id


def test_a_question_asks_about_the_user_or_the_assistant(tmp_path):
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        for role in ("user", "assistant"):
            agent.retain_dialogue([{"role": role, "content": PLAN, "id": role}], document_id=role)
        agent.retain_dialogue([{"role": "user", "content": "Fine."}], document_id="in progress")
        assert first(agent, "What trip did you suggest?") == "assistant"
        assert first(agent, "Where does my trip go?") == "user"
        for memory in agent.recall("Where does my trip go?", explain=True):
            assert memory.parts["role"] == (1.8 if memory.role == "user" else 0.0)
            assert sum(memory.parts.values()) == pytest.approx(memory.score, abs=1e-9)


def test_who_speaks_alone_is_not_preferred(tmp_path):
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        agent.retain_dialogue([{"role": "user", "content": PLAN, "id": "u"}], document_id="d")
        (memory,) = agent.recall("Where does my trip go?", explain=True)
        assert memory.parts["role"] == memory.parts["passages"] == 0.0


def test_the_length_of_an_agents_own_records_does_not_count(tmp_path):
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        record = " ".join(f"{PLAN} Step {n} is done." for n in range(200))
        for id, text in (("short", PLAN), ("long", record)):
            agent.retain_dialogue(
                [{"role": "assistant", "content": text, "id": id}], document_id=id
            )
        found, blind = (
            agent.recall("trip by train", preset=preset) for preset in (presets.default, BLIND)
        )
        assert [(m.id, m.score) for m in found] == [(m.id, m.score) for m in blind]


def test_a_long_reply_must_be_more_alike_than_a_short_turn(tmp_path):
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        agent.retain_dialogue([{"role": "user", "content": PLAN, "id": "u"}], document_id="d")
        reply = " ".join(f"{PLAN} Day {n} is for museum number {n}." for n in range(200))
        agent.retain_dialogue([{"role": "assistant", "content": reply, "id": "a"}], document_id="e")
        found = {memory.id: memory for memory in agent.recall("trip by train", explain=True)}
        assert found["u"].parts["passages"] == 0.0
        assert found["a"].parts["passages"] < -1.5


def test_an_agent_without_roles_is_ranked_as_without_these_parts(tmp_path):
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        agent.retain_many([PLAN, "My bicycle is red.", " ".join([PLAN] * 90)])
        found, blind = (
            agent.recall("my trip", preset=preset) for preset in (presets.default, BLIND)
        )
        assert [(m.id, m.score) for m in found] == [(m.id, m.score) for m in blind]


def test_a_turn_that_tells_more_than_it_asks_points_at_no_role(tmp_path):
    """Its four parts of a question are a tenth of what they are in one sentence's place."""
    turn = "Hi, I am back. My trip to Oslo went well on 1 May 2026! What did you suggest for it?"
    whole = replace(presets.default, fusion=Contextual(telling=1.0))
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        reply = " ".join(f"{PLAN} Day {n} is for museum number {n}." for n in range(200))
        said = ("user", "Where does my trip go?", "asked"), ("assistant", reply, "long")
        agent.retain_dialogue(
            [
                {"role": role, "content": text, "at": "2026-05-01T09:00:00Z", "id": id}
                for role, text, id in said
            ],
            document_id="d",
        )
        now = "2026-05-03T09:00:00Z"
        told = agent.recall(turn, now=now, explain=True)
        others = agent.recall(turn, now=now, preset=whole, explain=True)
        asked = {memory.id: memory.parts for memory in others}
        for memory in told:
            for name, part in memory.parts.items():
                scale = 0.1 if name in ("role", "passages", "answer", "in_range") else 1.0
                assert part == pytest.approx(scale * asked[memory.id][name], abs=1e-9), name
        of_reply = asked["long"]
        assert all(of_reply[name] for name in ("role", "passages", "answer", "in_range"))
        short = "What did you suggest for my trip?"
        found, same = (agent.recall(short, preset=each) for each in (presets.default, whole))
        assert [(m.id, m.score) for m in found] == [(m.id, m.score) for m in same]
