"""Which memories does an operation forget or archive? Those of some ids, or of a filter."""

from collections.abc import Callable, Sequence

import numpy as np

from recollex_engine.domain.filter import Filter
from recollex_engine.errors import UnknownIdError
from recollex_engine.ranking.filters import passing
from recollex_engine.state.replica import Replica

Choice = Callable[[Replica], list[int]]
"""Returns memories by their ordinals, ascending, of the last operation of a replica."""


def of_ids(ids: Sequence[str], kind: str, agent: str) -> Choice:
    """Choose the memories of ids that an operation of ``kind`` can close.

    An archived memory can still be forgotten. The choice raises `UnknownIdError` for the first id
    that no such memory has.
    """

    def choose(replica: Replica) -> list[int]:
        memories = set()
        for id in ids:
            memory = replica.columns.closable(id, kind)
            if memory is None:
                raise UnknownIdError(id, agent)
            memories.add(memory)
        return sorted(memories)

    return choose


def of_filter(wanted: Filter) -> Choice:
    """Choose the open memories that pass a filter."""

    def choose(replica: Replica) -> list[int]:
        view = replica.view(replica.columns.op)
        found: list[int] = np.flatnonzero(passing(view, wanted, view.open)).tolist()
        return found

    return choose
