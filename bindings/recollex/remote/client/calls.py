"""How is a call executed? Over a channel of the pool, with retries if they are safe."""

import os
import time
from collections.abc import Mapping
from typing import Any

from recollex.api.progress import ProgressListener
from recollex.remote.client.channel import Channel, LostError
from recollex.remote.client.idempotency import is_idempotent
from recollex.remote.client.pool import Pool
from recollex.remote.client.retries import Retries
from recollex.remote.wire.methods import METHODS
from recollex_engine.errors import DisconnectedError, OverloadedError

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

    __slots__ = ("_agent", "_named", "_options", "deadline", "idempotent", "method", "progress")

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
        self._agent = agent
        self._named = named
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
        return [self._agent, self._named, options]

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
