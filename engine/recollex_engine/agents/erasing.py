"""Which memories are erased? Those that a selection finds in a view."""

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.removal import Selection
from recollex_engine.domain.schema import NONE
from recollex_engine.errors import UnknownIdError
from recollex_engine.ranking.filters import passing
from recollex_engine.state.view import View
from recollex_engine.writing.drawn_memories import resting_on
from recollex_engine.writing.erasure_plan import Erasing


def select(view: View, selection: Selection, agent: str) -> Erasing:
    """Return the memories that a selection finds, open and closed, with all versions of their ids.

    Raises `UnknownIdError` for an id that the agent does not have. Cost: O(memories).
    """
    if selection.everything:
        return Erasing(everything=True)
    ids = view.of_memories("id")
    erased = view.of_memories("closed_by") == view.of_memories("op")
    mask = np.ones(view.memories, np.uint8)
    mask[erased] = 0
    if selection.ids:
        keys = [_key(view, id, agent) for id in selection.ids]
        mask[~np.isin(ids, np.array(keys, ids.dtype))] = 0
    mask = passing(view, selection.filter, mask)
    found = np.isin(ids, np.unique(ids[mask == 1]))
    return erasing_of(view, np.flatnonzero(found))


def erasing_of(view: View, memories: npt.NDArray[np.int64]) -> Erasing:
    """Return what to erase for some memories, by their ordinals: int64[n].

    Facts and opinions that rest on one of them go with it: they may say what it said.
    """
    memories = np.union1d(memories, resting_on(view, memories))
    documents = np.unique(view.of_memories("document")[memories])
    names = (view.columns.label(each) for each in documents.tolist() if each != NONE)
    return Erasing(frozenset(memories.tolist()), frozenset(name for name in names if name))


def _key(view: View, id: str, agent: str) -> int:
    key = view.columns.dictionary["ids"].get(id)
    if key is None or not bool(np.any(view.of_memories("id") == key)):
        raise UnknownIdError(id, agent)
    return key
