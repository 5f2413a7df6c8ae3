import copy
import json
from typing import Any

import pytest

import recollex
from recollex_engine.errors import InputError
from tests.bindings.files.imports.conftest import Ingest


def message(number: int, role: str, text: str | None, **more: object) -> dict[str, object]:
    content = [] if text is None else [{"type": "text", "text": text, "signature": None}]
    at = f"2025-10-31T22:56:{number:02d}+00:00"
    more = {"tool_calls": None, "tool_call_id": None, "tool_returns": []} | more
    return {"type": "message", "id": f"message-{number}", "role": role, "content": content,
            "name": None, "created_at": at, **more}  # fmt: skip


def call(name: str, **arguments: str) -> list[dict[str, object]]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [{"id": "c", "type": "function", "function": function}]


AGENT_FILE: dict[str, Any] = {
    "agents": [
        {
            "id": "agent-0",
            "name": "sam",
            "system": "You are Sam.",
            "block_ids": ["block-0", "block-1"],
            "in_context_message_ids": ["message-0"],
            "messages": [
                message(0, "system", "You are Sam. <memory_blocks>...</memory_blocks>"),
                message(1, "user", '{"type": "login", "last_login": "never", "time": "now"}'),
                message(2, "user", '{"type": "user_message", "message": "I am Chad.", "time": "x"}',
                        name="Chad"),
                message(3, "assistant", "He told his name.",
                        tool_calls=call("send_message", message="Hello, Chad!")),
                message(4, "tool", '{"status": "OK", "message": "None", "time": "now"}'),
                message(5, "assistant", None,
                        tool_calls=call("archival_memory_insert", content="Chad sails.")),
                message(6, "user", "What do I study?"),
                message(7, "assistant", "Computer science."),
                message(8, "approval", "yes"),
            ],
        }
    ],
    "blocks": [
        {"id": "block-0", "label": "human", "value": "\nFirst name: Chad\nInterests: sailing\n"},
        {"id": "block-1", "label": "persona", "value": "I am Sam, and curious."},
        {"id": "block-2", "label": "empty", "value": ""},
    ],
    "files": [],
    "sources": [],
    "tools": [{"id": "tool-0", "name": "send_message"}],
    "created_at": "2025-11-01T00:00:00Z",
}  # fmt: skip


def test_blocks_and_messages_of_an_agent_file(agent: recollex.Agent, ingest: Ingest) -> None:
    done = ingest(AGENT_FILE, "sam.af")
    assert (done.format, done.stored) == ("letta", 7)
    human, persona = agent.list(tags=["core memory"])
    assert human.text == "First name: Chad\nInterests: sailing"
    assert (human.id, human.network, persona.network) == ("sam/human", "world", "agent")
    assert human.event_at.isoformat() == "2025-11-01T00:00:00+00:00"
    told = agent.list(document_id="sam")
    assert [(m.role, m.text) for m in told] == [
        ("user", "Chad: I am Chad."),
        ("assistant", "assistant: Hello, Chad!"),
        ("assistant", 'assistant: [tool: archival_memory_insert {"content": "Chad sails."}]'),
        ("user", "user: What do I study?"),
        ("assistant", "assistant: Computer science."),
    ]
    assert told[0].event_at.isoformat() == "2025-10-31T22:56:02+00:00"
    assert told[0].id.startswith("sam/2025-10-31T22:56:02+00:00/")


def test_a_later_export_counts_anew_and_adds_what_is_new(
    agent: recollex.Agent, ingest: Ingest
) -> None:
    ingest(AGENT_FILE, "sam.af")
    later = copy.deepcopy(AGENT_FILE)
    (exported,) = later["agents"]
    exported["messages"] = [
        *exported["messages"][6:8],
        message(9, "user", "And where do I sail?"),
    ]
    for number, each in enumerate(exported["messages"]):
        each["id"] = f"message-{number}"
    later["blocks"].reverse()
    assert ingest(later, "sam-2.af").stored == 1
    assert agent.list()[-1].text == "user: And where do I sail?"


def test_what_is_left_out_is_counted(ingest: Ingest) -> None:
    assert ingest(AGENT_FILE).left_out == {
        "item of 'tools'": 1,
        "system prompt": 1,
        "event of the system": 1,
        "thought": 1,
        "result of a tool without a text": 1,
        "message of the role approval": 1,
        "block of no agent": 1,
    }


def test_the_first_version_of_agent_files(agent: recollex.Agent, ingest: Ingest) -> None:
    block = {"label": "human", "value": "Name: Chad", "updated_at": "2025-03-01T00:00:00Z"}
    hello = {"role": "user", "text": "Hello.", "created_at": "2025-03-02T00:00:00Z"}
    old = {"name": "sam", "core_memory": [block], "messages": [hello]}
    assert ingest(old).stored == 2
    assert [memory.text for memory in agent.list()] == ["Name: Chad", "user: Hello."]
    assert agent.get("sam/human").event_at.isoformat() == "2025-03-01T00:00:00+00:00"


def test_passages_of_an_archival_memory(agent: recollex.Agent, ingest: Ingest) -> None:
    passage = {"id": "passage-1", "text": "Chad sails on Sundays.", "embedding": [0.1],
               "created_at": "2025-03-01T00:00:00Z", "metadata": {"page": 3}}  # fmt: skip
    assert ingest([passage]).format == "letta"
    (found,) = agent.list()
    assert (found.id, found.tags, found.metadata) == (
        "passage-1",
        ("archival memory",),
        {"page": 3},
    )


def test_another_file_is_refused(ingest: Ingest) -> None:
    with pytest.raises(InputError, match="Letta's export is an agent file"):
        ingest({"agents": []}, format="letta")
