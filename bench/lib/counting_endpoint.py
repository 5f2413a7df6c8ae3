"""An endpoint on the loopback that speaks OpenAI's protocol, counts its calls, and has no model."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_NO_TIME = json.dumps({"found": False, "words": None, "first": None, "last": None})


@dataclass
class Calls:
    """url: of the endpoint. count: the calls so far. characters: of all that was sent."""

    url: str
    count: int = 0
    characters: int = 0


def no_time(sent: Mapping[str, Any]) -> str:
    """Return what a model says that is asked for a time and finds none."""
    return _NO_TIME


@contextmanager
def counting_endpoint(answer: Callable[[Mapping[str, Any]], str] = no_time) -> Iterator[Calls]:
    """Answer every chat completion with what ``answer`` makes of it, and count the calls."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # headers and body are two packets: it waits 40 ms between

        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            calls.count += 1
            calls.characters += sum(len(each["content"]) for each in sent["messages"])
            message = {"role": "assistant", "content": answer(sent)}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            said = {"id": "0", "object": "chat.completion", "created": 0, "model": "scripted"}
            body = json.dumps({**said, "choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    calls = Calls(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield calls
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
