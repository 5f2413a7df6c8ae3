"""`recollex serve --otel` sends its spans to a collector, which is a few lines of HTTP here."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.bindings.serving import VECTOR, Raw
from tests.bindings.test_serve import process
from tests.http_stub import QuietHandler, http_stub

messages = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
pytest.importorskip("opentelemetry.exporter.otlp.proto.http")

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SECRET = "Ann hides the key under the mat."


@contextmanager
def collector() -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """Give the address of a collector, and the paths and requests that it receives."""
    received: list[tuple[str, Any]] = []

    class Handler(QuietHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                import gzip

                body = gzip.decompress(body)
            request = messages.ExportTraceServiceRequest()
            request.ParseFromString(body)
            received.append((self.path, request))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

    with http_stub(Handler) as server:
        yield f"http://127.0.0.1:{server.server_port}", received


def test_a_collector_gets_the_spans_and_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collector() as (url, received):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        store = str(tmp_path / "memory")
        with process("--store", store, "--otel", "--workers", "1") as (server, address):
            with Raw(address) as client:
                arguments = {"text": SECRET, "id": "m1", "embedding": VECTOR.tolist()}
                client.call("retain", "alice", arguments)
                asked = {"query": "Where is the key?", "query_embedding": VECTOR.tolist()}
                client.call("recall", "alice", asked, {"traceparent": PARENT})
            server.send_signal(signal.SIGTERM)
            assert server.wait(30) == 0
        assert {path for path, _ in received} == {"/v1/traces"}
        spans = {
            span.name: span
            for _, request in received
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        }
        assert {"recollex.retain", "recollex.recall"} <= spans.keys()
        recall = spans["recollex.recall"]
        assert recall.trace_id.hex() == PARENT.split("-")[1]
        assert recall.parent_span_id.hex() == PARENT.split("-")[2]
        assert "recollex.recall_us" in {each.key for each in recall.attributes}
        told = str(received)
        assert "mat" not in told and "Where is" not in told
