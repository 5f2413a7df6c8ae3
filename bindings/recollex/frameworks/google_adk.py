"""Google's Agent Development Kit: a `BaseMemoryService` with an agent for each user of an app.

Needs ``pip install 'recollex[google-adk]'``.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from recollex.frameworks.adapter_calls import KEPT, SOURCES, awaited, kept_message, kept_turn
from recollex_engine.domain.checks import mended
from recollex_engine.domain.prompt_marks import defused
from recollex_engine.errors import UnknownIdError

try:
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai.types import Content, Part
except ImportError as error:
    raise ImportError(
        "recollex.frameworks.google_adk needs google-adk: pip install 'recollex[google-adk]'"
    ) from error

NO_SESSION = "no session"
"""The document of events that come without a session."""
DELETED = "deleted:"
"""Begins the id of an archived memory that says that an event was deleted."""


class RecollexMemoryService(BaseMemoryService):
    """What the users of apps said, each user's in an agent of their own.

    store: of `recollex.open`, `recollex.connect` or `recollex.aio`. A user's agent is called
    "app_name:user_id", so users are isolated, and one is deleted by ``store.delete_agent``. limit:
    the most memories that a search returns. options: of `Agent.recall`.

    An event is a turn with its author and time; an event without text is passed over. A session
    that is added again replaces what it said before; an event that was deleted stays so.

    >>> import asyncio, recollex, tempfile
    >>> from google.adk.memory.memory_entry import MemoryEntry
    >>> service = RecollexMemoryService(recollex.open(tempfile.mkdtemp()))
    >>> entry = MemoryEntry(content=Content(parts=[Part(text="Ann has a boat.")]))
    >>> asyncio.run(service.add_memory(app_name="app", user_id="ann", memories=[entry]))
    >>> found = asyncio.run(service.search_memory(app_name="app", user_id="ann", query="boat"))
    >>> found.memories[0].content.parts[0].text
    'Ann has a boat.'
    """

    def __init__(
        self, store: Any, *, limit: int = 10, options: Mapping[str, Any] | None = None
    ) -> None:
        self.store: Any = store
        self.limit: int = limit
        self.options: dict[str, Any] = dict(options or {})

    async def add_session_to_memory(self, session: Any) -> None:
        """Retain the events of a session, in the place of those that it had before."""
        agent = await self._agent(session.app_name, session.user_id)
        turns = await self._turns(agent, session.events)
        await awaited(
            agent.retain_dialogue, turns, document_id=session.id, replace=True, source=SOURCES
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Any],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Retain those of the events that are not held; ``custom_metadata`` is not kept."""
        agent = await self._agent(app_name, user_id)
        turns = [
            turn
            for turn in await self._turns(agent, events)
            if await awaited(agent.get, turn["id"], None) is None
        ]
        if turns:
            await awaited(
                agent.retain_dialogue,
                turns,
                document_id=session_id or NO_SESSION,
                source=SOURCES,
            )

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[Any],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Retain memories with their metadata, over which ``custom_metadata`` is laid."""
        agent = await self._agent(app_name, user_id)
        told = [each for each in memories if _text(each.content)]
        if told:
            await awaited(
                agent.retain_many,
                [_text(each.content) for each in told],
                id=[each.id for each in told],
                event_at=[_moment(each.timestamp) for each in told],
                metadata=[{**each.custom_metadata, **(custom_metadata or {})} for each in told],
            )

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return what the user's agent recalls for a query, best first."""
        if not query.strip():
            return SearchMemoryResponse()
        agent = await self._agent(app_name, user_id)
        found = await awaited(agent.recall, mended(query), **{"limit": self.limit, **self.options})
        return SearchMemoryResponse(memories=[_entry(memory) for memory in found])

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Forget a memory, for good: its session does not bring it back."""
        if not memory_id:
            return
        agent = await self._agent(app_name, user_id)
        try:
            await awaited(agent.forget, memory_id, by="google-adk", why="deleted")
        except UnknownIdError:
            return
        await awaited(agent.retain, "deleted", id=DELETED + memory_id)
        await awaited(agent.archive, DELETED + memory_id)

    async def _agent(self, app_name: str, user_id: str) -> Any:
        return await awaited(self.store.agent, f"{app_name}:{user_id}")

    async def _turns(self, agent: Any, events: Sequence[Any]) -> list[dict[str, Any]]:
        """Return the turns of the events that say something and were not deleted."""
        turns: dict[str, dict[str, Any]] = {}
        for event in events:
            text = _text(event.content)
            if text and await awaited(agent.get, DELETED + event.id, None) is None:
                content = event.content.model_dump(mode="json", exclude_none=True)
                author = event.author or "user"
                role = "user" if author == "user" else "assistant"
                turns[event.id] = kept_turn({"content": content}, role, text) | {
                    "id": event.id,
                    "speaker": author,
                    "at": datetime.fromtimestamp(event.timestamp, UTC),
                }
        return list(turns.values())


def _text(content: Any) -> str:
    parts = [] if content is None else content.parts or []
    return " ".join(part.text for part in parts if part.text).strip()


def _moment(timestamp: str | None) -> datetime | None:
    """Return a time of ISO 8601; without a zone it is UTC."""
    if timestamp is None:
        return None
    moment = datetime.fromisoformat(timestamp)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _entry(memory: Any) -> MemoryEntry:
    metadata = dict(memory.metadata)
    content = Content(parts=[Part(text=memory.text)])
    if memory.speaker is not None:
        content = Content.model_validate(kept_message(memory)["content"])
        metadata.pop(KEPT, None)
    for part in content.parts or []:
        if part.text:  # what a search finds becomes a prompt
            part.text = defused(part.text)
    return MemoryEntry(
        id=memory.id,
        content=content,
        author=memory.speaker,
        timestamp=memory.event_at.isoformat(),
        custom_metadata=metadata,
    )
