"""The adapter for AutoGen against AutoGen's `ListMemory`."""

import asyncio

import pytest

import recollex
import recollex.aio
from recollex_engine.errors import InputError
from tests.bindings.word_vectors import WordVectors

memories = pytest.importorskip("autogen_core.memory", reason="autogen-core is not installed")
models = pytest.importorskip("autogen_core.models", reason="autogen-core is not installed")
contexts = pytest.importorskip("autogen_core.model_context", reason="as above")
adapter = pytest.importorskip("recollex.frameworks.autogen", reason="as above")

CONTENTS = [
    ("Ann drinks tea.", "text/plain", {"n": 1}),
    ("# Bob rows.", memories.MemoryMimeType.MARKDOWN, None),
    ({"city": "Oslo", "n": [1, 2.5]}, memories.MemoryMimeType.JSON, {}),
    ("Ann drinks tea.", memories.MemoryMimeType.TEXT, {"n": 1}),
]


def content(text, mime, metadata):
    return memories.MemoryContent(content=text, mime_type=mime, metadata=metadata)


def told(result):
    return [each.model_dump() for each in result.results]


def test_it_holds_what_their_list_holds(tmp_path):
    async def run():
        async with recollex.aio.open(tmp_path / "s", embedder=WordVectors()) as store:
            agent = await store.agent("a")
            ours, theirs = adapter.RecollexMemory(agent), memories.ListMemory()
            await agent.retain("Not of AutoGen.")
            for memory in (ours, theirs):
                assert told(await memory.query("")) == []
                for each in CONTENTS:
                    await memory.add(content(*each))
            assert told(await ours.query("")) == told(await theirs.query(""))
            found = await ours.query(content("# Bob rows.", "text/plain", None), limit=1)
            assert told(found) == told(await theirs.query(""))[1:2]
            assert (await ours.query("city of Oslo", limit=1)).results[0].content["n"] == [
                1,
                2.5,
            ]
            for memory in (ours, theirs):
                await memory.clear()
                assert told(await memory.query("")) == []
                await memory.close()
            assert await agent.count() == 1

    asyncio.run(run())


def test_it_adds_to_a_context_what_the_last_user_message_asks(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        agent = store.agent("a")
        memory = adapter.RecollexMemory(agent, limit=1)

        async def run(*said):
            context = contexts.UnboundedChatCompletionContext()
            for text in said:
                await context.add_message(models.UserMessage(content=text, source="user"))
            result = await memory.update_context(context)
            return result.memories.results, await context.get_messages()

        assert asyncio.run(run("Who drinks tea?"))[0] == []
        asyncio.run(memory.add(content("Ann drinks tea.", "text/plain", None)))
        asyncio.run(memory.add(content("Bob rows.", "text/plain", None)))
        results, messages = asyncio.run(run("Who drinks tea?", "And who rows?"))
        assert [each.content for each in results] == ["Bob rows."]
        assert isinstance(messages[-1], models.SystemMessage)
        assert messages[-1].content.endswith("Bob rows.")
        results, messages = asyncio.run(run())
        assert (results, messages) == ([], [])


def test_bytes_are_refused(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        memory = adapter.RecollexMemory(store.agent("a"))
        with pytest.raises(InputError, match="application/octet-stream"):
            binary = content(b"x", memories.MemoryMimeType.BINARY, None)
            asyncio.run(memory.add(binary))
