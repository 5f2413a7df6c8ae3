"""The entities, facts and records that a transaction has staged so far."""

from collections.abc import Callable, Sequence
from typing import Any

from recollex_engine.domain.surfaces import EVENTS, FACTS, SURFACE, fact_parts
from recollex_engine.errors import UnknownIdError
from recollex_engine.state.column_set import NONE
from recollex_engine.text.names import EntityTable, fold_name
from recollex_engine.writing.draft import Draft
from recollex_engine.writing.fact_record import content_in, content_of

Plain = Callable[[Sequence[str]], dict[str, Any]]
"""Makes a surface of words alone, those of the parts of a text."""


class FactStaging:
    """Staged state of a transaction, which its later operations look up before recorded state.

    ``plain``: makes a surface of words alone. ``note``: who makes the current operation, and why.
    """

    def __init__(self, draft: Draft, agent: str, plain: Plain) -> None:
        self.draft = draft
        self.columns = draft.columns
        self.agent = agent
        self.plain = plain
        self.note: dict[str, str] = {}
        self._names: EntityTable | None = None  # once there is a name to look up
        self._versions = self.columns.column["fact_id"].count
        self._facts: dict[str, tuple[int, dict[str, Any] | None]] = {}  # looked up, or staged
        self._keys: dict[str, int] = {}  # the numbers of ids

    def look_up(self, ids: Sequence[str]) -> None:
        """Look up the ids of facts together, so that `fact` is quick."""
        self._keys.update(zip(ids, self.columns.dictionary["fact_ids"].look_up(ids), strict=True))

    def record(self, kind: str, payload: dict[str, Any], embed: bool = True) -> None:
        """Stage one record of the log, its note, and its surface if it is that of a version.

        embed: whether the surface gets a vector; then it is made later.
        """
        payload |= self.note
        if (names := payload.get("names")) and (typed := self.draft.type_names(names)):
            payload["typed"] = typed
        self.draft.operations.append((kind, payload))
        if kind in FACTS or kind in EVENTS:
            self.draft.tells = True
            if embed:
                self.draft.surfaces.append((payload, kind))
            else:
                payload[SURFACE] = self.plain(fact_parts(payload))

    def entity(self, name: str, names: list[tuple[str, str, int]]) -> list[Any]:
        """Return [name, number] of an entity; a new entity is also added to ``names``."""
        table = self._names
        if table is None:
            table = self._names = self.draft.lexicon.names(self.columns)
        entity = table.get(name)
        if entity is None:
            draft = self.draft
            entity = draft.entities
            draft.entities += 1
            table.add(name, entity)
            names.append((name, fold_name(name), entity))
        return [name, entity]

    def known_entity(self, name: str) -> int:
        """Return the number of an existing entity. Raises `UnknownIdError`."""
        entity = self.draft.lexicon.names(self.columns).get(name)
        if entity is None:
            raise UnknownIdError(name, self.agent, "entity")
        return entity

    def fact(self, id: str) -> tuple[int, dict[str, Any] | None] | None:
        """Return a fact's newest version and its content (None if closed); None if unknown."""
        if id in self._facts:
            version, record = self._facts[id]
            return version, None if record is None else content_in(record)
        key = self._keys.get(id)
        if key is None:
            (key,) = self.columns.dictionary["fact_ids"].look_up((id,))
        version = NONE if key == NONE else self.columns.facts.newest("fact", key)
        if version == NONE:
            return None
        closed = int(self.columns.array("fact_closed_by")[version])
        content = None if closed else content_of(self.columns, version)
        self._facts[id] = version, content
        return version, content

    def add_version(self, record: dict[str, Any]) -> None:
        """Stage the next version of a fact, which a record makes."""
        self._facts[record["id"]] = self._versions, record
        self._versions += 1

    def close_version(self, id: str, version: int) -> None:
        """Stage that a version of a fact is closed and not replaced."""
        self._facts[id] = version, None
