"""Many erasures at random: no trace in any file, and the others as in a store that never had them.

The other store was told a stop word, which no recall counts, in the place of each erased memory.
"""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from recollex_engine.writing import checkpoint, maintenance
from tests.engine.erasure.traces import assert_gone, unit
from tests.engine.faults.small_store import answers, contents, opened, text, vectors

START = datetime(2024, 5, 1, tzinfo=UTC)
BATCH = 20


def token(n):
    """Words that only memory ``n`` has."""
    return f"xq{n:06}zx"


def tell(agent, first, end, gone):
    """Retain memories [first, end) as one transaction; those of ``gone`` as a stop word."""
    at = START + timedelta(minutes=first)
    numbers = range(first, end)
    said = {
        "text": [
            "the" if n in gone else f"{text(n)} {token(n)} and Mr Nq{n:06}zx" for n in numbers
        ],
        "event_at": [at if n in gone else START + timedelta(hours=n) for n in numbers],
        "tags": [[] if n in gone else [f"tag{n % 7}", f"tq{n:06}zx"] for n in numbers],
        "metadata": [{} if n in gone else {"key": f"kq{n:06}zx"} for n in numbers],
        "document_id": [None if n in gone else f"dq{n // 4:06}zx" for n in numbers],
    }
    rows = np.concatenate([vectors(10_000 + n, 1) for n in numbers])
    agent.retain_many(
        said.pop("text"),
        id=[f"iq{n:06}zx" for n in numbers],
        embedding=rows,
        recorded_at=at,
        **said,
    )


def traces(gone):
    names = [f"{letter}q{n:06}zx" for n in gone for letter in "xntik"]
    return names, [unit(vectors(10_000 + n, 1)[0]) for n in gone]


def erased_at_random(path, memories, erasures, seed, every):
    """Erase one memory after another; return those that are gone, and what the agent answers."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(memories)[:erasures].tolist()
    gone = []
    with opened(path) as agent:
        for first in range(0, memories, BATCH):
            tell(agent, first, min(first + BATCH, memories), ())
        agent.checkpoint()
        while order:
            some = [order.pop() for _ in range(min(len(order), int(rng.integers(1, 2 * every))))]
            agent.erase([f"iq{n:06}zx" for n in some], by="ben", why="x")
            gone += some
        assert agent.verify().problems == ()
        held = contents(agent), answers(agent), answers(agent, exact=False)
        assert_gone(path, *traces(gone))
    with opened(path) as agent:
        assert (contents(agent), answers(agent), answers(agent, exact=False)) == held
        assert agent.verify().problems == ()
    assert_gone(path, *traces(gone))
    return gone, held


def compare_with_twin(path, memories, gone, held):
    """Build the store that was never told, and ask it the same."""
    with opened(path) as twin:
        for first in range(0, memories, BATCH):
            tell(twin, first, min(first + BATCH, memories), frozenset(gone))
        twin.forget([f"iq{n:06}zx" for n in gone])
        assert contents(twin) == held[0]
        assert answers(twin) == held[1]
        assert answers(twin, exact=False) == held[2]


def test_forty_erasures_among_four_hundred_memories(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "LOG_BYTES", 60_000)
    monkeypatch.setattr(maintenance, "CLOSING_TAIL", 64)
    gone, held = erased_at_random(tmp_path / "store", 400, 40, seed=1, every=4)
    compare_with_twin(tmp_path / "twin", 400, gone, held)


@pytest.mark.slow
def test_five_hundred_erasures_among_ten_thousand_memories(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "LOG_BYTES", 1 << 20)
    gone, held = erased_at_random(tmp_path / "store", 10_000, 500, seed=2, every=5)
    compare_with_twin(tmp_path / "twin", 10_000, gone, held)
