"""The adapters for LangChain: LangChain's own tests, and what they do not ask.

Its asynchronous tests need pytest-asyncio, which `make test-adapters` switches on.
"""

import asyncio

import pytest

import recollex
import recollex.aio
from recollex_engine.errors import InputError
from tests.bindings.word_vectors import WordVectors

suites = pytest.importorskip("langchain_tests.integration_tests", reason="not installed")
adapter = pytest.importorskip("recollex.frameworks.langchain", reason="not installed")
stores = pytest.importorskip("recollex.frameworks.langchain_stores", reason="not installed")
messages = pytest.importorskip("langchain_core.messages", reason="not installed")
base_store = pytest.importorskip("langchain_tests.integration_tests.base_store", reason="as above")
SIZE = 8  # the vectors of LangChain's tests have 6


@pytest.fixture
def agent(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        yield store.agent("a")


class TestVectorStoreWithItsVectors(suites.VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path):
        with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(SIZE)) as store:
            embedding = self.get_embeddings()
            yield adapter.RecollexVectorStore(store.agent("a"), embedding=embedding)


class TestVectorStoreWithOurs(suites.VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, agent):
        return adapter.RecollexVectorStore(agent)


class TestRetriever(suites.RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def filled(self, agent):
        self.agent = agent
        agent.retain_many([f"Ann has {n} boats and likes tea." for n in range(5)])

    @property
    def retriever_constructor(self):
        return adapter.RecollexRetriever

    @property
    def retriever_constructor_params(self):
        return {"agent": self.agent}

    @property
    def retriever_query_example(self):
        return "Who has boats?"


class TestByteStore(base_store.BaseStoreSyncTests[bytes]):
    @pytest.fixture
    def kv_store(self, agent):
        return stores.RecollexByteStore(agent)

    @pytest.fixture
    def three_values(self):
        return b"foo", b"", bytes(range(256)) * 800


class TestByteStoreAwaited(base_store.BaseStoreAsyncTests[bytes]):
    @pytest.fixture
    def kv_store(self, agent):
        return stores.RecollexByteStore(agent)

    @pytest.fixture
    def three_values(self):
        return b"foo", b"bar", b"\xff"


def test_a_search_filters_scores_and_diversifies(agent):
    store = adapter.RecollexVectorStore(agent)
    texts = ["Bob drinks green tea.", "Bob drinks green tea!", "Ann drinks black coffee."]
    store.add_texts(texts, [{"n": n} for n in range(3)], ids=list("abc"))
    other = adapter.RecollexVectorStore(agent, collection="other")
    other.add_texts(["Eve drinks green tea."], ids=["a"])
    assert [d.id for d in store.similarity_search("green tea", k=9)] == ["b", "a", "c"]
    found = store.similarity_search_with_relevance_scores("green tea", k=2)
    assert all(0 < score <= 1 for _, score in found)
    assert [d.id for d in store.similarity_search("tea", k=9, filter={"n": {"gt": 0}})] == [
        "b",
        "c",
    ]
    varied = store.max_marginal_relevance_search("Who drinks green tea?", k=2, lambda_mult=0.3)
    assert {d.id for d in varied} > {"c"}
    vector = WordVectors().embed_query("Ann drinks black coffee.")
    assert store.similarity_search_by_vector(vector, k=1)[0].id == "c"
    store.delete()
    assert store.similarity_search("green tea") == [] and len(other.get_by_ids(["a"])) == 1


def test_a_store_made_of_texts_needs_an_agent(agent):
    store = adapter.RecollexVectorStore.from_texts(["Ann rows."], agent=agent)
    assert store.as_retriever().invoke("Who rows?")[0].page_content == "Ann rows."
    with pytest.raises(InputError, match="agent="):
        adapter.RecollexVectorStore.from_texts(["Ann rows."])
    with pytest.raises(InputError, match="ids must be as many as texts, 1: 2"):
        store.add_texts(["Ann rows."], ids=["a", "b"])


def test_a_shorter_value_takes_the_place_of_a_longer_one(agent):
    store = stores.RecollexByteStore(agent)
    long = bytes(range(256)) * 800
    store.mset([("k#1", long), ("l", b"x")])
    store.mset([("k#1", b"short")])
    assert store.mget(["k#1", "k", "l"]) == [b"short", None, b"x"]
    assert list(store.yield_keys(prefix="k")) == ["k#1"]
    assert sorted(store.yield_keys()) == ["k#1", "l"]
    store.mdelete(["k#1", "l"])
    assert store.mget(["k#1", "l"]) == [None, None] and list(store.yield_keys()) == []


CHAT = [
    messages.HumanMessage("Is it raining?", id="h1"),
    messages.AIMessage("", tool_calls=[{"name": "look", "args": {"n": 1}, "id": "c1"}]),
    messages.ToolMessage("rain", tool_call_id="c1"),
    messages.AIMessage([{"type": "text", "text": "Yes."}, {"type": "odd"}]),
    messages.SystemMessage("Be brief."),
]


def test_a_history_gives_back_what_was_said(agent):
    history, other = (stores.RecollexChatHistory(name, agent) for name in ("one", "other"))
    history.add_messages(CHAT)
    other.add_user_message("Hello.")
    assert history.messages == CHAT
    assert stores.RecollexChatHistory("one", agent, newest=2).messages == CHAT[-2:]
    roles = [(memory.role, memory.text) for memory in agent.list(document_id="one")]
    assert roles[1:4] == [
        ("assistant", 'ai: [tool: look {"n":1}]'.replace("ai:", "assistant:")),
        ("tool", "tool: rain"),
        ("assistant", "assistant: Yes.\n[odd]"),
    ]
    history.clear()
    assert history.messages == [] and len(other.messages) == 1


def test_a_history_serves_asyncio(tmp_path):
    async def run():
        async with recollex.aio.open(tmp_path / "s", embedder=WordVectors()) as store:
            agent = await store.agent("a")
            history = stores.RecollexChatHistory("one", agent)
            await history.aadd_messages(CHAT)
            assert await history.aget_messages() == CHAT
            found = await adapter.RecollexRetriever(agent=agent).ainvoke("Is it raining?")
            assert found[0].metadata["recollex"]["role"] == "user"
            await history.aclear()
            assert await history.aget_messages() == []

    asyncio.run(run())
