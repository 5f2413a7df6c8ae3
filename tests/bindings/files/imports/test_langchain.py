import pytest

import recollex
from recollex_engine.errors import InputError
from tests.bindings.files.imports.conftest import Ingest


def message(kind: str, content: object, **more: object) -> dict[str, object]:
    plain = {"additional_kwargs": {}, "response_metadata": {}, "name": None, "id": None}
    return {"type": kind, "data": {"content": content, **plain, "type": kind, **more}}


HISTORY = [
    message("system", "You are a helpful assistant."),
    message("human", "What is the weather in Lisbon?", example=False),
    message("ai", "", id="run-1", tool_calls=[
        {"name": "weather", "args": {"city": "Lisbon"}, "id": "call_1", "type": "tool_call"},
        {"name": "", "args": {}}]),
    message("tool", "21 degrees", name="weather", tool_call_id="call_1", status="success"),
    message("AIMessageChunk", [{"type": "text", "text": "It is 21 degrees."},
                               {"type": "reasoning_trace", "steps": []}],
            response_metadata={"created_at": "2024-05-04T10:00:20Z"}),
    message("human", [{"type": "text", "text": "And here?"},
                      {"type": "image_url", "image_url": {"url": "data:"}}]),
    message("chat", "I disagree.", role="Carla"),
    message("remove", "", id="run-1"),
]  # fmt: skip


def test_a_history_is_read(agent: recollex.Agent, ingest: Ingest) -> None:
    done = ingest(HISTORY, "session-9.json")
    assert (done.format, done.stored, done.untimed) == ("langchain", 7, 6)
    assert [(memory.id, memory.role, memory.text) for memory in agent.list()] == [
        ("session-9/1", "system", "system: You are a helpful assistant."),
        ("session-9/2", "user", "user: What is the weather in Lisbon?"),
        ("run-1", "assistant", 'assistant: [tool: weather {"city": "Lisbon"}]'),
        ("session-9/4", "tool", "weather: 21 degrees"),
        ("session-9/5", "assistant", "assistant: It is 21 degrees."),
        ("session-9/6", "user", "user: And here?\n[picture]"),
        ("session-9/7", "user", "Carla: I disagree."),
    ]
    timed = agent.get("session-9/5")
    assert timed.event_at.isoformat() == "2024-05-04T10:00:20+00:00"
    assert timed.document_id == "session-9"
    assert done.left_out == {
        "call of a tool without a name": 1,
        "part of type reasoning_trace": 1,
        "picture": 1,
        "message of type remove": 1,
    }


def test_a_longer_history_adds_what_is_new(agent: recollex.Agent, ingest: Ingest) -> None:
    ingest(HISTORY[:2], "session.json")
    assert ingest(HISTORY[:4], "session.json").stored == 2


def test_sessions_and_messages_that_dumpd_wrote(agent: recollex.Agent, ingest: Ingest) -> None:
    dumped = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "HumanMessage"],
        "kwargs": {"content": "I live in Oslo.", "id": "h-1"},
    }
    done = ingest({"ann": [dumped], "ben": HISTORY[1:2], "version": 3})
    assert done.stored == 2 and done.left_out == {"field 'version'": 1}
    assert [(m.id, m.document_id, m.role) for m in agent.list()] == [
        ("h-1", "ann", "user"),
        ("ben/1", "ben", "user"),
    ]


def test_another_file_is_refused(ingest: Ingest) -> None:
    with pytest.raises(InputError, match="LangChain's history is a list of"):
        ingest([{"role": "user", "content": "Hello."}], format="langchain")
