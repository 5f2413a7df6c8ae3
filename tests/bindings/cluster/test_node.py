"""Nodes on one bucket: what one wrote another has to the bit; a former owner changes nothing."""

import subprocess

import numpy as np
import pytest

import recollex
from recollex.cluster import administration
from recollex.cluster.layout import create_cluster
from recollex.cluster.node import ClusterNode
from recollex.encryption import new_key
from recollex_engine.errors import InputError, MovedError, RecollexError, UnknownIdError
from tests.bindings.cluster.nodes import DIMENSION, running, vector

SHARDS = 2


@pytest.fixture
def url(tmp_path):
    url = f"file://{tmp_path}/bucket"
    create_cluster(url, SHARDS)
    return url


def filled(agent, count=30):
    for number in range(count):
        agent.retain(f"memory {number} of Ann", id=f"m{number}", embedding=vector(number))
    agent.forget("m3")
    agent.facts.add("Ann", "lives in", "Rome")


def answers(agent):
    recalls = [agent.recall(f"memory {n}", query_embedding=vector(n), limit=5) for n in range(10)]
    return [[(each.id, each.text, each.score) for each in recall] for recall in recalls]


def said(folder, words):
    found = subprocess.run(
        ["grep", "-rlaF", words, str(folder)], capture_output=True, text=True, check=False
    )
    return found.stdout.split()


def test_what_one_node_wrote_another_answers_to_the_bit(url, tmp_path):
    with running(url, "a", tmp_path / "a") as first:
        agent = first.store.agent("alice")
        filled(agent)
        home = first.node.homes.prepare("alice", tmp_path / "a" / "agents" / "alice")
        home.pack_now()
        agent.retain("after the pack", id="late", embedding=vector(99))
        expected = answers(agent)
        moments = [each.recorded_at for each in agent.log()][::7]
        cuts = [answers(agent.at(moment)) for moment in moments]
    with running(url, "b", tmp_path / "b") as second:
        assert second.store.agents() == ["alice"]
        agent = second.store.agent("alice")
        assert answers(agent) == expected
        assert [answers(agent.at(moment)) for moment in moments] == cuts
        assert agent.verify().ok
    assert administration.verify(url).ok


def test_a_folder_that_ends_where_the_log_does_is_kept(url, tmp_path):
    folder = tmp_path / "a" / "agents" / "alice"
    with running(url, "a", tmp_path / "a") as node:
        filled(node.store.agent("alice"))
    (folder / "MARK").write_bytes(b"kept")
    with running(url, "a", tmp_path / "a") as node:
        node.store.agent("alice")
        assert (folder / "MARK").exists()
    with running(url, "b", tmp_path / "b") as node:
        node.store.agent("alice").retain("of b", id="b", embedding=vector(1))
    with running(url, "a", tmp_path / "a") as node:
        assert node.store.agent("alice").get("b").text == "of b"
        assert not (folder / "MARK").exists()


def test_a_store_of_its_own_is_no_cache_and_stays(url, tmp_path):
    with recollex.open(tmp_path / "own", embedder=recollex.GivenVectors(DIMENSION)) as store:
        filled(store.agent("alice"), 5)
    before = sorted((tmp_path / "own").rglob("*"))
    with pytest.raises(InputError, match="agents of its own"):
        ClusterNode(url, "a", "tcp://127.0.0.1:1", tmp_path / "own")
    assert sorted((tmp_path / "own").rglob("*")) == before
    with running(url, "a", tmp_path / "a"):
        pass
    create_cluster(f"file://{tmp_path}/other", 1)
    with pytest.raises(InputError, match="another folder"):
        ClusterNode(f"file://{tmp_path}/other", "a", "tcp://127.0.0.1:1", tmp_path / "a")


def test_a_folder_of_another_start_of_the_machine_is_built_anew(url, tmp_path, monkeypatch):
    folder = tmp_path / "a" / "agents" / "alice"
    with running(url, "a", tmp_path / "a") as node:
        filled(node.store.agent("alice"))
    (folder / "MARK").write_bytes(b"kept")
    monkeypatch.setattr("recollex.cluster.homes.boot_id", lambda: b"another")
    with running(url, "a", tmp_path / "a") as node:
        assert len(node.store.agent("alice").list()) == 29
        assert not (folder / "MARK").exists()


def test_a_former_owner_can_neither_write_nor_read(url, tmp_path):
    with running(url, "a", tmp_path / "a") as old:
        agent = old.store.agent("alice")
        filled(agent, 5)
        old.membership.is_frozen = True
        with running(url, "b", tmp_path / "b") as new:
            new.store.agent("alice").retain("of b", id="b", embedding=vector(1))
            with pytest.raises(RecollexError):
                agent.retain("of the zombie", id="z", embedding=vector(2))
            with pytest.raises(MovedError):
                old.node.admit("alice")
            with pytest.raises(UnknownIdError):
                new.store.agent("alice").get("z")
    with running(url, "c", tmp_path / "c") as last:
        ids = [each.id for each in last.store.agent("alice").list()]
        assert "b" in ids
        assert "z" not in ids


def test_two_nodes_that_both_believe_lose_nothing(url, tmp_path):
    acknowledged = []
    with (
        running(url, "a", tmp_path / "a") as a,
        running(url, "b", tmp_path / "b", shards=SHARDS) as b,
    ):
        for number in range(40):
            id = f"m{number}"
            for node in (a, b) if number % 2 else (b, a):
                try:
                    node.node.admit("alice")
                    agent = node.store.agent("alice")
                    agent.retain(f"note {number}", id=id, embedding=vector(number))
                except (RecollexError, OSError):
                    continue
                acknowledged.append(id)
                break
    with running(url, "c", tmp_path / "c") as last:
        held = [each.id for each in last.store.agent("alice").list()] if acknowledged else []
    assert set(acknowledged) <= set(held)
    assert len(held) == len(set(held))


def test_erased_words_are_nowhere_when_it_returns(url, tmp_path):
    with running(url, "a", tmp_path / "a") as node:
        agent = node.store.agent("alice")
        filled(agent, 5)
        agent.retain("The word is SESAME.", id="s", embedding=vector(7))
        node.node.homes.prepare("alice", tmp_path / "a" / "agents" / "alice").pack_now()
        agent.retain("SESAME again", id="t", embedding=vector(8))
        assert said(tmp_path / "bucket", "SESAME") or said(tmp_path / "a", "SESAME")
        agent.erase("s", by="Ann", why="a test")
        agent.erase("t", by="Ann", why="a test")
        assert said(tmp_path, "SESAME") == []
        expected = answers(agent)
    with running(url, "b", tmp_path / "b") as node:
        assert answers(node.store.agent("alice")) == expected
        node.store.delete_agent("alice")
        assert node.store.agents() == []
        assert said(tmp_path / "bucket", "memory 1 of Ann") == []
        assert said(tmp_path / "b", "memory 1 of Ann") == []


def test_an_encrypted_agent_moves_and_its_words_are_in_no_object(url, tmp_path):
    key = new_key()
    with running(url, "a", tmp_path / "a", key=key) as node:
        filled(node.store.agent("alice"), 5)
        expected = answers(node.store.agent("alice"))
    assert said(tmp_path / "bucket", "memory 1") == []
    with running(url, "b", tmp_path / "b", key=key) as node:
        assert answers(node.store.agent("alice")) == expected


def test_a_store_becomes_a_cluster_and_comes_back_to_the_bit(url, tmp_path):
    store = recollex.open(tmp_path / "one", embedder=recollex.GivenVectors(DIMENSION))
    with store:
        for name in ("alice", "bob"):
            filled(store.agent(name), 12)
        expected = {name: answers(store.agent(name)) for name in ("alice", "bob")}
        moments = [each.recorded_at for each in store.agent("bob").log()]
        cuts = [answers(store.agent("bob").at(moment)) for moment in moments]
    assert administration.import_store(tmp_path / "one", url) == 2
    with pytest.raises(InputError, match="has an agent"):
        administration.import_store(tmp_path / "one", url)
    with running(url, "a", tmp_path / "a") as node:
        assert {n: answers(node.store.agent(n)) for n in ("alice", "bob")} == expected
        node.store.agent("bob").retain("later", id="later", embedding=np.ones(DIMENSION))
    found = administration.status(url)
    assert (found.agents, found.nodes) == (2, {})
    assert administration.export_store(url, tmp_path / "copy") == 2
    with recollex.open(
        tmp_path / "copy", embedder=recollex.GivenVectors(DIMENSION), read_only=True
    ) as copy:
        assert answers(copy.agent("alice")) == expected["alice"]
        assert [answers(copy.agent("bob").at(moment)) for moment in moments] == cuts
        assert copy.agent("bob").get("later").text == "later"
