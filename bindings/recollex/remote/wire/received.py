"""Results that read their store, as they arrive at a client: subclasses that hold all of it.

A `Recall`, `Fact`, `FactList` or `Event` reads the store when a field is used. The server sends
what it would read. The client makes a subclass of it, which is complete and equal to the original.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from recollex.remote.wire import codec
from recollex.remote.wire.codec import Undecoded
from recollex.remote.wire.received_columns import ReceivedColumns
from recollex.remote.wire.records import Restorer, restorer_of
from recollex_engine.clock import to_micros
from recollex_engine.errors import CorruptError, ProtocolError
from recollex_engine.facts.events import Event
from recollex_engine.facts.facts import Fact, FactList
from recollex_engine.fork import cached_property
from recollex_engine.ranking.confidence import Signs
from recollex_engine.recall.beside import Beside
from recollex_engine.recall.memory import Memory, lazy_memories
from recollex_engine.recall.memory_columns import ColumnValues, MemoryColumns
from recollex_engine.recall.recall import Recall
from recollex_engine.trace import Trace

if TYPE_CHECKING:
    from recollex_engine.recall.subgraph import Subgraph

_RECALL = (
    ("query", str),
    ("tokens", int),
    ("token_counter", str),
    ("count", int),
    ("op", int),
    ("memories", bytes),
)
"""Required field of a recall, and its type."""
_TRACES = (Undecoded, Trace, type(None))


class ReceivedRecall(Recall):
    """A `Recall` from a server; memories, trace and signs are decoded when they are first used."""

    def __init__(self, values: dict[str, Any]) -> None:
        get = values.get
        for name, kind in _RECALL:
            if type(get(name)) is not kind:
                raise ProtocolError(f"{name} of a recall must be a {kind.__name__}")
        if type(get("trace")) not in _TRACES:
            raise ProtocolError("trace of a recall must be a Trace, or nil")
        span = get("time_range")
        self.query: Any = values["query"]
        self.tokens: Any = values["tokens"]
        self.token_counter: Any = values["token_counter"]
        self.time_range: tuple[Any, Any] | None = None if span is None else (span[0], span[1])
        self.confidence: Any | None = get("confidence")
        self._values = values
        self._columns: ColumnValues | None = None

    @cached_property
    def trace(self) -> Trace:
        """Where the time went at the server."""
        found = self._read("trace")
        if not isinstance(found, Trace | None):
            raise ProtocolError("trace of a recall must be a Trace, or nil")
        return found or Trace()

    @cached_property
    def signs(self) -> Signs | None:
        """The signs that the confidence was computed from."""
        found: Signs | None = self._read("signs")
        return found

    @cached_property
    def subgraph(self) -> "Subgraph | None":
        """The subgraph, if ``pack`` asked for one."""
        found: Subgraph | None = self._read("subgraph")
        return found

    @cached_property
    def beside(self) -> Beside | None:
        """The facts, events and episodes beside the memories."""
        found: Beside | None = self._read("beside")
        return found

    def _read(self, name: str) -> Any:
        found = self._values.get(name)
        return found.read() if isinstance(found, Undecoded) else found

    def __len__(self) -> int:
        return int(self._values["count"])

    @property
    def packed(self) -> bytes:
        """The memories' columns, encoded as they were received."""
        found: bytes = self._values["memories"]
        return found

    def columns(self) -> ColumnValues:
        """Return the columns of the memories."""
        if self._columns is None:
            found = codec.decode_plain(self._values["memories"])
            if not isinstance(found, dict):
                raise ProtocolError("the memories of a recall are columns")
            self._columns = found
        return self._columns

    @cached_property
    def _held(self) -> MemoryColumns:
        return cast(MemoryColumns, ReceivedColumns(self.columns(), len(self)))

    @cached_property
    def _memories(self) -> list[Memory]:
        """The memories. Those that a client sent are all read at once, since they may be wrong."""
        try:
            found = lazy_memories(self._held)
            if type(self._values.get("trace")) is not Undecoded:
                for memory in found:
                    memory.to_dict()
        except (LookupError, TypeError, ValueError, AttributeError, CorruptError) as error:
            raise ProtocolError(f"the memories cannot be read: {error!r:.200}") from None
        return found

    @property
    def ids(self) -> list[str]:
        """The ids of the memories."""
        return self._held.id

    @property
    def op(self) -> int:
        """The number of the last operation that the recall saw."""
        return int(self._values["op"])


class ReceivedFact(Fact):
    """A `Fact` from a server."""

    __slots__ = ("_values",)
    _values: dict[str, Any]

    def active_at(self, moment: datetime) -> bool:
        """Return whether the valid time holds ``moment``."""
        return _holds(self.valid, moment)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fact) and _compared(self) == _compared(other)

    def __hash__(self) -> int:
        return hash(_compared(self))


class ReceivedFacts(FactList):
    """A `FactList` from a server."""

    def __init__(self, facts: list[Fact], entities: list[int], op: int) -> None:
        self._facts = facts
        self._entities = entities
        self._op = op
        self.versions: NDArray[np.int64] = np.array([fact.version for fact in facts], np.int64)

    @classmethod
    def emptied(cls, facts: FactList) -> "ReceivedFacts":
        """Return the fields of a list, without its facts."""
        return cls([], facts.entities, _op(facts))

    def holding(self, facts: list[Fact]) -> "ReceivedFacts":
        """Return the list with these facts, which came in chunks before it."""
        return ReceivedFacts(facts, self._entities, self._op)

    def __len__(self) -> int:
        return len(self._facts)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return ReceivedFacts(self._facts[index], self._entities, self._op)
        return self._facts[index]

    def __iter__(self) -> Iterator[Fact]:
        return iter(self._facts)

    @property
    def ids(self) -> list[str]:
        """The ids alone."""
        return [fact.id for fact in self._facts]

    @property
    def entities(self) -> list[int]:
        """The numbers of the entities that the facts of the whole answer name, ascending."""
        return self._entities

    def __repr__(self) -> str:
        return f"<FactList: {len(self)} facts after operation {self._op}>"


class ReceivedEvent(Event):
    """An `Event` from a server."""

    __slots__ = ("_values",)
    _values: dict[str, Any]

    def active_fact_count(self, moment: datetime) -> int:
        """Return how many of its facts are valid at ``moment``."""
        return sum(fact.active_at(moment) for fact in self.evidence)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and _compared(self) == _compared(other)

    def __hash__(self) -> int:
        return hash(_compared(self))


def looked_up(kind: type) -> tuple[str, ...]:
    """Return the fields that a fact or event looks up in its store: the properties of its class."""
    return tuple(name for name, each in vars(kind).items() if isinstance(each, property))


def _received(name: str) -> property:
    return property(lambda self: self._values[name])


_FACT = tuple(field.name for field in fields(Fact) if field.name != "view")
_EVENT = tuple(field.name for field in fields(Event) if field.name != "view")
for _kind in (ReceivedFact, ReceivedEvent):
    _base = _kind.__mro__[1]
    _kind.__qualname__ = _base.__qualname__  # for `repr`
    for _name in looked_up(_base):
        setattr(_kind, _name, _received(_name))


def _op(facts: FactList) -> int:
    return facts._op if isinstance(facts, ReceivedFacts) else facts.view.op


def _compared(value: Any) -> tuple[Any, ...]:
    return tuple(getattr(value, field.name) for field in fields(value) if field.compare)


def _holds(valid: Sequence[datetime | None], moment: datetime) -> bool:
    at = to_micros(moment, "moment")
    start, end = valid
    return (start is None or to_micros(start, "start") <= at) and (
        end is None or at < to_micros(end, "end")
    )


class _Recalls:
    name = "Recall"

    def fields_of(self, value: Recall) -> dict[str, Any]:
        """Return the fields; of a recall that is sent back, those that `backfill` reads."""
        back = type(value) is ReceivedRecall
        return {
            "query": value.query,
            "tokens": value.tokens,
            "token_counter": value.token_counter,
            "time_range": value.time_range,
            "trace": None if back else value.trace,
            "confidence": value.confidence,
            "signs": None if back else value.signs,
            "subgraph": None if back else value.subgraph,
            "beside": None if back else value.beside,
            "op": value.op,
            "count": len(value),
            "memories": codec.encode(value.columns()),
        }

    def build(self, values: dict[str, Any]) -> Recall:
        return ReceivedRecall(values)


class _Facts:
    name = "Fact"

    def fields_of(self, value: Fact) -> dict[str, Any]:
        return {name: getattr(value, name) for name in (*_FACT, *looked_up(Fact))}

    def build(self, values: dict[str, Any]) -> Fact:
        for name in ("valid", "recorded", "evidence", "mentions", "conflicts"):
            values[name] = tuple(values[name])
        fact = ReceivedFact(**{name: values[name] for name in _FACT}, view=cast(Any, None))
        object.__setattr__(fact, "_values", values)
        return fact


class _FactLists:
    name = "FactList"

    def fields_of(self, value: FactList) -> dict[str, Any]:
        return {"facts": list(value), "entities": value.entities, "op": _op(value)}

    def build(self, values: dict[str, Any]) -> FactList:
        return ReceivedFacts(values["facts"], values["entities"], values["op"])


class _Events:
    name = "Event"

    def __init__(self) -> None:
        hints = {field.name: field.type for field in fields(Event)}
        self._restorers: dict[str, Restorer] = {
            name: restorer for name in _EVENT if (restorer := restorer_of(hints[name])) is not None
        }

    def fields_of(self, value: Event) -> dict[str, Any]:
        return {name: getattr(value, name) for name in (*_EVENT, *looked_up(Event))}

    def build(self, values: dict[str, Any]) -> Event:
        for name, restore in self._restorers.items():
            values[name] = restore(values[name])
        event = ReceivedEvent(**{name: values[name] for name in _EVENT}, view=cast(Any, None))
        object.__setattr__(event, "_values", values)
        return event


RECORDS: Mapping[str, Any] = {
    each.name: each for each in (_Recalls(), _Facts(), _FactLists(), _Events())
}
"""Name -> how it travels."""
