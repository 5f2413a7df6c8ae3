"""Which tags, documents, speakers ... are there, and how many memories have each?"""

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.fields import LABELS
from recollex_engine.domain.filter import Filter
from recollex_engine.domain.schema import NETWORKS, NONE
from recollex_engine.domain.trust import LEVELS, ROLES
from recollex_engine.errors import InputError
from recollex_engine.ranking.filters import passing
from recollex_engine.state.view import View

_NAMED = {"network": ("network", NETWORKS), "roles": ("role", ROLES), "trust": ("trust", LEVELS)}
"""Filter -> its column of small numbers, and their names; None for an unknown value."""
_LABELLED = {field.counts: field.key for field in LABELS if field.counts}
"""Filter -> its column of labels."""
FIELDS = ("tags", *_LABELLED, *_NAMED)


def check_field(field: object) -> str:
    """Return ``field`` if it is one of `FIELDS`; raises `InputError` otherwise."""
    if field not in FIELDS:
        raise InputError(f"field must be one of {', '.join(FIELDS)}, got {field!r}")
    return str(field)


def value_counts(view: View | None, field: str, wanted: Filter) -> dict[str, int]:
    """Return how many open memories that pass a filter have each value of ``field``.

    The most frequent first; equally frequent ones by name. Memories without a value are not
    counted. Cost: O(memories), 1 ns each, and 1 us for each value; for tags 2 ns for each tag.
    """
    if view is None:
        return {}
    passed = passing(view, wanted, view.open) == 1
    if field in _NAMED:
        column, names = _NAMED[field]
        counts = np.bincount(view.of_memories(column)[passed], minlength=len(names))
        found = {name: int(counts[n]) for n, name in enumerate(names) if name and counts[n]}
    else:
        counts = np.bincount(_labels(view, field, passed))
        labels = np.flatnonzero(counts)
        texts = view.columns.dictionary["labels"].strings(labels)
        found = {
            text[2:]: count
            for text, count in zip(texts, counts[labels].tolist(), strict=True)
            if field != "tags" or text[0] == "t"
        }
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _labels(view: View, field: str, passed: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint32]:
    """Return the labels of ``field`` of the memories that passed; with tags, also of metadata."""
    if field == "tags":
        offsets = view.offsets("label_offset").astype(np.int64)
        held = view.buffer("label")[offsets[0] : offsets[-1]]
        labels: npt.NDArray[np.uint32] = held[np.repeat(passed, np.diff(offsets))]
    else:
        labels = view.of_memories(_LABELLED[field])[passed]
        labels = labels[labels != NONE]
    return labels
