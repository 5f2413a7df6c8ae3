"""Which facts of the graph rest on forgotten memories alone? Those that were drawn from turns.

A fact that a caller recorded stays until it is closed: it has an author. One that `Agent.extract`
drew has none but the turns that it cites, and the log says by whom it was drawn.
"""

from collections.abc import Collection, Iterable, Iterator

from recollex_engine.domain.schema import NONE
from recollex_engine.state.columns import Columns

EXTRACTION = "extraction"
"""Who records the facts that a language model draws from turns."""

UNSUPPORTED = "what it rests on was forgotten"
"""Why a fact or an opinion is closed with its evidence, in the log."""


def unsupported_facts(columns: Columns, gone: Collection[int]) -> list[tuple[str, int]]:
    """Return the id and the open version of each drawn fact that rests on ``gone`` alone.

    gone: memories that are being forgotten. Evidence that was forgotten before, or replaced, counts
    as gone, too. Cost: a look-up for each version of them, and each fact that cites it.
    """
    labels = columns.dictionary["labels"]
    drawer = labels.get(f"b:{EXTRACTION}")
    if drawer is None:
        return []
    array = columns.array
    closed_by = array("fact_closed_by")
    made_by = array("op_by")
    made_at = array("fact_op")
    keys = set(array("id")[list(gone)].tolist())
    found = []
    for version in sorted(set(_citing(columns, gone))):
        if closed_by[version] or int(made_by[int(made_at[version]) - 1]) != drawer:
            continue
        if not any(_part(columns, "fact_mention", version)) and all(
            _is_gone(columns, int(array("id")[each]), keys)
            for each in _part(columns, "fact_evidence", version)
        ):
            key = int(array("fact_id")[version])
            found.append((columns.dictionary["fact_ids"].string(key), version))
    return found


def _citing(columns: Columns, memories: Iterable[int]) -> Iterator[int]:
    """Yield the versions of facts that cite one of some memories, or an earlier version of it."""
    before = columns.array("fact_evidence_previous")
    facts = columns.array("fact_evidence_fact")
    for newest in memories:
        memory = newest
        while memory != NONE:
            entry = columns.facts.head("fact_evidence", memory)
            while entry != NONE:
                yield int(facts[entry])
                entry = int(before[entry])
            memory = int(columns.array("previous")[memory])


def _part(columns: Columns, name: str, version: int) -> list[int]:
    ends = columns.array(f"{name}_end")
    first = int(ends[version - 1]) if version else 0
    part: list[int] = columns.array(name)[first : int(ends[version])].tolist()
    return part


def _is_gone(columns: Columns, key: int, forgotten: Collection[int]) -> bool:
    if key in forgotten:
        return True
    return columns.closable(columns.dictionary["ids"].string(key), "forget") is None
