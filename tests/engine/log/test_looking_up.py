"""Looking in a log for a time, a word, a kind of operation, without applying what is read."""

import pytest

from recollex_engine.errors import CorruptError
from recollex_engine.log import reader
from recollex_engine.log.files import plain_path
from recollex_engine.log.format import START
from recollex_engine.log.reader import last_of_kind, mentions, position_before
from recollex_engine.log.rewriting import StubDigest, read_stubs, rewrite_log, said_of_stubs
from recollex_engine.log.writer import LogWriter
from tests.engine.log.notes import note
from tests.engine.log.whole_log import LogReader, verify_chain


@pytest.fixture
def folder(tmp_path):
    """Three files with the times 10 and 11, 20 and 21, 30 and 31."""
    with LogWriter(tmp_path / "log", durability="off") as log:
        for at in (10, 20, 30):
            log.append(at, [note(at), (f"from_{at}", b'{"n":1}')])
            log.append(at + 1, [("seen", b'{"at":%d}' % at), note(at + 1)])
            if at < 30:
                log.rotate_if_larger(0)
    return tmp_path / "log"


@pytest.mark.parametrize(
    ("since", "file"), [(0, 1), (11, 1), (12, 2), (21, 2), (22, 3), (31, 3), (99, 3)]
)
def test_a_time_is_looked_for_from_the_last_file_before_it(folder, since, file):
    """A file may be left out if all its operations are earlier."""
    position = position_before(folder, since)
    assert position.file == file
    later = [t.recorded_at for t in LogReader(folder).transactions(position)]
    assert {at for at in (10, 11, 20, 21, 30, 31) if at >= since} <= set(later)


def test_nothing_is_before_an_empty_log(tmp_path):
    assert position_before(tmp_path, 5) == START


@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
def test_a_word_is_found_wherever_reads_end(folder, monkeypatch, size):
    monkeypatch.setattr(reader, "_LARGEST_READ", size)
    second, third = position_before(folder, 12), position_before(folder, 22)
    for word, start, expected in [
        (b'"from_10"', START, True),
        (b'"from_10"', second, False),
        (b'"from_20"', second, True),
        (b'"from_20"', third, False),
        (b'"from_30"', third, True),
        (b'"from_40"', START, False),
    ]:
        assert mentions(folder, [word], start) == expected, (word, start)


def test_the_last_operation_of_a_kind(folder):
    found = last_of_kind(folder, "seen")
    assert (found.op, found.recorded_at, found.kind, found.payload) == (11, 31, "seen", {"at": 30})
    assert last_of_kind(folder, "from_10").op == 2
    assert last_of_kind(folder, "from_10", position_before(folder, 12)) is None
    assert last_of_kind(folder, "other") is None
    path = plain_path(folder, 3)
    path.write_bytes(path.read_bytes().replace(b'{"at":30}', b'{"at"=30}'))
    with pytest.raises(CorruptError, match="a JSON payload in operation 11"):
        last_of_kind(folder, "seen")


def test_what_the_log_says_of_its_stubs(folder):
    nothing = StubDigest().said
    assert read_stubs(folder, "seen", 12)[1:] == (None, nothing)  # not read: there is no stub
    left = {1: None, 5: b'{"kept":1}', 9: None}
    rewrite_log(
        folder,
        verify_chain(folder),
        lambda record: (left[record.op],) if record.op in left else None,
    )
    expected = StubDigest()
    expected.add(1, None)
    expected.add(5, b'{"kept":1}')
    digest, last, before = read_stubs(folder, "seen", 8)
    assert digest.said == expected.said and digest.said["stubs"] == 2
    assert (last.op, before) == (7, expected.said)
    expected.add(9, None)
    digest, last, before = read_stubs(folder, "from_10", 12)
    assert digest.said == expected.said != before
    assert (last.op, before["stubs"]) == (2, 1)


def test_a_record_says_what_was_left():
    assert said_of_stubs(None) is None
    record = type("Record", (), {"payload": None})
    assert said_of_stubs(record) is None
    record.payload = b'{"left":{"stubs":2}}'
    assert said_of_stubs(record) == {"stubs": 2}
    record.payload = b"{}"
    assert said_of_stubs(record) is None
