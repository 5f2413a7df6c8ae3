import threading
import time

import pytest

from recollex_engine.models.micro_batch import MicroBatch


def at_once(calls):
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)


class Slow:
    """Doubles numbers and notes the batches; the first one waits for the gate."""

    def __init__(self):
        self.batches = []
        self.gate = threading.Event()
        self.entered = threading.Event()

    def __call__(self, items):
        self.batches.append(list(items))
        self.entered.set()
        self.gate.wait(10)
        return [2 * item for item in items]


def test_what_comes_while_a_batch_runs_is_run_together():
    slow, found = Slow(), {}
    batch = MicroBatch(slow, most=8, deadline=0.001)

    def ask(n):
        found[n] = batch([n, n + 100])

    first = threading.Thread(target=ask, args=(0,))
    first.start()
    slow.entered.wait(10)
    others = [threading.Thread(target=ask, args=(n,)) for n in range(1, 7)]
    for other in others:
        other.start()
    while len(batch._waiting) < 6:
        time.sleep(0.001)
    slow.gate.set()
    for each in (first, *others):
        each.join(10)
    assert found == {n: [2 * n, 2 * n + 200] for n in range(7)}
    assert [len(items) for items in slow.batches] == [2, 8, 4]


def test_a_call_larger_than_a_batch_runs_by_itself_and_whole():
    sizes = []
    batch = MicroBatch(lambda items: sizes.append(len(items)) or items, most=4)
    assert batch(list(range(9))) == list(range(9))
    assert sizes == [9]


def test_a_lone_call_does_not_wait():
    batch = MicroBatch(lambda items: items, most=8, deadline=60.0)
    started = time.perf_counter()
    for _ in range(20):
        batch([1])
    assert time.perf_counter() - started < 30


def test_company_is_waited_for_no_longer_than_the_deadline():
    batch = MicroBatch(lambda items: items, most=8, deadline=0.5)
    batch._company = True
    started = time.perf_counter()
    batch([1])
    assert 0.45 < time.perf_counter() - started < 30
    batch._deadline = 60.0
    started = time.perf_counter()
    batch([1])  # no other call came: the next does not wait
    assert time.perf_counter() - started < 30


def test_an_error_reaches_all_of_its_batch_and_no_other_call():
    def run(items):
        if 3 in items:
            raise ValueError("three")
        return items

    batch = MicroBatch(run, most=1)
    with pytest.raises(ValueError, match="three"):
        batch([3])
    assert batch([4]) == [4]


def test_many_threads_each_get_what_they_asked_for():
    batch = MicroBatch(lambda items: [item * item for item in items], most=16, deadline=0.0005)
    wrong = []

    def ask(start):
        for n in range(start, start + 200):
            items = list(range(n, n + n % 4 + 1))
            if batch(items) != [item * item for item in items]:
                wrong.append(n)

    at_once([lambda start=1000 * n: ask(start) for n in range(8)])
    assert wrong == []
    assert batch._free == 1


def test_lanes_run_side_by_side_and_share_what_waits():
    slow, found = Slow(), {}
    batch = MicroBatch(slow, most=3, deadline=0.001, lanes=2)

    def ask(n):
        found[n] = batch([n])

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for n, thread in enumerate(threads):
        thread.start()
        deadline = time.monotonic() + 10
        while len(slow.batches) + len(batch._waiting) <= n and time.monotonic() < deadline:
            time.sleep(0.001)
    assert [len(items) for items in slow.batches] == [1, 1]  # no call waited for a free lane
    slow.gate.set()
    for thread in threads:
        thread.join(10)
    assert found == {n: [2 * n] for n in range(8)}
    sizes = [len(items) for items in slow.batches[2:]]  # who meets whom is a race
    assert sum(sizes) == 6 and max(sizes) <= 3 and len(sizes) < 6


@pytest.mark.parametrize("lanes", [1, 2, 3])
def test_lanes_lose_no_call(lanes):
    running = []

    def run(items):
        running.append(1)
        assert len(running) <= lanes
        time.sleep(0.0005)
        running.pop()
        return [2 * item for item in items]

    batch, found = MicroBatch(run, most=4, lanes=lanes), []

    def ask(n):
        for k in range(10):
            assert batch([n, k]) == [2 * n, 2 * k]
        found.append(n)

    at_once([lambda n=n: ask(n) for n in range(12)])
    assert sorted(found) == list(range(12)) and batch._free == lanes
