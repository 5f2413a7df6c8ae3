"""Agents that are encrypted: no file holds a word of them, and they answer as plain ones do."""

import asyncio
import gc
import gzip
import multiprocessing
import shutil

import numpy as np
import pytest

import recollex
import recollex.aio
import recollex.encryption
from recollex_engine.errors import (
    CorruptError,
    EncryptionError,
    InputError,
    ModelError,
    ReadOnlyError,
)
from recollex_engine.log.writer import LogWriter
from tests.engine.encryption.secret_agents import (
    BY,
    KEY,
    OTHER,
    WORD,
    all_answers,
    assert_sealed,
    make,
    refused,
    traces_in,
)
from tests.engine.erasure.traces import files_of
from tests.engine.faults.small_store import (
    D,
    Model,
    answers,
    contents,
    fill,
    opened,
    refuse,
    vectors,
)


def test_no_file_holds_a_trace_and_the_answers_are_those_of_a_plain_agent(path, tmp_path):
    plain = tmp_path / "plain"
    with make(plain, None) as store:
        expected = all_answers(store.agent("a"))
        folder = plain / "agents" / "a"
        seen = traces_in(plain)
        for name in ("columns/text", "columns/labels.heap", "columns/terms.heap", "vectors.f16"):
            assert str(folder / name) in seen  # so the search would find them
    with make(path, KEY) as store:
        agent = store.agent("a")
        assert agent.verify().problems == ()
        assert all_answers(agent) == expected
        names = {file.name.split("-")[0] for file in path.rglob("*") if file.is_file()}
        assert {"postings", "hnsw", "text", "MANIFEST", "KEY", "vectors.f16"} <= names
        assert any(file.name.startswith("terms.index") for file in path.rglob("*"))
        assert any(file.suffix == ".gz" for file in path.rglob("*"))
        with recollex.open(path, read_only=True, embedder=recollex.GivenVectors(D), key=KEY) as r:
            assert all_answers(r.agent("a")) == expected
            assert r.agent("a").verify().problems == ()
        store.backup(tmp_path / "backup")
        agent.snapshot(agent.get(f"{WORD}id1210").recorded_at, tmp_path / "snapshot")
        assert_sealed(path / "agents" / "a")
        assert traces_in(path) == set()
    assert (
        traces_in(path) | traces_in(tmp_path / "backup") | traces_in(tmp_path / "snapshot") == set()
    )
    for data in (data for _, data in files_of(path)):
        assert KEY not in data and KEY.hex().encode() not in data
    assert recollex.verify_backup(tmp_path / "backup").ok
    with recollex.open(path, embedder=recollex.GivenVectors(D), key=KEY) as store:
        assert all_answers(store.agent("a")) == expected
        assert store.agent("a").verify().problems == ()
    recollex.restore(tmp_path / "backup", tmp_path / "again", key=KEY)
    for place in ("again", "snapshot"):
        with recollex.open(tmp_path / place, embedder=recollex.GivenVectors(D), key=KEY) as store:
            assert store.agent("a").verify().problems == ()
            if place == "again":
                assert all_answers(store.agent("a")) == expected
        assert traces_in(tmp_path / place) == set()


def test_without_its_key_it_is_refused_in_words_that_say_nothing_of_it(path):
    with opened(path, key=KEY) as agent:
        fill(agent, 0, 3)
    del agent  # which unlocks the files of this path in this process
    gc.collect()
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    for options in ({}, {"read_only": True}):
        for key, said in ((None, "is encrypted: give the key"), (OTHER, "is not the key of")):
            told = refused(EncryptionError, said, path, key, **options)
            assert KEY.hex() not in told and OTHER.hex() not in told
    for call in (
        lambda key: recollex.reembed(path, "a", embedder=Model(), key=key),
        lambda key: recollex.replay(path / "agents/a", path / "copy", agent_id="a", key=key),
        lambda key: recollex.encryption.copy(path, path / "copy", key=key),
        lambda key: recollex.encryption.rekey(path, "a", key=key or OTHER, new_key=KEY),
        lambda key: recollex.erase_in_copy(path, path, "a", key=key, **BY),
    ):
        for key in (None, OTHER):
            with pytest.raises(EncryptionError):
                call(key)
    for key in (None, OTHER):
        store, agent = recollex.doctor(path, embedder=Model(), key=key)
        assert store.ok and not agent.ok and "key" in agent.left[0]
        with recollex.open(path, read_only=True, key=key) as store, pytest.raises(EncryptionError):
            store.backup(path.with_name("backup"))
    assert {file: file.read_bytes() for file in before} == before
    assert not (path / "copy" / "agents" / "a").exists()


def test_a_key_for_a_plain_agent_is_refused(path):
    with opened(path) as agent:
        fill(agent, 0, 3)
    for options in ({}, {"read_only": True}):
        with (
            pytest.raises(EncryptionError, match="not encrypted"),
            opened(path, key=KEY, **options) as agent,
        ):
            agent.stats()
    with recollex.open(path, embedder=recollex.GivenVectors(D)) as store:
        fill(store.agent("b", key=KEY), 0, 3)
        fill(store.agent("c", key=OTHER), 0, 3)
        assert contents(store.agent("a")) == contents(store.agent("b"))
        with pytest.raises(EncryptionError, match="open with another key"):
            store.agent("a", key=KEY)
        assert store.agent("b").stats().memories == 3
        assert store.backup(path.with_name("backup")).agents == 3
    for key in (None, "a" * 32, b"short", object()):
        if key is not None:
            with pytest.raises(InputError, match="key must be"):
                recollex.open(path, key=key)
    assert [each.ok for each in recollex.doctor(path, embedder=Model(), key=KEY)] == [
        *(True, True, True, False)
    ]


def test_links_after_a_refused_write_are_those_of_a_plain_agent(path, monkeypatch):
    with recollex.open(path, embedder=recollex.GivenVectors(D)) as store:
        links = {}
        for name, key in (("plain", None), ("sealed", KEY)):
            agent = store.agent(name, key=key)
            fill(agent, 0, 6)
            with monkeypatch.context() as patch, pytest.raises(OSError, match="Input/output"):
                patch.setattr(LogWriter, "append", refuse)
                agent.retain("Refused.", embedding=vectors(0, 6)[4])
            agent.retain("Like memory 2.", embedding=vectors(0, 6)[2])
            agent.retain("Like it, too.", embedding=vectors(0, 6)[2])
            links[name] = [e.payload.get("links") for e in agent.log() if e.kind == "retain"]
        assert links["sealed"] == links["plain"]
        assert [target for target, _ in links["plain"][-1]] == [2, 6]


def test_a_lost_key_is_named_and_put_back(path):
    with opened(path, key=KEY) as agent:
        fill(agent, 0, 3)
    del agent  # which unlocks the files of this path in this process
    gc.collect()
    place = path / "agents" / "a" / "KEY"
    place.rename(path / "kept")
    with (
        pytest.raises(CorruptError, match="KEY: expected the key of an encrypted log"),
        opened(path) as agent,
    ):
        agent.stats()
    refused(EncryptionError, "KEY is lost", path, KEY)
    (path / "kept").rename(place)
    with opened(path, key=KEY) as agent:
        assert len(contents(agent)) == 3


def test_a_reader_verifies_what_another_store_has_made_since(path):
    with opened(path, key=KEY) as agent:
        fill(agent, 0, 300)
        agent.checkpoint()
    del agent
    gc.collect()
    with opened(path, key=KEY, read_only=True) as reader:
        assert reader.verify().problems == ()
    del reader
    gc.collect()
    place = path.with_name("later")
    with opened(place, key=KEY, read_only=True) as reader:
        shutil.copytree(path, place)
        assert reader.verify().problems == ()


def test_an_empty_agent_is_not_made_by_looking(path):
    with opened(path, key=KEY) as agent:
        assert agent.stats().memories == 0
    assert not path.exists()


def test_memories_are_erased(path):
    with opened(path, key=KEY) as agent:
        fill(agent, 0, 300)
        agent.retain("Secret one.", id="one", embedding=vectors(7000, 1)[0], tags=["hidden"])
        agent.checkpoint()
        before = contents(agent)
        data = (path / "agents/a/vectors.f16").read_bytes()
        assert agent.erase("one", **BY).memories == 1
        now = (path / "agents/a/vectors.f16").read_bytes()
        assert len(now) == len(data) and now != data
        assert contents(agent) == [each for each in before if each[0] != "one"]
        assert agent.verify().problems == ()
        held = answers(agent)
        log = b"".join(
            gzip.decompress(f.read_bytes()) if f.suffix == ".gz" else f.read_bytes()
            for f in (path / "agents/a/log").iterdir()
        )
        assert log.count(b'"commitment"') == 1 and b"hole" not in log
    with opened(path, key=KEY) as agent:
        assert answers(agent) == held and agent.verify().problems == ()
        fill(agent, 300, 5)
        assert agent.erase(everything=True, **BY).memories == 305
        assert contents(agent) == [] and agent.verify().problems == ()


def test_another_process_reads_what_is_written_meanwhile(path):
    with opened(path, key=KEY) as agent:
        fill(agent, 0, 300)
        agent.checkpoint()
        with opened(path, key=KEY, read_only=True) as reader:
            for first in range(300, 340, 10):
                fill(agent, first, 10)
                assert contents(reader) == contents(agent) and answers(reader) == answers(agent)
            agent.forget("m3")
            agent.checkpoint()
            agent.erase("m4", **BY)
            assert contents(reader) == contents(agent) and answers(reader) == answers(agent)
            with pytest.raises(ReadOnlyError):
                reader.forget("m5")
        context = multiprocessing.get_context("spawn")
        with context.Pool(1) as pool:
            assert pool.apply(read_elsewhere, (str(path), KEY)) == contents(agent)


def read_elsewhere(path, key):
    with opened(path, key=key, read_only=True) as agent:
        return contents(agent)


def test_a_store_for_asyncio_takes_keys(path):
    async def run():
        options = {"embedder": recollex.GivenVectors(D)}
        async with recollex.aio.open(path, key=KEY, **options) as store:
            await (await store.agent("a")).retain("One.", embedding=vectors(1, 1)[0])
            await (await store.agent("b", key=OTHER)).retain("Two.", embedding=vectors(1, 1)[0])
        async with recollex.aio.open(path, key=OTHER, **options) as store:
            with pytest.raises(EncryptionError):
                await store.agent("a")
            return (await (await store.agent("b")).list())[0].text

    assert asyncio.run(run()) == "Two."


def test_everything_derived_is_made_again(path):
    with opened(path, key=KEY) as agent:
        fill(agent, 0, 300)
        agent.checkpoint()
        fill(agent, 300, 5)
        expected = contents(agent), answers(agent)
    folder = path / "agents" / "a"
    for name in ("MANIFEST", "columns/text", "segment-0000/postings-1"):
        kept = folder / name
        data = kept.read_bytes()
        kept.write_bytes(data[:100] + bytes([data[100] ^ 1]) + data[101:])
        with (
            pytest.warns(RuntimeWarning, match="damaged"),
            opened(path, key=KEY, read_only=True) as agent,
        ):
            assert (contents(agent), answers(agent)) == expected
        kept.write_bytes(data)
    for each in folder.iterdir():
        if each.name not in ("log", "vectors.f16", "KEY"):
            shutil.rmtree(each) if each.is_dir() else each.unlink()
    with opened(path, key=KEY) as agent:
        assert (contents(agent), answers(agent)) == expected and agent.verify().ok


def test_lost_vectors_are_embedded_again(path):
    texts = [f"Text {n} of the owl." for n in range(40)]
    with opened(path, key=KEY, embedder=Model()) as agent:
        agent.retain_many(texts)
        expected = contents(agent), answers(agent)
    vectors_file = path / "agents/a/vectors.f16"
    data = bytearray(vectors_file.read_bytes())
    data[500] ^= 1
    vectors_file.write_bytes(data)
    with (
        pytest.warns(RuntimeWarning, match="embedding their texts again"),
        opened(path, key=KEY, embedder=Model()) as agent,
    ):
        assert (contents(agent), answers(agent)) == expected and agent.verify().ok


@pytest.mark.parametrize("fails_after", [None, 20])
def test_it_moves_to_another_model(path, fails_after):
    class Later(Model):
        fingerprint = "later"

        def embed(self, texts, threads=1, progress=None):
            if fails_after is not None and not self.mended and len(self.embedded) >= fails_after:
                raise ModelError("silent")
            return np.roll(super().embed(texts, threads, progress), 3, axis=1)

        mended = False

    words = [f"Number {n} of {WORD}." for n in range(100)]
    with opened(path, key=KEY, embedder=Model()) as agent:
        agent.retain_many(words)
    later = Later()
    if fails_after is not None:
        with pytest.raises(ModelError):
            recollex.reembed(path, "a", embedder=later, key=KEY)
        assert (path / "agents/a/vectors-2.progress").exists()
        said = (path / "agents/a/vectors-2.progress").read_bytes()
        assert b"later" not in said and b"sha" not in said and b"rows" not in said
        assert traces_in(path) == set()
        Later.mended = True
        made = recollex.reembed(path, "a", embedder=later, key=KEY)
        assert 0 < made < 100
    else:
        assert recollex.reembed(path, "a", embedder=later, key=KEY) == 100
    with opened(path, key=KEY, embedder=Later()) as agent:
        assert agent.verify().problems == () and len(contents(agent)) == 100
    assert traces_in(path) == set()
