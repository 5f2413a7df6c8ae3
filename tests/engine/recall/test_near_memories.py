"""The memories next to one, against a search of all pairs."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex
from recollex_engine.ranking import spreading
from recollex_engine.recall.lookups import near_memories

START = datetime(2024, 1, 1, tzinfo=UTC)
NAMES = ("Ann", "Bob", "Cleo")
said = st.lists(
    st.tuples(
        st.sets(st.sampled_from(NAMES)), st.integers(0, 60), st.integers(0, 3), st.booleans()
    ),
    min_size=1,
    max_size=12,
)


@given(said, st.integers(1, 4), st.integers(0, 11), st.none() | st.integers(0, 60))
@settings(max_examples=40, deadline=None)
def test_they_are_those_of_a_search_of_all_pairs(tmp_path_factory, told, limit, of, world):
    of %= len(told)
    at = [START + timedelta(hours=hours) for _, hours, _, _ in told]
    with recollex.open(
        tmp_path_factory.mktemp("near") / "s", embedder=recollex.GivenVectors(8), durability="off"
    ) as store:
        a = store.agent("a")
        for n, (names, _, axis, _) in enumerate(told):
            vector = np.eye(8)[axis] + 0.1 * np.eye(8)[4 + n % 4]
            a.retain("x", id=str(n), entities=sorted(names), event_at=at[n], embedding=vector)
        for n, (*_, closed) in enumerate(told):
            if closed and n != of:
                a.archive(str(n))
        view = a.engine.view()
        moment = None if world is None else START + timedelta(hours=world)
        micros = None if moment is None else int(moment.timestamp() * 1_000_000)
        near = near_memories(view, of, limit, micros)
    shown = [
        n
        for n, (*_, closed) in enumerate(told)
        if n != of and not closed and (moment is None or at[n] <= moment)
    ]
    timed = sorted(
        ((n, (at[n] - at[of]).total_seconds()) for n in shown if abs(at[n] - at[of]).days < 1),
        key=lambda pair: (abs(pair[1]), -pair[0]),
    )
    assert sorted(abs(seconds) for _, seconds in near.in_time) == sorted(
        abs(seconds) for _, seconds in timed[:limit]
    )
    assert {(m.id, seconds) for m, seconds in near.in_time} <= {(str(n), s) for n, s in timed}
    named = {name: [str(n) for n in shown[::-1] if name in told[n][0]][:limit] for name in NAMES}
    assert {name: [m.id for m in some] for name, some in near.named} == {
        name: ids for name, ids in named.items() if ids and name in told[of][0]
    }
    alike = [m.id for m, _ in near.alike]
    assert len(set(alike)) == len(alike) <= limit and set(alike) <= {str(n) for n in shown}
    same = {str(n) for n in shown if told[n][2] == told[of][2]}
    assert set(alike) <= same and bool(alike) == bool(same)
    assert [cosine for _, cosine in near.alike] == sorted(
        (cosine for _, cosine in near.alike), reverse=True
    )


def test_a_hub_costs_a_bounded_number_of_looks(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("recollex_engine.recall.lookups.HUB", 3)
    assert spreading.HUB == 1024
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(8)) as store:
        a = store.agent("a")
        vectors = [[1.0] * 8] * 9
        a.retain_many(["x"] * 9, id=[str(n) for n in range(9)], entities=["Ann"], embedding=vectors)
        near = near_memories(a.engine.view(), 0, 5)
    ((name, memories),) = near.named
    assert name == "Ann" and [m.id for m in memories] == ["8", "7", "6"]
