"""The endpoints that look into a memory, over HTTP."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from recollex.remote.server.access import Access
from recollex.remote.server.telemetry import Telemetry
from tests.bindings.pages.studio.told_store import NASTY, day, tell
from tests.bindings.remote.http.http_service import served

SECRETS = {"all": "a secret of the studio", "one": "a secret for one agent"}


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("inspection")
    tell(folder / "store", 20)
    tokens = folder / "tokens.toml"
    tokens.write_text(
        f'[[token]]\nname = "all"\nsecret = "{SECRETS["all"]}"\n'
        f'[[token]]\nname = "one"\nsecret = "{SECRETS["one"]}"\nagents = ["alice"]\n'
    )
    tokens.chmod(0o600)
    access, telemetry = Access.from_file(tokens), Telemetry()
    with served(folder / "store", access=access, telemetry=telemetry) as running:
        telemetry.add_service_gauges(running.service)
        with running.http(headers={"Authorization": f"Bearer {SECRETS['all']}"}) as client:
            yield client


def get(http: httpx.Client, path: str, agent: str = "alice", **query: Any) -> Any:
    answer = http.get(f"/api/agents/{agent}/{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def texts(memories: list[Any]) -> list[str]:
    return [memory["id"] for memory in memories]


def test_agents_are_counted_a_page_at_a_time(http: httpx.Client) -> None:
    found = http.get("/api/summaries").json()
    assert [each["id"] for each in found["agents"]] == ["alice", "team/one"]
    assert found["count"] == 2 and found["agents"][1]["memories"] == 1
    page = http.get("/api/summaries", params={"after": "alice", "limit": 1}).json()
    assert [each["id"] for each in page["agents"]] == ["team/one"]
    names = http.get("/api/summaries", params={"counts": "false"}).json()
    assert names == {"agents": [{"id": "alice"}, {"id": "team/one"}], "count": 2}
    one = {"Authorization": f"Bearer {SECRETS['one']}"}
    assert http.get("/api/summaries", headers=one).json()["count"] == 1
    assert http.get("/api/agents/team%2Fone/health", headers=one).status_code == 403
    assert http.get("/api/summaries", headers={"Authorization": "Bearer no"}).status_code == 401


def test_the_clocks_have_every_moment(http: httpx.Client) -> None:
    clocks = get(http, "clocks")
    assert len(clocks["recorded"]["moments"]) == len(clocks["recorded"]["memories"]) == 28
    assert clocks["world"]["moments"][0] == day(0).isoformat()
    few = get(http, "clocks", most=5)
    assert [len(few[name]["moments"]) for name in ("recorded", "world")] == [5, 5]
    assert get(http, "clocks", "nobody")["recorded"] == {"moments": [], "memories": []}


def test_neighbours_are_those_of_the_cut(http: httpx.Client) -> None:
    near = get(http, "memories/m8/neighbours", limit=3)
    assert {each["entity"] for each in near["named"]} >= {"Ann", "Bob"}
    assert all("m8" not in texts(each["memories"]) for each in near["named"])
    assert near["in_time"] == [] and near["alike"][0]["cosine"] > 0.5
    past = get(http, "memories/m8/neighbours", limit=99, as_recorded=day(8.5).isoformat())
    known = {f"m{n}" for n in range(8)}
    assert {id for each in past["named"] for id in texts(each["memories"])} <= known
    world = get(http, "memories/m8/neighbours", limit=99, as_world=day(3).isoformat())
    begun = {id for each in world["named"] for id in texts(each["memories"])}
    assert begun and begun <= {f"m{n}" for n in range(4)}
    missing = http.get("/api/agents/alice/memories/nothing/neighbours")
    assert (missing.status_code, missing.json()["title"]) == (404, "UnknownIdError")
    assert http.get("/api/agents/nobody/memories/m8/neighbours").status_code == 404


def test_origins_say_who_wrote_each_version(http: httpx.Client) -> None:
    entries = get(http, "memories/m4/origins")["entries"]
    assert [(each["kind"], each["by"], each["why"]) for each in entries] == [
        ("retain", None, None),
        ("correct", "ann", "it broke"),
    ]
    versions = get(http, "memories/m4/history")["memories"]
    assert [each["recorded_at"] for each in versions] == [each["recorded_at"] for each in entries]
    assert [each["payload"] for each in entries] == [None, None]
    then = day(9).isoformat()
    before = get(http, "memories/m4/origins", as_recorded=then)["entries"]
    assert [each["kind"] for each in before] == ["retain"]
    assert get(http, "memories/m4/history", as_recorded=then)["memories"][0]["closed"] is None
    assert http.get("/api/agents/alice/memories/m6/origins").status_code == 404  # forgotten


def test_the_newest_log_is_paged(http: httpx.Client) -> None:
    whole = get(http, "log")["entries"][::-1]
    assert get(http, "log/newest", limit=1000)["entries"] == whole
    page = get(http, "log/newest", limit=4, before=whole[3]["op"])["entries"]
    assert page == whole[4:8]
    kinds = {each["kind"] for each in get(http, "log/newest", op="archive")["entries"]}
    assert kinds == {"archive"}
    past = get(http, "log/newest", as_recorded=day(5).isoformat())["entries"]
    assert past[0]["ids"] == ["m4"]
    wrong = http.get("/api/agents/alice/log/newest", params={"op": "archived"})
    assert wrong.status_code == 422 and "op must be some of" in wrong.json()["detail"]


def test_two_cuts_are_compared_on_both_clocks(http: httpx.Client) -> None:
    found = get(http, "compare", earlier=day(10.05).isoformat())
    assert set(texts(found["closed"])) == {"m4", "m5", "m6"}
    assert texts(found["added"]) == [f"m{n}" for n in range(10, 20)] + ["nasty", "m4"]
    assert [fact["subject"] for fact in found["added_facts"]] == ["Ann", NASTY]
    assert found["counts"]["added"] == 12 and found["counts"]["added_events"] == 1
    some = get(http, "compare", earlier=day(10.05).isoformat(), limit=2)
    assert len(some["added"]) == 2 and some["counts"] == found["counts"]
    same = get(http, "compare", earlier=day(9).isoformat(), later=day(9).isoformat())
    assert set(same["counts"].values()) == {0}
    first, second = day(3).isoformat(), day(6).isoformat()
    world = get(http, "compare", earlier_world=first, later_world=second)
    assert (texts(world["added"]), texts(world["closed"])) == (["m4"], [])  # m5 and m6 are closed
    back = get(http, "compare", earlier_world=second, later_world=first)
    assert (texts(back["added"]), texts(back["closed"])) == ([], ["m4"])
    wrong = http.get("/api/agents/alice/compare", params={"later": first})
    assert wrong.status_code == 422 and "swap them" in wrong.json()["detail"]


def test_the_graph_is_that_of_the_cut(http: httpx.Client) -> None:
    now = get(http, "graph")
    assert {fact["versions"][0]["predicate"] for fact in now["facts"]} == {"lives_in", "likes"}
    past = get(http, "graph", as_recorded=day(5).isoformat(), limit=3)
    assert past["facts"] == [] and [each["id"] for each in past["memories"]] == ["m2", "m3", "m4"]
    assert past["left_out"] == {"facts": 0, "memories": 2}
    about = get(http, "graph", query="Where does Ann live?")
    assert "Ann" in {entity["name"] for entity in about["entities"]}


def test_health_says_how_it_is_kept(http: httpx.Client) -> None:
    kept = get(http, "health")
    assert kept["operations"] == kept["stats"]["operations"] and kept["writer"]
    assert sum(kept["files"].values()) == kept["stats"]["bytes_on_disk"]
    state = http.get("/api/state").json()
    assert state["reader_threads"] > 0 and state["calls"]["agent_health"]["p50"] > 0
    assert http.get("/api/state", headers={"Authorization": ""}).status_code == 401


def test_value_counts_may_be_few(http: httpx.Client) -> None:
    counts = [
        http.post("/api/agents/alice/value_counts", json={"field": "tags", **most}).json()["counts"]
        for most in ({}, {"most": 1})
    ]
    assert len(counts[0]) == 3 and counts[1] == dict(list(counts[0].items())[:1])
