import errno
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from recollex_engine.errors import FormatError, ReadOnlyError, StoreFullError
from recollex_engine.storage.commit_word import SIZE, CommitWord
from tests.engine.faults.small_store import contents, fill, opened, vectors


def test_what_one_sets_all_see(tmp_path):
    path = tmp_path / "COMMIT"
    writer = CommitWord(path, writable=True)
    reader = CommitWord(path)
    assert (reader.op, reader.generation) == (0, 0)
    writer.op, writer.generation = 2**63 + 1, 7
    assert (reader.op, reader.generation) == (2**63 + 1, 7)
    again = CommitWord(path, writable=True)
    assert (again.op, again.generation) == (2**63 + 1, 7)
    again.op = 3  # a recovery may go back
    assert reader.op == 3


def test_a_word_that_says_so_already_is_not_written(tmp_path):
    word = CommitWord(tmp_path / "COMMIT", writable=True)
    word.op = 5
    word._words = word._words.toreadonly()
    word.op = 5
    with pytest.raises(TypeError):
        word.op = 6


def test_the_bytes_are_the_documented_ones(tmp_path):
    path = tmp_path / "COMMIT"
    writer = CommitWord(path, writable=True)
    writer.op, writer.generation = 0x0102030405060708, 9
    data = path.read_bytes()
    assert len(data) == SIZE
    assert data[:16] == b"rcxcomit" + b"\1\0\0\0" + bytes(4)
    assert data[16:24] == bytes([8, 7, 6, 5, 4, 3, 2, 1])
    assert data[24:32] == b"\x09" + bytes(7)
    assert data[32:40] == zlib.crc32(data[:16]).to_bytes(8, "little")
    assert data[40:] == bytes(24)


def test_an_absent_word_is_zero_until_it_appears(tmp_path):
    reader = CommitWord(tmp_path / "COMMIT")
    assert reader.op == 0 and reader.generation == 0
    assert not (tmp_path / "COMMIT").exists()
    CommitWord(tmp_path / "COMMIT", writable=True).op = 5
    assert reader.op == 5


def test_a_reader_cannot_set(tmp_path):
    CommitWord(tmp_path / "COMMIT", writable=True)
    reader = CommitWord(tmp_path / "COMMIT")
    with pytest.raises(ReadOnlyError):
        reader.op = 1
    with pytest.raises(ReadOnlyError):
        reader.generation = 1


@pytest.mark.parametrize("damage", [lambda d: b"", lambda d: d[:63], lambda d: b"x" + d[1:]])
def test_a_damaged_word_reads_as_zero_until_a_writer_repairs_it_in_place(tmp_path, damage):
    path = tmp_path / "COMMIT"
    CommitWord(path, writable=True).op = 5
    path.write_bytes(damage(path.read_bytes()))
    number = path.stat().st_ino
    reader = CommitWord(path)
    assert (reader.op, reader.generation) == (0, 0)
    writer = CommitWord(path, writable=True)
    assert (writer.op, writer.generation) == (0, 0)
    writer.op = 6
    assert reader.op == 6
    assert path.stat().st_ino == number


@pytest.mark.parametrize("writable", [True, False])
def test_a_word_of_another_version_is_refused(tmp_path, writable):
    path = tmp_path / "COMMIT"
    CommitWord(path, writable=True)
    head = path.read_bytes()[:8] + b"\2" + bytes(7)
    check = zlib.crc32(head).to_bytes(8, "little")
    path.write_bytes((head + bytes(16) + check).ljust(SIZE, b"\0"))
    with pytest.raises(FormatError, match="has format 2, this recollex"):
        CommitWord(path, writable)
    assert path.read_bytes()[8] == 2


def test_no_flipped_bit_of_the_header_blocks_the_agent(tmp_path):
    path = tmp_path / "COMMIT"
    CommitWord(path, writable=True).op = 5
    data = path.read_bytes()
    for at in (*range(16), *range(32, 40)):
        for bit in range(8):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
            assert CommitWord(path).op == 0
            CommitWord(path, writable=True).op = 5
            assert path.read_bytes() == data


CHILD = """
import sys
from pathlib import Path
from recollex_engine.storage.commit_word import CommitWord
word = CommitWord(Path(sys.argv[1]))
print("ready", flush=True)
last = 0
while last < 2**40:
    op = word.op
    assert op >= last and op % (2**32 + 1) == 0, op  # both halves move together
    last = op
"""


def test_another_process_never_sees_half_a_number(tmp_path):
    path = tmp_path / "COMMIT"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", CHILD, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as child:
        assert child.stdout.readline() == b"ready\n"
        word = CommitWord(path, writable=True)
        for n in range(1, 100_000):
            word.op = n * (2**32 + 1)
    assert child.returncode == 0


def test_a_word_is_whole_once_there_is_a_valid_file(tmp_path):
    reader = CommitWord(tmp_path / "COMMIT")
    assert not reader.is_whole
    (tmp_path / "COMMIT").write_bytes(bytes(SIZE))
    assert not reader.is_whole
    CommitWord(tmp_path / "COMMIT", writable=True)
    assert reader.is_whole and reader.is_whole


def test_a_full_disk_is_an_error_and_the_next_write_says_both(tmp_path, monkeypatch):
    """On a copy-on-write disk each change of COMMIT needs a block; a store into a map is SIGBUS."""
    full = [True]

    def pwrite(fd, data, offset, _pwrite=os.pwrite):
        if full[0] and str(Path(f"/proc/self/fd/{fd}").readlink()).endswith("COMMIT"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return _pwrite(fd, data, offset)

    with opened(tmp_path / "s") as agent, opened(tmp_path / "s", read_only=True) as reader:
        fill(agent, 0, 3)
        monkeypatch.setattr(os, "pwrite", pwrite)
        with pytest.raises(StoreFullError, match="is stored, but other processes"):
            agent.retain("Written.", id="w", embedding=vectors(7, 1)[0])
        assert agent.get("w").text == "Written." and "w" not in dict(contents(reader))
        full[0] = False
        fill(agent, 3, 1)
        assert contents(reader) == contents(agent)
        assert agent.verify().ok


def test_a_writer_lives_when_the_file_is_shortened(tmp_path):
    path = tmp_path / "COMMIT"
    with CommitWord(path, writable=True) as word:
        word.op = 5
        path.write_bytes(b"")
        word.op = 6
        assert word.op == 6
    with CommitWord(path, writable=True) as word:
        word.op = 7
    assert CommitWord(path).op == 7
