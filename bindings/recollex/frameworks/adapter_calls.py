"""What adapters share: the nearest memories, padded vectors, awaited calls, texts of tools.

A framework's message as a turn that can be recalled, and that gives the message back as it was.
The turn says what the message says, with the role of who said it. The message itself is in the
metadata; one that is too long for that is the text, as JSON.
"""

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from recollex_engine.domain.checks import MAX_METADATA, mended
from recollex_engine.domain.prompt_marks import written, written_short
from recollex_engine.domain.question import MAX_BUDGET, MAX_LIMIT
from recollex_engine.domain.trust import role_number
from recollex_engine.domain.turn import is_tool_result, read_content
from recollex_engine.errors import InputError
from recollex_engine.ranking.presets import DEFAULT


async def awaited(method: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
    """Return what a method returns; one that is no coroutine function runs in a thread.

    So an adapter takes agents of `recollex.open` and `recollex.connect` as well as those of
    `recollex.aio`.
    """
    if inspect.iscoroutinefunction(method):
        return await method(*args, **options)
    return await asyncio.get_running_loop().run_in_executor(None, partial(method, *args, **options))


BLOCK = 8
"""A store's dimension is a multiple of this."""


def padded(vectors: Sequence[Sequence[float]]) -> npt.NDArray[np.float32]:
    """Return float32[n, m], where m is the next multiple of 8 of the vectors' length.

    >>> padded([[1.0, 2.0]]).tolist()
    [[1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    """
    given = np.asarray(vectors, np.float32)
    return np.pad(given, ((0, 0), (0, -given.shape[1] % BLOCK)))


_FIELDS = ("score", "document_id", "speaker", "role")


def recalled(memory: Any) -> dict[str, Any]:
    """Return the memory's metadata, and under "recollex" its score, time, document and speaker.

    The time is that of `Memory.event_at`, in ISO 8601. Each field of ten memories takes 10 to 30 us
    to read, so there are no more: `Agent.get` has them, by the id.
    """
    own = {name: getattr(memory, name) for name in _FIELDS}
    own["event_at"] = memory.event_at.isoformat()
    return {**memory.metadata, "recollex": own}


# The memories nearest to a query: as many as a framework asks for, matching or not.
EACH = replace(DEFAULT, diversity=None)
"""The default, in which equal memories are as many results."""
Rest = Callable[[Mapping[str, Any]], bool]
"""Whether metadata meet what `where` cannot say."""


def nearest(
    agent: Any,
    query: str | None,
    count: int,
    *,
    ranked: Mapping[str, Any] | None = None,
    rest: Rest | None = None,
    **wanted: Any,
) -> list[tuple[Any, float | None]]:
    """Return up to ``count`` memories that meet the filters ``wanted``, and their scores.

    First those that a recall finds, best first. They are followed by the others that meet the
    filters, the newest first, without a score: stores of vectors have no threshold either. Without
    a query these are all. ranked: further options of the recall. Cost: that of one recall, and of a
    list where the recall finds too few.

    >>> import recollex, tempfile
    >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
    >>> ids = alice.retain_many(["Bob drinks tea.", "Ann rows."], tags=["x"])
    >>> [memory.text for memory, score in nearest(alice, "tea", 2, tags=["x"])]
    ['Bob drinks tea.', 'Ann rows.']
    """
    if count < 1:
        return []
    found: list[tuple[Any, float | None]] = []
    if query and not query.isspace():
        options = {"preset": EACH, **(ranked or {}), **wanted}
        found = [(each, each.score) for each in _recall(agent, query, count, rest, options)]
    if len(found) < count:
        met = {memory.id for memory, _ in found}
        newest = _recall(agent, "", count + len(met), rest, wanted)
        found += [(each, None) for each in newest if each.id not in met]
    return found[:count]


def _recall(
    agent: Any, query: str, count: int, rest: Rest | None, options: Mapping[str, Any]
) -> Any:
    """Return up to ``count`` memories that meet ``rest`` too."""
    limit = min(count, MAX_LIMIT)
    while True:
        budget = max(100, min(limit, MAX_BUDGET))
        found = agent.recall(query, limit=limit, max_tokens=None, thinking_budget=budget, **options)
        kept = found if rest is None else [each for each in found if rest(each.metadata)]
        if len(kept) >= count or len(found) < limit or limit == MAX_LIMIT:
            return kept[:count]
        limit = min(4 * limit, MAX_LIMIT)


# The four tools by which a model keeps a memory: what they are called, and what they answer.
RETAIN = "Remember a statement that will matter later. Returns its id."
RECALL = "Search the memory. Returns memories, best first, a line each: [id] date text."
CORRECT = "Replace the text of a memory that is no longer so, by its id, and say why."
FORGET = "Forget a memory by its id, and say why."
NOTHING = "Nothing is known about that."


def lines(memories: Iterable[Any]) -> str:
    """Return recalled memories as the tool answers them."""
    told = [
        f"[{written_short(each.id)}] {each.event_at:%Y-%m-%d} {written(each.text)}"
        for each in memories
    ]
    return "\n".join(told) or NOTHING


ROLE_OF_RESULTS = "tool"
KEPT = "message"
AS_TEXT = "message_is_text"
SOURCES: Mapping[str, str] = {"user": "user", "assistant": "assistant", "tool": "tool"}
"""The sources of turns whose roles the framework has set."""
_LONGEST = MAX_METADATA - 100
"""Bytes of a message as JSON that is kept in the metadata."""


def kept_turn(message: Mapping[str, Any], role: str, content: Any) -> dict[str, Any]:
    """Return a turn of `Agent.retain_dialogue` for a message.

    role: one of `recollex_engine.domain.trust`; another is "assistant". content: what it says, a
    text or a list of parts. A message that holds a result of a tool is the tool's as a whole, since
    it is kept as one: its words are not trusted as the user's. Raises `InputError` for a message
    that is not JSON, or that has more than a million characters.

    >>> turn = kept_turn({"type": "message", "content": "Hi!"}, "user", "Hi!")
    >>> turn["content"], turn["metadata"]
    ('Hi!', {'message': {'type': 'message', 'content': 'Hi!'}})
    """
    message = mended(message)
    content = mended(content)
    try:
        raw = orjson.dumps(message)
    except TypeError as error:
        raise InputError(f"a message is not JSON: {error}") from None
    if isinstance(content, list | tuple) and any(map(is_tool_result, content)):
        role = ROLE_OF_RESULTS
    turn: dict[str, Any] = {"role": as_role(role)}
    if len(raw) > _LONGEST:
        return turn | {"content": raw.decode(), "metadata": {AS_TEXT: True}}
    return turn | {"content": said(content) or "[empty]", "metadata": {KEPT: dict(message)}}


def said(content: Any) -> str:
    r"""Return the text of content; that of parts of unknown types is their names.

    >>> said([{"type": "text", "text": "Look!"}, {"type": "hologram"}])
    'Look!\n[hologram]'
    """
    if not isinstance(content, list | tuple):
        return "" if content is None else str(content).strip()
    lines = []
    for part in content:
        try:
            lines.append(read_content([part], "content"))
        except InputError:
            kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
            lines.append(f"[{kind or 'part'}]")
    return "\n".join(filter(None, lines)).strip()


def kept_message(memory: Any) -> Any:
    """Return the message of a memory that `kept_turn` made."""
    if not memory.metadata.get(AS_TEXT):
        return memory.metadata[KEPT]
    return orjson.loads(memory.text.removeprefix(f"{memory.speaker}: "))


def as_role(name: str) -> str:
    """Return a role's name; "assistant" for one that is unknown."""
    try:
        role_number(name)
    except InputError:
        return "assistant"
    return name
