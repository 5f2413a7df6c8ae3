"""The storage for CrewAI against CrewAI's own on LanceDB, and within its `Memory`."""

import asyncio
import os
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
import pytest

import recollex

os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"
types = pytest.importorskip("crewai.memory.types", reason="crewai is not installed")
adapter = pytest.importorskip("recollex.frameworks.crewai", reason="crewai is not installed")
backend = pytest.importorskip("crewai.memory.storage.backend", reason="crewai is not installed")
lance = pytest.importorskip("crewai.memory.storage.lancedb_storage", reason="as above")

SIZE = 12
START = datetime(2024, 5, 1)
SCOPES = ["/", "/a", "/a/b", "/a/b/c", "/d/e", "/d"]


def record(random, number):
    vector = random.normal(size=SIZE)
    return types.MemoryRecord(
        id=f"r{number % 12}",
        content=f"Memory {number}.",
        scope=SCOPES[number * 5 % len(SCOPES)],
        categories=[["x"], ["x", "y"], []][number % 3],
        metadata={"n": number % 4, "own": {"k": [1]}},
        importance=(number % 10) / 10,
        created_at=START + timedelta(hours=number),
        embedding=(vector / np.linalg.norm(vector)).tolist(),
    )


@pytest.fixture
def storages(tmp_path):
    given = recollex.GivenVectors(16)
    with recollex.open(tmp_path / "s", embedder=given, durability="off") as store:
        theirs = lance.LanceDBStorage(path=str(tmp_path / "lance"), vector_dim=SIZE)
        yield adapter.RecollexStorage(store.agent("crew")), theirs


def plain(records):
    left_out = {"last_accessed", "embedding"}
    return [each.model_dump(exclude=left_out) for each in records]


def test_it_answers_as_theirs_does(storages):
    ours, theirs = storages
    assert isinstance(ours, backend.StorageBackend)
    random, chance = np.random.default_rng(3), Random(3)
    for number in range(40):
        new = record(random, number)
        if ours.get_record(new.id) is None:
            ours.save([new])
            theirs.save([new])
        else:
            ours.update(new)
            theirs.update(new)
        if number % 5 == 4:
            given = {"record_ids": [f"r{chance.randrange(12)}"]}
            assert ours.delete(**given) == theirs.delete(**given)
        scope = chance.choice(SCOPES)
        assert ours.count(scope) == theirs.count(scope)
        assert ours.list_scopes(scope) == theirs.list_scopes(scope)
        assert ours.list_categories(scope) == theirs.list_categories(scope)
        one, other = ours.get_scope_info(scope), theirs.get_scope_info(scope)
        assert one.model_dump() == other.model_dump()
        page = {"scope_prefix": scope, "limit": 3, "offset": chance.randrange(3)}
        assert plain(ours.list_records(**page)) == plain(theirs.list_records(**page))
        vector = random.normal(size=SIZE).tolist()
        options = {"scope_prefix": scope, "limit": 50}
        found, expected = (each.search(vector, **options) for each in storages)
        assert plain(r for r, _ in found) == plain(r for r, _ in expected)
        for filters in ({"categories": ["y"]}, {"metadata_filter": {"n": 1}}):
            found, expected = (each.search(vector, **options, **filters) for each in storages)
            assert {r.id for r, _ in found} == {r.id for r, _ in expected}
    given = {"categories": ["y"], "older_than": START + timedelta(hours=35)}
    assert ours.delete(**given) == theirs.delete(**given) > 0
    assert ours.delete(metadata_filter={"n": 1}) == theirs.delete(metadata_filter={"n": 1}) > 0
    for each in storages:
        each.reset("/a")
    assert sorted(r.id for r in ours.list_records()) == sorted(r.id for r in theirs.list_records())
    for each in storages:
        each.reset()
        assert each.count() == 0 and each.list_records() == []


def test_a_scope_is_not_a_longer_name(storages):
    ours, _ = storages
    for scope in ("/a", "ab", "/a/b/"):
        ours.save([types.MemoryRecord(content="A.", scope=scope, embedding=[1.0] * SIZE)])
    assert (ours.count("/a"), ours.count("a/"), ours.count("/ab"), ours.count()) == (2, 2, 1, 3)
    assert ours.list_scopes() == ["/a", "/ab"] and ours.list_scopes("/a/") == ["/a/b"]


def test_scores_are_cosines_and_a_threshold_holds(storages):
    ours, _ = storages
    one, other = np.eye(SIZE)[:2]
    ours.save(
        [
            types.MemoryRecord(id="a", content="A.", embedding=one.tolist()),
            types.MemoryRecord(id="b", content="B.", embedding=(one + other).tolist()),
            types.MemoryRecord(id="c", content="C.", embedding=(-one).tolist()),
        ]
    )
    found = {r.id: score for r, score in ours.search(one.tolist())}
    assert found == pytest.approx({"a": 1.0, "b": 0.7071, "c": 0.0}, abs=1e-3)
    assert [r.id for r, _ in ours.search(one.tolist(), min_score=0.8)] == ["a"]
    assert ours.search(one.tolist(), limit=0) == []


def test_a_record_without_a_vector_keeps_that_of_its_text(storages):
    ours, _ = storages
    saved = types.MemoryRecord(id="a", content="A.", embedding=np.eye(SIZE)[0].tolist())
    asyncio.run(ours.asave([saved]))
    ours.update(saved.model_copy(update={"embedding": None, "importance": 0.9, "scope": "/x"}))
    assert "embedding" not in ours.agent.get("a").metadata["record"]
    ((held, score),) = asyncio.run(ours.asearch(np.eye(SIZE)[0].tolist(), limit=1))
    assert (held.importance, held.scope, round(score, 3)) == (0.9, "/x", 1.0)
    assert asyncio.run(ours.adelete(record_ids=["a", "unknown"])) == 1
    ours.save([saved])
    assert ours.delete(older_than=datetime(2024, 5, 1, tzinfo=UTC)) == 0
    assert ours.delete(older_than=datetime(2124, 5, 1, tzinfo=UTC)) == 1


def test_their_memory_remembers_in_it(storages):
    unified = pytest.importorskip("crewai.memory.unified_memory")
    ours, _ = storages

    def embed(texts):
        return [np.eye(SIZE)[sum(map(ord, text)) % SIZE].tolist() for text in texts]

    memory = unified.Memory(storage=ours, embedder=embed, llm="gpt-4o-mini")
    given = {"scope": "/team", "categories": ["x"], "importance": 0.8}
    memory.remember("Ann leads the team.", **given)
    memory.drain_writes()
    found = memory.recall("Ann leads the team.", depth="shallow")
    assert [match.record.content for match in found] == ["Ann leads the team."]
    assert memory.list_scopes() == ["/team"]
    memory.forget(scope="/team")
    assert ours.count() == 0
