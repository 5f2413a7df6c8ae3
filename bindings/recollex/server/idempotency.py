"""Was this write done before? What was answered to keyed writes, for as long as it is kept."""

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Literal

from recollex.server.calls import Call
from recollex_engine.errors import InputError

KEPT = 600.0
"""Seconds for which an answer is kept."""


Found = Literal["new", "running", "answered"]
_Place = tuple[str, str, str, object]
"""Who asks, of which agent, the key, and the convert of the answer."""


@dataclass(slots=True)
class _Entry:
    digest: int
    since: float
    call: Call | None
    followers: list[Call] = field(default_factory=list)
    result: Any = None
    error: BaseException | None = None


class IdempotencyCache:
    """The answers to writes that were sent with a key, by who sent it, the agent and the key.

    A repetition is answered as the first was, while it is kept: `KEPT` seconds, and ``most`` in
    all. One that comes while the first runs waits for it. An answer of the service itself (too much
    waits, no time left before it began) is not kept: nothing was done.

    Threads: the event loop's.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: OrderedDict[_Place, _Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, call: Call) -> Found:
        """Return whether a call is "new", the same as one that is "running", or "answered".

        One that runs is waited for: `done` of the first returns this one. Raises `InputError` for a
        key that was given to another call.
        """
        place = _place(call)
        found = self._entries.get(place)
        now = time.monotonic()
        if found is not None and (found.call is not None or now - found.since < KEPT):
            if found.digest != _digest(call):
                raise InputError(f"key {place[2]!r} was given to another call before")
            if found.call is not None:
                found.followers.append(call)
                return "running"
            call.result, call.error = found.result, found.error
            return "answered"
        self._entries[place] = _Entry(_digest(call), now, call)
        self._entries.move_to_end(place)
        self._shrink(now)
        return "new"

    def done(self, call: Call, keep: bool) -> list[Call]:
        """Note the answer to a call, and return those that wait for the same one."""
        place = _place(call)
        found = self._entries.get(place)
        if found is None or found.call is not call:
            return []
        followers, found.followers, found.call = found.followers, [], None
        for each in followers:
            each.result, each.error = call.result, call.error
        if keep:
            found.result, found.error = call.result, call.error
        else:
            del self._entries[place]
        return followers

    def _shrink(self, now: float) -> None:
        while self._entries:
            place, oldest = next(iter(self._entries.items()))
            if len(self._entries) <= self._most and now - oldest.since < KEPT:
                return
            if oldest.call is not None:
                return  # it runs, and so do those behind it, or they ran lately
            del self._entries[place]


def _place(call: Call) -> _Place:
    return call.principal.name, call.agent, call.options.key or "", call.convert


def _digest(call: Call) -> int:
    return hash((call.method.name, tuple(sorted(call.arguments))))
