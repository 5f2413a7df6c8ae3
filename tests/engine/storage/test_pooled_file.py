import contextlib
import os
import threading
from pathlib import Path

import pytest

from recollex_engine.errors import ClosedError
from recollex_engine.storage.content_file import map_content
from recollex_engine.storage.pooled_file import MOST_IDLE, PooledFile
from tests.forked import in_child


def made(folder: Path, count: int) -> list[PooledFile]:
    files = []
    for number in range(count):
        path = folder / f"{number}"
        path.write_bytes(b"0")
        files.append(PooledFile(path, os.O_RDWR))
    return files


def descriptors() -> list[int]:
    return [int(path.name) for path in Path("/dev/fd").iterdir()]


def is_open(file: PooledFile) -> bool:
    for fd in descriptors():
        with contextlib.suppress(OSError):  # that of the folder that was listed
            if os.path.samestat(os.fstat(fd), file.path.stat()):
                return True
    return False


def test_those_used_last_stay_open(tmp_path):
    files = made(tmp_path, MOST_IDLE + 3)
    for number, file in enumerate(files):
        with file as fd:
            os.pwrite(fd, b"%d" % number, 0)
        with files[0]:
            pass
    assert [is_open(file) for file in files] == [True] + [False] * 3 + [True] * (MOST_IDLE - 1)
    with files[1] as fd:
        assert os.pread(fd, 9, 0) == b"1"
    for file in files:
        file.close()
    assert not any(map(is_open, files))


def test_a_file_in_use_stays_open(tmp_path):
    used, *others = made(tmp_path, MOST_IDLE + 2)
    with used as fd:
        for file in others:
            with file:
                pass
        with used as again:  # a second thread may use it at once
            assert again == fd
        os.pwrite(fd, b"1", 0)
    assert used.path.read_bytes() == b"1"
    for file in [used, *others]:
        file.close()


def test_many_threads_use_more_files_than_stay_open(tmp_path):
    files = made(tmp_path, 3 * MOST_IDLE)

    def count(number: int) -> None:
        for _ in range(5):
            for file in files[number:] + files[:number]:
                with file as fd:
                    os.pwrite(fd, b"%d" % number, 8 * number)

    threads = [threading.Thread(target=count, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {file.path.read_bytes() for file in files} == {
        b"\0".join(b"%d" % n + b"\0" * 6 for n in range(4)).rstrip(b"\0")
    }
    for file in files:
        file.close()


def test_a_closed_file_is_refused(tmp_path):
    [file] = made(tmp_path, 1)
    file.close()
    file.close()
    with pytest.raises(ClosedError, match="was closed: open the store again"), file:
        pass


def test_a_child_has_none_of_them_open(tmp_path):
    [file] = made(tmp_path, 1)
    with file:
        pass
    assert is_open(file)
    assert in_child(lambda: is_open(file)) == "False"
    file.close()


def test_a_map_holds_no_descriptor(tmp_path):
    path = tmp_path / "words"
    path.write_bytes(b"tea")
    before = len(descriptors())
    mapped = map_content(path)
    assert (bytes(mapped), len(descriptors())) == (b"tea", before)
