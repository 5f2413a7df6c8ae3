"""Which memories does an operation take away, and which others rest on them?

With a memory that is forgotten goes what rests on it alone: facts that were drawn from it, be they
memories or facts of the graph, and opinions.

Which facts of the graph rest on forgotten memories alone? Those that were drawn from turns.
A fact that a caller recorded stays until it is closed: it has an author. One that `Agent.extract`
drew has none but the turns that it cites, and the log says by whom it was drawn.

Which memories rest on others? Facts that were drawn, on their turns, and opinions.
A fact names in its metadata (`schema.EVIDENCE`) the turns that it was drawn from. An opinion names
its evidence there; one that a model formed and that names none rests on all that the model was
shown. An opinion may say what the one said that it supersedes: it goes where that one goes for its
evidence.

Which memory caused a change that the engine made? The one that the note of its record names.
A note that the engine composes has the name of a rule, and at most the id of the memory that caused
the change, at its end. It quotes nothing: the record of a correction stays when the memory that
it speaks of is erased. ::

    same as ID    refined by ID    superseded by ID    narrative-1: refines ID
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from recollex_engine.domain.filter import Filter, read_where
from recollex_engine.domain.schema import (
    CLOSING,
    DRAWN,
    EVIDENCE,
    MADE_BY,
    NONE,
    OPINION,
    SHOWN,
    SUPERSEDES,
)
from recollex_engine.domain.trust import note
from recollex_engine.errors import UnknownIdError
from recollex_engine.facts.fact_view import Ordinals
from recollex_engine.ranking.arms import Mask
from recollex_engine.ranking.filters import passing
from recollex_engine.state.columns import Columns
from recollex_engine.state.replica import Replica
from recollex_engine.state.view import View

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


_ANY_FACT = Filter(where=read_where({DRAWN: {"exists": True}}))


def resting_on(view: View, memories: Ordinals) -> Ordinals:
    """Return all versions of what rests on one of some memories, or on what rests on them.

    Cost: 3 us for each fact that was drawn and each opinion, erased ones left out.
    """
    ids = view.of_memories("id")
    strings = view.columns.dictionary["ids"]
    kept = (view.of_memories("closed_by") != view.of_memories("op")).astype(np.uint8)
    left = {
        each: (set(evidence_of(view.columns, each)), _superseded(view.columns, each))
        for each in drawn(view, kept)
    }
    gone = set(strings.strings(ids[memories].tolist()))
    lost = set[str]()
    found = list[int]()
    while new := [
        each for each, (evidence, before) in left.items() if evidence & gone or before in lost
    ]:
        lost.update(strings.strings(ids[new].tolist()))
        gone |= lost
        found += new
        for each in new:
            del left[each]
    return np.flatnonzero(np.isin(ids, ids[found]))


def unsupported(view: View, forgotten: Collection[str]) -> list[int]:
    """Return what rests on nothing any more once memories of some ids are forgotten, ascending.

    All that it rests on is forgotten, or was replaced, and may have rested on what is returned. It
    is open, or archived, as of the last operation. Cost: as of `resting_on`; a byte for each memory
    where there are no facts and no opinions.
    """
    columns = view.columns
    gone = set(forgotten)
    has_opinions = bool((view.of_memories("network") == OPINION).any())
    if not has_opinions and columns.metadata_values.first(DRAWN) is None:
        return []
    ids = columns.dictionary["ids"]
    left: dict[int, tuple[str, set[str]]] = {}
    for each in drawn(view, (view.of_memories("forgotten_by") == 0).astype(np.uint8)):
        id = ids.string(int(columns.array("id")[each]))
        if id not in gone and columns.closable(id, "forget") == each:
            left[each] = id, set(evidence_of(columns, each))
    found: list[int] = []
    while new := [
        each
        for each, (_, evidence) in left.items()
        if evidence & gone and all(_is_removed(columns, id) for id in evidence - gone)
    ]:
        gone.update(left.pop(each)[0] for each in new)
        found += new
    return sorted(found)


def _is_removed(columns: Columns, id: str) -> bool:
    return columns.closable(id, "forget") is None


def drawn(view: View, mask: Mask) -> list[int]:
    """Return the facts that were drawn, and the opinions, among the memories of a mask."""
    opinions = (view.of_memories("network") == OPINION) & (mask == 1)
    found: list[int] = np.flatnonzero((passing(view, _ANY_FACT, mask) == 1) | opinions).tolist()
    return found


def evidence_of(columns: Columns, memory: int) -> Iterator[str]:
    """Yield the ids of the memories that a fact or an opinion rests on."""
    said = columns.metadata(memory)
    evidence = said.get(EVIDENCE)
    if not evidence and isinstance(made_by := said.get(MADE_BY), dict):
        evidence = made_by.get(SHOWN)
    for each in evidence if isinstance(evidence, list) else ():  # a caller may give anything
        if isinstance(each, str):
            yield each


def _superseded(columns: Columns, opinion: int) -> str | None:
    before = columns.metadata(opinion).get(SUPERSEDES)
    return before if isinstance(before, str) else None


SUPERSEDED = "superseded by "
"""Why a later opinion archives an opinion; its id follows."""

_RULE = re.compile(r"same as |refined by |superseded by |[\w.-]+: \w+ ")


def names_one_of(payload: Mapping[str, Any], ids: Collection[str]) -> bool:
    """Return whether the note of a record is the engine's, and names one of these ids."""
    why = payload.get("why")
    if not ids or why is None or payload.get("by") != EXTRACTION:
        return False
    rule = _RULE.match(why)
    return rule is not None and why[rule.end() :] in ids


def supersedes(payload: Mapping[str, Any], ids: Collection[str]) -> bool:
    """Return whether a record archives an opinion because one of these ids superseded it."""
    why = payload.get("why") or ""
    return why.startswith(SUPERSEDED) and why.removeprefix(SUPERSEDED) in ids


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
