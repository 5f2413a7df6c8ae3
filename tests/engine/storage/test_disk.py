import errno
import os
import resource
from pathlib import Path

import pytest

import recollex
from recollex_engine import errors
from recollex_engine.errors import StoreFullError
from recollex_engine.storage.disk import FileSink, bytes_in, read_ahead, replace_file, write_at


def test_replacing_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "file"
    replace_file(path, b"old")
    replace_file(path, b"ne", memoryview(b"w"))
    assert path.read_bytes() == b"new"
    for call in ("pwrite", "fdatasync", "rename"):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
            with pytest.raises(StoreFullError) as caught:
                replace_file(path, b"newer")
        assert caught.value.errno == errno.ENOSPC
        assert path.read_bytes() == b"new"
        assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_file_is_asked_for_where_there_is_one(tmp_path, monkeypatch):
    path = tmp_path / "file"
    asked = []
    if hasattr(os, "posix_fadvise"):
        monkeypatch.setattr(os, "posix_fadvise", lambda fd, *told: asked.append(told))
    before = len(list(Path("/dev/fd").iterdir()))
    read_ahead(path, 9)
    assert not asked
    path.write_bytes(b"words")
    read_ahead(path, 9)
    assert asked in ([], [(0, 9, getattr(os, "POSIX_FADV_WILLNEED", None))])
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_a_write_the_system_takes_in_parts_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"....")
    real = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, offset: real(fd, data[:3], offset))
    fd = os.open(path, os.O_RDWR)
    write_at(fd, b"abcdefgh", 2, path)
    os.close(fd)
    assert path.read_bytes() == b"..abcdefgh"


def test_the_error_names_file_cause_and_remedy(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "pwrite", lambda *_: (_ for _ in ()).throw(OSError(28, "No space")))
    with pytest.raises(
        StoreFullError, match=r"cannot write 3 bytes: No space.*free space"
    ) as caught:
        write_at(0, b"abc", 0, tmp_path / "file")
    assert caught.value.filename == str(tmp_path / "file")


def test_a_file_that_vanishes_while_sizes_are_added_counts_nothing(tmp_path, monkeypatch):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "stays").write_bytes(b"12345")
    (tmp_path / "postings.tmp").write_bytes(b"123")
    stat = os.stat

    def renamed_meanwhile(path, **options):
        if str(path).endswith(".tmp"):
            raise FileNotFoundError(errno.ENOENT, "No such file", str(path))
        return stat(path, **options)

    assert bytes_in(tmp_path) == 8
    monkeypatch.setattr(os, "stat", renamed_meanwhile)
    assert bytes_in(tmp_path) == 5


VECTOR = [1.0, *[0.0] * 7]


def test_a_process_without_descriptors_is_told_what_to_do(tmp_path):
    def recalled(store):
        return [memory.text for memory in store.agent("a").recall("x", query_embedding=VECTOR)]

    with recollex.open(tmp_path / "store", embedder=recollex.GivenVectors(8)) as store:
        store.agent("a").retain("said", embedding=VECTOR)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with recollex.open(tmp_path / "store", embedder=recollex.GivenVectors(8)) as store:
        lowest = os.open(os.devnull, os.O_RDONLY)
        os.close(lowest)
        refused = 0
        try:
            for spare in range(100):  # others may hold the numbers after the lowest
                resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + spare, hard))
                try:
                    found = recalled(store)
                    break
                except errors.TooManyFilesError as error:
                    refused += 1
                    assert "ulimit -n" in str(error) and error.filename is not None
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert found == ["said"] and refused


def test_a_sink_that_is_closed_refuses_writes(tmp_path):
    with FileSink(tmp_path / "sink") as sink:
        sink.write(b"tea")
    with (tmp_path / "other").open("w+b") as other:  # it may have got the sink's descriptor
        with pytest.raises(StoreFullError, match="Bad file descriptor"):
            sink.write(b"cup")
        assert os.fstat(other.fileno()).st_size == 0
