"""Sends the operations of a transaction to a server when its block ends."""

from collections.abc import Callable, Sequence
from typing import Any

from recollex_engine.clock import Clock, system_clock
from recollex_engine.domain.operations import Operation


class Recorder:
    """Stands in for the agent of a `recollex.Transaction`; ``send`` sends the operations.

    Operations are checked here when they are made, as in a transaction of an embedded agent. Words
    such as "last week" are relative to the clock of this machine. locale: returns the agent's.
    """

    def __init__(self, send: Callable[[dict[str, Any]], Any], locale: Callable[[], str]) -> None:
        self._send = send
        self.locale = locale
        self.clock: Clock = system_clock

    def writable(self) -> "Recorder":
        """Return what can be written to: the recorder itself."""
        return self

    def transact(
        self,
        operations: Sequence[Operation],
        notes: Sequence[dict[str, str]],
        recorded_at: int | None,
        where: Sequence[str],
    ) -> Any:
        """Send the operations of one transaction."""
        return self._send(
            {
                "operations": list(operations),
                "notes": list(notes),
                "recorded_at": recorded_at,
                "where": list(where),
            }
        )
