"""The tools over HTTP: what a model asks for, and the schemas by which it is told."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from recollex.api.tool_texts import ARGUMENTS, TOOLS
from recollex.api.tools import FORMS, Tools, tool_schemas
from tests.bindings.remote.http.http_service import ok, refused, served
from tests.bindings.word_vectors import WordVectors

FACT = {"op": "UPSERT_EDGE", "subject": "E95", "predicate": "was the R11 of", "object": "E57"}


def test_every_tool_answers(tmp_path: Path) -> None:
    with served(tmp_path, embedder=WordVectors()) as server, server.http() as http:
        ok(http.post("/api/agents/ada/memories", json={"text": "E95 led E57."}))
        ok(
            http.post(
                "/api/agents/ada/operations",
                json={"operations": [FACT | {"valid": ["2020-01-15", "2022-03-21"]}]},
            )
        )

        def use(name: str, **given: Any) -> Any:
            return ok(http.post(f"/api/agents/ada/tools/{name}", json=given))

        assert use("semantic_retrieve", query="E95")["facts"][0]["object"] == "E57"
        found = use("lexical_retrieve", query="R11", limit=1, start_time="2020", max_tokens=500)
        assert found["facts"][0]["qualifiers"]["start_time"] == "2020-01-15"
        assert "E95, was the R11 of, E57" in found["prompt"]
        gist = use("lexical_retrieve", query="led")["gists"][0]["id"]
        assert use("find_gist_contexts", gist_id=gist)["gists"] == []
        assert use("find_entity_contexts", object="E57", aggregation="count")["count"] == 1
        assert use("output_answer", answer=95) == {"answer": "95"}
        told = ok(http.get("/api/agents/ada/tools?form=mcp"))["tools"]
        assert told == tool_schemas(Tools, "mcp")
        wrong = http.post("/api/agents/ada/tools/lexical_retrieve", json={"qery": "R11"})
        assert "did you mean 'query'" in refused(wrong, 422, "InputError")["detail"]
        unknown = http.post("/api/agents/ada/tools/find_gist_contexts", json={"gist_id": "no"})
        refused(unknown, 404, "UnknownIdError")


@pytest.mark.parametrize("form", FORMS)
def test_a_schema_holds_what_the_signature_says(form: str) -> None:
    for tool in tool_schemas(Tools, form):
        body = tool.get("function", tool)
        schema = body.get("parameters", body.get("inputSchema"))
        jsonschema.Draft202012Validator.check_schema(schema)
        assert list(schema["properties"]) == list(ARGUMENTS[body["name"]])
        assert body["description"] == TOOLS[body["name"]]
    assert [tool.get("function", tool)["name"] for tool in tool_schemas(Tools, form)] == list(TOOLS)


def test_the_schemas_have_the_arguments_of_the_paper() -> None:
    paging = ["limit", "ordering", "offset", "aggregation"]
    window = ["start_time", "end_time", "start_operator", "end_operator"]
    assert {name: sorted(given) for name, given in ARGUMENTS.items()} == {
        "semantic_retrieve": sorted(["query", *window]),
        "lexical_retrieve": sorted(["query", *window]),
        "find_gist_contexts": sorted(["gist_id", *window]),
        "find_entity_contexts": sorted(["subject", "object", "predicate", *window, *paging]),
        "output_answer": ["answer"],
    }
    by_name = {tool["name"]: tool["inputSchema"] for tool in tool_schemas(Tools, "mcp")}
    assert by_name["find_entity_contexts"]["required"] == []
    assert by_name["find_gist_contexts"]["required"] == ["gist_id"]
    assert by_name["lexical_retrieve"]["properties"]["start_operator"]["default"] == "ge"
    assert by_name["lexical_retrieve"]["properties"]["end_operator"]["default"] == "le"
