"""Which memories may this recall return? A mask over the view's memories.

Every filter narrows: a memory must be open in the view and pass them all.
"""

import numpy as np
import numpy.typing as npt

from recollex_engine.question import Question
from recollex_engine.schema import metadata_label
from recollex_engine.view import View
from recollex_kernels.filters import (
    mask_equal,
    mask_holding,
    mask_labels,
    mask_networks,
    mask_overlap,
)


def select(view: View, question: Question) -> npt.NDArray[np.uint8]:
    """Return uint8[memories]: 1 for each memory of ``view`` that ``question`` admits.

    The array may be the view's own and must not be changed. Cost: O(memories) a filter, nothing
    without one.
    """
    interval = question.interval
    labels = [f"t:{tag}" for tag in question.tags]
    labels += [metadata_label(name, value) for name, value in question.where.items()]
    if (
        question.networks is None
        and interval is None
        and not labels
        and not question.entities
        and question.document is None
        and question.as_world is None
    ):
        return view.open
    mask = view.open.copy()
    if question.networks is not None:
        bits = sum(1 << network for network in set(question.networks))
        mask_networks(view.of_memories("network"), bits, mask)
    if interval is not None:
        mask_overlap(
            view.of_memories("event_start"), view.of_memories("event_end"), *interval, mask
        )
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
        if not _mask_list(view, "label", "label", wanted, mask):
            return np.zeros_like(mask)
    if question.entities:
        wanted = [view.columns.entity(name, view.op) for name in question.entities]
        if not _mask_list(view, "mention", "mention_entity", wanted, mask):
            return np.zeros_like(mask)
    return mask


def _mask_list(
    view: View,
    name: str,
    flat: str,
    wanted: list[int | None],
    mask: npt.NDArray[np.uint8],
) -> bool:
    """Keep the memories whose list holds all of ``wanted``; False if one of them is unknown."""
    known = [number for number in wanted if number is not None]
    if len(known) < len(wanted):
        return False
    offsets = view.offsets(f"{name}_offset")
    mask_labels(offsets, view.buffer(flat), np.array(sorted(set(known)), np.uint32), mask)
    return True
