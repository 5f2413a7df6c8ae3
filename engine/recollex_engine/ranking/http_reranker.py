"""A reranker over HTTP: the request of Cohere and Jina, which local servers understand too.

::

    POST <url>      Authorization: Bearer <key>
    {"model": "...", "query": "...", "documents": ["...", ...], "top_n": n}

    200  {"results": [{"index": 2, "relevance_score": 0.98}, ...]}    every index once, in any order

vLLM, Text Embeddings Inference's compatible front ends, LiteLLM and Infinity answer the same.
"""

import asyncio
import json
import os
import random
import reprlib
import ssl
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.checks import MAX_NAME, check_flag, check_number, check_text
from recollex_engine.errors import InputError, RerankError
from recollex_engine.ranking.reranking import (
    REPLACING,
    Candidates,
    Combination,
    check_combination,
    checked_scores,
)

KEY_VARIABLE = "RECOLLEX_RERANK_API_KEY"
"""The environment variable that holds the key unless the caller names another."""

_FIRST_WAIT = 0.1  # seconds before the second attempt; doubled for each one after it
_chance = random.Random()  # its own generator, so that the caller's random numbers do not change
_LONGEST_ANSWER = 16 << 20  # bytes
_LONGEST_MESSAGE = 200  # characters of a server's answer that an error message quotes


@dataclass(frozen=True, slots=True)
class HttpReranker:
    """Asks a server how well each text answers the question.

    url: the whole address, such as ``https://api.cohere.com/v2/rerank``,
    ``https://api.jina.ai/v1/rerank`` or ``http://localhost:8000/v1/rerank``. model: its name at the
    server. api_key: sent as a bearer token; without it the environment variable ``key_variable`` is
    read at each call, and without that no key is sent. A key is never shown.

    timeout: seconds for the whole call, attempts and waits included. After a refused or broken
    connection and after the statuses 408, 425, 429 and 5xx, the request is sent again after 0.1,
    0.2, 0.4 ... seconds (with random jitter, and not before the server's ``Retry-After``) while
    time is left. dated: whether the texts begin with a date, as in TEMPR 3.3.

    Scores replace the fused ones. Redirects are not followed: the key is sent to the given address
    only. Proxies of the environment are not used.

    >>> HttpReranker("http://localhost:8000/v1/rerank", "bge-reranker-base").name
    'bge-reranker-base'
    """

    url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    key_variable: str = KEY_VARIABLE
    timeout: float = 5.0
    dated: bool = True
    combination: Combination = REPLACING

    def __post_init__(self) -> None:
        check_number(self.timeout, "timeout", 0.001, 3600)
        _check_address(self.url)
        check_text(self.model, "model", MAX_NAME)
        check_text(self.key_variable, "key_variable", MAX_NAME)
        if self.api_key is not None and not isinstance(self.api_key, str):
            raise InputError(f"api_key must be a str or None, got {type(self.api_key).__name__}")
        check_flag(self.dated, "dated")
        check_combination(self.combination)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model

    @property
    def _where(self) -> str:
        """The address without its query, which may hold a key."""
        return self.url.partition("?")[0]

    def scores(self, candidates: Candidates) -> npt.NDArray[np.float64]:
        """Return the server's relevance of each memory: float64[n], finite.

        Raises:
            RerankError: there is no answer within the timeout, the server refuses, or the answer
                does not give every text one finite score.

        """
        texts = candidates.dated_texts if self.dated else candidates.texts
        question = {
            "model": self.model,
            "query": candidates.query,
            "documents": texts,
            "top_n": len(texts),
        }
        answer = self._ask(json.dumps(question).encode())
        return self._read(answer, len(texts))

    def _ask(self, body: bytes) -> bytes:
        import httpx

        deadline = time.monotonic() + self.timeout
        wait = _FIRST_WAIT
        while True:
            try:
                status, reason, asked, answer = self._attempt(body, deadline - time.monotonic())
            except (httpx.TransportError, httpx.InvalidURL, TimeoutError) as error:
                failure = f"{type(error).__name__}: {error}"
                if isinstance(error, httpx.InvalidURL) or _is_untrusted(error):
                    raise RerankError(self.name, f"cannot ask {self._where}: {failure}") from error
                asked = 0.0
            else:
                if status == 200:
                    return answer
                failure = f"HTTP {status} {reason[:_LONGEST_MESSAGE]}: {_words(answer)}"
                if status not in (408, 425, 429) and status < 500:
                    raise RerankError(self.name, f"{self._where} refused: {failure}")
            pause = max(asked, wait * _chance.uniform(0.5, 1.0))
            if time.monotonic() + pause >= deadline:
                raise RerankError(
                    self.name, f"no answer from {self._where} within {self.timeout:g} s; {failure}"
                )
            time.sleep(pause)
            wait *= 2

    def _attempt(self, body: bytes, seconds: float) -> tuple[int, str, float, bytes]:
        """Return what `_post` does; in a thread, because that of the caller may run a loop."""
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, self._post(body, seconds)).result()

    async def _post(self, body: bytes, seconds: float) -> tuple[int, str, float, bytes]:
        """Return the status, its reason, the seconds of ``Retry-After``, and the answer.

        httpx's own timeouts are of one read each, which a server that sends a byte now and then
        never exceeds; that of the loop ends whatever is waited for.
        """
        import httpx

        trusted = ssl.create_default_context() if self.url.startswith("https:") else False
        async with (
            asyncio.timeout(seconds),
            httpx.AsyncClient(verify=trusted, trust_env=False, timeout=None) as client,
            client.stream("POST", self.url, content=body, headers=self._headers()) as response,
        ):
            answer = bytearray()
            async for part in response.aiter_bytes():
                answer += part
                if len(answer) > _LONGEST_ANSWER:
                    said = f"the answer has more than {_LONGEST_ANSWER} bytes"
                    raise RerankError(self.name, said)
            asked = _seconds(response.headers.get("Retry-After", "0"))
            return response.status_code, response.reason_phrase, asked, bytes(answer)

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }
        key = self.api_key if self.api_key is not None else os.environ.get(self.key_variable)
        if key:
            if not (key.isascii() and key.isprintable()):
                raise RerankError(self.name, "the API key must be printable ASCII")
            headers["Authorization"] = f"Bearer {key}"
        return headers

    def _read(self, answer: bytes, count: int) -> npt.NDArray[np.float64]:
        try:
            results = json.loads(answer)["results"]
            pairs = [(result["index"], result["relevance_score"]) for result in results]
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise RerankError(
                self.name,
                f"expected {{'results': [{{'index', 'relevance_score'}}, ...]}}, got "
                f"{_words(answer)} ({type(error).__name__}: {error})",
            ) from error
        found: list[Any] = [None] * count
        for index, score in pairs:
            if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
                said = f"index must lie in [0, {count}), got {_shown(index)}"
                raise RerankError(self.name, said)
            if found[index] is not None:
                raise RerankError(self.name, f"index {index} came twice")
            if isinstance(score, bool) or not isinstance(score, int | float):
                said = f"relevance_score of {index} is {_shown(score)}, no number"
                raise RerankError(self.name, said)
            found[index] = score
        if None in found:
            raise RerankError(
                self.name,
                f"{found.count(None)} of {count} texts have no score, "
                f"the first of them text {found.index(None)}",
            )
        return checked_scores(found, count, self.name)


def _check_address(url: str) -> None:
    """Raise `InputError` unless ``url`` is an address of HTTP, without a name and a password."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except (ValueError, AttributeError, TypeError) as error:
        raise InputError(f"url is not an address: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"url must begin with http:// or https:// and name a host, got {url!r}")
    if parts.username is not None or parts.password is not None:
        raise InputError("url must not hold a name or password: give the key as api_key")


def _is_untrusted(error: BaseException | None) -> bool:
    """Return whether it comes of a certificate, which another attempt would find again."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _seconds(said: str) -> float:
    """Return the seconds of ``Retry-After``; a date there is ignored."""
    try:
        return max(0.0, float(said))
    except ValueError:
        return 0.0


_shown: Callable[[object], str] = reprlib.repr  # of any depth and length


def _words(answer: bytes) -> str:
    return repr(answer[:_LONGEST_MESSAGE].decode("utf-8", "replace"))
