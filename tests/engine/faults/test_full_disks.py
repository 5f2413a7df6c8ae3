"""Disks that are full during a write, a checkpoint or while closing."""

import errno
import os
import re
import subprocess
import sys
import warnings

import pytest

import recollex
from recollex_engine.errors import StoreFullError
from recollex_engine.log.writer import LogWriter
from recollex_engine.writing import checkpoint
from tests.engine.faults.small_store import D, answers, assert_holds, contents, fill, opened, text


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
@pytest.mark.parametrize("key", [None, bytes(32)], ids=["plain", "encrypted"])
def test_a_full_disk_stores_nothing_of_the_call(path, full_disk, word, part, key):
    with opened(path, key=key) as agent, opened(path, key=key, read_only=True) as reader:
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
        with opened(path, key=key, read_only=read_only) as agent:
            assert_holds(agent, expected)


def test_rules_that_a_full_disk_keeps_back_are_applied_by_the_next_call(path, monkeypatch):
    append = LogWriter.append

    def refuse_forgetting(log, recorded_at, operations, rows=b""):
        if operations[0][0] == "forget":
            raise StoreFullError(errno.ENOSPC, "the disk is full")
        return append(log, recorded_at, operations, rows)

    with opened(path) as agent:
        fill(agent, 0, 3)
        agent.set_retention([recollex.Retention(count=3)])
        with monkeypatch.context() as patch:
            patch.setattr(LogWriter, "append", refuse_forgetting)
            fill(agent, 3, 1)  # it is in the log by then
            assert [id for id, _ in contents(agent)] == ["m0", "m1", "m2", "m3"]
        fill(agent, 4, 1)
        assert [id for id, _ in contents(agent)] == ["m2", "m3", "m4"]
        assert agent.verify().problems == ()


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
from recollex_engine.log.writer import LogWriter
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = recollex.open(sys.argv[1], embedder=recollex.GivenVectors(32), durability="off")
agent = store.agent("a")
ones = np.ones((200, 32), np.float32)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
stored = []
try:
    for n in range(1000):
        ids = [f"{n}-{i}" for i in range(200)]
        agent.retain_many([f"Memory {id}." for id in ids], id=ids, embedding=ones)
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
