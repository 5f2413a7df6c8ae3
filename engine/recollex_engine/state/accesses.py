"""How often was a memory accessed, all its versions together?"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import from_micros
from recollex_engine.domain.schema import NONE
from recollex_engine.state.access_journal import KINDS, Tally
from recollex_engine.state.view import View


@dataclass(frozen=True, slots=True)
class Accesses:
    """How often a memory was accessed, and when last.

    returned: by a recall, in a store that counts them; used, helped, misled: as the caller said
    with `Agent.used`. The times are None for never.
    """

    returned: int = 0
    used: int = 0
    helped: int = 0
    misled: int = 0
    last_returned: datetime | None = None
    last_used: datetime | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return them as JSON values."""
        return {kind: getattr(self, kind) for kind in KINDS} | {
            name: None if at is None else at.isoformat()
            for name, at in (
                ("last_returned", self.last_returned),
                ("last_used", self.last_used),
            )
        }


def tally(
    view: View, memories: npt.NDArray[np.integer], kind: str, before: int | None = None
) -> Tally:
    """Return how often each memory was accessed, by any of its versions up to this one.

    before: only accesses before this time. Cost: 5 us, and 5 us for each earlier version.
    """
    journal = view.columns.accesses
    previous = view.buffer("previous")
    found = journal.tally(memories, kind, before)
    counts = found.counts
    last = found.last
    older = previous[memories.astype(np.int64)]
    while (known := older != NONE).any():
        earlier = journal.tally(older[known], kind, before)
        counts[known] += earlier.counts
        last[known] = np.maximum(last[known], earlier.last)
        older = np.where(known, previous[np.where(known, older, 0).astype(np.int64)], NONE)
    return Tally(counts, last)


def accesses(view: View, memory: int, before: int | None = None) -> Accesses:
    """Return the accesses of one memory."""
    one = np.array([memory], np.int64)
    found = {kind: tally(view, one, kind, before) for kind in KINDS}
    last = {kind: int(each.last[0]) for kind, each in found.items()}
    return Accesses(
        **{kind: int(each.counts[0]) for kind, each in found.items()},
        last_returned=from_micros(last["returned"]) if last["returned"] else None,
        last_used=from_micros(last["used"]) if last["used"] else None,
    )
