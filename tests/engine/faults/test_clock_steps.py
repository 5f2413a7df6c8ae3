"""The clock is set back and forth: recorded times only grow, and every cut stays what it was."""

import itertools
import random
from datetime import UTC, datetime, timedelta

import pytest

from tests.engine.faults.small_store import contents, fill, opened, vectors

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)


class Clock:
    """Stands still for a while, runs, and jumps by up to a year in both directions."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.now = BEGIN

    def __call__(self):
        step = self.rng.choice((0, 0, 1e-6, 1, 3600, -1e-6, -5, -86_400, -3e7, 3e7))
        self.now = max(self.now + timedelta(seconds=step), BEGIN - timedelta(days=3650))
        return self.now


@pytest.mark.parametrize("durability", ["always", "interval"])
def test_a_clock_that_is_set_back_orders_nothing_anew(path, durability):
    clock = Clock(durability)
    moments, known = [], []
    numbers = itertools.count()
    for _ in range(4):
        with opened(path, clock=clock, durability=durability) as agent:
            for _ in range(8):
                n = next(numbers)
                fill(agent, n, 1)
                known.append(f"m{n}")
                moments.append(agent.get(f"m{n}").recorded_at)
            agent.checkpoint()
            assert moments == sorted(set(moments))
            assert [id for id, _ in contents(agent)] == known
            for count, moment in enumerate(moments, 1):
                assert [id for id, _ in contents(agent.at(moment))] == known[:count]
            found = agent.recall("tea ink", query_embedding=vectors(1, 1)[0])
            assert found and not found.trace.errors
            assert agent.verify().problems == ()
    with opened(path, read_only=True, clock=lambda: BEGIN - timedelta(days=36_500)) as agent:
        assert [id for id, _ in contents(agent)] == known
        assert agent.recall("tea ink", query_embedding=vectors(1, 1)[0])


def test_a_cut_of_now_does_not_change_when_the_clock_is_set_back(path):
    now = [BEGIN]
    with opened(path, clock=lambda: now[0]) as agent:
        fill(agent, 0, 2)
        now[0] += timedelta(days=10)
        cut = agent.at(now[0])
        before = contents(cut)
        now[0] -= timedelta(days=20)
        fill(agent, 2, 2)
        assert contents(cut) == before == contents(agent.at(BEGIN + timedelta(days=10)))
        assert len(contents(agent)) == 4
