"""Microsoft Agent Framework: a provider of context, and one of history, from an agent's memory.

Needs ``pip install 'recollex[agent-framework]'``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from recollex.frameworks.adapter_calls import SOURCES, awaited, kept_message, kept_turn
from recollex_engine.domain.checks import mended
from recollex_engine.domain.question import MAX_LIMIT

try:
    from agent_framework import ContextProvider, HistoryProvider, Message
except ImportError as error:
    raise ImportError(
        "recollex.frameworks.agent_framework needs agent-framework-core: "
        "pip install 'recollex[agent-framework]'"
    ) from error

NO_SESSION = "no session"
"""The document of messages that come without a session."""


class RecollexContextProvider(ContextProvider):
    """Recalls before each run of an agent what bears on its input, and retains the run after it.

    agent: of `recollex.open`, `recollex.connect` or `recollex.aio`. max_tokens: of what is added.
    retain: False where a `RecollexHistoryProvider` of the same agent retains already. options: of
    `Agent.recall`, such as {"min_confidence": 0.5}.

    What all sessions said is recalled, as one message of the user's role; the other sessions that
    it comes from are named to the framework. A session is a document.

    ::

        provider = RecollexContextProvider(store.agent("alice"))
        helper = Agent(client=client, context_providers=[provider])

    >>> RecollexContextProvider(None).source_id
    'recollex'
    """

    def __init__(
        self,
        agent: Any,
        source_id: str = "recollex",
        *,
        max_tokens: int = 1000,
        retain: bool = True,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(source_id)
        self.agent: Any = agent
        self.max_tokens: int = max_tokens
        self.retain: bool = retain
        self.options: dict[str, Any] = dict(options or {})

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:
        """Add the memories that bear on the last message of the user."""
        asked = [each.text for each in context.input_messages if each.role == "user" and each.text]
        if not asked or not asked[-1].strip():
            return
        wanted = {"max_tokens": self.max_tokens, **self.options}
        found = await awaited(self.agent.recall, mended(asked[-1]), **wanted)
        if lines := found.to_prompt(self.options.get("min_confidence")):
            text = f"Memories that may bear on this, best first:\n{lines}"
            here = context.session_id or NO_SESSION
            others = {each.document_id for each in found} - {None, here}
            context.extend_messages(
                self, [Message("user", [text])], origin_session_ids=sorted(others) or None
            )

    async def after_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:
        """Retain the input and the response."""
        if self.retain:
            said = list(context.input_messages)
            if context.response is not None:
                said += context.response.messages
            await _append(self.agent, context.session_id, said)


class RecollexHistoryProvider(HistoryProvider):
    """Keeps the messages of sessions, each session a document, in their order.

    agent: of `recollex.open`, `recollex.connect` or `recollex.aio`. newest: the most messages that
    are loaded, the newest; None for all. options: of `HistoryProvider`, such as store_outputs=.

    A message that has an id is kept once. What was said is recalled as any talk is.

    >>> import asyncio, recollex, tempfile
    >>> history = RecollexHistoryProvider(recollex.open(tempfile.mkdtemp()).agent("alice"))
    >>> asyncio.run(history.save_messages("call-7", [Message("user", ["I moved to Oslo."])]))
    >>> asyncio.run(history.get_messages("call-7"))[0].text
    'I moved to Oslo.'
    """

    def __init__(
        self,
        agent: Any,
        source_id: str = "recollex_history",
        *,
        newest: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(source_id, **options)
        self.agent: Any = agent
        self.newest: int | None = newest

    async def get_messages(
        self, session_id: str | None, *, state: Any = None, **options: Any
    ) -> list[Message]:
        """Return the messages of a session, the oldest first."""
        limit = MAX_LIMIT if self.newest is None else self.newest
        document = session_id or NO_SESSION
        found = await awaited(self.agent.list, document_id=document, newest=True, limit=limit)
        return [Message.from_dict(kept_message(memory)) for memory in reversed(found)]

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: Any = None,
        **options: Any,
    ) -> None:
        """Append messages to a session, as one transaction."""
        await _append(self.agent, session_id, messages)


async def _append(agent: Any, session_id: str | None, messages: Sequence[Message]) -> None:
    document = session_id or NO_SESSION
    turns = []
    for message in messages:
        turn = kept_turn(message.to_dict(), message.role, _content(message))
        if message.message_id:
            turn["id"] = f"{document}:{message.message_id}"
        turns.append(turn)
    if turns:
        await awaited(agent.retain_dialogue, turns, document_id=document, source=SOURCES)


def _content(message: Message) -> list[dict[str, Any]]:
    """Return the parts of a message: texts, calls of functions, their results, notes of others."""
    parts = []
    for part in message.contents:
        if part.type == "text":
            parts.append({"type": "text", "text": part.text or ""})
        elif part.type == "function_call":
            parts.append({"type": "tool_use", "name": part.name, "input": part.arguments})
        elif part.type == "function_result":
            parts.append({"type": "tool_result", "content": str(part.result)})
        elif part.type != "text_reasoning":
            parts.append({"type": part.type})
    return parts
