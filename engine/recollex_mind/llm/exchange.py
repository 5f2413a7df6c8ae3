"""What is sent to a language model, and what comes back."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from recollex_engine import fork
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


# What was asked of a language model, by operation: requests, tokens, seconds and cost.
Price = tuple[float, float]
"""Dollars for a million tokens of prompts, and of answers."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The sum of one operation, such as "think" (the rows of TEMPR's Table 3).

    calls: answers that were asked for. requests: those sent, retries and repairs among them; an
    answer from the cache or a recording sends none. retries: requests repeated because the endpoint
    failed; repairs: because an answer did not fit its schema. failures: calls that got no answer.
    seconds: from the call to its end, the waiting included. cost: dollars; None without a price.
    estimated: whether some tokens were not counted by the endpoint.
    """

    calls: int = 0
    requests: int = 0
    retries: int = 0
    repairs: int = 0
    cached: int = 0
    failures: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    cost: float | None = None
    estimated: bool = False


class Meter:
    """Counts what each operation uses. Threads: any number."""

    def __init__(self, price: Price | None) -> None:
        self._price = price
        self._lock = fork.lock()
        self._by_operation: dict[str, Usage] = {}

    def add(self, operation: str, **counts: float) -> None:
        """Add to the counts of an operation."""
        with self._lock:
            used = self._by_operation.get(operation) or Usage(
                cost=None if self._price is None else 0.0
            )
            sums = {name: getattr(used, name) + more for name, more in counts.items()}
            self._by_operation[operation] = replace(used, **sums)

    def add_reply(self, operation: str, reply: Reply) -> None:
        """Add the tokens of an answer that was sent, and their cost."""
        counts: dict[str, float] = {
            "prompt_tokens": reply.prompt_tokens,
            "answer_tokens": reply.answer_tokens,
            "cached_tokens": reply.cached_tokens,
        }
        if self._price is not None:
            asked, answered = self._price
            counts["cost"] = (reply.prompt_tokens * asked + reply.answer_tokens * answered) / 1e6
        self.add(operation, **counts)
        if reply.estimated:
            with self._lock:
                used = self._by_operation[operation]
                self._by_operation[operation] = replace(used, estimated=True)

    def read(self) -> Mapping[str, Usage]:
        """Return the sums of each operation, by name."""
        with self._lock:
            return dict(sorted(self._by_operation.items()))
