"""The HTTP client of an endpoint: it follows no redirect, and no answer is longer than a limit.

A compressed answer of 300 KB may be 300 MB of spaces, which the HTTP library unpacks before they
can be counted. So none is asked for, and one that comes anyway is unpacked here.
"""

import zlib
from collections.abc import AsyncIterator
from functools import cache
from typing import Any

from recollex_engine.errors import LanguageModelError

MOST_BYTES = 16 << 20
"""Bytes of the longest answer; with its JSON about 100 times as much as any that is asked for."""


def limited_client() -> Any:
    """Return a client for the `openai` package, without timeouts: its caller has a deadline."""
    import openai

    return openai.DefaultAsyncHttpxClient(
        follow_redirects=False,
        timeout=None,
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [_limit]},
    )


async def _limit(response: Any) -> None:
    """Let no more of a response's body be read than `MOST_BYTES`."""
    coding = response.headers.pop("content-encoding", "identity").strip().lower()
    if coding not in ("identity", "gzip", "deflate"):
        raise LanguageModelError(
            f"{response.url.host} sent an answer in {coding[:40]!r}, but was asked for no "
            "compression: switch it off there"
        )
    kinds = type(response.stream).__mro__
    base = next(kind for kind in kinds if kind.__name__ == "AsyncByteStream")
    response.stream = _limited(base)(response.stream, packed=coding != "identity")


@cache
def _limited(base: type) -> Any:
    """Return the class of limited streams; ``base`` is of httpx, or of httpx2 in newer clients."""

    class Limited(base):  # type: ignore[misc]
        def __init__(self, stream: Any, packed: bool) -> None:
            self._stream = stream
            self._packed = packed

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = MOST_BYTES
            unpack = zlib.decompressobj(zlib.MAX_WBITS | 32)  # a head of gzip, or of zlib
            async for received in self._stream:
                # One byte beyond the limit tells that there is more; no more is unpacked.
                part = unpack.decompress(received, left + 1) if self._packed else received
                left -= len(part)
                if left < 0:
                    raise LanguageModelError(f"its answer has more than {MOST_BYTES} bytes")
                yield part

        async def aclose(self) -> None:
            await self._stream.aclose()

    return Limited
