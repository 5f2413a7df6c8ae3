"""Which entities are the same? The merges that one view sees.

A merge holds from the operation that recorded it on. An `alias_of` fact holds too, until it is
closed. Neither changes the answers of an earlier view: mentions keep the entities as they were
recorded, and a view applies the merges that it covers.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from recollex_engine.errors import MergeCycleError


class Identities:
    """The merged entities of one view, each with its root, the entity that represents it.

    ``links``: pairs (source, target) in the order in which they were recorded. From then on the
    target's root also represents all entities that the source's root represented. A link between
    entities that are already the same changes nothing. Immutable.

    >>> who = Identities([(1, 2), (3, 1)])
    >>> who.root(3), who.members(2), who.root(7)
    (2, (2, 1, 3), 7)
    """

    def __init__(self, links: Iterable[tuple[int, int]]) -> None:
        self._parent: dict[int, int] = {}
        for source, target in links:
            one = self._top(source)
            other = self._top(target)
            if one != other:
                self._parent[one] = other
        self._root = {entity: self._top(entity) for entity in self._parent}
        self._members: dict[int, list[int]] = {}
        for entity, root in self._root.items():
            self._members.setdefault(root, [root]).append(entity)

    def __bool__(self) -> bool:
        return bool(self._parent)

    def root(self, entity: int) -> int:
        """Return the entity that represents ``entity``: itself, unless it was merged."""
        return self._root.get(entity, entity)

    def members(self, root: int) -> tuple[int, ...]:
        """Return the entities that ``root`` represents, itself first."""
        return tuple(self._members.get(root, (root,)))

    @property
    def merged(self) -> npt.NDArray[np.int64]:
        """The entities that were merged with another, ascending, their roots among them."""
        return np.array(sorted({*self._root, *self._members}), np.int64)

    def roots(self, entities: int) -> npt.NDArray[np.uint32]:
        """Return uint32[entities]: the root of each entity."""
        found = np.arange(entities, dtype=np.uint32)
        for entity, root in self._root.items():
            if entity < entities:
                found[entity] = root
        return found

    def is_new(self, source: int, target: int, names: tuple[str, str]) -> bool:
        """Return whether merging ``source`` into ``target`` changes anything.

        Raises `MergeCycleError` if they are one entity, or ``target`` was merged into ``source``.
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
