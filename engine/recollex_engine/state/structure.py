"""Can kernels trust these columns? Offsets rise and stay in bounds, numbers name what exists.

Kernels check nothing. So an item of a damaged column that is used as an index could read or write
anywhere, and a chain that leads to itself would never end. Where checksums are compared only after
opening (see `state.integrity`), or an earlier version wrote none, every column that anything is
indexed by is looked through first. Cost: 2 ms for 100,000 memories.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.fact_schema import CHAINS, EVENT_KINDS, RELATIONS, TARGETS
from recollex_engine.domain.schema import LISTS
from recollex_engine.errors import CorruptError
from recollex_engine.storage.dictionary import Dictionary

_LABELS = {
    "label": False,
    "document": True,
    "context": True,
    "speaker": True,
    "entity_name": False,
    "vocabulary": False,
    "op_kind": True,
    "op_by": True,
    "op_why": True,
    "fact_predicate": False,
    "fact_uncertainty": True,
    "fact_source": True,
    "fact_mention": False,
    "event_status": True,
    "event_summary": True,
    "edge_qualifier": True,
    "node_name": True,
    "node_label": False,
}
"""The columns of labels, and whether `NONE` is allowed."""
_ENTITIES = ("mention_entity", "name_entity", "fact_subject", "fact_entity", "node_entity")
_MEMORIES = ("memory_of_row", "mention_memory", "link_target", "link_source", "fact_evidence")
_CHAINED = ("previous", "mention_previous", "link_previous", "fact_previous", "event_previous")
_RISING = ("op", "name_op", "fact_op", "event_op", "edge_op", "node_op", "merge_op")


def check_structure(
    array: Callable[[str], npt.NDArray[Any]],
    dictionaries: Mapping[str, Dictionary],
    folder: Path,
) -> None:
    """Raise `CorruptError` for the first column below ``folder`` that kernels could not trust.

    array(name) returns a column's items.
    """
    columns = _Columns(array, folder)
    for name, dictionary in dictionaries.items():
        heap, ends = dictionary.flat
        columns.rising(f"{name}.offsets", ends, 0, len(heap))
        if len(ends) and int(ends[-1]) != len(heap):
            raise CorruptError(folder / f"{name}.offsets", f"an end at {len(heap)}", int(ends[-1]))
    counts = {name: len(dictionary) for name, dictionary in dictionaries.items()}
    memories, rows = len(array("id")), len(array("memory_of_row"))
    entities, ops = len(array("entity_name")), len(array("op_recorded_at"))
    columns.offsets("first_row", rows)
    columns.offsets("term_offset", len(array("term")))
    columns.offsets("piece_offset", len(array("piece")))
    for name, members in LISTS.items():
        columns.offsets(f"{name}_offset", len(array(next(iter(members)))))
    columns.below("id", counts["ids"])
    columns.below("term", counts["terms"], none=True)
    columns.below("network", 3)
    for name, none in _LABELS.items():
        columns.below(name, counts["labels"], none=none)
    for name in _ENTITIES:
        columns.below(name, entities)
    for name in _MEMORIES:
        columns.below(name, memories)
    for name in (*_CHAINED, *CHAINS.values(), "edge_target_previous"):
        columns.earlier(name)
    for name in _RISING:
        columns.rising(name, array(name), 0, ops)
    columns.rising("op_memories", array("op_memories"), 0, memories)
    columns.rising("op_rows", array("op_rows"), 0, rows)
    columns.rising("op_recorded_at", array("op_recorded_at"), -(2**63), 2**63 - 1)
    columns.rising("memory_of_row", array("memory_of_row"), 0, memories)
    columns.rising("vocabulary_row", array("vocabulary_row"), 0, rows)
    _check_facts(columns, array, counts, entities)


def _check_facts(
    columns: "_Columns",
    array: Callable[[str], npt.NDArray[Any]],
    counts: Mapping[str, int],
    entities: int,
) -> None:
    columns.below("fact_id", counts["fact_ids"])
    columns.below("event_id", counts["event_ids"])
    columns.below("fact_entity_fact", len(array("fact_id")))
    columns.below("fact_evidence_fact", len(array("fact_id")))
    columns.below("edge_version", len(array("event_id")), none=True)
    columns.below("edge_source", counts["event_ids"])
    columns.below("edge_relation", len(RELATIONS))
    columns.below("event_kind", len(EVENT_KINDS))
    columns.below("merge_source", entities)
    columns.below("merge_target", entities)
    for name, flat in (
        ("fact_evidence_end", "fact_evidence"),
        ("fact_mention_end", "fact_mention"),
        ("node_label_end", "node_label"),
    ):
        columns.rising(name, array(name), 0, len(array(flat)))
    targets = array("edge_target")
    relations = array("edge_relation")
    ends = {"fact": counts["fact_ids"], "event": counts["event_ids"], "entity": entities}
    for relation, target in TARGETS.items():
        of_it, end = targets[relations == RELATIONS.index(relation)], ends[target]
        if len(of_it) and not 0 <= int(of_it.min()) <= int(of_it.max()) < end:
            raise columns.error("edge_target", f"targets in [0, {end})")


class _Columns:
    """The columns of an agent, and what is expected of them."""

    def __init__(self, array: Callable[[str], npt.NDArray[Any]], folder: Path) -> None:
        self._array = array
        self._folder = folder

    def error(self, name: str, expected: str) -> CorruptError:
        return CorruptError(self._folder / name, expected, "others")

    def below(self, name: str, end: int, *, none: bool = False) -> None:
        """Raise unless the items are below ``end``, or `NONE` where that is allowed."""
        items = self._array(name)
        if not len(items):
            return
        if none:
            items = items.view(np.int32)
            if int(items.min()) < -1 or int(items.max()) >= end:
                raise self.error(name, f"numbers in [0, {end}), or none")
        elif int(items.max()) >= end:
            raise self.error(name, f"numbers in [0, {end})")

    def earlier(self, name: str) -> None:
        """Raise unless each item is less than its own index, or `NONE`."""
        items = self._array(name).view(np.int32)
        if len(items) and not (
            int(items.min()) >= -1 and (items < np.arange(len(items), dtype=np.int32)).all()
        ):
            raise self.error(name, "numbers of earlier items")

    def offsets(self, name: str, end: int) -> None:
        """Raise unless the items rise from 0 to ``end``; an empty column is allowed."""
        items = self._array(name)
        self.rising(name, items, 0, end)
        if len(items) and (int(items[0]) or int(items[-1]) != end):
            raise self.error(name, f"offsets from 0 to {end}")

    def rising(self, name: str, items: npt.NDArray[Any], first: int, last: int) -> None:
        """Raise unless ``items`` never fall and lie in [first, last]."""
        if len(items) and not (
            first <= int(items[0]) and int(items[-1]) <= last and (items[1:] >= items[:-1]).all()
        ):
            raise self.error(name, f"numbers that rise, from {first} to {last}")
