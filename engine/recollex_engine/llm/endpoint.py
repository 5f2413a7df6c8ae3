"""An endpoint that speaks OpenAI's protocol, through the `openai` package."""

import importlib.util
from collections.abc import AsyncIterator
from typing import Any

from recollex_engine.errors import InputError, LanguageModelError
from recollex_engine.fork import cached_property
from recollex_engine.llm.exchange import Reply, Request, counted
from recollex_engine.llm.failures import AttemptError, refused

_PASSING = frozenset({408, 409, 425, 429})
"""Statuses, beside those from 500 on, after which the same request may succeed."""


class Endpoint:
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
                http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False, timeout=None),
            )
        except openai.OpenAIError as error:
            raise InputError(f"no client for {self._base_url or 'OpenAI'}: {error}") from error

    async def reply(self, request: Request) -> Reply:
        """Return the answer. Raises `AttemptError` or `LanguageModelError`."""
        answer = await self._send(request, stream=False)
        try:
            choice = answer.choices[0]
            content, refusal = choice.message.content, getattr(choice.message, "refusal", None)
            finish = choice.finish_reason or "stop"
            usage = None if answer.usage is None else answer.usage.model_dump()
        except (AttributeError, IndexError, TypeError) as error:
            raise AttemptError(f"{request.model} answered what is no chat completion") from error
        return finished(request, content, finish, refusal, usage)

    async def stream(self, request: Request) -> AsyncIterator[str | Reply]:
        """Yield the answer piece by piece, and at last the whole `Reply`."""
        chunks = await self._send(request, stream=True)
        pieces: list[str] = []
        refusals: list[str] = []
        finish, usage = None, None
        try:
            async for chunk in chunks:
                if getattr(chunk, "usage", None) is not None:
                    usage = chunk.usage.model_dump()
                for choice in (chunk.choices or [])[:1]:
                    finish = choice.finish_reason or finish
                    if getattr(choice.delta, "refusal", None):
                        refusals.append(choice.delta.refusal)
                    if choice.delta.content:
                        pieces.append(choice.delta.content)
                        yield choice.delta.content
        except LanguageModelError:
            raise
        except Exception as error:  # that of the client, of its HTTP library, or of a bad chunk
            raise AttemptError(f"{request.model} stopped in mid-stream: {_words(error)}") from error
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
            except (openai.OpenAIError, ValueError) as error:  # ValueError: the body is not JSON
                raise AttemptError(f"{request.model} did not answer: {_words(error)}") from error

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


def finished(request: Request, content: object, finish: str, refusal: object, usage: Any) -> Reply:
    """Return a whole answer. A refusal raises `LanguageModelError`, nothing `AttemptError`."""
    if refusal or finish == "content_filter":
        raise refused(request.model, refusal or "its filter stopped the answer")
    if not isinstance(content, str) or not content.strip():
        raise AttemptError(f"{request.model} answered nothing")
    return counted(content, finish, request.messages, usage)


def _wait(error: Any) -> float:
    """Return the seconds of ``Retry-After``; 0 without it."""
    try:
        return max(0.0, float(error.response.headers.get("retry-after", 0)))
    except ValueError:
        return 0.0


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:200]
