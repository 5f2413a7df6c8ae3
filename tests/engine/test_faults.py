"""Files that were torn, damaged or lost, disks that are full, writers that came second."""

import errno
import os
import re
import shutil
import subprocess
import sys
import threading
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import recollex
from recollex_engine.dates import time_parser
from recollex_engine.errors import (
    ClosedError,
    CorruptError,
    FormatError,
    LockedError,
    ReadOnlyError,
    StoreFullError,
    UnknownIdError,
)
from recollex_engine.log import writer as log
from recollex_engine.log.files import plain_path
from recollex_engine.ranking import arms
from recollex_engine.recall import pipeline as recall
from recollex_engine.state.columns import Columns
from recollex_engine.storage import array_file as pack
from recollex_engine.storage import column, disk, vectors_file
from recollex_engine.writing import checkpoint
from recollex_engine.writing import graph_building as graphs

D = 32
WORDS = "tea ink owl fig oak bay elm jam kit log map net pen rug sun van".split()  # noqa: SIM905


def vectors(first, count):
    return np.random.default_rng(first).normal(size=(count, D)).astype(np.float32)


def text(n):
    return f"Memory {n} of {WORDS[n % 16]} and {WORDS[n * 7 % 13]}."


class Model:
    """A model in miniature: its vectors depend on the text alone."""

    dimension = D
    fingerprint = "miniature"
    thresholds = recollex.GivenVectors(D).thresholds

    def __init__(self):
        self.embedded = []

    def embed(self, texts, threads=1, progress=None):
        self.embedded += texts
        return np.concatenate([self.embed_query(text)[None] for text in texts])

    def embed_query(self, text):
        vector = np.random.default_rng(list(text.encode())).normal(size=D)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    def count_tokens(self, text):
        return len(text.split())


@contextmanager
def opened(path, **options):
    with recollex.open(path, **{"embedder": recollex.GivenVectors(D), **options}) as store:
        yield store.agent("a")


def fill(agent, first, count):
    ids = [f"m{n}" for n in range(first, first + count)]
    texts = [text(n) for n in range(first, first + count)]
    return agent.retain(texts, id=ids, embedding=vectors(first, count))


def contents(agent):
    return [(memory.id, memory.text) for memory in agent.list(limit=100_000)]


def answers(agent, exact=True):
    """Recalls as ids and scores: the same before and after whatever happened to the files."""
    return [
        [
            (memory.id, memory.score)
            for memory in agent.recall(query, query_embedding=v, exact=exact)
        ]
        for query, v in zip(("tea ink", "owl", "Memory 7"), vectors(999, 3), strict=True)
    ]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def folder(path):
    return path / "agents" / "a"


@pytest.fixture
def held(path):
    """Three transactions in a checkpoint and two behind it; a memory replaced, one forgotten."""
    with opened(path) as agent:
        fill(agent, 0, 20)
        fill(agent, 20, 20)
        agent.forget("m3")
        agent.checkpoint()
        fill(agent, 40, 5)
        agent.retain("Memory 8 was another.", id="m8", embedding=vectors(8, 1)[0])
        result = contents(agent), answers(agent)
    return result


def assert_holds(agent, held):
    assert contents(agent) == held[0]
    assert answers(agent) == held[1]
    assert agent.verify().problems == ()


# -- the log ---------------------------------------------------------------------------------------


def test_torn_at_every_byte_of_the_last_transaction(tmp_path, path, folder):
    with opened(path, durability="off") as agent:
        fill(agent, 0, 3)
        size = plain_path(folder / "log", 1).stat().st_size
        fill(agent, 3, 2)
        agent.forget("m1")
    whole = plain_path(folder / "log", 1).read_bytes()
    forgotten = whole.rindex(b"\n", 0, -1) + 1
    expected = {
        0: ["m0", "m1", "m2"],
        1: ["m0", "m1", "m2", "m3", "m4"],
        2: ["m0", "m2", "m3", "m4"],
    }
    copy = tmp_path / "copy"
    shutil.copytree(path, copy)
    beside = {name: (folder / name).read_bytes() for name in ("COMMIT", "vectors.f16")}
    for end in range(size, len(whole) + 1):
        plain_path(copy / "agents/a/log", 1).write_bytes(whole[:end])
        for name, data in beside.items():  # the word ahead of the log, as after a loss of power
            (copy / "agents/a" / name).write_bytes(data)
        ids = expected[(end >= forgotten) + (end >= len(whole))]
        every = end % 23 == 0 or end in (size, forgotten, len(whole)) or end > len(whole) - 3
        with opened(copy, read_only=True) as agent:
            assert [id for id, _ in contents(agent)] == ids
        with opened(copy, durability="off") as agent:
            assert [id for id, _ in contents(agent)] == ids
            if every:
                fill(agent, 10, 1)
                assert agent.verify().ok
        if every:
            with opened(copy, read_only=True) as agent:
                assert [id for id, _ in contents(agent)] == [*ids, "m10"]


@pytest.mark.parametrize("where", ["tail", "checkpointed"])
def test_a_byte_changed_in_the_log_is_found(path, folder, held, where):
    file = plain_path(folder / "log", 1)
    data = bytearray(file.read_bytes())
    at = data.index(b"Memory 42" if where == "tail" else b"Memory 21")
    data[at] ^= 1
    file.write_bytes(data)
    if where == "tail":
        with (
            pytest.raises(CorruptError, match=r"00000001.jsonl: expected chain \w+ .* on line \d+"),
            opened(path),
        ):
            pass
        assert file.read_bytes() == data
        return
    with opened(path) as agent:
        (problem,) = agent.verify().problems
    assert re.search(r"00000001.jsonl: expected chain", problem)


def test_a_log_that_is_gone_is_not_begun_anew(path, folder, held):
    shutil.rmtree(folder / "log")
    with pytest.raises(CorruptError, match="expected the log up to operation"), opened(path):
        pass
    assert not (folder / "log").exists()


def test_a_log_that_lost_lines_behind_a_checkpoint_is_refused(path, folder, held):
    file = plain_path(folder / "log", 1)
    os.truncate(file, file.read_bytes().index(b"Memory 30"))
    for read_only in (False, True):
        with (
            pytest.raises(CorruptError, match="lines were lost"),
            opened(path, read_only=read_only) as agent,
        ):
            agent.stats()


# -- what is rebuilt -------------------------------------------------------------------------------


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


def test_a_commit_word_of_another_version_is_refused(path, folder, held):
    data = (folder / "COMMIT").read_bytes()
    (folder / "COMMIT").write_bytes(data[:8] + b"\2" + data[9:])
    with pytest.raises(FormatError, match="format 2, this recollex reads format 1"), opened(path):
        pass


# -- vectors ---------------------------------------------------------------------------------------


@pytest.fixture
def embedded(path):
    """As `held`, by a model; its 'always' means that what is written is on the disk."""
    with opened(path, embedder=Model()) as agent:
        agent.retain([text(n) for n in range(10)], id=[f"m{n}" for n in range(10)])
        said = " ".join(text(n) for n in range(60))  # several passages
        agent.retain_dialogue([{"speaker": "Ann", "text": said, "id": "long"}], document_id="d")
        agent.checkpoint()
        agent.retain([text(n) for n in range(10, 14)], id=[f"m{n}" for n in range(10, 14)])
        assert agent.stats().passages > agent.stats().memories
        return contents(agent), answers(agent)


def lose_vectors(path, how):
    if how == "lost":
        path.unlink()
    elif how == "header":
        path.write_bytes(b"x" + path.read_bytes()[1:])
    elif how == "empty":
        os.truncate(path, 0)
    elif how == "short":
        os.truncate(path, path.stat().st_size - 2 * D * 7)
    elif how == "last":
        with path.open("r+b") as file:
            file.seek(-5, os.SEEK_END)
            file.write(b"\0\1")


@pytest.mark.parametrize("how", ["lost", "header", "empty", "short", "last"])
def test_lost_vectors_are_embedded_again(path, folder, embedded, how):
    file = folder / "vectors.f16"
    before = file.read_bytes()
    lose_vectors(file, how)
    with (
        pytest.raises(CorruptError, match=r"vectors.f16: expected"),
        opened(path, embedder=Model(), read_only=True) as agent,
    ):
        agent.recall("tea")
    model = Model()
    with pytest.warns(
        RuntimeWarning, match=r"of 1?\d of \d+ passages \(rows \d+ to \d+\) are lost"
    ):
        store = recollex.open(path, embedder=model)
        agent = store.agent("a")
    assert set(model.embedded) & {text(n) for n in range(10, 14)}
    assert (text(0) in model.embedded) == (how in ("lost", "header", "empty"))
    assert file.read_bytes() == before
    assert_holds(agent, embedded)
    agent.retain(text(20), id="m20")
    agent.checkpoint()
    now = contents(agent), answers(agent)
    store.close()
    for read_only in (True, False):
        with opened(path, embedder=Model(), read_only=read_only) as agent:
            assert_holds(agent, now)


class Newer(Model):
    """The same model on another machine: its last bits differ."""

    def embed_query(self, text):
        vector = super().embed_query(text) + np.float32(1e-3)
        return vector / np.linalg.norm(vector)


def test_vectors_made_again_may_differ_and_may_be_lost_again(path, folder, embedded):
    for _ in range(2):
        os.truncate(folder / "vectors.f16", 64 + 2 * D * 11)  # inside the long memory's batch
        model = Newer()
        with pytest.warns(RuntimeWarning, match="are lost"):
            store = recollex.open(path, embedder=model)
            agent = store.agent("a")
        assert text(0) not in model.embedded
        assert contents(agent) == embedded[0]
        assert agent.verify().problems == ()
        found = agent.recall(text(12), exact=True)
        assert found[0].id == "m12"
        now = answers(agent)
        agent.checkpoint()
        assert agent.verify().problems == () and answers(agent) == now
        store.close()
        with opened(path, embedder=Newer(), read_only=True) as agent:
            assert answers(agent) == now and agent.verify().problems == ()


def test_a_crash_while_vectors_are_made_again_hides_nothing(path, folder, embedded, monkeypatch):
    (folder / "vectors.f16").unlink()
    for step, last in (("unlink", "MANIFEST"), ("rename", "vectors.f16.restored")):
        real = getattr(Path, step)
        with monkeypatch.context() as patch, pytest.warns(RuntimeWarning, match="are lost"):

            def crash(self, *_, _real=real, _last=last, **options):
                if self.name == _last:
                    raise RuntimeError("crashed")
                return _real(self, *_, **options)

            patch.setattr(Path, step, crash)
            with pytest.raises(RuntimeError, match="crashed"):
                recollex.open(path, embedder=Newer()).agent("a")
    with pytest.warns(RuntimeWarning, match="are lost"):
        store = recollex.open(path, embedder=Newer())
        agent = store.agent("a")
    assert contents(agent) == embedded[0] and agent.verify().problems == ()
    assert [name.name for name in folder.glob("vectors*")] == ["vectors.f16"]
    store.close()


def test_vectors_that_no_model_made_are_missed_by_name(path, folder, held):
    data = (folder / "vectors.f16").read_bytes()
    log_before = plain_path(folder / "log", 1).read_bytes()
    for change in (lambda f: f.unlink(), lambda f: f.write_bytes(data[:-1])):
        change(folder / "vectors.f16")
        for _ in range(2):  # nothing is locked or half done after the first
            with pytest.raises(CorruptError) as caught:
                recollex.open(path, embedder=recollex.GivenVectors(D)).agent("a")
            assert "given-32 cannot make them: put the file back" in str(caught.value)
            assert "of 46 passages" in str(caught.value)
        assert plain_path(folder / "log", 1).read_bytes() == log_before
    (folder / "vectors.f16").write_bytes(data)
    with opened(path) as agent:
        assert_holds(agent, held)


def test_a_vector_changed_in_the_middle_is_found_and_embedded_again(path, folder, embedded):
    with (folder / "vectors.f16").open("r+b") as file:
        file.seek(64 + 2 * D * 3 + 6)
        file.write(b"\7")
    with opened(path, embedder=Model()) as agent:
        problems = agent.verify().problems
        assert any(each.startswith("vectors of rows 0 to 9: the log has") for each in problems)
    (folder / "MANIFEST").unlink()
    with pytest.warns(RuntimeWarning, match=r"vectors of 10 of 1\d passages \(rows 0 to 9\)"):
        store = recollex.open(path, embedder=Model())
        agent = store.agent("a")
    assert_holds(agent, embedded)
    store.close()


# -- full disks ------------------------------------------------------------------------------------


class FullDisk:
    """Refuses to write to files whose path holds a word; may take a part of the bytes first."""

    def __init__(self, monkeypatch):
        self.word = None
        self.part = 0
        self.names = {}
        self.refused = 0
        real_open, real_write = os.open, os.pwrite

        def open_(name, *args, **options):
            fd = real_open(name, *args, **options)
            self.names[fd] = os.fspath(name)
            return fd

        def pwrite(fd, data, offset):
            if self.word is not None and self.word in str(self.names.get(fd, "")):
                self.refused += 1
                if self.part and self.refused % 2:
                    return real_write(fd, memoryview(data)[: self.part], offset)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real_write(fd, data, offset)

        monkeypatch.setattr(os, "open", open_)
        monkeypatch.setattr(os, "pwrite", pwrite)


@pytest.fixture
def full_disk(monkeypatch):
    return FullDisk(monkeypatch)


@pytest.mark.parametrize("part", [0, 30])
@pytest.mark.parametrize("word", ["vectors.f16", "00000001.jsonl"])
def test_a_full_disk_stores_nothing_of_the_call(path, full_disk, word, part):
    with opened(path) as agent, opened(path, read_only=True) as reader:
        fill(agent, 0, 5)
        before = contents(agent), answers(agent), agent.stats()
        full_disk.word, full_disk.part = word, part
        for _ in range(3):
            with pytest.raises(StoreFullError, match=r"No space left.*nothing of this call") as e:
                fill(agent, 5, 50)
            assert e.value.errno == errno.ENOSPC
            if word.endswith("jsonl"):
                with pytest.raises(StoreFullError):
                    agent.forget("m2")
            now = agent.stats()
            assert (now.memories, now.operations) == (before[2].memories, before[2].operations)
            assert (contents(agent), answers(agent)) == before[:2]
            assert (contents(reader), answers(reader)) == before[:2]
        full_disk.word = None
        fill(agent, 70, 2)
        assert agent.verify().problems == ()
        expected = contents(agent), answers(agent)
        assert [id for id, _ in expected[0]] == ["m0", "m1", "m2", "m3", "m4", "m70", "m71"]
        assert contents(reader) == expected[0]
    for read_only in (True, False):
        with opened(path, read_only=read_only) as agent:
            assert_holds(agent, expected)


def test_a_full_disk_at_the_first_retain(path, full_disk):
    for word in ("store.json", "log/", "vectors.f16"):
        full_disk.word = word
        with pytest.raises(StoreFullError), opened(path) as agent:
            fill(agent, 0, 1)
        full_disk.word = None
    with opened(path) as agent:
        assert contents(agent) == []
        fill(agent, 0, 1)
        assert agent.verify().ok
        assert contents(agent) == [("m0", text(0))]


@pytest.mark.parametrize(
    "word", ["columns/text", "closed_by", "terms.offsets", "ids.heap", "MANIFEST"]
)
def test_a_checkpoint_on_a_full_disk_changes_nothing(path, full_disk, word):
    with opened(path) as agent:
        fill(agent, 0, 30)
        agent.checkpoint()
        fill(agent, 30, 30)
        agent.forget(["m3", "m40"])
        expected = contents(agent), answers(agent)
        full_disk.word = word
        for _ in range(2):
            with pytest.raises(StoreFullError, match="No space left"):
                agent.checkpoint()
            assert_holds(agent, expected)
        with opened(path, read_only=True) as reader:
            assert_holds(reader, expected)
        fill(agent, 60, 10)
        full_disk.word = None
        agent.checkpoint()
        assert agent.stats().tail_passages == 0
        expected = contents(agent), answers(agent)
        assert_holds(agent, expected)
    with opened(path) as agent:
        assert_holds(agent, expected)


@pytest.mark.parametrize("place", ["pack", "column", "log"])
def test_a_failed_flush_in_a_checkpoint(path, monkeypatch, place):
    def refuse(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with opened(path, durability="off") as agent:
        fill(agent, 0, 30)
        expected = contents(agent), answers(agent)
        with monkeypatch.context() as patch:
            if place == "pack":
                patch.setattr(pack.os, "fsync", refuse)
            else:
                patch.setattr({"column": column, "log": log}[place], "flush", refuse)
            with pytest.raises(StoreFullError, match="Input/output error"):
                agent.checkpoint()
        assert contents(agent) == expected[0] and answers(agent) == expected[1]
        if place == "log":  # poisoned: nothing can be promised any more
            with pytest.raises(StoreFullError, match="close it and open it again"):
                agent.checkpoint()
            with pytest.raises(StoreFullError, match="close it and open it again"):
                fill(agent, 40, 1)
        else:
            agent.checkpoint()
            assert_holds(agent, expected)
    with opened(path) as agent:
        assert_holds(agent, expected)


def test_a_background_checkpoint_that_fails_is_a_warning_and_is_tried_again(
    path, full_disk, monkeypatch
):
    monkeypatch.setattr(checkpoint, "TAIL_ROWS", 16)
    with opened(path) as agent:
        full_disk.word = "MANIFEST"
        ids = fill(agent, 0, 20)
        warned = 0
        for n in range(20, 100):  # far beyond the tail at which a writer waits
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                ids += fill(agent, n, 1)
            warned += len(caught)
            for each in caught:
                assert each.category is RuntimeWarning
                assert re.search(
                    r"a checkpoint failed \(.*No space.*nothing is lost", str(each.message)
                )
        assert warned
        assert [id for id, _ in contents(agent)] == ids
        expected = contents(agent), answers(agent)
        full_disk.word = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for n in range(100, 140):
                fill(agent, n, 1)
            agent.checkpoint()
        assert agent.stats().tail_passages < 40
        expected = contents(agent), answers(agent)
        assert_holds(agent, expected)
    with opened(path) as agent:
        assert_holds(agent, expected)


def test_a_full_disk_while_closing_loses_nothing(path, full_disk, monkeypatch):
    store = recollex.open(path, embedder=recollex.GivenVectors(D))
    agent = store.agent("a")
    fill(agent, 0, 2000)
    expected = contents(agent), answers(agent)
    full_disk.word = "columns/"
    with pytest.warns(RuntimeWarning, match="a checkpoint failed"):
        store.close()
    full_disk.word = None
    with opened(path) as agent:
        assert_holds(agent, expected)


LIMITED = """
import resource, signal, sys
import numpy as np, recollex
from recollex_engine.errors import StoreFullError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = recollex.open(sys.argv[1], embedder=recollex.GivenVectors(32), durability="off")
agent = store.agent("a")
ones = np.ones((200, 32), np.float32)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
stored = []
try:
    for n in range(1000):
        ids = [f"{n}-{i}" for i in range(200)]
        agent.retain([f"Memory {id}." for id in ids], id=ids, embedding=ones)
        stored = ids
except StoreFullError as error:
    assert "File too large" in str(error)
else:
    raise SystemExit("never full")
assert [memory.id for memory in agent.list(limit=100000)][-200:] == stored
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
agent.retain("The last.", id="last", embedding=ones[0])
assert agent.verify().ok, agent.verify()
print(n * 200 + 1)
"""


@pytest.mark.parametrize("limit", [100_000, 33_333])
def test_a_limit_on_file_sizes_is_a_full_disk(path, limit):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", LIMITED, path, str(limit)]
    found = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    with opened(path) as agent:
        assert agent.stats().memories == int(found.stdout)
        assert agent.get("last").text == "The last."
        assert agent.verify().ok


# -- flushes that fail -----------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["always", "interval"])
def test_a_flush_that_fails_poisons_the_writer(path, monkeypatch, mode):
    failing = threading.Event()
    real = disk.flush

    def flush(fd):
        if failing.is_set():
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(fd)

    monkeypatch.setattr(log, "flush", flush)
    store = recollex.open(path, embedder=recollex.GivenVectors(D), durability=mode)
    agent = store.agent("a")
    fill(agent, 0, 3)
    agent.engine.files.opened_writer.log.sync()
    failing.set()
    if mode == "always":
        with pytest.raises(StoreFullError, match="could not be made durable"):
            fill(agent, 3, 1)
    else:
        fill(agent, 3, 1)  # acknowledged, and lost a moment later
        commits = agent.engine.files.opened_writer.log._commits
        with commits._changed:
            assert commits._changed.wait_for(lambda: commits._failure is not None, 5)
    failing.clear()
    for call in (lambda: fill(agent, 4, 1), lambda: agent.forget("m0"), agent.checkpoint):
        with pytest.raises(StoreFullError, match="close it and open it again"):
            call()
    assert [id for id, _ in contents(agent)][:3] == ["m0", "m1", "m2"]  # recalls go on
    assert len(answers(agent)) == 3
    store.close()
    with opened(path) as agent:  # what had reached the disk is there, whole
        assert [id for id, _ in contents(agent)] in (["m0", "m1", "m2"], ["m0", "m1", "m2", "m3"])
        assert agent.verify().ok
        fill(agent, 5, 1)


def test_a_failure_in_the_background_is_told_at_the_latest_when_closing(path, monkeypatch):
    def refuse(_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    store = recollex.open(path, embedder=recollex.GivenVectors(D), durability="interval")
    fill(store.agent("a"), 0, 3)
    monkeypatch.setattr(log, "flush", refuse)
    fill(store.agent("a"), 3, 1)
    commits = store.agent("a").engine.files.opened_writer.log._commits
    with commits._changed:
        assert commits._changed.wait_for(lambda: commits._failure is not None, 5)
    with pytest.raises(StoreFullError, match="could not be made durable"):
        store.close()
    monkeypatch.undo()
    with opened(path) as agent:
        assert agent.verify().ok


def test_a_vectors_flush_that_fails_acknowledges_nothing(path, monkeypatch):
    def refuse(_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with opened(path) as agent:
        fill(agent, 0, 3)
        with monkeypatch.context() as patch:
            patch.setattr(vectors_file, "flush", refuse)
            with pytest.raises(StoreFullError):
                fill(agent, 3, 1)
        with pytest.raises(StoreFullError):
            fill(agent, 4, 1)
        assert [id for id, _ in contents(agent)] == ["m0", "m1", "m2"]


def test_an_interruption_between_log_and_columns_poisons_the_writer(path, monkeypatch):
    store = recollex.open(path, embedder=recollex.GivenVectors(D))
    agent = store.agent("a")
    fill(agent, 0, 3)

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Columns, "extend_table", interrupt)
        with pytest.raises(KeyboardInterrupt):
            fill(agent, 3, 2)
    with pytest.raises(StoreFullError, match=r"KeyboardInterrupt.*close it and open it again"):
        fill(agent, 5, 1)
    store.close()
    with opened(path) as agent:
        assert len(contents(agent)) in (3, 5)
        assert agent.verify().ok


# -- second writers --------------------------------------------------------------------------------


SECOND = """
import sys, recollex
from recollex_engine.errors import LockedError
import time
store = recollex.open(sys.argv[1], embedder=recollex.GivenVectors(32))
started = time.perf_counter()
try:
    store.agent("a")
except LockedError as error:
    assert time.perf_counter() - started < 5
    print(error)
reader = recollex.open(sys.argv[1], embedder=recollex.GivenVectors(32), read_only=True).agent("a")
print(len(reader.list()), len(reader.recall("tea")))
"""


def test_a_second_writer_is_refused_at_once_and_readers_go_on(path, held):
    with opened(path) as agent, opened(path, read_only=True) as reader:
        assert contents(reader) == held[0]
        with pytest.raises(LockedError, match=rf"LOCK is open .*process {os.getpid()}.*read_only"):
            recollex.open(path, embedder=recollex.GivenVectors(D)).agent("a")
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-c", SECOND, path]
        found = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
        message, counts = found.stdout.splitlines()
        assert f"held by process {os.getpid()}" in message
        assert counts.split()[0] == str(len(held[0]))
        fill(agent, 60, 1)
        assert contents(reader)[-1] == ("m60", text(60))
        with pytest.raises(ReadOnlyError, match="read_only=True"):
            fill(reader, 61, 1)
    with opened(path) as agent:
        assert agent.get("m60").text == text(60)


def test_two_writers_of_an_agent_that_is_new(path):
    with opened(path) as first, opened(path) as second:
        fill(first, 0, 1)
        with pytest.raises(LockedError):
            fill(second, 1, 1)
        with pytest.raises(LockedError):
            second.forget("m0")
        assert contents(first) == contents(second) == [("m0", text(0))]


def test_an_agent_that_cannot_be_opened_is_not_left_locked(path, embedded):
    for _ in range(2):
        with pytest.raises(recollex.errors.ModelMismatchError):
            recollex.open(path, embedder=recollex.GivenVectors(D)).agent("a")
    with opened(path, embedder=Model()) as agent:
        assert_holds(agent, embedded)


def test_closing_beside_writing_threads_loses_nothing(path, monkeypatch):
    monkeypatch.setattr(checkpoint, "TAIL_ROWS", 16)
    acknowledged, failures = [], []
    store = recollex.open(path, embedder=recollex.GivenVectors(D), durability="interval")
    agent = store.agent("a")
    fill(agent, 0, 1)

    def work(first):
        try:
            for n in range(first, first + 10_000):
                acknowledged.extend(fill(agent, n, 1))
        except ClosedError:
            pass
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n * 10_000 + 10,)) for n in range(3)]
    for thread in threads:
        thread.start()
    while len(acknowledged) < 200 and not failures:
        threading.Event().wait(0.01)
    store.close()
    for thread in threads:
        thread.join()
    assert failures == []
    with opened(path) as agent:
        ids = {id for id, _ in contents(agent)}
        assert ids >= set(acknowledged) and len(ids) <= len(acknowledged) + 4
        assert agent.verify().ok
        with pytest.raises(UnknownIdError):
            agent.get("nobody")


# -- parts of a recall that fail -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stage", "module", "name", "preset"),
    [
        ("parse", time_parser, "find_range", "default"),
        ("keyword", arms, "keyword", "default"),
        ("semantic", arms, "semantic", "default"),
        ("graph", recall, "graph", "tempr"),
        ("temporal", recall, "temporal", "default"),
    ],
)
def test_a_recall_answers_without_the_part_that_failed(
    path, held, monkeypatch, stage, module, name, preset
):
    def broken(*_, **__):
        raise IndexError("broken")

    with opened(path) as agent:
        query = {"query_embedding": vectors(999, 1)[0], "preset": preset}
        whole = agent.recall("tea in May", **query)
        assert not whole.trace.errors
        monkeypatch.setattr(module, name, broken)
        found = agent.recall("tea in May", **query)
    assert found.trace.errors == {stage: "IndexError: broken"}
    assert len(found)
