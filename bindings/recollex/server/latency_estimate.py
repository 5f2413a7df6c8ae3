"""Are the recalls of an agent quick? Their recent times say so."""

MAX_AGENTS = 10_000
"""The most agents for which an average is kept."""
LONGEST = 0.008
"""The most seconds that one recall counts as, so that one slow recall is soon forgotten."""
QUICK = 0.002
"""The most seconds that all other clients may have to wait for one recall."""


class LatencyEstimate:
    """An exponential average of each agent's recall time; a new recall weighs a fifth.

    An agent with few recalls is not quick. Threads: any number. One may overwrite what another has
    just recorded: that costs time, and never changes a result.

    >>> estimate = LatencyEstimate()
    >>> for _ in range(10):
    ...     estimate.observe("alice", 0.0004)
    >>> estimate.is_quick("alice"), estimate.is_quick("bob")
    (True, False)
    """

    def __init__(self) -> None:
        self._average: dict[str, float] = {}

    def observe(self, agent: str, seconds: float) -> None:
        """Add the time of one recall."""
        if len(self._average) >= MAX_AGENTS:
            self._average = {}
        before = self._average.get(agent, LONGEST)
        self._average[agent] = before + 0.2 * (min(seconds, LONGEST) - before)

    def is_quick(self, agent: str) -> bool:
        """Return whether a recall of the agent will probably take less than `QUICK`."""
        return self._average.get(agent, LONGEST) < QUICK
