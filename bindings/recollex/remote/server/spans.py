"""OpenTelemetry: one span for each call, with the times of a recall's stages."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from recollex.remote.server.calls import Call
from recollex_engine.errors import InputError
from recollex_engine.trace import Trace

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
