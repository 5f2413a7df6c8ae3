"""Look-ups of memories by id: one memory, all its versions, a page of the memories after it."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.filter import Filter
from recollex_engine.domain.schema import ENDS, NONE
from recollex_engine.errors import UnknownIdError
from recollex_engine.ranking.filters import passing
from recollex_engine.recall.memory import Memory, read_memories, read_memory
from recollex_engine.state.view import View


def get(view: View | None, id: str, agent: str) -> Memory:
    """Return the memory with ``id``: the open one, or the archived one if none is open.

    Raises `UnknownIdError` for an id that never existed, or was forgotten or replaced.
    """
    if view is None:
        raise UnknownIdError(id, agent)
    return read_memory(view, ordinal(view, id, agent))


def ordinal(view: View, id: str, agent: str) -> int:
    """Return the number of the memory that `get` returns. Raises `UnknownIdError` likewise."""
    memory = _newest(view, id)
    if memory == NONE:
        raise UnknownIdError(id, agent)
    closed = 0 < view.items["closed_by"][memory] <= view.op
    if closed and view.columns.end_of(memory, view.op) != ENDS["archive"]:
        raise UnknownIdError(id, agent)
    return memory


def history(view: View | None, id: str, agent: str) -> list[Memory]:
    """Return every version of a memory, oldest first; a closed one says how it was closed.

    Versions up to a forgotten one are left out. Raises `UnknownIdError` if none is left.
    """
    versions = history_ordinals(view, id, agent)
    assert view is not None  # else there are none
    return read_memories(view, versions)


def history_ordinals(view: View | None, id: str, agent: str) -> list[int]:
    """Return the numbers of the memories that `history` returns."""
    left: list[int] = []
    if view is not None:
        for memory in _versions(view, id):
            if view.columns.end_of(memory, view.op) == ENDS["forget"]:
                break
            left.append(memory)
    if view is None or not left:
        raise UnknownIdError(id, agent)
    return left[::-1]


def page(
    view: View | None,
    after: str | None,
    limit: int,
    agent: str,
    wanted: Filter,
    newest: bool,
) -> list[Memory]:
    """Return up to ``limit`` open memories that pass a filter, in recorded order.

    after: the id of the last memory of the page before. newest: in the opposite order.
    """
    if view is None:
        if after is not None:
            raise UnknownIdError(after, agent)
        return []
    first = 0
    end = view.memories
    if after is not None:
        versions = _versions(view, after)
        if not versions:
            raise UnknownIdError(after, agent)
        first, end = (0, versions[0]) if newest else (versions[0] + 1, end)
    mask = passing(view, wanted, view.open)[first:end]
    found = np.flatnonzero(mask) + first
    return read_memories(view, (found[::-1] if newest else found)[:limit].tolist())


def pages(
    view: View, size: int, wanted: Filter
) -> Iterator[tuple[list[Memory], npt.NDArray[np.float16]]]:
    """Yield the open memories that pass a filter, in recorded order, with float16[n, dimension].

    size: of a page. A vector is that of the memory's first passage.
    """
    found = np.flatnonzero(passing(view, wanted, view.open))
    rows = view.of_memories("first_row")[found]
    for first in range(0, len(found), size):
        page = slice(first, first + size)
        yield read_memories(view, found[page].tolist()), view.vectors[rows[page]].view(np.float16)


def _newest(view: View, id: str) -> int:
    """Return the view's newest memory that has ``id``, open or not; NONE if there is none."""
    columns = view.columns
    key = columns.dictionary["ids"].get(id)
    memory = NONE if key is None else columns.newest_of(key)
    while memory != NONE and memory >= view.memories:
        memory = int(columns.array("previous")[memory])  # the view's own array may be shorter
    return memory


def _versions(view: View, id: str) -> list[int]:
    """Return the view's memories that have ``id``, newest first."""
    memory = _newest(view, id)
    previous = view.items["previous"]
    found = []
    while memory != NONE:
        found.append(memory)
        memory = previous[memory]
    return found
