"""Many threads retain, forget and recall at once, checkpoints running: nothing is lost or mixed."""

import sys
import threading
import time

import numpy as np
import pytest

import recollex
from recollex_engine.errors import UnknownIdError
from recollex_engine.log import durability
from recollex_engine.log import writer as log
from recollex_engine.models.embedder import GivenVectors
from recollex_engine.storage.pooled_file import begin_flush
from recollex_engine.writing import checkpoint
from recollex_engine.writing import checkpoint as graphs
from tests.engine.faults.small_store import SlowFlush, begin_nothing

DIMENSION = 16
SECONDS = 4
WORDS = ["tea", "garden", "the", "cello", "a", "train", "letter", "puppy", "Ann", "Ben", "quokka"]


@pytest.fixture
def switching():
    """Threads take turns much more often than they do by themselves."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


class Threads:
    """Runs functions in threads until `stop`; `finish` raises what any of them raised."""

    def __init__(self):
        self.stop = threading.Event()
        self.errors = []
        self.threads = []

    def start(self, function, *arguments):
        def run():
            try:
                while not self.stop.is_set():
                    function(*arguments)
            except BaseException as error:
                self.errors.append(error)
                self.stop.set()

        self.threads.append(threading.Thread(target=run))
        self.threads[-1].start()

    def finish(self):
        self.stop.set()
        for thread in self.threads:
            thread.join(30)
            assert not thread.is_alive()
        for error in self.errors:
            raise error


@pytest.mark.usefixtures("switching")
def test_threads_that_write_and_read_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SEGMENT_ROWS", 128)
    monkeypatch.setattr(checkpoint, "TAIL_ROWS", 40)
    monkeypatch.setattr(checkpoint, "LOG_BYTES", 30_000)
    monkeypatch.setattr(graphs, "GRAPH_ROWS", 128)
    monkeypatch.setattr(graphs, "GRAPH_STEP", 32)
    monkeypatch.setattr(graphs, "GRAPH_MOST", 128)
    folder = tmp_path / "store"
    store = recollex.open(folder, embedder=GivenVectors(DIMENSION), durability="always")
    agent = store.agent("a")
    reading = recollex.open(folder, read_only=True, embedder=GivenVectors(DIMENSION))
    held: dict[str, str] = {}  # acknowledged and not forgotten: id -> text
    forgotten: set[str] = set()
    shared = threading.Lock()
    running = Threads()

    def random_text(random):
        return " ".join(random.choice(WORDS, 5))

    def write(random, number):
        texts = [f"{random_text(random)} n{number}x{random.integers(2**40)}" for _ in range(3)]
        vectors = random.standard_normal((3, DIMENSION)) + 0.5
        documents = [f"d{number}", None, "shared"]
        entities = [f"Entity {random.integers(10**6)}"]
        names = [None, f"own-{number}-{random.integers(5)}", None]
        ids = agent.retain_many(
            texts, id=names, embedding=vectors, document_id=documents, entities=entities
        )
        assert agent.get(ids[0]).text == texts[0]  # what was acknowledged is seen at once
        with shared:
            held.update(zip(ids, texts, strict=True))

    def forget(random):
        time.sleep(0.003)
        with shared:
            free = [id for id in held if not id.startswith("own-")]
            if len(free) < 20:
                return
            id = free[int(random.integers(len(free)))]
            del held[id]
            forgotten.add(id)
        agent.forget(id)
        with pytest.raises(UnknownIdError):
            agent.get(id)

    def still_there(source, id):
        try:
            return source.get(id).id
        except UnknownIdError:
            assert id in forgotten  # another thread forgot it after it was listed
            return id

    def read(source, random, last):
        options = [
            {},
            {"exact": True},
            {"entities": [f"entity {random.integers(10**6)}"]},
            {"document_id": "shared"},
        ][int(random.integers(4))]
        recall = source.recall(
            random_text(random),
            query_embedding=random.standard_normal(DIMENSION) + 0.5,
            explain=True,
            **options,
        )
        assert not recall.trace.errors
        assert recall.op >= last[0]  # views never go back
        last[0] = recall.op
        if len(recall):
            view, memories = recall._view, recall._ranking.memories
            assert int(view.buffer("op")[memories].max()) <= recall.op
            closed = view.buffer("closed_by")[memories]
            assert ((closed == 0) | (closed > recall.op)).all()
            assert len({memory.id for memory in recall}) == len(recall)
            assert all(memory.text for memory in recall)
        newest = source.list(limit=3)
        assert [still_there(source, memory.id) for memory in newest if memory.id in held]

    seeds = np.random.SeedSequence(3).spawn(8)
    randoms = [np.random.default_rng(seed) for seed in seeds]
    write(randoms[0], 0)
    read(agent, randoms[4], [0])  # compiles what is not compiled yet
    for number in range(3):
        running.start(write, randoms[number], number)
    running.start(forget, randoms[3])
    running.start(read, agent, randoms[4], [0])
    running.start(read, agent, randoms[5], [0])
    running.start(read, reading.agent("a"), randoms[6], [0])
    running.start(read, reading.agent("a"), randoms[7], [0])

    def has_seen_enough():
        generation = agent.engine.replica().generation
        return generation >= 2 and len(held) > 50 and len(forgotten) > 2

    deadline = time.monotonic() + 60  # a slow machine still has to get through some of everything
    running.stop.wait(SECONDS)
    while not has_seen_enough() and time.monotonic() < deadline and not running.stop.wait(0.1):
        pass
    running.finish()

    assert has_seen_enough()
    assert agent.verify().problems == ()
    before = {memory.id: memory.text for memory in agent.list(limit=10**6)}
    assert before == held
    assert {m.id: m.text for m in reading.agent("a").list(limit=10**6)} == held
    store.close()
    reading.close()

    with recollex.open(folder, embedder=GivenVectors(DIMENSION)) as again:
        agent = again.agent("a")
        assert {memory.id: memory.text for memory in agent.list(limit=10**6)} == held
        assert agent.verify().problems == ()
        for id in list(forgotten)[:20]:
            with pytest.raises(UnknownIdError):
                agent.get(id)


def test_a_recall_keeps_what_it_found_while_everything_moves(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SEGMENT_ROWS", 32)
    random = np.random.default_rng(0)
    with recollex.open(
        tmp_path / "store", embedder=GivenVectors(DIMENSION), durability="off"
    ) as store:
        agent = store.agent("a")
        texts = [f"the letter {number}" for number in range(40)]
        ids = agent.retain_many(
            texts, embedding=random.standard_normal((40, DIMENSION)), metadata={"k": [1]}
        )
        asked = {"query_embedding": random.standard_normal(DIMENSION), "exact": True}
        held = agent.recall("letter", **asked)  # its memories are not read yet
        expected = agent.recall("letter", **asked)
        expected = list(expected)
        agent.forget(ids[::2])
        for _ in range(30):
            agent.retain_many(["more"] * 40, embedding=random.standard_normal((40, DIMENSION)))
            agent.checkpoint()
        assert list(held) == expected
        assert len(held) == 40


def test_calls_that_share_a_flush_show_the_last_of_them(tmp_path):
    with recollex.open(tmp_path, embedder=GivenVectors(DIMENSION)) as store:
        agent = store.agent("a")
        agent.retain("the train", embedding=np.ones(DIMENSION))
        with agent.engine.together():
            agent.retain("the letter", embedding=np.ones(DIMENSION))
            agent.engine.files.writer().publish(1)  # of a call that records nothing new
            assert [memory.text for memory in agent.list()] == ["the train"]
        assert [memory.text for memory in agent.list()] == ["the train", "the letter"]


@pytest.mark.parametrize("way", ["begun", "at the end"])
def test_what_is_not_on_the_disk_is_shown_to_no_reader(tmp_path, monkeypatch, way):
    folder = tmp_path / "store"
    vectors = np.eye(2, DIMENSION)
    with recollex.open(folder, embedder=GivenVectors(DIMENSION), durability="always") as store:
        agent = store.agent("a")
        agent.retain("the letter", embedding=vectors[0])
        reader = recollex.open(folder, read_only=True, embedder=GivenVectors(DIMENSION))
        following = reader.agent("a")
        assert [memory.text for memory in following.list()] == ["the letter"]
        flushing, may_flush = threading.Event(), threading.Event()
        flush = log.flush

        def wait():
            flushing.set()
            assert may_flush.wait(20)

        def slow_flush(fd):
            wait()
            flush(fd)

        def begin(fds):
            begun = begin_flush(fds)
            return None if begun is None else SlowFlush(begun, wait)

        monkeypatch.setattr(log, "flush", slow_flush)
        monkeypatch.setattr(durability, "begin_flush", begin if way == "begun" else begin_nothing)
        writing = threading.Thread(target=lambda: agent.retain("the train", embedding=vectors[1]))
        writing.start()
        assert flushing.wait(20)
        for seen_by in (agent, following):
            assert [memory.text for memory in seen_by.list()] == ["the letter"]
            assert len(seen_by.recall("train letter", query_embedding=vectors.sum(axis=0))) == 1
        may_flush.set()
        writing.join(20)
        for seen_by in (agent, following):
            assert [memory.text for memory in seen_by.list()] == ["the letter", "the train"]
        reader.close()
