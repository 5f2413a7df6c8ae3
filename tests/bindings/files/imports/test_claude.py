import json
import zipfile
from pathlib import Path

import pytest

import recollex
from recollex_engine.errors import InputError
from tests.bindings.files.imports.conftest import Ingest

CONVERSATIONS = [
    {
        "uuid": "c-1",
        "name": "A boat in Lisbon",
        "created_at": "2025-05-04T10:00:00.000000Z",
        "updated_at": "2025-05-04T10:09:00.000000Z",
        "account": {"uuid": "a-1"},
        "chat_messages": [
            {
                "uuid": "m-1",
                "text": "I bought this boat.",
                "content": [{"type": "text", "text": "I bought this boat.", "citations": []}],
                "sender": "human",
                "created_at": "2025-05-04T10:00:01.250000Z",
                "attachments": [{"file_name": "bill.txt", "extracted_content": "4000 EUR"}],
                "files": [{"file_name": "boat.png", "file_kind": "image"}, {"file_name": "x.pdf"}],
            },
            {
                "uuid": "m-2",
                "text": "",
                "content": [
                    {"type": "thinking", "thinking": "A boat."},
                    {"type": "tool_use", "name": "search", "input": {"q": "berths"}},
                    {"type": "tool_result", "name": "search", "content": []},
                    {"type": "text", "text": "There are three berths."},
                ],
                "sender": "assistant",
                "created_at": None,
                "attachments": [],
                "files": [],
            },
            {"uuid": "m-3", "text": "Old ones have a text alone.", "sender": "human",
             "created_at": "2025-05-04T10:05:00Z"},
            {"uuid": "m-4", "text": "", "content": [], "sender": "assistant",
             "created_at": "2025-05-04T10:06:00Z"},
        ],
    },
    {"uuid": "c-2", "name": "", "created_at": "2025-05-05T10:00:00Z", "chat_messages": []},
]  # fmt: skip
PROJECT = {
    "uuid": "p-1",
    "name": "Sailing",
    "prompt_template": "",
    "created_at": "2025-04-01T00:00:00Z",
    "docs": [{"uuid": "d-1", "filename": "knots.md", "content": "A bowline.",
              "created_at": "2025-04-02T00:00:00Z"}],
}  # fmt: skip
MEMORY = {
    "account_uuid": "a-1",
    "conversations_memory": "**Work**\n\nAnn builds boats.\n\nAnn lives in Lisbon.",
    "project_memories": {"p-1": "Ann knows knots."},
}


def test_a_conversation_is_read(agent: recollex.Agent, ingest: Ingest) -> None:
    done = ingest(CONVERSATIONS, "conversations.json")
    assert (done.format, done.stored, done.untimed) == ("claude", 3, 0)
    assert [(memory.id, memory.role, memory.text) for memory in agent.list(document_id="c-1")] == [
        ("m-1", "user", "user: I bought this boat.\n[picture]"),
        ("m-2", "assistant",
         'assistant: There are three berths.\n[tool: search {"q": "berths"}]'),
        ("m-3", "user", "user: Old ones have a text alone."),
    ]  # fmt: skip
    first, second, _ = agent.list()
    assert first.event_at.isoformat() == "2025-05-04T10:00:01.250000+00:00"
    assert (first.context, second.event_at) == ("A boat in Lisbon", first.event_at)
    assert done.left_out == {
        "attachment": 1,
        "picture": 1,
        "file": 1,
        "part of type thinking": 1,
        "part of type tool_result": 1,
        "message without a text": 1,
        "conversation without messages": 1,
    }


def test_the_archive_has_projects_and_what_claude_noted(
    agent: recollex.Agent, ingest: Ingest, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps(CONVERSATIONS))
        archive.writestr("projects.json", json.dumps([PROJECT]))
        archive.writestr("memories.json", json.dumps([MEMORY]))
        archive.writestr("users.json", "[]")
    done = ingest(tmp_path / "data.zip")
    assert (done.format, done.stored) == ("claude", 8)
    knots = agent.get("d-1")
    assert (knots.text, knots.context, knots.document_id) == ("A bowline.", "Sailing", "knots.md")
    assert knots.event_at.date().isoformat() == "2025-04-02"
    noted = agent.list(tags=["claude memory"])
    assert [(each.text, each.document_id) for each in noted] == [
        ("**Work**", "a-1"),
        ("Ann builds boats.", "a-1"),
        ("Ann lives in Lisbon.", "a-1"),
        ("Ann knows knots.", "a-1/p-1"),
    ]


def test_another_file_is_refused(ingest: Ingest) -> None:
    with pytest.raises(InputError, match="Claude's export is a list of conversations"):
        ingest([{"uuid": "x"}], format="claude")
