"""A service over HTTP in a thread of its own, and an embedder that needs no model."""

import asyncio
import contextlib
import ssl
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import numpy.typing as npt

import recollex
from recollex.remote.http.http_server import HttpServer, start_http
from recollex.remote.server.access import Access
from recollex.remote.server.limits import ServerLimits
from recollex.remote.server.service import Service
from recollex.remote.server.telemetry import Telemetry


class HashedWords(recollex.GivenVectors):
    """A text's vector counts its words, each in a dimension chosen by its hash."""

    def __init__(self, dimension: int = 64) -> None:
        super().__init__(dimension)
        self.fingerprint = f"hashed-words-{dimension}"

    def embed(
        self,
        texts: Sequence[str],
        threads: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> npt.NDArray[np.float32]:
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        counts = np.zeros(self.dimension, np.float32)
        counts[0] = 0.1
        for word in text.lower().split():
            counts[zlib.crc32(word.encode("utf-8", "replace")) % self.dimension] += 1
        return counts / np.linalg.norm(counts)


class Served:
    """A running server: `http` calls it, `on_loop` runs something on its loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.service: Service
        self.server: HttpServer
        self.telemetry: Telemetry

    @property
    def url(self) -> str:
        host, port = self.server.address
        return f"http://{host}:{port}"

    def http(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=120, **options)

    def on_loop(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)


@contextlib.contextmanager
def served(
    folder: Path,
    limits: ServerLimits | None = None,
    access: Access | None = None,
    telemetry: Telemetry | None = None,
    embedder: Any = None,
    chat: tuple[str, str] | None = None,
    tls: ssl.SSLContext | None = None,
) -> Iterator[Served]:
    """Serve a store over HTTP. chat: a language model's name and its address."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    running = Served(loop)
    running.telemetry = telemetry or Telemetry()
    llm = None if chat is None else recollex.llm(chat[0], base_url=chat[1], first_wait=0.01)
    store = recollex.open(folder, embedder=embedder or HashedWords(), durability="off", llm=llm)

    async def start() -> None:
        running.service = Service(store, limits, access, running.telemetry)
        metrics = running.telemetry.metrics
        running.server = await start_http(running.service, metrics, "127.0.0.1", 0, tls)

    async def stop() -> None:
        await running.server.close()
        await running.service.stop()
        if llm is not None:
            llm.close()

    try:
        running.on_loop(start())
        yield running
    finally:
        running.on_loop(stop())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def ok(answer: httpx.Response) -> Any:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    return answer.json()


def refused(answer: httpx.Response, status: int, title: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert (told["status"], told["title"]) == (status, title)
    assert told["type"] == f"urn:recollex:error:{title}"
    return dict(told)
