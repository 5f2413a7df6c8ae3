import os
import random

import pytest

from recollex_engine.errors import CorruptError, FormatError
from recollex_engine.log import format as heads
from recollex_engine.log.files import plain_path
from recollex_engine.log.format import SLOT_BYTES, Head, HeadFile
from recollex_engine.log.writer import LogWriter
from tests.engine.log.notes import note


def head_of(log):
    return Head.of(log.position)


def test_a_flush_raises_the_head_and_nothing_else_does(tmp_path):
    with LogWriter(tmp_path) as log:
        assert HeadFile(tmp_path).read().op == 0
        for n in range(1, 8):
            log.append(n, [note(n)])
            assert HeadFile(tmp_path).read().op == n - 1
            log.wait_durable(n)
            assert HeadFile(tmp_path).read() == head_of(log)


def test_a_log_whose_file_was_cut_off_or_removed_is_refused(tmp_path):
    with LogWriter(tmp_path) as log:
        log.append(1, [note(1)])
        end = log.append(2, [note(2)])
        log.append(3, [note(3)])
    path = plain_path(tmp_path, 1)
    whole = path.read_bytes()
    os.truncate(path, end.offset)
    with pytest.raises(CorruptError, match="operations up to 3, found only up to 2"):
        LogWriter(tmp_path)
    path.unlink()
    with pytest.raises(CorruptError, match="operations up to 3, found only up to 0"):
        LogWriter(tmp_path)
    assert not path.exists()
    path.write_bytes(whole)
    LogWriter(tmp_path).close()


def test_a_log_with_another_chain_is_refused(tmp_path):
    with LogWriter(tmp_path) as log:
        log.append(1, [note(1)])
        log.append(2, [note(2)])
    kept = HeadFile(tmp_path).path.read_bytes()
    plain_path(tmp_path, 1).unlink()
    HeadFile(tmp_path).path.unlink()
    with LogWriter(tmp_path) as log:  # the same log with other salts
        middle = log.append(1, [note(1)])
        log.append(2, [note(2)])
        end = log.append(3, [note(3)])
    HeadFile(tmp_path).path.write_bytes(kept)
    for start in (None, middle):
        with pytest.raises(CorruptError, match=r"chain .* after operation 2, as HEAD has it"):
            LogWriter(tmp_path, start)
    LogWriter(tmp_path, end).close()  # begins after it: `verify` compares the rest


@pytest.mark.parametrize("durability", ["interval", "off"])
def test_what_no_flush_covered_may_be_cut_off(tmp_path, durability):
    log = LogWriter(tmp_path, durability=durability)
    log.append(1, [note(1)])
    log.sync()
    os.truncate(plain_path(tmp_path, 1), log.append(2, [note(2)]).offset - 3)
    assert HeadFile(tmp_path).read().op == 1
    with LogWriter(tmp_path) as again:
        assert again.position.op == 1


def test_a_torn_write_leaves_the_head_before_it(tmp_path):
    file = HeadFile(tmp_path)
    for op in range(1, 9):
        before = file.path.read_bytes() if op > 1 else bytes(2 * SLOT_BYTES)
        file.write(Head(op, op, bytes([op] * 32)))
        after = file.path.read_bytes()
        for size in range(0, 2 * SLOT_BYTES, 16):  # parts of the new bytes reached the disk
            file.path.write_bytes(after[:size] + before[size:])
            newer, older = (Head(each, each, bytes([each] * 32)) for each in (op, op - 1))
            assert HeadFile(tmp_path).read() in (newer, older if op > 1 else None)
        file.path.write_bytes(after)
    file.close()


def test_a_flipped_bit_makes_no_other_head(tmp_path):
    file = HeadFile(tmp_path)
    written = [Head(op, op, bytes([op] * 32)) for op in (6, 7)]
    for head in written:
        file.write(head)
    file.close()
    whole = file.path.read_bytes()
    for place in random.Random(1).sample(range(8 * len(whole)), 600):
        data = bytearray(whole)
        data[place // 8] ^= 1 << place % 8
        file.path.write_bytes(data)
        assert HeadFile(tmp_path).read() in written
    for junk in (b"", b"\0" * 100, os.urandom(2 * SLOT_BYTES)):
        file.path.write_bytes(junk)
        assert HeadFile(tmp_path).read() is None


def test_a_newer_format_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(heads, "VERSION", 2)
    HeadFile(tmp_path).create()
    monkeypatch.undo()
    with pytest.raises(FormatError, match="format 2"):
        LogWriter(tmp_path)


def test_a_head_that_cannot_be_written_fails_no_write(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(5, "input/output error")

    with LogWriter(tmp_path) as log:
        log.append(1, [note(1)])
        log.sync()
        monkeypatch.setattr(heads, "write_at", refuse)
        log.append(2, [note(2)])
        log.sync()
        monkeypatch.undo()
        assert HeadFile(tmp_path).read().op == 1
        log.append(3, [note(3)])
        log.sync()
        assert HeadFile(tmp_path).read() == head_of(log)


def test_a_log_without_a_head_gets_one_with_its_next_flush(tmp_path):
    with LogWriter(tmp_path) as log:
        log.append(1, [note(1)])
    HeadFile(tmp_path).path.unlink()
    with LogWriter(tmp_path) as log:
        assert log.known_op is None
        log.append(2, [note(2)])
    with LogWriter(tmp_path) as log:
        assert log.known_op == 2
