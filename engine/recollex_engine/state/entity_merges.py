"""Who is whom? Entities that were merged, as one view sees it.

A merge counts from the operation that recorded it; so does an `alias_of` fact, until it is closed.
Neither changes what an earlier view answers: postings keep the entities as they were met, and a
view looks through the merges that it covers.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from recollex_engine.errors import MergeCycleError


class Identities:
    """The entities of one view, each with the one that stands for it. Immutable.

    ``links``: (source, target), in the order in which they were recorded; what the source stood
    for is the target's from then on. A link between entities that are one already changes nothing.

    >>> who = Identities([(1, 2), (3, 1)])
    >>> who.root(3), who.members(2), who.root(7)
    (2, (2, 1, 3), 7)
    """

    def __init__(self, links: Iterable[tuple[int, int]]) -> None:
        self._parent: dict[int, int] = {}
        for source, target in links:
            one, other = self._top(source), self._top(target)
            if one != other:
                self._parent[one] = other
        self._root = {entity: self._top(entity) for entity in self._parent}
        self._members: dict[int, list[int]] = {}
        for entity, root in self._root.items():
            self._members.setdefault(root, [root]).append(entity)

    def __bool__(self) -> bool:
        return bool(self._parent)

    def root(self, entity: int) -> int:
        """Return the entity that stands for ``entity``: itself, unless it was merged."""
        return self._root.get(entity, entity)

    def members(self, root: int) -> tuple[int, ...]:
        """Return the entities that ``root`` stands for, itself first."""
        return tuple(self._members.get(root, (root,)))

    def roots(self, entities: int) -> npt.NDArray[np.uint32]:
        """Return uint32[entities]: the entity that stands for each."""
        found = np.arange(entities, dtype=np.uint32)
        for entity, root in self._root.items():
            if entity < entities:
                found[entity] = root
        return found

    def is_new(self, source: int, target: int, names: tuple[str, str]) -> bool:
        """Return whether merging ``source`` into ``target`` changes anything.

        Raises `MergeCycleError` where ``target`` was merged into ``source``.
        """
        if source == target or source in self._above(target):
            raise MergeCycleError(*names)
        return self._top(source) != self._top(target)

    def _above(self, entity: int) -> Iterator[int]:
        while (above := self._parent.get(entity)) is not None:
            yield above
            entity = above

    def _top(self, entity: int) -> int:
        for above in self._above(entity):
            entity = above
        return entity
