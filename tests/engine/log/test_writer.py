import errno
import os
import resource
import threading
from pathlib import Path

import pytest

from recollex_engine.errors import (
    ClosedError,
    CorruptError,
    InputError,
    StoreFullError,
    StoreMovedError,
)
from recollex_engine.log.files import compressed_path, plain_path
from recollex_engine.log.writer import LogWriter
from recollex_engine.storage import disk
from recollex_engine.storage.pooled_file import PooledFile
from tests.engine.log.notes import contents, note
from tests.engine.log.whole_log import verify_chain

FLUSH = "recollex_engine.log.writer.flush"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "log"


def write(folder, *transactions, **options):
    with LogWriter(folder, durability="off", **options) as log:
        return [log.append(at, [note(n) for n in numbers]) for at, numbers in transactions]


def test_positions_follow_each_other(folder):
    first, second = write(folder, (5, [1, 2]), (9, [3]))
    assert (first.op, first.recorded_at, first.file) == (2, 5, 1)
    assert (second.op, second.recorded_at) == (3, 9)
    assert second.offset == plain_path(folder, 1).stat().st_size
    assert verify_chain(folder) == second


def test_cut_at_every_byte_of_the_last_transactions_the_whole_ones_remain(folder, tmp_path):
    ends = write(folder, (1, [1]), (2, [2, 3, 4]), (3, [5]), (4, [6, 7]))
    data = plain_path(folder, 1).read_bytes()
    copy = tmp_path / "copy"
    copy.mkdir()
    whole = contents(folder)
    for size in range(ends[0].offset, len(data) + 1):
        plain_path(copy, 1).write_bytes(data[:size])
        kept = sum(end.offset <= size for end in ends)
        assert contents(copy) == whole[:kept]
        for start in (None, ends[0]):
            with LogWriter(copy, start, durability="off") as log:
                assert log.position == ends[kept - 1]
        assert plain_path(copy, 1).stat().st_size == ends[kept - 1].offset
    (after,) = write(copy, (9, [8]))
    assert verify_chain(copy) == after


def test_a_tail_of_zeros_is_torn(folder):
    (end,) = write(folder, (1, [1]))
    with plain_path(folder, 1).open("ab") as file:
        file.write(b'{"op":2,"at' + bytes(4096) + b'"}\n{"op":3}\n')
    assert contents(folder) == [(1, [("note", 1)])]
    with LogWriter(folder) as log:
        assert log.position == end


@pytest.mark.parametrize("start", [None, 0])
def test_damage_before_the_end_is_refused_and_nothing_is_cut(folder, start):
    ends = write(folder, (1, [1]), (2, [2]), (3, [3]))
    data = bytearray(plain_path(folder, 1).read_bytes())
    data[data.index(b'"n":2') + 4] ^= 1
    plain_path(folder, 1).write_bytes(data)
    with pytest.raises(CorruptError, match="line 3"):
        LogWriter(folder, None if start is None else ends[start])
    assert plain_path(folder, 1).read_bytes() == data


def test_a_log_that_lost_durable_lines_is_refused(folder):
    with LogWriter(folder) as log:
        ends = [log.append(n, [note(n)]) for n in (1, 2)]
    os.truncate(plain_path(folder, 1), ends[1].offset - 1)
    with pytest.raises(CorruptError, match="operations up to 2"):
        LogWriter(folder)
    with pytest.raises(CorruptError, match="lines were lost"):
        LogWriter(folder, ends[1])
    folder.with_name("HEAD").unlink()
    with LogWriter(folder) as log:
        assert log.position == ends[0]


def test_recorded_times_must_increase(folder):
    with LogWriter(folder, durability="off") as log:
        log.append(10, [note(1)])
        for at in (10, 9, 2**63):
            with pytest.raises(InputError, match="recorded_at"):
                log.append(at, [note(2)])
        with pytest.raises(InputError):
            log.append(11, [])
        with pytest.raises(InputError):
            log.append(11, [note(2), ("note", b"not json")])
        assert log.position.op == 1


def test_a_file_size_limit_leaves_nothing_of_the_call(folder):
    with LogWriter(folder) as log:
        before = log.append(1, [note(1)])
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (before.offset + 1000, hard))
        try:
            with pytest.raises(StoreFullError) as caught:
                log.append(2, [note(2, 300)] * 5)
            assert caught.value.errno == errno.EFBIG
            assert log.position == before
            assert plain_path(folder, 1).stat().st_size == before.offset
            after = log.append(2, [note(3)])
            log.wait_durable(after.op)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert verify_chain(folder) == after
    assert contents(folder)[-1] == (2, [("note", 3)])


@pytest.mark.parametrize("written", [0, 5])
def test_a_write_that_can_be_neither_finished_nor_cut_poisons(folder, monkeypatch, written):
    real, left = os.pwrite, [written] if written else []

    def fail(*_):
        raise OSError(errno.EIO, "input/output error")

    def write(fd, data, offset):
        return real(fd, memoryview(data)[: left.pop()], offset) if left else fail()

    log = LogWriter(folder)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", write)
        patch.setattr(os, "ftruncate", fail)
        with pytest.raises(StoreFullError):
            log.append(1, [note(1)])
    if written:
        with pytest.raises(StoreFullError, match="input/output") as caught:
            log.append(1, [note(1)])
        assert isinstance(caught.value.__cause__, OSError)
    else:  # there is nothing to cut
        log.append(1, [note(1)])
    log.close()


def test_a_failed_flush_poisons_every_later_call(folder, monkeypatch):
    log = LogWriter(folder)
    after = log.append(1, [note(1)])
    with monkeypatch.context() as patch:
        patch.setattr(FLUSH, lambda _: (_ for _ in ()).throw(OSError(5, "x")))
        with pytest.raises(StoreFullError):
            log.wait_durable(after.op)
    for call in (
        lambda: log.wait_durable(after.op),
        lambda: log.append(2, [note(2)]),
        log.sync,
        lambda: log.rotate_if_larger(0),
    ):
        with pytest.raises(StoreFullError):
            call()
    log.close()
    with pytest.raises(StoreFullError):
        log.append(2, [note(2)])


def test_after_close_every_call_is_refused(folder):
    log = LogWriter(folder)
    log.close()
    log.close()
    with pytest.raises(ClosedError):
        log.append(1, [note(1)])
    with pytest.raises(ClosedError):
        log.sync()


def test_many_threads_share_few_flushes(folder, monkeypatch):
    calls = []
    real = disk.flush

    def slow(fd):
        calls.append(fd)
        threading.Event().wait(0.005)
        real(fd)

    monkeypatch.setattr(FLUSH, slow)
    clock = iter(range(1, 10_000))
    order = threading.Lock()
    with LogWriter(folder) as log:

        def work():
            for _ in range(5):
                with order:
                    position = log.append(next(clock), [note(1)])
                log.wait_durable(position.op)

        threads = [threading.Thread(target=work) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert log.position.op == 80
        assert 5 <= len(calls) < 40


def test_rotation_seals_compresses_and_reads_across(folder):
    with LogWriter(folder, durability="off") as log:
        assert not log.rotate_if_larger(0)
        for at in range(1, 8):
            log.append(at, [note(at, 50)])
            if at % 2 == 0:
                assert not log.rotate_if_larger(10_000)
                assert log.rotate_if_larger(100)
        end = log.position
        before = contents(folder, verify=True)
        plain = plain_path(folder, 1).read_bytes()
        assert log.compress_sealed() == 3
        assert log.compress_sealed() == 0
        assert not plain_path(folder, 1).exists()
        packed = compressed_path(folder, 1).read_bytes()
        assert len(packed) < len(plain)
        assert contents(folder, verify=True) == before == [(n, [("note", n)]) for n in range(1, 8)]
        assert verify_chain(folder) == end
        plain_path(folder, 1).write_bytes(plain)  # as after a crash before the plain form went
        assert log.compress_sealed() == 1
        assert compressed_path(folder, 1).read_bytes() == packed
    with LogWriter(folder, durability="off") as log:
        assert log.position == end


def test_a_rotation_that_fails_half_way_loses_nothing(folder, monkeypatch):
    log = LogWriter(folder)
    before = log.append(1, [note(1)])
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
        with pytest.raises(StoreFullError):
            log.rotate_if_larger(0)
    assert log.position == before
    log.append(2, [note(2)])
    with monkeypatch.context() as patch:  # the next file appears, and cannot be opened
        patch.setattr(log, "_open_file", lambda _: (_ for _ in ()).throw(OSError(24, "too many")))
        with pytest.raises(OSError, match="too many"):
            log.rotate_if_larger(0)
    with pytest.raises(StoreFullError):
        log.append(3, [note(3)])
    log.close()
    with LogWriter(folder) as log:
        assert (log.position.op, log.position.file) == (2, 2)


def test_a_flush_that_fails_before_sealing_poisons(folder, monkeypatch):
    log = LogWriter(folder)
    log.append(1, [note(1)])
    with monkeypatch.context() as patch:
        patch.setattr(FLUSH, lambda _: (_ for _ in ()).throw(OSError(5, "x")))
        with pytest.raises(StoreFullError):
            log.rotate_if_larger(0)
    with pytest.raises(StoreFullError):
        log.append(2, [note(2)])
    log.close()


def test_compression_that_fails_keeps_the_plain_file(folder, monkeypatch):
    with LogWriter(folder, durability="off") as log:
        log.append(1, [note(1)])
        log.rotate_if_larger(0)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fdatasync", lambda _: (_ for _ in ()).throw(OSError(28, "full")))
            with pytest.raises(StoreFullError):
                log.compress_sealed()
        assert sorted(p.name for p in folder.iterdir()) == ["00000001.jsonl", "00000002.jsonl"]
        assert log.compress_sealed() == 1


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors are not listed here")
def test_a_log_that_was_not_written_holds_no_descriptor(folder):
    def held():
        files = [fd.resolve() for fd in Path("/proc/self/fd").iterdir()]
        return sum(file.is_relative_to(folder) for file in files)

    write(folder, (1, [1]))
    with LogWriter(folder) as log:
        assert held() == 0
        log.append(2, [note(2)])
        log.sync()
        assert held() == 1
    assert held() == 0


def test_a_log_that_cannot_be_opened_for_a_write_is_written_later(folder):
    write(folder, (1, [1]))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with LogWriter(folder) as log:
        free = os.open(os.devnull, os.O_RDONLY)
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
        try:
            with pytest.raises(StoreFullError, match=r"may open \d+.*ulimit.*stored: retry"):
                log.append(2, [note(2)])
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        log.wait_durable(log.append(3, [note(3)]).op)
    assert contents(folder) == [(1, [("note", 1)]), (3, [("note", 3)])]


def test_what_the_log_refers_to_is_durable_before_the_log(folder, monkeypatch):
    seen, flush = [], disk.flush
    monkeypatch.setattr(FLUSH, lambda fd: seen.append("log") or flush(fd))
    with LogWriter(folder, before_flush=lambda: seen.append("before")) as log:
        for at in (1, 2):
            log.wait_durable(log.append(at, [note(at)]).op)
    assert seen[:4] == ["before", "log"] * 2


def test_a_rewriting_that_fails_ends_the_writing(folder):
    def fails(_):
        raise KeyboardInterrupt

    with LogWriter(folder, durability="off") as log:
        log.append(1, [note(1)])
        with pytest.raises(KeyboardInterrupt):
            log.rewrite(fails)
        with pytest.raises(StoreFullError, match="KeyboardInterrupt"):
            log.append(2, [note(2)])
        with pytest.raises(StoreFullError):
            log.check()


def test_a_file_that_is_sealed_while_its_place_is_checked_was_not_moved(tmp_path, monkeypatch):
    check_place = PooledFile.check_place
    sealed = []

    def beside(file):
        if not sealed:  # another thread makes a checkpoint now
            sealed.append(file)
            assert log.rotate_if_larger(0)
            assert log.compress_sealed()
        check_place(file)

    with LogWriter(tmp_path / "log") as log:
        log.append(1, [("note", b"{}")])
        monkeypatch.setattr(PooledFile, "check_place", beside)
        log.check_place()
        (tmp_path / "log" / "00000002.jsonl").unlink()
        with pytest.raises(StoreMovedError):
            log.check_place()
        monkeypatch.undo()
