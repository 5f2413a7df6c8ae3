"""At most `max_open` agents of a store are open, and all of them can be used at any time."""

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import recollex
from recollex_engine.agents import agent_files
from recollex_engine.errors import InputError, LockedError, StoreFullError
from recollex_engine.log.writer import LogWriter
from recollex_engine.models.embedder import GivenVectors
from recollex_engine.storage.lock import is_locked
from recollex_engine.writing import writer as writing
from tests.bindings.word_vectors import WordVectors

D = 8
ONES = np.ones(D, np.float32)

WRITES = """
import resource, sys
count, files = int(sys.argv[2]), int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
import numpy as np
import recollex

def megabytes():
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 << 10 if sys.platform == "linux" else 1 << 20)

ones = np.ones(8, np.float32)
durability = "always" if count > 1_000 else "off"
with recollex.open(sys.argv[1], embedder=recollex.GivenVectors(8), durability=durability) as store:
    for number in range(count):
        agent = store.agent(f"agent-{number}")
        agent.retain(f"Bob has {number} cups.", id="first", embedding=ones)
        if number == count // 4:
            before = megabytes()
    held = [store.agent(f"agent-{number}") for number in range(count)]
    for number, agent in enumerate(held):
        agent.retain(f"Ann has {number} cups.", id="second", embedding=ones)
    for number, agent in enumerate(held):
        said = [f"{who} has {number} cups." for who in ("Bob", "Ann")]
        assert [memory.text for memory in agent.list()] == said
        assert agent.recall("cups", query_embedding=ones)[0].text.endswith(f"{number} cups.")
    print(len(store.agents()), megabytes() - before)
"""


def written(folder: Path, count: int, files: int) -> tuple[int, float]:
    """Write agents in a process that may open ``files`` files; return how many, and the growth."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", WRITES, folder, f"{count}", f"{files}"]
    said = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    agents, grown = said.stdout.split()
    return int(agents), float(grown)


def opened(path: Path, **options) -> recollex.Store:
    return recollex.open(path, embedder=GivenVectors(D), durability="off", **options)


def filled(path: Path, names: str) -> None:
    with opened(path) as store:
        for name in names:
            store.agent(name).retain(f"{name} likes tea.", id=name, embedding=ONES)


def open_in(path: Path) -> str:
    return "".join(sorted(each.name for each in (path / "agents").iterdir() if locked(each)))


def locked(folder: Path) -> bool:
    return is_locked(folder / "LOCK")


def test_120_agents_are_written_under_a_limit_of_48_files(tmp_path):
    assert written(tmp_path / "m", 120, 48)[0] == 120


@pytest.mark.slow
def test_2000_agents_are_written_under_a_limit_of_256_files(tmp_path):
    count, grown = written(tmp_path / "m", 2_000, 256)
    assert count == 2_000
    assert grown < 60  # megabytes, for 1,500 agents more, 2,000 of them held


def test_the_default_follows_the_limit_of_the_process(monkeypatch):
    found = []
    for limit in (8, 256, 1024, 1 << 20, agent_files.resource.RLIM_INFINITY):
        monkeypatch.setattr(agent_files.resource, "getrlimit", lambda _, n=limit: (n, n))
        found.append(agent_files.default_most())
    assert found == [4, 64, 256, 256, 256]


@pytest.mark.parametrize("given", [0, -1, True, "9", 2.0, 1_000_001])
def test_a_number_that_cannot_be_meant_is_refused(tmp_path, given):
    with pytest.raises(InputError, match="max_open must "):
        opened(tmp_path, max_open=given)


def test_those_used_last_are_open(tmp_path):
    filled(tmp_path, "abcd")
    with opened(tmp_path, max_open=2) as store:
        held = {name: store.agent(name) for name in "abcd"}
        assert open_in(tmp_path) == "cd"
        held["a"].count()
        assert open_in(tmp_path) == "ad"
        held["d"].get("d")
        held["b"].retain("b likes jam.", embedding=ONES)
        assert open_in(tmp_path) == "bd"
        assert all(store.agent(name) is held[name] for name in "abcd")
        assert open_in(tmp_path) == "bd"
    assert open_in(tmp_path) == ""


def test_an_agent_at_rest_answers_as_before(tmp_path):
    filled(tmp_path, "ab")
    with opened(tmp_path, max_open=1) as store:
        a, b = store.agent("a"), store.agent("b")
        a.facts.add("Ann", "likes", "tea")
        ids = a.retain_many(["Ann likes tea.", "Bob likes jam."], embedding=np.tile(ONES, (2, 1)))
        then = a.at(a.get(ids[0]).recorded_at)
        found = a.recall("Who likes jam?", query_embedding=ONES)
        facts = a.facts.view()
        said = [
            lambda: [m.id for m in a.recall("Who likes jam?", query_embedding=ONES)],
            lambda: [m.id for m in then.recall("Who likes jam?", query_embedding=ONES)],
            lambda: [m.text for m in found],  # fields are read when looked at
            lambda: [(fact.subject, fact.object) for fact in a.facts.find(subject="Ann")],
            lambda: list(facts.all()),
            lambda: [each.op for each in a.log()],
            lambda: [each.op for each in then.log()],
            lambda: (a.head().op, then.head().op),
            lambda: a.verify(head=a.head()).problems,
            lambda: a.stats().memories,
        ]
        before = [each() for each in said]
        for each, expected in zip(said, before, strict=True):
            b.count()
            assert open_in(tmp_path) == "b"
            assert each() == expected
        b.count()
        a.snapshot(a.get(ids[1]).recorded_at, tmp_path / "copy")
    with opened(tmp_path / "copy") as copy:
        assert copy.agent("a").count() == 3


@pytest.mark.parametrize("read_only", [False, True])
def test_threads_use_more_agents_than_may_be_open(tmp_path, read_only):
    names = "abcdefghij"
    filled(tmp_path, names)
    errors = []
    with opened(tmp_path, max_open=3, read_only=read_only) as store:

        def use(first: int) -> None:
            try:
                for turn in range(8):
                    for name in names[first:] + names[:first]:
                        agent = store.agent(name)
                        if not read_only:
                            agent.retain("More tea.", id=f"{first}-{turn}", embedding=ONES)
                        assert agent.get(name).text == f"{name} likes tea."
                        assert len(agent.recall("tea", query_embedding=ONES))
            except BaseException as error:
                errors.append(error)
                raise

        threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        assert len(store._store._open_agents) <= 3
        counts = {store.agent(name).count() for name in names}
    assert counts == {1 if read_only else 33}


def test_an_agent_in_use_stays_open(tmp_path):
    filled(tmp_path, "ab")
    embedding, go_on = threading.Event(), threading.Event()

    class Slow(GivenVectors):
        def embed(self, texts, threads=1, progress=None):
            embedding.set()
            assert go_on.wait(20)
            return np.tile(ONES, (len(texts), 1))

    with recollex.open(tmp_path, embedder=Slow(D), max_open=1) as store:
        a, b = store.agent("a"), store.agent("b")
        thread = threading.Thread(target=lambda: a.retain("Slow tea."))
        thread.start()
        assert embedding.wait(20)
        b.count()
        b.get("b")
        assert open_in(tmp_path) == "a"
        go_on.set()
        thread.join()
        b.count()
        assert (a.count(), open_in(tmp_path)) == (2, "a")


def test_an_agent_at_rest_may_be_written_elsewhere(tmp_path):
    filled(tmp_path, "ab")
    with opened(tmp_path, max_open=1) as store, opened(tmp_path) as other:
        a, _ = store.agent("a"), store.agent("b")
        other.agent("a").retain("a likes jam.", embedding=ONES)
        with pytest.raises(LockedError, match="is open for writing elsewhere"):
            a.count()
        other.close_agent("a")
        assert a.count() == 2


def test_opening_one_agent_does_not_hold_up_the_others(tmp_path, monkeypatch):
    filled(tmp_path, "ab")
    opening, go_on = threading.Event(), threading.Event()
    before = writing.read_files_ahead

    def slow(folder: Path) -> None:
        if folder.name == "a":
            opening.set()
            assert go_on.wait(20)
        before(folder)

    monkeypatch.setattr(writing, "read_files_ahead", slow)
    with opened(tmp_path) as store:
        found = []
        threads = [
            threading.Thread(target=lambda: found.append(store.agent("a"))) for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        assert opening.wait(20)
        assert store.agent("b").count() == 1 and store.agents() == ["a", "b"] and not found
        go_on.set()
        for thread in threads:
            thread.join()
        assert len(found) == 2 and found[0] is found[1] is store.agent("a")


def test_an_opening_that_failed_is_tried_again(tmp_path):
    filled(tmp_path, "a")
    with opened(tmp_path) as store, opened(tmp_path) as other:
        held = other.agent("a")
        for _ in range(2):
            with pytest.raises(LockedError):
                store.agent("a")
        assert held.count() == 1
        other.close_agent("a")
        assert store.agent("a").count() == 1


def test_what_resting_could_not_flush_is_told_to_the_next_use(tmp_path, monkeypatch):
    filled(tmp_path, "ab")
    with opened(tmp_path, max_open=1) as store:
        a = store.agent("a")
        with monkeypatch.context() as patch:

            def fail(log: LogWriter, *, alone: bool) -> None:
                raise StoreFullError(28, "the disk is full")

            patch.setattr(LogWriter, "close", fail)
            b = store.agent("b")
        with pytest.raises(StoreFullError, match="the disk is full"):
            a.count()
        assert (a.count(), b.count()) == (1, 1)


def test_what_resting_could_not_flush_is_told_by_closing(tmp_path, monkeypatch):
    filled(tmp_path, "ab")
    store = opened(tmp_path, max_open=1)
    store.agent("a")
    with monkeypatch.context() as patch:

        def fail(log: LogWriter, *, alone: bool) -> None:
            raise StoreFullError(28, "the disk is full")

        patch.setattr(LogWriter, "close", fail)
        store.agent("b")
    gc.collect()
    with pytest.raises(StoreFullError, match="the disk is full"):
        store.close()


def test_turns_that_wait_outlast_the_agent_object(tmp_path):
    said = [{"speaker": "Ann", "text": "Hello.", "at": "2024-05-04T10:00:00Z"}]
    with recollex.open(tmp_path, embedder=WordVectors(), max_open=1) as store:
        store.agent("b").retain("b likes tea.")
        policy = recollex.WritePolicy()
        embeddings = {"embedding": [ONES]} if False else {}
        store.agent("a").retain_dialogue(said, document_id="d", policy=policy, **embeddings)
        store.agent("b").count()
        gc.collect()
        assert open_in(tmp_path) == "b"
        [turn] = store.agent("a").sessions.short_term("d")
        assert turn.text == "Ann: Hello."


def test_an_agent_that_is_not_held_leaves_nothing(tmp_path):
    filled(tmp_path, "ab")
    with opened(tmp_path, max_open=1) as store:
        store.agent("a").count()
        store.agent("b").count()
        gc.collect()
        assert list(store._store._agents) == ["b"]
