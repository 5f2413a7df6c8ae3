"""A connection to a server that carries one call at a time, over any protocol."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from recollex.api.progress import ProgressListener


class Channel(Protocol):
    """One connection to a server, used by one thread at a time.

    instance: a random id of the server process. When it has changed, the server was restarted and
    does not know the calls that it answered before. reports_progress: whether the server reports
    the progress of a call, if the call's options ask for it. is_idle: whether the channel may carry
    another call: not during a call, and never again after a call that was abandoned or lost.
    """

    instance: str
    reports_progress: bool
    is_idle: bool

    def exchange(
        self,
        method: str,
        params: Sequence[Any],
        deadline: float | None = None,
        progress: ProgressListener | None = None,
    ) -> Any:
        """Send a call and return its result, or raise the error that the server answered.

        deadline: of `time.monotonic`. Raises `LostError` if the connection broke, and
        `UnsendableError` if nothing was sent. If an interrupt or the deadline ends the call before
        its answer, the call is cancelled at the server, and the channel is never idle again.
        """

    def is_alive(self) -> bool:
        """Return whether the other end has not closed the connection; costs one poll."""

    def close(self) -> None:
        """Close the connection."""

    def abandon(self) -> None:
        """Close the copy of this process after a fork; the parent continues to use its own."""


@dataclass(eq=False)
class LostError(Exception):
    """A connection broke during a call. sent: whether the server may have read all of the call."""

    reason: str
    sent: bool

    def __str__(self) -> str:
        return self.reason


class UnsendableError(Exception):
    """An argument has no form on the wire; its cause is the `errors.InputError` that says so."""
