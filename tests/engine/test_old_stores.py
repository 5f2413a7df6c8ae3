"""A store that 0.1.0 wrote, before there were facts: it opens, answers and takes facts."""

import tarfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import recollex
from recollex_engine.errors import UnknownIdError
from recollex_engine.state.manifest import Manifest
from recollex_engine.state.postings import FORMAT
from recollex_engine.storage.array_file import read_arrays, write_arrays
from recollex_engine.writing import checkpoint

STORE = Path(__file__).with_name("data") / "store-0.1.0.tar.gz"
"""Four memories of an agent ann, one forgotten, a checkpoint, and one replaced after it."""


@pytest.fixture
def folder(tmp_path):
    with tarfile.open(STORE) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # from Python 3.11.4 on
        archive.extractall(tmp_path)
    return tmp_path / "store"


def opened(folder, **options):
    return recollex.open(folder, embedder=recollex.GivenVectors(8), **options)


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_reading_it_gives_what_it_holds_and_changes_nothing(folder):
    before = files(folder)
    with opened(folder, read_only=True) as store:
        ann = store.agent("ann")
        assert [memory.id for memory in ann.list()] == ["m0", "m2", "m1"]
        assert ann.get("m1").text == "Ben sold the cello."
        assert ann.recall("Rome", query_embedding=np.eye(8)[2])[0].id == "m2"
        assert len(ann.facts.snapshot()) == 0
        assert ann.facts.entities() == ann.events.find() == []
        assert ann.verify().ok
    assert files(folder) == before


def test_it_takes_facts_and_knows_when_each_name_was_met(folder):
    with opened(folder) as store:
        ann = store.agent("ann")
        fact = ann.facts.add("Ann", "lives_in", "Oslo", evidence="m0", by="me")
        assert ann.facts.get(fact).evidence == ("m0",)
        assert ann.verify().ok
    for _ in range(2):
        with opened(folder) as store:
            ann = store.agent("ann")
            assert ann.facts.find(subject="ann")[0].id == fact
            view = ann.facts.view(as_recorded=datetime(2024, 1, 2, 12, tzinfo=UTC))
            assert view.entity("Ann") is not None
            assert view.entity("Rome") is None  # met on 4 January
            with pytest.raises(UnknownIdError):
                ann.facts.get(fact, as_recorded=datetime(2024, 1, 9, tzinfo=UTC))
            assert ann.verify().ok
            ann.checkpoint()


def test_closing_it_makes_the_checkpoint_that_later_openings_start_from(folder):
    agent = folder / "agents" / "ann"
    assert not (agent / "columns" / "name_op").exists()
    with opened(folder) as store:
        store.agent("ann").stats()
    assert (agent / "columns" / "name_op").exists()
    with opened(folder) as store:
        replica = store.agent("ann").engine.replica
        assert store.agent("ann").engine.view().op == 7
        assert not replica().damaged


def recalled(store):
    ann = store.agent("ann")
    found = [ann.recall(f"w{word} w3", query_embedding=np.eye(8)[2]) for word in (0, 7, 40, 99)]
    return [[(memory.id, memory.scores) for memory in recall] for recall in found]


def as_version(version, arrays, meta):
    """Return the arrays of a file of posting lists of one part as an earlier version wrote them."""
    old = {
        "starts": arrays["starts"].astype(np.int64),
        "memories": arrays["memories"] + np.uint32(meta["first_memory"]),
    }
    if version == 2:  # before codes
        return old | {"counts": arrays["limits"][:256][arrays["codes"]].astype(np.uint8)}
    kept = ("codes", "limits", "dense", "greatest", "columns")
    return old | {name: arrays[name] for name in kept}


@pytest.mark.parametrize("version", [2, 3])
def test_posting_lists_of_formats_before_answer_alike_and_the_next_checkpoint_writes_them_anew(
    tmp_path, monkeypatch, version
):
    monkeypatch.setattr(checkpoint, "SEGMENT_ROWS", 64)
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{word}" for word in rng.zipf(1.5, 9) % 50) for _ in range(150)]
    with opened(tmp_path) as store:
        vectors = rng.standard_normal((150, 8)).astype(np.float32)
        store.agent("ann").retain_many(texts, embedding=vectors)
        store.agent("ann").checkpoint()
        before = recalled(store)
    folder = tmp_path / "agents" / "ann"
    paths = sorted(folder.glob("segment-*/postings-*"))
    assert len(paths) == 3
    for path in paths:
        arrays, meta = read_arrays(path)
        write_arrays(path, as_version(version, arrays, meta), meta | {"format": version})
    replace(Manifest.read(folder), checksums={}).write(folder)  # nor were there checksums
    with opened(tmp_path, read_only=True) as store:
        assert recalled(store) == before
    with opened(tmp_path) as store:
        ann = store.agent("ann")
        assert [s.postings.outdated for s in ann.engine.replica().indexes.segments] == [True] * 3
        assert recalled(store) == before
        assert ann.verify().ok
        ann.checkpoint()
        assert [s.postings.outdated for s in ann.engine.replica().indexes.segments] == [False] * 3
        assert recalled(store) == before
        assert ann.verify().ok
    paths = sorted((tmp_path / "agents" / "ann").glob("segment-*/postings-*"))
    assert [read_arrays(path)[1]["format"] for path in paths] == [FORMAT] * 3
