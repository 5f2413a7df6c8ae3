"""A KeyboardInterrupt or MemoryError at any line of a write: nothing acknowledged is harmed."""

import itertools
import linecache
import random
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from recollex_engine import errors
from recollex_engine.models.embedder import TruncationWarning, embed_all, warn_of
from tests.engine.faults.small_store import Model, contents, opened, text

PACKAGE = str(Path(errors.__file__).parent)
MOST_LINES = 20_000


class Raiser:
    """Raises ``error`` before the n-th line that the engine runs in this thread.

    Not at a ``with``: its line is traced again when the body has ended, and an error there would
    leave a lock taken, which no signal can do. Nor at a ``try:``, where nothing runs: right in a
    ``with`` CPython 3.11 has no handler for that line. Nor in a ``__del__``, whose errors Python
    prints and drops.
    """

    def __init__(self, n, error):
        self.left = n
        self.error = error

    def __call__(self, frame, event, _):
        code = frame.f_code
        ours = code.co_filename.startswith(PACKAGE) and code.co_name != "__del__"
        return self.line if ours else None

    def line(self, frame, event, _):
        if event == "line":
            source = linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip()
            if not source.startswith(("with ", "async with ", "try:")):
                self.left -= 1
                if self.left == 0:
                    sys.settrace(None)
                    raise self.error
        return self.line

    def run(self, work):
        """Return whether ``work`` was interrupted."""
        before = sys.gettrace()
        sys.settrace(self)
        try:
            work()
        except (KeyboardInterrupt, MemoryError):
            pass
        finally:
            sys.settrace(before)
        return self.left <= 0


class Cutting:
    """An embedder that cuts every text."""

    fingerprint = "cutting"
    dimension = 2

    def embed(self, texts, threads=1, progress=None):
        warn_of(len(texts), 64, "cutting")
        return np.ones((len(texts), 2), np.float32)


def test_an_interrupt_leaves_the_warning_of_cut_texts_on():
    for n in itertools.count(1):
        interrupted = Raiser(n, KeyboardInterrupt()).run(lambda: embed_all(Cutting(), ["Ann"]))
        with pytest.warns(TruncationWarning):
            Cutting().embed(["Ann"])
        if not interrupted:
            break
    assert n > 5


class Talker:
    """Writes of all kinds, and what of them was acknowledged."""

    def __init__(self, agent):
        self.agent = agent
        self.held = {}
        self.maybe = {}
        self.unsure = []
        self.facts = set()
        self.number = itertools.count()

    def retain(self, count=2):
        n = next(self.number)
        new = {f"r{n}-{i}": f"{text(n + i)} Ann met Bob {n} of Xy{n}." for i in range(count)}
        self.maybe |= new
        self.unsure.append(new.keys())
        self.agent.retain_many(list(new.values()), id=list(new), tags=["t"])
        self.held |= new
        self.unsure.pop()

    def correct(self):
        id = next(reversed(self.held))
        said = f"Corrected {next(self.number)} times."
        before = self.held.pop(id)
        self.maybe[id] = (before, said)
        self.agent.correct(id, said, by="Ann", why="wrong")
        self.held[id] = said

    def forget(self):
        id = next(iter(self.held))
        self.maybe[id] = (self.held.pop(id), None)
        self.agent.forget(id)
        del self.maybe[id]

    def fact(self):
        n = next(self.number)
        self.agent.facts.add(f"Ann{n}", "likes", f"tea {n}")
        self.facts.add(f"Ann{n}")

    def checkpoint(self):
        self.agent.checkpoint()

    def check(self):
        found = dict(contents(self.agent))
        for id, said in self.held.items():
            assert found.pop(id) == said
        for id, said in found.items():
            assert said == self.maybe[id] or said in self.maybe[id]
        assert {fact.subject for fact in self.agent.facts.find()} >= self.facts
        for ids in self.unsure:  # all of a call or nothing
            assert len(found.keys() & ids) in (0, len(ids))


KINDS = ("retain", "correct", "forget", "fact", "checkpoint")


def lines_of(path, kind):
    """Return how many lines a write of this kind runs."""
    with opened(path, embedder=Model()) as agent:
        talker = Talker(agent)
        for _ in range(3):
            talker.retain()
        counter = Raiser(MOST_LINES, KeyboardInterrupt)
        assert not counter.run(getattr(talker, kind))
        return MOST_LINES - counter.left


def run_kind(tmp_path, kind, error, step):
    """Interrupt writes of one kind at every ``step``-th line, and go on writing after each."""
    path = tmp_path / "store"
    lines = lines_of(tmp_path / "counted", kind)
    assert lines > 40
    with opened(path, embedder=Model()) as agent:
        talker = Talker(agent)
        talker.retain(70)  # from 64 on, two threads find the links
        for _ in range(3):
            talker.retain()
        for n in range(1 + random.Random(kind).randrange(step), lines + 20, step):
            Raiser(n, error).run(getattr(talker, kind))
            talker.retain()
            talker.fact()
            if n % 5 == 0:
                agent.recall("Ann met Bob")
        talker.check()
        assert agent.verify().problems == ()
        before = contents(agent), answers_by_text(agent)
    with opened(path, embedder=Model()) as agent:
        talker.agent = agent
        talker.check()
        assert (contents(agent), answers_by_text(agent)) == before
        assert agent.verify().problems == ()
        talker.retain()


def answers_by_text(agent):
    return [
        [(each.id, each.score) for each in agent.recall(query, exact=True)]
        for query in ("tea ink", "Ann met Bob", "Memory 7")
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_write_that_is_interrupted_anywhere_harms_nothing(tmp_path, kind):
    run_kind(tmp_path, kind, KeyboardInterrupt, step=41)


@pytest.mark.parametrize("kind", ["retain", "fact"])
def test_a_write_that_lacks_memory_anywhere_harms_nothing(tmp_path, kind):
    run_kind(tmp_path, kind, MemoryError, step=83)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_write_that_is_interrupted_at_every_line_harms_nothing(tmp_path, kind):
    run_kind(tmp_path, kind, KeyboardInterrupt, step=1)


BESIDE = 10
"""Memories that a thread may write for each interrupt, so that the log stays short."""


def run_signals(tmp_path, interrupts, writers):
    """Signals every few milliseconds; the main thread writes on, as do threads beside it.

    Returns when so many were caught. Kernels are loaded meanwhile, those of a first call, too.
    """
    path = tmp_path / "store"
    rng = random.Random(7)
    turns, failures, others = threading.Semaphore(0), [], []
    stop = threading.Event()

    def write(thread):
        n = 0
        try:
            while turns.acquire() and not stop.is_set():
                n += 1
                others.extend(
                    agent.retain_many([f"Thread {thread} says {n}."], id=[f"t{thread}-{n}"])
                )
        except BaseException as error:
            failures.append(error)

    armed = [False]

    def interrupt(*_):
        if armed[0]:
            armed[0] = False  # not again before it was caught
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    caught = 0
    try:
        with opened(path, embedder=Model()) as agent:
            talker = Talker(agent)
            talker.retain()
            threads = [threading.Thread(target=write, args=(each,)) for each in range(writers)]
            for thread in threads:
                thread.start()
            while caught < interrupts:
                turns.release(1 + BESIDE * writers)
                try:
                    armed[0] = True
                    signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.0005, 0.02), 0.02)
                    while armed[0]:  # a destructor swallows a signal
                        getattr(talker, rng.choice(["retain"] * 6 + ["fact", "checkpoint"]))()
                        agent.recall("Ann met Bob")
                except (KeyboardInterrupt, SystemError):  # numba makes one of the other
                    caught += 1
                except RuntimeError:  # a `threading.Condition` makes one of it
                    assert not armed[0]
                    caught += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            stop.set()
            turns.release(1 + writers)
            for thread in threads:
                thread.join()
            assert not failures
            talker.retain()  # shows what an interrupted call logged and did not publish
            talker.held |= {id: f"Thread {id[1]} says {id[3:]}." for id in others}
            talker.check()
            assert agent.verify().problems == ()
            held = contents(agent), answers_by_text(agent)
        with opened(path, embedder=Model()) as agent:
            assert (contents(agent), answers_by_text(agent)) == held
            assert agent.verify().problems == ()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        stop.set()
        turns.release(1 + writers)


@pytest.mark.slow  # a signal may hit a callback of the test tools themselves
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # in a destructor
@pytest.mark.parametrize("writers", [0, 2])
def test_signals_every_few_milliseconds_harm_nothing(tmp_path, writers):
    run_signals(tmp_path, 20, writers)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # in a destructor
@pytest.mark.parametrize("writers", [0, 2])
def test_many_signals_harm_nothing(tmp_path, writers):
    run_signals(tmp_path, 400, writers)
