"""Fields of a memory that are read when they are first accessed.

A recall finds a hundred memories, and its caller reads two or three fields of each. To read all
fields of all memories costs several times as much as the recall.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from recollex_engine.clock import from_micros
from recollex_engine.domain.roles import ROLES
from recollex_engine.domain.stored_json import read_stored
from recollex_engine.domain.trust import LEVELS
from recollex_engine.recall.memory_columns import MemoryColumns
from recollex_engine.recall.predecessor import Predecessor
from recollex_engine.state.closure import Closure


class Unread:
    """Reads a field of a memory from the columns when it is first accessed."""

    __slots__ = ("_columns", "_place")
    _columns: MemoryColumns
    _place: int

    if not TYPE_CHECKING:  # a type checker sees only the fields

        def __getattr__(self, name: str) -> Any:
            """Read a field that has no value yet, and keep its value."""
            read = _FIELDS.get(name)
            if read is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = read(self._columns, self._place)
            object.__setattr__(self, name, value)
            return value


_FIELDS: dict[str, Callable[[MemoryColumns, int], Any]] = {
    "passage": lambda columns, place: (
        columns.text[place] if (passage := columns.passage[place]) is None else passage
    ),
    "passages": lambda columns, place: (
        ((0, len(columns.text[place])),)
        if (ends := columns.passages[place]) is None
        else tuple(zip(ends[::2], ends[1::2], strict=True))
    ),
    "score": lambda columns, place: columns.score[place],
    "event_at": lambda columns, place: from_micros(columns.said[place]),
    "event": lambda columns, place: (
        from_micros(columns.start[place]),
        from_micros(columns.end[place]),
    ),
    "recorded_at": lambda columns, place: from_micros(columns.recorded[place]),
    "network": lambda columns, place: columns.network[place],
    "context": lambda columns, place: columns.context[place],
    "document_id": lambda columns, place: columns.document[place],
    "speaker": lambda columns, place: columns.speaker[place],
    "role": lambda columns, place: ROLES[columns.role[place]],
    "source": lambda columns, place: columns.source[place],
    "trust": lambda columns, place: LEVELS[columns.trust[place]],
    "entities": lambda columns, place: tuple(columns.entities[place]),
    "tags": lambda columns, place: tuple(columns.tags[place]),
    "metadata": lambda columns, place: (
        read_stored(metadata, "metadata") if (metadata := columns.metadata[place]) else {}
    ),
    "tokens": lambda columns, place: columns.tokens[place],
    "ranks": lambda columns, place: {
        arm: rank for arm, ranks in columns.ranks.items() if (rank := ranks[place])
    },
    "scores": lambda columns, place: columns.scores[place] or {},
    "parts": lambda columns, place: columns.parts[place] or {},
    "collapsed": lambda columns, place: tuple(columns.collapsed[place]),
    "repeated_at": lambda columns, place: tuple(map(from_micros, columns.repeated_at[place])),
    "valid_until": lambda columns, place: (
        None if (end := columns.valid_until[place]) is None else from_micros(end)
    ),
    "closed": lambda columns, place: Closure.of(columns.closed[place]),
    "agent": lambda columns, place: None,
    "replaces": lambda columns, place: Predecessor.of(columns.id[place], columns.replaces[place]),
}
"""Field -> the function that reads it. The id and the text are set from the beginning."""
