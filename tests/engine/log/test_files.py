import gc
import os
import shutil
from pathlib import Path

import pytest

from recollex_engine.errors import CorruptError, StoreFullError
from recollex_engine.log import files as log_files
from recollex_engine.log import writer as log_module
from recollex_engine.log.files import (
    LogFile,
    compress_file,
    compressed_path,
    file_exists,
    file_numbers,
    plain_path,
    restore_file,
)
from recollex_engine.log.writer import LogWriter
from tests.engine.log.whole_log import LogReader

LINES = b"".join(b"line %d\n" % n for n in range(100_000))


@pytest.mark.parametrize("small", [0, 1 << 20])
def test_reads_the_same_plain_and_compressed_in_any_order(tmp_path, monkeypatch, small):
    monkeypatch.setattr(log_files, "_SMALL", small)
    plain_path(tmp_path, 3).write_bytes(LINES)
    before = LogFile(tmp_path, 3)
    assert not before.is_superseded()
    compress_file(tmp_path, 3)
    after = LogFile(tmp_path, 3)
    assert before.is_superseded() and not after.is_superseded()
    assert (before.path, after.path) == (plain_path(tmp_path, 3), compressed_path(tmp_path, 3))
    for offset in (0, 500_000, 7, len(LINES) - 3, len(LINES), 0):
        expected = LINES[offset : offset + 1000]
        assert before.read(offset, 1000) == expected
        assert after.read(offset, 1000) == expected
    for file in (before, after):
        assert file.line_number(0) == 1
        assert file.line_number(LINES.index(b"line 77777")) == 77_778
        file.close()
        file.close()


def test_numbers_ignore_other_files_and_count_both_forms_once(tmp_path):
    assert file_numbers(tmp_path / "absent") == []
    for name in ("00000002.jsonl", "00000001.jsonl.gz", "00000001.jsonl", "00000003.jsonl.tmp"):
        (tmp_path / name).touch()
    assert file_numbers(tmp_path) == [1, 2]
    assert file_exists(tmp_path, 1) and not file_exists(tmp_path, 3)


def test_a_dropped_file_gives_its_descriptor_back(tmp_path):
    plain_path(tmp_path, 1).write_bytes(LINES)
    LogFile(tmp_path, 1)
    compress_file(tmp_path, 1)
    LogFile(tmp_path, 1).read(5, 5)
    gc.collect()  # an unclosed file would warn, and a warning fails the test
    with pytest.raises(CorruptError):
        LogFile(tmp_path, 2)


def test_a_compressed_file_is_written_plain_again_up_to_where_it_counts(tmp_path):
    plain_path(tmp_path, 1).write_bytes(LINES + b"torn")
    compress_file(tmp_path, 1)
    compressed = LogFile(tmp_path, 1)
    restore_file(tmp_path, 1, len(LINES))
    restore_file(tmp_path, 1, 3)  # it is plain: nothing to do
    assert compressed.is_superseded() and compressed.read(0, 9) == LINES[:9]
    compressed.close()
    assert plain_path(tmp_path, 1).read_bytes() == LINES
    assert [path.name for path in tmp_path.iterdir()] == ["00000001.jsonl"]


@pytest.mark.parametrize("cut", [0, 1, 9, 500])
def test_a_damaged_small_file_says_so(tmp_path, cut):
    plain_path(tmp_path, 1).write_bytes(LINES[:5000])
    compress_file(tmp_path, 1)
    path = compressed_path(tmp_path, 1)
    path.write_bytes(path.read_bytes()[:cut])
    file = LogFile(tmp_path, 1)
    with pytest.raises(CorruptError, match="compressed lines"):
        file.read(0, 10)
    file.close()


class Killed(BaseException):
    """What no clean-up of an error may catch."""


NOTES = [(n, [("note", b'{"n":%d,"x":"%b"}' % (n, b"x" * 300))]) for n in range(1, 90)]
STEPS = ["pwrite", "write", "fsync", "fdatasync", "rename", "unlink"]


def texts(folder):
    return [t.operations[0].payload["n"] for t in LogReader(folder, verify=True).transactions()]


def killed_at(monkeypatch, moment):
    """Have the process end before the ``moment``-th step that touches a disk."""
    left = [moment]

    def dying(real):
        def step(*arguments, **options):
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return real(*arguments, **options)

        return step

    for home in (os, Path):
        for name in STEPS:
            if hasattr(home, name):
                monkeypatch.setattr(home, name, dying(getattr(home, name)))


def test_killed_at_any_step_of_closing_and_of_writing_again_nothing_is_lost(tmp_path):
    done = False
    moment = 0
    while not done:
        folder = tmp_path / str(moment) / "log"
        written = 40
        with pytest.MonkeyPatch.context() as patch:
            log = LogWriter(folder)
            for at, operations in NOTES[:written]:
                log.append(at, operations)
            log.sync()
            killed_at(patch, moment)
            try:
                log.close()
                log = LogWriter(folder)
                log.wait_durable(log.append(*NOTES[written]).op)
                written += 1
                log.close()
                done = True
            except Killed:
                patch.undo()
        assert texts(folder)[:written] == list(range(1, written + 1))
        with LogWriter(folder) as log:
            written = log.position.op
            log.append(*NOTES[written])
        assert texts(folder) == list(range(1, written + 2))
        assert not list(folder.glob("*.tmp"))
        assert [path.name for path in folder.iterdir()] == ["00000001.jsonl.gz"]
        shutil.rmtree(folder)
        moment += 1
    assert moment > 15


def test_cut_at_any_byte_of_the_form_that_is_being_written_the_other_counts(tmp_path):
    with LogWriter(tmp_path) as log:
        for at, operations in NOTES[:60]:
            log.append(at, operations)
    whole = compressed_path(tmp_path, 1).read_bytes()
    restore_file(tmp_path, 1, log.position.offset)
    lines = plain_path(tmp_path, 1).read_bytes()
    for data, kept, temporary in (
        (whole, plain_path(tmp_path, 1), "00000001.jsonl.gz.tmp"),
        (lines, compressed_path(tmp_path, 1), "00000001.jsonl.tmp"),
    ):
        plain_path(tmp_path, 1).unlink(missing_ok=True)
        kept.write_bytes(lines if kept.suffix == ".jsonl" else whole)
        for size in range(0, len(data) + 1, max(1, len(data) // 50)):
            (tmp_path / temporary).write_bytes(data[:size])
            assert texts(tmp_path) == list(range(1, 61))
            with LogWriter(tmp_path) as log:
                assert log.position.op == 60
            assert [path.name for path in tmp_path.iterdir()] == [kept.name]
        kept.unlink()


def test_what_stands_plain_beside_an_older_compressed_form_counts(tmp_path):
    with LogWriter(tmp_path) as log:
        for at, operations in NOTES[:60]:
            log.append(at, operations)
    older = compressed_path(tmp_path, 1).read_bytes()
    with LogWriter(tmp_path) as log:
        log.append(*NOTES[60])
        compressed_path(tmp_path, 1).write_bytes(older)  # its removal never reached the disk
        log.sync()
        assert texts(tmp_path) == list(range(1, 62))
    assert texts(tmp_path) == list(range(1, 62))


def test_a_disk_that_is_full_at_closing_keeps_the_plain_form(tmp_path, monkeypatch):
    log = LogWriter(tmp_path)
    for at, operations in NOTES:
        log.append(at, operations)

    def full(*_):
        raise StoreFullError(28, "no space left", "")

    monkeypatch.setattr(log_module, "compress_file", full)
    log.close()
    assert texts(tmp_path) == list(range(1, 90))
    assert plain_path(tmp_path, 1).exists()


def test_a_disk_that_is_full_at_the_first_write_keeps_the_compressed_form(tmp_path, monkeypatch):
    with LogWriter(tmp_path) as log:
        for at, operations in NOTES[:60]:
            log.append(at, operations)
    with LogWriter(tmp_path) as log:
        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
            with pytest.raises(StoreFullError):
                log.append(*NOTES[60])
        assert texts(tmp_path) == list(range(1, 61))
        log.append(*NOTES[60])
    assert texts(tmp_path) == list(range(1, 62))


def test_a_compression_that_failed_writes_to_no_other_file_afterwards(tmp_path, monkeypatch):
    with LogWriter(tmp_path) as log:
        for at, operations in NOTES[:60]:
            log.append(at, operations)
    if not plain_path(tmp_path, 1).exists():
        log_files.restore_file(tmp_path, 1, 1 << 30)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
        with pytest.raises(StoreFullError) as failure:  # it holds the frames of the compression
            compress_file(tmp_path, 1)
    others = [(tmp_path / f"other{number}").open("w+b") for number in range(8)]
    del failure
    gc.collect()
    for other in others:
        with other:
            assert os.fstat(other.fileno()).st_size == 0, other.name


@pytest.mark.parametrize("notes", [3, 89])
def test_a_log_that_was_only_read_is_left_as_it_is(tmp_path, notes):
    with LogWriter(tmp_path) as log:
        for at, operations in NOTES[:notes]:
            log.append(at, operations)
    before = [(path.name, path.stat().st_mtime_ns) for path in tmp_path.iterdir()]
    assert before[0][0].endswith(".gz") == (notes == 89)  # a few lines are not worth it
    with LogWriter(tmp_path) as log:
        log.sync()
    assert [(path.name, path.stat().st_mtime_ns) for path in tmp_path.iterdir()] == before


def test_what_was_decompressed_last_is_kept_for_that_file_alone(tmp_path, monkeypatch):
    opened = []
    real = log_files.zlib.decompress

    def counting(*arguments, **options):
        opened.append(1)
        return real(*arguments, **options)

    monkeypatch.setattr(log_files.zlib, "decompress", counting)

    def head():
        file = LogFile(tmp_path, 1)
        try:
            return file.read(0, 6)
        finally:
            file.close()

    for n in range(3):
        plain_path(tmp_path, 1).write_bytes(b"line %d\n" % n * 1000)
        compress_file(tmp_path, 1)  # of one size each time, and perhaps of one inode
        assert [head(), head()] == [b"line %d" % n] * 2
        assert len(opened) == n + 1
