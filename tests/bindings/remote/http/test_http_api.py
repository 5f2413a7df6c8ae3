"""Memora's section 6 over real HTTP, and recollex's own endpoints."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

import recollex
from tests.bindings.remote.http.http_service import HashedWords, ok, refused, served


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


def test_one_memory_is_answered_with_its_id_and_a_list_with_a_list(http: httpx.Client) -> None:
    path = "/api/agents/posted/memories"
    one = {
        "text": "Bob likes tea.",
        "event_at": "2024-01-02T03:04:05+01:00",
        "network": "opinion",
        "document_id": "call-7",
        "tags": ["tea"],
        "metadata": {"n": 1},
        "source": "user",
    }
    (id,) = ok(http.post(path, json=one)).values()
    memory = ok(http.get(f"{path}/{id}"))
    assert {name: memory[name] for name in one} == one | {"event_at": "2024-01-02T02:04:05+00:00"}
    assert ok(http.post(path, json={"text": "Al.", "id": "al"})) == {"id": "al"}
    several = [{"text": "Ann.", "id": "ann"}, {"text": "Ned.", "document_id": "d", "id": "ned"}]
    assert ok(http.post(path, json=several)) == {"ids": ["ann", "ned"]}
    listed = ok(http.get(path))["memories"]
    assert [each["document_id"] for each in listed] == ["call-7", None, None, "d"]
    assert (
        "a list of length >= 1, got []"
        in refused(http.post(path, json=[]), 422, "InputError")["detail"]
    )
    keyed = {"Idempotency-Key": "once"}
    first, second = (ok(http.post(path, json={"text": "Once."}, headers=keyed)) for _ in range(2))
    assert first == second


def test_vectors_of_the_callers_own_are_stored_and_searched(tmp_path: Path) -> None:
    def vector(place: int) -> list[float]:
        return [float(place == each) for each in range(8)]

    def refused_for(answer: httpx.Response, said: str) -> None:
        assert said in refused(answer, 422, "InputError")["detail"]

    with (
        served(tmp_path, embedder=recollex.GivenVectors(8)) as running,
        running.http() as client,
    ):
        path = "/api/agents/a/memories"
        assert ok(client.post(path, json={"text": "Tea.", "id": "tea", "embedding": vector(0)}))
        pair = [{"text": f"{n}", "id": f"{n}", "embedding": vector(n)} for n in (1, 2)]
        assert ok(client.post(path, json=pair)) == {"ids": ["1", "2"]}
        items = [{"content": "Milk.", "id": "milk", "embedding": vector(3)}]
        assert ok(client.post("/api/memories/batch", json={"agent_id": "a", "items": items}))
        for id, place in (("tea", 0), ("2", 2), ("milk", 3)):
            body = {"query": "Which?", "query_embedding": vector(place), "exact": True}
            assert ok(client.post("/api/agents/a/search", json=body))["memories"][0]["id"] == id
        refused_for(client.post(path, json=[pair[0], {"text": "x"}]), "memory 1 has none")
        refused_for(client.post(path, json={"text": "x", "embedding": [1.0] * 7}), "shape (1, 8)")
        refused_for(client.post(path, json={"text": "x", "embedding": [0] * 8}), "all zeros")
        refused_for(client.post(path, json={"text": "x", "embedding": ["1"] * 8}), "embedding[0]")
        body = {"query": "x", "query_embedding": [1.0] * 9}
        refused_for(client.post("/api/agents/a/search", json=body), "shape (8,)")


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


@pytest.mark.parametrize("reranker", ["none", "heuristic", "heuristic-corrected", "cross-encoder"])
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


def test_heuristic_is_memoras_as_printed_and_the_corrected_one_has_its_own_name(
    http: httpx.Client,
) -> None:
    ok(http.put("/api/agents/old", json={}))
    now = datetime(2024, 6, 1, tzinfo=UTC)
    items = [
        {"content": f"The {name} van broke down.", "id": name, "event_date": at.isoformat()}
        for name, at in (("old", now - timedelta(days=900)), ("new", now - timedelta(days=1)))
    ]
    before = (now - timedelta(days=400)).isoformat()
    for n in range(20):  # what the question matches less, so that the two are close to each other
        text = f"Ann sold {n} of the apples from a van, then cherries and pears."
        items.append({"content": text, "id": f"apples{n}", "event_date": before})
    ok(http.post("/api/memories/batch", json={"agent_id": "old", "items": items}))
    body = {"query": "What became of the van?", "now": now.isoformat(), "preset": "tempr"}
    for reranker, first in (("heuristic", "old"), ("heuristic-corrected", "new")):
        found = ok(http.post("/api/agents/old/search", json=body | {"reranker": reranker}))
        assert found["memories"][0]["id"] == first


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


def test_several_agents_are_searched_together(http: httpx.Client) -> None:
    told = {"hanna": "I am allergic to peanuts.", "team-h": "The kitchen has a peanut jar."}
    for name, said in told.items():
        ok(http.post(f"/api/agents/{name}/memories", json={"text": said}))
    question = {"query": "What am I allergic to?", "agents": ["team-h", "hanna"]}
    found = ok(http.post("/api/search/agents", json=question))
    assert (found["memories"][0]["agent"], found["memories"][0]["text"]) == ("hanna", told["hanna"])
    assert found["tokens"] > 0 and found["confidence"] is not None
    few = ok(http.post("/api/search/agents", json=question | {"limit": 1, "reranker": "none"}))
    assert len(few["memories"]) == 1
    for wrong in ({"agents": []}, {"agents": "hanna"}, {"pack": "subgraph"}):
        refused(http.post("/api/search/agents", json=question | wrong), 422, "InputError")
    refused(http.post("/api/search/agents", json={"query": "Tea?"}), 422, "InputError")


def test_an_agent_is_deleted(http: httpx.Client) -> None:
    ok(http.post("/api/agents/short%2Flived/memories", json={"text": "Bob likes tea."}))
    assert ok(http.delete("/api/agents/short%2Flived")) == {"done": True}
    refused(http.delete("/api/agents/short%2Flived"), 404, "UnknownIdError")
    assert ok(http.get("/api/agents/short%2Flived/memories"))["memories"] == []


def test_a_write_with_a_key_is_done_once(http: httpx.Client) -> None:
    body = {"agent_id": "key", "items": [{"content": "Said once."}]}
    headers = {"Idempotency-Key": "k-1"}
    first, second = (
        ok(http.post("/api/memories/batch", json=body, headers=headers)) for _ in range(2)
    )
    assert first == second
    assert ok(http.get("/api/agents/key/stats"))["memories"] == 1


def test_another_write_with_the_key_of_an_earlier_one_is_refused(http: httpx.Client) -> None:
    agent, keyed = "/api/agents/other", {"Idempotency-Key": "k-2"}
    tea = {"text": "Ann likes tea.", "id": "m1", "metadata": {"a": 1, "b": [2, {"c": 3, "d": 4}]}}
    first = ok(http.post(f"{agent}/memories", json=tea, headers=keyed))
    others = [
        ("POST", f"{agent}/memories", tea | {"text": "Ann likes ale."}),
        ("POST", f"{agent}/memories", tea | {"id": "m2"}),
        ("POST", f"{agent}/memories", tea | {"metadata": {"a": 1, "b": [2, {"c": 3, "d": 5}]}}),
        ("POST", f"{agent}/memories", tea | {"metadata": {"a": True, "b": tea["metadata"]["b"]}}),
        ("POST", f"{agent}/memories", tea | {"event_at": "2024-05-01T00:00:00Z"}),
        ("POST", f"{agent}/memories", [tea]),
        ("POST", "/api/memories/batch", {"agent_id": "other", "items": [{"content": "Tea."}]}),
        ("POST", f"{agent}/forget", {"id": ["m1"]}),
        ("POST", f"{agent}/expire", None),
        ("DELETE", f"{agent}/memories/m1", None),
        ("DELETE", agent, None),
    ]
    for verb, path, body in others:
        told = refused(http.request(verb, path, json=body, headers=keyed), 422, "InputError")
        assert "key 'k-2' was given to another call before, of retain" in told["detail"], path
        assert "give every write a key of its own" in told["detail"]
    swapped = dict(reversed(tea.items())) | {"metadata": {"b": [2, {"d": 4, "c": 3}], "a": 1}}
    assert ok(http.post(f"{agent}/memories", json=swapped, headers=keyed)) == first
    [held] = ok(http.get(f"{agent}/memories"))["memories"]
    assert (held["id"], held["text"]) == ("m1", "Ann likes tea.")
    elsewhere = ok(http.post("/api/agents/third/memories", json=tea, headers=keyed))
    assert elsewhere == first  # a key is of one agent
    assert ok(http.get("/api/agents/third/stats"))["memories"] == 1


M = "/api/agents/a/memories"


@pytest.mark.parametrize(
    ("verb", "path", "body", "status", "title", "says"),
    [
        ("POST", "/api/search", {"agent_id": "a"}, 422, "InputError", "body has no 'query'"),
        ("POST", "/api/search", {"agent_id": "a", "query": " "}, 422, "InputError", "is blank"),
        (
            "POST",
            M,
            {"content": "x"},
            422,
            "InputError",
            "'content': did you mean 'text'? known are text,",
        ),
        ("POST", M, {"text": "x", "tag": []}, 422, "InputError", "'tag': did you mean 'tags'?"),
        ("POST", M, {"text": 3}, 422, "InputError", "body.text must be a text, got 3"),
        (
            "POST",
            M,
            [{"text": "x"}, {"text": ""}],
            422,
            "InputError",
            "body[1].text must be a text of length >= 1, got ''",
        ),
        ("POST", M, "x", 422, "InputError", "body must be an object or a list, got 'x'"),
        ("POST", "/api/search", {"agent": "a", "query": "x"}, 422, "InputError", "'agent_id'?"),
        ("POST", "/api/search", [], 422, "InputError", "body must be an object, got []"),
        ("POST", "/api/agents/a/search", {"query": "x", "n": 1}, 422, "InputError", "member 'n'"),
        ("POST", "/api/agents/a/at/1/search", {"query": "x"}, 422, "InputError", "with its zone"),
        ("POST", "/api/agents/%ff/search", {"query": "x"}, 400, "PathError", "UTF-8"),
        ("GET", "/api/agents/a/facts?x=1", None, 422, "InputError", "unknown member 'x': known"),
        ("GET", "/api/agents?limit=0", None, 422, "InputError", "a whole number >= 1, got 0"),
        ("GET", "/api/agents?limit=a", None, 422, "InputError", "a whole number, got 'a'"),
        ("GET", "/api/agents?limitt=1", None, 422, "InputError", "'limitt': did you mean 'limit'?"),
        ("GET", "/api/agents/a/stats?x=1", None, 422, "InputError", "'x': there is none"),
        (
            "GET",
            "/api/nothing",
            None,
            404,
            "NoSuchPath",
            "nothing at '/api/nothing': /docs and /open",
        ),
        (
            "GET",
            "/api/agents/a/memory",
            None,
            404,
            "NoSuchPath",
            "did you mean /api/agents/a/memories?",
        ),
        ("GET", "/api/agents/", None, 404, "NoSuchPath", "did you mean /api/agents?"),
        ("GET", "/doc", None, 404, "NoSuchPath", "did you mean /docs?"),
        ("POST", "/api/agents/a/recall", {}, 404, "NoSuchPath", "mean /api/agents/a/search?"),
        ("POST", "/api/agents/a/retain", {}, 404, "NoSuchPath", "mean /api/agents/a/memories?"),
        ("GET", "/api/agents/anna/fax", None, 404, "NoSuchPath", "'/api/agents/anna/fax': /docs"),
        ("GET", "/api/agents//memory", None, 404, "NoSuchPath", "'/api/agents//memory': /docs"),
        ("GET", "/api/agents//profile", None, 404, "NoSuchPath", "openapi.json"),
        ("PATCH", "/api/search", {}, 405, "NoSuchVerb", "it takes POST, got PATCH"),
        ("GET", "/api/rpc", None, 405, "NoSuchVerb", "it takes POST, got GET"),
        (
            "POST",
            "/api/search",
            {"query": "x", "agent_id": "a", "now": 7},
            422,
            "InputError",
            "zone, such",
        ),
        ("PATCH", f"{M}/m", {"valid_until": 7}, 422, "InputError", "09:30:00Z or null, got 7"),
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
    told = refused(http.post("/api/search", content=b"{}", headers=as_form), 415, "MediaTypeError")
    assert "got 'text/plain': send the header Content-Type: application/json" in told["detail"]


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
