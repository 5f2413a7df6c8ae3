"""Which entities are hubs, so frequent that a walk skips them? A shared cache."""

import threading

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.schema import NONE


class Hubs:
    """For each entity, the newest memory by which it had become a hub; NONE if unknown.

    A walk that finds an entity to be a hub records the newest of the memories that it counted.
    Later walks of views that cover this memory need not count again, because mentions are never
    removed.

    Threads: any number. A thread that misses another's entry only counts again.
    """

    def __init__(self) -> None:
        self._known = np.empty(0, np.uint32)
        self._growing = threading.Lock()

    def known(self, entities: int) -> npt.NDArray[np.uint32]:
        """Return uint32[at least entities], which the caller reads and writes."""
        if len(self._known) < entities:
            with self._growing:
                known = np.full(max(64, entities * 3 // 2), NONE, np.uint32)
                known[: len(self._known)] = self._known
                self._known = known
        return self._known
