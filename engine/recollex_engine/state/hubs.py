"""Which entities are named too often to tell anything? What walks along mentions have found."""

import threading

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.schema import NONE


class Hubs:
    """A memory of an agent for each entity, up to which many name it; NONE while nobody knows.

    A walk that finds an entity to be a hub writes down the newest of those it counted, and no
    later walk of a view that covers it need count again: mentions are never taken back.

    Threads: any number. What one does not see of another's costs it a walk.
    """

    def __init__(self) -> None:
        self._known = np.empty(0, np.uint32)
        self._growing = threading.Lock()

    def known(self, entities: int) -> npt.NDArray[np.uint32]:
        """Return uint32[>= entities], to be read and written."""
        if len(self._known) < entities:
            with self._growing:
                known = np.full(max(64, entities * 3 // 2), NONE, np.uint32)
                known[: len(self._known)] = self._known
                self._known = known
        return self._known
