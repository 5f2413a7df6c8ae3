"""What does a message of a chat API say? Its content parts and tool calls, as one text.

Parts are written one a line, in their order. OpenAI's chat and responses, Anthropic's messages and
Gemini name their parts differently; all of these names are known. What is not text becomes a note
in brackets: the memory then says that there was a picture, but not what it showed.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from recollex_engine.domain.checks import MAX_TEXT, check_text
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
