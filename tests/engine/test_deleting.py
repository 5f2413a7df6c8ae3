"""An agent is deleted with all its files, unless another process writes it."""

import os
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

import recollex
from recollex_engine.agents import folder_names
from recollex_engine.errors import (
    ClosedError,
    InputError,
    LockedError,
    ReadOnlyError,
    StoreFullError,
    UnknownIdError,
)
from recollex_engine.models.embedder import GivenVectors
from recollex_engine.storage.lock import WriterLock
from recollex_engine.writing.reembedding import alone_in

D = 8
ONES = np.ones(D, np.float32)


def opened(path: Path, **options) -> recollex.Store:
    return recollex.open(path, embedder=GivenVectors(D), durability="off", **options)


@pytest.fixture
def path(tmp_path):
    with opened(tmp_path / "m") as store:
        for name in ("a", "Bea"):
            store.agent(name).retain(f"{name} likes tea.", id=name, embedding=ONES)
    return tmp_path / "m"


def files(path: Path) -> list[str]:
    return [each.name for folder in (path, path / "agents") for each in folder.iterdir()]


@pytest.mark.parametrize("name", ["a", "Bea"])
@pytest.mark.parametrize("is_open", [True, False])
def test_an_agent_is_deleted_and_others_stay(path, name, is_open):
    other = "Bea" if name == "a" else "a"
    with opened(path) as store:
        if is_open:
            store.agent(name).retain("More tea.", embedding=ONES)
        store.delete_agent(name)
        assert store.agents() == [other]
        assert store.agent(other).count() == 1
        assert store.agent(name).count() == 0
        store.agent(name).retain("A new one.", id="new", embedding=ONES)
        assert [memory.id for memory in store.agent(name).list()] == ["new"]
    with opened(path) as store:
        assert store.agents() == sorted([name, other])
        store.delete_agent(name)
        store.delete_agent(other)
    assert sorted(files(path)) == ["agents", "store.json"]


def test_an_agent_that_is_not_there_is_an_unknown_id(path):
    with opened(path) as store:
        store.agent("new")
        for name in ("new", "other", "A"):
            with pytest.raises(UnknownIdError, match=f"the store has no agent '{name}'"):
                store.delete_agent(name)
        store.delete_agent("a")
        with pytest.raises(UnknownIdError):
            store.delete_agent("a")
        for name in ("", None, 7):
            with pytest.raises(InputError, match="agent_id"):
                store.delete_agent(name)


def test_who_holds_a_deleted_agent_is_told(path):
    with opened(path) as store:
        agent = store.agent("a")
        cut = agent.at(agent.get("a").recorded_at)
        found = agent.recall("tea", query_embedding=ONES)
        store.delete_agent("a")
        said = r"agent 'a' was deleted: Store.agent gives a new one of that name"
        for call in (
            agent.count,
            agent.list,
            lambda: agent.retain("Tea.", embedding=ONES),
            lambda: agent.recall("tea", query_embedding=ONES),
            lambda: agent.forget("a"),
            agent.stats,
            agent.verify,
            agent.log,
            agent.head,
            cut.list,
            lambda: agent.facts.find(subject="Ann"),
        ):
            with pytest.raises(ClosedError, match=said):
                call()
        assert [memory.text for memory in found] == ["a likes tea."]
        assert store.agent("a") is not agent


def test_a_reader_in_another_store_is_told(path):
    with opened(path) as store, opened(path, read_only=True) as reader:
        held = reader.agent("a")
        assert held.count() == 1
        store.delete_agent("a")
        for _ in range(2):
            with pytest.raises(ClosedError, match="agent 'a' was deleted"):
                held.count()
        assert reader.agents() == ["Bea"]
        assert reader.agent("a").count() == 0
        store.agent("a").retain("A new one.", embedding=ONES)
        assert reader.agent("a").count() == 1


def test_an_agent_that_is_written_elsewhere_is_not_deleted(path):
    with opened(path) as store, opened(path) as other:
        other.agent("a")
        with pytest.raises(LockedError, match="close that writer, then delete the agent"):
            store.delete_agent("a")
        assert other.agent("a").count() == 1
        other.close_agent("a")
        held = store.agent("a")
        moving = alone_in(path / "agents/a/REEMBED", "")
        with moving, pytest.raises(LockedError, match="moved to another model: wait for it"):
            store.delete_agent("a")
        assert held.retain("Still written.", embedding=ONES)
        assert held.count() == 2
        store.delete_agent("a")
    assert [each.name for each in (path / "agents").iterdir()] == ["%42ea"]


def test_a_lock_whose_file_was_removed_is_refused(path, monkeypatch):
    folder = path / "agents/a"
    take = WriterLock._take

    def late(lock: WriterLock) -> None:
        take(lock)
        shutil.rmtree(folder)  # between its opening and its locking

    monkeypatch.setattr(WriterLock, "_take", late)
    with pytest.raises(LockedError):
        WriterLock(folder / "LOCK")


def test_a_store_for_reading_deletes_nothing(path):
    with opened(path, read_only=True) as store:
        with pytest.raises(ReadOnlyError, match="read_only=True: open it without it to delete"):
            store.delete_agent("a")
        assert store.agents() == ["Bea", "a"]
    with pytest.raises(ClosedError):
        store.delete_agent("a")
    store = opened(path)
    store.close()
    with pytest.raises(ClosedError):
        store.delete_agent("a")


def test_a_deletion_waits_for_calls_in_progress(path):
    embedding, go_on, order = threading.Event(), threading.Event(), []

    class Slow(GivenVectors):
        def embed(self, texts, threads=1, progress=None):
            embedding.set()
            assert go_on.wait(20)
            return np.tile(ONES, (len(texts), 1))

    with recollex.open(path, embedder=Slow(D)) as store:
        agent = store.agent("a")

        def write() -> None:
            agent.retain("Slow tea.")
            order.append("written")

        def delete() -> None:
            store.delete_agent("a")
            order.append("deleted")

        threads = [threading.Thread(target=write), threading.Thread(target=delete)]
        threads[0].start()
        assert embedding.wait(20)
        threads[1].start()
        assert store.agent("Bea").count() == 1
        go_on.set()
        for thread in threads:
            thread.join()
        assert order == ["written", "deleted"]
        assert store.agents() == ["Bea"]


def test_a_damaged_or_encrypted_agent_is_deleted_without_a_look_at_it(path):
    with opened(path, key=bytes(32)) as store:
        store.agent("secret").retain("Hidden tea.", embedding=ONES)
    (log,) = (path / "agents/a/log").iterdir()
    log.write_bytes(b"no log")
    with opened(path) as store:
        for name in store.agents():
            store.delete_agent(name)
        assert store.agents() == []


@pytest.mark.parametrize("call", ["rename", "fsync"])
def test_a_deletion_that_the_disk_refuses_changes_nothing(path, monkeypatch, call):
    with opened(path) as store:
        agent = store.agent("a")
        with monkeypatch.context() as patch:
            patch.setattr(os, call, lambda *_, **__: (_ for _ in ()).throw(OSError(28, "full")))
            if call == "rename":
                patch.setattr(Path, "rename", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
            with pytest.raises(StoreFullError, match="cannot delete the agent"):
                store.delete_agent("a")
        assert agent.count() == 1
        agent.retain("Still written.", embedding=ONES)
    assert sorted(files(path)) == ["%42ea", "a", "agents", "store.json"]
    with opened(path) as store:
        assert store.agent("a").count() == 2


def test_files_that_stay_are_named_and_removed_by_the_next_opening(path, monkeypatch):
    with opened(path) as store:
        with monkeypatch.context() as patch:
            patch.setattr(
                folder_names, "remove_tree", lambda _: (_ for _ in ()).throw(OSError(13, "refused"))
            )
            with pytest.warns(RuntimeWarning, match="could not be removed .*refused.*next opening"):
                store.delete_agent("a")
        assert store.agents() == ["Bea"]
    assert len(list(path.glob(".deleted-*"))) == 1
    opened(path, read_only=True).close()
    assert len(list(path.glob(".deleted-*"))) == 1
    assert recollex.doctor(path, repair=False)[0].left
    opened(path).close()
    assert not list(path.glob(".deleted-*"))


def test_backups_keep_a_deleted_agent(path, tmp_path):
    with opened(path) as store:
        store.backup(tmp_path / "backup")
        store.delete_agent("a")
        run = store.backup(tmp_path / "backup")
        assert run.number == 2
    recollex.restore(tmp_path / "backup", tmp_path / "back", number=1)
    with opened(tmp_path / "back") as store:
        assert store.agents() == ["Bea", "a"]
