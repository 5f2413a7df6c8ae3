"""Which operations of some kinds has an agent's log? Read once, as the log grows."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from recollex_engine import fork
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.domain.schema import HOLE
from recollex_engine.log.reader import LogFollower, LogOperation, position_before
from recollex_engine.state.replica import LOG
from recollex_engine.state.view import View


class _Numbered(Protocol):
    @property
    def op(self) -> int: ...


Entry = TypeVar("Entry", bound=_Numbered)


class FollowedKinds(Generic[Entry]):
    """The operations of some kinds of every agent, each as what ``read`` makes of it.

    ``read(operation, payload)`` should keep numbers and no words: what is kept stays in memory
    when an erasure takes the words out of the log. Threads: any number.
    """

    def __init__(
        self, kinds: Sequence[str], read: Callable[[LogOperation, dict[str, Any]], Entry]
    ) -> None:
        self._kinds = tuple(kinds)
        self._read = read
        self._lock = fork.lock()
        self._held: WeakKeyDictionary[AgentOrCut, tuple[int, list[Entry]]] = WeakKeyDictionary()

    def entries(self, agent: AgentOrCut, view: View) -> list[Entry]:
        """Return what a view shows, oldest first, without what was erased before it was read.

        Cost: 4 bytes for each operation since the last call, and the log from the first new
        operation of these kinds on.
        """
        with self._lock:
            first, held = self._held.get(agent, (0, []))
            if view.op > first:
                held += self._new(agent, view, first)
                self._held[agent] = view.op, held
            return [each for each in held if each.op <= view.op]

    def _new(self, agent: AgentOrCut, view: View, first: int) -> list[Entry]:
        columns = view.columns
        labels = [columns.dictionary["labels"].get(f"k:{kind}") for kind in self._kinds]
        known = [label for label in labels if label is not None]
        if not known:
            return []
        places = np.flatnonzero(np.isin(columns.array("op_kind")[first : view.op], known)) + first
        if not len(places):
            return []
        since = int(columns.array("op_recorded_at")[int(places[0])])
        follower = LogFollower(agent.folder / LOG, position_before(agent.folder / LOG, since))
        try:
            return [
                self._read(operation, operation.payload)
                for transaction in follower.read_new(view.op)
                for operation in transaction.operations
                if operation.kind in self._kinds
                and operation.op > first
                and operation.payload
                and HOLE not in operation.payload
            ]
        finally:
            follower.close()
