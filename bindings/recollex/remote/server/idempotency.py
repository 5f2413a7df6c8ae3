"""The answers to keyed writes, kept so that a repeated write is answered and not done again."""

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal

import orjson

from recollex.remote.server.access import Principal
from recollex.remote.server.calls import Call
from recollex.remote.wire.codec import encode
from recollex_engine.errors import InputError

KEPT = 600.0
"""Seconds for which an answer is kept."""


KeyState = Literal["new", "running", "answered"]
_Place = tuple[Principal, str, str]
"""The principal, the agent and the key."""
_Write = tuple[str, object, bytes]
"""The method, the conversion of its result, and the digest of its arguments."""


@dataclass(slots=True)
class _Entry:
    write: _Write
    since: float
    call: Call | None
    followers: list[Call] = field(default_factory=list)
    result: Any = None
    error: BaseException | None = None


class IdempotencyCache:
    """The answers to writes that came with a key, by principal, agent and key.

    A write is repeated if it has the same method, the same arguments and is answered in the same
    form; any other write with its key is refused. A repeated write gets the first answer while that
    is kept: for `KEPT` seconds, and at most ``most`` answers in all. One that comes while the first
    still runs waits for it. A refusal by the service itself (overload, or a deadline that passed
    before the write began) is not kept, because nothing was written.

    Threads: the event loop's.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: OrderedDict[_Place, _Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, call: Call) -> KeyState:
        """Return whether a call is "new", repeats a "running" one, or is "answered".

        A call that repeats a running one is returned by `done` of the first. Raises `InputError`
        for a key that was used for a different call.
        """
        place = _place(call)
        write = _write(call)
        found = self._entries.get(place)
        now = time.monotonic()
        if found is not None and (found.call is not None or now - found.since < KEPT):
            if found.write != write:
                raise InputError(
                    f"key {place[2]!r} was given to another call before, of {found.write[0]}: "
                    f"nothing of this {write[0]} was done; give every write a key of its own"
                )
            if found.call is not None:
                found.followers.append(call)
                return "running"
            call.result = found.result
            call.error = found.error
            return "answered"
        self._entries[place] = _Entry(write, now, call)
        self._entries.move_to_end(place)
        self._shrink(now)
        return "new"

    def done(self, call: Call, keep: bool) -> list[Call]:
        """Record the answer to a call, and return the calls that repeat it."""
        place = _place(call)
        found = self._entries.get(place)
        if found is None or found.call is not call:
            return []
        followers = found.followers
        found.followers = []
        found.call = None
        for each in followers:
            each.result = call.result
            each.error = call.error
        if keep:
            found.result = call.result
            found.error = call.error
        else:
            del self._entries[place]
        return followers

    def _shrink(self, now: float) -> None:
        while self._entries:
            place, oldest = next(iter(self._entries.items()))
            if len(self._entries) <= self._most and now - oldest.since < KEPT:
                return
            if oldest.call is not None:
                return  # it runs; the entries after it run as well, or ran lately
            del self._entries[place]


def _place(call: Call) -> _Place:
    return call.principal, call.agent, call.options.key or ""


def _write(call: Call) -> _Write:
    """Return what makes a write the same one: names may come in another order, values may not."""
    try:
        said = orjson.dumps(dict(call.arguments), default=_exact, option=_EXACTLY)
    except orjson.JSONEncodeError:  # names that are bytes, say, which the method will refuse
        said = encode(call.arguments)
    return call.method.name, call.convert, blake2b(said, digest_size=16).digest()


_EXACTLY = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_NON_STR_KEYS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
"""JSON with sorted names, in which arrays, times and records have no form of their own."""


def _exact(value: object) -> list[str]:
    """Return what JSON can hold of a value of the protocol, equal only for equal values."""
    return [type(value).__name__, encode(value).hex()]
