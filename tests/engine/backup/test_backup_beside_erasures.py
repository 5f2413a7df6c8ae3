"""What does a backup hold that is taken while memories are erased? Never half of the erasure."""

import os
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

import recollex
from recollex_engine.agents import agent as erasing_writer
from recollex_engine.agents import verification
from recollex_engine.backup import agent_backup
from recollex_engine.backup.manifest import piece_of
from recollex_engine.errors import LockedError, StoreFullError
from recollex_engine.log.files import plain_path
from recollex_engine.state.read_replica import ErasureWatch
from recollex_engine.storage import disk
from recollex_engine.writing.writer import Writer
from tests.engine.backup.copying import back_up
from tests.engine.faults.small_store import D, contents, fill, opened

BY = {"by": "ben", "why": "x"}
CALLS = ("rename", "unlink", "pwrite", "fsync", "fdatasync", "listdir")


@contextmanager
def before_each_call(monkeypatch, look):
    """Call ``look`` before each call of the system that changes files; not within itself."""
    looking = False

    def watched(call):
        def watching(*args, **options):
            nonlocal looking
            if not looking:
                looking = True
                try:
                    look()
                finally:
                    looking = False
            return call(*args, **options)

        return watching

    with monkeypatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, watched(getattr(os, name)))
        yield


class Backups:
    """Reads the agent for a backup at each call; whether each has stubs, and their operation."""

    def __init__(self, path):
        self.path = path
        self.found = []
        self.refused = 0

    def take(self):
        contents = []

        def add(content, _):
            contents.append(content)
            return piece_of(content, compressed=False)

        try:
            agent_backup.back_up_agent(self.path / "agents/a", None, add)
        except LockedError:
            self.refused += 1
        else:
            log = b"".join(contents)
            self.found.append((b'"commitment"' in log, b'"kind":"erase"' in log))


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(agent_backup, "_ATTEMPTS", 2)
    monkeypatch.setattr(agent_backup, "_RETRY_SECONDS", 0)


@pytest.fixture
def store(tmp_path):
    with opened(tmp_path / "store") as agent:
        fill(agent, 0, 12)
        agent.checkpoint()
    return tmp_path / "store"


def test_at_every_step_it_has_the_agent_before_or_after(store, monkeypatch, impatient):
    backups = Backups(store)
    with opened(store) as agent, before_each_call(monkeypatch, backups.take):
        agent.erase(["m3", "m4"], **BY)
    assert set(backups.found) == {(False, False), (True, True)} and backups.refused > 5


def interrupt(store, monkeypatch):
    """Begin an erasure that fails after its intent was written."""
    with monkeypatch.context() as patch:
        patch.setattr(erasing_writer, "finish", lambda *_: Path("/nowhere").stat())
        with pytest.raises(StoreFullError), opened(store) as agent:
            agent.erase(["m3", "m4"], **BY)


def test_also_while_the_next_opening_completes_the_erasure(store, monkeypatch, impatient):
    interrupt(store, monkeypatch)
    backups = Backups(store)
    with before_each_call(monkeypatch, backups.take), opened(store) as agent:
        assert len(contents(agent)) == 10
    assert set(backups.found) == {(True, True)} and backups.refused > 5


def test_a_new_file_of_the_log_is_seen_whatever_number_its_inode_has(store):
    folder = store / "agents/a"
    log = plain_path(folder / "log", 1)
    for _ in range(20):  # ext4 gives the number of a removed file to the next one
        with ErasureWatch(folder) as watch:
            assert not watch.has_seen_erasure
            for _ in range(2):
                disk.replace_file(log, log.read_bytes())
            assert watch.has_seen_erasure


def test_verify_backup_names_stubs_without_their_operation(store, tmp_path, monkeypatch):
    with opened(store) as agent:
        agent.erase(["m3", "m4"], **BY)
        last = agent.log()[-1].op
    with monkeypatch.context() as patch:
        patch.setattr(agent_backup, "_published", lambda _: last - 1)
        back_up(store, tmp_path / "b")
    (problem,) = recollex.verify_backup(tmp_path / "b").problems
    assert "operations are erased, and no operation 'erase' says so" in problem


def test_verify_backup_names_stubs_after_the_last_erasure_without_a_key(tmp_path, monkeypatch):
    pytest.importorskip("cryptography")
    path, key = tmp_path / "store", bytes(32)
    with recollex.open(path, embedder=recollex.GivenVectors(D), key=key) as store:
        agent = store.agent("a")
        fill(agent, 0, 4)
        agent.erase("m1", **BY)
        store.backup(tmp_path / "whole")
        fill(agent, 4, 4)
        agent.erase("m5", **BY)
        last = agent.log()[-1].op
        monkeypatch.setattr(agent_backup, "_published", lambda _: last - 1)
        store.backup(tmp_path / "half")
    assert recollex.verify_backup(tmp_path / "whole").problems == ()
    (problem,) = recollex.verify_backup(tmp_path / "half").problems
    assert "operations are erased after the last 'erase'" in problem


def test_verify_begins_again_after_an_erasure_in_this_process(store, monkeypatch):
    """The log has the erasure already, and the views of this process do not show it yet."""
    tried, found = threading.Event(), []
    was_erased, started_again = verification._was_erased, Writer.started_again

    def noting(replica):
        tried.set()
        return was_erased(replica)

    def slow(writer, *args, **options):
        thread.start()
        assert tried.wait(10)
        return started_again(writer, *args, **options)

    monkeypatch.setattr(verification, "_was_erased", noting)
    monkeypatch.setattr(Writer, "started_again", slow)
    with opened(store) as agent:
        thread = threading.Thread(target=lambda: found.append(agent.verify()))
        agent.erase(["m3", "m4"], **BY)
        thread.join()
    assert found[0].problems == ()


def test_verify_says_that_an_erasure_was_interrupted(store, monkeypatch):
    interrupt(store, monkeypatch)
    with opened(store, read_only=True) as agent:
        assert "an erasure was begun" in agent.verify().problems[0]
