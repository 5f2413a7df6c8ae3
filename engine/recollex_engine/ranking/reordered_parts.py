"""The parts of the scores after a step that reordered the list and added parts of its own."""

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt


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
