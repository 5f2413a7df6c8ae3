"""Which memories rest on others? Facts that were drawn, on their turns, and opinions.

A fact names in its metadata (`schema.EVIDENCE`) the turns that it was drawn from. An opinion names
its evidence there; one that a model formed and that names none rests on all that the model was
shown. An opinion may say what the one said that it supersedes: it goes where that one goes for its
evidence.
"""

from collections.abc import Collection, Iterator

import numpy as np

from recollex_engine.domain.filter import Filter, read_where
from recollex_engine.domain.schema import DRAWN, EVIDENCE, MADE_BY, OPINION, SHOWN, SUPERSEDES
from recollex_engine.facts.fact_view import Ordinals
from recollex_engine.ranking.arms import Mask
from recollex_engine.ranking.filters import passing
from recollex_engine.state.columns import Columns
from recollex_engine.state.view import View

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
        if evidence & gone and all(_is_gone(columns, id) for id in evidence - gone)
    ]:
        gone.update(left.pop(each)[0] for each in new)
        found += new
    return sorted(found)


def _is_gone(columns: Columns, id: str) -> bool:
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
