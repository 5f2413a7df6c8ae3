"""A conversation of the OpenAI Agents SDK: a `Session` whose items are turns of an agent's memory.

Needs ``pip install 'recollex[openai-agents]'``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from recollex.frameworks.adapter_calls import SOURCES, awaited, kept_message, kept_turn
from recollex_engine.domain.question import MAX_LIMIT
from recollex_engine.errors import UnknownIdError

try:
    from agents.memory import SessionABC, SessionSettings
    from agents.memory.session_settings import resolve_session_limit
except ImportError as error:
    raise ImportError(
        "recollex.frameworks.openai_agents needs openai-agents: "
        "pip install 'recollex[openai-agents]'"
    ) from error


class RecollexSession(SessionABC):
    """The items of one conversation, in their order.

    session_id: the conversation; its items are those of the document of this name. agent: of
    `recollex.open`, `recollex.connect` or `recollex.aio`. session_settings: with the ``limit`` of
    `get_items` where none is given.

    What users, assistants and tools said is recalled as any talk is: `Agent.recall` finds it in
    this and in other conversations. The newest items are read, popped and cleared by their
    document, so that no other item is read. An item is JSON of up to a million characters.

    >>> import asyncio, recollex, tempfile
    >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
    >>> session = RecollexSession("call-7", alice)
    >>> async def talk():
    ...     await session.add_items([{"role": "user", "content": "I moved to Oslo."},
    ...                              {"role": "assistant", "content": "How is it there?"}])
    ...     return await session.pop_item(), await session.get_items()
    >>> asyncio.run(talk())[0]["content"]
    'How is it there?'
    >>> alice.recall("Where do I live?")[0].text
    'user: I moved to Oslo.'
    """

    def __init__(
        self,
        session_id: str,
        agent: Any,
        *,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id: str = session_id
        self.agent: Any = agent
        self.session_settings: SessionSettings | None = session_settings or SessionSettings()

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the newest ``limit`` items, or all, the oldest first."""
        count = resolve_session_limit(limit, self.session_settings)
        if count == 0:
            return []
        if count is None or count < 0:
            count = MAX_LIMIT
        return [kept_message(memory) for memory in reversed(await self._newest(count))]

    async def add_items(self, items: Sequence[Any]) -> None:
        """Append items, as one transaction."""
        if items:
            turns = [kept_turn(item, *_said_by(item)) for item in items]
            await awaited(
                self.agent.retain_dialogue, turns, document_id=self.session_id, source=SOURCES
            )

    async def pop_item(self) -> Any:
        """Take the newest item away and return it; None if there is none."""
        while newest := await self._newest(1):
            try:
                await awaited(self.agent.forget, newest[0].id, by="openai-agents", why="popped")
            except UnknownIdError:  # another task has popped it
                continue
            return kept_message(newest[0])
        return None

    async def clear_session(self) -> None:
        """Forget all items of this conversation."""
        await awaited(
            self.agent.forget, document_id=self.session_id, by="openai-agents", why="cleared"
        )

    async def _newest(self, count: int) -> Any:
        return await awaited(self.agent.list, document_id=self.session_id, newest=True, limit=count)


def _said_by(item: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the role and the content of an item."""
    kind = str(item.get("type", "message"))
    if "role" in item:
        return str(item["role"]), item.get("content")
    if kind.endswith("_output"):
        return "tool", item.get("output")
    if kind.endswith("_call") and "name" in item:
        return "assistant", f"[tool: {item['name']} {item.get('arguments') or ''}".rstrip() + "]"
    return "assistant", item.get("summary") or f"[{kind}]"
