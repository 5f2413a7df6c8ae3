"""The tools, resources and prompts of the MCP server, by the real client."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import recollex
from tests.bindings.frameworks.mcp.small_servers import called, connected, mcp, mcp_types, stores
from tests.bindings.word_vectors import WordVectors
from tests.scripted_llm import Step, scripted

WRITING = {"retain", "correct", "forget"}
EPISODIC = {
    *("semantic_retrieve", "lexical_retrieve", "find_gist_contexts", "find_entity_contexts"),
}
READING = {"recall", "get", "history", "facts", "timeline", "think"} | EPISODIC


def talk(path: Path, work: Callable[[Any], Awaitable[Any]], **options: Any) -> Any:
    async def run() -> Any:
        async with connected(path / "memory", **options) as client:
            return await work(client)

    return asyncio.run(run())


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_memory_is_retained_recalled_corrected_and_forgotten(tmp_path: Path, mode: str) -> None:
    async def work(client: Any) -> None:
        made = await called(
            client, "retain", text="Ann has a boat.", event_at="2024-05-01", tags=["home"]
        )
        id = made["id"]
        found = await called(client, "recall", query="Who has a boat?", tags=["home"])
        assert found["text"] == f"{id} [May 01, 2024] Ann has a boat."
        assert [each["text"] for each in found["memories"]] == ["Ann has a boat."]
        assert (await called(client, "get", id=id))["memory"]["tags"] == ["home"]
        await called(client, "correct", id=id, text="Ann has two boats.", why="She bought one.")
        versions = (await called(client, "history", id=id))["versions"]
        assert [each["text"] for each in versions] == ["Ann has a boat.", "Ann has two boats."]
        ended = versions[0]["closed"]
        assert (ended["by"], ended["why"]) == ("mcp:tester", "She bought one.")
        assert (await called(client, "forget", id=id))["forgotten"] == 1
        assert (await called(client, "recall", query="boat"))["text"] == "Nothing was found."

    talk(tmp_path, work, mode=mode)


def test_a_greeting_recalls_nothing_unless_it_is_wanted(tmp_path: Path) -> None:
    async def work(client: Any) -> None:
        await called(client, "retain", text="Ann has a boat.")
        found = await called(client, "recall", query="Hi!")
        assert (found["text"], found["memories"]) == ("Nothing was found.", [])
        assert (await called(client, "recall", query="Hi!", min_confidence=0))["memories"]

    talk(tmp_path, work)


def test_errors_name_the_bound_and_the_value(tmp_path: Path) -> None:
    async def work(client: Any) -> None:
        for tool, arguments, expected in (
            ("get", {"id": "nope"}, "has no memory with id 'nope'"),
            ("history", {"id": "nope"}, "'nope'"),
            ("forget", {"id": ""}, "id"),
            ("recall", {"query": "a", "limit": 0}, "greater than or equal to 1"),
            ("recall", {"query": "a", "min_confidence": 2}, "less than or equal to 1"),
            ("recall", {"query": "a", "since": "yesterday"}, "since must be written as"),
            ("recall", {"query": "a" * 20_001}, "20,001"),
            ("recall", {"query": ""}, "query"),
            ("retain", {"text": ""}, "text"),
            (
                "retain",
                {"text": "a", "tag": "b"},
                "retain has no argument 'tag', did you mean 'tags'",
            ),
            (
                "find_entity_contexts",
                {"subjct": "Ann"},
                "did you mean 'subject'? It takes subject,",
            ),
            ("retain", {"text": "a", "network": "dreams"}, "'world', 'agent' or 'opinion'"),
            ("recall", {}, "recall: query is missing"),
            ("recall", {"query": "a", "limit": "all"}, "as an integer, got 'all'"),
            ("recal", {"query": "a"}, "Unknown tool: recal, did you mean 'recall'? There are rec"),
        ):
            said = (await called(client, tool, **arguments))["error"]
            assert expected in said.replace("20001", "20,001"), (tool, said)
            assert "\n" not in said and "pydantic" not in said, said

    talk(tmp_path, work)


def test_schemas_admit_no_further_arguments(tmp_path: Path) -> None:
    async def work(client: Any) -> None:
        tools = (await client.list_tools()).tools
        assert tools and not any(tool.input_schema["additionalProperties"] for tool in tools)

    talk(tmp_path, work)


def test_facts_and_the_timeline(tmp_path: Path) -> None:
    with recollex.open(tmp_path / "memory", embedder=WordVectors()) as store:
        agent = store.agent("default")
        agent.facts.add("Ann", "lives_in", "Oslo", valid=("2023-01-01T00:00:00Z", None))
        agent.facts.add("Ben", "likes", "tea")
        agent.events.add("Ann moved to Oslo.", participants=["Ann"], span="January 2023")
        agent.retain("Ann sold her boat.", event_at="2024-02-01T00:00:00Z")
        agent.retain("Ann bought a boat.", event_at="2021-02-01T00:00:00Z")
        agent.events.add("The world ends.", span=("9999-12-31T12:00:00Z", None))

    async def work(client: Any) -> None:
        found = await called(client, "facts", subject="Ann")
        assert [each["object"] for each in found["facts"]] == ["Oslo"]
        assert "Ann lives_in Oslo from 2023-01-01" in found["text"]
        asked = await called(client, "facts", query="Who likes tea?", limit=1)
        assert asked["facts"][0]["subject"] == "Ben"
        for about in (None, "Ann boat Oslo"):
            told = (await called(client, "timeline", about=about))["text"].splitlines()
            assert [line.split("] ")[1] for line in told] == [
                "Ann bought a boat.",
                "Ann moved to Oslo.",
                "Ann sold her boat.",
                "The world ends.",
            ]
        later = await called(client, "timeline", since="2023-06-01", until="2025-01-01")
        assert [each["text"] for each in later["entries"]] == ["Ann sold her boat."]

    talk(tmp_path, work)


def test_the_past_is_asked(tmp_path: Path) -> None:
    with recollex.open(tmp_path / "memory", embedder=WordVectors()) as store:
        agent = store.agent("default")
        for day, text in enumerate(["Carol runs the maps team.", "Dana runs the maps team."], 1):
            agent.retain(text, id="lead", recorded_at=f"2024-05-0{day}T00:00:00Z")

    async def work(client: Any) -> None:
        query = {"query": "Who runs the maps team?", "as_recorded": "2024-05-01T12:00"}
        assert "Carol" in (await called(client, "recall", **query))["text"]
        then = await called(client, "get", id="lead", as_recorded="2024-05-01T12:00")
        assert "Carol" in then["text"]

    talk(tmp_path, work)


def test_it_thinks_with_a_model_and_shows_its_memories_without(tmp_path: Path) -> None:
    async def ask(client: Any) -> dict[str, Any]:
        await called(client, "retain", text="Ann has a red boat in Oslo.", id="boat")
        return await called(client, "think", question="Who has a red boat in Oslo?")

    alone = talk(tmp_path, ask)
    assert "recollex mcp --llm NAME" in alone["text"] and "a red boat" in alone["text"]
    with (
        scripted([Step("Ann has one [m1].")]) as served,
        recollex.llm("m", base_url=served.url, key="none") as llm,
    ):
        thought = talk(tmp_path, ask, llm=llm)
    assert thought["answer"] == thought["text"] == "Ann has one [m1]."
    assert [each["id"] for each in thought["cited"]] == ["boat"]


def test_a_read_only_server_offers_what_reads(tmp_path: Path) -> None:
    async def names(client: Any) -> set[str]:
        prompts = {each.name for each in (await client.list_prompts()).prompts}
        assert prompts >= {"known_about", "newest"}
        assert ("remember" in prompts) is not read_only
        return {tool.name for tool in (await client.list_tools()).tools}

    for read_only in (True, False):
        offered = talk(tmp_path, names, read_only=read_only)
        assert offered == READING | (set() if read_only else WRITING)
    assert not (tmp_path / "memory").exists()


def test_tools_say_whether_they_change_anything(tmp_path: Path) -> None:
    async def work(client: Any) -> None:
        for tool in (await client.list_tools()).tools:
            assert tool.annotations is not None and tool.description
            assert tool.annotations.read_only_hint is (tool.name in READING)
            assert "context" not in tool.input_schema["properties"]

    talk(tmp_path, work)


def test_each_client_has_its_own_agent_if_asked(tmp_path: Path) -> None:
    async def tell(client: Any) -> None:
        await called(client, "retain", text="Ann has a boat.")

    async def ask(client: Any) -> str:
        return str((await called(client, "recall", query="boat"))["text"])

    for mode in ("legacy", "auto"):
        talk(tmp_path, tell, agent=None, client="claude-code", mode=mode)
    assert "Ann" in talk(tmp_path, ask, agent=None, client="claude-code")
    assert talk(tmp_path, ask, agent=None, client="cursor") == "Nothing was found."
    with recollex.open(tmp_path / "memory", read_only=True, embedder=WordVectors()) as store:
        assert store.agents() == ["claude-code"]


def test_resources_show_the_agent_and_its_memories(tmp_path: Path) -> None:
    async def work(client: Any) -> None:
        await called(client, "retain", text="Ann has a boat.", id="a/b 1")

        async def read(uri: str) -> Any:
            return json.loads((await client.read_resource(uri)).contents[0].text)

        listed = [each.uri for each in (await client.list_resources()).resources]
        assert listed == ["recollex://agents"]
        assert (await read("recollex://agents"))["agent"] == "default"
        templates = (await client.list_resource_templates()).resource_templates
        assert len(templates) == 2
        held = await read("recollex://agents/default")
        assert held["memories"] == 1 and held["newest"][0]["id"] == "a/b 1"
        one = await read("recollex://agents/default/memories/a%2Fb%201")
        assert one["memory"]["text"] == "Ann has a boat." and len(one["history"]) == 1
        for wrong in ("recollex://agents/other", "recollex://agents/default/memories/nope"):
            with pytest.raises(mcp.MCPError, match=r"other|nope"):
                await client.read_resource(wrong)

    talk(tmp_path, work)


def test_prompts_hold_what_is_known(tmp_path: Path) -> None:
    async def work(client: Any) -> None:
        await called(client, "retain", text="Ann has a boat.")
        for name, arguments in (("known_about", {"topic": "boats"}), ("newest", {})):
            prompt = await client.get_prompt(name, arguments)
            assert "Ann has a boat." in prompt.messages[0].content.text
        assert (await client.get_prompt("remember")).messages

    talk(tmp_path, work)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_prompt_that_cannot_be_made_says_why(tmp_path: Path, mode: str) -> None:
    async def work(client: Any) -> None:
        for name, arguments, said in (
            ("nope", {}, "['known_about', 'newest', 'remember'], got 'nope'"),
            ("known_about", {"about": "x"}, "needs 'topic', got ['about']"),
            ("known_about", {"topic": "a" * 20_001}, "20,001"),
            ("known_about", {"topic": ""}, "query"),
        ):
            with pytest.raises(mcp.MCPError) as raised:
                await client.get_prompt(name, arguments)
            assert raised.value.error.code == mcp_types.INVALID_PARAMS
            assert said in raised.value.error.message.replace("20001", "20,001")

    talk(tmp_path, work, mode=mode)


def test_two_servers_write_one_agent(tmp_path: Path) -> None:
    """Each session of an assistant starts a server; none keeps the agent locked."""

    async def work() -> None:
        path = tmp_path / "memory"
        async with connected(path) as one, connected(path) as other:
            for number in range(2):
                for client in (one, other):
                    said = await called(client, "retain", text=f"Note {number}.", id=f"n{number}")
                    assert "error" not in said
            for client in (one, other):
                found = await called(client, "recall", query="Note")
                assert len(found["memories"]) == 2

    asyncio.run(work())


def test_a_folder_is_left_when_nothing_is_written(tmp_path: Path) -> None:
    opened = stores.SharedFolder(str(tmp_path / "memory"), read_only=False, embedder=WordVectors())
    assert opened.reading("default").count() == 0
    opened.write("default", lambda agent: agent.retain("Ann has a boat."))
    assert opened.reading("default").count() == 1
    opened.close()
    with recollex.open(tmp_path / "memory", embedder=WordVectors()) as store:
        assert store.agent("default").count() == 1


def test_what_is_retained_has_the_source_of_the_server(tmp_path: Path) -> None:
    async def work(client: Any) -> None:
        await called(client, "retain", text="Ann has a boat.")
        found = await called(client, "recall", query="boat")
        assert "; source: assistant]" in found["text"]
        assert found["memories"][0]["trust"] == "assistant"

    talk(tmp_path, work, source="assistant")


def test_the_episodic_tools_are_those_of_an_agent(tmp_path: Path) -> None:
    """Names, texts, choices and defaults are those of the agent's schemas."""
    with recollex.open(tmp_path / "memory", embedder=WordVectors()) as store:
        agent = store.agent("default")
        schemas = {each["name"]: each for each in agent.tools.schemas("mcp")}
        gist = agent.retain("Ann bought three cows.", id="cows")
        agent.facts.add("Ann", "bought", "cows", evidence=gist, valid="in May 2024")

    async def work(client: Any) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert schemas.keys() - {"output_answer"} == EPISODIC <= tools.keys()
        for name in EPISODIC:
            theirs, ours = schemas[name]["inputSchema"], tools[name].input_schema
            assert tools[name].description == schemas[name]["description"]
            assert ours.get("required", []) == theirs["required"]
            assert ours["properties"].keys() == theirs["properties"].keys()
            for key, value in theirs["properties"].items():
                own = ours["properties"][key]
                choices = own.get("enum") or own.get("anyOf", [{}])[0].get("enum")
                assert own["description"] == value["description"]
                assert own.get("default") == value.get("default")
                assert choices is None or choices == value["enum"]
        for tool, arguments in (
            ("semantic_retrieve", {"query": "cows"}),
            ("lexical_retrieve", {"query": "Ann bought cows", "start_time": "2024-05"}),
            ("find_gist_contexts", {"gist_id": "cows"}),
            ("find_entity_contexts", {"predicate": "bought", "ordering": "asc"}),
        ):
            found = await called(client, tool, **arguments)
            assert found["facts"][0]["object"] == "cows" and "(Ann, bought, cows)" in found["text"]
        counted = await called(
            client, "find_entity_contexts", predicate="bought", aggregation="count"
        )
        assert counted["count"] == 1 and counted["text"]
        nothing = await called(client, "find_entity_contexts", predicate="sold")
        assert nothing["facts"] == [] and nothing["text"]
        assert "'nope'" in (await called(client, "find_gist_contexts", gist_id="nope"))["error"]
        assert "subject" in (await called(client, "find_entity_contexts"))["error"]

    talk(tmp_path, work)
