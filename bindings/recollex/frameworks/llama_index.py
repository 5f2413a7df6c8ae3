"""LlamaIndex: a block of long-term memory, and a retriever, over the memories of an agent.

Needs ``pip install 'recollex[llama-index]'``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from recollex.frameworks.adapter_calls import SOURCES, as_role, awaited, padded, recalled, said
from recollex_engine.domain.checks import mended
from recollex_engine.domain.prompt_marks import defused

try:
    from llama_index.core.bridge.pydantic import Field
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise ImportError(
        "recollex.frameworks.llama_index needs llama-index-core: "
        "pip install 'recollex[llama-index]'"
    ) from error

LETTERS = 4
"""Characters of a token, at the least in most texts."""


class RecollexMemoryBlock(BaseMemoryBlock[str]):
    """A block of `llama_index.core.memory.Memory`: what leaves the short-term memory is retained.

    agent: of `recollex.open`, `recollex.connect` or `recollex.aio`. max_tokens: of what the block
    adds to a prompt. document_id: of messages that come without a session. options: of
    `Agent.recall`, such as {"min_confidence": 0.5}.

    The last message of the user is the question; what all sessions said is recalled. A message is
    retained with its role, and its session as the document.

    >>> import asyncio, recollex, tempfile
    >>> from llama_index.core.llms import ChatMessage
    >>> block = RecollexMemoryBlock(agent=recollex.open(tempfile.mkdtemp()).agent("alice"))
    >>> asyncio.run(block.aput([ChatMessage(role="user", content="My sister Ann has a boat.")]))
    >>> print(asyncio.run(block.aget([ChatMessage(role="user", content="Who has a boat?")])))
    [...] user: My sister Ann has a boat.
    """

    name: str = Field(default="Memory", description="The name of the block in the prompt.")
    agent: Any = Field(exclude=True, description="An agent of recollex.")
    max_tokens: int = Field(default=1000, description="Of what the block adds to a prompt.")
    document_id: str = Field(default="chat", description="Of messages without a session.")
    options: dict[str, Any] = Field(default_factory=dict, description="Of Agent.recall.")

    async def _aget(self, messages: Sequence[Any] | None = None, **block_options: Any) -> str:
        asked = [_said(each) for each in messages or () if each.role.value == "user"]
        question = asked[-1] if asked else ""
        if not question:
            return ""
        options = {"max_tokens": self.max_tokens, **self.options}
        found = await awaited(self.agent.recall, mended(question), **options)
        return str(found.to_prompt(self.options.get("min_confidence")))

    async def _aput(self, messages: Sequence[Any]) -> None:
        talks: dict[str, list[dict[str, Any]]] = {}
        for message in messages:
            if text := _said(message):
                session = message.additional_kwargs.get("session_id") or self.document_id
                turn = {"role": as_role(message.role.value), "content": text}
                talks.setdefault(session, []).append(turn)
        for session, turns in talks.items():
            await awaited(self.agent.retain_dialogue, turns, document_id=session, source=SOURCES)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Return the best lines: the last lines are given up until enough tokens are gone."""
        lines = content.split("\n")
        over = LETTERS * tokens_to_truncate
        while lines and over > 0:
            over -= len(lines.pop()) + 1
        return "\n".join(lines) or None


class RecollexRetriever(BaseRetriever):
    """What an agent recalls for a query, as nodes with scores, best first.

    agent: of `recollex.open`, `recollex.connect` or `recollex.aio` (that one for `aretrieve`
    alone). limit: the most nodes. options: of `Agent.recall`, such as {"tags": ["work"]}.

    A query that has an embedding is searched by it. A node's metadata are the memory's, and
    "recollex" with its score, time, document and speaker.

    >>> import recollex, tempfile
    >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
    >>> ids = alice.retain_many(["Ann rows.", "Bob drinks tea."])
    >>> RecollexRetriever(alice, limit=1).retrieve("Who drinks tea?")[0].text
    'Bob drinks tea.'
    """

    def __init__(
        self, agent: Any, *, limit: int = 10, options: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__()
        self.agent: Any = agent
        self.limit: int = limit
        self.options: dict[str, Any] = dict(options or {})

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self.agent.recall(mended(query_bundle.query_str), **self._wanted(query_bundle))
        return [_node(memory) for memory in found]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = await awaited(
            self.agent.recall, mended(query_bundle.query_str), **self._wanted(query_bundle)
        )
        return [_node(memory) for memory in found]

    def _wanted(self, query: QueryBundle) -> dict[str, Any]:
        vector = query.embedding
        given = {} if vector is None else {"query_embedding": padded([vector])[0]}
        return {"limit": self.limit, **given, **self.options}


def _node(memory: Any) -> NodeWithScore:
    node = TextNode(id_=memory.id, text=defused(memory.text), metadata=recalled(memory))
    node.excluded_llm_metadata_keys = node.excluded_embed_metadata_keys = ["recollex"]
    return NodeWithScore(node=node, score=memory.score)


def _said(message: Any) -> str:
    """Return the text of a message; notes for pictures and calls of tools."""
    parts = []
    for block in message.blocks:
        kind = block.block_type
        if kind == "text":
            parts.append({"type": "text", "text": block.text or ""})
        elif kind == "tool_call":
            call = {"name": block.tool_name, "input": block.tool_kwargs}
            parts.append({"type": "tool_use", **call})
        elif kind not in ("cache", "thinking"):
            parts.append({"type": kind})
    return said(parts)
