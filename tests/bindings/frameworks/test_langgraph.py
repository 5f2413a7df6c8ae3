"""The adapter for LangGraph against LangGraph's own `InMemoryStore`."""

import asyncio
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import recollex
from recollex_engine.errors import InputError
from tests.bindings.word_vectors import WordVectors

base = pytest.importorskip("langgraph.store.base", reason="langgraph is not installed")
memory = pytest.importorskip("langgraph.store.memory", reason="langgraph is not installed")
adapter = pytest.importorskip("recollex.frameworks.langgraph", reason="langgraph is not installed")

NOW = datetime(2024, 5, 1, tzinfo=UTC)
NAMESPACES = st.sampled_from([("a",), ("a", "b"), ("a", "b", "c"), ("a", "c"), ("b",)])
KEYS = st.sampled_from(["k", "l", "m n"])
VALUES = st.fixed_dictionaries(
    {"n": st.integers(0, 3)},
    optional={
        "text": st.sampled_from(["Ann has tea.", "Ben rows on 5 May 2031.", " "]),
        "of": st.sampled_from([{"x": 1}, {"x": 1, "y": [2]}, None, ["a", {"z": 1}], ["a", "b"]]),
    },
)
FILTERS = st.sampled_from(
    [
        None,
        {"n": 1},
        {"n": {"$gte": 2}},
        {"n": {"$gt": 0, "$lte": 2}},
        {"n": {"$ne": 1, "$lt": 3}},
        {"n": {"$ne": 1}, "text": "Ann has tea."},
        {"of": None},
        {"of": {"$ne": None}},
        {"of": {"$eq": ["a", "b"]}},
        {"of": {"x": 1}},
        {"of": {"y": [2], "x": {"$gt": 0}}},
        {"of": ["a", {"z": 1}]},
        {"of": {"$ne": "a"}},
        {"unheard": None},
        {"unheard": {"$ne": 1}},
        {"unheard": 1},
    ]
)
PATHS = st.sampled_from(
    [
        {},
        {"prefix": ("a",)},
        {"prefix": ("a", "*")},
        {"prefix": ("*", "b"), "suffix": ("c",)},
        {"suffix": ("b",)},
        {"suffix": ("*", "c"), "max_depth": 2},
        {"max_depth": 1},
        {"limit": 2, "offset": 1},
    ]
)


def embed(texts):
    return [[float(len(text)), 1.0] for text in texts]


class Store(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.now, self.items = NOW, {}
        self.open()

    def open(self):
        path = Path(self.folder.name) / "s"
        self.opened = recollex.open(
            path, embedder=WordVectors(), durability="off", clock=lambda: self.now
        )
        self.store = adapter.RecollexStore(self.opened.agent("a"), clock=lambda: self.now)

    def oracle(self):
        """Return their store with the items that are alive."""
        store = memory.InMemoryStore(index={"dims": 2, "embed": embed, "fields": ["$"]})
        self.items = {place: item for place, item in self.items.items() if item[2] > self.now}
        for (namespace, key), (value, _, _) in self.items.items():
            store.put(namespace, key, value)
        return store

    def refresh(self, places):
        for place in places:
            value, minutes, _ = self.items[place]
            if minutes is not None:
                self.items[place] = value, minutes, self.now + timedelta(minutes=minutes)

    @rule(
        namespace=NAMESPACES,
        key=KEYS,
        value=VALUES,
        minutes=st.sampled_from([None, None, 5.0, 60.0]),
        index=st.sampled_from([None, False, ["text"]]),
    )
    def put(self, namespace, key, value, minutes, index):
        self.now += timedelta(seconds=1)
        before = self.store.get(namespace, key, refresh_ttl=False)
        self.store.put(namespace, key, value, index, ttl=minutes)
        end = datetime.max.replace(tzinfo=UTC)
        if minutes is not None:
            end = self.now + timedelta(minutes=minutes)
        self.items[namespace, key] = value, minutes, end
        item = self.store.get(namespace, key)
        assert item.created_at == (self.now if before is None else before.created_at)
        assert item.updated_at == self.now

    @rule(namespace=NAMESPACES, key=KEYS)
    def delete(self, namespace, key):
        self.store.delete(namespace, key)
        self.items.pop((namespace, key), None)

    @rule(puts=st.lists(st.tuples(NAMESPACES, KEYS, st.none() | VALUES), max_size=4))
    def batch(self, puts):
        self.store.batch([base.PutOp(*each) for each in puts])
        for namespace, key, value in puts:
            self.items.pop((namespace, key), None)
            if value is not None:
                self.items[namespace, key] = value, None, datetime.max.replace(tzinfo=UTC)

    @rule(namespace=NAMESPACES, key=KEYS, refresh=st.booleans())
    def get(self, namespace, key, refresh):
        expected = self.oracle().get(namespace, key)
        item = self.store.get(namespace, key, refresh_ttl=refresh)
        assert (item and item.value) == (expected and expected.value)
        if item is not None and refresh:
            self.refresh([(namespace, key)])

    @rule(
        prefix=st.just(()) | NAMESPACES,
        filter=FILTERS,
        query=st.sampled_from([None, "tea of Ann", "5 May 2031"]),
        limit=st.integers(1, 4),
        offset=st.integers(0, 2),
    )
    def search(self, prefix, filter, query, limit, offset):
        def found(store, **more):
            items = store.search(prefix, filter=filter, query=query, **more)
            return {(item.namespace, item.key): item.value for item in items}

        theirs = found(self.oracle(), limit=99)
        ours = found(self.store, limit=99, refresh_ttl=False)
        assert ours == theirs
        page = found(self.store, limit=limit, offset=offset)
        assert list(page.items()) == list(ours.items())[offset : offset + limit]
        self.refresh(page)

    @rule(paths=PATHS)
    def list_namespaces(self, paths):
        assert self.store.list_namespaces(**paths) == self.oracle().list_namespaces(**paths)

    @rule(minutes=st.sampled_from([1, 4, 30]))
    def wait(self, minutes):
        self.now += timedelta(minutes=minutes)

    @rule()
    def sweep(self):
        self.store.sweep_ttl()
        assert self.opened.agent("a").count() == len(self.oracle().search((), limit=99))

    @rule()
    def reopen(self):
        self.opened.close()
        self.open()

    @invariant()
    def nothing_that_is_over_is_listed(self):
        counts = self.oracle().search((), limit=99)
        assert len(self.store.search((), limit=99, refresh_ttl=False)) == len(counts)

    def teardown(self):
        self.opened.close()
        self.folder.cleanup()


TestStore = Store.TestCase
TestStore.settings = settings(max_examples=40, stateful_step_count=12, deadline=None)


@pytest.fixture
def opened(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        yield store


def test_a_query_ranks_what_it_is_about_first_and_scores_it(opened):
    store = adapter.RecollexStore(opened.agent("a"), fields=["text"])
    store.put(("u",), "tea", {"text": "Ann drinks green tea.", "n": 1})
    store.put(("u",), "boat", {"text": "Ben rows a boat."})
    store.put(("u",), "hidden", {"text": "green tea"}, index=False)
    found = store.search(("u",), query="Who drinks green tea?")
    assert [item.key for item in found] == ["tea", "boat", "hidden"]
    assert found[0].score > 0 and found[-1].score is None
    assert opened.agent("a").recall("tea")[0].text == "Ann drinks green tea."


def test_async_calls_are_those_of_the_store(opened):
    store = adapter.RecollexStore(opened.agent("a"))

    async def run():
        await store.aput(("u",), "k", {"n": 1}, ttl=5)
        assert (await store.aget(("u",), "k")).value == {"n": 1}
        assert [item.value for item in await store.asearch(("u",), query="n")] == [{"n": 1}]
        assert await store.alist_namespaces() == [("u",)]
        await store.adelete(("u",), "k")
        assert await store.aget(("u",), "k") is None

    asyncio.run(run())


def test_a_graph_reads_and_writes_it(opened):
    graph = pytest.importorskip("langgraph.graph")

    def remember(state, *, store):
        store.put(("u",), "last", {"text": state["said"]})
        return {"heard": store.search(("u",), query="tea")[0].value["text"]}

    from typing import TypedDict

    class State(TypedDict, total=False):
        said: str
        heard: str

    from langgraph.runtime import Runtime

    def node(state: State, runtime: Runtime) -> dict:
        return remember(state, store=runtime.store)

    built = graph.StateGraph(State).add_node("n", node).add_edge(graph.START, "n")
    app = built.compile(store=adapter.RecollexStore(opened.agent("a")))
    assert app.invoke({"said": "I drink tea."})["heard"] == "I drink tea."


def test_expired_items_are_forgotten_after_a_put_when_it_is_time(tmp_path):
    now = [NOW]
    with recollex.open(tmp_path / "s", embedder=WordVectors(), clock=lambda: now[0]) as opened:
        ttl = {"default_ttl": 1, "sweep_interval_minutes": 10, "refresh_on_read": False}
        store = adapter.RecollexStore(opened.agent("a"), ttl=ttl, clock=lambda: now[0])
        store.put(("u",), "k", {"n": 1})
        now[0] += timedelta(minutes=5)
        store.put(("u",), "l", {"n": 1}, ttl=None)
        assert opened.agent("a").count() == 2
        now[0] += timedelta(minutes=5)
        store.put(("u",), "m", {"n": 1}, ttl=None)
        assert opened.agent("a").count() == 2
        assert [item.key for item in store.search(())] == ["m", "l"]


def test_an_item_keeps_the_time_at_which_it_was_made(opened):
    store = adapter.RecollexStore(opened.agent("a"))
    items = []
    for n in range(3):
        store.put(("u",), "k", {"n": n}, ttl=9)
        items.append(store.get(("u",), "k"))
    assert {item.created_at for item in items} == {items[0].updated_at}
    assert items[0].updated_at < items[1].updated_at < items[2].updated_at
    versions = opened.agent("a").history('["u", "k"]')
    assert [each.metadata["n"] for each in versions if each.closed is None] == [2]


def test_an_item_that_is_deleted_while_it_is_read_is_not_brought_back(opened, monkeypatch):
    agent = opened.agent("a")
    store = adapter.RecollexStore(agent)
    store.put(("u",), "k", {"n": 1}, ttl=5)
    held = agent.get('["u", "k"]')
    store.delete(("u",), "k")
    monkeypatch.setattr(store, "_held", lambda namespace, key: held)
    assert store.get(("u",), "k").value == {"n": 1} and agent.count() == 0


def test_namespaces_are_found_by_both_ends(opened):
    store = adapter.RecollexStore(opened.agent("a"))
    for namespace in (("a", "b"), ("a", "c", "b"), ("b", "a"), ("a",)):
        store.put(namespace, "k", {"n": 1})
    assert store.list_namespaces(suffix=("b",)) == [("a", "b"), ("a", "c", "b")]
    assert store.list_namespaces(prefix=("a", "*")) == [("a", "b"), ("a", "c", "b")]
    assert store.list_namespaces(max_depth=1, limit=1, offset=1) == [("b",)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda store: store.put(("u",), "k", {"__item__": 1}), "__item__"),
        (lambda store: store.search((), filter={"n": {"$near": 1}}), "no operator '\\$near'"),
        (lambda store: store.batch(["put"]), "got str"),
        (lambda store: store.put(("u",), "k", {"n": object()}), "metadata is not JSON"),
    ],
)
def test_what_is_refused_says_why(opened, call, message):
    with pytest.raises(InputError, match=message):
        call(adapter.RecollexStore(opened.agent("a")))


def test_an_empty_store_holds_nothing(opened):
    store = adapter.RecollexStore(opened.agent("a"))
    assert store.get(("u",), "k") is None and store.search((), query="tea") == []
    assert store.list_namespaces() == [] and store.sweep_ttl() == 0
    store.delete(("u",), "k")
