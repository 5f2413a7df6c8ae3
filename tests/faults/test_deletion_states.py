"""A crash while an agent is deleted leaves all of it or nothing, and the next opening cleans up."""

import random
from pathlib import Path

import pytest

import recollex
from tests.engine.faults.small_store import D, contents, fill
from tests.faults.checking import laid_out
from tests.faults.recorder import recording
from tests.faults.states import states


def opened(path: Path, **options) -> recollex.Store:
    return recollex.open(path, embedder=recollex.GivenVectors(D), **options)


@pytest.mark.parametrize(
    ("is_open", "share"), [(True, 0.1), pytest.param(False, 1.0, marks=pytest.mark.slow)]
)
def test_a_deleted_agent_is_whole_or_gone(root, is_open, share):
    path = root / "s"
    with opened(path) as store:
        for name in "ab":
            fill(store.agent(name), 0, 12)
            store.agent(name).checkpoint()
            fill(store.agent(name), 12, 4)
    with opened(path, read_only=True) as store:
        held = contents(store.agent("a"))
    with recording(root) as recorded, opened(path) as store:
        if is_open:
            store.agent("a")
        store.delete_agent("a")
        deleted = len(recorded.events)
    found = {"whole": 0, "gone": 0, "cleaned": 0}
    rng, seen = random.Random(1), set()
    for state in states(recorded.start, recorded.events, seed=1):
        if rng.random() > share or (key := (state.content(), state.at < deleted)) in seen:
            continue
        seen.add(key)
        with laid_out(state.tree) as place:
            with opened(place / "s", read_only=True) as store:
                names = store.agents()
                assert names in (["a", "b"], ["b"]), state.how
                assert state.at < deleted or names == ["b"], state.how
                if "a" in names:
                    assert contents(store.agent("a")) == held
            left = list((place / "s").glob(".deleted-*"))
            with opened(place / "s") as store:
                assert store.agents() == names
                assert not list((place / "s").glob(".deleted-*"))
                for name in names:
                    assert contents(store.agent(name)) == held
                    assert store.agent(name).verify().problems == ()
                    fill(store.agent(name), 20, 1)
            found["cleaned"] += bool(left)
            found["whole" if "a" in names else "gone"] += 1
    assert min(found.values()) > 2, found
