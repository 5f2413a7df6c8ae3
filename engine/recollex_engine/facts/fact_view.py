"""Which facts held then? The versions of facts that one cut sees.

A cut is an operation (As-Recorded) and perhaps a moment of the world's time (As-World). It sees::

    as recorded   a version that was recorded by that operation or before, and not closed by then
    as world w    such a version if its valid time holds w; per id the greatest recorded start

MemoTrace's pseudocode (its "Snapshot selection") looks at the valid time alone under As-World. So
it would return versions that were corrected since. Here a closed version stays closed. At most one
version of an id is open after any operation, so a cut never sees two versions of one id.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.fact_schema import CHAINS
from recollex_engine.domain.literals import to_column
from recollex_engine.state.column_set import NONE
from recollex_engine.state.columns import Columns
from recollex_engine.state.fact_state import FactState, FactTables
from recollex_engine.state.mentions import Identities
from recollex_engine.text.entity_types import ENTITY_TYPES, OTHER, EntityType

Ordinals = npt.NDArray[np.int64]


class FactView:
    """The facts of one cut: those after operation ``op`` and, if ``world`` is given, valid then.

    trust: the number of the least level of the facts that it shows. A fact has the least trust of
    its evidence, unknown trust without evidence; 0 shows all facts.

    The view "covers" all that was recorded up to ``op``, closed versions too; it never changes.
    Cost: 2 us; columns are mapped when first needed.

    Threads: any number may read it while the writer appends.
    """

    def __init__(self, columns: Columns, op: int, world: int | None = None, trust: int = 0) -> None:
        self.columns = columns
        self.op = op
        self.world = world
        self.least_trust = trust
        self.state: FactState = columns.facts
        self.tables: FactTables = self.state.tables()
        self.data: Callable[[str], Any] = self.tables.data
        self._names: dict[int, str] = {}
        self._identities: Identities | None = None
        self._counts: dict[str, int] = {}

    @classmethod
    def empty(cls, world: int | None = None) -> "FactView":
        """Return the view of an agent that holds no facts."""
        return cls(_no_columns(), 0, world)

    @property
    def count(self) -> int:
        """Number of versions of facts that the view covers."""
        return self.count_of("fact")

    def count_of(self, kind: str) -> int:
        """Return the number of items of a table (fact, event, node) that the view covers."""
        count = self._counts.get(kind)
        if count is None:
            recorded = self.data(f"{kind}_op")
            held = self.tables.counts[kind]
            count = self._counts[kind] = bisect_right(recorded, self.op, 0, held)
        return count

    @property
    def memories(self) -> int:
        """Number of memories that the view covers."""
        return int(self.data("op_memories")[self.op - 1]) if self.op else 0

    def array(self, name: str) -> npt.NDArray[Any]:
        """Return a property of each version of the view: a column with one item per version."""
        return self.columns.column[name].buffer[: self.count]

    def numbers(self, name: str, ends: str, place: int) -> list[int]:
        """Return an item's slice of column ``name``; ``ends``: the column of the slices' ends."""
        at = self.data(ends)
        found: list[int] = self.data(name)[at[place - 1] if place else 0 : at[place]].tolist()
        return found

    # -- single versions -------------------------------------------------------------------------

    def version(self, id: str, kind: str = "fact") -> int | None:
        """Return the newest covered version of an id, open or closed; None if there is none."""
        key = self.columns.dictionary[f"{kind}_ids"].get(id)
        return None if key is None else self.version_of(key, kind)

    def version_of(self, key: int, kind: str = "fact") -> int | None:
        """Return the newest covered version of the id with number ``key``."""
        version = self.state.newest(kind, key)
        while version != NONE and version >= self.tables.counts[kind]:
            version = int(self.columns.array(f"{kind}_previous")[version])
        recorded = self.data(f"{kind}_op")
        previous = self.data(f"{kind}_previous")
        while version != NONE and recorded[version] > self.op:
            version = previous[version]
        return None if version == NONE else version

    def versions(self, id: str, kind: str = "fact") -> list[int]:
        """Return all covered versions of an id, oldest first, closed ones too."""
        return self.versions_up_to(self.version(id, kind), kind)

    def versions_up_to(self, version: int | None, kind: str = "fact") -> list[int]:
        """Return a covered version after all that came before it; none for None."""
        found: list[int] = []
        previous = self.data(f"{kind}_previous")
        while version is not None and version != NONE:
            found.append(version)
            version = previous[version]
        return found[::-1]

    def is_open(self, version: int, kind: str = "fact") -> bool:
        """Return whether a covered version was not yet closed at the view's operation."""
        closed: int = self.data(f"{kind}_closed_by")[version]
        return not 0 < closed <= self.op

    def is_visible(self, version: int) -> bool:
        """Return whether the cut sees a covered version of a fact."""
        if not self.is_open(version):
            return False
        if self.least_trust and self.trust(version) < self.least_trust:
            return False
        if self.world is None:
            return True
        start = self.data("fact_start")[version]
        end = self.data("fact_end")[version]
        return bool(start <= self.world < end)

    def trust(self, version: int) -> int:
        """Return the number of the least trust of a fact's evidence; 0 if it cites no memory."""
        cited = self.numbers("fact_evidence", "fact_evidence_end", version)
        trust = self.data("trust")
        return min((trust[memory] for memory in cited), default=0)

    def recorded(self, version: int, kind: str = "fact") -> tuple[int, int | None]:
        """Return when a version was recorded and when it was closed (None if open in the view)."""
        at = self.data("op_recorded_at")
        closed = self.data(f"{kind}_closed_by")[version]
        end = at[closed - 1] if 0 < closed <= self.op else None
        return at[self.data(f"{kind}_op")[version] - 1], end

    def note(self, op: int) -> tuple[str | None, str | None]:
        """Return who made an operation and why; None where that was not given."""
        label = self.columns.label
        return label(self.data("op_by")[op - 1]), label(self.data("op_why")[op - 1])

    # -- entities --------------------------------------------------------------------------------

    @property
    def identities(self) -> Identities:
        """Which entities are the same, by the merges and aliases that the view covers."""
        if self._identities is None:
            self._identities = self.state.identities(self.op)
        return self._identities

    def root(self, entity: int) -> int:
        """Return the entity into which ``entity`` was merged in this view, or itself."""
        return self.identities.root(entity) if entity in self.state.linked else entity

    def entity(self, name: str) -> int | None:
        """Return the entity of a name in this view; None if the name is unknown there."""
        entity = self.columns.entity(name, self.op)
        return None if entity is None else self.root(entity)

    def entity_name(self, entity: int) -> str:
        """Return the name of an entity, or of the one it was merged into, in this view."""
        name = self._names.get(entity)
        if name is None:
            root = self.root(entity)
            entry = self.newest_node(root)
            name = (
                self.columns.entity_name(root)
                if entry is None
                else str(self.columns.label(self.data("node_name")[entry]))
            )
            self._names[entity] = name
        return name

    @property
    def may_rename(self) -> bool:
        """Whether any entity may have another name than its first: it was merged, or recorded."""
        return bool(self.state.linked) or self.tables.counts["node"] > 0

    def read_names(self, entities: Iterable[int]) -> None:
        """Read the names of entities, which `entity_name` then knows, at once: 0.3 us each."""
        linked = self.state.linked
        known = self._names
        head = self.tables.heads["node_entity"]
        plain = [
            each
            for each in dict.fromkeys(entities)
            if each not in known
            and each not in linked
            and (each >= len(head) or head[each] == NONE)
        ]
        known.update(zip(plain, self.columns.first_names(plain), strict=True))

    def newest_node(self, entity: int) -> int | None:
        """Return the newest covered record of an entity; None if there is none."""
        head = self.tables.heads["node_entity"]
        if entity >= len(head) or head[entity] == NONE:
            return None
        return next(self.nodes(entity), None)

    def nodes(self, entity: int) -> Iterator[int]:
        """Yield the covered records of an entity, newest first.

        Those by a name that became an entity of its own are left out.
        """
        recorded = self.data("node_op")
        names = self.data("node_name")
        columns = self.columns
        for entry in self.entries("node_entity", entity):
            if recorded[entry] <= self.op and (
                not columns.parted_names
                or columns.entity(str(columns.label(names[entry])), self.op) == entity
            ):
                yield entry

    def entity_type(self, entity: int) -> EntityType:
        """Return what an entity is, as the newest covered operation that says it has it."""
        recorded = self.data("type_op")
        for entry in self.entries("type_entity", entity):
            if recorded[entry] <= self.op:
                kind: EntityType = ENTITY_TYPES[self.data("type_code")[entry]]
                return kind
        return OTHER

    def head(self, keys: str, key: int) -> int:
        """Return the newest entry of a chain of `CHAINS`, which the view may not cover, or NONE."""
        head = self.tables.heads[keys]
        return int(head[key]) if key < len(head) else NONE

    def entries(self, keys: str, key: int) -> Iterator[int]:
        """Yield the entries of a chain of `CHAINS`, newest first; the view may not cover some."""
        entry = self.head(keys, key)
        if entry != NONE:
            previous = self.data(CHAINS[keys])
            while entry != NONE:
                yield entry
                entry = previous[entry]

    def edges_to(self, kind: str, target: int) -> Iterator[int]:
        """Yield the covered edges to a fact, event or entity, newest first.

        ``target``: the number of the id of a fact or event, or an entity.
        """
        head = self.tables.incoming[kind]
        entry = int(head[target]) if target < len(head) else NONE
        if entry != NONE:
            previous = self.data("edge_target_previous")
            recorded = self.data("edge_op")
            while entry != NONE:
                if recorded[entry] <= self.op:
                    yield entry
                entry = previous[entry]

    # -- many versions ---------------------------------------------------------------------------

    def all(self) -> Ordinals:
        """Return the versions that the cut sees, ascending: int64[n]. Cost: 5 ns per version."""
        closed = self.array("fact_closed_by")
        visible = (closed == 0) | (closed > np.uint64(self.op))
        if self.world is not None:
            visible &= (self.array("fact_start") <= self.world) & (
                self.array("fact_end") > self.world
            )
        return self.trusted(np.flatnonzero(visible))

    def seen(self, versions: Ordinals) -> Ordinals:
        """Return those of ``versions`` that the cut sees, ascending."""
        return self.visible(np.unique(versions[versions < self.count]))

    def visible(self, versions: Ordinals) -> Ordinals:
        """Return those of covered ``versions`` that the cut sees, in their order."""
        closed = self.array("fact_closed_by")[versions]
        visible = (closed == 0) | (closed > np.uint64(self.op))
        if self.world is not None:
            visible &= (self.array("fact_start")[versions] <= self.world) & (
                self.array("fact_end")[versions] > self.world
            )
        return self.trusted(versions[visible])

    def trusted(self, versions: Ordinals) -> Ordinals:
        """Return those of ``versions`` whose trust is at least that of the view."""
        if not self.least_trust:
            return versions
        kept = [self.trust(each) >= self.least_trust for each in versions.tolist()]
        trusted: Ordinals = versions[np.array(kept, bool)]
        return trusted

    def of_subject(self, entity: int) -> Ordinals:
        """Return the visible facts whose subject is an entity, or was merged into it."""
        return self.seen(self._walk("fact_subject", self.members(entity), None))

    def of_object(self, entity: int) -> Ordinals:
        """Return the visible facts whose object is an entity, or was merged into it."""
        return self.seen(self._walk("fact_entity", self.members(entity), "fact_entity_fact"))

    def of_evidence(self, memories: Sequence[int]) -> Ordinals:
        """Return the visible facts that cite one of ``memories``, by their ordinals."""
        return self.seen(self._walk("fact_evidence", memories, "fact_evidence_fact"))

    def names_entity(self, entity: int) -> bool:
        """Return whether a visible fact names an entity, or one that was merged into it."""
        facts = self.data("fact_entity_fact")
        count = self.count
        for member in self.members(entity):
            for version in self.entries("fact_subject", member):
                if version < count and self.is_visible(version):
                    return True
            for entry in self.entries("fact_entity", member):
                if facts[entry] < count and self.is_visible(facts[entry]):
                    return True
        return False

    def synonyms(self, entity: int) -> list[tuple[int, float]]:
        """Return (entity, similarity) along the synonymy edges of a phrase, the most similar first.

        Both ends as the merges of the view make them; only entities that visible facts name.
        """
        root = self.root(entity)
        recorded = self.data("synonym_op")
        others = self.data("synonym_other")
        weights = self.data("synonym_weight")
        found: dict[int, float] = {}
        for member in self.members(root):
            for entry in self.entries("synonym_entity", member):
                other = self.root(others[entry])
                if recorded[entry] <= self.op and other != root:
                    found[other] = max(found.get(other, 0.0), float(weights[entry]))
        shown = [(other, weight) for other, weight in found.items() if self.names_entity(other)]
        return sorted(shown, key=lambda each: (-each[1], each[0]))

    def members(self, entity: int) -> tuple[int, ...]:
        """Return the entities that are the same as ``entity`` in this view, with itself."""
        root = self.root(entity)
        return self.identities.members(root) if root in self.state.linked else (root,)

    def _walk(self, keys: str, chosen: Sequence[int], to: str | None) -> Ordinals:
        entries = [entry for key in chosen for entry in self.entries(keys, key)]
        if to is None:
            return np.array(entries, np.int64)
        facts = self.data(to)
        return np.array([facts[entry] for entry in entries], np.int64)

    def literal(self, record: dict[str, Any]) -> int | None:
        """Return the number of a literal in its column; None for a text that is not stored."""
        missing: list[str] = []

        def label(text: str) -> int:
            number = self.columns.dictionary["labels"].get(text)
            if number is None:
                missing.append(text)
            return number or 0

        number = to_column(record, label)[1]
        return None if missing else number


@cache
def _no_columns() -> Columns:
    """Return columns without items. They are shared, because making them costs 2 ms."""
    return Columns(Path("none"))
