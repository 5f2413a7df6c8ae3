"""The door to a language model: every request of recollex to one goes through `LanguageModel`."""

import importlib.util
import os
import queue
import random
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError as FutureCancelledError
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from recollex_engine import fork
from recollex_engine.background_work import Cancellation
from recollex_engine.errors import InputError, LanguageModelError
from recollex_mind.llm.answer_store import AnswerCache, ExchangeRecorder, RecordedExchanges
from recollex_mind.llm.endpoint import AttemptError, ModelEndpoint, as_attempt
from recollex_mind.llm.exchange import Message, Meter, Price, Reply, Request, Usage, mended
from recollex_mind.llm.local_model import PREFIX, LocalModel, find_weights
from recollex_mind.llm.prompts import find_prompt

if TYPE_CHECKING:
    import asyncio

    from pydantic import BaseModel

# The event loop on which requests to language models run: one daemon thread of the process.
Result = TypeVar("Result")


class BackgroundLoop:
    """An event loop in a thread of its own, started when it is first needed.

    Threads: `start` may be called by any. A child of a fork starts a new one.
    """

    def __init__(self) -> None:
        self._lock = fork.lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.generation: int = 0
        fork.register(self)

    def after_fork(self) -> None:
        """Forget the loop: its thread is the parent's."""
        self._loop = None
        self.generation += 1

    def start(self, work: Coroutine[Any, Any, Result]) -> "Future[Result]":
        """Run ``work`` on the loop; cancelling the future cancels the work."""
        import asyncio  # a process that asks no model does without: it takes 30 ms

        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=self._loop.run_forever, name="recollex-llm", daemon=True
                ).start()
            loop = self._loop
        return asyncio.run_coroutine_threadsafe(work, loop)


LOOP = BackgroundLoop()


# Answers of a language model that have a type: their schema, their check, and one repair.
Answer = TypeVar("Answer", bound="BaseModel")
_LONGEST_COMPLAINT = 1000
_LONGEST_QUOTE = 20_000
_LONGEST_ANSWER = 1 << 17
"""Characters; the longest answer that is asked for, of 4,096 tokens, has some 20,000."""
_MOST_LISTED = 100  # complaints; beyond these, to list them takes gigabytes


def schema_of(kind: "type[BaseModel]") -> dict[str, Any]:
    """Return the JSON schema of a type. Raises `InputError` without pydantic."""
    if not importlib.util.find_spec("pydantic"):
        raise InputError("answers of a type need pydantic: pip install 'recollex[llm]'")
    return kind.model_json_schema()


def read_answer(kind: type[Answer], reply: Reply) -> Answer | str:
    """Return the answer that a reply holds, or a str that says what is wrong with it."""
    import pydantic

    if reply.finish == "length":
        return "it was cut off, because it is too long: give a shorter one"
    text = reply.text
    if len(text) > _LONGEST_ANSWER:
        return f"it has {len(text)} characters, but may have {_LONGEST_ANSWER}: give a shorter one"
    inner = text[max(0, text.find("{")) : text.rfind("}") + 1] or text
    try:
        return kind.model_validate_json(inner)
    except pydantic.ValidationError as error:
        if error.error_count() > _MOST_LISTED:
            return f"{error.error_count()} of its parts do not fit the schema"
        wrong = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'the answer'}: {each['msg']}"
            for each in error.errors(include_url=False, include_input=False)
        )
        return wrong[:_LONGEST_COMPLAINT]


def to_repair(messages: Sequence[Message], reply: Reply, complaint: str) -> tuple[Message, ...]:
    """Return the messages that ask for the answer again, and say what was wrong with it."""
    said = find_prompt("repair-1").render(complaint=complaint)
    answer = {"role": "assistant", "content": reply.text[:_LONGEST_QUOTE]}
    return (*messages, answer, *said)


FIRST_WAIT = 0.5
"""Seconds before the second attempt at most; doubled for each one after it."""
LONGEST_WAIT = 30.0
_chance = random.Random()  # its own generator, so that the caller's random numbers do not change


class ModelBackend(Protocol):
    """Something that answers requests, one attempt each, on one event loop."""

    async def reply(self, request: Request) -> Reply:
        """Return the answer. Raises `AttemptError` if another attempt may succeed."""

    def stream(self, request: Request) -> AsyncIterator[str | Reply]:
        """Yield the pieces of the answer, and at last all of it."""

    async def close(self) -> None:
        """Free what is kept between requests."""


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """How hard a model is asked.

    deadline: seconds for one answer, with its waits, retries and repair. attempts: requests for
    one answer at most, a repair not counted. concurrency: requests at a time. first_wait: see
    `FIRST_WAIT`.
    """

    deadline: float = 60.0
    attempts: int = 4
    concurrency: int = 4
    first_wait: float = FIRST_WAIT


@dataclass(frozen=True, slots=True)
class Keeping:
    """Which answers are kept, and where: see `answer_store`."""

    cache: Path | None = None
    record: Path | None = None
    replay: Path | None = None


class LanguageModel:
    """A language model; from `recollex.llm`. Usable as a context manager.

    A request that fails in passing (no connection, 408, 409, 429, 5xx, a stop in mid-answer) is
    sent again after 0.5, 1, 2, 4 ... seconds with random jitter, not before the endpoint's
    ``Retry-After``, as long as the deadline allows. All errors are `errors.LanguageModelError`.

    Threads: any number. A child of a fork has connections of its own.
    """

    def __init__(
        self,
        name: str,
        backend: Callable[[], ModelBackend],
        limits: ModelLimits,
        keeping: Keeping,
        price: Price | None = None,
    ) -> None:
        self.name = name
        self._make = backend
        self._limits = limits
        self._meter = Meter(price)
        self._cache = None if keeping.cache is None else AnswerCache(keeping.cache)
        self._recorder = None if keeping.record is None else ExchangeRecorder(keeping.record)
        self._recording = None if keeping.replay is None else RecordedExchanges(keeping.replay)
        self._backend: ModelBackend | None = None
        self._slots: asyncio.Semaphore | None = None
        fork.register(self)

    def after_fork(self) -> None:
        """Forget the connections, which are the parent's."""
        self._backend = self._slots = None

    @property
    def usage(self) -> Mapping[str, Usage]:
        """What was used so far, by operation."""
        return self._meter.read()

    def ask(
        self,
        messages: Sequence[Message],
        *,
        operation: str = "ask",
        most_tokens: int = 2048,
        temperature: float = 0.0,
        deadline: float | None = None,
        cancel: Cancellation | None = None,
    ) -> Reply:
        """Return the model's answer in words.

        operation: under which `usage` counts it. most_tokens: of the answer; one that is longer is
        cut off, and its ``finish`` is "length". deadline: seconds, instead of the model's own.
        """
        request = Request(
            self.name, tuple(messages), temperature=temperature, most_tokens=most_tokens
        )
        return self._run(self._reply(request, operation), operation, deadline, cancel)

    def ask_for(
        self,
        kind: "type[Answer]",
        messages: Sequence[Message],
        *,
        operation: str = "ask",
        most_tokens: int = 2048,
        deadline: float | None = None,
        cancel: Cancellation | None = None,
        repair: bool = True,
    ) -> Answer:
        """Return the model's answer as an object of ``kind``, a type of pydantic.

        The type's schema is sent along, and the answer is checked against it. One that does not
        fit is asked for once more, with what is wrong with it, unless ``repair`` is False. Raises
        `LanguageModelError` with the reason "malformed", or "truncated", if that does not fit
        either.
        """
        request = Request(
            self.name, tuple(messages), kind.__name__, schema_of(kind), most_tokens=most_tokens
        )
        typed = self._typed(kind, request, operation, repair)
        return self._run(typed, operation, deadline, cancel)

    def stream(
        self,
        messages: Sequence[Message],
        *,
        operation: str = "ask",
        most_tokens: int = 2048,
        temperature: float = 0.0,
        deadline: float | None = None,
        cancel: Cancellation | None = None,
    ) -> Iterator[str]:
        """Yield the model's answer piece by piece, as it comes.

        A failure before the first piece is retried, one after it raises `LanguageModelError`.
        Closing the iterator gives up the request.
        """
        request = Request(
            self.name, tuple(messages), temperature=temperature, most_tokens=most_tokens
        )
        pieces: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        begun = time.monotonic()
        seconds = self._limits.deadline if deadline is None else deadline
        running = LOOP.start(self._within(self._streamed(request, operation, pieces.put), seconds))
        running.add_done_callback(lambda _: pieces.put(None))
        cancel = cancel or Cancellation.current()
        token = nullcontext() if cancel is None else cancel.watched(running.cancel)
        done = False
        try:
            with token:
                while (piece := pieces.get()) is not None:
                    yield piece
                self._result(running)
                done = True
        finally:
            running.cancel()
            self._count(operation, begun, done)

    def close(self) -> None:
        """Close the connections that are kept between requests; a later request opens new ones."""
        backend = self._backend
        self._backend = None
        if backend is not None:
            LOOP.start(backend.close()).result()

    def __enter__(self) -> "LanguageModel":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<recollex.LanguageModel {self.name!r}>"

    def _run(
        self,
        work: Coroutine[Any, Any, Result],
        operation: str,
        deadline: float | None,
        cancel: Cancellation | None,
    ) -> Result:
        begun = time.monotonic()
        seconds = self._limits.deadline if deadline is None else deadline
        running = LOOP.start(self._within(work, seconds))
        cancel = cancel or Cancellation.current()
        done = False
        try:
            with nullcontext() if cancel is None else cancel.watched(running.cancel):
                result = self._result(running)
            done = True
            return result
        finally:  # the caller may be interrupted
            running.cancel()
            self._count(operation, begun, done)

    def _count(self, operation: str, begun: float, done: bool) -> None:
        self._meter.add(operation, calls=1, failures=not done, seconds=time.monotonic() - begun)

    def _result(self, running: "Future[Result]") -> Result:
        try:
            return running.result()
        except FutureCancelledError:
            raise LanguageModelError(
                f"the call of {self.name} was cancelled", "cancelled"
            ) from None

    async def _within(self, work: Coroutine[Any, Any, Result], seconds: float) -> Result:
        import asyncio

        try:
            async with asyncio.timeout(seconds):
                return await work
        except TimeoutError as error:
            raise LanguageModelError(
                f"{self.name} did not answer within {seconds:g} s", "deadline"
            ) from error

    async def _typed(
        self, kind: "type[Answer]", request: Request, operation: str, repair: bool
    ) -> Answer:
        reply = await self._reply(request, operation)
        answer = read_answer(kind, reply)
        if isinstance(answer, str) and repair:
            self._meter.add(operation, repairs=1)
            again = Request(
                request.model,
                to_repair(request.messages, reply, answer),
                request.schema_name,
                request.schema,
                most_tokens=request.most_tokens,
            )
            reply = await self._reply(again, operation)
            answer = read_answer(kind, reply)
        if isinstance(answer, str):
            reason = "truncated" if reply.finish == "length" else "malformed"
            raise LanguageModelError(
                f"{self.name} answered {'twice ' * repair}what is no {kind.__name__}: {answer}, "
                f"got {reply.text[:200]!r}",
                reason,
            )
        return answer

    async def _reply(self, request: Request, operation: str) -> Reply:
        kept = self._kept(request, operation)
        if kept is not None:
            return kept
        reply = await self._attempts(
            lambda backend: backend.reply(request), operation, lambda: True
        )
        self._keep(request, operation, reply)
        return reply

    async def _streamed(self, request: Request, operation: str, put: Callable[[str], None]) -> None:
        kept = self._kept(request, operation)
        if kept is not None:
            put(kept.text)
            return
        begun = False

        async def read(backend: ModelBackend) -> Reply:
            nonlocal begun
            async for piece in backend.stream(request):
                if isinstance(piece, Reply):
                    return piece
                begun = True
                put(mended(piece))
            raise AttemptError(f"{self.name} answered nothing")

        reply = await self._attempts(read, operation, lambda: not begun)
        self._keep(request, operation, reply)

    async def _attempts(
        self, attempt: Callable[[ModelBackend], Any], operation: str, may_retry: Callable[[], bool]
    ) -> Reply:
        import asyncio

        if self._slots is None:
            self._slots = asyncio.Semaphore(self._limits.concurrency)
        number = 0
        while True:
            try:
                async with self._slots:
                    if self._backend is None:
                        self._backend = self._make()
                    self._meter.add(operation, requests=1, retries=number > 0)
                    with as_attempt(self.name):
                        reply: Reply = await attempt(self._backend)
                        return reply
            except AttemptError as failure:
                number += 1
                if number >= self._limits.attempts or not may_retry():
                    times = "once" if number == 1 else f"{number} times"
                    raise LanguageModelError(
                        f"{failure} (asked {times})", failure.reason
                    ) from failure
                pause = min(LONGEST_WAIT, self._limits.first_wait * 2 ** (number - 1))
                await asyncio.sleep(max(failure.wait, pause * _chance.uniform(0.5, 1.0)))

    def _kept(self, request: Request, operation: str) -> Reply | None:
        reply = None
        if self._recording is not None:
            reply = self._recording.get(request)
        elif self._cache is not None:
            reply = self._cache.get(request)
        if reply is not None:
            self._meter.add(operation, cached=1)
        return reply

    def _keep(self, request: Request, operation: str, reply: Reply) -> None:
        self._meter.add_reply(operation, reply)
        if self._cache is not None:
            self._cache.put(request, reply)
        if self._recorder is not None:
            self._recorder.put(request, reply)


class _Absent:
    """Stands for the model of a recording: nothing is sent."""

    async def reply(self, request: Request) -> Reply:
        raise NotImplementedError

    def stream(self, request: Request) -> AsyncIterator[str | Reply]:
        raise NotImplementedError

    async def close(self) -> None:
        return None


def open_language_model(
    model: str | None,
    base_url: str | None,
    key: str | None,
    limits: ModelLimits,
    keeping: Keeping,
    price: Price | None,
) -> LanguageModel:
    """Return the model of a name, from arguments or the environment; nothing is sent yet.

    See `recollex.llm` for the variables. Raises `InputError`.
    """
    name = model or os.environ.get("RECOLLEX_LLM_MODEL")
    if not name:
        raise InputError("name a model: model=, or RECOLLEX_LLM_MODEL in the environment")
    if keeping.replay is not None:
        return LanguageModel(name, _Absent, limits, keeping, price)
    if name.startswith(PREFIX):
        weights = find_weights(name.removeprefix(PREFIX))
        return LanguageModel(name, lambda: LocalModel(weights), limits, keeping, price)
    url = base_url or os.environ.get("RECOLLEX_LLM_BASE_URL")
    secret = key or os.environ.get("RECOLLEX_LLM_KEY")
    if not secret and not url:
        secret = os.environ.get("OPENAI_API_KEY")
    if not secret and not url:
        raise InputError(
            "OpenAI needs a key: key=, RECOLLEX_LLM_KEY or OPENAI_API_KEY; base_url= names another "
            "endpoint, which may need none"
        )
    given = secret or "none"
    ModelEndpoint(url, given)  # says now what is missing
    return LanguageModel(name, lambda: ModelEndpoint(url, given), limits, keeping, price)
