"""The adapter for Google's ADK against ADK's `InMemoryMemoryService`."""

import asyncio
import warnings
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex
import recollex.aio
from tests.bindings.word_vectors import WordVectors

pytest.importorskip("google.adk", reason="google-adk is not installed")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from google.adk.events.event import Event
    from google.adk.memory.in_memory_memory_service import InMemoryMemoryService
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai.types import Blob, Content, FunctionCall, Part

    from recollex.frameworks import google_adk as adapter

WORDS = ["tea", "ink", "Oslo", "boat"]
NOW = datetime(2024, 5, 1, tzinfo=UTC).timestamp()
ANN = {"app_name": "app", "user_id": "ann"}


def event(number):
    """Return one of 8 events: two without text, the others with a word and their number."""
    parts = [Part(text=f"{WORDS[number % 4]} and number{number}")]
    if number == 6:
        parts = [Part(function_call=FunctionCall(name="look", args={"n": 1}))]
    if number == 7:
        parts.append(Part(inline_data=Blob(data=b"x", mime_type="image/png")))
    role = "user" if number % 2 else "model"
    return Event(
        id=f"e{number}",
        author="user" if number % 2 else "helper",
        timestamp=NOW + number,
        content=None if number == 5 else Content(role=role, parts=parts),
    )


def session(name, numbers, user="ann"):
    events = [event(number) for number in dict.fromkeys(numbers)]
    return Session(id=name, app_name="app", user_id=user, events=events)


STEPS = st.one_of(
    st.tuples(st.just("session"), st.sampled_from(["one"]), st.lists(st.integers(0, 7))),
    st.tuples(st.just("events"), st.sampled_from(["one"]), st.lists(st.integers(0, 7))),
    st.tuples(st.just("delete"), st.integers(0, 8), st.none()),
)


@settings(max_examples=15, deadline=None)
@given(st.lists(STEPS, max_size=6))
def test_it_holds_what_theirs_holds(tmp_path_factory, steps):
    async def run():
        folder = tmp_path_factory.mktemp("s") / "s"
        async with recollex.aio.open(folder, embedder=WordVectors(), durability="off") as store:
            ours, theirs = adapter.RecollexMemoryService(store), InMemoryMemoryService()
            for service in (ours, theirs):
                for kind, what, numbers in steps:
                    if kind == "session":
                        await service.add_session_to_memory(session(what, numbers))
                    elif kind == "events":
                        events = [event(number) for number in numbers]
                        await service.add_events_to_memory(**ANN, events=events, session_id=what)
                    else:
                        await service.delete_memory(**ANN, memory_id=f"e{what}")
            for number in range(8):
                found, expected = [
                    {
                        each.id: (each.content, each.author)
                        for each in (
                            await service.search_memory(**ANN, query=f"number{number}")
                        ).memories
                    }
                    for service in (ours, theirs)
                ]
                assert expected.items() <= found.items()
                assert (f"e{number}" in found) == (f"e{number}" in expected)

    asyncio.run(run())


@pytest.fixture
def store(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as opened:
        yield opened


def test_users_are_apart_and_the_best_comes_first(store):
    service = adapter.RecollexMemoryService(store, limit=2)
    asyncio.run(service.add_session_to_memory(session("one", [0, 1, 2])))
    asyncio.run(service.add_session_to_memory(session("two", [3], user="bob")))
    found = asyncio.run(service.search_memory(**ANN, query="What of Oslo?")).memories
    assert len(found) == 2 and found[0].content.parts[0].text == "Oslo and number2"
    assert found[0].timestamp.startswith("2024-05-01T00:00:02")
    assert asyncio.run(service.search_memory(**ANN, query=" ")).memories == []
    assert sorted(store.agents()) == ["app:ann", "app:bob"]
    held = store.agent("app:ann").list()
    assert [(each.role, each.speaker) for each in held] == [
        ("assistant", "helper"),
        ("user", "user"),
        ("assistant", "helper"),
    ]


def test_memories_are_added_as_they_are(store):
    service = adapter.RecollexMemoryService(store)
    entry = MemoryEntry(
        id="m1",
        content=Content(parts=[Part(text="Ann has a boat.")]),
        custom_metadata={"n": 1},
        timestamp="2024-05-01T10:00:00",
    )
    empty = MemoryEntry(content=Content(parts=[]))
    asyncio.run(service.add_memory(**ANN, memories=[entry, empty], custom_metadata={"k": "x"}))
    (found,) = asyncio.run(service.search_memory(**ANN, query="boat")).memories
    assert (found.id, found.custom_metadata) == ("m1", {"n": 1, "k": "x"})
    assert found.timestamp == "2024-05-01T10:00:00+00:00"
    asyncio.run(service.delete_memory(**ANN, memory_id="m1"))
    assert asyncio.run(service.search_memory(**ANN, query="boat")).memories == []
