"""Turns of a conversation: reading one as a statement, and its passages for the embedder.

What does a message of a chat API say? Its content parts and tool calls, as one text.
Parts are written one a line, in their order. OpenAI's chat and responses, Anthropic's messages and
Gemini name their parts differently; all of these names are known. What is not text becomes a note
in brackets: the memory then says that there was a picture, but not what it showed.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from recollex_engine.clock import to_micros, zone_said
from recollex_engine.domain.checks import (
    MAX_NAME,
    MAX_TEXT,
    check_metadata,
    check_text,
)
from recollex_engine.domain.statement import Statement
from recollex_engine.domain.trust import ROLES, TOOL, TurnStamps, role_number, role_of_speaker
from recollex_engine.errors import InputError

_TEXTS = {
    **dict.fromkeys(("text", "input_text", "output_text", "summary_text"), "text"),
    "refusal": "refusal",
}
"""Type of a part -> the field that holds its text."""
_NOTES = {
    **dict.fromkeys(("image", "image_url", "input_image", "output_image", "image_file"), "picture"),
    **dict.fromkeys(("audio", "input_audio", "output_audio", "audio_url"), "audio"),
    **dict.fromkeys(("video", "video_url", "input_video"), "video"),
    **dict.fromkeys(("file", "input_file", "document"), "file"),
}
"""Type of a part -> what a note calls it."""
_UNSAID = ("thinking", "redacted_thinking", "reasoning")
"""Types of parts that are left out: the model did not say them."""
_CALL = "tool_use"
_RESULT = "tool_result"
_KNOWN = (*_TEXTS, *_NOTES, _CALL, _RESULT, *_UNSAID)


def read_content(content: object, name: str) -> str:
    r"""Return the text of a message's content: a str, or a list of parts; "" for None.

    A part of text gives its text. A picture, audio, video or file gives "[picture]" and so on; a
    call of a tool "[tool: NAME ARGUMENTS]", and the result of one its own content. Thinking is left
    out. Raises `InputError`, which names the part, for an unknown type.

    >>> read_content([{"type": "text", "text": "Look!"}, {"type": "image_url"}], "content")
    'Look!\n[picture]'
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        raise InputError(
            f"{name} must be a str or a list of content parts, got {type(content).__name__}"
        )
    lines = (
        line for place, part in enumerate(content) for line in _lines(part, f"{name}[{place}]")
    )
    return "\n".join(line for line in lines if line)


def _lines(part: object, name: str) -> Iterator[str]:
    if isinstance(part, str):
        yield part
        return
    if not isinstance(part, Mapping):
        raise InputError(f"{name} must be a dict or a str, got {type(part).__name__}")
    kind = part.get("type", "text" if "text" in part else None)
    if not isinstance(kind, str) or kind not in _KNOWN:
        raise InputError(
            f"{name}['type'] must be one of {', '.join(_KNOWN)}, got {kind!r}: leave the part out, "
            "or give it as a part of text"
        )
    if (field := _TEXTS.get(kind)) is not None:
        text = part.get(field)
        if not isinstance(text, str):
            raise InputError(f"{name}[{field!r}] must be a str, got {type(text).__name__}")
        yield text
    elif (note := _NOTES.get(kind)) is not None:
        yield f"[{note}]"
    elif kind == _CALL:
        yield _call(part.get("name"), part.get("input"), name)
    elif kind == _RESULT:
        yield read_content(part.get("content"), f"{name}['content']")


def is_tool_result(part: object) -> bool:
    """Return whether a content part holds the result of a tool, in any of the APIs' forms.

    >>> is_tool_result({"type": "tool_result", "content": "12 C"})
    True
    """
    if not isinstance(part, Mapping):
        return False
    kind = part.get("type")
    named = isinstance(kind, str) and kind.endswith(("_result", "_output"))
    return named or "functionResponse" in part or "function_response" in part


def read_tool_calls(calls: object, name: str) -> str:
    """Return the calls of tools of an OpenAI message, one a line; "" for None.

    >>> read_tool_calls([{"function": {"name": "find", "arguments": '{"word": "tea"}'}}], "calls")
    '[tool: find {"word": "tea"}]'
    """
    if calls is None:
        return ""
    if not isinstance(calls, list | tuple):
        raise InputError(f"{name} must be a list of dicts, got {type(calls).__name__}")
    lines = []
    for place, call in enumerate(calls):
        function = call.get("function", call) if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            raise InputError(f"{name}[{place}] must be a dict with a function")
        lines.append(_call(function.get("name"), function.get("arguments"), f"{name}[{place}]"))
    return "\n".join(lines)


def _call(called: object, arguments: Any, name: str) -> str:
    check_text(called, f"{name}['name']", MAX_TEXT)
    if not arguments:
        return f"[tool: {called}]"
    if not isinstance(arguments, str):
        try:
            arguments = orjson.dumps(arguments).decode()
        except TypeError as error:
            raise InputError(f"{name} has arguments that are no JSON values: {error}") from None
    return f"[tool: {called} {arguments}]"


FIELDS = ("speaker", "text", "at", "caption", "id", "metadata", "valid_until")
CHAT_FIELDS = ("role", "content", "name", "tool_calls", "tool_call_id")
"""Fields of a message of a chat API: `name` is a speaker, and `tool_call_id` is not kept."""
_SAYING = ("text", "caption", "tool_calls")
"""Fields beside the content that say something."""
_OF_RESULTS = ("at", "metadata", "valid_until")
"""Fields of a message that hold for the results in it too."""
_TOOLS = ("tool", "function")
_NO_STAMPS = TurnStamps()


def read_turn(
    turn: object,
    place: int,
    document: str,
    context: str | None = None,
    network: int = 0,
    tags: tuple[str, ...] = (),
    stamps: TurnStamps = _NO_STAMPS,
    zone: str | None = None,
) -> Statement:
    """Return turn number ``place`` of a conversation as a statement that is clear by itself.

    Its text is ``speaker: text``, followed by the caption of its picture. So a reader who sees only
    this memory knows who said it and what was shown. A turn with a role and without a speaker has
    the role as its speaker; one whose speaker is named by a role has that role. The
    stamp is one of ``stamps``, by the role that the turn names itself. Raises `InputError`, which
    names the turn.

    >>> read_turn({"speaker": "Ann", "text": "Look!", "caption": "a red kite"}, 0, "d").text
    'Ann: Look! [picture: a red kite]'
    >>> read_turn({"role": "user", "content": "I moved to Oslo."}, 0, "d").text
    'user: I moved to Oslo.'
    """
    name = f"turns[{place}]"
    if not isinstance(turn, Mapping):
        raise InputError(f"{name} must be a dict, got {type(turn).__name__}")
    if unknown := [key for key in turn if key not in FIELDS and key not in CHAT_FIELDS]:
        known = ", ".join((*FIELDS, *CHAT_FIELDS))
        raise InputError(f"{name} has the field {unknown[0]!r}; known are {known}")
    speaker, role = _speaker(turn, name)
    words = _words(turn, name)
    if speaker is not None:
        words = f"{speaker}: {words}"
    if (id := turn.get("id")) is not None:
        check_text(id, f"{name}['id']", MAX_NAME)
    metadata = turn.get("metadata")
    metadata = {} if metadata is None else metadata
    source, trust = stamps.of(0 if turn.get("role") is None else role)
    check_metadata(metadata, f"{name}['metadata']")
    return Statement(
        words,
        said_at=_moment(turn, name, "at"),
        zone=zone_said(turn.get("at")) or zone,
        id=id,
        network=network,
        context=context,
        document=document,
        speaker=speaker,
        entities=(),
        tags=tags,
        metadata=dict(metadata),
        valid_until=_moment(turn, name, "valid_until"),
        role=role,
        source=source,
        trust=trust,
    )


def split_turn(turn: Any) -> list[Any]:
    """Return a turn as one or more: results of tools in another's message are turns of the tool.

    Anthropic's API has such results in a message of the user, who did not say them. Each becomes a
    turn, in order; what else is in the message becomes one, which stands first or last, as in the
    message. The first turn keeps the id, and the next are "ID#2" and so on.

    >>> parts = [{"type": "tool_result", "content": "12 C"}, {"type": "text", "text": "Warm!"}]
    >>> turns = split_turn({"role": "user", "content": parts})
    >>> [read_turn(each, 0, "d").text for each in turns]
    ['tool: 12 C', 'user: Warm!']
    """
    content = turn.get("content") if isinstance(turn, Mapping) else None
    if not isinstance(content, list | tuple) or not any(map(is_tool_result, content)):
        return [turn]
    if turn.get("role") in _TOOLS:
        return [turn]
    shared = {field: turn[field] for field in _OF_RESULTS if field in turn}
    turns = [
        {**shared, "role": ROLES[TOOL], "content": [part], "tool_call_id": part.get("tool_use_id")}
        for part in content
        if is_tool_result(part)
    ]
    words = {**turn, "content": [part for part in content if not is_tool_result(part)]}
    turns.insert(len(turns) if is_tool_result(content[0]) else 0, words)
    turns = [each for each in turns if _says_anything(each)] or turns[:1]
    if isinstance(id := turn.get("id"), str):
        for place, each in enumerate(turns, 1):
            end = "" if place == 1 else f"#{place}"
            each["id"] = f"{id[: MAX_NAME - len(end)]}{end}"
    return turns


def _says_anything(turn: Mapping[str, Any]) -> bool:
    if any(turn.get(field) for field in _SAYING):
        return True
    try:
        return read_content(turn["content"], "content").strip() != ""
    except InputError:  # who reads the turn says so
        return True


def _speaker(turn: Mapping[str, Any], name: str) -> tuple[str | None, int]:
    """Return the speaker of a turn, and the number of their role."""
    speaker = turn.get("speaker")
    given = turn.get("role")
    if speaker is None:
        speaker = turn.get("name")
        if speaker is not None:
            check_text(speaker, f"{name}['name']", MAX_NAME)
    else:
        check_text(speaker, f"{name}['speaker']", MAX_NAME)
    if given is None:
        return speaker, role_of_speaker(speaker)
    role = role_number(given, f"{name}['role']")
    return (ROLES[role] if speaker is None else speaker), role


def _words(turn: Mapping[str, Any], name: str) -> str:
    """Return what a turn says, without its speaker."""
    text, content, caption = (turn.get(field) for field in ("text", "content", "caption"))
    if text is not None and content is not None:
        raise InputError(f"{name} has both text and content: give one of them")
    if caption is not None:
        check_text(caption, f"{name}['caption']", MAX_TEXT)
    calls = read_tool_calls(turn.get("tool_calls"), f"{name}['tool_calls']")
    if content is not None:
        text = read_content(content, f"{name}['content']")
    if text is None and caption is None and not calls:
        raise InputError(f"{name} has neither text nor caption nor content")
    said = []
    if text is not None and not (text == "" and (caption is not None or calls)):
        check_text(text, f"{name}['{'text' if content is None else 'content'}']", MAX_TEXT)
        said.append(text)
    if caption is not None:
        said.append(f"[picture: {caption}]")
    return "\n".join(filter(None, (" ".join(said), calls)))


def passages_to_embed(
    text: str, spans: Sequence[tuple[int, int]], speaker: str | None
) -> list[str]:
    """Return the texts that the model embeds for a memory, one for each passage.

    Each passage of a turn becomes ``speaker said: ...``. Measured: a small model finds "Ann said:
    ..." more often than "Ann: ...", and both more often than the words without the speaker.

    >>> passages_to_embed("Ann: Look!", [(0, 10)], "Ann")
    ['Ann said: Look!']
    """
    parts = [text[start:end] for start, end in spans]
    if not is_spoken(text, speaker):
        return parts
    parts[0] = parts[0].removeprefix(f"{speaker}: ")
    return [f"{speaker} said: {part}" for part in parts]


def is_spoken(text: str, speaker: str | None) -> bool:
    """Return whether a text begins with its speaker, as the text of a turn does."""
    return speaker is not None and text.startswith(f"{speaker}: ")


def _moment(turn: Mapping[str, Any], name: str, field: str) -> int | None:
    value = turn.get(field)
    return None if value is None else to_micros(value, f"{name}['{field}']")
