"""Can kernels trust these columns? Offsets rise and stay in bounds, numbers name what exists.

Kernels check nothing. So an item of a damaged column that is used as an index could read or write
anywhere, and a chain that leads to itself would never end. Where checksums are compared only after
opening (see `state.integrity`), every column that anything is indexed by is looked through first.
Cost: 1 ms for 100,000 memories.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.fact_schema import (
    CHAINS,
    EVENT_KINDS,
    RELATIONS,
    SURFACE_KINDS,
    TARGETS,
)
from recollex_engine.domain.fields import LABELS
from recollex_engine.domain.literals import ENTITY, KINDS, MENTION, TEXT
from recollex_engine.domain.schema import ENDS, LISTS
from recollex_engine.domain.trust import LEVELS, ROLES
from recollex_engine.errors import CorruptError
from recollex_engine.storage.dictionary import Dictionary
from recollex_engine.text.entity_types import ENTITY_TYPES
from recollex_kernels.memories.columns import all_below, all_earlier, all_rise

_LABELS = {
    "label": False,
    **{field.key: True for field in LABELS},
    "entity_name": False,
    "vocabulary": False,
    "op_kind": True,
    "op_by": True,
    "op_why": True,
    "fact_predicate": False,
    "fact_uncertainty": True,
    "fact_source": True,
    "fact_zone": True,
    "fact_mention": False,
    "event_status": True,
    "event_summary": True,
    "edge_qualifier": True,
    "edge_zone": True,
    "node_name": True,
    "node_label": False,
}
"""The columns of labels, and whether `NONE` is allowed."""
_CODES = {
    "network": 3,
    "role": len(ROLES),
    "trust": len(LEVELS),
    "fact_kind": len(KINDS),
    "edge_relation": len(RELATIONS),
    "event_kind": len(EVENT_KINDS),
    "surface_kind": len(SURFACE_KINDS),
    "type_code": len(ENTITY_TYPES),
}
"""The columns of codes, and how many codes there are."""
_ENTITIES = (
    "mention_entity",
    "name_entity",
    "fact_subject",
    "fact_entity",
    "node_entity",
    "type_entity",
    "phrase_entity",
    "synonym_entity",
    "synonym_other",
    "parted_entity",
)
_MEMORIES = ("memory_of_row", "mention_memory", "link_target", "link_source", "fact_evidence")
_CHAINED = ("previous", "mention_previous", "link_previous", "fact_previous", "event_previous")
_RISING = (
    "op",
    "name_op",
    "fact_op",
    "event_op",
    "edge_op",
    "node_op",
    "merge_op",
    "split_op",
    "parted_op",
    "type_op",
    "phrase_op",
    "synonym_op",
)


def structure_checks(
    array: Callable[[str], npt.NDArray[Any]],
    dictionaries: Mapping[str, Dictionary],
    folder: Path,
) -> list[Callable[[], None]]:
    """Return checks that raise `CorruptError` for a column that kernels could not trust.

    array(name) returns a column's items, ``folder`` holds the columns. The checks do not depend on
    each other, and take about as long as each other.
    """
    columns = _Columns(array, dictionaries, folder)
    return [columns.check_terms, columns.check_offsets, columns.check_numbers, columns.check_facts]


class _Columns:
    """The columns of an agent, and what is expected of them."""

    def __init__(
        self,
        array: Callable[[str], npt.NDArray[Any]],
        dictionaries: Mapping[str, Dictionary],
        folder: Path,
    ) -> None:
        self._array = array
        self._dictionaries = dictionaries
        self._folder = folder

    def check_terms(self) -> None:
        self.below("term", len(self._dictionaries["terms"]), none=True)
        self.below("surface_term", len(self._dictionaries["surface_terms"]))
        self.below("surface_vector_of", len(self._array("surface_kind")))

    def check_offsets(self) -> None:
        array = self._array
        for name, dictionary in self._dictionaries.items():
            heap, ends = dictionary.flat
            self.rising(f"{name}.offsets", ends, 0, len(heap))
            if len(ends) and int(ends[-1]) != len(heap):
                raise self.error(f"{name}.offsets", f"an end at {len(heap)}")
        self.offsets("first_row", len(array("memory_of_row")))
        self.offsets("term_offset", len(array("term")))
        self.offsets("piece_offset", len(array("piece")))
        self.offsets("surface_term_offset", len(array("surface_term")))
        for name, members in LISTS.items():
            self.offsets(f"{name}_offset", len(array(next(iter(members)))))
        self.check_closures()

    def check_closures(self) -> None:
        """Raise unless memories were closed by operations that do so; labels can be read."""
        closed = self._array("closed_by")
        kinds = self._array("op_kind")
        labels = self._dictionaries["labels"]
        known = closed[(closed > 0) & (closed <= len(kinds))]  # later ones are taken for open
        for label in np.unique(kinds[known - 1]).tolist():
            if label >= len(labels) or labels.string(label)[2:] not in ENDS:
                raise self.error("closed_by", "operations that close a memory")

    def check_numbers(self) -> None:
        array = self._array
        memories = len(array("id"))
        rows = len(array("memory_of_row"))
        ops = len(array("op_recorded_at"))
        labels = len(self._dictionaries["labels"])
        self.below("id", len(self._dictionaries["ids"]))
        for name, count in _CODES.items():
            self.below(name, count)
        for name, none in _LABELS.items():
            self.below(name, labels, none=none)
        for name in _MEMORIES:
            self.below(name, memories)
        for name in (*_CHAINED, *CHAINS.values(), "edge_target_previous"):
            self.earlier(name)
        for name in _RISING:
            self.rising(name, array(name), 0, ops)
        self.rising("op_memories", array("op_memories"), 0, memories)
        self.rising("op_rows", array("op_rows"), 0, rows)
        self.rising("op_recorded_at", array("op_recorded_at"), -(2**63), 2**63 - 1)
        self.rising("memory_of_row", array("memory_of_row"), 0, memories)
        self.rising("vocabulary_row", array("vocabulary_row"), 0, rows)

    def check_facts(self) -> None:
        array = self._array
        facts, events = (len(self._dictionaries[name]) for name in ("fact_ids", "event_ids"))
        entities = len(array("entity_name"))
        for name in _ENTITIES:
            self.below(name, entities)
        self.below("fact_id", facts)
        self.below("event_id", events)
        self.below("fact_entity_fact", len(array("fact_id")))
        self.below("fact_evidence_fact", len(array("fact_id")))
        self.below("edge_version", len(array("event_id")), none=True)
        self.below("edge_source", events)
        self.below("merge_source", entities)
        self.below("merge_target", entities)
        self.below("split_source", entities)
        self.below("parted_name", len(self._dictionaries["names"]))
        for name, flat in (
            ("fact_evidence_end", "fact_evidence"),
            ("fact_mention_end", "fact_mention"),
            ("node_label_end", "node_label"),
        ):
            self.rising(name, array(name), 0, len(array(flat)))
        held = len(array("fact_id")), len(array("event_id")), entities
        versions = dict(enumerate(held))
        self.named("surface_version", "surface_kind", versions)
        labels = len(self._dictionaries["labels"])
        kinds = {ENTITY: entities, TEXT: labels, MENTION: labels}
        self.named("fact_object", "fact_kind", kinds)
        counts = {"fact": facts, "event": events, "entity": entities}
        relations = {RELATIONS.index(name): counts[target] for name, target in TARGETS.items()}
        self.named("edge_target", "edge_relation", relations)

    def named(self, name: str, codes: str, ends: Mapping[int, int]) -> None:
        """Raise unless items with a code in ``ends`` are numbers below its end."""
        items = self._array(name)
        found = self._array(codes)
        for code, end in ends.items():
            of_it = items[found == code]
            if len(of_it) and not 0 <= int(of_it.min()) <= int(of_it.max()) < end:
                raise self.error(name, f"numbers in [0, {end})")

    def error(self, name: str, expected: str) -> CorruptError:
        return CorruptError(self._folder / name, expected, "others")

    def below(self, name: str, end: int, *, none: bool = False) -> None:
        """Raise unless the items are below ``end``, or `NONE` where that is allowed."""
        if not all_below(self._array(name), end, none):
            raise self.error(name, f"numbers in [0, {end})" + (", or none" if none else ""))

    def earlier(self, name: str) -> None:
        """Raise unless each item is less than its own index, or `NONE`."""
        if not all_earlier(self._array(name)):
            raise self.error(name, "numbers of earlier items")

    def offsets(self, name: str, end: int) -> None:
        """Raise unless the items rise from 0 to ``end``; an empty column is allowed."""
        items = self._array(name)
        self.rising(name, items, 0, end)
        if len(items) and (int(items[0]) or int(items[-1]) != end):
            raise self.error(name, f"offsets from 0 to {end}")

    def rising(self, name: str, items: npt.NDArray[Any], first: int, last: int) -> None:
        """Raise unless ``items`` never fall and lie in [first, last]."""
        if not all_rise(items, first, last):
            raise self.error(name, f"numbers that rise, from {first} to {last}")
