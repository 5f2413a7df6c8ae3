"""Access counts: what is counted, when it is written, and what becomes of it."""

import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex
from recollex_engine.clock import DAY
from recollex_engine.errors import ReadOnlyError, UnknownIdError
from recollex_engine.state import access_journal
from recollex_engine.state.access_journal import (
    ENTRY,
    FILE,
    KINDS,
    AccessJournal,
    _folded,
    entries,
)
from tests.engine.one_vector import OneVector
from tests.forked import in_child

START = datetime(2024, 5, 1, tzinfo=UTC)


class Clock:
    """A clock that is set by hand; each call is a microsecond later, as recorded times must be."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "store"


def opened(folder, clock, **options):
    options = {"count_accesses": True, "durability": "off", **options}
    return recollex.open(folder, embedder=OneVector(), clock=clock, **options)


def counting_of(store):
    return store.agent("alice").engine.context.accesses


def test_recalls_of_now_are_counted_and_those_of_a_cut_are_not(folder, clock):
    with opened(folder, clock) as store:
        alice = store.agent("alice")
        alice.retain_many(["Bob likes tea.", "Ann likes milk."], id=["tea", "milk"])
        for _ in range(3):
            assert set(alice.recall("Who likes tea?").ids) == {"tea", "milk"}
        alice.recall("tea", limit=1)
        told = clock.now
        clock.now += timedelta(days=1)
        alice.at(told).recall("tea")
        found = {id: alice.accesses(id).returned for id in ("tea", "milk")}
        assert found == {"tea": 4, "milk": 3}
        last = alice.accesses("milk").last_returned
        assert START <= last <= told
        alice.recall("tea")
        assert alice.accesses("tea").returned == 5
        assert alice.at(told).accesses("tea").returned == 4
        assert alice.at(START + timedelta(microseconds=5)).accesses("tea").returned == 0
        with pytest.raises(UnknownIdError):
            alice.accesses("nothing")
    with opened(folder, clock) as store:  # what was noted is on the disk
        assert store.agent("alice").accesses("tea").returned == 5


def test_a_store_counts_nothing_unless_it_is_asked_to(folder, clock):
    with opened(folder, clock, count_accesses=False) as store:
        alice = store.agent("alice")
        alice.retain("Bob likes tea.", id="tea")
        alice.recall("tea")
        assert alice.accesses("tea") == recollex.Accesses()
    assert not list(folder.rglob(FILE))


def test_use_is_told_by_the_caller_in_any_store(folder, clock):
    with opened(folder, clock, count_accesses=False) as store:
        alice = store.agent("alice")
        alice.retain_many(["Bob likes tea.", "Ann likes milk."], id=["tea", "milk"])
        alice.used(["tea", "milk"])
        alice.used("tea", helped=True)
        alice.used(["milk"], helped=False)
        tea, milk = alice.accesses("tea"), alice.accesses("milk")
        assert (tea.used, tea.helped, tea.misled, tea.returned) == (2, 1, 0, 0)
        assert (milk.used, milk.helped, milk.misled) == (2, 0, 1)
        assert tea.last_used is not None and tea.to_dict()["last_used"] == tea.last_used.isoformat()
        with pytest.raises(UnknownIdError):
            alice.used(["tea", "nothing"])
        assert alice.accesses("tea").used == 2
        with pytest.raises(ReadOnlyError):
            alice.at(clock.now).used("tea")


def test_versions_of_a_memory_count_together(folder, clock):
    with opened(folder, clock) as store:
        alice = store.agent("alice")
        alice.retain("Bob likes tea.", id="tea")
        alice.recall("tea")
        alice.amend("tea", tags=["drink"])
        alice.correct("tea", "Bob likes milk.")
        alice.recall("milk")
        assert alice.accesses("tea").returned == 2


def test_erased_memories_leave_no_count(folder, clock):
    with opened(folder, clock) as store:
        alice = store.agent("alice")
        alice.retain_many(["Bob likes tea.", "Ann likes milk."], id=["tea", "milk"])
        alice.recall("Who likes tea?")
        alice.erase("tea", by="ann", why="asked")
        kept = np.fromfile(folder / "agents" / "alice" / FILE, ENTRY)
        assert kept["memory"].tolist() == [1]
        assert alice.accesses("milk").returned == 1
        alice.recall("milk")
        assert alice.accesses("milk").returned == 2
        alice.erase(everything=True, by="ann", why="asked")
        assert (folder / "agents" / "alice" / FILE).stat().st_size == 0


def test_the_printed_heuristic_reads_the_count_as_of_the_cut(folder, clock):
    with opened(folder, clock) as store:
        alice = store.agent("alice")
        texts = ["Bob likes tea.", "Ann likes tea."]
        alice.retain_many(texts, id=["bob", "ann"], event_at=[START, START])
        told = clock()
        before = alice.recall("likes tea", preset="memora").ids
        alice.used(["bob", "ann"])
        for _ in range(90):
            alice.recall("likes tea Ann", limit=1, entities=["Ann"])
        assert alice.accesses("ann").returned > 50 + alice.accesses("bob").returned
        boosted = alice.recall("likes tea", preset="memora")
        assert boosted.ids[0] == "ann"
        assert alice.at(told).recall("likes tea", preset="memora").ids == before


def test_readers_in_other_processes_count_too(folder, clock):
    with opened(folder, clock) as store:
        alice = store.agent("alice")
        alice.retain("Bob likes tea.", id="tea")
        with opened(folder, clock, read_only=True) as reader:
            reader.agent("alice").recall("tea")
            alice.recall("tea")
            assert reader.agent("alice").accesses("tea").returned >= 1
        assert alice.accesses("tea").returned == 2


def test_a_forked_child_writes_nothing_of_its_parent(folder, clock):
    with opened(folder, clock) as store:
        alice = store.agent("alice")
        alice.retain("Bob likes tea.", id="tea")
        alice.recall("tea")
        counting = counting_of(store)
        in_child(lambda: (store.close(), counting.write()))
        assert alice.accesses("tea").returned == 1


KILLED = """
import os, sys, threading
import recollex
from recollex_engine.state import access_journal as counting
from tests.engine.one_vector import OneVector
store = recollex.open(sys.argv[1], embedder=OneVector(), count_accesses=True)
alice = store.agent("alice")
alice.retain("Bob likes tea.", id="tea")
written, done = counting.AccessCounting.write, threading.Event()
def write(self):
    counting.EVERY = 3600.0  # what is noted later is not written
    written(self)
    done.set()
counting.AccessCounting.write = write
alice.recall("tea")
assert done.wait(60)
alice.recall("tea")
os.kill(os.getpid(), 9)
"""


def test_a_kill_loses_at_most_the_last_second(folder):
    assert access_journal.EVERY == 1
    child = subprocess.run([sys.executable, "-c", KILLED, str(folder)], check=False)
    assert child.returncode == -signal.SIGKILL
    with recollex.open(folder, embedder=OneVector()) as store:
        assert store.agent("alice").accesses("tea").returned == 1


def test_a_file_that_cannot_be_written_ends_the_counting_alone(folder, clock):
    with opened(folder, clock) as store:
        alice = store.agent("alice")
        alice.retain("Bob likes tea.", id="tea")
        (folder / "agents" / "alice" / FILE).mkdir()
        alice.recall("tea")
        with pytest.warns(RuntimeWarning, match="accesses are no longer counted"):
            counting_of(store).write()
        assert alice.recall("tea").ids == ["tea"]


# -- the file -------------------------------------------------------------------------------------


MEMORIES = st.lists(st.integers(0, 6), min_size=1, max_size=5)
TOLD = st.lists(
    st.tuples(MEMORIES, st.sampled_from(KINDS), st.integers(0, 3 * DAY)), min_size=1, max_size=12
)


@settings(deadline=None, max_examples=60)
@given(TOLD, st.integers(0, 4 * DAY), st.booleans(), st.integers(0, 15))
def test_a_tally_is_that_of_a_list(tmp_path_factory, told, before, fold, torn):
    path = tmp_path_factory.mktemp("journal") / FILE
    journal, other = AccessJournal(path), AccessJournal(path)
    told = sorted(told, key=lambda each: each[2])
    counts: Counter[tuple[int, str]] = Counter()
    past: Counter[tuple[int, str]] = Counter()
    for memories, kind, at in told:
        journal.append(entries(at, np.array(memories), kind), at)
        with path.open("ab") as file:
            file.write(b"x" * torn)  # a writer was killed; the next append cuts it off
        for memory in memories:
            counts[memory, kind] += 1
            past[memory, kind] += at < before
    if fold:
        known = np.frombuffer(path.read_bytes()[: path.stat().st_size // 16 * 16], ENTRY)
        path.write_bytes(_folded(known, DAY).tobytes())
        assert len(_folded(known, 0)) == len(known)
        past.clear()
    wanted = np.array([3, 0, 9, 6, 1, 2, 4, 5])
    for kind in KINDS:
        for reader in (journal, other, AccessJournal(path)):
            found = reader.tally(wanted, kind)
            assert found.counts.tolist() == [counts[memory, kind] for memory in wanted.tolist()]
        if past:
            found = journal.tally(wanted, kind, before).counts.tolist()
            assert found == [past[memory, kind] for memory in wanted.tolist()]


def test_a_large_file_is_folded_by_day(tmp_path, monkeypatch):
    monkeypatch.setattr("recollex_engine.state.access_journal.FOLD_AT", 1600)
    journal, path = AccessJournal(tmp_path / FILE), tmp_path / FILE
    for hour in range(400):
        at = hour * DAY // 24
        journal.append(entries(at, np.array([hour % 2]), "returned"), at)
    assert path.stat().st_size < 1600 + 2 * 400
    assert journal.tally(np.array([0, 1]), "returned").counts.tolist() == [200, 200]
    journal.erase([0])
    assert AccessJournal(path).tally(np.array([0, 1]), "returned").counts.tolist() == [0, 200]


def test_noting_makes_no_system_call(folder, clock, monkeypatch):
    monkeypatch.setattr(access_journal, "EVERY", 3600.0)
    counting = access_journal.AccessCounting(lambda: 1)
    journal = AccessJournal(Path("/nowhere/ACCESSES"))
    memories = np.arange(100, dtype=np.uint32)
    counting.note(journal, memories)  # starts the thread
    least = min(_timed(lambda: counting.note(journal, memories)) for _ in range(200))
    assert least < 50e-6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        counting.close()


def _timed(call):
    started = time.perf_counter()
    call()
    return time.perf_counter() - started
