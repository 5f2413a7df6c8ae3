"""The interface through which a server reports what it does, for metrics, logs and spans."""

from recollex.remote.server.calls import Call
from recollex_engine.trace import Trace


class Observer:
    """Receives the events of a server and ignores them; override the methods that you need.

    Threads: `worked`, `grouped` and `opened` are called on any thread, the others on the event
    loop. A method must be quick and must not raise.
    """

    def metrics_text(self) -> str:
        """Return the metrics in Prometheus' text format; every client may read them."""
        return ""

    def answered(self, call: Call, error: BaseException | None) -> None:
        """Learn that a call was answered; the call holds its own times."""

    def worked(self, call: Call, trace: Trace | None) -> None:
        """Learn that a worker has done a call; the trace is a recall's."""

    def grouped(self, agent: str, calls: int, seconds: float) -> None:
        """Learn that writes of one agent were flushed together; seconds: of the flush."""

    def opened(self, agent: str, open_agents: int) -> None:
        """Learn that an agent was opened, and how many are open."""

    def closed(self, agent: str, open_agents: int) -> None:
        """Learn that an unused agent was closed to make room for others."""

    def connected(self, client: str, connections: int) -> None:
        """Learn that a client has connected."""

    def disconnected(self, client: str, connections: int, why: str) -> None:
        """Learn that a connection has ended, and why."""

    def exhausted(self, address: str, connections: int, dropped: int) -> None:
        """Learn that connections were dropped because there are too many; at most once a minute.

        address: of the last one. dropped: how many since this was told before.
        """

    def failed(self, call: Call | None, error: BaseException) -> None:
        """Learn of an unexpected error; the caller is only told that the log has it."""
