"""A memory as one view shows it, and how it is read from the columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import OPEN_END, from_micros
from recollex_engine.domain.prompt_lines import prompt_line
from recollex_engine.domain.roles import ROLES
from recollex_engine.domain.schema import NETWORKS, NONE
from recollex_engine.domain.stored_json import read_stored
from recollex_engine.domain.trust import LEVELS
from recollex_engine.ranking.ranking import Ranking
from recollex_engine.recall.lazy_fields import Unread
from recollex_engine.recall.memory_columns import MemoryColumns
from recollex_engine.recall.predecessor import Predecessor, replaced_by
from recollex_engine.state.closure import Closure, closed_by
from recollex_engine.state.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(Unread):
    """One memory, as one view shows it.

    text: the whole text; of a memory too long for the token budget its best passages, in their
    order, with " [...] " where something is left out; tokens: of it as it stands in a line of a
    prompt, without the date. passages: the spans [start, end) of `text` in
    the retained text, in characters. passage: the part that matched best, the same as the text for
    a short memory. event_at: when it was said or done, as the caller gave it; event: the interval
    [start, end) that it speaks of, which differs if the text names a time ("last Friday"). ranks:
    arm -> rank from 1. scores: arm -> the arm's own score; parts: the contribution of each part of
    the fused score; both are filled by ``explain=True``. score: of the whole pipeline; 0 outside a
    recall. collapsed: ids of memories with the same content that were folded into this one;
    repeated_at: the `event_at` of each of them. valid_until: the end of its validity, None if none
    was given. role: of the speaker: "user", "assistant", "system", "tool", or None if it is
    unknown. source: where it comes from, as the caller stamped it; trust: "user", "assistant",
    "tool" or "web", in this order; both None if no source was given. closed: None while it is open.
    replaces: what it said before it was corrected or replaced; None for a first version. agent: the
    agent's id in a recall of several agents; None elsewhere.
    """

    id: str
    text: str
    passage: str
    passages: tuple[tuple[int, int], ...] = ()
    score: float
    event_at: datetime
    event: tuple[datetime, datetime]
    recorded_at: datetime
    network: str
    context: str | None
    document_id: str | None
    speaker: str | None
    role: str | None
    source: str | None
    trust: str | None
    entities: tuple[str, ...]
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    tokens: int
    ranks: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)
    collapsed: tuple[str, ...] = ()
    repeated_at: tuple[datetime, ...] = ()
    valid_until: datetime | None = None
    closed: Closure | None = None
    replaces: Predecessor | None = None
    agent: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the memory as JSON values, times in ISO 8601."""
        return {
            "id": self.id,
            "text": self.text,
            "passage": self.passage,
            "passages": [list(span) for span in self.passages],
            "score": self.score,
            "event_at": self.event_at.isoformat(),
            "event": [moment.isoformat() for moment in self.event],
            "recorded_at": self.recorded_at.isoformat(),
            "network": self.network,
            "context": self.context,
            "document_id": self.document_id,
            "speaker": self.speaker,
            "role": self.role,
            "source": self.source,
            "trust": self.trust,
            "entities": list(self.entities),
            "tags": list(self.tags),
            "metadata": dict(self.metadata),
            "tokens": self.tokens,
            "ranks": dict(self.ranks),
            "scores": dict(self.scores),
            "parts": dict(self.parts),
            "collapsed": list(self.collapsed),
            "repeated_at": [moment.isoformat() for moment in self.repeated_at],
            "valid_until": self.valid_until.isoformat() if self.valid_until else None,
            "closed": self.closed.to_dict() if self.closed else None,
            "replaces": self.replaces.to_dict() if self.replaces else None,
        }


def prompt_of(memories: Iterable[Memory]) -> str:
    """Return memories as text for a language model; see `Recall.to_prompt`."""
    shown = list(memories)
    marked = any(memory.source is not None for memory in shown)
    return "\n".join(
        prompt_line(memory.event_at, memory.text, memory.source, memory.trust, marked)
        for memory in shown
    )


def looked_at(columns: MemoryColumns) -> list[Memory]:
    """Return memories with their ids and texts; other fields are read when they are first accessed.

    They keep the view alive until then. Cost: 1 us each. The first access to another field costs
    about 0.2 us for each memory of the list, and then 0.5 us for each memory where it is accessed.
    """
    found = []
    new = object.__new__
    kind = Memory
    for place, (id, text) in enumerate(zip(columns.id, columns.text, strict=True)):
        memory = new(kind)
        _set_columns(memory, columns)
        _set_place(memory, place)
        _set_id(memory, id)
        _set_text(memory, text)
        found.append(memory)
    return found


_set_columns, _set_place, _set_id, _set_text = (
    getattr(Memory, name).__set__ for name in ("_columns", "_place", "id", "text")
)


def read_memories(
    view: View, memories: Sequence[int] | npt.NDArray[np.uint32], ranking: Ranking | None = None
) -> list[Memory]:
    """Return memories of ``view`` by their ordinals, with their ranking; see `looked_at`."""
    return looked_at(MemoryColumns(view, memories, ranking))


def columns_of(memories: Sequence[Memory]) -> MemoryColumns | None:
    """Return the columns of memories that `read_memories` returned as one list; None for others.

    A column of all costs less than a field of each.
    """
    found = {getattr(each, "_columns", None) for each in memories}
    columns = found.pop() if len(found) == 1 else None
    return None if columns is None or len(columns) != len(memories) else columns


def read_memory(view: View, memory: int) -> Memory:
    """Return one memory of ``view`` by its ordinal, as `read_memories` would; cost about 5 us."""
    columns = view.columns
    items = view.items

    def values(name: str, offset: str) -> memoryview:
        offsets = items[offset]
        first = offsets[memory]
        end = offsets[memory + 1]
        return items[name][first:end] if end > first else _NO_VALUES

    text = str(values("text", "text_offset"), "utf-8", "replace")
    metadata = values("metadata", "metadata_offset")
    mentioned = values("mention_entity", "mention_offset")
    labels = values("label", "label_offset")
    first_row = items["first_row"]
    passage = text
    row = first_row[memory]
    if first_row[memory + 1] - row > 1:
        start, end = (items[name][row] for name in ("passage_start", "passage_end"))
        passage = text[start:end]
    closed = closed_by(view, memory) if items["closed_by"][memory] else None
    valid_end = items["valid_end"][memory]
    label = columns.label
    context = items["context"][memory]
    document = items["document"][memory]
    speaker = items["speaker"][memory]
    source = items["source"][memory]
    said = items["said_at"][memory]
    start = items["event_start"][memory]
    event_at = from_micros(said)
    id = columns.dictionary["ids"].string(items["id"][memory])
    return _made(
        (
            id,
            text,
            passage,
            ((0, len(text)),),
            0.0,
            event_at,
            (
                event_at if start == said else from_micros(start),
                from_micros(items["event_end"][memory]),
            ),
            from_micros(items["op_recorded_at"][items["op"][memory] - 1]),
            NETWORKS[items["network"][memory]],
            None if context == NONE else label(context),
            None if document == NONE else label(document),
            None if speaker == NONE else label(speaker),
            ROLES[items["role"][memory]],
            None if source == NONE else label(source),
            LEVELS[items["trust"][memory]],
            view.entity_names(mentioned.tolist()) if len(mentioned) else (),
            tuple(columns.tag_names(labels.tolist())) if len(labels) else (),
            read_stored(metadata, "metadata") if len(metadata) else {},
            items["tokens"][memory],
            {},  # ranks
            {},  # scores
            {},  # parts
            (),  # collapsed
            (),  # repeated_at
            None if valid_end == OPEN_END else from_micros(valid_end),
            Closure.of(closed),
            Predecessor.of(id, replaced_by(view, memory)),
            None,  # agent
        )
    )


def _made(values: tuple[Any, ...]) -> Memory:
    """Return the memory of the values of all fields, in order; half the cost of the class's own."""
    memory = object.__new__(Memory)
    for put, value in zip(_PUT, values, strict=True):
        put(memory, value)
    return memory


_PUT = tuple(getattr(Memory, each.name).__set__ for each in fields(Memory))
_NO_VALUES = memoryview(b"")
