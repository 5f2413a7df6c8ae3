"""An endpoint that speaks OpenAI's protocol, through the `openai` package.

The HTTP client of an endpoint: it follows no redirect, and no answer is longer than a limit.
A compressed answer of 300 KB may be 300 MB of spaces, which the HTTP library unpacks before they
can be counted. So none is asked for, and one that comes anyway is unpacked here.
"""

import importlib.util
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from recollex_engine.errors import InputError, LanguageModelError, RecollexError
from recollex_engine.fork import cached_property
from recollex_mind.llm.exchange import Reply, Request, counted


# What goes wrong with a language model: failures that pass, and those that stay.
class AttemptError(LanguageModelError):
    """An attempt failed, and another may succeed, after ``wait`` seconds at the earliest."""

    def __init__(self, what: str, reason: str = "failed", wait: float = 0.0) -> None:
        super().__init__(what, reason)
        self.wait = wait


def words_of(error: BaseException) -> str:
    """Return what a message quotes of an error."""
    return f"{type(error).__name__}: {error}"[:200]


@contextmanager
def as_attempt(model: str) -> Iterator[None]:
    """Let errors of ours pass, and make an `AttemptError` of any other.

    Those are of a client's library, at an answer that it did not expect.
    """
    try:
        yield
    except RecollexError:
        raise
    except Exception as error:
        raise AttemptError(f"{model} did not answer: {words_of(error)}") from error


def refused(model: str, why: object) -> LanguageModelError:
    """Return the error for a model that will not answer; asking again would not help."""
    return LanguageModelError(f"{model} refused to answer: {str(why)[:200]}", "refused")


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


_PASSING = frozenset({408, 409, 425, 429})
"""Statuses, beside those from 500 on, after which the same request may succeed."""
LONGEST_ASKED = 86_400.0
"""Seconds that ``Retry-After`` may ask for, as many as the longest deadline."""


class ModelEndpoint:
    """Sends requests to ``base_url`` (OpenAI's own if None), one attempt each.

    What an endpoint does not know is left out from then on: a JSON schema becomes a JSON object and
    then a plain answer, ``max_tokens`` becomes ``max_completion_tokens``, and a temperature goes.
    Redirects are not followed, so that prompts go to the given address only. Used on one event
    loop.
    """

    def __init__(self, base_url: str | None, key: str) -> None:
        if not importlib.util.find_spec("openai"):
            raise InputError("a language model needs openai: pip install 'recollex[llm]'")
        self._base_url = base_url
        self._key = key
        self._format = "json_schema"
        self._length = "max_tokens"
        self._temperature = True

    @cached_property
    def _client(self) -> Any:
        import openai

        try:
            return openai.AsyncOpenAI(
                api_key=self._key,
                base_url=self._base_url,
                timeout=None,  # the caller has a deadline for all of it
                max_retries=0,
                http_client=limited_client(),
            )
        except openai.OpenAIError as error:
            raise InputError(f"no client for {self._base_url or 'OpenAI'}: {error}") from error

    async def reply(self, request: Request) -> Reply:
        """Return the answer. Raises `AttemptError` or `LanguageModelError`."""
        answer = await self._send(request, stream=False)
        try:
            choice = answer.choices[0]
            content = choice.message.content
            refusal = getattr(choice.message, "refusal", None)
            finish = choice.finish_reason
        except Exception as error:  # the client does not check the types of an answer
            raise AttemptError(f"{request.model} answered what is no chat completion") from error
        return finished(request, content, finish, refusal, _usage(answer))

    async def stream(self, request: Request) -> AsyncIterator[str | Reply]:
        """Yield the answer piece by piece, and at last the whole `Reply`."""
        chunks = await self._send(request, stream=True)
        pieces: list[str] = []
        refusals: list[str] = []
        finish = None
        usage: object = None
        try:
            async for chunk in chunks:
                usage = _usage(chunk) or usage
                for choice in (chunk.choices or [])[:1]:
                    finish = choice.finish_reason or finish
                    if getattr(choice.delta, "refusal", None):
                        refusals.append(choice.delta.refusal)
                    piece = choice.delta.content
                    if piece and isinstance(piece, str):
                        pieces.append(piece)
                        yield piece
        except LanguageModelError:
            raise
        except Exception as error:  # that of the client, of its HTTP library, or of a bad chunk
            said = f"{request.model} stopped in mid-stream: {words_of(error)}"
            raise AttemptError(said) from error
        finally:
            await chunks.close()
        if finish is None:
            raise AttemptError(f"{request.model} stopped in mid-stream: no end was sent")
        yield finished(request, "".join(pieces), finish, "".join(refusals) or None, usage)

    async def close(self) -> None:
        """Close the connections that are kept between requests."""
        if "_client" in vars(self):
            await self._client.close()

    async def _send(self, request: Request, *, stream: bool) -> Any:
        import openai

        while True:
            try:
                return await self._client.chat.completions.create(
                    **self._arguments(request, stream)
                )
            except openai.APIStatusError as error:
                if error.status_code in (400, 422) and self._adapt(request, error):
                    continue
                raise self._failure(request, error) from error
            except Exception as error:  # of the client, its HTTP library, or a body without JSON
                if isinstance(error.__cause__ or error, LanguageModelError):  # of our client
                    said = f"{request.model}: {error.__cause__ or error}"
                    raise LanguageModelError(said) from error
                raise AttemptError(f"{request.model} did not answer: {words_of(error)}") from error

    def _arguments(self, request: Request, stream: bool) -> dict[str, Any]:
        given: dict[str, Any] = {
            "model": request.model,
            "messages": [dict(message) for message in request.messages],
            self._length: request.most_tokens,
            "stream": stream,
        }
        if stream:
            given["stream_options"] = {"include_usage": True}
        if self._temperature:
            given["temperature"] = request.temperature
        if request.schema is not None and self._format == "json_schema":
            named = {"name": request.schema_name, "schema": request.schema, "strict": True}
            given["response_format"] = {"type": "json_schema", "json_schema": named}
        elif request.schema is not None and self._format == "json_object":
            given["response_format"] = {"type": "json_object"}
        return given

    def _adapt(self, request: Request, error: Any) -> bool:
        """Leave out what the endpoint does not know; return whether there was something."""
        said = str(error.message).lower()
        if "temperature" in said and self._temperature:
            self._temperature = False
        elif "max_tokens" in said and self._length == "max_tokens":
            self._length = "max_completion_tokens"
        elif (
            request.schema is not None
            and self._format != "none"
            and any(word in said for word in ("response_format", "json_schema", "schema"))
        ):
            self._format = "json_object" if self._format == "json_schema" else "none"
        else:
            return False
        return True

    def _failure(self, request: Request, error: Any) -> Exception:
        status = error.status_code
        said = f"{request.model} answered HTTP {status}: {str(error.message)[:200]}"
        if status in _PASSING or status >= 500:
            return AttemptError(said, "overloaded" if status == 429 else "failed", _wait(error))
        if status in (401, 403):
            return LanguageModelError(f"{said}; is the key right?", "unauthorized")
        return LanguageModelError(said, "failed")


def finished(
    request: Request, content: object, finish: object, refusal: object, usage: object
) -> Reply:
    """Return a whole answer. A refusal raises `LanguageModelError`, nothing `AttemptError`."""
    if refusal or finish == "content_filter":
        raise refused(request.model, refusal or "its filter stopped the answer")
    if not isinstance(content, str) or not content.strip():
        raise AttemptError(f"{request.model} answered nothing")
    reason = finish if isinstance(finish, str) and finish else "stop"
    return counted(content, reason, request.messages, usage)


def _usage(answer: Any) -> object:
    """Return the counts of tokens in an answer, as plain JSON; None without any."""
    usage: Any = getattr(answer, "usage", None)
    return usage.model_dump(warnings=False) if hasattr(usage, "model_dump") else None


def _wait(error: Any) -> float:
    """Return the seconds of ``Retry-After``; 0 without it, or for one that is no number."""
    try:
        asked = float(error.response.headers.get("retry-after", 0))
    except ValueError:
        return 0.0
    return min(asked, LONGEST_ASKED) if asked > 0 else 0.0  # "nan" is not
