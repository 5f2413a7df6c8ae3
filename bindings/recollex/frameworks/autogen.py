"""AutoGen: a `Memory` over the memories of an agent.

Needs ``pip install 'recollex[autogen]'``.
"""

import json
from collections.abc import Mapping
from typing import Any

from recollex.frameworks.adapter_calls import awaited
from recollex_engine.domain.checks import mended
from recollex_engine.domain.question import MAX_LIMIT
from recollex_engine.errors import InputError

try:
    from autogen_core.memory import (
        Memory,
        MemoryContent,
        MemoryMimeType,
        MemoryQueryResult,
        UpdateContextResult,
    )
    from autogen_core.models import SystemMessage, UserMessage
    from pydantic import BaseModel
except ImportError as error:
    raise ImportError(
        "recollex.frameworks.autogen needs autogen-core: pip install 'recollex[autogen]'"
    ) from error

MIME = "mime_type"
"""The name in a memory's metadata of the content's type."""


class RecollexMemory(Memory):
    """What an agent remembers, for the model contexts of AutoGen.

    agent: of `recollex.open`, `recollex.connect` or `recollex.aio`. name: the tag of what this
    memory adds; `clear` forgets no other. limit: the most that `query` returns and that
    `update_context` adds. options: of `Agent.recall`, such as {"min_confidence": 0.5}.

    Text, Markdown and JSON are retained; pictures and bytes are refused. A query recalls from all
    memories of the agent. An empty one returns all that was added, in its order. `update_context`
    asks what the last user message says.

    >>> import asyncio, recollex, tempfile
    >>> memory = RecollexMemory(recollex.open(tempfile.mkdtemp()).agent("alice"))
    >>> tea = MemoryContent(content="Ann drinks tea.", mime_type="text/plain")
    >>> asyncio.run(memory.add(tea))
    >>> asyncio.run(memory.query("What does Ann drink?")).results[0].content
    'Ann drinks tea.'
    """

    component_type = "memory"
    component_config_schema = BaseModel
    component_provider_override = "recollex.frameworks.autogen.RecollexMemory"

    def __init__(
        self,
        agent: Any,
        *,
        name: str = "autogen",
        limit: int = 10,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.agent: Any = agent
        self.name: str = name
        self.limit: int = limit
        self.options: dict[str, Any] = dict(options or {})

    async def add(self, content: MemoryContent, cancellation_token: Any = None) -> None:
        """Retain a content. Raises `InputError` for one that is no text and no JSON."""
        kind = content.mime_type
        mime = kind.value if isinstance(kind, MemoryMimeType) else str(kind)
        text = content.content
        if isinstance(text, dict):
            text = json.dumps(text, ensure_ascii=False)
        if not isinstance(text, str):
            raise InputError(f"a memory takes text or JSON, got {mime}: describe it in words")
        metadata = {**(content.metadata or {}), MIME: mime}
        if content.metadata is None:
            metadata["no_metadata"] = True
        await awaited(self.agent.retain, text, metadata=metadata, tags=[self.name])

    async def query(
        self, query: str | MemoryContent, cancellation_token: Any = None, **options: Any
    ) -> MemoryQueryResult:
        """Return what answers a query, best first; ``options`` as of `Agent.recall`."""
        asked = query if isinstance(query, str) else str(query.content)
        if not asked.strip():
            own = {"tags": [self.name], "limit": MAX_LIMIT}
            found: Any = await awaited(self.agent.list, **own)
        else:
            wanted = {"limit": self.limit, **self.options, **options}
            found = await awaited(self.agent.recall, mended(asked), **wanted)
        return MemoryQueryResult(results=[_content(memory) for memory in found])

    async def update_context(self, model_context: Any) -> UpdateContextResult:
        """Add what bears on the last user message to a model context, as a system message."""
        said = [
            message.content
            for message in await model_context.get_messages()
            if isinstance(message, UserMessage) and isinstance(message.content, str)
        ]
        found: Any = []
        if said and said[-1].strip():
            found = await awaited(
                self.agent.recall, mended(said[-1]), **{"limit": self.limit, **self.options}
            )
        lines = found.to_prompt(self.options.get("min_confidence")) if len(found) else ""
        if lines:
            text = f"Relevant memories, best first:\n{lines}"
            await model_context.add_message(SystemMessage(content=text))
        results = [_content(memory) for memory in found]
        return UpdateContextResult(memories=MemoryQueryResult(results=results))

    async def clear(self) -> None:
        """Forget what this memory added."""
        await awaited(self.agent.forget, tags=[self.name], by=self.name, why="cleared")

    async def close(self) -> None:
        """Do nothing: the agent is its opener's to close."""


def _content(memory: Any) -> MemoryContent:
    metadata = dict(memory.metadata)
    mime = metadata.pop(MIME, MemoryMimeType.TEXT.value)
    content = json.loads(memory.text) if mime == MemoryMimeType.JSON.value else memory.text
    without = metadata.pop("no_metadata", False)
    return MemoryContent(content=content, mime_type=mime, metadata=None if without else metadata)
