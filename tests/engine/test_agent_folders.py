"""Each agent has a folder of its own, also on a disk that does not tell capitals apart."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollex
from recollex_engine.agents.folder_names import agent_folder, agents_in
from recollex_engine.errors import InputError

V = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
names = st.text(st.sampled_from("aAbB%.4e1 é~"), min_size=1, max_size=6).filter(str.strip)


@given(names, names)
def test_folders_differ_in_more_than_capitals(tmp_path_factory, one, other):
    store = Path("store")
    folders = [agent_folder(store, name).name for name in (one, other)]
    assert (folders[0].casefold() == folders[1].casefold()) == (one == other)


def opened(path):
    return recollex.open(path, embedder=recollex.GivenVectors(8), durability="off")


def test_agents_that_differ_in_capitals_are_two(tmp_path):
    with opened(tmp_path) as store:
        for name in ("Alice", "alice", "ALICE", ".A"):
            store.agent(name).retain(f"{name} spoke.", embedding=V)
        assert store.agents() == [".A", "ALICE", "Alice", "alice"]
        for name in store.agents():
            assert store.agent(name).list()[0].text == f"{name} spoke."
    folders = [each.name.casefold() for each in (tmp_path / "agents").iterdir()]
    assert len(set(folders)) == 4


def test_a_folder_of_an_earlier_version_keeps_its_name(tmp_path):
    with opened(tmp_path) as store:
        store.agent("Alice").retain("Tea.", embedding=V)
    agents = tmp_path / "agents"
    (agents / "%41lice").rename(agents / "Alice")
    with opened(tmp_path) as store:
        assert store.agents() == ["Alice"]
        assert store.agent("Alice").list()[0].text == "Tea."
        store.agent("alice").retain("Ink.", embedding=V)
    assert sorted(each.name for each in agents.iterdir()) == ["Alice", "alice"]


def test_a_disk_without_capitals_never_gives_an_agent_the_folder_of_another(tmp_path, monkeypatch):
    agents = tmp_path / "agents"
    (agents / "Alice" / "log").mkdir(parents=True)
    (agents / "bob").mkdir()
    for one, other in [("alice", "Alice"), ("ALICE", "Alice"), ("aLICE", "Alice"), ("Bob", "bob")]:
        (agents / one).symlink_to(agents / other)  # as such a disk finds them
    (agents / "bOB").symlink_to(agents / "bob")
    (agents / "BOB").symlink_to(agents / "bob")
    monkeypatch.setattr(os, "listdir", lambda folder: ["Alice", "bob"])
    assert agent_folder(tmp_path, "Alice").name == "Alice"
    assert agent_folder(tmp_path, "bob").name == "bob"
    assert agent_folder(tmp_path, "Bob").name == "%42ob"
    assert agent_folder(tmp_path, "ALICE").name == "%41%4C%49%43%45"
    with pytest.raises(InputError, match=r"'alice' differs only in capitals.*choose another name"):
        agent_folder(tmp_path, "alice")
    monkeypatch.undo()
    assert "Alice" in agents_in(tmp_path)
