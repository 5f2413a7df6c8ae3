"""The adapters for LlamaIndex, alone and in LlamaIndex's own memory and query calls."""

import asyncio

import pytest

import recollex
import recollex.aio
from tests.bindings.word_vectors import WordVectors

core = pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
adapter = pytest.importorskip("recollex.frameworks.llama_index", reason="as above")
llms = pytest.importorskip("llama_index.core.llms", reason="as above")
types = pytest.importorskip("llama_index.core.base.llms.types", reason="as above")
memories = pytest.importorskip("llama_index.core.memory", reason="as above")
schema = pytest.importorskip("llama_index.core.schema", reason="as above")


def user(text):
    return llms.ChatMessage(role="user", content=text)


@pytest.fixture
def agent(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        yield store.agent("a")


def test_what_leaves_the_short_term_memory_comes_back_in_the_prompt(agent):
    block = adapter.RecollexMemoryBlock(agent=agent, name="told")
    memory = memories.Memory.from_defaults(
        session_id="one",
        token_limit=60,
        token_flush_size=20,
        chat_history_token_ratio=0.5,
        memory_blocks=[block],
        tokenizer_fn=str.split,
    )

    async def run():
        await memory.aput(user("My sister Ann has a red boat."))
        for n in range(12):
            await memory.aput(llms.ChatMessage(role="assistant", content=f"It rains on day {n}."))
            await memory.aput(user(f"And what of day {n}, then?"))
        try:
            return await memory.aget(input="Who has a red boat?")
        finally:
            await memory.sql_store._async_engine.dispose()

    shown = asyncio.run(run())
    assert agent.count(document_id="one") > 0
    assert all("red boat" not in str(each.content) for each in shown[1:])
    assert shown[0].role.value == "system" and "<told>" in shown[0].content
    assert "user: My sister Ann has a red boat." in shown[0].content
    held = agent.list(limit=1)[0]
    assert (held.role, held.source, held.document_id) == ("user", "user", "one")


def test_a_block_serves_asyncio_and_says_nothing_where_nothing_is_asked(tmp_path):
    async def run():
        async with recollex.aio.open(tmp_path / "s", embedder=WordVectors()) as store:
            block = adapter.RecollexMemoryBlock(agent=await store.agent("a"))
            assert await block.aget() == "" and await block.aget([user(" ")]) == ""
            picture = llms.ImageBlock(url="https://example.org/a.png")
            call = types.ToolCallBlock(tool_name="look", tool_kwargs={"n": 1})
            odd = llms.ChatMessage(role="tool", blocks=[picture, call])
            await block.aput([user("Ann has a boat."), odd, user("")])
            told = await block.aget([user("Who has a boat?")])
            assert "[picture]" in told and '[tool: look {"n":1}]' in told
            assert told.splitlines()[0].endswith("user: Ann has a boat.")

    asyncio.run(run())


def test_a_block_gives_up_its_last_lines(agent):
    block = adapter.RecollexMemoryBlock(agent=agent)
    lines = [f"line {n} of the best first" for n in range(5)]
    short = asyncio.run(block.atruncate("\n".join(lines), 10))
    assert short == "\n".join(lines[:3])
    assert asyncio.run(block.atruncate("\n".join(lines), 1000)) is None


def test_a_retriever_returns_nodes(agent):
    agent.retain_many(["Ann rows.", "Bob drinks tea."], metadata=[{"n": 1}, {"n": 2}], tags=["x"])
    retriever = adapter.RecollexRetriever(agent, limit=1, options={"tags": ["x"]})
    node = retriever.retrieve("Who drinks tea?")[0]
    assert node.text == "Bob drinks tea." and node.score > 0
    assert node.metadata["n"] == 2 and node.metadata["recollex"]["score"] == node.score
    vector = WordVectors().embed_query("Ann rows.").tolist()
    bundle = schema.QueryBundle("?", embedding=vector)
    assert retriever.retrieve(bundle)[0].text == "Ann rows."
    assert retriever.retrieve("Who drinks tea?")[0].node.get_content("llm").startswith("n: 2")
    assert asyncio.run(retriever.aretrieve("Who drinks tea?"))[0].node_id == node.node_id
    none = adapter.RecollexRetriever(agent, options={"tags": ["y"]})
    assert none.retrieve("Who drinks tea?") == []
