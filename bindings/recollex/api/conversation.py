"""A chat loop with a memory: each model call gets what bears on it, and the talk is retained.

`Conversation` and `AsyncConversation` share their steps. A step is a generator: it yields the
calls of an agent that it needs, is sent their results, and returns its own.
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar, cast

from recollex.api.arguments import as_names, one_or_more
from recollex.api.chat_messages import (
    FRAME_TOKENS,
    ChatMessage,
    Heard,
    align,
    as_messages,
    as_turns,
    is_message,
    message_id,
    question_of,
    read_id,
    with_context,
    without_context,
)
from recollex_engine.agents.logbook import GONE, GoneIds
from recollex_engine.domain.checks import MAX_NAME, check_count, check_text, mended
from recollex_engine.domain.question import MAX_QUERY, UNBOUNDED
from recollex_engine.domain.trust import role_number
from recollex_engine.domain.turn import read_turn
from recollex_engine.errors import InputError
from recollex_engine.recall.beside import prompt_lines
from recollex_engine.recall.recall import Recall

Result = TypeVar("Result")
KeptCall = tuple[str, tuple[Any, ...], dict[str, Any]]
"""A call of an agent: the method, its arguments and its options."""
Step = Generator[KeptCall, Any, Result]

KEPT_ROLES = ("user", "assistant", "tool")
LEAST_TOKENS = 100
"""The smallest budget of a context: its frame and a short line."""
_SOURCES = {"user": "user", "assistant": "assistant", "tool": "tool"}
"""The source of a message by its role, which the caller's program has set."""
_ID_END = 32  # the most characters of an id after the session
_LINE = 20  # the most tokens of a line beside its text: the date and the mark of its source
_PAGE = 10_000
_OWN = ("limit", "pack")  # options of a recall that would not keep to the budget


class Steps:
    """The steps of a conversation, and what they know of it."""

    def __init__(
        self,
        session: str,
        max_tokens: int,
        roles: str | Sequence[str],
        tags: Sequence[str],
        options: Mapping[str, Any],
    ) -> None:
        check_text(session, "session", MAX_NAME - _ID_END)
        check_count(max_tokens, "max_tokens", LEAST_TOKENS, UNBOUNDED // 2)
        if taken := [name for name in _OWN if name in options]:
            raise InputError(f"a conversation does not take {taken[0]}: max_tokens is its budget")
        self.session = session
        self.recalled: Recall | None = None
        self.mended: int = 0
        self._most = max_tokens
        self._roles = {role_number(role, "roles") for role in one_or_more(roles, "roles")}
        self._tags = as_names(tags, "tags")
        self._options = dict(options)
        self._talk: list[ChatMessage] = []
        self._held: list[str | None] | None = None  # digests by place, None where one is missing
        self._since: Any = None  # when the first message of the session was recorded
        self._gone: GoneIds | None = None

    def context(self, messages: Iterable[Any], query: str | None) -> Step[list[ChatMessage]]:
        """Recall what bears on the messages, and return them with it."""
        self._hear(messages)
        asked = mended(question_of(self._talk) if query is None else query).strip()[:MAX_QUERY]
        self.recalled = None
        if not asked:
            return list(self._talk)
        held = yield from self._load()
        heard = self._heard()
        places, _ = align(held, [each.digest for each in heard])
        here = {
            message_id(self.session, place, each.digest)
            for place, each in zip(places, heard, strict=True)
        }
        budget = self._most - FRAME_TOKENS
        recall = yield "recall", (asked,), {"max_tokens": budget} | self._options
        if double := sum(_LINE + each.tokens for each in recall if each.id in here):
            recall = yield "recall", (asked,), {"max_tokens": budget + double} | self._options
        self.recalled = recall
        shown = "min_confidence" in self._options or recall.is_shown()
        lines = _fitting(recall, here, budget) if shown else []
        return with_context(self._talk, lines) if lines else list(self._talk)

    def retain(self, messages: Any) -> Step[list[str]]:
        """Retain the messages that the session does not hold, and return their ids."""
        if is_message(messages):
            self._hear([messages], self._talk, self.mended)
        elif messages is not None:
            self._hear(messages)
        heard = self._heard()
        held = yield from self._load()
        places, new = align(held, [each.digest for each in heard])
        if self._gone is None and new:
            self._gone = GoneIds((yield "log", (), {"since": self._since, "op": GONE}))
        turns = []
        for number in new:
            id = message_id(self.session, places[number], heard[number].digest)
            if self._gone is None or id not in self._gone:
                turns.append(heard[number].turn | {"id": id})
        ids: list[str] = []
        if turns:
            about = {"document_id": self.session, "tags": self._tags, "source": _SOURCES}
            ids = yield "retain_dialogue", (turns,), about
        held.extend(heard[number].digest for number in new)
        return ids

    def _hear(self, messages: Any, earlier: Sequence[ChatMessage] = (), mended: int = 0) -> None:
        """Take messages as the talk, after ``earlier`` ones, of which so many were mended."""
        told, broken = as_messages(messages)
        self._talk = without_context([*earlier, *told])
        self.mended = mended + broken

    def _load(self) -> Step[list[str | None]]:
        """Return the digests of the messages that the session holds; they are read once."""
        if self._held is not None:
            return self._held
        digests: dict[int, str] = {}
        after: str | None = None
        while True:
            about = {"document_id": self.session, "after": after, "limit": _PAGE}
            page = yield "list", (), about
            if self._since is None and page:
                self._since = page[0].recorded_at
            found = (read_id(self.session, each.id) for each in page)
            digests |= dict(each for each in found if each is not None)
            if len(page) < _PAGE:
                break
            after = page[-1].id
        self._held = [digests.get(place) for place in range(max(digests, default=-1) + 1)]
        return self._held

    def _heard(self) -> list[Heard]:
        """Return the messages of the talk that are retained, as turns."""
        found = []
        for place, message in enumerate(self._talk):
            found += [
                Heard.of(turn, read_turn(turn, place, self.session).text)
                for turn in as_turns(message)
                if role_number(turn["role"]) in self._roles
            ]
        return found


def _fitting(recall: Recall, here: set[str], budget: int) -> list[str]:
    """Return the lines of what was recalled and is not in the talk, as many as fit."""
    hits = [each for each in recall.hits if each.kind != "memory" or each.item.id not in here]
    lines = []
    for hit, line in zip(hits, prompt_lines(hits), strict=True):
        tokens = hit.item.tokens if hit.kind == "memory" else len(hit.text.encode())
        if (cost := _LINE + tokens) <= budget:
            lines.append(line)
            budget -= cost
    return lines


class _Talk:
    """What a conversation and its twin for asyncio share."""

    def __init__(self, agent: Any, steps: Steps) -> None:
        self._agent = agent
        self._steps = steps

    @property
    def session(self) -> str:
        """The session's name, the `document_id` of its memories."""
        return self._steps.session

    @property
    def recalled(self) -> Recall | None:
        """The recall of the last `context`; None before it, and if there was no question."""
        return self._steps.recalled

    @property
    def mended(self) -> int:
        """How many messages of the talk had half of a surrogate pair, in the place of which is "?".

        The messages that `context` returns are mended too.
        """
        return self._steps.mended


class Conversation(_Talk):
    """One session of a chat, from `Agent.conversation`: messages in, messages with context out.

    Messages are those of OpenAI's chat API, as dicts or as objects of the `openai` package: roles,
    content parts and calls of tools. A list is the whole talk so far, or its last messages. A
    message is retained once, with an id made of the session, its number there and what it says;
    that holds for another process too. A message that was forgotten, archived or erased is not
    retained again. A system message is not retained.

    Threads: one at a time. A block that ends retains what the last `context` was given.

    >>> import recollex, tempfile
    >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
    >>> id = alice.retain("Alice keeps bees.")
    >>> def model(messages):
    ...     return {"role": "assistant", "content": "Bees."}
    >>> messages = [{"role": "user", "content": "Which animals does Alice keep?"}]
    >>> with alice.conversation("chat-7") as talk:
    ...     given = talk.context(messages)
    ...     messages.append(model(given))
    ...     ids = talk.retain(messages)
    >>> [memory.text for memory in talk.recalled], given[0]["role"], len(given), len(ids)
    (['Alice keeps bees.'], 'system', 2, 2)
    >>> with alice.conversation("chat-7") as talk:
    ...     talk.retain(messages)
    []
    """

    def context(self, messages: Iterable[Any], *, query: str | None = None) -> list[ChatMessage]:
        """Return the messages for a model, with the memories that bear on the last of the user.

        They stand at the end of the first message, a system message, which is added if there is
        none: a dated line each, within ``max_tokens`` of the conversation. Messages of this talk
        that are in the list are not repeated. The list that is given stays as it is, and the one
        that is returned may be given to the next call. query: the question to recall for, if it is
        not the last message of the user.

        Raises `errors.InputError`. Cost: that of a recall, of two if the talk itself was recalled;
        the first call also reads which messages the session holds.
        """
        return self._run(self._steps.context(messages, query))

    def retain(self, messages: Any = None) -> list[str]:
        """Retain the messages that the session does not hold yet; return their ids.

        messages: the talk, or a single message that follows those of the last call; by default what
        the last `context` was given. The first call reads in the log which messages were taken away
        since the session began. Raises `errors.InputError`; then nothing is
        retained.
        """
        return self._run(self._steps.retain(messages))

    def _run(self, step: Step[Result]) -> Result:
        answer = None
        try:
            while True:
                method, args, options = step.send(answer)
                answer = getattr(self._agent, method)(*args, **options)
        except StopIteration as done:
            return cast(Result, done.value)

    def __enter__(self) -> "Conversation":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.retain()


class AsyncConversation(_Talk):
    """One session of a chat, for asyncio; each method is `Conversation`'s, awaited."""

    async def context(
        self, messages: Iterable[Any], *, query: str | None = None
    ) -> list[ChatMessage]:
        """Return the messages for a model, with what bears on them; see `Conversation.context`."""
        return await self._run(self._steps.context(messages, query))

    async def retain(self, messages: Any = None) -> list[str]:
        """Retain the messages that the session does not hold; see `Conversation.retain`."""
        return await self._run(self._steps.retain(messages))

    async def _run(self, step: Step[Result]) -> Result:
        answer = None
        try:
            while True:
                method, args, options = step.send(answer)
                answer = await getattr(self._agent, method)(*args, **options)
        except StopIteration as done:
            return cast(Result, done.value)

    async def __aenter__(self) -> "AsyncConversation":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.retain()


class Conversing:
    """The method of `Agent` for a chat loop."""

    def conversation(
        self,
        session: str,
        *,
        max_tokens: int = 1024,
        roles: str | Sequence[str] = KEPT_ROLES,
        tags: Sequence[str] = (),
        **recall: Any,
    ) -> Conversation:
        """Return one session of a chat: it recalls before each model call, and retains after it.

        session: its name, which is the `document_id` of its memories; the same name takes it up
        again, also after a restart. max_tokens: of the context of each call, at least 100. roles:
        of the messages that are retained. tags: of the memories. recall: options of `recall`, such
        as ``kinds``, ``trust`` or ``any_tags``. With ``min_confidence=0`` a context gets whatever
        is recalled, else what `Recall.is_shown`.

        Raises `errors.InputError`. See `Conversation`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> with alice.conversation("chat-7") as talk:
        ...     ids = talk.retain([{"role": "user", "content": "I keep bees."}])
        >>> [memory.text for memory in alice.list()]
        ['user: I keep bees.']
        """
        return Conversation(self, Steps(session, max_tokens, roles, tags, recall))


class AsyncConversing:
    """The method of an asynchronous agent for a chat loop."""

    def conversation(
        self,
        session: str,
        *,
        max_tokens: int = 1024,
        roles: str | Sequence[str] = KEPT_ROLES,
        tags: Sequence[str] = (),
        **recall: Any,
    ) -> AsyncConversation:
        """Return one session of a chat, for `async with`; see `recollex.Agent.conversation`."""
        return AsyncConversation(self, Steps(session, max_tokens, roles, tags, recall))
