"""A place before an operation, against all ends of transactions."""

import pytest

from recollex_engine.log import reader
from recollex_engine.log.format import START
from recollex_engine.log.reader import LogFollower, starts
from recollex_engine.log.writer import LogWriter


def ends(folder):
    """Return the position after each transaction, and the start of each file."""
    follower = LogFollower(folder)
    try:
        return [START, *starts(folder), *(each.position for each in follower.read_new())]
    finally:
        follower.close()


@pytest.mark.parametrize("near", [16, 300, 1 << 16])
def test_it_is_the_end_of_a_transaction_not_far_before(tmp_path, monkeypatch, near):
    monkeypatch.setattr(reader, "NEAR", near)
    with LogWriter(tmp_path / "log", durability="off") as log:
        for at in range(1, 90):
            log.append(at, [("note", b'{"n":"%s"}' % (b"x" * (at * 7 % 200)))] * (1 + at % 3))
            if at in (30, 60):
                log.rotate_if_larger(0)
        known = ends(log.folder)
        for op in range(1, known[-1].op + 20):
            found = reader.position_before_op(log.folder, op)
            assert found.op < op and found in known
            follower = LogFollower(log.folder, found, verify=True)
            read = list(follower.read_new())
            follower.close()
            assert not read or read[-1].position == known[-1]
            before = [p for p in known if p.op < op and p.file == found.file]
            assert max(p.offset for p in before) - found.offset < near + 3 * 400


def test_a_torn_tail_is_no_place(tmp_path):
    with LogWriter(tmp_path / "log", durability="off") as log:
        for at in range(1, 9):
            log.append(at, [("note", b"{}")])
        (path,) = log.folder.glob("*.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole + b"\0" * 99_999)
    assert reader.position_before_op(path.parent, 99).op <= 8
    assert reader.position_before_op(tmp_path / "none", 5) == START
