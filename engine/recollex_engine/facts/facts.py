"""The facts that a caller sees: a `Fact` is one version of a triple in one cut.

Which facts contradict each other? Two with the same subject and predicate and different objects.
Their valid times must overlap. TEMPR 2.5 demands that conflicts are shown, not resolved: both facts
stay, each with its interval and evidence. `has_attr` and `mentioned_in` may have many objects, so
their facts never conflict.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from itertools import islice
from typing import Any, overload

import numpy as np

from recollex_engine.clock import from_micros, in_zone, iso_moments, to_micros
from recollex_engine.domain.fact_schema import HAS_ATTRIBUTE, MENTIONED_IN
from recollex_engine.domain.intervals import Moments, relation, to_moments
from recollex_engine.domain.literals import ENTITY, KINDS, TIME, Mention, Source, from_column
from recollex_engine.domain.trust import LEVELS
from recollex_engine.facts.fact_view import FactView, Ordinals
from recollex_engine.state.column_set import NONE
from recollex_engine.storage.dictionary import split_strings
from recollex_kernels.memories.facts import OBJECT, SUBJECT, gather_facts

MANY_VALUED = (HAS_ATTRIBUTE, MENTIONED_IN)


def conflicts_of(view: FactView, version: int, beside: Ordinals | None = None) -> list[int]:
    """Return the visible facts that contradict a version, in recorded order.

    ``beside``: the visible facts of its subject, if the caller has them. Cost: reading these facts.
    """
    predicate = view.data("fact_predicate")[version]
    if view.columns.label(predicate) in MANY_VALUED:
        return []
    if beside is None:
        beside = view.of_subject(view.data("fact_subject")[version])
    beside = beside[view.array("fact_predicate")[beside] == predicate]
    return [other for other in beside.tolist() if _contradict(view, version, other)]


def all_conflicts(view: FactView, versions: Ordinals) -> Iterator[tuple[int, int]]:
    """Yield every pair of ``versions`` that contradict each other, the earlier recorded one first.

    Pairs are ordered by their first fact, then by their second. Cost: sorting the versions, then
    looking at the pairs of facts whose valid times overlap.
    """
    subjects = view.array("fact_subject")[versions]
    if view.identities:
        subjects = view.identities.roots(view.columns.entities)[subjects]
    predicates = view.array("fact_predicate")[versions]
    starts = view.array("fact_start")[versions]
    ends = view.array("fact_end")[versions]
    order = np.lexsort((starts, predicates, subjects))
    alike = (np.diff(subjects[order]) == 0) & (np.diff(predicates[order]) == 0)
    pairs: list[tuple[int, int]] = []
    running: list[int] = []
    # Facts of one subject and predicate are neighbours in this order.
    for place in np.flatnonzero(alike).tolist():
        one = order[place]
        other = order[place + 1]
        if not running or running[-1] != one:
            running = [int(one)]
        running = [each for each in running if ends[each] > starts[other]]
        pairs += [
            (min(first, second), max(first, second))
            for each in running
            if _contradict(view, first := int(versions[each]), second := int(versions[other]))
        ]
        running.append(int(other))
    yield from sorted(pairs)


def _contradict(view: FactView, one: int, other: int) -> bool:
    if one == other or view.columns.label(view.data("fact_predicate")[one]) in MANY_VALUED:
        return False
    start = view.data("fact_start")
    end = view.data("fact_end")
    if not (start[one] < end[other] and start[other] < end[one]):
        return False
    return _object(view, one) != _object(view, other)


def _object(view: FactView, version: int) -> tuple[int, int]:
    kind = view.data("fact_kind")[version]
    number = view.data("fact_object")[version]
    return kind, view.root(number) if kind == ENTITY else number


def overlap(one: Sequence[int], other: Sequence[int]) -> tuple[int, int]:
    """Return the interval that two overlapping intervals share.

    >>> overlap((1, 5), (3, 9))
    (3, 5)
    """
    return max(one[0], other[0]), min(one[1], other[1])


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
            "valid": iso_moments(self.valid),
            "evidence": list(self.evidence),
            "overlap": iso_moments(self.overlap),
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
        at = to_micros(moment, "moment")
        view = self.view
        start = view.data("fact_start")[self.version]
        end = view.data("fact_end")[self.version]
        return bool(start <= at < end)

    def to_dict(self) -> dict[str, Any]:
        """Return the fact as JSON values, times in ISO 8601."""
        return {
            "id": self.id,
            "subject": self.subject,
            "predicate": self.predicate,
            "object": _json(self.object),
            "kind": self.kind,
            "valid": iso_moments(self.valid),
            "recorded": iso_moments(self.recorded),
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
    "fact_id",
    "fact_subject",
    "fact_kind",
    "fact_object",
    "fact_predicate",
    "fact_zone",
    "fact_start",
    "fact_end",
    "fact_confidence",
    "fact_op",
    "fact_closed_by",
)
"""The columns that a fact is made of."""
_PREFIX = 2
"""Bytes of a label before its text."""


def read_fact(view: FactView, version: int, id: str | None = None) -> Fact:
    """Return one version; ``id``: its id if the caller knows it. Cost: about 7 us."""
    data = view.data
    at = view.data("op_recorded_at")
    key, subject, kind, number, predicate, zone, start, end, confidence, op, closed = (
        data(name)[version] for name in _READ
    )
    if id is None:
        id = view.columns.dictionary["fact_ids"].string(key)
    cited = view.numbers("fact_evidence", "fact_evidence_end", version)
    return _made(
        id,
        view.entity_name(subject),
        view.columns.known_label(predicate),
        view.entity_name(number) if kind == ENTITY else _literal(view, kind, number, zone),
        KINDS[kind],
        valid=to_moments(start, end),
        recorded=(
            from_micros(at[op - 1]),
            from_micros(at[closed - 1]) if 0 < closed <= view.op else None,
        ),
        evidence=_memory_ids(view, cited),
        confidence=confidence,
        version=version,
        view=view,
    )


def read_facts(view: FactView, versions: Sequence[int]) -> list[Fact]:
    """Return versions, in their order, each as `read_fact` does. Cost: about 3 us each.

    A kernel reads what they are made of: the processor waits for several places together.
    """
    if len(versions) <= FEW:
        return [read_fact(view, version) for version in versions]
    numbers, confidence, data, ends = gather_facts(
        np.array(versions, np.int64), view.tables.gathered, view.op, ENTITY, _PREFIX
    )
    n = len(versions)
    strings = split_strings(data.tobytes(), ends.tolist())
    subjects = strings[n : 2 * n]
    objects = strings[2 * n : 3 * n]
    cited = iter(strings[3 * n :])
    label = view.columns.known_label
    at = view.data("op_recorded_at")
    lists = numbers.tolist()
    if view.may_rename:  # else the first names hold
        named = [
            number if kind == ENTITY else subject
            for subject, kind, number in zip(*lists[: OBJECT + 1], strict=True)
        ]
        view.read_names([*lists[SUBJECT], *named])
        subjects = list(map(view.entity_name, lists[SUBJECT]))
        objects = list(map(view.entity_name, named))
    found = []
    names = zip(strings[:n], subjects, objects, strict=True)
    rows = zip(versions, names, confidence.tolist(), zip(*lists, strict=True), strict=True)
    for version, (id, subject, name), sure, row in rows:
        _, kind, number, predicate, zone, start, end, recorded, closed, count = row
        fact = _made(
            id,
            subject,
            label(predicate),
            name if kind == ENTITY else _literal(view, kind, number, zone),
            KINDS[kind],
            valid=to_moments(start, end),
            recorded=(from_micros(recorded), from_micros(at[closed - 1]) if closed else None),
            evidence=tuple(islice(cited, count)) if count else (),
            confidence=sure,
            version=version,
            view=view,
        )
        found.append(fact)
    return found


def _literal(view: FactView, kind: int, number: int, zone: int) -> Value:
    """Return the object of a fact whose kind is not an entity."""
    if kind == TIME:
        return in_zone(number, view.columns.label(zone))
    return from_column(kind, number, view.columns.known_label, view.entity_name)


def _made(
    id: str,
    subject: str,
    predicate: str,
    object_: Value,
    kind: str,
    *,
    valid: Moments,
    recorded: tuple[datetime, datetime | None],
    evidence: tuple[str, ...],
    confidence: float,
    version: int,
    view: FactView,
) -> Fact:
    """Return a fact of its fields, in half of the time that a frozen dataclass takes."""
    fact = object.__new__(Fact)
    _set_id(fact, id)
    _set_subject(fact, subject)
    _set_predicate(fact, predicate)
    _set_object(fact, object_)
    _set_kind(fact, kind)
    _set_valid(fact, valid)
    _set_recorded(fact, recorded)
    _set_evidence(fact, evidence)
    _set_confidence(fact, confidence)
    _set_version(fact, version)
    _set_view(fact, view)
    return fact


_SETTERS = [getattr(Fact, each.name).__set__ for each in fields(Fact)]
_set_id, _set_subject, _set_predicate, _set_object, _set_kind, _set_valid = _SETTERS[:6]
_set_recorded, _set_evidence, _set_confidence, _set_version, _set_view = _SETTERS[6:]


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
    ids = view.data("id")
    dictionary = view.columns.dictionary["ids"]
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
