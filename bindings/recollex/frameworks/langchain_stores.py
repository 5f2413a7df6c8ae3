"""LangChain: a store of bytes, and the history of a chat, in the memory of an agent.

Needs ``pip install 'recollex[langchain]'``.
"""

import base64
from collections.abc import Iterator, Sequence
from typing import Any

from recollex.frameworks.adapter_calls import SOURCES, awaited, kept_message, kept_turn
from recollex_engine.domain.question import MAX_LIMIT

try:
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
    from langchain_core.stores import BaseStore
except ImportError as error:
    raise ImportError(
        "recollex.frameworks.langchain_stores needs langchain-core: "
        "pip install 'recollex[langchain]'"
    ) from error

PART = 60_000
"""Bytes of a value in one memory."""
PAGE = 1000
"""Keys that are read together."""


class RecollexByteStore(BaseStore[str, bytes]):
    """Values of bytes under keys, such as those of `CacheBackedEmbeddings`.

    agent: of `recollex.open` or `recollex.connect`; one of its own, since recalls see the keys.
    collection: keeps several stores in one agent apart.

    A value is kept in memories of up to 60,000 bytes each. Setting and deleting are one transaction
    each. Former values stay in ``agent.history``.

    >>> import recollex, tempfile
    >>> store = RecollexByteStore(recollex.open(tempfile.mkdtemp()).agent("cache"))
    >>> store.mset([("a", b"one"), ("b", b"two")])
    >>> store.mget(["b", "c"]), list(store.yield_keys())
    ([b'two', None], ['a', 'b'])
    """

    def __init__(self, agent: Any, *, collection: str = "bytes") -> None:
        self.agent: Any = agent
        self.collection: str = collection

    def mget(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the value of each key; None where there is none."""
        return [self._get(key) for key in keys]

    def mset(self, key_value_pairs: Sequence[tuple[str, bytes]]) -> None:
        """Set the values of keys."""
        texts = []
        ids = []
        metadata = []
        tags = []
        for key, value in dict(key_value_pairs).items():
            parts = [value[at : at + PART] for at in range(0, len(value), PART)] or [b""]
            for number, part in enumerate(parts):
                texts.append(key.strip() or "key")
                ids.append(self._id(key, number))
                of = {"parts": len(parts)} if number == 0 else {}
                metadata.append({"base64": base64.b64encode(part).decode(), **of})
                tags.append([f"{self.collection}:{'key' if number == 0 else 'part'}"])
        if texts:
            self.agent.retain_many(texts, id=ids, metadata=metadata, tags=tags)

    def mdelete(self, keys: Sequence[str]) -> None:
        """Forget keys; those that do not exist are passed over."""
        held = [id for key in dict.fromkeys(keys) for id in self._ids(key)]
        if held:
            self.agent.forget(held)

    def yield_keys(self, *, prefix: str | None = None) -> Iterator[str]:
        """Yield the keys that begin with ``prefix``, in the order in which they were last set."""
        after = None
        start = self._id(prefix or "", 0)[:-2]
        while page := self.agent.list(tags=[f"{self.collection}:key"], after=after, limit=PAGE):
            after = page[-1].id
            for memory in page:
                if memory.id.startswith(start):
                    yield memory.id[len(self.collection) + 1 : -2]

    def _get(self, key: str) -> bytes | None:
        ids = self._ids(key)
        parts = (self.agent.get(id).metadata["base64"] for id in ids)
        return b"".join(map(base64.b64decode, parts)) if ids else None

    def _ids(self, key: str) -> list[str]:
        """Return the ids of the memories that hold a key's value."""
        first = self.agent.get(self._id(key, 0), None)
        count = 0 if first is None else first.metadata["parts"]
        return [self._id(key, number) for number in range(count)]

    def _id(self, key: str, number: int) -> str:
        return f"{self.collection}:{key}#{number}"


class RecollexChatHistory(BaseChatMessageHistory):
    """The messages of one chat, in their order.

    session_id: the chat; its messages are those of the document of this name. agent: of
    `recollex.open`, `recollex.connect` or `recollex.aio` (that one for the asynchronous methods
    alone). newest: the most messages that `messages` returns, the newest; None for all.

    What was said is recalled as any talk is: `Agent.recall` finds it.

    >>> import recollex, tempfile
    >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
    >>> history = RecollexChatHistory("call-7", alice)
    >>> history.add_user_message("I moved to Oslo.")
    >>> history.add_ai_message("How is it there?")
    >>> [message.content for message in history.messages]
    ['I moved to Oslo.', 'How is it there?']
    >>> alice.recall("Where do I live?")[0].text
    'user: I moved to Oslo.'
    """

    def __init__(self, session_id: str, agent: Any, *, newest: int | None = None) -> None:
        super().__init__()
        self.session_id: str = session_id
        self.agent: Any = agent
        self.newest: int | None = newest

    @property
    def messages(self) -> list[BaseMessage]:
        """The messages, the oldest first."""
        return _messages(self.agent.list(**self._wanted()))

    async def aget_messages(self) -> list[BaseMessage]:
        """Return the messages, the oldest first."""
        return _messages(await awaited(self.agent.list, **self._wanted()))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages, as one transaction."""
        if messages:
            self.agent.retain_dialogue(*_turns(messages), **self._place())

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages, as one transaction."""
        if messages:
            await awaited(self.agent.retain_dialogue, *_turns(messages), **self._place())

    def clear(self) -> None:
        """Forget all messages of this chat."""
        self.agent.forget(document_id=self.session_id)

    async def aclear(self) -> None:
        """Forget all messages of this chat."""
        await awaited(self.agent.forget, document_id=self.session_id)

    def _wanted(self) -> dict[str, Any]:
        limit = MAX_LIMIT if self.newest is None else self.newest
        return {"document_id": self.session_id, "newest": True, "limit": limit}

    def _place(self) -> dict[str, Any]:
        return {"document_id": self.session_id, "source": SOURCES}


def _turns(messages: Sequence[BaseMessage]) -> list[list[dict[str, Any]]]:
    """Return the positional arguments of `retain_dialogue`."""
    return [[kept_turn(message_to_dict(each), each.type, _content(each)) for each in messages]]


def _content(message: BaseMessage) -> Any:
    calls = getattr(message, "tool_calls", None) or []
    used = [{"type": "tool_use", "name": call["name"], "input": call["args"]} for call in calls]
    content = message.content
    if not used:
        return content
    return [*([content] if isinstance(content, str) else content), *used]


def _messages(newest: Sequence[Any]) -> list[BaseMessage]:
    found: list[BaseMessage] = messages_from_dict(list(map(kept_message, reversed(newest))))
    return found
