"""Logs that were torn, changed, shortened or removed."""

import os
import re
import shutil

import pytest

from recollex_engine.errors import CorruptError
from recollex_engine.log.files import plain_path
from tests.engine.faults.small_store import contents, fill, opened


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


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("where", ["tail", "checkpointed"])
def test_a_byte_changed_in_the_log_is_found(path, folder, held, where, read_only):
    file = plain_path(folder / "log", 1)
    data = bytearray(file.read_bytes())
    at = data.index(b"Memory 42" if where == "tail" else b"Memory 21")
    data[at] ^= 1
    file.write_bytes(data)
    if where == "tail":
        with (
            pytest.raises(CorruptError, match=r"00000001.jsonl: expected chain \w+ .* on line \d+"),
            opened(path, read_only=read_only) as agent,
        ):
            agent.list()
        assert file.read_bytes() == data
        return
    with opened(path, read_only=read_only) as agent:
        (problem,) = agent.verify().problems
        with pytest.raises(CorruptError, match="expected chain"):
            list(agent.log())
    assert re.search(r"00000001.jsonl: expected chain", problem)


def test_a_byte_changed_in_what_a_reader_follows_is_found(path, folder, held):
    with opened(path, read_only=True) as reader, opened(path) as writer:
        before = len(contents(reader))
        file = plain_path(folder / "log", 1)
        fill(writer, 60, 1)
        assert len(contents(reader)) == before + 1
        size = file.stat().st_size
        commit = (folder / "COMMIT").read_bytes()
        fill(writer, 61, 1)
        (folder / "COMMIT").write_bytes(commit)  # the reader looks again after the change
        data = bytearray(file.read_bytes())
        data[data.index(b"Memory 61", size)] ^= 1
        file.write_bytes(data)
        (folder / "COMMIT").write_bytes(commit[:16] + b"\xff\0\0\0\0\0\0\0" + commit[24:])
        with pytest.raises(CorruptError, match="expected chain"):
            reader.list()


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
