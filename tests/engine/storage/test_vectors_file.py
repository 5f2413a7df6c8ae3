import errno
import itertools
import os
import resource
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from recollex_engine.errors import CorruptError, FormatError, InputError, StoreFullError
from recollex_engine.storage import overlay, vectors_file
from recollex_engine.storage.encryption import create_key
from recollex_engine.storage.vectors_file import (
    HEADER_BYTES,
    VectorsReader,
    VectorsWriter,
    checksum,
)

D = 24


def some(n, start=0):
    return (np.arange(n * D).reshape(n, D) + start).astype("<f2")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "vectors.f16"


def test_rows_read_back_and_grow_without_mapping_again(path, monkeypatch):
    with VectorsWriter(path, D) as writer:
        reader = VectorsReader(path, D)
        assert reader.rows(0).shape == (0, D)
        writer.append(some(3))
        first = reader.rows(3)
        assert first.dtype == np.float16 and not first.flags.writeable
        monkeypatch.setattr(overlay, "shared_bytes", None)
        writer.append(some(500, 7))
        assert np.array_equal(reader.rows(503), np.concatenate([some(3), some(500, 7)]))
        assert np.array_equal(reader.rows(2), some(2))
        assert np.shares_memory(first, reader.rows(503))
        writer.sync()


def test_when_the_addresses_are_used_up_it_is_mapped_again(path, monkeypatch):
    monkeypatch.setattr(vectors_file, "_LEAST_CAPACITY", 4096)
    with VectorsWriter(path, D) as writer:
        reader = VectorsReader(path, D)
        writer.append(some(10))
        early = reader.rows(10)
        for n in range(10):
            writer.append(some(200, n))
            assert np.array_equal(reader.rows(writer.count)[-200:], some(200, n))
        assert np.array_equal(early, some(10))


def test_the_bytes_are_the_documented_ones(path):
    with VectorsWriter(path, D) as writer:
        writer.append(some(2))
    data = path.read_bytes()
    assert data[:16] == b"rcxvec16" + (1).to_bytes(4, "little") + D.to_bytes(4, "little")
    assert data[16:HEADER_BYTES] == bytes(48)
    assert data[HEADER_BYTES:] == some(2).tobytes()


def test_what_lies_behind_the_count_is_written_over(path):
    with VectorsWriter(path, D) as writer:
        writer.append(some(5))
        writer.rewind(3)
        assert writer.count == 3
        writer.append(some(1, 50))
    with VectorsWriter(path, D, 2) as writer:
        writer.append(some(1, 90))
    assert path.stat().st_size == HEADER_BYTES + 5 * 2 * D
    rows = VectorsReader(path, D).rows(5)
    assert np.array_equal(rows[:2], some(2))
    assert np.array_equal(rows[2:4], np.concatenate([some(1, 90), some(1, 50)]))


@pytest.mark.parametrize("key", [None, bytes(32)], ids=["plain", "encrypted"])
def test_rows_that_the_log_refused_are_not_kept(path, key):
    cipher = create_key(path.parent, key) if key else None
    with VectorsWriter(path, D) as writer:
        reader = VectorsReader(path, D)
        held = []
        for count in (0, 3, 60):  # then with spare room for rows that follow, in memory
            for refused in (some(2, 50), some(9, 60)):
                writer.append(refused)
                found = reader.followed_by(count, refused)
                assert np.array_equal(found, np.concatenate([*held, refused]))
                assert not found.flags.writeable
                writer.rewind(count)
            held.append(some({0: 3, 3: 57, 60: 4}[count], 7 + count))
            writer.append(held[-1])
            assert np.array_equal(reader.rows(writer.count), np.concatenate(held))
    del cipher


def test_a_short_file_is_named_and_never_touched(path):
    with VectorsWriter(path, D) as writer:
        writer.append(some(5))
    reader = VectorsReader(path, D)
    assert len(reader.rows(5)) == 5
    os.truncate(path, HEADER_BYTES + 3 * 2 * D + 1)
    for attempt in (lambda: reader.rows(6), lambda: VectorsReader(path, D).rows(4)):
        with pytest.raises(CorruptError, match="rows, found 3"):
            attempt()
    with pytest.raises(CorruptError, match="expected 5 rows, found 3"):
        VectorsWriter(path, D, 5)
    path.unlink()
    with pytest.raises(CorruptError, match="found no file"):
        VectorsReader(path, D).rows(1)
    assert len(VectorsReader(path, D).rows(0)) == 0


def test_a_file_put_in_its_place_is_read_from_then_on(path):
    with VectorsWriter(path, D) as writer:
        writer.append(some(5))
    reader = VectorsReader(path, D)
    old = reader.rows(5)
    with VectorsWriter(path.with_name("other"), D) as writer:
        writer.append(some(6, 70))
    path.with_name("other").rename(path)
    assert np.array_equal(reader.rows(5), some(5))
    assert np.array_equal(reader.rows(6), some(6, 70))
    assert np.array_equal(reader.rows(5), some(5, 70))
    assert np.array_equal(old, some(5))


def test_without_the_overlay_the_file_is_mapped_as_it_is(path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOMEM, "no")

    monkeypatch.setattr(overlay, "shared_bytes", refuse)
    with VectorsWriter(path, D) as writer:
        reader = VectorsReader(path, D)
        for n in range(4):
            writer.append(some(300, n))
            assert np.array_equal(reader.rows(writer.count)[-300:], some(300, n))


def test_a_full_disk_counts_nothing(path):
    with VectorsWriter(path, D) as writer:
        writer.append(some(5))
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
        try:
            with pytest.raises(StoreFullError) as caught:
                writer.append(some(100))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert caught.value.errno == errno.EFBIG
        assert writer.count == 5
        writer.append(some(100, 9))
        assert np.array_equal(VectorsReader(path, D).rows(105)[5:], some(100, 9))


def test_a_failed_flush_is_reported_again_and_again(path, monkeypatch):
    def fail(_):
        raise OSError(errno.EIO, "broken")

    with VectorsWriter(path, D) as writer:
        writer.append(some(1))
        with monkeypatch.context() as patch:
            patch.setattr(vectors_file, "flush", fail)
            with pytest.raises(StoreFullError):
                writer.sync()
        with pytest.raises(StoreFullError, match="broken"):
            writer.sync()


def test_the_checksum_depends_on_every_bit_and_not_on_the_layout():
    rows = some(4)
    assert len(checksum(rows)) == 32
    assert checksum(rows) == checksum(np.asfortranarray(rows)) == checksum(rows.view(np.uint16))
    other = rows.copy()
    other.view(np.uint8)[3, 40] ^= 1
    assert checksum(other) != checksum(rows)
    assert checksum(some(0)) == "e3b0c44298fc1c149afbf4c8996fb924"


def test_wrong_files_and_shapes_are_refused(path):
    with VectorsWriter(path, D) as writer:
        for bad in (some(2).astype("f4"), some(2)[:, :5], some(2)[0], some(2).astype(">f2")):
            with pytest.raises(InputError, match="float16 of shape"):
                writer.append(bad)
        writer.append(some(0))
        with pytest.raises(InputError):
            writer.rewind(1)
        writer.append(some(1))
    with pytest.raises(FormatError, match="24 dimensions, not 25"):
        VectorsWriter(path, 25)
    with pytest.raises(FormatError, match="24 dimensions, not 12"):
        VectorsReader(path, 12).rows(1)
    with pytest.raises(InputError):
        VectorsReader(path, D).rows(-1)
    with pytest.raises(InputError):
        VectorsWriter(path, 0)
    data = path.read_bytes()
    path.write_bytes(b"x" + data[1:])
    with pytest.raises(CorruptError, match="at its start, found b'xcxvec16'; opening"):
        VectorsReader(path, D).rows(1)
    path.write_bytes(data[:8] + b"\7" + data[9:])
    with pytest.raises(FormatError, match="format 7"):
        VectorsReader(path, D).rows(1)
    path.write_bytes(data[:10])
    with pytest.raises(CorruptError, match="a header of 64 bytes"):
        VectorsWriter(path, D)


CHILD = """
import sys
from pathlib import Path
import numpy as np
from recollex_engine.storage.vectors_file import VectorsReader
reader = VectorsReader(Path(sys.argv[1]), 24)
for line in sys.stdin:
    count = int(line)
    print(int(reader.rows(count)[:, 0].astype(np.int64).sum()), flush=True)
"""


def test_another_process_sees_the_rows_that_were_published(path):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", CHILD, str(path)]
    with (
        VectorsWriter(path, D) as writer,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
        ) as child,
    ):
        total = 0
        for n in range(1, 40):
            rows = np.full((n * 100, D), n, "<f2")
            writer.append(rows)
            total += n * n * 100
            child.stdin.write(f"{writer.count}\n")
            child.stdin.flush()
            assert int(child.stdout.readline()) == total
        child.stdin.close()


class Vectors(RuleBasedStateMachine):
    folder = "plain"

    def __init__(self):
        super().__init__()
        self.path = Vectors.root / self.folder / str(next(Vectors.number))
        self.writer = VectorsWriter(self.path, 3)
        self.reader = VectorsReader(self.path, 3)
        self.model = np.empty((0, 3), "<f2")
        self.published = 0

    @rule(n=st.sampled_from([0, 1, 5, 3000]), value=st.integers(0, 1000))
    def append(self, n, value):
        rows = np.full((n, 3), value, "<f2")
        self.writer.append(rows)
        self.model = np.concatenate([self.model, rows])

    @rule()
    def publish(self):
        self.published = len(self.model)

    @rule(at=st.integers(0, 20))
    def fail_to_append(self, at):
        real = os.pwrite

        def partly(fd, data, offset):
            real(fd, data[:at], offset)
            raise OSError(errno.ENOSPC, "full")

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "pwrite", partly)
            with pytest.raises(StoreFullError):
                self.writer.append(np.ones((2, 3), "<f2"))

    @rule()
    def crash(self):
        self.writer.close()
        self.writer = VectorsWriter(self.path, 3, self.published)
        self.model = self.model[: self.published]

    @rule()
    def another_reader(self):
        self.reader = VectorsReader(self.path, 3)

    @invariant()
    def readers_see_what_is_published(self):
        assert self.writer.count == len(self.model)
        assert np.array_equal(self.reader.rows(self.published), self.model[: self.published])

    def teardown(self):
        self.writer.close()


class EncryptedVectors(Vectors):
    """The same of an encrypted agent."""

    folder = "encrypted"


@pytest.fixture(autouse=True, scope="module")
def root(tmp_path_factory):
    Vectors.root = tmp_path_factory.mktemp("machines")
    Vectors.number = itertools.count()
    for name in ("plain", "encrypted"):
        (Vectors.root / name).mkdir()
    held = create_key(Vectors.root / "encrypted", bytes(32))
    yield
    del held


TestVectors = Vectors.TestCase
TestEncryptedVectors = EncryptedVectors.TestCase
for case in (TestVectors, TestEncryptedVectors):
    case.settings = settings(max_examples=30, stateful_step_count=12, deadline=None)


def test_rows_are_flushed_once(path, monkeypatch):
    """A write without vectors waits for no flush of their file."""
    flushed = []
    monkeypatch.setattr(vectors_file, "flush", flushed.append)
    with VectorsWriter(path, D) as writer:
        writer.sync()  # what an earlier process may have left
        writer.sync()
        assert len(flushed) == 1
        writer.append(some(2))
        writer.sync()
        writer.sync()
        assert len(flushed) == 2


def test_rows_that_are_written_during_a_flush_are_flushed_by_the_next(path, monkeypatch):
    flushed = []

    def flush(fd):
        flushed.append(fd)
        if len(flushed) == 1:
            writer.append(some(1))

    monkeypatch.setattr(vectors_file, "flush", flush)
    with VectorsWriter(path, D) as writer:
        writer.append(some(1))
        for expected in (1, 2, 2):
            writer.sync()
            assert len(flushed) == expected


def test_a_flush_that_was_interrupted_is_made_again(path, monkeypatch):
    def interrupt(fd):
        raise KeyboardInterrupt

    with VectorsWriter(path, D) as writer:
        writer.append(some(1))
        with monkeypatch.context() as patch:
            patch.setattr(vectors_file, "flush", interrupt)
            with pytest.raises(KeyboardInterrupt):
                writer.sync()
        flushed = []
        monkeypatch.setattr(vectors_file, "flush", flushed.append)
        writer.sync()
        assert flushed
