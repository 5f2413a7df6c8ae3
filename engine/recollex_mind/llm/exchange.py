"""What is sent to a language model, and what comes back."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from recollex_engine.errors import LanguageModelError

MOST_COUNTED = 1 << 40
"""No answer has so many tokens."""
Message = Mapping[str, str]
"""The "role" ("system", "user" or "assistant") and "content" of one message."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request.

    model: its name. messages: in order. schema: the JSON schema of the answer, and ``schema_name``
    what it is called; None for an answer in words. most_tokens: the longest answer.
    """

    model: str
    messages: tuple[Message, ...]
    schema_name: str | None = None
    schema: Mapping[str, Any] | None = None
    temperature: float = 0.0
    most_tokens: int = 2048

    @property
    def key(self) -> str:
        """A hash of all of it: equal requests have equal keys, on every machine."""
        return hashlib.sha256(orjson.dumps(self.to_dict(), option=orjson.OPT_SORT_KEYS)).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {
            "model": self.model,
            "messages": [dict(message) for message in self.messages],
            "schema_name": self.schema_name,
            "schema": self.schema,
            "temperature": self.temperature,
            "most_tokens": self.most_tokens,
        }


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer.

    finish: "stop", or "length" if it was cut off at ``most_tokens``. prompt_tokens, answer_tokens:
    as the endpoint counts them; cached_tokens: those of the prompt that it had in its own cache.
    estimated: whether the endpoint did not count, so that characters / 4 stand for tokens.
    """

    text: str
    finish: str = "stop"
    prompt_tokens: int = 0
    answer_tokens: int = 0
    cached_tokens: int = 0
    estimated: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


def read_reply(written: Any, where: object) -> Reply:
    """Return the reply that `Reply.to_dict` wrote. Raises `LanguageModelError` for another."""
    try:
        reply = Reply(**written)
        counts = reply.prompt_tokens, reply.answer_tokens, reply.cached_tokens
        words = isinstance(reply.text, str) and isinstance(reply.finish, str)
        if words and None not in map(_count, counts):
            return reply
    except TypeError:
        pass
    raise LanguageModelError(f"{where} holds what is no reply of a model", "damaged")


def mended(text: str) -> str:
    r"""Return a text without lone surrogates, which no file and no request can hold.

    >>> mended("half a \ud83d face, a whole \ud83d\ude00")
    'half a � face, a whole 😀'
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _count(value: object) -> int | None:
    """Return a number of tokens; None for what is none."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < MOST_COUNTED else None


def counted(text: str, finish: str, messages: Sequence[Message], usage: object) -> Reply:
    """Return a reply with its tokens, from the ``usage`` of OpenAI's protocol if it is sound."""
    text = mended(text)
    if isinstance(usage, dict):
        prompt = _count(usage.get("prompt_tokens"))
        answer = usage.get("completion_tokens")
        details = usage.get("prompt_tokens_details")
        cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
        answered = _count(answer or 0)
        if prompt is not None and answered is not None:
            return Reply(text, finish, prompt, answered, cached or 0)
    asked = sum(len(message["content"]) for message in messages)
    return Reply(text, finish, -(-asked // 4), -(-len(text) // 4), 0, True)
