"""Which facts, events and episodes are erased with memories? Those without any other source.

A version of a fact is a change of the one before it, made on the evidence that it adds. So a
version goes with all that it added, what it changed goes with it out of later versions, and the
version before holds again.

Which names of entities stay when memories are erased? Those that something else uses.
A record names its entities by number; only the first use of a name is written out. So a name that
an erased record wrote out stays if a later memory that is not erased may have used it. That is so
if the name is in the text, or is the speaker. It is also so if no known name of the entity is
there, because then the caller must have given it.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from recollex_engine.clock import OPEN_END
from recollex_engine.domain.fact_schema import OBSERVATION, PARTED_FROM, TARGETS
from recollex_engine.domain.intervals import OPEN_START
from recollex_engine.domain.schema import HOLE, PLACEHOLDER
from recollex_engine.domain.surfaces import EVENTS, FACTS, PHRASES, SURFACE
from recollex_engine.text.names import fold_name, fold_text
from recollex_engine.writing.taking_away import EXTRACTION

Name = Sequence[Any]
"""[name, its normal form, entity], as in a log record."""


class SurvivingNames:
    """The names that stay, gathered from the records that stay, in the order of the log."""

    def __init__(self) -> None:
        self._known: dict[int, list[tuple[str, str]]] = {}
        self._kept: set[tuple[str, int]] = set()

    def meet(self, names: Iterable[Name]) -> None:
        """Read the new names of the next record, whether it stays or not."""
        for surface, folded, entity in names:
            self._known.setdefault(entity, []).append((surface, folded))

    def keep(self, names: Iterable[Name]) -> None:
        """Keep the new names of a record that stays."""
        self._kept.update((folded, entity) for _, folded, entity in names)

    def keep_called(self, surface: str, entity: int) -> None:
        """Keep a name that is written out by a record that stays."""
        self._kept.add((fold_name(surface), entity))

    def is_kept(self, surface: str, entity: int) -> bool:
        """Return whether a name of an entity stays; only after all records were read."""
        return (fold_name(surface), entity) in self._kept

    def called(self, surface: str, entity: int) -> str | None:
        """Return a name of an entity that stays, this one if it does; None if there is none."""
        if self.is_kept(surface, entity):
            return surface
        known = self._known.get(entity, ())
        return next((name for name, folded in known if (folded, entity) in self._kept), None)

    def name(
        self, entities: Iterable[int], names: Iterable[Name], text: str, speaker: str | None
    ) -> None:
        """Keep the names by which a memory that stays may call its ``entities``.

        ``names``: those that it writes out; `meet` has read them.
        """
        self.keep(names)
        own = {entity for _, _, entity in names}
        said: str | None = None
        for entity in entities:
            if entity in own:
                continue
            known = [folded for _, folded in self._known.get(entity, ())]
            if all((folded, entity) in self._kept for folded in known):
                continue
            if len(known) > 1:
                if said is None:
                    said = fold_text(f"{speaker or ''} {text}")
                known = [folded for folded in known if folded in said] or known
            self._kept.update((folded, entity) for folded in known)

    def left(self, names: Iterable[Name], entities: int) -> list[list[Any]]:
        """Return what is left of the names of an erased record.

        ``entities``: how many there were before it. A new entity keeps its number: it gets another
        name that stays, or a placeholder.
        """
        found = []
        for surface, folded, entity in names:
            is_new = entity == entities
            entities += is_new
            if (folded, entity) in self._kept:
                found.append([surface, folded, entity])
            elif is_new:
                found.append([*self._other(entity), entity])
        return found

    def _other(self, entity: int) -> tuple[str, str]:
        for surface, folded in self._known[entity]:
            if (folded, entity) in self._kept:
                return surface, folded
        return (f"{PLACEHOLDER}{entity}",) * 2


_COUNTED = re.compile(r"(\w+ \d{4}): [\d,]+ events\b.*", re.DOTALL)
"""The title of an episode that counts its events, and the participants whom some of them named."""
ENTITIES = ("upsert_entity", "merge_entity", "split_entity")

Payload = dict[str, Any]
Sources = frozenset[tuple[str, Any]]
"""("evidence", a memory) and ("mentions", a mention)."""


@dataclass(frozen=True, slots=True)
class _Stated:
    """A value of a field of a fact, and the sources that say it; none if the caller alone does.

    drawn: a model has drawn it from all of them together, so it goes with any.
    """

    value: Any
    sources: Sources
    drawn: bool = False


_Fields = dict[str, list[_Stated]]
"""What a version states in each of its fields, the earlier values first."""


def _values(payload: Payload) -> Payload:
    """Return the fields of a fact that a version may change, beside its sources."""
    start, end = payload["valid"]
    return {
        "object": (payload["object"], payload.get("zone")),
        "start": start,
        "end": end,
        **{name: payload.get(name) for name in ("source", "confidence", "uncertainty")},
    }


_UNKNOWN: Payload = {
    **{"start": OPEN_START, "end": OPEN_END},
    **dict.fromkeys(("source", "confidence", "uncertainty")),
}
"""What a field says if all that said something else is erased; an object says nothing then."""


def _with_values(payload: Payload, values: Payload) -> Payload:
    """Return the record of a fact with other values, without the surface of what it said."""
    left = {name: payload[name] for name in payload if name not in ("zone", SURFACE)}
    said, zone = values.pop("object")
    left["valid"] = [values.pop("start"), values.pop("end")]
    left["object"] = said
    for name, value in (values | {"zone": zone}).items():
        left.pop(name, None)
        if value is not None:
            left[name] = value
    return left


class ErasedFacts:
    """The versions of facts and events that an erasure removes; see `erasure_plan`.

    `decide` adds to ``counts``, and gives ``names`` the names that stay.
    """

    def __init__(self, everything: bool, counts: Any, names: SurvivingNames) -> None:
        self._everything = everything
        self._counts = counts
        self._names = names
        self._records: list[tuple[str, Payload]] = []
        self._gone_records: set[int] = set()  # places in `_records`
        self._gone: dict[str, set[int]] = {"fact": set(), "event": set()}  # versions
        self._before: dict[str, dict[int, int | None]] = {"fact": {}, "event": {}}
        self._open: dict[str, dict[str, int]] = {"fact": {}, "event": {}}  # by id, in what is left
        self._id_of: dict[str, dict[int, str]] = {"fact": {}, "event": {}}
        self._alive: dict[str, set[str]] = {"fact": set(), "event": set()}  # ids
        self._next = {"fact": 0, "event": 0}
        self.ids: set[tuple[str, str]] = set()  # ("fact" or "event", id) of what is erased whole
        self._changed_values: dict[int, Payload] = {}  # of versions of facts that stay
        self._resaid: dict[str, set[int]] = {"fact": set(), "event": set()}  # versions
        self._gone_memory: Callable[[int], bool] = lambda memory: False
        self._gone_mention: Callable[[str], bool] = lambda mention: False

    def read(self, kind: str, payload: Payload) -> None:
        """Read a record of the log that retains no memory."""
        if kind in (*FACTS, *EVENTS, *ENTITIES, "link"):
            self._records.append((kind, payload))

    def decide(
        self, gone_memory: Callable[[int], bool], gone_mention: Callable[[str], bool]
    ) -> None:
        """Decide about every record that was read."""
        self._gone_memory = gone_memory
        self._gone_mention = gone_mention
        self._decide_facts()
        self._decide("event", EVENTS[:1], EVENTS)
        self._decide("event", EVENTS[1:], EVENTS)
        self.ids -= {(what, id) for what, alive in self._alive.items() for id in alive}
        version = -1
        for place, (kind, payload) in enumerate(self._records):
            version += kind in FACTS
            if place in self._gone_records or kind in ENTITIES[1:]:
                continue
            left = self._changed(kind, payload)
            if kind in FACTS and version in self._changed_values:
                left = _with_values(left, dict(self._changed_values[version]))
            if HOLE not in left:
                self._keep_names(left)
        self._records = []

    def _decide_facts(self) -> None:
        """Find the versions of facts to erase, and what the others say without them."""
        fields: dict[int, tuple[_Fields, Sources]] = {}
        records = [
            (place, kind, payload)
            for place, (kind, payload) in enumerate(self._records)
            if kind in FACTS
        ]
        for version, (place, kind, payload) in enumerate(records):
            if HOLE in payload:
                self._take("fact", version, place, payload)
                continue
            sources = self._sources(payload)
            stated = self._begun(payload)
            new = sources
            before = payload.get("previous")
            if kind == "retro_correct" and before is not None:
                if before in fields:
                    stated, new = self._after(*fields[before], payload, sources)
                elif HOLE not in (earlier := records[before][2]):
                    whole = self._sources(earlier)
                    stated, new = self._after(self._begun(earlier), whole, payload, sources)
                fields[version] = stated, sources
            gone = self._everything or self._is_lost(sources) or self._is_lost(new)
            left = None if gone else self._left_values(stated)
            if left is None:
                self._take("fact", version, place, payload)
                continue
            if left != {name: said[-1].value for name, said in stated.items()}:
                self._changed_values[version] = left
            self._alive["fact"].add(payload["id"])

    def _begun(self, payload: Payload) -> _Fields:
        """Return what a version states that follows no other."""
        sources = self._sources(payload)
        drawn = payload.get("by") == EXTRACTION
        return {name: [_Stated(said, sources, drawn)] for name, said in _values(payload).items()}

    def _after(
        self, fields: _Fields, before: Sources, payload: Payload, sources: Sources
    ) -> tuple[_Fields, Sources]:
        """Return what a correction states after a version with ``fields``, and what it adds.

        A correction that changes nothing but the sources says the same again.
        """
        new = sources - before
        values = _values(payload)
        again = all(values[name] == said[-1].value for name, said in fields.items())
        stated: _Fields = {}
        for name, said in fields.items():
            last = said[-1]
            if again and last.sources:
                more = last.sources if last.drawn else last.sources | new
                stated[name] = [*said[:-1], _Stated(last.value, more, last.drawn)]
            elif values[name] == last.value:
                stated[name] = said
            else:
                stated[name] = [*said, _Stated(values[name], new or sources)]
        return stated, new

    def _left_values(self, stated: _Fields) -> Payload | None:
        """Return the last values that something left says; None if there is no object."""
        left = dict(_UNKNOWN)
        for name, said in stated.items():
            kept = [each.value for each in said if not self._is_lost(each.sources, each.drawn)]
            if kept:
                left[name] = kept[-1]
        return left if "object" in left else None

    def _sources(self, payload: Payload) -> Sources:
        return frozenset(
            (name, each) for name in ("evidence", "mentions") for each in payload.get(name, ())
        )

    def _is_lost(self, sources: Sources, drawn: bool = False) -> bool:
        """Return whether there are sources, and all of them are erased; for what is drawn, any."""
        lost = (
            self._gone_memory(each) if name == "evidence" else self._gone_mention(each)
            for name, each in sources
        )
        return any(lost) if drawn else bool(sources) and all(lost)

    def _take(self, what: str, version: int, place: int, payload: Payload) -> None:
        """Erase a version."""
        self._gone_records.add(place)
        self._gone[what].add(version)
        self._before[what][version] = payload.get("previous")
        if HOLE not in payload:
            setattr(self._counts, f"{what}s", getattr(self._counts, f"{what}s") + 1)
            self.ids.add((what, payload["id"]))

    def _decide(self, what: str, kinds: tuple[str, ...], all_kinds: tuple[str, ...]) -> None:
        """Find the versions of ``kinds`` to erase, among those of ``all_kinds``."""
        version = -1
        for place, (kind, payload) in enumerate(self._records):
            version += kind in all_kinds
            if kind not in kinds:
                continue
            if HOLE in payload or self._everything or self._loses_all(payload):
                self._take(what, version, place, payload)
            else:
                self._alive[what].add(payload["id"])

    def _loses_all(self, payload: Payload) -> bool:
        """Return whether all sources of an event are erased; of an observation, any source."""
        sources = ("includes_fact", "mentioned_in", "aggregates")
        lost = [self._loses_edge(*edge[:2]) for edge in payload["edges"] if edge[0] in sources]
        if payload.get("status") == OBSERVATION:
            return any(lost)
        return bool(lost) and all(lost)

    def _loses_edge(self, relation: str, target: Any) -> bool:
        if relation == "mentioned_in":
            return self._gone_mention(target)
        what = TARGETS.get(relation)
        return what in self._alive and target not in self._alive[what]

    def _keep_names(self, payload: Payload) -> None:
        self._names.keep(payload.get("names", ()))
        parts = ("entity", "subject", "target")
        called = [payload.get(name) for name in parts]
        called.append(payload.get("object", {}).get("entity"))
        called += [target for _, target, _ in payload.get("edges", ())]
        called += [[alias, payload["entity"][1]] for alias in payload.get("aliases", ())]
        for each in called:
            if isinstance(each, list):
                self._names.keep_called(*each)

    # -- what is left ----------------------------------------------------------------------------

    def left(self, kind: str, payload: Payload) -> Payload:
        """Return what is left of the next record, in order, without the names of an erased one."""
        if kind == "archive_edge" and HOLE not in payload:
            closes = self._closed_now("fact", payload["closes"], False)
            return tombstone(payload) if closes is None else payload | {"closes": closes}
        what = "fact" if kind in FACTS else "event" if kind in EVENTS else None
        if what is None:
            return self._changed(kind, payload)
        version = self._next[what]
        self._next[what] += 1
        previous = payload.get("previous")
        closes = payload.get("closes")
        while previous in self._gone[what]:
            previous = self._before[what][previous]
        left: Payload
        if version in self._gone[what]:
            left = tombstone(payload)
            closes = self._closed_now(what, closes, HOLE not in payload)
        else:
            left = self._changed(kind, payload)
            resaid = left.get("summary") != payload.get("summary")
            if what == "fact" and version in self._changed_values:
                left = _with_values(left, dict(self._changed_values[version]))
                resaid = True
            if resaid:
                self._resaid[what].add(version)
            left = {name: left[name] for name in left if name not in ("closes", "previous")}
            closes = self._open[what].get(payload["id"])
            self._open[what][payload["id"]] = version
            self._id_of[what][version] = payload["id"]
        if previous is not None:
            left["previous"] = previous
        if closes is not None:
            left["closes"] = closes
        return left

    def _closed_now(self, what: str, version: int | None, undone: bool) -> int | None:
        """Return the version that a record closes in what is left; None if none.

        ``undone``: the record is erased with what caused it, so the version before holds again.
        """
        while version in self._gone[what]:
            version = self._before[what][version]
        if version is None or undone:
            return None
        return self._open[what].pop(self._id_of[what][version], None)

    def _changed(self, kind: str, payload: Payload) -> Payload:
        """Return a record that stays, without its erased sources and edges.

        If all of a record of an entity or a link is erased, only who made it is left.
        """
        if HOLE in payload:
            return payload
        if kind == "upsert_entity":
            gone = self._everything
        elif kind in ENTITIES:
            return self._left_of_merge(payload)
        elif kind == SURFACE and payload["of"] == "entity":
            gone = self._everything or not self._names.is_kept(payload["name"], payload["version"])
        elif kind == SURFACE:
            gone = payload["version"] in self._gone[payload["of"]] | self._resaid[payload["of"]]
        elif kind == "link":
            gone = self._everything or payload["source"] not in self._alive["event"]
            gone = gone or self._loses_edge(payload["relation"], payload["target"])
        else:
            return self._without_sources(kind, payload)
        if gone:
            return tombstone(payload)
        return self._without_synonyms(payload) if kind == SURFACE else payload

    def _without_synonyms(self, phrase: Payload) -> Payload:
        """Return the surface of a name without its likeness to names that are erased."""
        given = phrase.get("synonyms", ())
        kept = [each for each in given if self._names.called("", each[0]) is not None]
        if len(kept) == len(given):
            return phrase
        return {name: phrase[name] for name in phrase if name != "synonyms"} | (
            {"synonyms": kept} if kept else {}
        )

    def _left_of_merge(self, payload: Payload) -> Payload:
        """Return a merge or split if something else names its entities, by names that stay."""
        left = payload
        for name in ("source", "target", PARTED_FROM):
            if name in payload:
                called = self._names.called(*payload[name])
                if self._everything or called is None:
                    return tombstone(payload)
                left = left | {name: [called, payload[name][1]]}
        return left

    def _without_sources(self, kind: str, payload: Payload) -> Payload:
        left = payload
        if kind in FACTS:
            for name, gone in (("evidence", self._gone_memory), ("mentions", self._gone_mention)):
                if name in payload and any(map(gone, payload[name])):
                    left = left | {name: [each for each in payload[name] if not gone(each)]}
            if PHRASES in payload:
                left = left | {PHRASES: [*map(self._without_synonyms, payload[PHRASES])]}
        elif kind in EVENTS:
            kept = [edge for edge in payload["edges"] if not self._loses_edge(*edge[:2])]
            if len(kept) < len(payload["edges"]):
                left = left | {"edges": kept}
                if counted := _COUNTED.fullmatch(payload["summary"]):
                    left = {name: left[name] for name in left if name != SURFACE}
                    left["summary"] = counted[1]
        return left


def tombstone(payload: Payload) -> Payload:
    """Return what is left of a record that is erased: who made it."""
    return {HOLE: True} | ({"by": payload["by"]} if "by" in payload else {})
