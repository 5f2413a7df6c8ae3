"""A server that speaks OpenAI's protocol on the loopback and says what a script tells it to."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from select import select
from typing import Any

from tests.http_stub import QuietHandler, http_stub
from tests.waiting import PATIENCE


@dataclass
class Step:
    """One answer.

    content: what the model says. pieces: how a stream is cut. cut: a stream ends after so many
    pieces, without an end. wait: seconds before the answer, or before each piece of a stream.
    gate: waited for before the answer, or before the last piece of a stream, as long as the client
    waits; the end of the server opens it.
    body: sent instead of a chat completion, in bytes.
    """

    content: Any = "ok"
    status: int = 200
    finish: str = "stop"
    refusal: str | None = None
    wait: float = 0.0
    gate: threading.Event | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    pieces: Sequence[str] | None = None
    cut: int | None = None
    usage: Mapping[str, int] | None = field(
        default_factory=lambda: {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    )

    @property
    def text(self) -> str:
        return self.content if isinstance(self.content, str) else json.dumps(self.content)


def error(status: int, message: str = "no", **headers: str) -> Step:
    body = json.dumps({"error": {"message": message}}).encode()
    return Step(
        status=status, body=body, headers={k.replace("_", "-"): v for k, v in headers.items()}
    )


Script = Sequence[Step] | Callable[[Mapping[str, Any]], Step]


@dataclass
class Scripted:
    """The address of a scripted server, and what it was asked."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    left: list[float] = field(default_factory=list)
    gates: list[threading.Event] = field(default_factory=list)

    def prompt(self, number: int = -1) -> str:
        """Return the text of all messages of a request."""
        return "\n".join(each["content"] for each in self.asked[number]["messages"])


@contextmanager
def scripted(script: Script) -> Iterator[Scripted]:
    """Serve the steps in order, the last for ever; or what a function of the request returns."""
    served = Scripted()
    lock = threading.Lock()

    class Handler(QuietHandler):
        def answer(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                number = len(served.asked)
                served.asked.append(sent)
                served.headers.append({name.lower(): each for name, each in self.headers.items()})
            try:
                step = script(sent) if callable(script) else script[min(number, len(script) - 1)]
                self.play(step, sent)
            except (BrokenPipeError, ConnectionResetError):
                served.left.append(time.monotonic())  # the client gave up

        def play(self, step: Step, sent: Mapping[str, Any]) -> None:
            if step.status == 200 and step.body is None and sent.get("stream"):
                self.play_stream(step, sent)
                return
            time.sleep(step.wait)
            self.pass_gate(step)
            body = step.body if step.body is not None else completion(step)
            self.send_response(step.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, value in step.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def play_stream(self, step: Step, sent: Mapping[str, Any]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            pieces = step.pieces or [step.text]
            for number, piece in enumerate(pieces[: step.cut]):
                time.sleep(step.wait)
                if number == len(pieces) - 1:
                    self.pass_gate(step)
                self.event(chunk({"content": piece}))
            if step.cut is not None:
                return
            self.event(chunk({}, finish=step.finish))
            if step.usage and sent.get("stream_options", {}).get("include_usage"):
                self.event({**chunk({}), "choices": [], "usage": step.usage})
            self.wfile.write(b"data: [DONE]\n\n")

        def pass_gate(self, step: Step) -> None:
            if step.gate is None:
                return
            served.gates.append(step.gate)
            until = time.monotonic() + PATIENCE
            while not step.gate.wait(0.01) and time.monotonic() < until:
                if select([self.connection], [], [], 0)[0]:  # it sends no more: it is closed
                    raise ConnectionResetError

        def event(self, data: Mapping[str, Any]) -> None:
            self.wfile.write(b"data: " + json.dumps(data).encode() + b"\n\n")
            self.wfile.flush()

    with http_stub(Handler) as server:
        served.url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield served
        finally:
            for gate in served.gates:
                gate.set()  # else the thread that waits would outlast the test


def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "m",
        "choices": [choice],
    }


def completion(step: Step) -> bytes:
    message = {"role": "assistant", "content": step.text, "refusal": step.refusal}
    choice = {"index": 0, "finish_reason": step.finish, "message": message}
    answer: dict[str, Any] = {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [choice],
    }
    if step.usage:
        answer["usage"] = step.usage
    return json.dumps(answer).encode()
