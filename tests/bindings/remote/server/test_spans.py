"""Spans of calls, as OpenTelemetry's own exporter for tests sees them."""

import asyncio
import builtins
import contextlib
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

import recollex
from recollex.remote.server.access import LOCAL
from recollex.remote.server.calls import Options
from recollex.remote.server.service import Service
from recollex.remote.server.telemetry import Spans, Telemetry
from recollex_engine.errors import RecollexError
from tests.bindings.remote.http.http_service import HashedWords

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def spans_of(folder: Path, *calls: tuple[str, dict[str, Any], Options]) -> list[Any]:
    """Return the spans of calls on agent bob."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    async def run() -> None:
        store = recollex.open(folder, embedder=HashedWords(), durability="off")
        telemetry = Telemetry(spans=Spans(provider.get_tracer("test"), provider.shutdown))
        service = Service(store, observer=telemetry)
        for method, arguments, options in calls:
            with contextlib.suppress(RecollexError):
                await service.call(LOCAL, method, "bob", arguments, options)
        await service.stop()
        telemetry.close()

    asyncio.run(run())
    return list(exporter.get_finished_spans())


def test_a_recall_says_what_its_stages_took_and_nothing_of_what_was_asked(tmp_path: Path) -> None:
    secret = "Bob hides the key under the mat."
    told = Options()
    _, span = spans_of(
        tmp_path,
        ("retain", {"text": secret}, told),
        ("recall", {"query": "Where is the key?"}, Options(traceparent=PARENT)),
    )
    assert span.name == "recollex.recall"
    assert f"{span.context.trace_id:032x}" == PARENT.split("-")[1]
    assert f"{span.parent.span_id:016x}" == PARENT.split("-")[2]
    assert span.attributes["recollex.agent"] == "bob"
    assert span.attributes["recollex.recall.embed_us"] > 0
    assert span.attributes["recollex.recall_us"] / 1000 < (span.end_time - span.start_time)
    assert not {"key", "mat"} & set(" ".join(map(str, span.attributes.values())).split())


def test_an_error_is_named_and_its_message_kept_away(tmp_path: Path) -> None:
    (span,) = spans_of(tmp_path, ("get", {"id": "my secret"}, Options(traceparent="nonsense")))
    assert span.status.status_code == StatusCode.ERROR
    assert span.attributes["error.type"] == "UnknownIdError"
    assert span.parent is None
    assert "secret" not in span.to_json()


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("opentelemetry"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    for make in (Spans.exported, lambda: Spans(None)):
        with pytest.raises(recollex.errors.InputError, match=r"pip install 'recollex\[otel\]'"):
            make()
