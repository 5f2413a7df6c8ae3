"""What lies after the last whole transaction is cut off, and kept aside."""

import pytest

from recollex_engine.log.files import file_numbers, plain_path
from recollex_engine.log.writer import LogWriter, cut_after
from tests.engine.log.notes import note
from tests.engine.log.whole_log import LogReader, verify_chain


@pytest.fixture
def folder(tmp_path):
    with LogWriter(tmp_path / "log", durability="off") as log:
        for at in (1, 2, 3):
            log.append(at, [note(at)])
        log.rotate_if_larger(0)
        log.append(4, [note(4)])
    return tmp_path / "log"


def test_the_bytes_after_the_end_are_kept_in_their_order(folder):
    first, second = (plain_path(folder, number).read_bytes() for number in (1, 2))
    end = next(LogReader(folder).transactions()).position
    kept = cut_after(folder, end)
    assert kept.read_bytes() == first[end.offset :] + second
    assert plain_path(folder, 1).read_bytes() == first[: end.offset]
    assert file_numbers(folder) == [1] and verify_chain(folder) == end


def test_a_second_tail_does_not_replace_the_first(folder):
    end = verify_chain(folder)
    for rest in (b"one", b"two", b"three"):
        with plain_path(folder, 2).open("ab") as file:
            file.write(rest)
        assert cut_after(folder, end).read_bytes() == rest
    assert len(list(folder.glob("torn-*"))) == 3


def test_zeros_are_not_kept(folder):
    end = verify_chain(folder)
    with plain_path(folder, 2).open("ab") as file:
        file.write(bytes(5000))
    assert cut_after(folder, end) is None
    assert plain_path(folder, 2).stat().st_size == end.offset
    assert not list(folder.glob("*torn*"))
