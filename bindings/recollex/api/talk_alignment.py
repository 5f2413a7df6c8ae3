"""Which messages of a list does a session hold already?

A list is the whole talk, or its last messages. A session's messages are numbered, and the id of a
memory holds the number and a digest of what was said. So what is held is read from the ids alone,
also by another process, and two processes that retain one message give it one id.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Any

LONG = 3
"""Messages that make a run in the middle of a session the same talk, and no chance."""
_NUMBERED = re.compile(r"(\d+)-([0-9a-f]{16})")


@dataclass(frozen=True, slots=True)
class Heard:
    """A message as a turn; digest: of who says what."""

    turn: dict[str, Any]
    digest: str

    @classmethod
    def of(cls, turn: Mapping[str, Any], text: str) -> "Heard":
        """Return a turn with the digest of its role, of the tool call it answers and its text."""
        said = "\0".join((str(turn["role"]), str(turn.get("tool_call_id") or ""), text))
        return cls(dict(turn), sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16])


def message_id(session: str, place: int, digest: str) -> str:
    """Return the id of the memory that holds a message.

    >>> message_id("chat-7", 3, "0011223344556677")
    'chat-7#3-0011223344556677'
    """
    return f"{session}#{place}-{digest}"


def read_id(session: str, id: str) -> tuple[int, str] | None:
    """Return the number and the digest of a message; None for the id of another memory."""
    start, _, end = id.rpartition("#")
    found = _NUMBERED.fullmatch(end)
    return (int(found[1]), found[2]) if found and start == session else None


def align(held: Sequence[str | None], given: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return the place of each given message in the session, and which of the messages are new.

    held: digests by place; None, which equals any, where a message was forgotten. The list goes on
    from the longest run of messages that the session holds too and that starts where the session
    starts or ends where it ends; else from one that is `LONG`. After that run a message is new if
    the session does not hold it later on: so an edited talk adds what was edited. The end of a talk
    that repeats itself word for word can stand in several places; a whole list cannot.

    >>> align(["a", "b"], ["a", "b", "c"])
    ([0, 1, 2], [2])
    >>> align(["a", "b", "c"], ["c", "d"])  # the older messages were left out
    ([2, 3], [1])
    >>> align(["a", "b", "c"], ["a", "x", "c"])  # the second was edited
    ([0, 3, 2], [1])
    >>> align(["ok", "a", "ok", "b"], ["ok"])  # said once more: no, it may be the first
    ([0], [])
    >>> align(["a", "ok", "b"], ["ok"])  # said once more
    ([3], [0])
    """
    start, length = _longest_run(held, given)
    places = list(range(start, start + length))
    pointer = start + length
    end = len(held)
    new = []
    for number in range(length, len(given)):
        found = next((at for at in range(pointer, len(held)) if held[at] == given[number]), None)
        if found is None:
            new.append(number)
            places.append(end)
            end += 1
        else:
            places.append(found)
            pointer = found + 1
    return places, new


def _longest_run(held: Sequence[str | None], given: Sequence[str]) -> tuple[int, int]:
    """Return where ``held`` has the longest beginning of ``given`` that counts, and its length."""
    best = (False, 0)
    best_start = len(held)
    for start in range(len(held)):
        length = equal = 0
        for known, digest in zip(islice(held, start, None), given, strict=False):
            if known is not None and known != digest:
                break
            length = length + 1
            equal = equal + (known is not None)
        at_an_end = start == 0 or start + length == len(held)
        if equal >= (1 if at_an_end else LONG) and (at_an_end, length) >= best:
            best = (at_an_end, length)
            best_start = start
    return best_start, best[1]
