"""Memories over HTTP: pages, filters, amendments, erasure, retention, counted use."""

import httpx

from tests.bindings.remote.http.http_service import ok, refused


def test_memories_are_erased(http: httpx.Client) -> None:
    items = [{"content": f"Number {n}.", "id": f"e{n}", "tags": [f"t{n % 2}"]} for n in range(4)]
    ok(http.post("/api/memories/batch", json={"agent_id": "erased", "items": items}))
    base, who = "/api/agents/erased", {"by": "ann", "why": "asked"}
    seen = ok(http.post(f"{base}/erase", json={"tags": ["t1"], "preview": True, **who}))
    assert (seen["memories"], seen["op"]) == (2, None)
    done = ok(http.post(f"{base}/erase", json={"tags": ["t1"], **who}))
    assert (done["memories"], done["passages"], done["facts"], done["events"]) == (2, 2, 0, 0)
    left = ok(http.get(f"{base}/memories"))["memories"]
    assert [each["id"] for each in left] == ["e0", "e2"]
    (entry,) = ok(http.get(f"{base}/log", params={"op": "erase"}))["entries"]
    assert (entry["by"], entry["why"], entry["op"]) == ("ann", "asked", done["op"])
    refused(http.post(f"{base}/erase", json={"id": ["e1"], **who}), 404, "UnknownIdError")
    assert http.post(f"{base}/erase", json={"id": ["e0"]}).status_code == 422
    assert http.post(f"{base}/erase", json=who).status_code == 422


def test_memories_of_a_source_are_erased(http: httpx.Client) -> None:
    items = [{"content": "The page says tea.", "id": "page", "source": "web"}]
    items += [{"content": "I like tea.", "id": "said", "source": "user"}]
    ok(http.post("/api/memories/batch", json={"agent_id": "sources", "items": items}))
    base, who = "/api/agents/sources", {"by": "ann", "why": "a poisoned site"}
    assert ok(http.post(f"{base}/erase", json={"source": "web", **who}))["memories"] == 1
    assert [each["id"] for each in ok(http.get(f"{base}/memories"))["memories"]] == ["said"]
    told = refused(http.post(f"{base}/erase", json={"source": "A B", **who}), 422, "InputError")
    assert "source must be a word" in told["detail"]


def test_retention_rules_are_set_read_and_applied(http: httpx.Client) -> None:
    base = "/api/agents/retained"
    assert ok(http.get(f"{base}/retention")) == {"rules": []}
    rules = [
        {"network": "opinion", "age_seconds": 86_400.5, "erase": False},
        {"count": 2, "erase": True},
    ]
    body = {"rules": rules, "by": "ann", "why": "policy 7"}
    assert ok(http.put(f"{base}/retention", json=body)) == {"done": True}
    assert ok(http.get(f"{base}/retention")) == {"rules": rules}
    items = [{"content": f"Number {n}.", "id": f"r{n}"} for n in range(4)]
    ok(http.post("/api/memories/batch", json={"agent_id": "retained", "items": items}))
    assert [each["id"] for each in ok(http.get(f"{base}/memories"))["memories"]] == ["r2", "r3"]
    assert ok(http.post(f"{base}/expire")) == {"forgotten": 0, "erased": 2}
    (entry,) = ok(http.get(f"{base}/log", params={"op": "retention"}))["entries"]
    assert (entry["by"], entry["why"]) == ("ann", "policy 7")
    before = {"as_recorded": "2000-01-01T00:00:00Z"}
    assert ok(http.get(f"{base}/retention", params=before)) == {"rules": []}
    for wrong in ({"rules": [{}]}, {"rules": [{"count": -1}]}, {"rules": [{"age_seconds": 0}]}, {}):
        assert http.put(f"{base}/retention", json=wrong).status_code == 422
    assert ok(http.put(f"{base}/retention", json={"rules": []})) == {"done": True}
    assert ok(http.get(f"{base}/retention")) == {"rules": []}


def test_memories_come_a_page_at_a_time_and_are_forgotten(http: httpx.Client) -> None:
    items = [{"content": f"Number {n}.", "id": f"n/{n}"} for n in range(3)]
    ok(http.post("/api/memories/batch", json={"agent_id": "a/b", "items": items}))
    base = "/api/agents/a%2Fb/memories"
    page = ok(http.get(base, params={"limit": 2}))["memories"]
    assert [each["id"] for each in page] == ["n/0", "n/1"]
    page = ok(http.get(base, params={"after": "n/1"}))["memories"]
    assert [each["id"] for each in page] == ["n/2"]
    assert ok(http.delete(f"{base}/n%2F1", params={"why": "wrong"})) == {"done": True}
    told = refused(http.get(f"{base}/n%2F1"), 404, "UnknownIdError")
    assert (told["id"], told["agent"], told["kind"]) == ("n/1", "a/b", "memory")
    refused(http.delete(f"{base}/n%2F1"), 404, "UnknownIdError")
    entries = ok(http.get("/api/agents/a%2Fb/log", params={"op": "forget"}))["entries"]
    assert [(entry["ids"], entry["why"]) for entry in entries] == [(["n/1"], "wrong")]


def test_a_filter_lists_counts_and_forgets(http: httpx.Client) -> None:
    items = [{"content": f"Note {n}.", "id": f"note-{n}", "metadata": {"n": n}} for n in range(4)]
    ok(http.post("/api/memories/batch", json={"agent_id": "filtered", "items": items}))
    at, wanted = "/api/agents/filtered", {"where": {"n": {"ge": 1, "lt": 3}}}

    def ids(answer: httpx.Response) -> list[str]:
        return [memory["id"] for memory in ok(answer)["memories"]]

    assert ids(http.post(f"{at}/list", json=wanted)) == ["note-1", "note-2"]
    newest = {**wanted, "newest": True, "limit": 1, "network": "world"}
    assert ids(http.post(f"{at}/list", json=newest)) == ["note-2"]
    assert ok(http.post(f"{at}/count", json=wanted)) == {"count": 2}
    asked = {"query": "Note", "network": ["world"], **wanted}
    assert set(ids(http.post(f"{at}/search", json=asked))) == {"note-1", "note-2"}
    counts = {"field": "network", **wanted}
    assert ok(http.post(f"{at}/value_counts", json=counts)) == {"counts": {"world": 2}}
    told = refused(http.post(f"{at}/value_counts", json={"field": "tag"}), 422, "InputError")
    assert "roles, source, speakers, tags" in told["detail"]
    told = refused(http.post(f"{at}/count", json={"where": {"m": 1}}), 422, "InputError")
    assert "where names 'm'" in told["detail"]
    assert ok(http.post(f"{at}/forget", json={**wanted, "by": "ann"})) == {"count": 2}
    assert ok(http.post(f"{at}/count", json={})) == {"count": 2}
    erased = {"speakers": ["nobody"], "network": ["world"], "by": "ann", "why": "asked"}
    assert ok(http.post(f"{at}/erase", json=erased))["memories"] == 0


def test_use_is_told_and_counted(http: httpx.Client) -> None:
    item = {"content": "Call Bob.", "id": "bob"}
    ok(http.post("/api/memories/batch", json={"agent_id": "using", "items": [item]}))
    at = "/api/agents/using"
    assert ok(http.post(f"{at}/used", json={"ids": ["bob"], "helped": True})) == {"done": True}
    found = ok(http.get(f"{at}/memories/bob/accesses"))
    assert (found["used"], found["helped"], found["last_returned"]) == (1, 1, None)
    refused(http.post(f"{at}/used", json={"ids": ["eve"]}), 404, "UnknownIdError")
    refused(http.post(f"{at}/used", json={"ids": []}), 422, "InputError")


def test_a_memory_is_amended(http: httpx.Client) -> None:
    item = {"content": "Call Bob.", "id": "todo", "tags": ["open"]}
    ok(http.post("/api/memories/batch", json={"agent_id": "amended", "items": [item]}))
    at = "/api/agents/amended/memories/todo"
    changes = {"tags": ["done"], "metadata": {"n": 1}, "valid_until": "2030-01-01T00:00:00Z"}
    assert ok(http.patch(at, json={**changes, "by": "ann"})) == {"done": True}
    memory = ok(http.get(at))
    assert (memory["tags"], memory["metadata"], memory["valid_until"][:4]) == (
        ["done"],
        {"n": 1},
        "2030",
    )
    assert ok(http.patch(at, json={"valid_until": None})) == {"done": True}
    assert ok(http.get(at))["valid_until"] is None
    refused(http.patch(at, json={}), 422, "InputError")
    refused(http.patch(f"{at}s", json={"tags": []}), 404, "UnknownIdError")
    versions = ok(http.get(f"{at}/history"))["memories"]
    assert [each["closed"] and each["closed"]["how"] for each in versions] == ["amended"] * 2 + [
        None
    ]
    closed, _ = ok(http.get("/openapi.json"))["components"]["schemas"]["Memory"]["properties"][
        "closed"
    ]["anyOf"]
    assert "amended" in closed["properties"]["how"]["enum"]
