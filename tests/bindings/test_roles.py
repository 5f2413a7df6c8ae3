"""Roles of turns: kept, read back, and the same in cuts, after a reopen and in old logs."""

import json
from datetime import UTC, datetime

import numpy as np
import pytest

import recollex
from recollex_engine.domain.trust import ROLES
from tests.bindings.word_vectors import WordVectors

CHAT = [
    {"role": "system", "content": "You are a travel agent.", "id": "s"},
    {"role": "user", "content": [{"type": "text", "text": "I live in Rome."}], "id": "u"},
    {"role": "assistant", "content": "How about Oslo in May?", "id": "a"},
    {"role": "tool", "content": "Oslo: 12 C", "tool_call_id": "c", "id": "t"},
    {"speaker": "Human", "text": "Fine.", "id": "h"},
    {"speaker": "Ann", "text": "Me too.", "id": "n"},
]
SAID = ["system", "user", "assistant", "tool", "user", None]


def opened(path, **options):
    return recollex.open(path, embedder=WordVectors(), **options)


def roles(agent):
    return [memory.role for memory in agent.list()]


def test_roles_are_kept_and_come_back_from_a_recall(tmp_path):
    with opened(tmp_path) as store:
        agent = store.agent("a")
        ids = agent.retain_dialogue(CHAT, document_id="d")
        assert roles(agent) == [agent.get(id).role for id in ids] == SAID
        assert agent.get("u").text == "user: I live in Rome."
        assert agent.get("u").to_dict()["role"] == "user"
        found = {memory.id: memory.role for memory in agent.recall("Rome Oslo fine too")}
        assert found.items() <= dict(zip(ids, SAID, strict=True)).items() and found
        view = agent.engine.view()
        column = view.buffer("role")[: view.memories]
        assert column.dtype == np.uint8
        assert [ROLES[number] for number in column] == SAID


def test_a_recall_may_name_roles(tmp_path):
    with opened(tmp_path) as store:
        agent = store.agent("a")
        agent.retain_dialogue(CHAT, document_id="d")

        def found(roles):
            return set(agent.recall("Rome Oslo fine travel too", roles=roles).ids)

        assert found("user") == {"u", "h"}
        assert found(["assistant", "tool"]) == {"a", "t"}
        assert found("developer") == {"s"}
        assert found(None) == set("suathn")


def test_roles_outlast_checkpoints_and_rebuilds(tmp_path):
    with opened(tmp_path) as store:
        agent = store.agent("a")
        agent.retain_dialogue(CHAT[:3], document_id="d")
        agent.checkpoint()
        agent.retain_dialogue(CHAT[3:], document_id="d")
        assert agent.verify().ok
    with opened(tmp_path, read_only=True) as store:
        assert roles(store.agent("a")) == SAID
    for name in ("MANIFEST", "columns/role"):
        (tmp_path / "agents" / "a" / name).unlink(missing_ok=True)
    with opened(tmp_path) as store:
        assert roles(store.agent("a")) == SAID
        assert store.agent("a").verify().ok


def test_a_checkpoint_without_roles_is_read_anew_from_the_log(tmp_path):
    with opened(tmp_path) as store:
        store.agent("a").retain_dialogue(CHAT, document_id="d")
        store.agent("a").checkpoint()
    path = tmp_path / "agents" / "a" / "MANIFEST"
    with opened(tmp_path) as store:  # as a version before roles left it
        manifest = store.agent("a").engine.replica().manifest
        counts = {name: count for name, count in manifest.columns.items() if name != "role"}
        object.__setattr__(manifest, "columns", counts)
        manifest.write(path.parent)
        (path.parent / "columns" / "role").unlink()
    assert "role" not in json.loads(path.read_bytes())["columns"]
    with opened(tmp_path) as store:
        assert roles(store.agent("a")) == SAID
        assert store.agent("a").verify().ok


def test_a_role_is_in_the_log_only_if_its_speaker_does_not_name_it(tmp_path):
    with opened(tmp_path) as store:
        agent = store.agent("a")
        agent.retain_dialogue(CHAT, document_id="d")
        agent.retain_dialogue([{"role": "user", "name": "Ann", "content": "Hi."}], document_id="e")
        payloads = [entry.payload for entry in agent.log() if entry.kind == "retain"]
        assert [payload.get("role") for payload in payloads] == [None] * 6 + [1]


def test_the_same_turn_with_another_role_is_another_version(tmp_path):
    turn = {"speaker": "Ann", "text": "Hello.", "id": "m", "at": "2024-05-01T00:00:00Z"}
    with opened(tmp_path) as store:
        agent = store.agent("a")
        for _ in range(2):
            agent.retain_dialogue([turn], document_id="d")
        assert len(agent.history("m")) == 1
        for _ in range(2):
            agent.retain_dialogue([{**turn, "role": "assistant"}], document_id="d")
        assert [memory.role for memory in agent.history("m")] == [None, "assistant"]
        before = agent.get("m").recorded_at
        agent.correct("m", "Goodbye.")
        assert (agent.get("m").text, agent.get("m").role) == ("Ann: Goodbye.", "assistant")
        assert agent.at(before).get("m").role == "assistant"


def test_a_speaker_named_by_a_role_is_no_entity(tmp_path):
    with opened(tmp_path) as store:
        agent = store.agent("a")
        turns = [
            {"role": "user", "content": "I met Bob in Rome."},
            {"speaker": "Assistant", "text": "Bob is well."},
            {"role": "user", "name": "Ann", "content": "Good."},
        ]
        agent.retain_dialogue(turns, document_id="d")
        assert [memory.entities for memory in agent.list()] == [("Bob", "Rome"), ("Bob",), ("Ann",)]


@pytest.mark.parametrize("at", ["2024-05-01T10:00:00Z", datetime(2024, 5, 1, 10, tzinfo=UTC)])
def test_a_message_with_a_time_is_said_at_that_time(tmp_path, at):
    with opened(tmp_path) as store:
        agent = store.agent("a")
        (id,) = agent.retain_dialogue([{**CHAT[1], "at": at}], document_id="d")
        assert agent.get(id).event_at == datetime(2024, 5, 1, 10, tzinfo=UTC)
