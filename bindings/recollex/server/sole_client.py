"""Does only one client ask? Then its recalls are done where they were read, and wake nobody."""

from recollex.server.calls import Call

PLAIN = frozenset({"query", "max_tokens", "query_embedding", "min_confidence", "now"})
"""Arguments that do not make a recall take much longer than others of its agent."""
SHORT = 500
"""Characters of a question that does not take longer than others."""
ALONE = 0.05
"""Seconds for which no other client has asked, where one is alone."""


class SoleClient:
    """Who asked last, and since when nobody else has. Threads: the event loop's."""

    def __init__(self) -> None:
        self._client: object = None
        self._since = 0.0

    def asks(self, call: Call) -> bool:
        """Take note of a call; return whether it is a plain recall, and nobody else asked lately.

        While more than one client asks, others would have to wait for what is done at once, and
        could use other cores.
        """
        if call.client is not self._client:
            self._client, self._since = call.client, call.entered_at
        query = call.arguments.get("query")
        return (
            call.method.name == "recall"
            and call.requester is call.client  # a connection: what awaits each call may await many
            and call.entered_at - self._since > ALONE
            and call.options.at is None
            and call.arguments.keys() <= PLAIN
            and isinstance(query, str)
            and len(query) <= SHORT
        )
