"""Edits of a store's log that agmi makes, T1 to T9: which does recollex notice, and where?"""

import os
import shutil

import orjson
import pytest

pytest.importorskip("agmi")

from agmi.attacks.at_rest import AT_REST_ATTACKS_WITH_SNAPSHOT as EDITS
from agmi.check import LABELS, verdict

from recollex_engine.log.writer import LogWriter
from tests.engine.log.whole_log import LogReader
from tests.integrity.agmi_adapter import (
    FoldedAdapter,
    HeadAdapter,
    RecollexAdapter,
    VerifyAdapter,
)

UNSEEN = {
    RecollexAdapter: {"T9"},
    FoldedAdapter: {"T4", "T9"},
    VerifyAdapter: {"T9"},
    HeadAdapter: set(),
}
"""The edits that are accepted: an older copy of the whole store is as true as the newer one was,
and columns answer for the log after a checkpoint."""


@pytest.fixture(autouse=True)
def unflushed(monkeypatch):
    for name in ("fsync", "fdatasync"):
        monkeypatch.setattr(os, name, lambda fd: None)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: LABELS[edit.name])
@pytest.mark.parametrize("kind", UNSEEN, ids=lambda kind: kind.__name__)
def test_an_edit_is_noticed(kind, edit):
    adapter = kind()
    result = edit().run(adapter)
    assert result.guard is result.error is None, (result.guard, result.error)
    noticed = "REJECTED" if adapter.detection_point == "read" else "REPORTED"
    expected = "ACCEPTED" if LABELS[edit.name][:2] in UNSEEN[kind] else noticed
    assert verdict(result, adapter) == expected, result.detail


def test_a_reordered_log_behind_a_checkpoint_changes_no_answer():
    adapter = FoldedAdapter()
    adapter.setup()
    try:
        adapter.seed(5)
        with adapter._opened(read_only=True) as store:
            before = store.agent("ann").list(), store.agent("ann").recall("Ann paid").ids
        one, other = adapter.read_all_raw()[1:3]
        one.seq, other.seq = other.seq, one.seq
        adapter.write_raw(one)
        adapter.write_raw(other)
        with adapter._opened(read_only=True) as store:
            agent = store.agent("ann")
            assert (agent.list(), agent.recall("Ann paid").ids) == before
            assert not agent.verify().ok
    finally:
        adapter.teardown()


def test_a_log_rewritten_with_its_chain_is_noticed_by_a_head_alone():
    adapter = VerifyAdapter()
    adapter.setup()
    try:
        adapter.seed(3)
        folder = adapter._log("ann").parent
        transactions = list(LogReader(folder).transactions())
        kept = adapter.kept
        shutil.rmtree(folder.parent / "columns")
        for name in ("MANIFEST", "HEAD"):
            (folder.parent / name).unlink()
        shutil.rmtree(folder)
        with LogWriter(folder) as log:
            for each in transactions:
                records = [
                    (one.kind, orjson.dumps(one.payload).replace(b"Bob 1", b"Bob 9"))
                    for one in each.operations
                ]
                log.append(each.recorded_at, records)
        with adapter._opened(read_only=True) as store:
            agent = store.agent("ann")
            assert "Ann paid Bob 9 kroner." in [memory.text for memory in agent.list()]
            assert agent.verify().ok
            assert not agent.verify(head=kept).ok
    finally:
        adapter.teardown()
