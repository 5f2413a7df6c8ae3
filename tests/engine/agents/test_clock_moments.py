"""The moments of both clocks, against the times of every memory and fact."""

from datetime import UTC, datetime, timedelta

import recollex
from recollex.pages.studio.reads import clock_moments
from recollex_engine.clock import from_micros

START = datetime(2024, 1, 1, tzinfo=UTC)


def day(number):
    return START + timedelta(days=number)


def test_every_change_is_a_moment(tmp_path):
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(8)) as store:
        a = store.agent("a")
        for n in range(9):
            a.retain(
                f"No. {n}.",
                id=str(n),
                embedding=[1.0] * 8,
                event_at=day(n // 2),
                valid_until=day(20 + n) if n % 2 else None,
                recorded_at=day(n + 1),
            )
        a.archive("8", recorded_at=day(30))
        a.facts.add("Ann", "likes", "tea", valid=(day(40), day(50)), recorded_at=day(31))
        a.facts.add("Ann", "likes", "rum", recorded_at=day(32))
        found = clock_moments(a.engine.view())
        recorded = [from_micros(each) for each in found.recorded]
        assert recorded[1:] == [day(n + 1) for n in range(9)] + [day(n) for n in (30, 31, 32)]
        assert recorded[0] < day(1)  # the agent was created
        assert list(found.known) == [0, *range(1, 10), 9, 9, 9]
        world = [from_micros(each) for each in found.world]
        assert world == [day(n) for n in (0, 1, 2, 3, 21, 23, 25, 27, 40, 50)]
        assert list(found.so) == [a.count(as_world=moment) for moment in world]
        few = clock_moments(a.engine.view(), 4)
        assert few.recorded == tuple(found.recorded[n] for n in (0, 4, 8, 12))
        assert few.known == (0, 4, 8, 9)
        assert len(few.world) == len(few.so) == 4
    assert clock_moments(None).recorded == ()
