"""A cut taken while others write: it never changes afterwards, and waits for what belongs to it."""

import threading
import time
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np
import pytest

import recollex
from recollex_engine.log import durability as flush_ahead
from recollex_engine.log import writer as log
from recollex_engine.models.embedder import GivenVectors
from recollex_engine.storage.pooled_file import begin_flush
from recollex_engine.writing import checkpoint
from tests.engine.faults.small_store import SlowFlush
from tests.searching import LONGER

WORDS = ["tea", "garden", "the", "cello", "train", "Ann", "Ben", "quokka"]
QUERIES = ["tea in the garden", '"the cello" quokka', "Ann"]
SECONDS = 1.5 * LONGER


def answers(agent, **options):
    recalls = [agent.recall(text, query_embedding=np.ones(16), **options) for text in QUERIES]
    return [
        *((recall.op, recall.tokens, list(recall)) for recall in recalls),
        [fact.to_dict() for fact in agent.facts.snapshot()],
        agent.facts.entities(),
        agent.events.find(),
    ]


def write(agent, random):
    texts = [" ".join(random.choice(WORDS, 5)) for _ in range(int(random.integers(1, 5)))]
    ids = [None if random.random() < 0.5 else f"m{random.integers(6)}" for _ in texts]
    agent.retain_many(texts, id=ids, embedding=random.normal(size=(len(texts), 16)) + 0.5)
    one, other = random.choice(WORDS, 2, replace=False).tolist()
    fact = f"f{random.integers(6)}"
    act = random.choice(["fact", "event", "merge", "forget", "archive", "correct", "none"])
    try:
        if act == "correct":
            agent.correct("m1", " ".join(random.choice(WORDS, 5)), embedding=np.ones(16))
        elif act == "fact":
            agent.facts.add(one, "likes", other, id=fact, evidence=f"m{random.integers(6)}")
        elif act == "event":
            agent.events.add(f"{one} again", facts=fact, id=fact)
        elif act == "merge":
            agent.facts.archive(fact)
            agent.facts.merge(one, other)
        elif act != "none":
            getattr(agent, act)(f"m{random.integers(6)}")
    except recollex.errors.InputError:  # there is none, or it says so already
        pass


@pytest.mark.parametrize("durability", ["off", "always"])
def test_a_cut_of_this_moment_stays_as_it_was(tmp_path, monkeypatch, durability):
    monkeypatch.setattr(checkpoint, "TAIL_ROWS", 60)
    monkeypatch.setattr(checkpoint, "SEGMENT_ROWS", 200)
    flush = log.flush

    def slow_flush(fd):  # between a transaction's recorded time and its being seen
        time.sleep(0.003)
        flush(fd)

    def begin(fds):
        begun = begin_flush(fds)
        return None if begun is None else SlowFlush(begun, partial(time.sleep, 0.003))

    monkeypatch.setattr(log, "flush", slow_flush)
    monkeypatch.setattr(flush_ahead, "begin_flush", begin)
    noted, errors, stop = {}, [], threading.Event()
    with recollex.open(tmp_path / "s", embedder=GivenVectors(16), durability=durability) as store:
        agent = store.agent("a")
        agent.retain("Ann lost the tea", embedding=np.ones(16))

        def run(work):
            try:
                while not stop.is_set():
                    work()
            except BaseException as error:
                errors.append(error)
                stop.set()

        def note():
            moment = datetime.now(UTC)
            noted[moment] = answers(agent.at(moment))
            earlier = list(noted)[len(noted) // 2]
            assert answers(agent.at(earlier)) == noted[earlier]

        def has_seen_enough():
            found = [noted[moment] for moment in list(noted)]
            return len({each[0][0] for each in found}) > 2 and any(each[3] for each in found)

        deadline = time.monotonic() + 60  # for a busy machine
        works = [partial(write, agent, np.random.default_rng(seed)) for seed in (1, 2)]
        threads = [threading.Thread(target=run, args=(work,)) for work in [*works, note]]
        for thread in threads:
            thread.start()
        stop.wait(SECONDS)
        while not has_seen_enough() and time.monotonic() < deadline and not stop.wait(0.1):
            pass
        stop.set()
        for thread in threads:
            thread.join(30)
        assert not errors, errors
        assert has_seen_enough()
        for moment in list(noted)[:: max(1, len(noted) // 50)]:
            assert answers(agent.at(moment)) == noted[moment]
        for number, moment in enumerate(list(noted)[:: max(1, len(noted) // 5)]):
            agent.snapshot(moment, tmp_path / str(number))
            with recollex.open(
                tmp_path / str(number), embedder=GivenVectors(16), read_only=True
            ) as rebuilt:
                found = answers(rebuilt.agent("a"), exact=True, now=moment)
                assert found == noted[moment]


def test_what_comes_after_a_cut_is_recorded_after_it(tmp_path):
    """With a clock that stands still, too."""
    still = datetime(2024, 5, 1, tzinfo=UTC)
    with recollex.open(tmp_path / "s", embedder=GivenVectors(16), clock=lambda: still) as store:
        agent = store.agent("a")
        agent.retain("one", embedding=np.ones(16), recorded_at=still - timedelta(days=1))
        then = agent.at(still)
        agent.retain("two", embedding=np.ones(16))
        assert agent.list()[1].recorded_at == still + timedelta(microseconds=1)
        assert len(then.list()) == len(agent.at(still).list()) == 1
