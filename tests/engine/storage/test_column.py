import errno
import gc
import os
import resource
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest

from recollex_engine.errors import CorruptError, InputError, StoreFullError
from recollex_engine.storage import column as column_file
from recollex_engine.storage import overlay
from recollex_engine.storage.column import MAPPED_FROM, Column
from recollex_engine.storage.encryption import create_key

LARGE = MAPPED_FROM // 8 + 1000  # int64 items: mapped, and not a whole number of pages
MAPS = Path("/proc/self/maps")
needs_maps = pytest.mark.skipif(not MAPS.exists(), reason="the system does not list its maps")


def fail(number):
    def raising(*_, **__):
        raise OSError(number, os.strerror(number))

    return raising


@pytest.fixture
def large(tmp_path):
    column = Column("<i8")
    column.extend(np.arange(LARGE))
    column.persist(tmp_path / "large")
    return Column("<i8", tmp_path / "large", LARGE)


@needs_maps
def test_a_large_file_is_mapped_and_a_small_one_is_not(large, tmp_path):
    def maps():
        return sum(line.endswith(str(tmp_path / "large")) for line in MAPS.read_text().splitlines())

    assert maps() == 1
    small = Column("<i8", tmp_path / "large", 1000)
    assert maps() == 1
    assert small.array.tolist() == list(range(1000))


@needs_maps
def test_the_addresses_are_given_back_with_the_last_array(tmp_path):
    column = Column("<i8")
    column.extend(np.arange(LARGE))
    column.persist(tmp_path / "given-back")
    column = Column("<i8", tmp_path / "given-back", LARGE)
    view = column.array[5:]
    del column
    gc.collect()
    assert "given-back" in MAPS.read_text()
    assert view[0] == 5
    del view
    gc.collect()
    assert "given-back" not in MAPS.read_text()


@needs_maps
def test_a_fixed_column_is_one_map_that_its_last_array_gives_back(tmp_path):
    path = tmp_path / "fixed"
    np.arange(LARGE).tofile(path)

    def access():
        return [
            line.split()[1] for line in MAPS.read_text().splitlines() if line.endswith("/fixed")
        ]

    column = Column("<i8", path, LARGE, fixed=True)
    assert access() == ["r--p"]
    assert column.array.tolist() == list(range(LARGE))
    assert column.array.flags.writeable  # or kernels would be compiled once more
    view = column.array[-3:]
    del column
    gc.collect()
    assert len(access()) == 1
    assert view.tolist() == [LARGE - 3, LARGE - 2, LARGE - 1]
    del view
    gc.collect()
    assert access() == []


def test_what_follows_a_fixed_column_in_its_last_page_is_not_seen(large, tmp_path):
    column = Column("<i8", tmp_path / "large", LARGE, fixed=True)
    large.extend([1, 2, 3])
    large.persist(tmp_path / "large")
    assert column.array.tolist() == list(range(LARGE))
    early = column.array
    column.extend([7, 8])
    assert column.array[LARGE - 1 :].tolist() == [LARGE - 1, 7, 8]
    assert early.tolist() == list(range(LARGE))
    column.persist(tmp_path / "large", sync=False)
    assert Column("<i8", tmp_path / "large", LARGE + 3).array[LARGE:].tolist() == [7, 8, 3]


def test_stored_and_private_items_are_one_array(large):
    large.extend(np.arange(LARGE, LARGE + 50_000))
    large.append(-1)
    assert large.array[:-1].tolist() == list(range(LARGE + 50_000))
    assert large.array.flags.c_contiguous and large.array.flags.writeable


def test_changes_stay_private_until_they_are_written_back(large, tmp_path):
    other = Column("<i8", tmp_path / "large", LARGE)
    for index in (0, 5, LARGE - 1):
        large.set(index, -7)
    large.extend(np.zeros(100_000, np.int64))  # the pages are mapped again: the changes survive
    assert large.array[[0, 5, LARGE - 1]].tolist() == [-7, -7, -7]
    assert other.array[5] == 5
    assert np.fromfile(tmp_path / "large", "<i8").tolist() == list(range(LARGE))
    assert large.write_back() == 3
    assert large.write_back() == 0
    on_disk = np.fromfile(tmp_path / "large", "<i8")
    assert np.flatnonzero(on_disk != np.arange(LARGE)).tolist() == [0, 5, LARGE - 1]


def test_what_another_process_appends_is_not_seen(large, tmp_path):
    writer = Column("<i8", tmp_path / "large", LARGE)
    writer.extend([1, 2, 3])
    large.append(99)
    writer.persist(tmp_path / "large")
    assert large.array[LARGE:].tolist() == [99]
    assert Column("<i8", tmp_path / "large", LARGE + 3).array[LARGE:].tolist() == [1, 2, 3]


def test_arrays_handed_out_stay_valid_as_the_column_grows(large):
    early = large.array
    for _ in range(5):
        large.extend(np.zeros(200_000, np.int64))
    gc.collect()
    assert early.tolist() == list(range(LARGE))


def test_after_a_checkpoint_the_private_memory_becomes_pages_of_the_file(large, tmp_path):
    large.extend(np.arange(LARGE, 3 * LARGE))
    large.persist(tmp_path / "large")
    assert large.stored == 3 * LARGE
    large.append(-1)
    assert large.array[:-1].tolist() == list(range(3 * LARGE))
    assert Column("<i8", tmp_path / "large", 3 * LARGE).array.tolist() == list(range(3 * LARGE))


def test_a_column_replaced_on_disk_keeps_its_own_items(large, tmp_path):
    (tmp_path / "other").write_bytes(bytes(8 * LARGE))
    (tmp_path / "other").rename(tmp_path / "large")
    large.extend(np.zeros(100_000, np.int64))
    assert large.array[:LARGE].tolist() == list(range(LARGE))
    (tmp_path / "large").unlink()
    large.extend(np.zeros(1_000_000, np.int64))
    assert large.array[:LARGE].tolist() == list(range(LARGE))


def test_without_the_overlay_items_are_copied(tmp_path, large, monkeypatch):
    monkeypatch.setattr(overlay, "private_bytes", fail(errno.ENOMEM))
    column = Column("<i8", tmp_path / "large", LARGE)
    column.set(3, -3)
    column.extend([1, 2])
    assert column.array[:5].tolist() == [0, 1, 2, -3, 4]
    assert column.array[LARGE - 1 :].tolist() == [LARGE - 1, 1, 2]
    monkeypatch.setattr(overlay, "file_bytes", fail(errno.ENODEV))
    fixed = Column("<i8", tmp_path / "large", LARGE, fixed=True)
    assert fixed.array.tolist() == list(range(LARGE))


def test_a_short_or_absent_file_is_named(tmp_path):
    (tmp_path / "short").write_bytes(bytes(15))
    with pytest.raises(CorruptError, match="expected at least 4 items, found 3"):
        Column("<u4", tmp_path / "short", 4)
    with pytest.raises(CorruptError, match="absent"):
        Column("<u4", tmp_path / "absent", 1)
    column = Column("<u4", tmp_path / "short", 3)
    column.append(1)
    os.truncate(tmp_path / "short", 4)
    with pytest.raises(CorruptError):
        column.persist(tmp_path / "short")


def test_bytes_behind_the_stored_items_are_written_over(tmp_path):
    path = tmp_path / "c"
    path.write_bytes(np.array([1, 2, 77, 78, 79], "<u4").tobytes())
    column = Column("<u4", path, 2)
    column.extend([3, 4])
    column.persist(path)
    assert np.fromfile(path, "<u4").tolist() == [1, 2, 3, 4, 79]


def test_a_full_disk_leaves_the_column_and_the_file_good(tmp_path):
    path = tmp_path / "c"
    column = Column("<i8")
    column.extend(range(100))
    column.persist(path)
    column.extend(range(1000))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
    try:
        with pytest.raises(StoreFullError) as caught:
            column.persist(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.errno == errno.EFBIG
    assert (column.stored, column.count) == (100, 1100)
    column.set(150, -1)
    column.persist(path)
    column.write_back()
    assert Column("<i8", path, 1100).array.tolist() == column.array.tolist()


def test_the_checksum_is_that_of_the_first_items_in_any_order_of_asking(tmp_path):
    column = Column("<i8", fixed=True)
    column.extend(range(30))
    for count in (20, 30, 10, 10, 0, 25):
        assert column.checksum(count) == zlib.crc32(np.arange(count, dtype="<i8"))
    column.persist(tmp_path / "c")
    column.vouch(column.checksum(30))
    column.extend([7, 8])
    assert column.checksum(32) == zlib.crc32(np.array([*range(30), 7, 8], "<i8"))


def test_a_disk_without_room_for_a_new_file_is_full(tmp_path, monkeypatch):
    column = Column("<i8")
    column.append(1)
    with monkeypatch.context() as patch:
        patch.setattr(column_file, "open_file", fail(errno.ENOSPC))
        with pytest.raises(StoreFullError, match="create c"):
            column.persist(tmp_path / "c")
    column.persist(tmp_path / "c")
    assert Column("<i8", tmp_path / "c", 1).array.tolist() == [1]


def test_a_failed_flush_stores_nothing(tmp_path, monkeypatch):
    column = Column("<i8")
    column.extend([1, 2])
    monkeypatch.setattr(column_file, "flush", fail(errno.EIO))
    with pytest.raises(StoreFullError):
        column.persist(tmp_path / "c")
    assert column.stored == 0
    column.persist(tmp_path / "c", sync=False)
    assert column.stored == 2
    with pytest.raises(StoreFullError):
        column.flush_file()


def test_a_failed_write_back_is_written_later(tmp_path, monkeypatch):
    column = Column("<i8")
    column.extend(range(10))
    column.persist(tmp_path / "c")
    column.set(3, -3)
    column.set(4, -4)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", fail(errno.ENOSPC))
        with pytest.raises(StoreFullError):
            column.write_back()
    assert column.write_back() == 2
    assert np.fromfile(tmp_path / "c", "<i8").tolist()[:5] == [0, 1, 2, -3, -4]


def test_items_changed_while_they_are_persisted_are_written_back(tmp_path, monkeypatch):
    column = Column("<i8")
    column.extend(range(10))
    real = os.pwrite

    def change_then(*arguments):
        written = real(*arguments)
        column.set(4, -4)
        return written

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", change_then)
        column.persist(tmp_path / "c")
    assert column.write_back() == 1
    assert np.fromfile(tmp_path / "c", "<i8")[4] == -4


def test_readers_see_a_prefix_while_one_thread_appends():
    column = Column("<i8")
    done = threading.Event()
    bad = []

    def read():
        while not done.is_set():
            before = column.count
            array = column.array
            if len(array) < before or not np.array_equal(array, np.arange(len(array))):
                bad.append(array.copy())

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for n in range(0, 60_000, 30):
        column.extend(np.arange(n, n + 30))
    done.set()
    for reader in readers:
        reader.join()
    assert not bad


@pytest.mark.parametrize("dtype", [">i8", "O"])
def test_a_dtype_that_no_file_can_hold_is_refused(dtype):
    with pytest.raises(InputError, match="little-endian"):
        Column(dtype)


def test_misuse_is_refused(tmp_path):
    column = Column("<i8")
    column.extend([1, 2, 3])
    column.persist(tmp_path / "c", 2)
    for index in (-1, 3):
        with pytest.raises(InputError, match=r"\[0, 3\)"):
            column.set(index, 0)
    for count in (1, 4):
        with pytest.raises(InputError, match=r"\[2, 3\]"):
            column.persist(tmp_path / "c", count)
    with pytest.raises(InputError, match="stored in"):
        column.persist(tmp_path / "elsewhere")


def test_an_empty_column_makes_no_file(tmp_path):
    column = Column("V16")
    column.persist(tmp_path / "c")
    column.flush_file()
    Column("V16", tmp_path / "c").flush_file()
    assert not (tmp_path / "c").exists() and len(column.array) == 0


def test_an_item_that_is_not_stored_is_not_written_back(tmp_path):
    column = Column("<i8")
    column.extend(range(4))
    column.persist(tmp_path / "c", 3)
    column.set(3, -3)
    assert column.write_back() == 0
    column.set(2, -2)
    assert column.write_back() == 1
    assert np.fromfile(tmp_path / "c", "<i8").tolist() == [0, 1, -2]


def test_a_fixed_column_grows_and_is_never_changed(large, tmp_path):
    column = Column("<i8", tmp_path / "large", LARGE, fixed=True)
    held = column.array
    column.extend(np.arange(LARGE, LARGE + 50_000))
    column.persist(tmp_path / "large")
    column.extend(np.arange(LARGE + 50_000, 2 * LARGE + 50_000))  # maps what was persisted
    assert column.array.tolist() == list(range(2 * LARGE + 50_000))
    assert held.tolist() == list(range(LARGE))
    for index in (0, LARGE, 2 * LARGE):
        with pytest.raises(InputError, match="fixed"):
            column.set(index, 1)


@pytest.mark.parametrize("key", [None, bytes(32)], ids=["plain", "encrypted"])
def test_what_a_failed_flush_left_counts_once(tmp_path, monkeypatch, key):
    cipher = create_key(tmp_path, key) if key else None
    path = tmp_path / "column"
    column = Column("<u4", fixed=True)
    column.extend(range(10))
    column.persist(path)
    column.extend(range(10, 14))
    with monkeypatch.context() as patch, pytest.raises(StoreFullError):
        patch.setattr(column_file, "flush", fail(errno.EIO))
        column.persist(path)
    column.append(14)
    column.persist(path)
    assert Column("<u4", path, 15, fixed=True).array.tolist() == [*range(15)]
    column.append(15)
    column.persist(path)
    assert Column("<u4", path, 16, fixed=True).array.tolist() == [*range(16)]
    del cipher


def test_the_last_item_is_that_of_the_items_not_of_the_spare_capacity():
    column = Column("<u4")
    assert column.last == 0
    column.extend([3, 7])
    column.followed_by([9])
    assert column.last == 7
