"""A framework's message as a turn that can be recalled, and that gives the message back as it was.

The turn says what the message says, with the role of who said it. The message itself is in the
metadata; one that is too long for that is the text, as JSON.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from recollex_engine.domain.checks import MAX_METADATA, mended
from recollex_engine.domain.trust import role_number
from recollex_engine.domain.turn import is_tool_result, read_content
from recollex_engine.errors import InputError

ROLE_OF_RESULTS = "tool"
KEPT = "message"
AS_TEXT = "message_is_text"
SOURCES: Mapping[str, str] = {"user": "user", "assistant": "assistant", "tool": "tool"}
"""The sources of turns whose roles the framework has set."""
_LONGEST = MAX_METADATA - 100
"""Bytes of a message as JSON that is kept in the metadata."""


def kept_turn(message: Mapping[str, Any], role: str, content: Any) -> dict[str, Any]:
    """Return a turn of `Agent.retain_dialogue` for a message.

    role: one of `recollex_engine.domain.trust`; another is "assistant". content: what it says, a
    text or a list of parts. A message that holds a result of a tool is the tool's as a whole, since
    it is kept as one: its words are not trusted as the user's. Raises `InputError` for a message
    that is not JSON, or that has more than a million characters.

    >>> turn = kept_turn({"type": "message", "content": "Hi!"}, "user", "Hi!")
    >>> turn["content"], turn["metadata"]
    ('Hi!', {'message': {'type': 'message', 'content': 'Hi!'}})
    """
    message = mended(message)
    content = mended(content)
    try:
        raw = orjson.dumps(message)
    except TypeError as error:
        raise InputError(f"a message is not JSON: {error}") from None
    if isinstance(content, list | tuple) and any(map(is_tool_result, content)):
        role = ROLE_OF_RESULTS
    turn: dict[str, Any] = {"role": as_role(role)}
    if len(raw) > _LONGEST:
        return turn | {"content": raw.decode(), "metadata": {AS_TEXT: True}}
    return turn | {"content": said(content) or "[empty]", "metadata": {KEPT: dict(message)}}


def said(content: Any) -> str:
    r"""Return the text of content; that of parts of unknown types is their names.

    >>> said([{"type": "text", "text": "Look!"}, {"type": "hologram"}])
    'Look!\n[hologram]'
    """
    if not isinstance(content, list | tuple):
        return "" if content is None else str(content).strip()
    lines = []
    for part in content:
        try:
            lines.append(read_content([part], "content"))
        except InputError:
            kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
            lines.append(f"[{kind or 'part'}]")
    return "\n".join(filter(None, lines)).strip()


def kept_message(memory: Any) -> Any:
    """Return the message of a memory that `kept_turn` made."""
    if not memory.metadata.get(AS_TEXT):
        return memory.metadata[KEPT]
    return orjson.loads(memory.text.removeprefix(f"{memory.speaker}: "))


def as_role(name: str) -> str:
    """Return a role's name; "assistant" for one that is unknown."""
    try:
        role_number(name)
    except InputError:
        return "assistant"
    return name
