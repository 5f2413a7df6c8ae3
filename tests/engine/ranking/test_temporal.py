"""Both temporal arms against the papers' algorithms, written plainly."""

import heapq
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex
from recollex_engine.dates.time_range import EARLIEST, LATEST, TimeRange
from recollex_engine.models.description import Thresholds
from recollex_engine.ranking.temporal import memora_temporal, temporal
from recollex_kernels.vectors.codes import cosines
from tests.kernels.inputs import read_only

START = datetime(2024, 3, 4, tzinfo=UTC)
HOUR = 3_600_000_000
DAY = 24 * HOUR
BEGAN = int(START.timestamp()) * 1_000_000
SIZE = 40
WIDTH = 8
THRESHOLDS = Thresholds(semantic=0.3, temporal=0.4)
TEXTS = ["Rain.", "They met yesterday.", "It began last week.", "Tea and bread. " * 60]
LINKS = 10
F32 = np.float32


@pytest.fixture(scope="module")
def views(tmp_path_factory):
    """Stores with ties in every time and cosine, and memories of one passage and of several."""
    with recollex.open(
        tmp_path_factory.mktemp("s"), embedder=recollex.GivenVectors(WIDTH)
    ) as store:
        made = []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            agent = store.agent(f"a{seed}")
            said = rng.integers(0, 12 if seed % 2 else 120, SIZE)
            agent.retain_many(
                [TEXTS[n] for n in rng.choice(3, SIZE, p=[0.6, 0.2, 0.2])],
                event_at=[START + timedelta(hours=6 * int(n)) for n in said],
                id=[f"m{n}" for n in range(SIZE)],
                embedding=rng.integers(-1, 3, (SIZE, WIDTH)).astype(np.float32),
            )
            agent.retain(TEXTS[3], event_at=START, embedding=np.ones(WIDTH), id="long")
            made.append(agent.engine.view())
        yield made


def similarities(view, query):
    rows = np.arange(view.rows, dtype=np.uint32)
    out = np.empty(view.rows, F32)
    cosines(view.vectors, rows, query, out)
    memory_of = view.memory_of_row[: view.rows]
    return [max(out[memory_of == m]) for m in range(view.memories)]


def neighbours(view, allowed, memory):
    """TEMPR 2.4.1 and 2.4.3: the ten nearest within a day, and their weights."""
    said = view.of_memories("said_at").tolist()
    order = sorted(range(view.memories), key=lambda m: (said[m], m))
    at = order.index(memory)
    sides = [order[:at][::-1], order[at + 1 :]]
    sides = [[m for m in s if abs(said[m] - said[memory]) < DAY and allowed[m]] for s in sides]
    taken = [0, 0]
    found = []
    while len(found) < LINKS:
        heads = [
            (abs(said[side[taken[n]]] - said[memory]), taken[n], -n)
            for n, side in enumerate(sides)
            if taken[n] < len(side)
        ]
        if not heads:
            break
        gap, _, minus = min(heads)
        side = -minus
        found.append((sides[side][taken[side]], max(F32(0.3), F32(1 - gap / DAY))))
        taken[side] += 1
    return found


def plain(view, query, found, allowed, budget, *, length, decay, floor, kept):
    """The algorithm of 3.1.4: ``length`` divides the distance, ``floor`` must be met to go on."""
    starts, ends = view.of_memories("event_start"), view.of_memories("event_end")
    starts, ends = starts.tolist(), ends.tolist()
    cosine = similarities(view, query)
    inside = [
        bool(allowed[m])
        and starts[m] < found.end
        and (ends[m] > found.start or starts[m] >= found.start)
        for m in range(view.memories)
    ]
    first = min(min(starts), found.end - 1) if found.start == EARLIEST else found.start
    last = max(max(ends), first + 1) if found.end == LATEST else found.end
    near = [m for m in range(view.memories) if inside[m] and cosine[m] >= F32(THRESHOLDS.temporal)]
    near = sorted(near, key=lambda m: (-cosine[m], m))[:budget]
    known = {m: cosine[m] for m in near}  # of equal scores these first, by cosine; then the newer
    heap = []
    for m in near:
        far = abs(starts[m] / 2 + ends[m] / 2 - (first / 2 + last / 2))
        score = F32(max(1 - far / ((last - first) * length), 0))
        heapq.heappush(heap, (-score, -cosine[m], -m))
    visited = {}
    while heap and len(visited) < budget:
        score, _, minus = heapq.heappop(heap)
        m, score = -minus, F32(-score)
        if m in visited:
            continue
        visited[m] = score
        for other, weight in neighbours(view, inside, m):
            passed = score * weight * F32(decay)
            if passed > F32(0.1) and other not in visited and cosine[other] >= F32(floor):
                heapq.heappush(heap, (-passed, -known.get(other, -2), -other))
    return [(m, score) for m, score in visited.items() if cosine[m] >= F32(kept)]


ARMS = {
    temporal: {"length": 0.5, "decay": 0.7, "floor": 0.4, "kept": 0.4},
    memora_temporal: {"length": 1.0, "decay": 0.8, "floor": -2.0, "kept": 0.3},
}


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from([*ARMS]),
    st.integers(0, 3),
    st.integers(-10, 30),
    st.integers(1, 30),
    st.sampled_from(["both", "no start", "no end"]),
    st.integers(1, SIZE + 5),
    st.integers(0, 9),
)
def test_equals_the_papers_algorithm(views, arm, store, day, length, ends, budget, seed):
    view = views[store]
    rng = np.random.default_rng(seed)
    query = rng.integers(-1, 3, WIDTH).astype(F32)
    query[0] += 1
    query = read_only(query / np.linalg.norm(query))
    allowed = (rng.integers(0, 5, view.memories) > 0).astype(np.uint8)
    first, last = BEGAN + day * DAY, BEGAN + (day + length) * DAY
    found = TimeRange(
        EARLIEST if ends == "no start" else first, LATEST if ends == "no end" else last, "", (0, 0)
    )
    ranked = arm(view, query, found, allowed, THRESHOLDS, budget)
    expected = plain(view, query, found, allowed, budget, **ARMS[arm])
    got = list(zip(ranked.memories.tolist(), ranked.scores.tolist(), strict=True))
    assert got == [(m, float(score)) for m, score in expected]


def test_the_ends_of_the_range_score_nothing_in_tempr_and_a_half_in_memora(tmp_path):
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(WIDTH)) as store:
        agent = store.agent("a")
        days = [0, 10, 20]
        agent.retain_many(
            ["Rain."] * 3,
            event_at=[START + timedelta(days=n) for n in days],
            id=[str(n) for n in days],
            embedding=np.ones((3, WIDTH)),
        )
        view = agent.engine.view()
    query = read_only(np.ones(WIDTH, F32) / np.sqrt(F32(WIDTH)))
    found = TimeRange(BEGAN, BEGAN + 20 * DAY + 1, "", (0, 0))
    allowed = np.ones(3, np.uint8)
    for arm, edge in ((temporal, 0.0), (memora_temporal, 0.5)):
        ranked = arm(view, query, found, allowed, THRESHOLDS, 3)
        scores = dict(zip(ranked.memories.tolist(), ranked.scores.tolist(), strict=True))
        assert ranked.memories[0] == 1
        assert scores[1] == pytest.approx(1, abs=1e-6)
        assert scores[0] == pytest.approx(edge, abs=1e-6) == scores[2]


def test_nothing_in_range_is_an_empty_list(views):
    query = read_only(np.ones(WIDTH, F32) / np.sqrt(F32(WIDTH)))
    found = TimeRange(BEGAN - 900 * DAY, BEGAN - 899 * DAY, "", (0, 0))
    for arm in ARMS:
        ranked = arm(views[0], query, found, np.ones(views[0].memories, np.uint8), THRESHOLDS, 5)
        assert len(ranked.memories) == len(ranked.scores) == 0
