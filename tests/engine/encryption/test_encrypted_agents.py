"""Agents that are encrypted: no file holds a word of them, and they answer as plain ones do."""

import asyncio
import gc
import gzip
import multiprocessing
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import recollex
import recollex.aio
import recollex.encryption
from recollex_engine.errors import (
    CorruptError,
    EncryptionError,
    FormatError,
    InputError,
    LockedError,
    ModelError,
    ReadOnlyError,
)
from recollex_engine.log.format import decode_header, decode_record, encode_record
from recollex_engine.writing import checkpoint, maintenance, reembedding
from recollex_engine.writing import graph_building as graphs
from tests.engine.erasure.traces import files_of, unit
from tests.engine.faults.small_store import D, Model, answers, contents, fill, opened, vectors

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
WORD = "zyxqvw"
"""In everything that a caller gives."""
BY = {"by": f"{WORD}by", "why": f"{WORD}why"}


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Several segments, graphs and log files of a few hundred memories."""
    monkeypatch.setattr(checkpoint, "SEGMENT_ROWS", 128)
    monkeypatch.setattr(checkpoint, "LOG_BYTES", 60_000)
    monkeypatch.setattr(graphs, "GRAPH_ROWS", 128)
    monkeypatch.setattr(graphs, "GRAPH_STEP", 64)
    monkeypatch.setattr(reembedding, "BATCH", 32)
    monkeypatch.setattr(maintenance, "CLOSING_TAIL", 1 << 20)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store"


def clock():
    clock.now += timedelta(seconds=1)
    return clock.now


def tell(agent, first, count):
    """Retain memories with the word, or a vector of their own, in each field."""
    numbers = range(first, first + count)
    agent.retain_many(
        [f"Mr {WORD}son{n % 9} of {WORD}ville likes {WORD}tea {WORD}{n}." for n in numbers],
        id=[f"{WORD}id{n}" for n in numbers],
        embedding=vectors(first, count),
        entities=[[f"{WORD}name{n % 7}"] for n in numbers],
        tags=[[f"{WORD}tag{n % 3}"] for n in numbers],
        document_id=[f"{WORD}doc{n // 50}" for n in numbers],
        context=[f"{WORD}context"] * count,
        metadata=[{f"{WORD}key": f"{WORD}value{n}"} for n in numbers],
        source=f"{WORD}source",
        trust="user",
    )


def make(path, key, **options):
    """Make a store whose agent has every kind of file; return it, open."""
    clock.now = datetime(2024, 5, 1, tzinfo=UTC)
    store = recollex.open(path, embedder=recollex.GivenVectors(D), clock=clock, key=key, **options)
    agent = store.agent("a")
    for first in range(0, 1200, 400):
        tell(agent, first, 400)
        if first:
            agent.checkpoint()
    agent.facts.add(f"{WORD}Ann", f"{WORD}likes", f"{WORD}tea", id=f"{WORD}fact", **BY)
    agent.events.add(f"{WORD}event", participants=[f"{WORD}Ann"], facts=[f"{WORD}fact"])
    agent.facts.add_entity(f"{WORD}Ann", types=[f"{WORD}person"], aliases=[f"{WORD}Annie"])
    agent.forget(f"{WORD}id7", **BY)
    agent.correct(f"{WORD}id8", f"Corrected {WORD}.", embedding=vectors(9001, 1)[0], **BY)
    agent.set_retention([recollex.Retention(age=timedelta(days=9999))], **BY)
    agent.checkpoint()
    tell(agent, 1200, 20)
    agent.erase([f"{WORD}id30", f"{WORD}id31"], **BY)
    agent.checkpoint()
    agent.checkpoint()
    tell(agent, 1220, 5)
    agent.archive(f"{WORD}id9", **BY)
    return store


READABLE = {"KEY", "LOCK", "COMMIT", "HEAD", "REEMBED"}
"""Files of an encrypted agent that hold nothing of its memories."""


def assert_sealed(folder):
    """Every file of an agent is encrypted, also those that hold numbers alone."""
    for name, data in files_of(folder):
        where = Path(name.removesuffix(" decompressed"))
        if where.name in READABLE or (where.suffix == ".gz" and where == Path(name)):
            continue
        if where.parent.name == "log":
            header, *lines = data.splitlines()
            assert header.startswith(b'{"recollex_log":3,'), name
            payloads = (decode_record(line).payload for line in lines)
            assert all(p is None or p.startswith(b'{"sealed":"') for p in payloads), name
        elif where.name.startswith("vectors"):
            assert data[8:12] == b"\2\0\0\0", name
        else:
            assert data.startswith(b"rcxseal1"), name


def traces_in(path):
    """Return the names of the files that hold the word, or bytes of the first vectors."""
    rows = [unit(each).astype(np.float16).tobytes() for each in vectors(0, 50)]
    found = set()
    for name, data in files_of(path):
        lowered = data.lower()
        if WORD.encode() in lowered or any(row in data for row in rows):
            found.add(name)
    return found


def all_answers(agent):
    found = [
        [(m.id, m.text, m.scores, m.tags, m.metadata, m.entities, m.source) for m in recall]
        for recall in (
            agent.recall(f"{WORD}tea of {WORD}son3", query_embedding=vectors(n, 1)[0], **options)
            for n in (3, 500)
            for options in ({}, {"exact": True}, {"tags": [f"{WORD}tag1"]})
        )
    ]
    found.append(contents(agent))
    found.append([str(each) for each in agent.facts.find(subject=f"{WORD}Ann")])
    found.append([str(each) for each in agent.events.find()])
    found.append([(e.op, e.kind, e.by, e.why, e.ids) for e in agent.log()])
    found.append([m.text for m in agent.history(f"{WORD}id8")])
    return found


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


def refused(error, said, path, key, **options):
    """Open the agent, which raises; return the message."""
    with pytest.raises(error, match=said) as told, opened(path, key=key, **options) as agent:
        agent.stats()
    return str(told.value)


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


# -- copies ------------------------------------------------------------------------------------


def test_copies_stay_encrypted_and_erasures_reach_them(path, tmp_path):
    backup, copy = tmp_path / "backup", tmp_path / "copy"
    with recollex.open(path, embedder=recollex.GivenVectors(D), key=KEY) as store:
        agent = store.agent("a")
        tell(agent, 0, 60)
        store.backup(backup)
        then = agent.get(f"{WORD}id59").recorded_at
        agent.forget(f"{WORD}id5")
        fill(agent, 60, 20)
        run = store.backup(backup)
        assert run.new_operations == 21
        agent.snapshot(then, copy)
        expected = all_ids(agent.at(then))
        agent.erase(f"{WORD}id7", **BY)
        left = all_ids(agent)
    with pytest.raises(EncryptionError):
        recollex.restore(backup, tmp_path / "may")
    assert not (tmp_path / "may").exists()
    recollex.restore(backup, tmp_path / "may", at=then, key=KEY)
    for place in (tmp_path / "may", copy):
        with opened(place, key=KEY) as agent:
            assert all_ids(agent) == expected and agent.verify().ok
        assert traces_in(place) == set()
    for place in (backup, copy):
        recollex.erase_in_copy(path, place, "a", embedder=recollex.GivenVectors(D), key=KEY, **BY)
    recollex.restore(backup, tmp_path / "now", key=KEY)
    with opened(tmp_path / "now", key=KEY) as agent:
        assert all_ids(agent) == left and agent.verify().ok
    with opened(copy, key=KEY) as agent:
        assert f"{WORD}id7" not in all_ids(agent) and agent.verify().ok
    assert traces_in(tmp_path) == set()
    recollex.replay(copy / "agents/a", tmp_path / "replayed", agent_id="a", key=KEY)
    with opened(tmp_path / "replayed", key=KEY) as agent:
        assert agent.verify().ok
    damaged = next(each for each in (backup / "objects").rglob("*") if each.is_file())
    data = damaged.read_bytes()
    damaged.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert not recollex.verify_backup(backup).ok


def all_ids(agent):
    return [memory.id for memory in agent.list(limit=10_000)]


def test_the_doctor_mends_it(path, tmp_path):
    with recollex.open(path, embedder=recollex.GivenVectors(D), key=KEY) as store:
        agent = store.agent("a")
        fill(agent, 0, 300)
        agent.checkpoint()
        store.backup(tmp_path / "backup")
        expected = contents(agent), answers(agent)
    folder = path / "agents" / "a"
    for name, at in (("columns/text", 90), ("vectors.f16", 700)):
        data = bytearray((folder / name).read_bytes())
        data[at] ^= 1
        (folder / name).write_bytes(data)
    [_, found] = recollex.doctor(path, key=KEY, backup=tmp_path / "backup")
    assert found.found and found.ok
    with opened(path, key=KEY) as agent:
        assert (contents(agent), answers(agent)) == expected and agent.verify().ok
    log = min((folder / "log").glob("*.jsonl*"))  # an empty one may follow
    data = bytearray(gzip.decompress(log.read_bytes()) if log.suffix == ".gz" else log.read_bytes())
    data[-200] ^= 1
    log.unlink()
    log.with_name("00000001.jsonl").write_bytes(data)
    with opened(tmp_path / "other", key=KEY) as agent:
        fill(agent, 0, 2)
    [_, found] = recollex.doctor(path, key=KEY, salvage=tmp_path / "saved")
    assert not found.ok and found.salvaged
    with opened(tmp_path / "saved", key=KEY) as agent:
        assert agent.verify().ok


# -- other keys --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [(None, KEY), (KEY, None), (KEY, OTHER)],
    ids=["to encrypted", "to plain", "to another key"],
)
def test_a_copy_with_another_key_has_all_of_the_past(path, tmp_path, before, after):
    with make(path, before) as store:
        expected = all_answers(store.agent("a"))
        with pytest.raises(LockedError):
            recollex.encryption.copy(path, tmp_path / "copy", key=before, new_key=after)
    assert recollex.encryption.copy(path, tmp_path / "copy", key=before, new_key=after) == ["a"]
    with recollex.open(
        tmp_path / "copy", embedder=recollex.GivenVectors(D), key=after, clock=clock
    ) as store:
        assert all_answers(store.agent("a")) == expected
        assert store.agent("a").verify().problems == ()
        fill(store.agent("a"), 5000, 3)
        assert store.agent("a").erase("m5001", **BY).memories == 1
        assert store.agent("a").verify().problems == ()
    assert (traces_in(tmp_path / "copy") == set()) == (after is not None)
    with pytest.raises(InputError, match="has an agent 'a' already"):
        recollex.encryption.copy(path, tmp_path / "copy", key=before, new_key=after)


def test_another_key_takes_the_place_of_the_first(path):
    with opened(path, key=KEY) as agent:
        fill(agent, 0, 3)
        with pytest.raises(LockedError):
            recollex.encryption.rekey(path, "a", key=KEY, new_key=OTHER)
    log = (path / "agents/a/log/00000001.jsonl").read_bytes()
    recollex.encryption.rekey(path, "a", key=KEY, new_key=OTHER)
    assert (path / "agents/a/log/00000001.jsonl").read_bytes() == log
    with opened(path, key=OTHER) as agent:
        assert len(contents(agent)) == 3
    refused(EncryptionError, "is not the key", path, KEY)
    with opened(path.with_name("plain")) as agent:
        fill(agent, 0, 1)
    with pytest.raises(InputError, match="not encrypted"):
        recollex.encryption.rekey(path.with_name("plain"), "a", key=KEY, new_key=OTHER)


def test_a_line_of_another_place_or_agent_is_not_taken(path, tmp_path):
    """The chain is recomputed, as whoever can write the log can do; the payloads are sealed."""
    for place in (path, tmp_path / "other"):
        with opened(place, key=KEY) as agent:
            fill(agent, 0, 1)
            fill(agent, 1, 1)
    log = path / "agents/a/log/00000001.jsonl"
    lines = log.read_bytes().splitlines()
    foreign = (tmp_path / "other/agents/a/log/00000001.jsonl").read_bytes().splitlines()
    (path / "agents/a/HEAD").unlink()
    for other in (lines[-2], foreign[-1]):
        log.write_bytes(rechained(lines, decode_record(other).payload))
        with (
            pytest.raises(CorruptError, match="an authentic payload of operation"),
            opened(path, key=KEY, read_only=True) as agent,
        ):
            agent.stats()


def rechained(lines, payload):
    """Return the lines of a log with another last payload, and the chain that fits it."""
    made, chain = [lines[0]], decode_header(lines[0]).chain
    for line in lines[1:]:
        record = decode_record(line)
        if line is lines[-1]:
            record = record._replace(payload=payload)
        chain = record.extend(chain)
        made.append(encode_record(record._replace(chain=record.chain and chain)))
    return b"\n".join([*made, b""])


def test_a_newer_key_is_refused(path):
    with opened(path, key=KEY) as agent:
        fill(agent, 0, 1)
    place = path / "agents/a/KEY"
    place.write_bytes(place.read_bytes().replace(b'"recollex_key":1', b'"recollex_key":7'))
    refused(FormatError, "format 7", path, KEY)
