"""A new store is its owner's alone, whatever the umask; what is made later is as its folder."""

import os
import stat
from importlib.util import find_spec

import pytest

import recollex
from recollex_engine.writing import checkpoint
from recollex_engine.writing import checkpoint as graphs
from tests.engine.faults.small_store import D, Model, fill, opened, vectors


@pytest.fixture(autouse=True)
def no_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def modes(path):
    """The modes in a store: {"folder": modes, "file": modes}; and what kinds of files there are."""
    found = {"folder": set(), "file": set()}
    for each in [path, *path.rglob("*")]:
        mode = stat.S_IMODE(each.stat().st_mode)
        found["folder" if each.is_dir() else "file"].add(oct(mode))
    return found


def everything(path, copy, monkeypatch):
    """Do what makes files: write, checkpoint, build graphs, erase, reembed, snapshot, replay."""
    monkeypatch.setattr(checkpoint, "SEGMENT_ROWS", 512)
    monkeypatch.setattr(checkpoint, "LOG_BYTES", 50_000)
    monkeypatch.setattr(graphs, "GRAPH_ROWS", 256)
    monkeypatch.setattr(graphs, "GRAPH_STEP", 128)
    with recollex.open(path, embedder=recollex.GivenVectors(D)) as store:
        agent = store.agent("a")
        for first in range(0, 1200, 300):
            fill(agent, first, 300)
        agent.facts.add("Ann", "likes", "tea")
        agent.events.add("A feast", participants=["Ann"])
        agent.checkpoint()
        agent.snapshot(agent.get("m9").recorded_at, copy)
        agent.erase(["m3"], by="me", why="asked")
        fill(agent, 1200, 300)
        agent.checkpoint()
        store.agent("small").retain("Tea.", embedding=vectors(0, 1)[0])
    with recollex.open(path, embedder=recollex.GivenVectors(D), read_only=True) as store:
        store.backup(copy.parent / "backup")
    recollex.restore(copy.parent / "backup", copy.parent / "restored")
    recollex.replay(path / "agents" / "a", copy, agent_id="b", embedder=recollex.GivenVectors(D))
    recollex.reembed(path, "small", embedder=Model())


def kinds(path):
    return {each.name.split("-")[0] for each in path.rglob("*")}


def test_a_new_store_is_its_owners_alone(tmp_path, monkeypatch):
    path, copy = tmp_path / "new" / "store", tmp_path / "copy"
    everything(path, copy, monkeypatch)
    assert {"LOCK", "COMMIT", "MANIFEST", "vectors.f16", "hnsw", "postings"} <= kinds(path)
    for store in (path.parent, copy, tmp_path / "backup", tmp_path / "restored"):
        assert modes(store) == {"folder": {"0o700"}, "file": {"0o600"}}


@pytest.mark.parametrize("umask", [0, 0o277])
def test_an_exported_file_is_its_owners_alone(tmp_path, umask):
    with opened(tmp_path / "store") as agent:
        fill(agent, 0, 3)
        for name in ["m.jsonl", *(["m.parquet"] if find_spec("pyarrow") else [])]:
            (tmp_path / name).touch(0o666)
            os.umask(umask)
            recollex.export_memories(agent, tmp_path / name)
            assert oct(stat.S_IMODE((tmp_path / name).stat().st_mode)) == "0o600"
            os.umask(0)


def test_a_store_in_a_folder_that_others_may_look_at_is_its_owners_alone(tmp_path):
    tmp_path.chmod(0o755)
    with opened(tmp_path) as agent:
        fill(agent, 0, 3)
    assert modes(tmp_path / "agents") == {"folder": {"0o700"}, "file": {"0o600"}}


def test_a_store_that_was_given_to_a_group_stays_so(tmp_path):
    path = tmp_path / "store"
    with opened(path) as agent:
        fill(agent, 0, 3)
    for each in [path, *path.rglob("*")]:
        each.chmod(0o750 if each.is_dir() else 0o640)
    with opened(path) as agent:
        fill(agent, 3, 3)
        agent.checkpoint()
    assert modes(path) == {"folder": {"0o750"}, "file": {"0o640"}}
