"""Which memories does an operation forget or archive? Those of some ids, or of a filter.

With a memory that is forgotten goes what rests on it alone: facts that were drawn from it, be they
memories or facts of the graph, and opinions.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recollex_engine.domain.filter import Filter
from recollex_engine.domain.schema import CLOSING
from recollex_engine.domain.trust import note
from recollex_engine.errors import UnknownIdError
from recollex_engine.ranking.filters import passing
from recollex_engine.state.replica import Replica
from recollex_engine.writing.drawn_facts import UNSUPPORTED, unsupported_facts
from recollex_engine.writing.drawn_memories import unsupported

ChooseMemories = Callable[[Replica], list[int]]
"""Returns memories by their ordinals, ascending, of the last operation of a replica."""


FORGET = "forget"
TakenRecord = tuple[str, dict[str, Any]]
"""The kind of an operation, and its payload."""


def with_unsupported(replica: Replica, records: Sequence[TakenRecord]) -> list[TakenRecord]:
    """Return the records of a transaction, and those that close what it leaves without evidence.

    The call that forgets makes them. Cost: nothing unless memories are forgotten.
    """
    forgetting = [said for kind, said in records if kind == FORGET]
    if not forgetting:
        return list(records)
    columns = replica.columns
    count = replica.columns.memories
    gone = [each for said in forgetting for each in said["memories"] if each < count]
    ids = columns.dictionary["ids"].strings(columns.array("id")[gone].tolist())
    changed = {each for kind, said in records if kind in CLOSING for each in said["memories"]}
    changed.update(said["replaces"] for _, said in records if "replaces" in said)
    found = [each for each in unsupported(replica.view(columns.op), ids) if each not in changed]
    said = note(forgetting[-1].get("by"), UNSUPPORTED)
    closed = {payload.get("closes") for _, payload in records}
    facts = [each for each in unsupported_facts(columns, {*gone, *found}) if each[1] not in closed]
    return [
        *records,
        *([(FORGET, {"memories": found, **said})] if found else []),
        *(("archive_edge", {"id": id, "closes": version, **said}) for id, version in facts),
    ]


def of_ids(ids: Sequence[str], kind: str, agent: str) -> ChooseMemories:
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


def of_filter(wanted: Filter) -> ChooseMemories:
    """Choose the open memories that pass a filter."""

    def choose(replica: Replica) -> list[int]:
        view = replica.view(replica.columns.op)
        found: list[int] = np.flatnonzero(passing(view, wanted, view.open)).tolist()
        return found

    return choose
