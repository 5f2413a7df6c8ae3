"""Facts, events and operations over HTTP."""

from typing import Any

import httpx

from tests.bindings.remote.http.http_service import ok, refused


def test_operations_are_recorded_together_or_not_at_all(http: httpx.Client) -> None:
    edge = {"op": "UPSERT_EDGE", "subject": "Alice", "predicate": "works_at", "object": "Google"}
    answer = http.post("/api/agents/f/operations", json={"operations": [edge, {"op": "NONE"}]})
    assert "operation 2" in refused(answer, 422, "OperationError")["detail"]
    assert ok(http.get("/api/agents/f/facts"))["facts"] == []
    told = {"operations": [edge], "by": "importer"}
    assert ok(http.post("/api/agents/f/operations", json=told)) == {"records": 1}
    (fact,) = ok(http.get("/api/agents/f/facts", params={"subject": "Alice"}))["facts"]
    assert (fact["object"], fact["kind"], fact["by"]) == ("Google", "entity", "importer")
    assert ok(http.get("/api/agents/f/stats"))["facts"] == 1
    head = ok(http.get("/api/agents/f/head"))
    assert head["op"] == 2 and len(head["chain"]) == 43 and head["recorded_at"]


def test_facts_and_events_are_searched_by_what_they_say(http: httpx.Client) -> None:
    operations = [
        {"op": "UPSERT_EDGE", "src": "Ann", "rel": "likes", "dst": "green tea"},
        {"op": "UPSERT_EVENT", "summary": "Ann moved to Rome."},
    ]
    ok(http.post("/api/agents/hits/operations", json={"operations": operations}))
    asked = {"query": "Who likes tea?", "limit": 1}
    (hit,) = ok(http.post("/api/agents/hits/facts/search", json=asked))["hits"]
    assert (hit["kind"], hit["text"], hit["fact"]["object"]) == (
        *("fact", "Ann likes green tea", "green tea"),
    )
    (hit,) = ok(http.post("/api/agents/hits/events/search", json={"query": "moved"}))["hits"]
    assert hit["event"]["summary"] == "Ann moved to Rome."
    asked = {"query": "Who likes tea?", "kinds": ["fact", "event"]}
    found = ok(http.post("/api/agents/hits/search", json=asked))
    assert found["memories"] == [] and [hit["kind"] for hit in found["hits"]] == ["fact", "event"]
    refused(http.post("/api/agents/hits/facts/search", json={}), 422, "InputError")
    refused(http.post("/api/agents/hits/search", json={"query": "x", "kinds": ["fac"]}), 422,
            "InputError")  # fmt: skip


def test_facts_are_found_and_counted(http: httpx.Client) -> None:
    told = [
        {"op": "UPSERT_EDGE", "subject": "Ann", "predicate": "met", "object": name, "valid": valid}
        for name, valid in (("Ben", "in 2023"), ("Cy", "in May 2024"), ({"text": "all"}, None))
    ]
    at = "/api/agents/told/facts"
    ok(http.post("/api/agents/told/operations", json={"operations": told}))

    def objects(**asked: Any) -> list[Any]:
        return [fact["object"] for fact in ok(http.post(f"{at}/find", json=asked))["facts"]]

    assert objects(start={"ge": "2023", "lt": "2024-05"}) == ["Ben"]
    assert objects(end="2024-05") == ["Cy"]
    assert objects(order_by="start", descending=True, limit=2) == ["Cy", "Ben"]
    assert objects(object={"text": "all"}, start={"exists": False}) == ["all"]
    assert objects(during=["2023-01-01T00:00:00Z", "2024-01-01T00:00:00Z"]) == ["Ben"]
    assert ok(http.post(f"{at}/count", json={"start": {"gt": "2023"}})) == {"count": 1}
    assert ok(http.post(f"{at}/count", json={"distinct": "subject"})) == {"count": 1}
    counts = ok(http.post(f"{at}/value_counts", json={"field": "object"}))
    assert counts == {"counts": {'"all"': 1, "Ben": 1, "Cy": 1}}
    for wrong, said in (
        ({"start": {"after": "2024"}}, "body.start has an unknown member 'after'"),
        ({"start": {"ge": "May"}}, "is not ISO 8601"),
        ({"object": {"colour": "blue"}}, "object must be of kind"),
        ({"limit": 0}, "body.limit must be a whole number >= 1, got 0"),
    ):
        assert said in refused(http.post(f"{at}/find", json=wrong), 422, "InputError")["detail"]


def test_entities_that_are_one_become_one(http: httpx.Client) -> None:
    items = [
        {"content": "I met Alice Chen.", "event_date": "2024-05-06T00:00:00Z"},
        {"content": "Alice likes tea.", "event_date": "2024-05-07T00:00:00Z"},
    ]
    ok(http.post("/api/memories/batch", json={"agent_id": "names", "items": items}))
    at = "/api/agents/names/entities/resolve"
    (match,) = ok(http.post(at, json={"preview": True}))["matches"]
    assert (match["source"], match["target"], match["way"], match["same"]) == (
        *("Alice", "Alice Chen", "part", True),
    )
    log = {"op": "merge_entity"}
    assert ok(http.get("/api/agents/names/log", params=log))["entries"] == []
    assert ok(http.post(at, json={"by": "ann"}))["matches"] == [match]
    (entry,) = ok(http.get("/api/agents/names/log", params=log))["entries"]
    assert entry["by"] == "ann" and ok(http.post(at, json={}))["matches"] == []
    refused(http.post(at, json={"preview": 1}), 422, "InputError")
