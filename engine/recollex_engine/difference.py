"""What changed in what was known between two moments? Two views, compared."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from recollex_engine.memory import Memory, read_memories
from recollex_engine.view import View


@dataclass(frozen=True, slots=True)
class Difference:
    """What a later view holds that an earlier one does not, and the other way round.

    added: memories that are open in the later view alone. closed: memories that were open in the
    earlier view and no longer are; each says how it was closed. A correction is in both. What came
    and went in between is in neither: the log has it. Both lists are in recorded order.
    """

    added: list[Memory]
    closed: list[Memory]

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as JSON values."""
        return {
            "added": [memory.to_dict() for memory in self.added],
            "closed": [memory.to_dict() for memory in self.closed],
        }


def difference(earlier: View | None, later: View | None) -> Difference:
    """Return what changed between two views of an agent; None is the view of nothing.

    Cost: O(memories), and 5 us for each that is returned.
    """
    if later is None:
        return Difference([], [])
    known = earlier.memories if earlier is not None else 0
    added = np.flatnonzero(later.open[known:]) + known
    before = earlier.open if earlier is not None else later.open[:0]
    closed = np.flatnonzero((before == 1) & (later.open[:known] == 0))
    return Difference(read_memories(later, added.tolist()), read_memories(later, closed.tolist()))
