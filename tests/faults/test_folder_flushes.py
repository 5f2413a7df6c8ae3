"""Names of files are on the disk in time, also if the flush of a folder fails once."""

import errno
import re

import pytest

import recollex
from recollex_engine.errors import RecollexError
from tests.engine.faults.small_store import D, contents, fill
from tests.faults.checking import laid_out, opened
from tests.faults.recorder import recording, refusal
from tests.faults.states import LOST, Machine, states
from tests.faults.workloads import record


def write(path):
    """Retain, and retain again after closing, until each succeeds; return how often it failed."""
    failed = 0
    for first in (0, 30):  # the first file of the log is compressed, and made plain again
        for _ in range(4):
            store = recollex.open(path, embedder=recollex.GivenVectors(D))
            try:
                fill(store.agent("a"), first, 30)
                break
            except (RecollexError, OSError):
                failed += 1
            try:
                fill(store.agent("a"), first, 30)  # with the same store
                break
            except (RecollexError, OSError):
                failed += 1
            finally:
                store.close()
        else:
            raise AssertionError("it never succeeds")
        store.close()
    return failed


@pytest.mark.parametrize("number", range(10))
def test_a_failed_flush_of_a_folder_is_made_up_for(root, number):
    flushed = []

    def refuse(path):
        if (root / path).is_dir():
            flushed.append(path)
            if len(flushed) == number + 1:
                raise refusal(errno.EIO)

    with recording(root) as held:
        held.before_sync = refuse
        write(root / "s")
    chosen = {(len(held.events), LOST)}
    (state,) = states(held.start, held.events, 1, chosen=chosen)
    with laid_out(state.tree) as place, opened(place / "s") as agent:
        assert len(contents(agent)) == 60, flushed[number:]
        assert agent.verify().problems == ()


@pytest.mark.parametrize("name", ["erase", "checkpoints", "reopened"])
def test_a_log_file_is_removed_when_the_name_of_its_other_form_is_on_the_disk(root, name):
    """A loss of power may keep the removal and lose a rename before it: the log was gone."""
    recorded = record(root, name, "interval", reads=False)
    machine = Machine(recorded.start)
    removed = 0
    for event in recorded.events:
        for folder, file, node in event.entries:
            if node is None and re.fullmatch(r"\d{8}\.jsonl(\.gz)?", file):
                removed += 1
                forms = {f"{file[:8]}.jsonl", f"{file[:8]}.jsonl.gz"} - {file}
                assert forms <= machine.folders[folder].durable.keys()
        machine.advance(event)
    assert removed
