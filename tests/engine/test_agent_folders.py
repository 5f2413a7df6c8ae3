"""Each agent has a folder of its own, also on a disk that does not tell capitals apart."""

from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollex
from recollex_engine.agents.folder_names import agent_folder

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


WRITTEN = ["José", "Zoë", "Ångström", "Đà Nẵng", "ёлка", "한글", "ガギグ", "İzmir"]


@pytest.mark.parametrize("name", WRITTEN)
def test_an_agent_is_one_in_each_spelling(tmp_path, name):
    composed = normalize("NFC", name)
    decomposed = normalize("NFD", name)
    assert composed != decomposed
    with opened(tmp_path) as store:
        first = store.agent(decomposed)
        first.retain("Tea.", embedding=V)
        assert store.agent(composed) is first
        assert store.agents() == [first.name] == [composed]
        both = [composed, decomposed]
        found = store.recall("tea", agents=both, query_embedding=V)
        assert [memory.text for memory in found] == ["Tea."]
        store.delete_agent(decomposed)
        assert store.agents() == []


def test_other_letters_are_other_agents(tmp_path):
    names = [
        "José",
        "Jose",
        "josé",
        "Jośe",
        "Jo\u200bsé",
        "Ⅳ",
        "IV",
        "ﬁn",
        "fin",
        "\uff21",
        "A",
        "İ",
        "i̇",
    ]
    with opened(tmp_path) as store:
        for name in names:
            store.agent(name).retain(name, embedding=V)
        assert [store.agent(name).list()[0].text for name in names] == names
        assert len(store.agents()) == len(names)


def test_agents_from_before_names_were_composed_stay(tmp_path, monkeypatch):
    decomposed = normalize("NFD", "José")
    with monkeypatch.context() as before:
        before.setattr("recollex_engine.agents.store.kept_name", lambda _, name: name)
        with opened(tmp_path) as store:
            store.agent(decomposed).retain("Old.", embedding=V)
    with opened(tmp_path) as store:
        assert store.agent("José").list()[0].text == "Old."
        assert store.agents() == [decomposed]
    with monkeypatch.context() as before:
        before.setattr("recollex_engine.agents.store.kept_name", lambda _, name: name)
        with opened(tmp_path) as store:
            store.agent("José").retain("New.", embedding=V)
    with opened(tmp_path) as store:  # both were there: neither hides the other
        assert store.agent("José").list()[0].text == "New."
        assert store.agent(decomposed).list()[0].text == "Old."
