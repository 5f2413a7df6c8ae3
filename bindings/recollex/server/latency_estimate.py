"""Is a recall of this agent quick? What its recalls took lately says so."""

MOST = 10_000
"""Agents of which it is known."""
LONGEST = 0.008
"""Seconds as which a longer one counts: so that one of them is forgotten after some quick ones."""
QUICK = 0.002
"""Seconds that everybody else may have to wait for one recall."""


class LatencyEstimate:
    """What recalls of each agent took lately, as an average in which new ones weigh a fifth.

    An agent of which little is known is not quick. Threads: any number; one that overwrites what
    another has just noted costs time, never a result.

    >>> estimate = LatencyEstimate()
    >>> for _ in range(10):
    ...     estimate.observe("alice", 0.0004)
    >>> estimate.is_quick("alice"), estimate.is_quick("bob")
    (True, False)
    """

    def __init__(self) -> None:
        self._average: dict[str, float] = {}

    def observe(self, agent: str, seconds: float) -> None:
        """Take note of one recall."""
        if len(self._average) >= MOST:
            self._average = {}
        before = self._average.get(agent, LONGEST)
        self._average[agent] = before + 0.2 * (min(seconds, LONGEST) - before)

    def is_quick(self, agent: str) -> bool:
        """Return whether a recall of the agent may be expected to take less than `QUICK`."""
        return self._average.get(agent, LONGEST) < QUICK
