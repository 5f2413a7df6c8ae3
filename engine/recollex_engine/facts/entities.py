"""Which entities does a cut show? Those that a visible fact names or that have their own record.

An entity that only memories name is no node of the graph of facts (MemoTrace, "L1 visibility").
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.facts import FactList


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity, as one cut sees it.

    name: its name in the cut. aliases: its other names, from its records and from the entities
    that were merged into it. types: from its newest record. recorded: whether it has a record of
    its own.
    """

    name: str
    aliases: tuple[str, ...]
    types: tuple[str, ...]
    recorded: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the entity as JSON values."""
        return {
            "name": self.name,
            "aliases": list(self.aliases),
            "types": list(self.types),
            "recorded": self.recorded,
        }


def read_entity(view: FactView, name: str) -> Entity | None:
    """Return the entity of a name, or None if the cut does not show it."""
    root = view.entity(name)
    if root is None:
        return None
    entity = _read(view, root)
    if entity.recorded or len(view.of_subject(root)) or len(view.of_object(root)):
        return entity
    return None


def all_entities(view: FactView) -> list[Entity]:
    """Return every entity that the cut shows, in the order in which they were first named.

    Cost: 20 ms per million facts, and 5 us per entity.
    """
    recorded = view.columns.column["node_entity"].buffer[: view.count_of("node")]
    roots = {view.identities.root(entity) for entity in recorded.tolist()}
    roots.update(FactList(view, view.all()).entities)
    return [_read(view, root) for root in sorted(roots)]


def _read(view: FactView, root: int) -> Entity:
    name = view.entity_name(root)
    aliases: dict[str, None] = {}
    types: tuple[str, ...] = ()
    is_recorded = False
    for member in view.identities.members(root):
        if member != root:
            aliases[view.columns.entity_name(member)] = None
        newest = view.newest_node(member)
        for entry in sorted(view.entries("node_entity", member)):
            if view.data("node_op")[entry] > view.op:
                continue
            is_recorded = True
            labels = view.numbers("node_label", "node_label_end", entry)
            strings = view.columns.dictionary["labels"].strings(np.array(labels, np.int64))
            aliases.update(dict.fromkeys(each[2:] for each in strings if each[0] == "a"))
            if member == root and entry == newest:
                types = tuple(each[2:] for each in strings if each[0] == "n")
    aliases.pop(name, None)
    return Entity(name, tuple(aliases), types, is_recorded)
