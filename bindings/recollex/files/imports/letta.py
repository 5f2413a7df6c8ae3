"""Agents of Letta (MemGPT): an agent file (``.af``), or the passages of an archival memory.

::

    {"agents": [{"id": "agent-0", "name": ..., "block_ids": ["block-0"],
                 "messages": [{"id": "message-0", "role": "user", "created_at": time,
                               "content": [{"type": "text", "text": "..."}],
                               "tool_calls": [{"function": {"name": ..., "arguments": "{}"}}]}]}],
     "blocks": [{"id": "block-0", "label": "human", "value": "..."}], "tools": [...], ...}

The first version was one agent: {"name": ..., "core_memory": [block, ...], "messages": [...]}.
Passages are [{"id": "passage-...", "text": "...", "created_at": time}, ...], alone or as
``passages`` or ``archival_memory`` of an agent. Ids of an agent file count within the file, so that
the next export of an agent gives "message-0" to another message. So a block is named by the agent
and its label, and a message by the agent, its time and a digest of its words.

An agent of MemGPT speaks by its tool send_message: that is what the assistant says, and its own
text is a thought, which is counted and left out. So are the system's prompts, which repeat the
blocks, and events such as heartbeats.
"""

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from recollex.api.foreign_files import parse_json
from recollex.files.imports.formats import Format
from recollex.files.imports.reading import FileReading, Object, as_dict, as_list
from recollex_engine.domain.turn import is_tool_result
from recollex_engine.errors import InputError

_SPEAKS = "send_message"
_SAID = ("role", "content", "text", "tool_calls")
_OTHERS = ("tools", "files", "sources", "groups", "mcp_servers")
"""Parts of an agent file that are no memory."""


def matches(content: Any) -> bool:
    """Return whether this is an agent file, or a list of passages."""
    if isinstance(content, list):
        first = as_dict(content[0]) if content else {}
        return "text" in first and str(first.get("id", "")).startswith("passage-")
    agents = as_list(as_dict(content).get("agents"))
    return "core_memory" in as_dict(content) or any("messages" in as_dict(a) for a in agents)


def read(content: Any, reading: FileReading) -> Iterator[Object]:
    """Yield blocks and passages as memories, and messages as turns."""
    if not matches(content):
        raise InputError("Letta's export is an agent file with agents, or a list of passages")
    if isinstance(content, list):
        yield from _passages(content, None, reading)
        return
    for name in _OTHERS:
        reading.skip(f"item of {name!r}", len(as_list(content.get(name))))
    blocks = {as_dict(each).get("id"): each for each in as_list(content.get("blocks"))}
    for agent in as_list(content.get("agents")) or [content]:
        each = as_dict(agent)
        name = str(each.get("name") or each.get("id") or reading.document)
        own = [blocks.pop(id) for id in as_list(each.get("block_ids")) if id in blocks]
        own += as_list(each.get("core_memory"))
        at = reading.time(content.get("created_at"))
        yield from _blocks(own, name, at, reading)
        for passages in ("passages", "archival_memory"):
            yield from _passages(as_list(each.get(passages)), name, reading)
        for place, message in enumerate(as_list(each.get("messages")), 1):
            yield from _turn(as_dict(message), place, name, reading)
    reading.skip("block of no agent", len(blocks))


def _blocks(blocks: list[Any], name: str, at: str | None, reading: FileReading) -> Iterator[Object]:
    for each in map(as_dict, blocks):
        label = str(each.get("label") or "block")
        memory = {
            "id": f"{name}/{label}",
            "text": str(each.get("value") or "").strip(),
            "event_at": reading.time(each.get("updated_at") or each.get("created_at")) or at,
            "network": "agent" if label == "persona" else "world",
            "tags": ["core memory"],
            "metadata": {"agent": name, "block": label},
        }
        yield from reading.checked(memory, "block")


def _passages(passages: list[Any], name: str | None, reading: FileReading) -> Iterator[Object]:
    for each in map(as_dict, passages):
        metadata = as_dict(each.get("metadata") or each.get("metadata_"))
        memory = {
            "id": each.get("id"),
            "text": each.get("text"),
            "event_at": reading.time(each.get("created_at")),
            "tags": ["archival memory", *(t for t in as_list(each.get("tags")) if t)],
            "metadata": metadata | ({"agent": name} if name else {}),
        }
        yield from reading.checked(memory, "passage")


def _turn(message: dict[str, Any], place: int, name: str, reading: FileReading) -> Iterator[Object]:
    role = message.get("role")
    at = reading.time(message.get("created_at"))
    content = message.get("content") or message.get("text")
    text = reading.content(content)
    calls = [as_dict(each) for each in as_list(message.get("tool_calls"))]
    if any(map(is_tool_result, as_list(content))):
        role = "tool"
    if role == "system":
        reading.skip("system prompt")
        return
    if role not in ("user", "assistant", "tool"):
        reading.skip(f"message of the role {role}")
        return
    if role == "assistant":
        said = [words for call in calls if (words := _sent(call)) is not None]
        calls = [call for call in calls if _sent(call) is None]
        if said:
            reading.skip("thought", bool(text))
            text = "\n".join(said)
    else:
        unpacked = _unpacked(text, reading)
        if unpacked is None:
            return
        text = unpacked
    turn = {
        "id": f"{name}/{_own_name(message, place)}",
        "role": role,
        "name": message.get("name") if role != "tool" else None,
        "content": text,
        "tool_calls": [call for call in calls if as_dict(call.get("function")).get("name")],
        "at": at,
        "document_id": name,
    }
    yield from reading.checked(turn, "message")


def _own_name(message: dict[str, Any], place: int) -> str:
    """Return what names a message among those of its agent, in each export; see the module."""
    at = message.get("created_at")
    if not at:
        return str(message.get("id") or place)
    said = json.dumps([message.get(each) for each in _SAID], sort_keys=True, default=str)
    return f"{at}/{blake2b(said.encode(), digest_size=4).hexdigest()}"


def _sent(call: dict[str, Any]) -> str | None:
    """Return what a call of send_message says; None for another call."""
    function = as_dict(call.get("function"))
    if function.get("name") != _SPEAKS:
        return None
    try:
        return str(parse_json(function.get("arguments") or "{}").get("message") or "")
    except (ValueError, AttributeError):
        return None


def _unpacked(text: str, reading: FileReading) -> str | None:
    """Return what a user or a tool says of a message that Letta packed as JSON; None for nothing.

    >>> _unpacked('{"type": "user_message", "message": "Hi!", "time": "..."}', FileReading("d"))
    'Hi!'
    """
    try:
        packed = parse_json(text) if text.startswith("{") else None
    except ValueError:
        return text
    if not isinstance(packed, dict) or "message" not in packed:
        kind = packed.get("type") if isinstance(packed, dict) else None
        if kind in ("heartbeat", "login", "system_alert"):
            reading.skip("event of the system")
            return None
        return text
    if packed.get("type") in ("heartbeat", "login", "system_alert"):
        reading.skip("event of the system")
        return None
    said = packed["message"]
    if said in (None, "", "None"):
        reading.skip("result of a tool without a text")
        return None
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


FORMATS = (
    Format(
        "letta",
        ("json",),
        "an agent file (`.af`), or passages of the API",
        "blocks and passages are memories, messages turns",
        matches,
        read,
    ),
)
