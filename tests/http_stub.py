"""A server of HTTP on the loopback, for clients under test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(BaseHTTPRequestHandler):
    """Answers each POST by ``answer``, and writes no line on standard error for it."""

    def answer(self) -> None:
        raise NotImplementedError

    def do_POST(self) -> None:
        self.answer()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def http_stub(handler: type[QuietHandler]) -> Iterator[ThreadingHTTPServer]:
    """Serve on a free port during the body."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
