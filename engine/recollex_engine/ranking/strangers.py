"""Whose memories tell of other people than the question? Speakers of other circles.

Where several households, couples or teams share an agent, they talk of the same seats and suppers.
A question names one or two people, and mostly somebody else of their circle gives the answer, or
they do not say their names. So a memory counts less if its speaker is in no circle (see
`recollex_engine.state.speakers`) of a person whom the question names. In an agent of one circle
nothing changes.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from recollex_engine.state.speakers import root_of
from recollex_engine.state.view import View
from recollex_kernels.fusing.inputs import Strangers

_NO_LABELS = np.empty(0, np.uint32)
_NOTHING = np.empty(0, np.float64)

NO_STRANGERS: Strangers = _NO_LABELS, (_NO_LABELS, _NO_LABELS, _NO_LABELS), 0, _NO_LABELS, _NOTHING
"""No memory counts less."""


def strangers(view: View, met: Sequence[npt.NDArray[np.uint32]], weight: float) -> Strangers:
    """Return which memories count less because their speakers are strangers to the named people.

    Equation: weight * (1 - n(circle) / n), where n is how many first names of the question are of
    speakers with company, and n(circle) how many of these are in the circle. A memory counts in
    full if it has no speaker, or one without company.

    met: the labels of each first name that the question names, see `Speakers.by_name`.

    Cost: 1 us in an agent of one circle, else 2 us and 2 us a label.
    """
    if not weight:
        return NO_STRANGERS
    document = view.of_memories("document")
    speaker = view.of_memories("speaker")
    circles = view.columns.circles
    end = view.memories
    if circles.are_one(document, speaker):
        return NO_STRANGERS
    forest = circles.forest(document, speaker)
    known = len(forest[0])
    of_names = []
    for labels in met:  # a label beyond the known ones is newer than the view
        roots = {root_of(label, end, forest) for label in labels.tolist() if label < known}
        roots.discard(-1)
        if roots:
            of_names.append(roots)
    if not of_names:
        return NO_STRANGERS
    if len(of_names) == 1:
        roots = of_names[0]
        less = _less(len(of_names[0]), weight)
    else:
        roots = set().union(*of_names)
        shares = [sum(root in of_name for of_name in of_names) / len(of_names) for root in roots]
        less = np.array([*(weight * (1 - share) for share in shares), weight])
    return speaker, forest, end, np.array([*roots], np.uint32), less


@lru_cache(maxsize=64)
def _less(circles: int, weight: float) -> npt.NDArray[np.float64]:
    """Return what memories lose where one name is of all of so many circles: only others lose."""
    return np.array([0.0] * circles + [weight])
