"""Snapshots of an earlier time, and replays of a log."""

from pathlib import Path

import numpy as np
import pytest

import recollex
from recollex_engine.errors import CorruptError, InputError, ModelMismatchError
from tests.bindings.time_travel.days import VECTORS, asked, day, told


@pytest.mark.parametrize("number", [0, 1, 3, 4, 6])
def test_a_snapshot_is_a_store_as_of_then(tmp_path, agent, number):
    agent.snapshot(day(number), tmp_path / "copy")
    with recollex.open(tmp_path / "copy", embedder=recollex.GivenVectors(16)) as store:
        copy, then = store.agent("a"), agent.at(day(number))
        assert list(asked(copy, exact=True, now=day(number))) == list(asked(then))
        assert copy.log() == then.log() and copy.list() == then.list()
        assert copy.verify().ok
        log = Path("agents/a/log/00000001.jsonl")
        if number:
            whole = (tmp_path / "s" / log).read_bytes()
            assert whole.startswith((tmp_path / "copy" / log).read_bytes())
        copy.retain("And it goes on.", embedding=VECTORS[0])
        assert copy.verify().ok
    with pytest.raises(InputError, match="has an agent 'a' already"):
        agent.snapshot(day(number), tmp_path / "copy")


def test_a_snapshot_of_a_long_log(tmp_path, agent, monkeypatch):
    from recollex_engine.writing import checkpoint

    monkeypatch.setattr(checkpoint, "LOG_BYTES", 300)
    for number in range(7, 16):
        told(agent, number, f"On day {number}.")
        agent.checkpoint()
    assert len(list((tmp_path / "s/agents/a/log").glob("*.gz"))) > 2
    agent.snapshot(day(12), tmp_path / "copy")
    assert recollex.replay(tmp_path / "s/agents/a/log", tmp_path / "again", agent_id="a") == 16
    for folder, moment in (("copy", day(12)), ("again", day(20))):
        with recollex.open(
            tmp_path / folder, embedder=recollex.GivenVectors(16), read_only=True
        ) as store:
            assert store.agent("a").list() == agent.at(moment).list()
            assert store.agent("a").verify().ok


@pytest.mark.parametrize("what", ["a file", "other files"])
def test_a_snapshot_overwrites_nothing(tmp_path, agent, what):
    place = tmp_path / "taken"
    if what == "a file":
        place.write_text("mine")
    else:
        place.mkdir()
        (place / "mine").write_text("mine")
    with pytest.raises(InputError, match="give a folder that is not there"):
        agent.snapshot(day(2), place)
    with pytest.raises(InputError, match="give a folder that is not there"):
        recollex.replay(tmp_path / "s/agents/a", place)
    assert list(place.iterdir()) == [place / "mine"] if place.is_dir() else place.read_text()


def test_a_replay_takes_the_vectors_beside_the_log(tmp_path, store, agent):
    held, recalled = agent.list(), list(asked(agent))
    store.close()
    for source in ("s/agents/a", "s/agents/a/log", "s/agents/a/log/00000001.jsonl"):
        target = tmp_path / source.replace("/", "-")
        assert recollex.replay(tmp_path / source, target, agent_id="b") == 7
        with recollex.open(target, embedder=recollex.GivenVectors(16)) as again:
            assert again.agent("b").list() == held
            assert list(asked(again.agent("b"))) == recalled
            assert again.agent("b").verify().ok


def test_a_replay_without_vectors_embeds_the_texts_again(tmp_path):
    with recollex.open(tmp_path / "s") as store:
        agent = store.agent("a")
        agent.retain_many(["Ann lives in Oslo.", "Ben has a puppy."], id=["x", "y"])
        agent.forget("y")
        expected = list(agent.recall("Where does Ann live?"))
    (tmp_path / "s/agents/a/vectors.f16").unlink()
    assert recollex.replay(tmp_path / "s/agents/a", tmp_path / "again") == 5
    with recollex.open(tmp_path / "again") as store:
        agent = store.agent("default")
        assert list(agent.recall("Where does Ann live?")) == expected
        kinds = ["create", "vocabulary", "retain", "retain", "forget"]
        assert [entry.kind for entry in agent.log()] == kinds
        assert agent.verify().ok
    with pytest.raises(ModelMismatchError):
        recollex.replay(
            tmp_path / "s/agents/a", tmp_path / "other", embedder=recollex.GivenVectors(384)
        )
    assert {each.name for each in (tmp_path / "other").iterdir()} == {"store.json", "agents"}
    assert not any((tmp_path / "other" / "agents").iterdir())


def test_a_replay_of_a_damaged_log_makes_nothing(tmp_path, store, agent):
    store.close()
    log = tmp_path / "s/agents/a/log/00000001.jsonl"
    log.write_bytes(log.read_bytes().replace(b"Ann lives in Rome.", b"Ann lives in Bern."))
    with pytest.raises(CorruptError, match="operations 4 to 4 on line 5"):
        recollex.replay(tmp_path / "s/agents/a", tmp_path / "again")
    assert not any((tmp_path / "again/agents").iterdir())
    with pytest.raises(InputError, match="there is no log at"):
        recollex.replay(tmp_path / "nothing", tmp_path / "again")


def test_a_snapshot_of_what_was_embedded_again_since_says_so(tmp_path):
    with recollex.open(tmp_path / "s") as store:
        agent = store.agent("a")
        agent.retain_many(["Ann lives in Oslo."], embedding=[np.ones(384)])
        moment = agent.list()[0].recorded_at
    (tmp_path / "s/agents/a/vectors.f16").unlink()
    with pytest.warns(RuntimeWarning, match="are lost"), recollex.open(tmp_path / "s") as store:
        agent = store.agent("a")
        agent.retain("Ben has a puppy.")
        agent.snapshot(moment, tmp_path / "copy")
        expected = list(agent.at(moment).recall("Where does Ann live?"))
        assert [entry.kind for entry in agent.log()][2] == "restore"
    with recollex.open(tmp_path / "copy") as store:
        copy = store.agent("a")
        assert [entry.kind for entry in copy.log()] == ["create", "retain", "restore"]
        assert list(copy.recall("Where does Ann live?", exact=True, now=moment)) == expected
        assert copy.verify().ok
