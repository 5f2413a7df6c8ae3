"""Message histories of LangChain: what `messages_to_dict` gives and its file history keeps.

::

    [{"type": "human", "data": {"content": "...", "name": null, "id": null,
                                "additional_kwargs": {}, "response_metadata": {}}},
     {"type": "ai", "data": {"content": "...", "tool_calls": [{"name": ..., "args": {}}]}}]

Also a dict of one such list for each session, a dict with the list as ``messages``, and messages
that `dumpd` wrote (``{"lc": 1, "id": [..., "HumanMessage"], "kwargs": {...}}``). LangChain keeps no
times, unless the model's response had one. A message without an id gets the session's name and its
place.
"""

import json
from collections.abc import Iterator
from typing import Any

from recollex.files.imports.formats import Format
from recollex.files.imports.reading import FileReading, Object, as_dict, as_list
from recollex_engine.domain.trust import ROLES, role_number
from recollex_engine.errors import InputError

_ROLES = {
    **{"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"},
    "developer": "system",
}


def matches(content: Any) -> bool:
    """Return whether this is a history, or several by session."""
    if isinstance(content, dict):
        if _is_message(content):
            return False  # a single message is a line of JSON lines
        return any(matches(each) for each in content.values() if isinstance(each, list))
    return isinstance(content, list) and bool(content) and _is_message(content[0])


def read(content: Any, reading: FileReading) -> Iterator[Object]:
    """Yield the messages as turns."""
    if not matches(content):
        raise InputError('LangChain\'s history is a list of {"type": ..., "data": {...}}')
    if isinstance(content, list):
        yield from _turns(content, reading.document, reading)
        return
    for name, session in content.items():
        if isinstance(session, list) and matches(session):
            document = reading.document if name == "messages" else str(name)
            yield from _turns(session, document, reading)
        else:
            reading.skip(f"field {name!r}")


def _is_message(value: object) -> bool:
    each = as_dict(value)
    return (isinstance(each.get("type"), str) and isinstance(each.get("data"), dict)) or (
        each.get("lc") == 1 and isinstance(each.get("kwargs"), dict)
    )


def _turns(messages: list[Any], document: str, reading: FileReading) -> Iterator[Object]:
    for place, message in enumerate(messages, 1):
        if not _is_message(message):
            reading.skip("item that is no message")
            continue
        data = message["data"] if "data" in message else message["kwargs"]
        kind = _kind(message, data)
        role = _ROLES.get(kind)
        speaker = data.get("name")
        if kind == "chat":
            role, speaker = _chat_role(data.get("role"), speaker)
        if role is None and speaker is None:
            reading.skip(f"message of type {kind}")
            continue
        times = {**as_dict(data.get("additional_kwargs")), **as_dict(data.get("response_metadata"))}
        turn = {
            "id": data.get("id") or f"{document}/{place}",
            "role": role,
            "name": speaker,
            "content": data.get("content"),
            "tool_calls": list(_calls(data, reading)),
            "at": reading.time(times.get("created_at") or times.get("timestamp")),
            "document_id": document,
        }
        yield from reading.turns(turn)


def _kind(message: dict[str, Any], data: dict[str, Any]) -> str:
    """Return the type of a message; that of a chunk of one is the same."""
    name = message.get("type") if "data" in message else data.get("type")
    if name is None:
        name = str(as_list(message.get("id"))[-1:])
    name = str(name).strip("[]'")
    return name.removesuffix("Chunk").removesuffix("Message").lower()


def _chat_role(given: object, name: object) -> tuple[str | None, Any]:
    """Return the role and the speaker of a message whose role is any word."""
    try:
        return ROLES[role_number(given)], name
    except InputError:
        return "user", name or given


def _calls(data: dict[str, Any], reading: FileReading) -> Iterator[dict[str, Any]]:
    for call in as_list(data.get("tool_calls")):
        each = as_dict(call)
        if not isinstance(each.get("name"), str) or not each["name"].strip():
            reading.skip("call of a tool without a name")
            continue
        arguments = json.dumps(each.get("args") or {}, ensure_ascii=False, default=str)
        yield {"function": {"name": each["name"], "arguments": arguments}}


FORMATS = (
    Format(
        "langchain",
        ("json",),
        "`messages_to_dict`, the file history, a dict of sessions, `dumpd`",
        "turns; a session is a document",
        matches,
        read,
    ),
)
