"""A process that forks while a store is open: the child refuses, and the parent loses nothing."""

import asyncio
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import recollex
import recollex_engine
from recollex import aio, errors
from recollex_engine import fork
from tests.engine.faults.small_store import D, Model, contents, fill, opened, vectors
from tests.forked import in_child

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

REFUSED = "before this process was forked"


def use_in_pool(store, number):
    signal.alarm(20)
    try:
        store.agent("a").retain(f"Child {number} was here.", embedding=vectors(number, 1)[0])
    except errors.ClosedError as error:
        return str(error)
    return "written"


INHERITED = {}


def use_inherited(number):
    return use_in_pool(INHERITED["store"], number)


def test_a_pool_that_writes_in_its_children_leaves_the_log_alone(path):
    with recollex.open(path, embedder=recollex.GivenVectors(D)) as store:
        agent = store.agent("a")
        fill(agent, 0, 20)
        INHERITED["store"] = store
        try:
            with multiprocessing.get_context("fork").Pool(2) as pool:
                said = pool.map(use_inherited, range(4))
                pool.close()  # its children end by themselves: one may hold back the signal to end
                pool.join()
        finally:
            INHERITED.clear()
        assert all(REFUSED in each for each in said), said
        fill(agent, 20, 20)
        agent.forget("m1")
    with opened(path, read_only=True) as agent:
        assert [id for id, _ in contents(agent)] == [f"m{n}" for n in range(40) if n != 1]
        assert agent.verify().problems == ()


@pytest.mark.parametrize("read_only", [False, True])
def test_every_call_on_an_inherited_agent_refuses(path, held, read_only):
    with recollex.open(path, embedder=recollex.GivenVectors(D), read_only=read_only) as store:
        agent = store.agent("a")
        moment = agent.get("m1").recorded_at
        cut = agent.at(moment)
        before = contents(agent)
        facts, sessions = agent.facts, agent.sessions
        calls = [
            lambda: agent.retain("Never.", embedding=vectors(1, 1)[0]),
            lambda: agent.correct("m1", "Never.", embedding=vectors(1, 1)[0]),
            lambda: agent.forget("m1"),
            lambda: agent.checkpoint(),
            lambda: facts.add("Ann", "likes", "tea"),
            lambda: agent.recall("tea", query_embedding=vectors(9, 1)[0]),
            lambda: agent.get("m1"),
            lambda: agent.list(),
            lambda: agent.stats(),
            lambda: agent.verify(),
            lambda: cut.list(),
            lambda: agent.at(moment),
            lambda: facts.view(),
            lambda: facts.find(),
            lambda: agent.events.find(),
            lambda: sessions.forget_expired(),
            lambda: agent.history("m1"),
            lambda: list(agent.log()),
            lambda: store.agent("a"),
            lambda: store.agent("b"),
            lambda: store.agents(),
        ]
        for number, call in enumerate(calls):
            said = in_child(call)
            assert said.startswith("ClosedError") and REFUSED in said, (number, said)
        assert in_child(store.close) == "None"
        assert in_child(lambda: store.close_agent("a")) == "None"
        assert contents(agent) == before
        if not read_only:
            fill(agent, 100, 3)
    with opened(path, read_only=True) as agent:
        assert agent.verify().problems == ()


def test_a_child_opens_the_store_anew(path):
    def write_anew():
        with opened(path) as own:
            return own.retain("The child was here.", id="child", embedding=vectors(7, 1)[0])

    def read_anew():
        with opened(path, read_only=True) as own:
            return [each.id for each in own.recall("tea", query_embedding=vectors(9, 1)[0])][:1]

    with opened(path) as agent:
        fill(agent, 0, 20)
        assert "LockedError" in in_child(write_anew)
        assert in_child(read_anew) == str(
            [each.id for each in agent.recall("tea", query_embedding=vectors(9, 1)[0])][:1]
        )
        fill(agent, 20, 2)
    assert in_child(write_anew) == "child"
    with opened(path) as agent:
        assert agent.get("child").text == "The child was here."
        assert agent.verify().problems == ()


def test_a_child_that_waits_until_the_parent_has_closed_can_write(path):
    ours, theirs = os.pipe()
    store = recollex.open(path, embedder=recollex.GivenVectors(D))
    fill(store.agent("a"), 0, 20)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os.close(theirs)
        os.read(ours, 1)  # the end of the pipe: the parent has closed the store
        try:
            with opened(path) as own:
                own.retain("The child was here.", id="child", embedding=vectors(7, 1)[0])
            os._exit(0)
        finally:
            os._exit(1)
    store.close()
    os.close(ours)
    os.close(theirs)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with opened(path) as agent:
        assert len(contents(agent)) == 21
        assert agent.verify().problems == ()


def test_a_child_has_threads_of_its_own_for_recalls_and_retains(path, tmp_path):
    """The parent's pools have threads, which a child does not have."""

    class Slow(Model):
        def embed_query(self, text):
            time.sleep(0.002)  # longer than waking a thread, so the words are searched beside it
            return super().embed_query(text)

    def work(folder):
        with opened(folder, embedder=Slow()) as agent:
            agent.retain_many(
                [f"Number {n} of the tea." for n in range(80)]
            )  # links on two threads
            for _ in range(20):
                found = agent.recall("Which number has the tea?")
            agent.checkpoint()
            return len(found) > 0

    assert work(path)
    assert in_child(lambda: work(tmp_path / "other")) == "True"


def test_a_child_refuses_an_inherited_store_of_asyncio(path):
    async def main():
        async with aio.open(path, embedder=recollex.GivenVectors(D)) as store:
            agent = await store.agent("a")
            await agent.retain("Tea.", id="m", embedding=vectors(1, 1)[0])
            said = in_child(lambda: asyncio.run(use(store, agent)))
            assert REFUSED in said, said
            return (await agent.get("m")).text

    async def use(store, agent):
        try:
            return await agent.get("m")
        finally:
            await store.close()

    assert asyncio.run(main()) == "Tea."


@pytest.mark.parametrize("durability", ["always", "interval"])
def test_forks_at_random_moments_under_load_lose_nothing(path, durability):
    """Threads retain and recall while the parent forks; each child opens, reads and is refused."""
    run_storm(path, durability, forks=12)


@pytest.mark.slow
def test_many_forks_at_random_moments(path):
    run_storm(path, "always", forks=400)


def run_storm(path, durability, forks):
    rng = random.Random(durability)
    stop, acknowledged, failures = threading.Event(), [], []
    store = recollex.open(path, embedder=Model(), durability=durability)
    agent = store.agent("a")
    agent.retain("The first of the tea.", id="first")

    def write(thread):
        n = 0
        while not stop.is_set():
            ids = [f"{thread}-{n}-{each}" for each in range(rng.choice((1, 2, 70)))]
            agent.retain_many([f"{id} of the tea." for id in ids], id=ids)
            acknowledged.extend(ids)
            n += 1
            if n % 5 == 0:
                agent.checkpoint()

    def read():
        while not stop.is_set():
            agent.recall("Which tea?")

    def guarded(work, *args):
        try:
            work(*args)
        except BaseException as error:
            failures.append(error)

    works = [(write, 0), (write, 1), (read,), (read,)]
    threads = [threading.Thread(target=guarded, args=work) for work in works]
    for thread in threads:
        thread.start()

    def child():
        refused = 0
        for call in (lambda: agent.retain("Never."), lambda: agent.recall("Which tea?")):
            try:
                call()
            except errors.ClosedError:
                refused += 1
        with opened(path, embedder=Model(), read_only=True) as own:
            found = len(own.recall("Which tea?"))
        with opened(path.with_name(f"child-{os.getpid()}"), embedder=Model()) as fresh:
            fresh.retain_many([f"Number {n} of the tea." for n in range(70)])
            return refused, found > 0, len(fresh.recall("Which tea?")) > 0

    try:
        for _ in range(forks):
            time.sleep(rng.random() / 30)
            assert in_child(child) == "(2, True, True)"
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures
    store.close()
    with opened(path, embedder=Model()) as agent:
        assert {id for id, _ in contents(agent)} == {"first", *acknowledged}
        assert agent.verify().problems == ()


def test_a_child_computes_a_property_that_another_thread_was_computing():
    """Python 3.11 has one lock for all objects of a class: it would stay taken in the child."""
    entered, leave = threading.Event(), threading.Event()

    class Slow:
        @fork.cached_property
        def value(self):
            entered.set()
            leave.wait()
            return 1

    thread = threading.Thread(target=lambda: Slow().value)
    thread.start()
    entered.wait()

    def child():
        leave.set()
        return Slow().value

    try:
        assert in_child(child) == "1"
    finally:
        leave.set()
        thread.join()


def test_threads_that_compute_a_property_at_once_get_the_same_value():
    both = threading.Barrier(2)

    class Thing:
        @fork.cached_property
        def value(self):
            both.wait(30)
            return object()

    thing, found = Thing(), []
    threads = [threading.Thread(target=lambda: found.append(thing.value)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] is found[1] is thing.value


def test_no_property_of_ours_waits_for_a_lock():
    for package in (recollex, recollex_engine):
        for path in Path(package.__file__).parent.rglob("*.py"):
            assert "functools import cached_property" not in path.read_text(), path


PRODUCTS = """
import os, threading
import numpy as np
from recollex_engine.state.hnsw import _exact

rows, done = np.ones((4096, 384), np.int8), threading.Event()

def compare():
    while not done.is_set():
        _exact(rows[:100], lambda first, end: rows[first:end], 0, len(rows), 10)

thread = threading.Thread(target=compare)
thread.start()
for _ in range(30):
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
done.set()
thread.join()
"""


def test_a_product_of_matrices_goes_on_while_another_thread_forks():
    """OpenBLAS ends its threads before a fork, also in the midst of a product."""
    command = [sys.executable, "-W", "ignore", "-c", PRODUCTS]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run(command, env=environment, timeout=60, check=True)
