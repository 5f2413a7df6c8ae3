"""Turns what a server does into metrics, log lines and, if wanted, spans."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from recollex.remote.server.calls import Call, Observer
from recollex.remote.server.logs import Log
from recollex.remote.server.metrics import Metrics
from recollex.remote.server.service import Service
from recollex_engine.errors import InputError
from recollex_engine.trace import Trace

# OpenTelemetry: one span for each call, with the times of a recall's stages.
INSTALL = "pip install 'recollex[otel]'"
MAX_KEPT = 1024
"""The most traces of recalls that are kept until the calls are answered."""


class Spans:
    """Makes a span of every call; see `exported`.

    A span is named by the call's method, begins when the call arrived, and is a child of the span
    that the caller named (`traceparent`, W3C Trace Context). Its attributes are the agent, the
    client, the time in the queue and, for a recall, microseconds by stage. It holds no text of a
    memory or a question.

    Threads: any.
    """

    def __init__(self, tracer: Any, shutdown: Callable[[], None] = lambda: None) -> None:
        try:
            from opentelemetry import trace
            from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
        except ImportError:
            raise InputError(f"spans need OpenTelemetry: {INSTALL}") from None
        self._api = trace
        self._context_of = TraceContextTextMapPropagator()
        self._tracer = tracer
        self._shutdown = shutdown
        self._lock = threading.Lock()
        self._traces: OrderedDict[int, tuple[Call, Trace]] = OrderedDict()
        self._epoch = time.time_ns() - time.perf_counter_ns()

    @classmethod
    def exported(cls) -> "Spans":
        """Return spans that go to a collector, at OTEL_EXPORTER_OTLP_ENDPOINT over HTTP.

        OpenTelemetry's other environment variables apply. Raises `InputError` without the extra.
        """
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError:
            raise InputError(f"spans need OpenTelemetry: {INSTALL}") from None
        provider = TracerProvider(resource=Resource.create({"service.name": "recollex"}))
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        return cls(provider.get_tracer("recollex"), provider.shutdown)

    def close(self) -> None:
        """Send the spans that were not sent yet."""
        self._shutdown()

    def worked(self, call: Call, trace: Trace) -> None:
        """Keep a recall's trace until its call is answered."""
        if call.over:
            return  # its deadline passed while it ran
        with self._lock:
            self._traces[id(call)] = call, trace
            if len(self._traces) > MAX_KEPT:
                self._traces.popitem(last=False)

    def answered(self, call: Call, error: BaseException | None) -> None:
        """Make the span of a call."""
        with self._lock:
            of, trace = self._traces.pop(id(call), (None, None))
        attributes: dict[str, Any] = {
            "recollex.agent": call.agent,
            "recollex.remote.client": call.principal.name,
        }
        if call.begun:
            attributes["recollex.waited_us"] = (call.begun_at - call.entered_at) * 1e6
        if trace is not None and of is call:
            attributes["recollex.recall_us"] = trace.total
            for stage, spent in trace.stages.items():
                attributes[f"recollex.recall.{stage}_us"] = spent
            if trace.errors:
                attributes["recollex.recall.failed_arms"] = sorted(trace.errors)
        parent = call.options.traceparent
        span = self._tracer.start_span(
            f"recollex.{call.method.name}",
            context=parent and self._context_of.extract({"traceparent": parent}),
            kind=self._api.SpanKind.SERVER,
            start_time=self._nanoseconds(call.entered_at),
            attributes=attributes,
        )
        if error is not None:
            kind = type(error).__name__
            span.set_attribute("error.type", kind)
            span.set_status(self._api.Status(self._api.StatusCode.ERROR, kind))
        span.end(self._nanoseconds(call.answered_at))

    def _nanoseconds(self, moment: float) -> int:
        """Convert a time of `time.perf_counter` to nanoseconds since 1970."""
        return self._epoch + int(moment * 1e9)


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
