from typing import Any

import pytest

import recollex
from recollex_engine.errors import InputError
from tests.bindings.files.imports.conftest import Ingest

START = 1_714_816_800.25  # 4 May 2024, 10:00 UTC


def node(
    id: str, parent: str | None, children: list[str], message: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {"id": id, "parent": parent, "children": children, "message": message}


def said(id: str, role: str, seconds: float | None, content: Any, **more: Any) -> dict[str, Any]:
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    return {
        "id": id,
        "author": {"role": role, "name": more.pop("name", None), "metadata": {}},
        "create_time": None if seconds is None else START + seconds,
        "update_time": None,
        "content": content,
        "status": "finished_successfully",
        "weight": 1.0,
        "metadata": more.pop("metadata", {}),
        "recipient": "all",
    }


PHOTO = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1"}
HIDDEN = {"is_visually_hidden_from_conversation": True}
CONVERSATIONS = [
    {
        "title": "A boat in Lisbon",
        "create_time": START,
        "update_time": START + 90,
        "conversation_id": "c-1",
        "current_node": "n5",
        "mapping": {
            "root": node("root", None, ["n0"]),
            "n0": node("n0", "root", ["n1", "n1b"], said("m0", "system", None, "",
                                                          metadata=HIDDEN)),
            "n1b": node("n1b", "n0", ["n2b"], said("m1b", "user", 1, "Find me a bote.")),
            "n2b": node("n2b", "n1b", [], said("m2b", "assistant", 5, "A bote?")),
            "n1": node("n1", "n0", ["n2"], said("m1", "user", 10, {
                "content_type": "multimodal_text",
                "parts": [PHOTO, "I bought this boat in Lisbon."],
            })),
            "n2": node("n2", "n1", ["n3"], said("m2", "assistant", 12, {
                "content_type": "thoughts",
                "thoughts": [{"summary": "Looking", "content": "A boat."}],
            })),
            "n3": node("n3", "n2", ["n4"], said("m3", "tool", 13, {
                "content_type": "execution_output", "text": "length: 7 m"}, name="python")),
            "n4": node("n4", "n3", ["n5"], said("m4", "assistant", 20, "It is 7 m long.",
                                                metadata={"model_slug": "gpt-4o"})),
            "n5": node("n5", "n4", [], said("m5", "user", None, "Thanks!")),
        },
    },
    {"title": "Empty", "create_time": START, "id": "c-2", "mapping": {}, "current_node": None},
    {
        "title": None,
        "create_time": START + 1000,
        "id": "c-3",
        "current_node": "gone",
        "mapping": {
            "r": node("r", None, ["a"]),
            "a": node("a", "r", ["b", "c"], said("x1", "user", 1001, "I live in Oslo.")),
            "b": node("b", "a", [], said("x2", "assistant", 1002, "Noted.")),
            "c": node("c", "a", [], said("x3", "assistant", 1003, "I shall remember.")),
        },
    },
]  # fmt: skip


def test_the_branch_that_is_shown_is_read(agent: recollex.Agent, ingest: Ingest) -> None:
    done = ingest(CONVERSATIONS, "conversations.json")
    assert (done.format, done.stored, done.read) == ("chatgpt", 6, 6)
    found = [(memory.id, memory.role, memory.text) for memory in agent.list(document_id="c-1")]
    assert found == [
        ("m1", "user", "user: [picture]\nI bought this boat in Lisbon."),
        ("m3", "tool", "python: length: 7 m"),
        ("m4", "assistant", "assistant: It is 7 m long."),
        ("m5", "user", "user: Thanks!"),
    ]
    first, _, third, last = agent.list(document_id="c-1")
    assert first.event_at.isoformat() == "2024-05-04T10:00:10.250000+00:00"
    assert (first.context, first.document_id) == ("A boat in Lisbon", "c-1")
    assert third.metadata == {"model": "gpt-4o"}
    assert last.event_at == third.event_at  # it has no time of its own: that of the one before


def test_without_a_current_node_the_newest_branch_is_read(
    agent: recollex.Agent, ingest: Ingest
) -> None:
    ingest(CONVERSATIONS, "conversations.json")
    assert [memory.id for memory in agent.list(document_id="c-3")] == ["x1", "x3"]


def test_what_is_left_out_is_counted(ingest: Ingest) -> None:
    assert ingest(CONVERSATIONS).left_out == {
        "message of a branch that is not shown": 3,
        "message of type thoughts": 1,
        "hidden message": 1,
        "picture": 1,
        "conversation without messages": 1,
    }


def test_a_cycle_of_parents_ends(agent: recollex.Agent, ingest: Ingest) -> None:
    mapping = {
        "a": node("a", "b", ["b"], said("1", "user", 1, "One.")),
        "b": node("b", "a", ["a"], said("2", "user", 2, "Two.")),
    }
    ingest({"id": "c", "current_node": "b", "mapping": mapping})
    assert [memory.id for memory in agent.list()] == ["1", "2"]


def test_another_file_is_refused(agent: recollex.Agent, ingest: Ingest) -> None:
    with pytest.raises(InputError, match="ChatGPT's export is a list of conversations"):
        ingest([{"title": "x"}], format="chatgpt")
