"""Is only one client active? Then its recalls run on the event loop and wake no thread."""

from recollex.server.calls import Call

PLAIN = frozenset({"query", "max_tokens", "limit", "query_embedding", "min_confidence", "now"})
"""Arguments that do not make a recall much slower than the agent's other recalls."""
SHORT = 500
"""The most characters of a question that is not slower than others."""
ALONE = 0.05
"""Seconds without a call of another client, after which a client is the only one."""


class SoleClient:
    """The client that asked last, and since when no other has asked. Threads: the event loop's."""

    def __init__(self) -> None:
        self._client: object = None
        self._since = 0.0

    def asks(self, call: Call) -> bool:
        """Record a call; return whether it is a plain recall of the only active client.

        While several clients ask, a recall on the event loop would make the others wait, although
        they could use other cores.
        """
        if call.client is not self._client:
            self._client, self._since = call.client, call.entered_at
        query = call.arguments.get("query")
        return (
            call.method.name == "recall"
            and call.requester is call.client  # a connection: a coroutine may await many
            and call.entered_at - self._since > ALONE
            and call.options.at is None
            and call.arguments.keys() <= PLAIN
            and isinstance(query, str)
            and len(query) <= SHORT
        )
