"""Which memories meet conditions on metadata? Values are compared once each, not once a memory.

Every pair of a name and a value is a label, so a condition is a set of labels.
"""

import difflib

import numpy as np

from recollex_engine.domain.filter import Condition, Where
from recollex_engine.errors import InputError
from recollex_engine.ranking.arms import Mask
from recollex_engine.state.view import View


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
