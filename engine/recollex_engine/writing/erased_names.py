"""Which names of entities stay when memories are erased? Those that something else uses.

A record names its entities by number; only the first use of a name is written out. So a name that
an erased record wrote out stays if a later memory that is not erased may have used it. That is so
if the name is in the text, or is the speaker. It is also so if no known name of the entity is
there, because then the caller must have given it.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from recollex_engine.domain.schema import PLACEHOLDER
from recollex_engine.text.names import fold_name, fold_text

Name = Sequence[Any]
"""[name, its normal form, entity], as in a log record."""


class SurvivingNames:
    """The names that stay, gathered from the records that stay, in the order of the log."""

    def __init__(self) -> None:
        self._known: dict[int, list[tuple[str, str]]] = {}
        self._kept: set[tuple[str, int]] = set()

    def meet(self, names: Iterable[Name]) -> None:
        """Read the new names of the next record, whether it stays or not."""
        for surface, folded, entity in names:
            self._known.setdefault(entity, []).append((surface, folded))

    def keep(self, names: Iterable[Name]) -> None:
        """Keep the new names of a record that stays."""
        self._kept.update((folded, entity) for _, folded, entity in names)

    def keep_called(self, surface: str, entity: int) -> None:
        """Keep a name that is written out by a record that stays."""
        self._kept.add((fold_name(surface), entity))

    def is_kept(self, surface: str, entity: int) -> bool:
        """Return whether a name of an entity stays; only after all records were read."""
        return (fold_name(surface), entity) in self._kept

    def called(self, surface: str, entity: int) -> str | None:
        """Return a name of an entity that stays, this one if it does; None if there is none."""
        if self.is_kept(surface, entity):
            return surface
        known = self._known.get(entity, ())
        return next((name for name, folded in known if (folded, entity) in self._kept), None)

    def name(
        self, entities: Iterable[int], names: Iterable[Name], text: str, speaker: str | None
    ) -> None:
        """Keep the names by which a memory that stays may call its ``entities``.

        ``names``: those that it writes out; `meet` has read them.
        """
        self.keep(names)
        own = {entity for _, _, entity in names}
        said: str | None = None
        for entity in entities:
            if entity in own:
                continue
            known = [folded for _, folded in self._known.get(entity, ())]
            if all((folded, entity) in self._kept for folded in known):
                continue
            if len(known) > 1:
                if said is None:
                    said = fold_text(f"{speaker or ''} {text}")
                known = [folded for folded in known if folded in said] or known
            self._kept.update((folded, entity) for folded in known)

    def left(self, names: Iterable[Name], entities: int) -> list[list[Any]]:
        """Return what is left of the names of an erased record.

        ``entities``: how many there were before it. A new entity keeps its number: it gets another
        name that stays, or a placeholder.
        """
        found = []
        for surface, folded, entity in names:
            is_new = entity == entities
            entities += is_new
            if (folded, entity) in self._kept:
                found.append([surface, folded, entity])
            elif is_new:
                found.append([*self._other(entity), entity])
        return found

    def _other(self, entity: int) -> tuple[str, str]:
        for surface, folded in self._known[entity]:
            if (folded, entity) in self._kept:
                return surface, folded
        return (f"{PLACEHOLDER}{entity}",) * 2
