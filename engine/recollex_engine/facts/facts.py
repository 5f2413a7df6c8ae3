"""The facts that a caller sees: a `Fact` is one version of a triple in one cut."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, overload

import numpy as np

from recollex_engine.clock import from_micros, to_micros
from recollex_engine.domain.intervals import Moments, relation, to_moments
from recollex_engine.domain.literals import ENTITY, KINDS, TIME, Mention, Source, from_column
from recollex_engine.domain.trust import LEVELS
from recollex_engine.domain.zones import in_zone
from recollex_engine.facts.conflicts import conflicts_of, overlap
from recollex_engine.facts.fact_view import FactView, Ordinals
from recollex_engine.state.chain import NONE

FEW = 4
"""Up to so many ids or facts are read one by one, which takes less time than to gather them."""

Value = str | int | float | bool | datetime | Mention


@dataclass(frozen=True, slots=True)
class Conflict:
    """Another fact of the same subject and predicate that holds at the same time.

    overlap: the time for which both facts are recorded as valid; relation: Allen's relation of this
    fact's valid time to that of the other.
    """

    id: str
    object: Value
    valid: Moments
    evidence: tuple[str, ...]
    overlap: Moments
    relation: str

    def to_dict(self) -> dict[str, Any]:
        """Return the conflict as JSON values."""
        return {
            "id": self.id,
            "object": _json(self.object),
            "valid": _span(self.valid),
            "evidence": list(self.evidence),
            "overlap": _span(self.overlap),
            "relation": self.relation,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One version of a fact, as one cut sees it.

    object: an entity's name, or a literal; kind says which ("entity", "text", "number", "boolean",
    "time", "mention"). A time is in the zone in which it was said. valid: when it was true,
    [start, end), None for an open end. recorded: when the engine knew it, [start, end); the end is
    None if the cut knows no end. evidence: ids of memories.
    """

    id: str
    subject: str
    predicate: str
    object: Value
    kind: str
    valid: Moments
    recorded: tuple[datetime, datetime | None]
    evidence: tuple[str, ...]
    confidence: float
    version: int = field(repr=False)
    view: FactView = field(repr=False, compare=False)

    @property
    def source(self) -> Source | None:
        """The document from which it was taken."""
        text = self._label("fact_source")
        return None if text is None else Source.from_json(text)

    @property
    def trust(self) -> str | None:
        """The least trust of its evidence, see `Memory.trust`; None if that is unknown."""
        return LEVELS[self.view.trust(self.version)]

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """The places in documents that say it."""
        labels = self.view.numbers("fact_mention", "fact_mention_end", self.version)
        return tuple(Mention.from_json(str(self.view.columns.label(each))) for each in labels)

    @property
    def uncertainty(self) -> str | None:
        """How its valid time is known, if that was parsed from a text or is not certain."""
        return self._label("fact_uncertainty")

    @property
    def by(self) -> str | None:
        """Who recorded it."""
        return self.view.note(self.view.data("fact_op")[self.version])[0]

    @property
    def why(self) -> str | None:
        """Why it was recorded."""
        return self.view.note(self.view.data("fact_op")[self.version])[1]

    @property
    def closed_by(self) -> str | None:
        """Who closed it; None if it is open in the cut, or if no name was given."""
        return self._closed()[0]

    @property
    def closed_why(self) -> str | None:
        """Why it was closed."""
        return self._closed()[1]

    def _closed(self) -> tuple[str | None, str | None]:
        if self.recorded[1] is None:
            return None, None
        return self.view.note(self.view.data("fact_closed_by")[self.version])

    def _label(self, name: str) -> str | None:
        number = self.view.data(name)[self.version]
        return None if number == NONE else self.view.columns.label(number)

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The facts that this one contradicts in its cut, in recorded order; see `conflicts`."""
        others = conflicts_of(self.view, self.version)
        return tuple(read_conflict(self.view, self.version, other) for other in others)

    def active_at(self, moment: datetime) -> bool:
        """Return whether the valid time holds ``moment``."""
        at, view = to_micros(moment, "moment"), self.view
        start, end = view.data("fact_start")[self.version], view.data("fact_end")[self.version]
        return bool(start <= at < end)

    def to_dict(self) -> dict[str, Any]:
        """Return the fact as JSON values, times in ISO 8601."""
        return {
            "id": self.id,
            "subject": self.subject,
            "predicate": self.predicate,
            "object": _json(self.object),
            "kind": self.kind,
            "valid": _span(self.valid),
            "recorded": _span(self.recorded),
            "evidence": list(self.evidence),
            "source": None
            if self.source is None
            else {"uri": self.source.uri, "hash": self.source.hash},
            "mentions": [_json(mention) for mention in self.mentions],
            "confidence": self.confidence,
            "trust": self.trust,
            "uncertainty": self.uncertainty,
            "by": self.by,
            "why": self.why,
            "closed_by": self.closed_by,
            "closed_why": self.closed_why,
            "conflicts": [each.to_dict() for each in self.conflicts],
        }


_READ = (
    *("fact_id", "fact_subject", "fact_kind", "fact_object", "fact_predicate", "fact_zone"),
    *("fact_start", "fact_end", "fact_confidence", "fact_op", "fact_closed_by"),
)
"""The columns that a fact is made of."""


def read_fact(view: FactView, version: int, id: str | None = None) -> Fact:
    """Return one version; ``id``: its id if the caller knows it. Cost: about 7 us."""
    data = view.data
    row = [data(name)[version] for name in _READ]
    if id is None:
        id = view.columns.dictionary["fact_ids"].string(row[0])
    cited = view.numbers("fact_evidence", "fact_evidence_end", version)
    return _made(view, version, id, row, _memory_ids(view, cited))


def read_facts(view: FactView, versions: Sequence[int]) -> list[Fact]:
    """Return versions, in their order, each as `read_fact` does. Cost: about 4 us each.

    A column is read for all of them at once: the processor waits for several places together.
    """
    if len(versions) <= FEW:
        return [read_fact(view, version) for version in versions]
    held, places = view.columns.column, np.asarray(versions, np.int64)
    columns = [held[name].buffer.take(places) for name in _READ]
    ids, subjects, kinds, objects = columns[:4]
    view.read_names([*subjects.tolist(), *objects[kinds == ENTITY].tolist()])
    return [
        _made(view, *of)
        for of in zip(
            versions,
            view.columns.dictionary["fact_ids"].strings(ids),
            zip(*(column.tolist() for column in columns), strict=True),
            _evidence(view, places),
            strict=True,
        )
    ]


def _made(
    view: FactView, version: int, id: str, row: Sequence[Any], evidence: tuple[str, ...]
) -> Fact:
    """Return a version of the values of `_READ` and the ids of its evidence."""
    _, subject, kind, number, predicate, zone, start, end, confidence, op, closed = row
    name, label, at = view.entity_name, view.columns.known_label, view.data("op_recorded_at")
    if kind == ENTITY:
        object: Value = name(number)
    elif kind == TIME:
        object = in_zone(number, view.columns.label(zone))
    else:
        object = from_column(kind, number, label, name)
    recorded = from_micros(at[op - 1])
    until = from_micros(at[closed - 1]) if 0 < closed <= view.op else None
    return Fact(
        id=id,
        subject=name(subject),
        predicate=label(predicate),
        object=object,
        kind=KINDS[kind],
        valid=to_moments(start, end),
        recorded=(recorded, until),
        evidence=evidence,
        confidence=confidence,
        version=version,
        view=view,
    )


def _evidence(view: FactView, versions: Ordinals) -> list[tuple[str, ...]]:
    """Return the ids of the evidence of each version."""
    ends, cited = view.columns.column["fact_evidence_end"].buffer, view.data("fact_evidence")
    firsts = ends.take(versions - 1, mode="clip")
    firsts[versions == 0] = 0
    spans = list(zip(firsts.tolist(), ends.take(versions).tolist(), strict=True))
    memories = [memory for first, end in spans for memory in cited[first:end].tolist()]
    if not memories:
        return [()] * len(spans)
    ids = iter(_memory_ids(view, memories))
    return [tuple(islice(ids, end - first)) for first, end in spans]


def read_conflict(view: FactView, version: int, other: int) -> Conflict:
    """Return the conflict of the fact ``version`` with the fact ``other``."""
    spans = [
        (view.data("fact_start")[each], view.data("fact_end")[each]) for each in (version, other)
    ]
    fact = read_fact(view, other)
    return Conflict(
        fact.id,
        fact.object,
        fact.valid,
        fact.evidence,
        to_moments(*overlap(*spans)),
        relation(*spans),
    )


def _memory_ids(view: FactView, memories: list[int]) -> tuple[str, ...]:
    ids, dictionary = view.data("id"), view.columns.dictionary["ids"]
    if len(memories) <= FEW:
        return tuple(dictionary.string(ids[memory]) for memory in memories)
    return tuple(dictionary.strings([ids[memory] for memory in memories]))


class FactList(Sequence[Fact]):
    """Facts of one cut, in recorded order. Each is read from the columns when it is accessed.

    Threads: may be shared.
    """

    def __init__(self, view: FactView, versions: Ordinals) -> None:
        self.view = view
        self.versions = versions

    def __len__(self) -> int:
        return len(self.versions)

    @overload
    def __getitem__(self, index: int) -> Fact: ...
    @overload
    def __getitem__(self, index: slice) -> "FactList": ...
    def __getitem__(self, index: int | slice) -> "Fact | FactList":
        if isinstance(index, slice):
            return FactList(self.view, self.versions[index])
        return read_fact(self.view, int(self.versions[index]))

    def __iter__(self) -> Iterator[Fact]:
        return (read_fact(self.view, version) for version in self.versions.tolist())

    @property
    def ids(self) -> list[str]:
        """The ids; to read them costs less than to read the facts."""
        numbers = self.view.array("fact_id")[self.versions]
        return self.view.columns.dictionary["fact_ids"].strings(numbers)

    @property
    def entities(self) -> list[int]:
        """The numbers of the entities that these facts name, ascending; merged ones are one."""
        view = self.view
        kinds = view.array("fact_kind")[self.versions]
        objects = view.array("fact_object")[self.versions][kinds == 0]
        named = np.union1d(view.array("fact_subject")[self.versions], objects).astype(np.int64)
        if view.identities:
            named = np.unique(view.identities.roots(view.columns.entities)[named])
        found: list[int] = named.tolist()
        return found

    def __repr__(self) -> str:
        return f"<FactList: {len(self)} facts after operation {self.view.op}>"


def _json(value: Value) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mention):
        return {"document": value.document, "span": list(value.span), "text": value.text}
    return value


def _span(moments: Moments) -> list[str | None]:
    return [None if moment is None else moment.isoformat() for moment in moments]
