"""The toolset for Pydantic AI in runs of its own agent, against a dict that the tools fill too."""

import asyncio
import re

import pytest

import recollex
import recollex.aio
from tests.bindings.word_vectors import WordVectors

ai = pytest.importorskip("pydantic_ai", reason="pydantic-ai-slim is not installed")
models = pytest.importorskip("pydantic_ai.models.function", reason="as above")
parts = pytest.importorskip("pydantic_ai.messages", reason="as above")
adapter = pytest.importorskip("recollex.frameworks.pydantic_ai", reason="as above")


def run(toolset, *calls):
    """Let a model call tools one by one; return what each answered."""
    answers = []

    def respond(messages, info):
        kinds = parts.ToolReturnPart | parts.RetryPromptPart
        answers.extend(str(each.content) for each in messages[-1].parts if isinstance(each, kinds))
        offered.update(tool.name for tool in info.function_tools)
        if len(answers) < len(calls):
            name, given = calls[len(answers)]
            given = given(answers) if callable(given) else given
            return parts.ModelResponse(parts=[parts.ToolCallPart(name, given)])
        return parts.ModelResponse(parts=[parts.TextPart("done")])

    offered = set()
    agent = ai.Agent(models.FunctionModel(respond), toolsets=[toolset], retries=3)
    assert asyncio.run(agent.run("Go.")).output == "done"
    return answers, offered


def test_a_model_keeps_a_memory(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        agent = store.agent("a")

        def first_id(answers):
            return re.search(r"remembered as (\S+)", answers[0])[1]

        answers, offered = run(
            adapter.RecollexToolset(agent),
            ("retain", {"text": "Ann rows.", "tags": ["people"]}),
            ("recall", {"query": "Who rows?", "tags": ["people"]}),
            ("correct", lambda seen: {"id": first_id(seen), "text": "Ann sails.", "why": "new"}),
            ("recall", {"query": "What does Ann do?"}),
            ("forget", lambda seen: {"id": first_id(seen), "why": "asked"}),
            ("recall", {"query": "What does Ann do?"}),
            ("forget", {"id": "unknown", "why": "x"}),
            ("retain", {"text": " "}),
        )
        assert offered == {"retain", "recall", "correct", "forget"}
        assert answers[1].startswith(f"[{first_id(answers)}] ") and "Ann rows." in answers[1]
        assert answers[2] == "corrected" and answers[3].endswith("Ann sails.")
        assert answers[4] == "forgotten" and answers[5] == "Nothing is known about that."
        assert "unknown" in answers[6] and "text is empty" in answers[7]
        assert [entry.by for entry in agent.log(op=["forget"])] == ["pydantic-ai"]


def test_it_can_be_offered_read_only_and_serves_asyncio(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        store.agent("a").retain("Ann rows.")

    async def tool():
        async with recollex.aio.open(tmp_path / "s", embedder=WordVectors()) as store:
            toolset = adapter.RecollexToolset(await store.agent("a"), read_only=True)
            assert sorted(toolset.tools) == ["recall"]
            return await toolset.tools["recall"].function("Who rows?")

    assert asyncio.run(tool()).endswith("Ann rows.")
