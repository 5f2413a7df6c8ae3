"""A fused list after a step that reordered it and added a part of its own to the scores."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from recollex_engine.ranking.fusion import Fused


def reordered(
    fused: Fused, places: npt.NDArray[np.int64], scores: npt.NDArray[np.float64], part: str
) -> Fused:
    """Return ``fused`` in another order, with new scores and one part more, named ``part``.

    places: the present place of each memory of the new order. scores: float64[n], in the present
    order. The new part is what they add to the present scores; there is none if ``fused`` has no
    parts.
    """
    added = {part: scores - fused.scores}
    has_none = isinstance(fused.parts, dict) and not fused.parts
    parts = fused.parts if has_none else ReorderedParts(fused.parts, places, added)
    return replace(fused, memories=fused.memories[places], scores=scores[places], parts=parts)


class ReorderedParts(Mapping[str, npt.NDArray[np.float64]]):
    """The parts of the scores in another order, with the parts that a step added.

    parts: name -> float64[n], in the order before the step. places: int64[n], the place before the
    step of each memory. added: name -> float64[n], in the order before the step.
    """

    def __init__(
        self,
        parts: Mapping[str, npt.NDArray[np.float64]],
        places: npt.NDArray[np.int64],
        added: Mapping[str, npt.NDArray[np.float64]],
    ) -> None:
        self._parts = parts
        self._places = places
        self._added = added

    def __getitem__(self, name: str) -> npt.NDArray[np.float64]:
        part = self._added[name] if name in self._added else self._parts[name]
        return part[self._places]

    def __iter__(self) -> Iterator[str]:
        yield from self._parts
        yield from self._added

    def __len__(self) -> int:
        return len(self._parts) + len(self._added)
