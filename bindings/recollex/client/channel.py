"""What carries one call at a time to a server, whatever it speaks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from recollex.api.progress import ProgressListener


class Channel(Protocol):
    """One connection to a server, used by one thread at a time.

    instance: of the server that answers, drawn anew each time it starts: what it still knows of
    calls it answered before is gone when this changed. reports_progress: whether it tells how far
    a call is, if the call's options ask for it. is_idle: whether it may carry another call; not
    while one is under way, and never again after one that was left or lost.
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

        deadline: on `time.monotonic`'s clock. Raises `LostError` where the connection broke,
        `UnsendableError` where nothing was sent; a call that is left before its answer came (by an
        interrupt, or because its time is over) is taken back, and the channel is never idle again.
        """

    def is_alive(self) -> bool:
        """Return whether the other end has not hung up, at the cost of one look at the socket."""

    def close(self) -> None:
        """Hang up."""

    def abandon(self) -> None:
        """Close this process's copy alone, after a fork: the parent goes on using its own."""


@dataclass(eq=False)
class LostError(Exception):
    """A connection broke during a call. sent: whether the server may have read all of the call."""

    reason: str
    sent: bool

    def __str__(self) -> str:
        return self.reason


class UnsendableError(Exception):
    """An argument has no form on the wire; its cause is the `errors.InputError` that says so."""
