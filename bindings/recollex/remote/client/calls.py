"""How is a call executed? Over a channel of the pool, with retries if they are safe.

Which writes may be executed twice? Those whose ids are made before they are first sent.
Retaining a memory that exists with the same id and content changes nothing. So a retain that is
sent again after a lost connection is stored once, even if the server was restarted.
`stubs.fresh_ids` makes the ids.
"""

import os
import random
import time
from collections.abc import Mapping
from typing import Any

from recollex.api.progress import ProgressListener
from recollex.remote.client.pool import Pool
from recollex.remote.client.sockets import Channel, LostError
from recollex.remote.wire.methods import METHODS
from recollex_engine.domain.memory_operations import Retain
from recollex_engine.domain.operations import UpsertEdge, UpsertEntity, UpsertEpisode, UpsertEvent
from recollex_engine.errors import DisconnectedError, OverloadedError, RecollexError

SAFE_METHODS = frozenset(
    {
        "retain",
        "retain_many",
        "retain_dialogue",
        "apply",
        "transact",
        "checkpoint",
        "facts.add",
        "facts.add_entity",
        "events.add",
        "events.add_episode",
    }
)
"""Writes that may be idempotent; `is_idempotent` decides by their arguments."""
OPERATIONS = (Retain, UpsertEdge, UpsertEntity, UpsertEpisode, UpsertEvent)
"""Operations that change nothing when they are recorded again: their ids depend on the content."""
_WORDS = frozenset(kind.word for kind in OPERATIONS if kind is not Retain)


def is_idempotent(method: str, named: Mapping[str, Any]) -> bool:
    """Return whether executing a write with these arguments twice is the same as once.

    A write with ``recorded_at`` is not: the time must be later than the last one, so the second is
    refused. Neither are operations that close something, which is open only once.
    """
    operations = named.get("operations", [])
    return (
        method in SAFE_METHODS
        and named.get("recorded_at") is None
        and isinstance(operations, list)
        and all(map(_is_idempotent, operations))
    )


def _is_idempotent(operation: Any) -> bool:
    if isinstance(operation, Mapping):
        return operation.get("op") in _WORDS
    return isinstance(operation, OPERATIONS)


# When may a call be sent again, and after which pause?
FIRST_PAUSE = 0.01
"""Seconds before the first reconnection; each later pause is twice as long."""
LONGEST_PAUSE = 1.0


class Retries:
    """The retries of one call.

    idempotent: whether the call may be executed twice, as reads may, and writes whose ids the
    client made. Any other write is sent again only to the server process that got it before, which
    knows by the call's key whether it has executed it; a server that was restarted does not know.
    deadline: of the whole call. patience: seconds without a server after which a call fails.

    A call that an overloaded server refuses is sent again after the pause that the server names,
    until its deadline or, without one, until ``patience`` is over.
    """

    def __init__(
        self, method: str, idempotent: bool, deadline: float | None, patience: float
    ) -> None:
        self._method = method
        self._idempotent = idempotent
        self._deadline = deadline
        self._patience = patience
        self._pause = FIRST_PAUSE
        self._sent_to: str | None = None
        self._first_failure: float | None = None

    def check(self, instance: str) -> None:
        """Raise `errors.DisconnectedError` if the call must not be sent to this server."""
        if self._sent_to is not None and not self._idempotent and instance != self._sent_to:
            raise DisconnectedError(
                f"the server was started anew while {self._method} was under way, and cannot know "
                "whether it had done it: look, and call again if it had not"
            )

    def after_loss(self, lost: LostError, instance: str) -> float:
        """Return the seconds to wait before the next attempt, after the connection broke."""
        doubt = ""
        if lost.sent:
            self._sent_to = instance
            doubt = "" if self._idempotent else f"; {self._method} may have been done"
        return self._next(DisconnectedError(f"the server went away ({lost}){doubt}"))

    def after_failure(self, error: DisconnectedError | OverloadedError) -> float:
        """Return the same after no server could be reached, or the server was overloaded."""
        return self._next(error, getattr(error, "retry_after", 0.0))

    def _next(self, error: RecollexError, least: float = 0.0) -> float:
        now = time.monotonic()
        if self._first_failure is None:
            self._first_failure = now
        pause = max(least, self._pause * random.uniform(0.5, 1.0))
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        end = self._first_failure + self._patience
        if self._deadline is not None:
            end = min(end, self._deadline)
        if now + pause > end:
            raise error
        return pause


KEY = 16
"""Random bytes in the key of a write, by which a server knows a write that it has executed."""

CHUNK_ITEMS = 1_000
"""Items in one chunk of a long list."""

_WRITES = frozenset(name for name, method in METHODS.items() if method.scope == "write")
_LISTS = frozenset(name for name, method in METHODS.items() if method.chunks)
_PAIRS = frozenset(name for name, method in METHODS.items() if method.pairs)


class ClientCall:
    """One call, which may be sent several times.

    seconds: its timeout, retries included; None for no timeout. progress: a callback for progress.
    """

    __slots__ = ("_options", "agent", "deadline", "idempotent", "method", "named", "progress")

    def __init__(
        self,
        method: str,
        agent: str | None,
        named: Mapping[str, Any],
        options: Mapping[str, Any],
        seconds: float | None = None,
    ) -> None:
        self.method: str = method
        self.deadline: float | None = None if seconds is None else time.monotonic() + seconds
        self.progress: ProgressListener | None = None
        self.idempotent: bool = True
        self.agent: str | None = agent
        self.named: Mapping[str, Any] = named
        self._options = options
        if method in _WRITES:
            self.idempotent = is_idempotent(method, named)
            self._options = {**options, "key": os.urandom(KEY).hex()}
        elif method in _LISTS:
            self._options = {**options, "parts": CHUNK_ITEMS}

    def params(self, reports_progress: bool) -> list[Any]:
        """Return what is sent: [agent, arguments, options].

        reports_progress: whether the channel does; see `Channel`.
        """
        options = self._options
        if reports_progress and self.progress is not None:
            options = {**options, "progress": True}
        if self.deadline is not None:
            left = max(1, int((self.deadline - time.monotonic()) * 1000))
            options = {**options, "deadline_ms": left}
        return [self.agent, self.named, options]

    def retries(self, patience: float) -> Retries:
        """Return the retries of the call."""
        return Retries(self.method, self.idempotent, self.deadline, patience)

    def received(self, result: Any) -> Any:
        """Return a result as the method returns it: with tuples, which travel as lists."""
        return [tuple(each) for each in result] if self.method in _PAIRS else result


class RemoteCaller:
    """Executes calls, each in the thread that calls.

    patience: seconds without a server after which a call fails. Threads: any number.
    """

    def __init__(self, pool: Pool, patience: float) -> None:
        self._pool = pool
        self._patience = patience

    def close(self) -> None:
        """Close the connections; see `Pool.close`."""
        self._pool.close()

    def do(self, call: ClientCall) -> Any:
        """Return the result of a call, or raise its error."""
        retries: Retries | None = None
        while True:
            try:
                channel = (
                    self._pool.take(call.deadline, call.method)
                    if call.idempotent
                    else self._alive(call)
                )
            except DisconnectedError as error:
                retries = retries or call.retries(self._patience)
                pause = retries.after_failure(error)
            else:
                try:
                    if retries is not None:
                        retries.check(channel.instance)
                    return call.received(
                        channel.exchange(
                            call.method,
                            call.params(channel.reports_progress),
                            call.deadline,
                            call.progress,
                        )
                    )
                except LostError as lost:
                    retries = retries or call.retries(self._patience)
                    pause = retries.after_loss(lost, channel.instance)
                    self._pool.discard_idle()  # their connections are lost, too
                except OverloadedError as error:
                    retries = retries or call.retries(self._patience)
                    pause = retries.after_failure(error)
                finally:
                    self._pool.give(channel)
            time.sleep(pause)

    def _alive(self, call: ClientCall) -> Channel:
        """Return a channel that was checked to be alive, for a call that may be sent only once."""
        while True:
            channel = self._pool.take(call.deadline, call.method)
            if channel.is_alive():
                return channel
            self._pool.discard(channel)
