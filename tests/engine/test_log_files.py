import gc

import pytest

from recollex_engine.errors import CorruptError
from recollex_engine.log_files import (
    LogFile,
    compress_file,
    compressed_path,
    file_exists,
    file_numbers,
    plain_path,
)

LINES = b"".join(b"line %d\n" % n for n in range(100_000))


def test_reads_the_same_plain_and_compressed_in_any_order(tmp_path):
    plain_path(tmp_path, 3).write_bytes(LINES)
    before = LogFile(tmp_path, 3)
    compress_file(tmp_path, 3)
    after = LogFile(tmp_path, 3)
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
