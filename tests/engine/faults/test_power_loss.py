"""Logs whose last transactions did not reach the disk whole, and readers beside a failed flush."""

import os
from pathlib import Path

import pytest

from recollex_engine.errors import CorruptError, StoreFullError
from recollex_engine.log import durability
from recollex_engine.log import writer as log
from recollex_engine.log.files import plain_path
from recollex_engine.storage import disk, vectors_file
from recollex_engine.storage.commit_word import CommitWord
from recollex_engine.storage.vectors_file import HEADER_BYTES
from tests.engine.faults.small_store import (
    D,
    RefusedFlush,
    begin_nothing,
    contents,
    fill,
    opened,
    refuse,
)


def ids(agent):
    return [id for id, _ in contents(agent)]


def test_operations_that_no_flush_covered_are_cut_off_with_their_vectors(path, folder):
    with opened(path, durability="off") as agent:
        fill(agent, 0, 3)
        agent.engine.files.opened_writer.log.sync()
        fill(agent, 3, 2)
        agent.forget("m1")
    torn = plain_path(folder / "log", 1).read_bytes()
    os.truncate(folder / "vectors.f16", HEADER_BYTES + 2 * D * 4)
    with opened(path, read_only=True) as reader:
        assert ids(reader) == ["m0", "m1", "m2"]
        with pytest.warns(RuntimeWarning, match="3 operations after operation 4.*were cut off"):
            writer = opened(path)
            agent = writer.__enter__()
        assert ids(agent) == ids(reader) == ["m0", "m1", "m2"]
        fill(agent, 7, 1)
        assert ids(agent) == ids(reader) == ["m0", "m1", "m2", "m7"]
        assert agent.verify().ok
        writer.__exit__(None, None, None)
    (kept,) = (folder / "log").glob("torn-*.jsonl")
    assert kept.name == "torn-4.jsonl" and torn.endswith(kept.read_bytes())
    with opened(path) as agent:
        assert ids(agent) == ["m0", "m1", "m2", "m7"]


def test_a_flushed_operation_is_never_cut_off(path, folder):
    with opened(path) as agent:
        fill(agent, 0, 3)
        fill(agent, 3, 2)
    data = (folder / "vectors.f16").read_bytes()
    os.truncate(folder / "vectors.f16", len(data) - 1)
    before = plain_path(folder / "log", 1).read_bytes()
    for read_only in (True, False):
        with (
            pytest.raises(CorruptError, match=r"vectors.f16"),
            opened(path, read_only=read_only) as agent,
        ):
            ids(agent)
    assert plain_path(folder / "log", 1).read_bytes() == before


def test_a_log_without_its_last_flushed_operation_is_refused(path, folder):
    with opened(path) as agent:
        fill(agent, 0, 3)
        agent.forget("m1")
    file = plain_path(folder / "log", 1)
    os.truncate(file, file.read_bytes().rindex(b"\n", 0, -1) + 1)
    for read_only in (True, False):
        with (
            pytest.raises(CorruptError, match="operations up to 5, found only up to 4"),
            opened(path, read_only=read_only) as agent,
        ):
            ids(agent)
    (folder / "HEAD").unlink()  # as the error says
    with opened(path) as agent:
        assert ids(agent) == ["m0", "m1", "m2"]


def test_a_flush_covers_the_vectors_that_an_earlier_process_left_unflushed(
    path, folder, monkeypatch
):
    with opened(path, durability="off") as agent:
        fill(agent, 0, 3)
    flushed = []

    def noted(fd):
        flushed.append(Path(f"/proc/self/fd/{fd}").readlink().name)
        real(fd)

    real = disk.flush
    for module in (disk, log, vectors_file):
        monkeypatch.setattr(module, "flush", noted)
    monkeypatch.setattr(durability, "begin_flush", begin_nothing)
    with opened(path) as agent:
        agent.forget("m1")  # adds no vectors
        assert flushed == ["vectors.f16", "00000001.jsonl"]
        agent.forget("m2")
        assert flushed[2:] == ["00000001.jsonl"]


@pytest.mark.parametrize("sector", [512, 64])
def test_a_sector_of_zeros_in_the_last_transaction_is_a_torn_tail(path, folder, sector):
    with opened(path, durability="off") as agent:
        fill(agent, 0, 3)
        size = plain_path(folder / "log", 1).stat().st_size
        fill(agent, 3, 6)
    file = plain_path(folder / "log", 1)
    whole = file.read_bytes()
    commit = CommitWord(folder / "COMMIT").op
    for start in range(size - size % sector + sector, len(whole), sector):
        end = min(start + sector, len(whole))
        file.write_bytes(whole[:start] + bytes(end - start) + whole[end:])
        CommitWord(folder / "COMMIT", writable=True).op = commit
        with opened(path, read_only=True) as agent:
            assert ids(agent) == ["m0", "m1", "m2"]
    with opened(path, durability="off") as agent:
        assert ids(agent) == ["m0", "m1", "m2"]
        fill(agent, 9, 1)
        assert agent.verify().ok


@pytest.mark.parametrize("content", [b"", bytes(120)])
def test_a_last_file_without_a_header_is_begun_again(path, folder, content):
    with opened(path, durability="off") as agent:
        fill(agent, 0, 3)
        agent.engine.files.opened_writer.log.rotate_if_larger(0)
    plain_path(folder / "log", 2).write_bytes(content)
    for read_only in (True, False):
        with opened(path, read_only=read_only) as agent:
            assert ids(agent) == ["m0", "m1", "m2"]
    with opened(path) as agent:
        fill(agent, 3, 1)
    with opened(path) as agent:
        assert ids(agent) == ["m0", "m1", "m2", "m3"] and agent.verify().ok


@pytest.mark.parametrize("way", ["begun", "at the end"])
def test_a_reader_does_not_see_what_a_failed_flush_takes_back(path, monkeypatch, way):
    with opened(path) as agent:
        fill(agent, 0, 3)
        with monkeypatch.context() as patch:
            begin = (lambda _: RefusedFlush()) if way == "begun" else begin_nothing
            patch.setattr(durability, "begin_flush", begin)
            patch.setattr(log, "flush", refuse)
            with pytest.raises(StoreFullError):
                fill(agent, 3, 1)
        with opened(path, read_only=True) as reader:
            assert ids(reader) == ids(agent) == ["m0", "m1", "m2"]
