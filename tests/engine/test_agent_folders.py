"""Each agent has a folder of its own, also on a disk that does not tell capitals apart."""

from pathlib import Path

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
