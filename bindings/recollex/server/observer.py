"""Who is told what a server does? Metrics, logs and traces, through one seam."""

from recollex.server.calls import Call
from recollex_engine.trace import Trace


class Observer:
    """Is told what a server does. Here nothing comes of it: subclass what you want to know.

    Threads: `worked`, `grouped` and `opened` come from any thread, the others from the event loop.
    A method must be quick and must not raise.
    """

    def metrics_text(self) -> str:
        """Return what was measured, in Prometheus' text format; whoever may call may read it."""
        return ""

    def answered(self, call: Call, error: BaseException | None) -> None:
        """Take note of a call that was answered; its times are its own."""

    def worked(self, call: Call, trace: Trace | None) -> None:
        """Take note of what a worker did for a call; the trace is a recall's."""

    def grouped(self, agent: str, calls: int, seconds: float) -> None:
        """Take note of writes of one agent that were made durable together, and of the flush."""

    def opened(self, agent: str, open_agents: int) -> None:
        """Take note of an agent that was opened, and of how many are."""

    def closed(self, agent: str, open_agents: int) -> None:
        """Take note of an agent that was closed because others were used later."""

    def connected(self, client: str, connections: int) -> None:
        """Take note of a connection."""

    def disconnected(self, client: str, connections: int, why: str) -> None:
        """Take note of a connection's end, and of why it ended."""

    def failed(self, call: Call | None, error: BaseException) -> None:
        """Take note of an error that nobody foresaw; its caller is told that it is in the log."""
