"""A memory as one view shows it: the table of its fields, and how each is read from columns.

A recall finds a hundred memories, and its caller reads two or three fields of each. To read all
fields of all memories costs several times as much as the recall, so a field is read when it is
first accessed. `to_dict`, the schema of HTTP, JavaScript's client and the table in docs/recall.md
come from the fields of `Memory` too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import from_micros, in_zone, to_micros
from recollex_engine.domain.literals import read_stored
from recollex_engine.domain.prompt_lines import prompt_line
from recollex_engine.domain.schema import NETWORKS
from recollex_engine.domain.trust import LEVELS, ROLES
from recollex_engine.ranking.ranking import Ranking
from recollex_engine.recall.closure import Closure, Predecessor
from recollex_engine.recall.memory_columns import (
    COLUMNS,
    ColumnReading,
    MemoryColumn,
    MemoryColumns,
)
from recollex_engine.state.view import View
from recollex_kernels.memories.gathering import END, NETWORK, RECORDED, SAID, START, TOKENS


class Form(NamedTuple):
    """How the value of a column becomes that of a field; JavaScript's client has a like named.

    names: of a value that is a number.
    """

    name: str
    read: Callable[[ColumnReading, int, Any], Any]
    names: tuple[str | None, ...] = ()


def _plain(held: ColumnReading, place: int, value: Any) -> Any:
    return value


def _tuple(held: ColumnReading, place: int, value: Any) -> tuple[Any, ...]:
    return tuple(value)


def _moment(held: ColumnReading, place: int, value: int | None) -> datetime | None:
    return None if value is None else from_micros(value)


def _moments(held: ColumnReading, place: int, value: Sequence[int]) -> tuple[datetime, ...]:
    return tuple(map(from_micros, value))


def _event(held: ColumnReading, place: int, value: int) -> tuple[datetime, datetime]:
    return from_micros(value), from_micros(held.number(END, place))


def _json(held: ColumnReading, place: int, value: str) -> Any:
    return read_stored(value, "metadata") if value else {}


def _passage(held: ColumnReading, place: int, value: str | None) -> str:
    return held.text[place] if value is None else value


def _spans(
    held: ColumnReading, place: int, value: Sequence[int] | None
) -> tuple[tuple[int, int], ...]:
    if value is None:
        return ((0, len(held.text[place])),)
    return tuple(zip(value[::2], value[1::2], strict=True))


def _ranks(held: ColumnReading, place: int, value: Any) -> dict[str, int]:
    return {arm: rank for arm, ranks in held.ranks.items() if (rank := ranks[place])}


def _closure(held: ColumnReading, place: int, value: Any) -> Closure | None:
    return Closure.of(value)


def _predecessor(held: ColumnReading, place: int, value: Any) -> Predecessor | None:
    return Predecessor.of(held.id[place], value)


def named(names: tuple[str | None, ...]) -> Form:
    """Return the form of a number that stands for one of some names."""
    return Form("named", lambda held, place, value: names[value], names)


PLAIN = Form("plain", _plain)
TUPLE = Form("plain", _tuple)
MOMENT = Form("moment", _moment)
MOMENTS = Form("moments", _moments)
EVENT = Form("event", _event)
PASSAGE = Form("passage", _passage)
SPANS = Form("spans", _spans)
JSON = Form("json", _json)
RANKS = Form("ranks", _ranks)
CLOSURE = Form("closure", _closure)
PREDECESSOR = Form("predecessor", _predecessor)


class Told(NamedTuple):
    """What the table says of a field of `Memory`, beside its name and type.

    help: a line, for the docs and the schemas. form: how it is read, from the column of its name in
    `memory_columns`. row: of the column ``numbers``, if it is read from that. in_recall: it says
    how a recall found the memory, or which part of it. sent: it has a column, and `to_dict` has it.
    """

    help: str
    form: Form = PLAIN
    row: int = -1
    in_recall: bool = False
    sent: bool = True


def found(help: str, form: Form = PLAIN, row: int = -1) -> Told:
    """Return what the table says of a field that only a recall fills."""
    return Told(help, form, row, in_recall=True)


class Unread:
    """Reads a field of a memory from the columns when it is first accessed."""

    __slots__ = ("_columns", "_place")
    _columns: ColumnReading
    _place: int

    if not TYPE_CHECKING:  # a type checker sees only the fields

        def __getattr__(self, name: str) -> Any:
            """Read a field that has no value yet, and keep its value."""
            if name == "_columns":  # not yet set: a copy is being made
                raise AttributeError(name)
            columns = self._columns
            read = (_READ_ONE if type(columns) is MemoryColumn else _READ).get(name)
            if read is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = read(columns, self._place)
            object.__setattr__(self, name, value)
            return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(Unread):
    """One memory, as one view shows it. Its fields are in the table of docs/recall.md.

    They are read when they are first accessed, and keep the view alive until then.
    """

    id: Annotated[str, Told("The caller's id, or one of the engine's.")]
    text: Annotated[
        str,
        Told(
            "The whole text; of a memory too long for the token budget its best passages, in their "
            'order, with " [...] " where something is left out.'
        ),
    ]
    passage: Annotated[
        str, found("The part that matched best; the text, for a short memory.", PASSAGE)
    ]
    passages: Annotated[
        tuple[tuple[int, int], ...],
        found("The spans [start, end) of `text` in the retained text, in characters.", SPANS),
    ] = ()
    score: Annotated[float, found("Of the whole pipeline; 0 outside a recall.")]
    event_at: Annotated[
        datetime, Told("When it was said or done, as the caller gave it.", MOMENT, row=SAID)
    ]
    event: Annotated[
        tuple[datetime, datetime],
        Told(
            "The time [start, end) that it speaks of: it differs from `event_at` if the text names "
            'a time ("last Friday").',
            EVENT,
            row=START,
        ),
    ]
    recorded_at: Annotated[datetime, Told("When it was retained.", MOMENT, row=RECORDED)]
    network: Annotated[str, Told('"world", "agent" or "opinion".', named(NETWORKS), row=NETWORK)]
    zone: Annotated[str | None, Told("The time zone in which it was said; None for UTC.")] = None
    context: Annotated[str | None, Told("What it was said in.")]
    document_id: Annotated[str | None, Told("The document that it belongs to.")]
    speaker: Annotated[str | None, Told("Who said it.")]
    role: Annotated[str | None, Told("The speaker's role, if it is known.", named(ROLES))]
    source: Annotated[str | None, Told("Where it comes from, as the caller stamped it.")]
    trust: Annotated[
        str | None, Told("How far its source is trusted; None without a source.", named(LEVELS))
    ]
    entities: Annotated[
        tuple[str, ...], Told("The people, places and things that it names.", TUPLE)
    ]
    tags: Annotated[tuple[str, ...], Told("As the caller gave them.", TUPLE)]
    metadata: Annotated[Mapping[str, Any], Told("As the caller gave it.", JSON)]
    tokens: Annotated[int, found("Of `text` in a line of a prompt, without the date.", row=TOKENS)]
    ranks: Annotated[
        Mapping[str, int], found("Its rank in each arm that found it, from 1.", RANKS)
    ] = field(default_factory=dict)
    scores: Annotated[Mapping[str, float], found("With `explain=True`: each arm's own score.")] = (
        field(default_factory=dict)
    )
    parts: Annotated[
        Mapping[str, float],
        found("With `explain=True`: what each part of the ranking added to the score."),
    ] = field(default_factory=dict)
    collapsed: Annotated[
        tuple[str, ...],
        found("The ids of memories with the same content that were folded into this one.", TUPLE),
    ] = ()
    repeated_at: Annotated[
        tuple[datetime, ...], found("When each of those was said.", MOMENTS)
    ] = ()
    valid_until: Annotated[
        datetime | None, Told("When it ceases to be so; None without an end.", MOMENT)
    ] = None
    closed: Annotated[
        Closure | None,
        Told("When, how, by whom and why it was closed; None while it is open.", CLOSURE),
    ] = None
    replaces: Annotated[
        Predecessor | None,
        Told(
            "What it said before it was corrected or replaced; None for a first version.",
            PREDECESSOR,
        ),
    ] = None
    agent: Annotated[
        str | None,
        Told("The agent's id in a recall of several agents; None elsewhere.", sent=False),
    ] = None

    def to_dict(self) -> dict[str, Any]:
        """Return the memory as JSON values, times in ISO 8601."""
        return {name: write(getattr(self, name)) for name, write in _WRITTEN}


FIELDS: Mapping[str, Told] = {
    name: get_args(kind)[1]
    for name, kind in get_type_hints(Memory, include_extras=True).items()
    if not name.startswith("_")
}
"""The table: the name of each field of `Memory`, and what is said of it."""


def _reader(name: str, told: Told) -> Callable[[ColumnReading, int], Any]:
    """Return the function that reads a field of the memory at a place of columns."""
    row = told.row
    read = told.form.read
    if not told.sent:
        return lambda held, place: None
    if row >= 0:
        return lambda held, place: read(held, place, held.number(row, place))
    if told.form is PLAIN:
        return lambda held, place: getattr(held, name)[place]
    if told.form is RANKS:  # a column for each arm
        return lambda held, place: read(held, place, None)
    return lambda held, place: read(held, place, getattr(held, name)[place])


def _reader_of_one(name: str, told: Told) -> Callable[[Any, int], Any]:
    """Return the function that reads a field of a memory alone; `_reader`: of one among others."""
    read = told.form.read
    column = COLUMNS.get(name)
    if name == "score":
        return lambda held, place: 0.0
    if column is None:
        return _reader(name, told)
    if (one := column.one) is None:
        absent = column.absent
        return lambda held, place: read(held, place, absent)
    if told.form is PLAIN:
        return lambda held, place: one(held.view, held.memory)
    return lambda held, place: read(held, place, one(held.view, held.memory))


_READ = {name: _reader(name, told) for name, told in FIELDS.items()}
_READ_ONE = {name: _reader_of_one(name, told) for name, told in FIELDS.items()}


def _writer(kind: Any) -> Callable[[Any], Any]:
    """Return the function that makes JSON values of values of a type."""
    if isinstance(kind, type) and hasattr(kind, "to_dict"):
        return lambda value: value.to_dict()
    if kind is datetime:
        return datetime.isoformat
    arguments = get_args(kind)
    origin = getattr(kind, "__origin__", None)
    if type(None) in arguments:
        (other,) = (each for each in arguments if each is not type(None))
        write = _writer(other)
        return _same if write is _same else lambda value: None if value is None else write(value)
    if origin is tuple:
        write = _writer(arguments[0])
        return list if write is _same else lambda value: list(map(write, value))
    return dict if origin is Mapping else _same


def _same(value: Any) -> Any:
    return value


_TYPES = get_type_hints(Memory)
_WRITTEN = [(name, _writer(_TYPES[name])) for name, told in FIELDS.items() if told.sent]


def said_on(memory: Memory) -> datetime:
    """Return when a memory was said, by the clock of who said it."""
    return in_zone(to_micros(memory.event_at, "event_at"), memory.zone)


def prompt_of(memories: Iterable[Memory]) -> str:
    """Return memories as text for a language model; see `Recall.to_prompt`."""
    shown = list(memories)
    marked = any(memory.source is not None for memory in shown)
    return "\n".join(
        prompt_line(said_on(memory), memory.text, memory.source, memory.trust, marked)
        for memory in shown
    )


def lazy_memories(columns: ColumnReading) -> list[Memory]:
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
    """Return memories of ``view`` by their ordinals, with their ranking; see `lazy_memories`."""
    return lazy_memories(MemoryColumns(view, memories, ranking))


def read_memory(view: View, memory: int) -> Memory:
    """Return one memory of ``view`` by its ordinal, as `read_memories` would."""
    return lazy_memories(MemoryColumn(view, memory))[0]


def columns_of(memories: Sequence[Memory]) -> MemoryColumns | None:
    """Return the columns of memories that `read_memories` returned as one list; None for others.

    A column of all costs less than a field of each.
    """
    found = {getattr(each, "_columns", None) for each in memories}
    columns = found.pop() if len(found) == 1 else None
    return None if columns is None or len(columns) != len(memories) else columns
