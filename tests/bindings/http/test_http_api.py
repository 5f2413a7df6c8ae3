"""Memora's section 6 over real HTTP, and recollex's own endpoints."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

import recollex
from tests.bindings.http.http_service import HashedWords, Served, served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("http")) as running:
        yield running


@pytest.fixture(scope="module")
def http(server: Served) -> Iterator[httpx.Client]:
    with server.http() as client:
        yield client


def ok(answer: httpx.Response) -> Any:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    return answer.json()


def refused(answer: httpx.Response, status: int, title: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert (told["status"], told["title"]) == (status, title)
    assert told["type"] == f"urn:recollex:error:{title}"
    return dict(told)


def test_the_papers_batch_is_stored_and_its_search_finds_it(http: httpx.Client) -> None:
    batch = {
        "agent_id": "user123",
        "items": [
            {"content": "Alice joined Google.", "context": "career"},
            {"content": "I told Alice about Yosemite.", "fact_type": "agent"},
            {"content": "Bob likes tea.", "event_date": "2024-01-02T03:04:05+01:00"},
        ],
        "document_id": "conversation_001",
    }
    ids = ok(http.post("/api/memories/batch", json=batch))["ids"]
    assert len(ids) == 3
    question = {
        "agent_id": "user123",
        "query": "What does Alice do?",
        "fact_type": ["world", "agent", "opinion"],
        "thinking_budget": 100,
        "reranker": "heuristic",
    }
    found = ok(http.post("/api/search", json=question))
    assert {memory["id"] for memory in found["memories"]} >= set(ids[:2])
    assert {memory["document_id"] for memory in found["memories"]} == {"conversation_001"}
    question["fact_type"] = ["agent"]
    (memory,) = ok(http.post("/api/search", json=question))["memories"]
    assert (memory["id"], memory["network"]) == (ids[1], "agent")
    bob = ok(http.get(f"/api/agents/user123/memories/{ids[2]}"))
    assert bob["event_at"] == "2024-01-02T02:04:05+00:00"


def test_a_search_is_the_embedded_recall(tmp_path: Path) -> None:
    texts = [f"Alice {verb} the {thing}." for verb in ("saw", "lost") for thing in ("van", "key")]
    with recollex.open(tmp_path, embedder=HashedWords()) as store:
        alice = store.agent("alice")
        alice.retain_many(texts, id=["a", "b", "c", "d"], event_at=datetime(2024, 5, 1, tzinfo=UTC))
        now = datetime(2024, 6, 1, tzinfo=UTC)
        expected = alice.recall("Who lost a key?", now=now, explain=True).to_dict()
    with served(tmp_path) as running, running.http() as client:
        body = {"query": "Who lost a key?", "now": now.isoformat(), "explain": True}
        found = ok(client.post("/api/agents/alice/search", json=body))
    del expected["trace"], found["trace"]
    assert found == expected


@pytest.mark.parametrize("reranker", ["none", "heuristic", "cross-encoder"])
@pytest.mark.parametrize("preset", ["default", "memora"])
def test_every_reranker_of_the_paper_answers(
    http: httpx.Client, reranker: str, preset: str
) -> None:
    ok(http.put("/api/agents/r", json={}))
    items = [{"content": "The blue van broke down.", "id": "van"}]
    ok(http.post("/api/memories/batch", json={"agent_id": "r", "items": items}))
    body = {"query": "What became of the van?", "reranker": reranker, "preset": preset}
    found = ok(http.post("/api/agents/r/search", json=body))
    assert [memory["id"] for memory in found["memories"]] == ["van"]


def test_a_cut_knows_nothing_of_what_was_told_later(http: httpx.Client) -> None:
    def tell(words: str) -> None:
        items = [{"content": words, "id": "home"}]
        ok(http.post("/api/memories/batch", json={"agent_id": "cut", "items": items}))

    tell("Bob lives in Oslo.")
    then = datetime.now(UTC).isoformat()
    tell("Bob lives in Rome.")
    body = {"query": "Where does Bob live?"}
    now = ok(http.post("/api/agents/cut/search", json=body))
    before = ok(http.post(f"/api/agents/cut/at/{quote(then)}/search", json=body))
    same = ok(http.post("/api/agents/cut/search", json=body | {"as_recorded": then}))
    texts = [answer["memories"][0]["text"] for answer in (now, before, same)]
    assert texts == ["Bob lives in Rome.", "Bob lives in Oslo.", "Bob lives in Oslo."]
    versions = ok(http.get("/api/agents/cut/memories/home/history"))["memories"]
    assert [each["text"] for each in versions] == ["Bob lives in Oslo.", "Bob lives in Rome."]
    to_come = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    answer = http.post(f"/api/agents/cut/at/{quote(to_come)}/search", json=body)
    refused(answer, 422, "InputError")


def test_a_profile_begins_in_the_middle_and_keeps_its_history(http: httpx.Client) -> None:
    fresh = ok(http.get("/api/agents/ann/profile"))
    assert set(fresh["personality"].values()) == {0.5}
    assert (fresh["agent_id"], fresh["background"], fresh["created_at"]) == ("ann", "", None)
    assert "ann" not in {each["agent_id"] for each in ok(http.get("/api/agents"))["agents"]}
    body = {"personality": {"openness": 0.8}, "background": "I am a creative engineer"}
    made = ok(http.put("/api/agents/ann", json=body))
    assert made["personality"] == fresh["personality"] | {"openness": 0.8}
    assert made["background"] == "I am a creative engineer"
    then = datetime.now(UTC).isoformat()
    body = {"personality": {"openness": 0.2, "neuroticism": 0}}
    later = ok(http.put("/api/agents/ann/profile", json=body))
    assert later == ok(http.get("/api/agents/ann/profile"))
    assert later["personality"]["openness"] == 0.2 and later["personality"]["neuroticism"] == 0
    assert later["background"] == made["background"]
    cut = ok(http.get("/api/agents/ann/profile", params={"as_recorded": then}))
    assert cut == made
    assert later in ok(http.get("/api/agents"))["agents"]
    bare = ok(http.put("/api/agents/ann", json={"background": " "}))
    assert bare["background"] == ""


def test_agents_come_a_page_at_a_time(http: httpx.Client) -> None:
    for name in ("p1", "p2", "p3"):
        ok(http.put(f"/api/agents/{name}", json={"background": "I am one."}))
    page = ok(http.get("/api/agents", params={"after": "p1", "limit": 1}))["agents"]
    assert [each["agent_id"] for each in page] == ["p2"]


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


def test_a_write_with_a_key_is_done_once(http: httpx.Client) -> None:
    body = {"agent_id": "key", "items": [{"content": "Said once."}]}
    headers = {"Idempotency-Key": "k-1"}
    first, second = (
        ok(http.post("/api/memories/batch", json=body, headers=headers)) for _ in range(2)
    )
    assert first == second
    assert ok(http.get("/api/agents/key/stats"))["memories"] == 1


@pytest.mark.parametrize(
    ("verb", "path", "body", "status", "title", "says"),
    [
        ("POST", "/api/search", {"agent_id": "a"}, 422, "InputError", "body has no 'query'"),
        ("POST", "/api/search", {"agent_id": "a", "query": " "}, 422, "InputError", "is blank"),
        ("POST", "/api/search", [], 422, "InputError", "body must be an object, got []"),
        ("POST", "/api/agents/a/search", {"query": "x", "n": 1}, 422, "InputError", "member 'n'"),
        ("POST", "/api/agents/a/at/1/search", {"query": "x"}, 422, "InputError", "with its zone"),
        ("POST", "/api/agents/%ff/search", {"query": "x"}, 400, "PathError", "UTF-8"),
        ("GET", "/api/agents/a/facts?x=1", None, 422, "InputError", "'x' is no parameter here"),
        ("GET", "/api/agents?limit=0", None, 422, "InputError", "[1, 1000], got 0"),
        ("GET", "/api/agents?limit=a", None, 422, "InputError", "a whole number, got 'a'"),
        ("GET", "/api/nothing", None, 404, "NoSuchPath", "openapi.json"),
        ("GET", "/api/agents//profile", None, 404, "NoSuchPath", "openapi.json"),
        ("PATCH", "/api/search", {}, 405, "NoSuchVerb", "it takes POST"),
        ("POST", "/healthz", {}, 405, "NoSuchVerb", "it takes GET"),
        ("GET", "/api/agents", {}, 400, "BodyError", "takes no body"),
    ],
)
def test_what_may_not_be_said_is_refused_by_name(
    http: httpx.Client, verb: str, path: str, body: Any, status: int, title: str, says: str
) -> None:
    answer = http.request(verb, path, json=body)
    assert says in refused(answer, status, title)["detail"]


def test_a_body_that_is_not_json_is_refused(http: httpx.Client) -> None:
    as_json = {"content-type": "application/json"}
    for content in (b"", b"{", b"\xff", b'{"a": NaN}', b"[" * 100_000):
        refused(http.post("/api/search", content=content, headers=as_json), 400, "BodyError")
    as_form = {"content-type": "text/plain"}  # a web page may send this without a preflight
    refused(http.post("/api/search", content=b"{}", headers=as_form), 415, "MediaTypeError")


def test_operators_see_that_it_lives_and_what_it_did(http: httpx.Client) -> None:
    assert http.get("/healthz").text == "ok\n"
    assert http.get("/readyz").text == "ready\n"
    ok(http.post("/api/search", json={"agent_id": "user123", "query": "tea"}))
    lines = http.get("/metrics").text.splitlines()
    assert any(
        line.startswith('recollex_recall_stage_seconds_count{stage="total"}') for line in lines
    )
    assert any(line.startswith("recollex_http_connections ") for line in lines)
    assert not any("tea" in line for line in lines)


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
    told = refused(http.post(f"{at}/count", json={"where": {"m": 1}}), 422, "InputError")
    assert "where names 'm'" in told["detail"]
    assert ok(http.post(f"{at}/forget", json={**wanted, "by": "ann"})) == {"count": 2}
    assert ok(http.post(f"{at}/count", json={})) == {"count": 2}
    erased = {"speaker": "nobody", "networks": ["world"], "by": "ann", "why": "asked"}
    assert ok(http.post(f"{at}/erase", json=erased))["memories"] == 0


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
