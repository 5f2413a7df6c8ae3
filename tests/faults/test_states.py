"""Every state that a crash can leave is opened, compared, verified and asked.

`make test` checks a sample, `make test-faults` all of them.
"""

import random
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.faults.checking import SHM, Checker
from tests.faults.recorder import tree_of
from tests.faults.states import Machine, states
from tests.faults.workloads import record, small_files


@pytest.fixture
def root():
    place = Path(tempfile.mkdtemp(prefix="recollex-faults-", dir=SHM if SHM.is_dir() else None))
    yield place
    shutil.rmtree(place)


def test_folders_and_files_have_their_names_on_the_disk(root):
    recorded = record(root, "mixed", "always")
    checker = Checker(recorded.expected)
    with small_files():
        for state in states(recorded.recording, seed=1):
            if state.how == "flushed names, flushed bytes" and state.at % 8 == 0:
                checker.check(state)
    assert checker.counts["states"] > 30


def test_a_recording_is_whole(root):
    recorded = record(root, "checkpoints", "off", reads=False)
    machine = Machine(recorded.recording)
    for event in recorded.recording.events:
        machine.advance(event)
    assert machine.tree() == tree_of(root)


@pytest.mark.parametrize(
    ("name", "durability"),
    [("together", "always"), ("mixed", "off"), ("checkpoints", "off"), ("reopened", "interval")],
)
def test_a_sample_of_the_states(root, name, durability):
    recorded = record(root, name, durability)
    checker = Checker(recorded.expected)
    rng = random.Random(f"{name} {durability}")
    with small_files():
        for state in states(recorded.recording, seed=1, share=0.2):
            if rng.random() < 0.03:
                checker.check(state)
    assert checker.counts["different"] > 10
