"""Every state that a crash can leave is opened, compared, verified and asked.

`make test` checks a sample, `make test-faults` all of them.
"""

import random

import pytest

from tests.faults.checking import Checker
from tests.faults.recorder import tree_of
from tests.faults.states import Machine, states
from tests.faults.workloads import WORKLOADS, record, small_files


@pytest.mark.parametrize(("name", "step"), [("mixed", 12), ("snapshot", 41)])
def test_what_was_promised_is_on_the_disk_by_bytes_and_names(root, name, step):
    recorded = record(root, name, "always")
    checker = Checker(recorded.expected)
    with small_files(name):
        for state in states(recorded.start, recorded.events, seed=1):
            if state.how.startswith("flushed names, flushed bytes") and state.at % step == 0:
                checker.check(state)
    assert checker.counts["states"] > 10


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_recording_is_whole(root, name):
    recorded = record(root, name, "off", reads=False)
    machine = Machine(recorded.start)
    for event in recorded.events:
        machine.advance(event)
    locks = {path: b"" for path in machine.tree() if path.endswith("LOCK")}
    assert machine.tree() == tree_of(root) | locks


@pytest.mark.parametrize(
    ("name", "durability", "count"),
    [
        ("together", "always", 40),
        ("mixed", "off", 20),
        ("checkpoints", "off", 20),
        ("reopened", "interval", 20),
        ("encrypted checkpoints", "always", 40),
        ("encrypted erase", "off", 20),
    ],
)
def test_a_sample_of_the_states(root, name, durability, count):
    """About ``count`` states."""
    recorded = record(root, name, durability)
    checker = Checker(recorded.expected)
    rng = random.Random(f"{name} {durability}")
    with small_files(name):
        for state in states(recorded.start, recorded.events, seed=1):
            if rng.random() < count / (25 * len(recorded.events)):
                checker.check(state)
    assert checker.counts["different"] > 10
