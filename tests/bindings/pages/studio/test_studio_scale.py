"""The studio over 100,000 memories with made-up vectors: each view answers, and none loads all."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import recollex
from tests.bindings.pages.studio.told_store import day
from tests.bindings.remote.http.http_service import HashedWords, Served, served

COUNT, BATCH = 100_000, 2_000
MOST_SECONDS = 5.0
"""Of one view, on a machine that does other things too; the first of each compiles and opens."""
MOST_BYTES = 200_000
"""Of all that a view receives."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("scale") / "store"
    draw = np.random.default_rng(7)
    embedder = HashedWords()
    with recollex.open(folder, embedder=embedder, durability="off") as store:
        a = store.agent("alice")
        for first in range(0, COUNT, BATCH):
            numbers = range(first, first + BATCH)
            vectors = draw.standard_normal((BATCH, embedder.dimension), np.float32)
            a.retain_many(
                [
                    f"Person {n % 997} saw thing {n % 7919} in town {n % 53}, no. {n}."
                    for n in numbers
                ],
                id=[f"m{n}" for n in numbers],
                event_at=[day(n / 100) for n in numbers],
                tags=[["even" if n % 2 == 0 else "odd"] for n in numbers],
                recorded_at=day((first + BATCH) / 100),
                embedding=vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
            )
        a.correct("m77", "Person 77 saw nothing.", by="ann", why="a slip")
    with served(folder) as running:
        running.telemetry.add_service_gauges(running.service)
        yield running


RECEIVED = """
return performance.getEntriesByType('resource').filter((e) => e.name.includes('/api/'))
  .reduce((sum, e) => sum + e.encodedBodySize, 0)
"""


@pytest.mark.parametrize(
    ("place", "shows"),
    [
        ("memories", ".view .memories li:nth-child(50)"),
        ("memories?tags=odd&recorded=2024-06-01T00:00:00Z", ".view .memories li:nth-child(50)"),
        ("memories?q=Person+12+town+7", ".view .memories li:nth-child(10)"),
        ("memories?memory=m77", ".card .history li:nth-child(2)"),
        ("memories?memory=m50000", ".card .near .memory"),
        ("recall?ask=Who+saw+thing+12%3F", ".results .bars"),
        ("recall?ask=Who+saw+thing+12%3F&recorded=2024-06-01T00:00:00Z", ".results .bars"),
        ("compare?recorded2=2024-06-01T00:00:00Z", ".side .memories li:nth-child(50)"),
        ("graph", "iframe"),
        ("log", ".log tbody tr:nth-child(50)"),
        ("log?op=correct", ".log tbody tr"),
        ("health", ".latencies tbody tr"),
    ],
)
def test_a_view_is_quick_and_small(studio: Any, place: str, shows: str) -> None:
    studio.open(f"#/alice/{place}").one(shows)  # the first time compiles and opens
    started = time.perf_counter()
    studio.open(f"#/alice/{place}").one(shows)
    seconds = time.perf_counter() - started
    received = studio.browser.execute_script(RECEIVED)
    print(f"{place}: {seconds:.2f} s, {received:,} bytes")
    assert received < MOST_BYTES and seconds < MOST_SECONDS


def test_both_clocks_move_over_all_of_it(studio: Any) -> None:
    studio.open("#/alice/memories").until_text(".heading p", "100,000 memories")
    for clock, moments in (("recorded", "52"), ("world", "400")):  # they come after the memories
        slider = studio.one(f"#{clock}-slider")
        studio.until(lambda s=slider, m=moments: s.get_attribute("max") == m)
    studio.slide("recorded", 10)
    studio.until_text(".heading p", "20,000 memories, as recorded by")
    studio.slide("world", 0)
    studio.until_text(".heading p", "1 memory, as recorded by")
    studio.slide("world", -1)
    for page in (2, 3):
        studio.one(".more").click()
        studio.until(lambda page=page: len(studio.all(".view .memories li")) == 50 * page)
