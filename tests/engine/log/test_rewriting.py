"""Files of a log are replaced by files with stubs; the chain and the other records stay."""

import pytest

from recollex_engine.log import rewriting
from recollex_engine.log.files import compressed_path, plain_path
from recollex_engine.log.rewriting import rewrite_log
from recollex_engine.log.writer import LogWriter
from tests.engine.log.notes import note
from tests.engine.log.whole_log import LogReader, verify_chain

ERASED = {2, 5, 6}


def left(record):
    """Of an erased record one number stays; of operation 6 nothing does."""
    return (b'{"kept":1}' if record.op < 6 else None,) if record.op in ERASED else None


@pytest.fixture
def folder(tmp_path):
    with LogWriter(tmp_path / "log", durability="off") as log:
        log.append(1, [note(1), note(2, 40)])
        log.append(2, [note(3)])
        log.rotate_if_larger(0)
        log.append(3, [note(4, 90), note(5)])
        log.append(4, [note(6)])
    return tmp_path / "log"


def payloads(folder):
    return [
        operation.payload
        for transaction in LogReader(folder, verify=True).transactions()
        for operation in transaction.operations
    ]


@pytest.mark.parametrize("size", [1, 100, 333, 1 << 20])
def test_records_become_stubs_whatever_is_read_at_once(folder, monkeypatch, size):
    monkeypatch.setattr(rewriting, "_CHUNK", size)
    before, end = payloads(folder), verify_chain(folder)
    after = rewrite_log(folder, end, left)
    assert verify_chain(folder) == after
    assert (after.op, after.chain) == (end.op, end.chain)
    kept = {2: {"kept": 1}, 5: {"kept": 1}, 6: None}
    assert payloads(folder) == [kept.get(op, held) for op, held in enumerate(before, 1)]


def test_what_lies_after_the_end_is_dropped_with_the_files_of_crashes(folder):
    end = verify_chain(folder)
    with plain_path(folder, 2).open("ab") as file:
        file.write(b'{"op":7,"at":5,"kind":"secret"')
    (folder / "00000002.torn").write_bytes(b"secret")
    after = rewrite_log(folder, end, left)
    assert plain_path(folder, 2).stat().st_size == after.offset
    assert sorted(folder.iterdir()) == [compressed_path(folder, 1), plain_path(folder, 2)]
    again = rewrite_log(folder, after, left)
    assert again == after == verify_chain(folder)
