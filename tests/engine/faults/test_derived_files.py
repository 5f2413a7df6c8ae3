"""Damaged or lost files that are derived from the log: columns, indexes, the manifest, COMMIT."""

import os
import shutil
import warnings

import numpy as np
import pytest

import recollex
from recollex_engine.errors import FormatError
from recollex_engine.writing import checkpoint as graphs
from tests.engine.faults.small_store import D, answers, assert_holds, contents, fill, opened, text


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def cut(path):
    os.truncate(path, path.stat().st_size - 1)


def garbage(path):
    path.write_bytes(b"\0garbage" * 20)


DAMAGES = {
    "column cut": ("columns/text", cut, "columns are missing or damaged"),
    "column lost": ("columns/term_offset", os.unlink, "columns are missing or damaged"),
    "columns of a chain changed": ("columns/mention_entity", garbage, None),
    "dictionary cut": ("columns/terms.heap", cut, "columns are missing or damaged"),
    "dictionary lost": ("columns/ids.offsets", os.unlink, "columns are missing or damaged"),
    "columns lost": ("columns", shutil.rmtree, "columns are missing or damaged"),
    "postings cut": ("segment-0000/postings-*", cut, "an index is missing or damaged"),
    "postings lost": ("segment-0000/postings-*", os.unlink, "an index is missing or damaged"),
    "segment lost": ("segment-0000", shutil.rmtree, "an index is missing or damaged"),
    "manifest cut": ("MANIFEST", cut, "the manifest is damaged"),
    "manifest empty": ("MANIFEST", lambda path: os.truncate(path, 0), "the manifest is damaged"),
    "manifest garbage": ("MANIFEST", garbage, "the manifest is damaged"),
    "manifest changed": ("MANIFEST", flip, "the manifest is damaged"),
    "manifest lost": ("MANIFEST", os.unlink, None),
    "all lost": ("[cMs]*", lambda p: shutil.rmtree(p) if p.is_dir() else p.unlink(), None),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_what_is_derived_is_made_again(path, folder, held, name):
    pattern, damage, warning = DAMAGES[name]
    for found in list(folder.glob(pattern)):
        damage(found)
    for read_only in (True, False):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with opened(path, read_only=read_only) as agent:
                if read_only:
                    assert_holds(agent, held)
                else:
                    assert_holds(agent, held)
                    agent.checkpoint()
                    assert_holds(agent, held)
                    fill(agent, 90, 1)
                    agent.forget("m90")
        messages = [str(each.message) for each in caught]
        assert all(each.category is RuntimeWarning for each in caught)
        if warning is not None:
            assert any(warning in message for message in messages), messages
    with opened(path, read_only=True) as agent:  # and now nothing is said
        assert contents(agent) == held[0]
        assert agent.verify().ok


@pytest.mark.parametrize("damage", [os.unlink, cut, garbage])
def test_a_damaged_graph_is_made_again(path, folder, monkeypatch, damage):
    monkeypatch.setattr(graphs, "GRAPH_ROWS", 20)
    monkeypatch.setattr(graphs, "GRAPH_STEP", 20)
    with opened(path) as agent:
        fill(agent, 0, 60)
        agent.checkpoint()
        fill(agent, 60, 5)
        expected = contents(agent), answers(agent)
    (graph,) = folder.glob("graphs/hnsw-*")
    damage(graph)
    for read_only in (True, False):
        with pytest.warns(RuntimeWarning, match="an index is missing or damaged"):
            store = recollex.open(path, embedder=recollex.GivenVectors(D), read_only=read_only)
            agent = store.agent("a")
            assert_holds(agent, expected)
        if not read_only:
            agent.checkpoint()
            assert_holds(agent, expected)
        store.close()
    with opened(path) as agent:
        assert_holds(agent, expected)
        assert len(list(folder.glob("graphs/hnsw-*"))) == 1


def test_every_byte_of_the_manifest_counts(path, folder, held):
    data = (folder / "MANIFEST").read_bytes()
    rng = np.random.default_rng(3)
    for at in rng.choice(len(data), 40, replace=False):
        changed = bytearray(data)
        changed[at] ^= 1 << int(rng.integers(0, 7))
        (folder / "MANIFEST").write_bytes(changed)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                with opened(path, read_only=True) as agent:
                    assert contents(agent) == held[0]
        except FormatError as error:
            assert "format" in str(error)


@pytest.mark.parametrize("damage", ["lost", "empty", "short", "garbage", "ahead", "behind"])
def test_commit_is_only_a_hint(path, folder, held, damage):
    commit = folder / "COMMIT"
    data = commit.read_bytes()
    if damage == "lost":
        commit.unlink()
    else:
        number = {"ahead": 10**6, "behind": 1}.get(damage, 0).to_bytes(8, "little")
        changed = {"empty": b"", "short": data[:40], "garbage": b"x" * 64}
        commit.write_bytes(changed.get(damage, data[:16] + number + data[24:]))
    with opened(path, read_only=True) as reader:
        assert contents(reader) == held[0]
        with opened(path) as writer:
            assert_holds(writer, held)
            fill(writer, 60, 1)
            assert contents(reader)[-1] == ("m60", text(60))
            assert contents(writer) == contents(reader)
