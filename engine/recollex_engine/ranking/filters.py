"""Which memories may this recall return? The filter of a question makes a mask over the view.

A memory must be open in the view and pass the filter.

Which memories meet conditions on metadata? Values are compared once each, not once a memory.
Every pair of a name and a value is a label, so a condition is a set of labels.
"""

import difflib
from collections.abc import Iterable, Sequence

import numpy as np

from recollex_engine.domain.filter import Condition, Filter, Where, bounds
from recollex_engine.domain.question import Question
from recollex_engine.domain.schema import NONE
from recollex_engine.domain.trust import FULL
from recollex_engine.errors import InputError
from recollex_engine.ranking.arms import Mask
from recollex_engine.state.view import View
from recollex_kernels.memories.filters import keep_chain, mask_equal, mask_holding, mask_networks


def mask_where(view: View, where: Where, mask: Mask) -> Mask:
    """Return the memories of ``mask`` that meet all conditions; ``mask`` is not changed.

    Raises `InputError` for a name that no memory of the view ever had, while others had names,
    unless a condition asks whether it exists.
    """
    asked = {each.name for each in where if _asks_existence(each)}
    for condition in where:
        mask = _met(view, condition, mask, condition.name in asked)
    return mask


def _asks_existence(condition: Condition) -> bool:
    if condition.is_negated:
        return any(map(_asks_existence, condition.wanted))
    return condition.operator == "exists"


def _met(view: View, condition: Condition, mask: Mask, may_be_new: bool) -> Mask:
    """Return the memories of ``mask`` that meet one condition; may_be_new: its name may be."""
    if condition.is_negated:
        met = mask
        for each in condition.wanted:
            met = _met(view, each, met, may_be_new)
        return mask & ~met
    columns = view.columns
    values = columns.metadata_values
    labels = values.matching(condition)
    held = view.offsets("label_offset"), view.buffer("label")
    found = columns.label_lists.carrying_any(labels, *held, mask)
    if not may_be_new and not found.any() and not _is_known(view, condition.name):
        _refuse(view, condition.name)
    return found


def _is_known(view: View, name: str) -> bool:
    """Return whether a memory of the view ever had metadata of this name.

    Labels are numbered as memories first have them, so the first label of a name tells.
    """
    first = view.columns.metadata_values.first(name)
    if first is None:
        return False
    held = view.offsets("label_offset"), view.buffer("label")
    everything = np.ones(view.memories, np.uint8)
    return bool(view.columns.label_lists.carrying_any([first], *held, everything).any())


def _refuse(view: View, name: str) -> None:
    """Raise `InputError` for an unknown name, with the nearest known ones, if any are known."""
    known = [each for each in view.columns.metadata_values.names() if _is_known(view, each)]
    if not known:
        return
    near = difflib.get_close_matches(name, known, 3) or known[:3]
    raise InputError(
        f"where names {name[:80]!r}, which no memory has in its metadata; nearest: "
        f"{', '.join(map(repr, near))}. Beside {{'exists': True}} an unknown name matches nothing"
    )


def admitted_memories(view: View, question: Question) -> Mask:
    """Return uint8[memories]: 1 for each memory of ``view`` that the question may return.

    The array may be the view's own and must not be changed. Cost: nothing without a filter; else
    O(memories) bytes per condition, and for tags, metadata and entities the memories that have
    them.
    """
    return passing(view, question.filter, view.open)


def passing(view: View, wanted: Filter, mask: Mask) -> Mask:
    """Return ``mask`` narrowed to the memories that pass a filter; see above.

    Raises `InputError` for a name of metadata that no memory of the view ever had, if others had
    names.
    """
    if not wanted.narrows:
        return mask
    mask = mask.copy()
    if (recorded := bounds(wanted.recorded_since, wanted.recorded_until)) is not None:
        first, end = _recorded(view, *recorded)
        mask[:first] = 0
        mask[end:] = 0
    for name, numbers in (("network", wanted.network), ("role", wanted.roles)):
        if numbers:
            mask_networks(view.of_memories(name), sum(1 << n for n in set(numbers)), mask)
    if wanted.trust:
        trusted = sum(1 << level for level in range(wanted.trust, FULL + 1))
        mask_networks(view.of_memories("trust"), trusted, mask)
    if (event := bounds(wanted.since, wanted.until)) is not None:
        start = view.of_memories("event_start")
        stop = view.of_memories("event_end")
        mask = view.columns.event_times.overlapping(start, stop, *event, mask)
    if (moment := wanted.ends_after) is not None:
        mask &= view.of_memories("valid_end") > moment
    if (moment := wanted.ends_by) is not None:
        mask &= view.of_memories("valid_end") <= moment
    if (moment := wanted.as_world) is not None:
        mask_holding(view.of_memories("event_start"), view.of_memories("valid_end"), moment, mask)
    if wanted.document_id:
        mask = _mask_one_of(view, "document", _labels(view, "d", wanted.document_id), mask)
    if wanted.talk:
        own = _mask_one_of(view, "document", _labels(view, "d", wanted.talk), mask.copy())
        mask &= ~own
    if wanted.source:
        mask = _mask_one_of(view, "source", _labels(view, "w", wanted.source), mask)
    if wanted.speakers:
        called = view.columns.speakers.called(view.of_memories("speaker"), wanted.speakers)
        mask = _mask_one_of(view, "speaker", called, mask)
    mask = _mask_tags(view, wanted, mask)
    if wanted.where:
        mask = mask_where(view, wanted.where, mask)
    if wanted.entities:
        mask = _mask_entities(view, wanted.entities, mask)
    return mask


def _recorded(view: View, since: int, until: int) -> tuple[int, int]:
    """Return [first, end): the memories that were recorded at times in [since, until)."""
    times = view.buffer("op_recorded_at")[: view.op]
    counts = view.buffer("op_memories")
    first, end = (int(np.searchsorted(times, moment)) for moment in (since, until))
    return (int(counts[first - 1]) if first else 0), (int(counts[end - 1]) if end else 0)


def _labels(view: View, prefix: str, texts: Iterable[str]) -> list[int]:
    """Return the labels of those texts that have one, ascending."""
    found = (view.columns.dictionary["labels"].get(f"{prefix}:{text}") for text in texts)
    return sorted({label for label in found if label is not None})


def _mask_one_of(view: View, name: str, labels: Sequence[int], mask: Mask) -> Mask:
    """Return the memories of ``mask`` whose item of a column is one of ``labels``."""
    if len(labels) == 1:
        mask_equal(view.of_memories(name), labels[0], mask)
        return mask
    found = np.zeros_like(mask)
    for label in labels:
        each = mask.copy()
        mask_equal(view.of_memories(name), label, each)
        found |= each
    return found


def _mask_tags(view: View, wanted: Filter, mask: Mask) -> Mask:
    lists = view.columns.label_lists
    held = view.offsets("label_offset"), view.buffer("label")
    if wanted.tags:
        labels = _labels(view, "t", wanted.tags)
        if len(labels) < len(set(wanted.tags)):
            return np.zeros_like(mask)
        mask = lists.carrying(labels, *held, mask)
    if wanted.any_tags:
        mask = lists.carrying_any(_labels(view, "t", wanted.any_tags), *held, mask)
    if wanted.no_tags:
        mask = mask & ~lists.carrying_any(_labels(view, "t", wanted.no_tags), *held, mask)
    return mask


def _mask_entities(view: View, names: Sequence[str], mask: Mask) -> Mask:
    """Return the memories of ``mask`` that mention every entity of ``names``.

    Entities that were merged up to the view's operation count as one.
    """
    head = view.entity_head
    previous = view.buffer("mention_previous")
    for name in names:
        entity = view.columns.entity(name, view.op)
        found = np.zeros_like(mask)
        for member in () if entity is None else view.same_entities(entity):
            newest = int(head[member]) if member < len(head) else NONE
            keep_chain(newest, previous, view.buffer("mention_memory"), mask, found)
        mask = found
    return mask
