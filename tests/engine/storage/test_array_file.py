import os

import numpy as np
import pytest

from recollex_engine.errors import CorruptError, StoreFullError
from recollex_engine.storage.content_file import read_arrays, write_arrays

ARRAYS = {
    "rows": np.arange(1000, dtype=np.uint32),
    "none": np.empty(0, np.int64),
    "counts": np.arange(77, dtype=np.uint8),
}


def assert_whole(path, meta):
    arrays, found = read_arrays(path)
    assert found == meta and list(arrays) == list(ARRAYS)
    for name, array in arrays.items():
        assert array.dtype == ARRAYS[name].dtype and array.tolist() == ARRAYS[name].tolist()
        assert not array.flags.writeable


def test_what_is_written_is_read(tmp_path):
    write_arrays(tmp_path / "p", ARRAYS, {"format": 1})
    assert_whole(tmp_path / "p", {"format": 1})
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


def test_a_file_written_again_is_another_file(tmp_path):
    write_arrays(tmp_path / "p", ARRAYS, {"n": 1})
    held, _ = read_arrays(tmp_path / "p")
    write_arrays(tmp_path / "p", {"rows": np.zeros(1, np.uint32)}, {"n": 2})
    assert held["rows"].tolist() == list(range(1000))  # a map of a file cut short would kill


@pytest.mark.parametrize("size", [0, 10, 16, 40, 200, -9, -1])
def test_a_file_cut_short_is_named(tmp_path, size):
    write_arrays(tmp_path / "p", ARRAYS, {})
    data = (tmp_path / "p").read_bytes()
    (tmp_path / "p").write_bytes(data[:size])
    with pytest.raises(CorruptError, match="p: expected a"):
        read_arrays(tmp_path / "p")


def test_no_file_is_named(tmp_path):
    with pytest.raises(CorruptError, match="found no file"):
        read_arrays(tmp_path / "p")


@pytest.mark.parametrize(
    "old, new", [(b'"arrays"', b'"arrayx"'), (b",1000,", b",9999,"), (b"{", b"[")]
)
def test_a_header_that_does_not_fit_is_named(tmp_path, old, new):
    write_arrays(tmp_path / "p", ARRAYS, {})
    data = (tmp_path / "p").read_bytes()
    assert old in data
    (tmp_path / "p").write_bytes(data.replace(old, new, 1))
    with pytest.raises(CorruptError, match="header"):
        read_arrays(tmp_path / "p")


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    write_arrays(tmp_path / "p", ARRAYS, {"n": 1})

    def refuse(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdatasync", refuse)
    with pytest.raises(StoreFullError, match="cannot write p: No space left"):
        write_arrays(tmp_path / "p", ARRAYS, {"n": 2})
    assert_whole(tmp_path / "p", {"n": 1})
    assert [path.name for path in tmp_path.iterdir()] == ["p"]
