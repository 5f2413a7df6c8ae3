"""Turns what a server does into metrics, log lines and, if wanted, spans."""

from recollex.remote.server.calls import Call
from recollex.remote.server.logs import Log
from recollex.remote.server.metrics import Metrics
from recollex.remote.server.observer import Observer
from recollex.remote.server.service import Service
from recollex.remote.server.spans import Spans
from recollex_engine.trace import Trace


class Telemetry(Observer):
    """An observer that measures, logs and traces. Threads: as `Observer` says."""

    def __init__(
        self, metrics: Metrics | None = None, log: Log | None = None, spans: Spans | None = None
    ) -> None:
        self.metrics: Metrics = metrics or Metrics()
        self.log: Log = log or Log()
        self.spans = spans
        self._connections = 0
        self._open_agents = 0
        self.metrics.gauge(
            "recollex_connections", "Connections that are open.", lambda: self._connections
        )
        self.metrics.gauge(
            "recollex_open_agents", "Agents that are open.", lambda: self._open_agents
        )

    def add_service_gauges(self, service: Service) -> None:
        """Measure how many calls of a service wait, and how many run."""
        self.metrics.gauge(
            "recollex_queue_depth",
            "Calls that wait for a thread.",
            lambda: service.status().waiting,
        )
        self.metrics.gauge(
            "recollex_reader_threads", "Threads that recall.", lambda: service.limits.readers
        )
        pool = service.reader_pool
        self.metrics.gauge(
            "recollex_reader_processes",
            "Processes that recall.",
            lambda: 0 if pool is None else len(pool),
        )
        self.metrics.gauge(
            "recollex_running_calls",
            "Calls that a thread works at.",
            lambda: service.status().running,
        )

    def close(self) -> None:
        """Send the spans that were not sent yet."""
        if self.spans is not None:
            self.spans.close()

    def metrics_text(self) -> str:
        """Return the metrics in Prometheus' text format."""
        return self.metrics.text()

    def answered(self, call: Call, error: BaseException | None) -> None:
        """Record an answered call."""
        seconds = call.answered_at - call.entered_at
        outcome = "ok" if error is None else type(error).__name__
        self.metrics.answered(call.method.name, outcome, seconds)
        if call.begun:
            self.metrics.waited(call.begun_at - call.entered_at)
        self.log.answered(
            call.method.name, call.agent, call.principal.name, seconds, call.arguments, error
        )
        if self.spans is not None:
            self.spans.answered(call, error)

    def worked(self, call: Call, trace: Trace | None) -> None:
        """Record the stages of a recall that a worker has done."""
        if trace is not None:
            self.metrics.recalled(trace)
            if self.spans is not None:
                self.spans.worked(call, trace)

    def grouped(self, agent: str, calls: int, seconds: float) -> None:
        """Record writes of one agent that were flushed together."""
        self.metrics.batched(calls)

    def opened(self, agent: str, open_agents: int) -> None:
        """Record that an agent was opened."""
        self._open_agents = open_agents
        self.log.event("agent opened", "debug", agent=agent, open_agents=open_agents)

    def closed(self, agent: str, open_agents: int) -> None:
        """Record that an unused agent was closed to make room for others."""
        self._open_agents = open_agents
        self.log.event("agent closed", "debug", agent=agent, open_agents=open_agents)

    def connected(self, client: str, connections: int) -> None:
        """Record a new connection."""
        self._connections = connections
        self.log.event("connected", "debug", client=client, connections=connections)

    def disconnected(self, client: str, connections: int, why: str) -> None:
        """Record the end of a connection, and why it ended."""
        self._connections = connections
        self.log.event("disconnected", "debug", client=client, connections=connections, why=why)

    def exhausted(self, address: str, connections: int, dropped: int) -> None:
        """Log that connections were dropped because there are too many."""
        self.log.exhausted(address, connections, dropped)

    def failed(self, call: Call | None, error: BaseException) -> None:
        """Log an unexpected error."""
        if call is None:
            self.log.bug(error)
        else:
            self.log.bug(
                error, method=call.method.name, agent=call.agent, client=call.principal.name
            )
