"""Which memories may this recall return? The filters of a question make a mask over the view.

A memory must be open in the view and pass every filter.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.question import Question
from recollex_engine.domain.schema import NONE, metadata_label
from recollex_engine.domain.trust import FULL
from recollex_engine.state.view import View
from recollex_kernels.memories.filters import keep_chain, mask_equal, mask_holding, mask_networks


def admitted_memories(view: View, question: Question) -> npt.NDArray[np.uint8]:
    """Return uint8[memories]: 1 for each memory of ``view`` that passes the question's filters.

    The array may be the view's own and must not be changed. Cost: nothing without a filter; else
    O(memories) bytes per filter, and for tags, metadata and entities the memories that have them.
    """
    return passing(view, question, view.open)


def passing(view: View, question: Question, mask: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return ``mask`` narrowed to the memories that pass the question's filters; see above."""
    interval = question.interval
    labels = [f"t:{tag}" for tag in question.tags]
    labels += [metadata_label(name, value) for name, value in question.where.items()]
    if (
        question.networks is None
        and question.roles is None
        and not question.trust
        and interval is None
        and not labels
        and not question.entities
        and question.document is None
        and question.as_world is None
    ):
        return mask
    mask = mask.copy()
    for name, numbers in (("network", question.networks), ("role", question.roles)):
        if numbers is not None:
            mask_networks(view.of_memories(name), sum(1 << n for n in set(numbers)), mask)
    if question.trust:
        trusted = sum(1 << level for level in range(question.trust, FULL + 1))
        mask_networks(view.of_memories("trust"), trusted, mask)
    if interval is not None:
        start, end = view.of_memories("event_start"), view.of_memories("event_end")
        mask = view.columns.event_times.overlapping(start, end, *interval, mask)
    if (moment := question.as_world) is not None:
        start, end = view.of_memories("event_start"), view.of_memories("valid_end")
        mask_holding(start, end, moment, mask)
    if question.document is not None:
        document = view.columns.dictionary["labels"].get(f"d:{question.document}")
        if document is None:
            return np.zeros_like(mask)
        mask_equal(view.of_memories("document"), document, mask)
    if labels:
        wanted = [view.columns.dictionary["labels"].get(label) for label in labels]
        known = {number for number in wanted if number is not None}
        if None in wanted:
            return np.zeros_like(mask)
        offsets, held = view.offsets("label_offset"), view.buffer("label")
        mask = view.columns.label_lists.carrying(sorted(known), offsets, held, mask)
    if question.entities:
        mask = _mask_entities(view, question.entities, mask)
    return mask


def _mask_entities(
    view: View, names: Sequence[str], mask: npt.NDArray[np.uint8]
) -> npt.NDArray[np.uint8]:
    """Return the memories of ``mask`` that mention every entity of ``names``.

    Entities that were merged up to the view's operation count as one.
    """
    head, previous = view.entity_head, view.buffer("mention_previous")
    for name in names:
        entity = view.columns.entity(name, view.op)
        found = np.zeros_like(mask)
        for member in () if entity is None else view.same_entities(entity):
            newest = int(head[member]) if member < len(head) else NONE
            keep_chain(newest, previous, view.buffer("mention_memory"), mask, found)
        mask = found
    return mask
