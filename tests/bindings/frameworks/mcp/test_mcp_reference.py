"""`--compat reference` does what MCP's reference memory server does."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import recollex
from tests.bindings.frameworks.mcp.small_servers import called, connected, mcp
from tests.bindings.word_vectors import WordVectors
from tests.imported_later import imported_later

stdio = imported_later("mcp.client.stdio", reason="mcp is not installed")

ENTITY: dict[str, Any] = {
    "name": "Ann",
    "entityType": "person",
    "observations": ["Has a boat."],
}
NAMES = st.sampled_from(["Ann", "ann", "Google Inc", "Google"])
TEXTS = st.sampled_from(["Has a boat.", "Speaks Dutch", "has a boat."])
LISTS = st.lists(TEXTS, max_size=2, unique=True)
KINDS = st.sampled_from(["knows", "works_at"])


def _plain(given: Any) -> str:
    return str(sorted(given.items()) if isinstance(given, dict) else given)


def several(values: Any) -> Any:
    return st.lists(values, min_size=1, max_size=2, unique_by=_plain)


ENTITIES = several(
    st.fixed_dictionaries({"name": NAMES, "entityType": st.just("person"), "observations": LISTS})
).filter(lambda given: len({each["name"] for each in given}) == len(given))
RELATIONS = several(st.fixed_dictionaries({"from": NAMES, "to": NAMES, "relationType": KINDS}))
STEPS = st.one_of(
    st.tuples(st.just("create_entities"), st.fixed_dictionaries({"entities": ENTITIES})),
    st.tuples(st.just("create_relations"), st.fixed_dictionaries({"relations": RELATIONS})),
    st.tuples(
        st.just("add_observations"),
        st.fixed_dictionaries(
            {
                "observations": several(
                    st.fixed_dictionaries({"entityName": NAMES, "contents": LISTS})
                )
            }
        ),
    ),
    st.tuples(
        st.just("delete_observations"),
        st.fixed_dictionaries(
            {
                "deletions": several(
                    st.fixed_dictionaries({"entityName": NAMES, "observations": LISTS})
                )
            }
        ),
    ),
    st.tuples(st.just("delete_entities"), st.fixed_dictionaries({"entityNames": several(NAMES)})),
    st.tuples(st.just("delete_relations"), st.fixed_dictionaries({"relations": RELATIONS})),
    st.tuples(
        st.just("search_nodes"),
        st.fixed_dictionaries({"query": st.sampled_from(["BOAT", "goog", "pers", ""])}),
    ),
    st.tuples(st.just("open_nodes"), st.fixed_dictionaries({"names": several(NAMES)})),
)


class Graph:
    """The reference server's graph in a few lines: lists, searched from their start."""

    def __init__(self) -> None:
        self.entities: list[dict[str, Any]] = []
        self.relations: list[dict[str, str]] = []

    def call(self, tool: str, given: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = getattr(self, tool)(**given)
        return result

    def find(self, name: str) -> dict[str, Any] | None:
        return next((each for each in self.entities if each["name"] == name), None)

    def create_entities(self, entities: list[dict[str, Any]]) -> dict[str, Any]:
        new = [each for each in entities if self.find(each["name"]) is None]
        self.entities += [each | {"observations": [*each["observations"]]} for each in new]
        return {"entities": new}

    def create_relations(self, relations: list[dict[str, str]]) -> dict[str, Any]:
        new = [each for each in relations if each not in self.relations]
        self.relations += new
        return {"relations": new}

    def add_observations(self, observations: list[dict[str, Any]]) -> dict[str, Any]:
        if any(self.find(each["entityName"]) is None for each in observations):
            return {"error": "not found"}
        results = []
        for each in observations:
            held = (self.find(each["entityName"]) or {})["observations"]
            new = [text for text in each["contents"] if text not in held]
            held += new
            results.append({"entityName": each["entityName"], "addedObservations": new})
        return {"results": results}

    def delete_entities(self, entityNames: list[str]) -> dict[str, Any]:  # noqa: N803
        gone = entityNames
        self.entities = [each for each in self.entities if each["name"] not in gone]
        kept = [r for r in self.relations if r["from"] not in gone and r["to"] not in gone]
        self.relations = kept
        return {"success": True, "message": "Entities deleted successfully"}

    def delete_observations(self, deletions: list[dict[str, Any]]) -> dict[str, Any]:
        for each in deletions:
            if (held := self.find(each["entityName"])) is not None:
                kept = [text for text in held["observations"] if text not in each["observations"]]
                held["observations"] = kept
        return {"success": True, "message": "Observations deleted successfully"}

    def delete_relations(self, relations: list[dict[str, str]]) -> dict[str, Any]:
        self.relations = [each for each in self.relations if each not in relations]
        return {"success": True, "message": "Relations deleted successfully"}

    def read_graph(self) -> dict[str, Any]:
        return {"entities": self.entities, "relations": self.relations}

    def search_nodes(self, query: str) -> dict[str, Any]:
        part = query.lower()
        return self.open_nodes(
            [
                each["name"]
                for each in self.entities
                if any(
                    part in text.lower()
                    for text in (each["name"], each["entityType"], *each["observations"])
                )
            ]
        )

    def open_nodes(self, names: list[str]) -> dict[str, Any]:
        found = [each for each in self.entities if each["name"] in names]
        held = {each["name"] for each in found}
        touching = [each for each in self.relations if held & {each["from"], each["to"]}]
        return {"entities": found, "relations": touching}


async def same(client: Any, oracle: Any, steps: list[tuple[str, dict[str, Any]]]) -> None:
    """Let both take the steps, and compare each answer and the graph at the end."""
    for tool, arguments in [*steps, ("read_graph", {})]:
        answered = await called(client, tool, **arguments)
        expected = oracle.call(tool, arguments)
        if not isinstance(expected, dict):
            expected = await expected
        if "error" in expected:
            assert "not found" in answered["error"] and "not found" in expected["error"]
        else:
            expected.pop("text", None)
            answered.pop("text")
            assert answered == expected, (tool, arguments)


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example(
    steps=[
        (
            "create_entities",
            {"entities": [ENTITY, ENTITY | {"name": "GOOGLE", "observations": []}]},
        ),
        ("create_relations", {"relations": [{"from": "x", "to": "GOOGLE", "relationType": "y"}]}),
        ("search_nodes", {"query": "goog"}),
        ("search_nodes", {"query": "has A"}),
    ]
)
@given(steps=st.lists(STEPS, min_size=1, max_size=8))
def test_the_nine_tools_equal_the_reference(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, dict[str, Any]]]
) -> None:
    async def run() -> None:
        path = tmp_path_factory.mktemp("graph") / "memory"
        async with connected(path, reference=True) as client:
            await same(client, Graph(), steps)

    asyncio.run(run())


def test_the_graph_is_recalled_and_keeps_its_past(tmp_path: Path) -> None:
    entity = ENTITY

    async def run() -> None:
        async with connected(tmp_path / "memory", reference=True) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert len(names) == 9
            await called(client, "create_entities", entities=[entity])
            await called(client, "delete_entities", entityNames=["Ann"])
            await called(client, "create_entities", entities=[entity | {"observations": []}])
        async with connected(tmp_path / "memory", reference=True, read_only=True) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert names == {"read_graph", "search_nodes", "open_nodes"}
            graph = await called(client, "read_graph")
            assert graph["entities"] == [entity | {"observations": []}]

    asyncio.run(run())
    with recollex.open(tmp_path / "memory", embedder=WordVectors()) as store:
        agent = store.agent("default")
        first = agent.log(op="retain")[0].recorded_at
        assert [each.text for each in agent.at(first).list()] == ["Ann: person", "Ann: Has a boat."]
        (forgotten,) = agent.log(op="forget")
        assert forgotten.by == "mcp:tester"


class Reference:
    """The reference server itself, over stdio."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def call(self, tool: str, given: dict[str, Any]) -> dict[str, Any]:
        return await called(self._client, tool, **given)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("mcp-server-memory") is None, reason="needs its npm package")
@settings(max_examples=5, deadline=None)
@given(steps=st.lists(STEPS, min_size=4, max_size=12))
def test_the_nine_tools_equal_the_reference_server(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, dict[str, Any]]]
) -> None:
    folder = tmp_path_factory.mktemp("graph")
    server = mcp.StdioServerParameters(
        command="mcp-server-memory", env={"MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
    )

    async def run() -> None:
        async with (
            mcp.Client(stdio.stdio_client(server)) as reference,
            connected(folder / "memory", reference=True) as client,
        ):
            await same(client, Reference(reference), steps)

    asyncio.run(run())
