"""Claude's export: ``conversations.json``, and the projects and the memory beside it.

::

    [{"uuid": ..., "name": ..., "created_at": time, "chat_messages": [
        {"uuid": ..., "sender": "human", "created_at": time, "text": "...",
         "content": [{"type": "text", "text": "..."},
                     {"type": "tool_use", "name": ..., "input": {}}],
         "attachments": [{"file_name": ..., "extracted_content": "..."}], "files": [...]}]}]

A conversation is a document, its name the context. Of the content, texts are said; calls of tools
are kept as calls. Thoughts, results of tools and files are counted, and so is the text of an
attachment: it is the user's file and no turn of the talk.

The archive has two more files. ``projects.json`` holds projects: their documents become memories.
``memories.json`` holds what Claude noted of the user: each paragraph becomes a memory of the tag
"claude memory".
"""

import json
from collections.abc import Iterator
from typing import Any

from recollex.files.imports.formats import Format
from recollex.files.imports.reading import (
    PICTURE,
    FileReading,
    Object,
    as_dict,
    as_list,
    paragraphs,
)
from recollex_engine.domain.turn import is_tool_result
from recollex_engine.errors import InputError

_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}
_TAG = "claude memory"


def matches(content: Any) -> bool:
    """Return whether this is an export of Claude, or one conversation, project or memory of it."""
    return _part_of(as_dict(content[0] if isinstance(content, list) and content else content)) != ""


def read(content: Any, reading: FileReading) -> Iterator[Object]:
    """Yield the messages of conversations as turns; projects and memories as memories."""
    if not matches(content):
        raise InputError("Claude's export is a list of conversations, each with chat_messages")
    for each in content if isinstance(content, list) else [content]:
        item = as_dict(each)
        part = _part_of(item)
        if part == "conversation":
            yield from _turns(item, reading)
        elif part == "project":
            yield from _documents(item, reading)
        elif part == "memory":
            yield from _memories(item, reading)
        else:
            reading.skip("item that is no conversation")


def _part_of(item: Object) -> str:
    """Return which part of the export an item is; "" for none."""
    if isinstance(item.get("chat_messages"), list):
        return "conversation"
    if isinstance(item.get("docs"), list) and "prompt_template" in item:
        return "project"
    if "conversations_memory" in item or "project_memories" in item:
        return "memory"
    return ""


def _turns(conversation: Object, reading: FileReading) -> Iterator[Object]:
    document = str(conversation.get("uuid") or reading.document)
    if not conversation["chat_messages"]:
        reading.skip("conversation without messages")
    last = reading.time(conversation.get("created_at"))
    for place, message in enumerate(map(as_dict, conversation["chat_messages"]), 1):
        last = reading.time(message.get("created_at")) or last
        role = _ROLES.get(str(message.get("sender")))
        if role is None:
            reading.skip(f"message of the sender {message.get('sender')}")
            continue
        text, calls = _said(message, reading)
        turn = {
            "id": str(message.get("uuid") or f"{document}/{place}"),
            "role": role,
            "content": text,
            "tool_calls": calls,
            "at": last,
            "document_id": document,
            "context": conversation.get("name"),
        }
        yield from reading.checked(turn, "message")


def _said(message: Object, reading: FileReading) -> tuple[str, list[Object]]:
    """Return the text of a message and the calls of tools in it; count what is neither."""
    reading.skip("attachment", len(as_list(message.get("attachments"))))
    lines = []
    calls = []
    for part in map(as_dict, as_list(message.get("content"))):
        kind = part.get("type")
        if kind == "text":
            lines.append(str(part.get("text") or ""))
        elif kind == "tool_use" and str(part.get("name") or "").strip():
            arguments = json.dumps(part.get("input") or {}, ensure_ascii=False)
            calls.append({"function": {"name": part["name"], "arguments": arguments}})
        elif kind == "image":
            reading.skip("picture")
            lines.append(PICTURE)
        else:
            reading.skip(f"part of type {kind}")
    for file in as_list(message.get("files")):
        if str(as_dict(file).get("file_kind")) == "image":
            reading.skip("picture")
            lines.append(PICTURE)
        else:
            reading.skip("file")
    results = any(map(is_tool_result, as_list(message.get("content"))))
    if not any(line.strip() for line in lines) and not calls and not results:
        lines = [str(message.get("text") or "")]
    return "\n".join(line for line in lines if line.strip()), calls


def _documents(project: Object, reading: FileReading) -> Iterator[Object]:
    name = str(project.get("name") or project.get("uuid") or "project")
    for place, each in enumerate(map(as_dict, project["docs"]), 1):
        memory = {
            "id": str(each.get("uuid") or f"{project.get('uuid') or name}/{place}"),
            "text": each.get("content"),
            "event_at": reading.time(each.get("created_at") or project.get("created_at")),
            "document_id": each.get("filename"),
            "context": name,
            "tags": ["claude project"],
        }
        yield from reading.checked(memory, "document of a project")


def _memories(item: Object, reading: FileReading) -> Iterator[Object]:
    at = reading.time(item.get("updated_at") or item.get("created_at"))
    owner = str(item.get("account_uuid") or reading.document)
    for project, text in [
        (None, item.get("conversations_memory")),
        *as_dict(item.get("project_memories")).items(),
    ]:
        document = f"{owner}/{project}" if project else owner
        for id, paragraph in paragraphs(str(text or ""), document):
            memory = {
                "id": id,
                "text": paragraph,
                "event_at": at,
                "document_id": document,
                "tags": [_TAG],
            }
            yield from reading.checked(memory, "memory")


FORMATS = (
    Format(
        "claude",
        ("json", "folder", "archive"),
        "Claude's export, in the same three forms",
        "turns; documents of projects and what Claude noted are memories",
        matches,
        read,
    ),
)
