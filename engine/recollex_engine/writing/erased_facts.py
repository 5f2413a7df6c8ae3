"""Which facts, events and episodes are erased with memories? Those without any other source."""

from collections.abc import Callable
from typing import Any

from recollex_engine.domain.fact_schema import OBSERVATION, PARTED_FROM, TARGETS
from recollex_engine.domain.schema import HOLE
from recollex_engine.domain.surfaces import EVENTS, FACTS, SURFACE
from recollex_engine.writing.erased_names import SurvivingNames

ENTITIES = ("upsert_entity", "merge_entity", "split_entity")

Payload = dict[str, Any]


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
        self._alive: dict[str, set[str]] = {"fact": set(), "event": set()}  # ids
        self._next = {"fact": 0, "event": 0}
        self.ids: set[tuple[str, str]] = set()  # ("fact" or "event", id) of what is erased whole
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
        self._gone_memory, self._gone_mention = gone_memory, gone_mention
        self._decide("fact", FACTS)
        self._decide("event", EVENTS[:1], EVENTS)
        self._decide("event", EVENTS[1:], EVENTS)
        self.ids -= {(what, id) for what, alive in self._alive.items() for id in alive}
        for place, (kind, payload) in enumerate(self._records):
            if place not in self._gone_records and HOLE not in self._changed(kind, payload):
                self._keep_names(payload)
        self._records = []

    def _decide(self, what: str, kinds: tuple[str, ...], all_kinds: tuple[str, ...] = ()) -> None:
        """Find the versions of ``kinds`` to erase, among those of ``all_kinds``."""
        version = -1
        for place, (kind, payload) in enumerate(self._records):
            version += kind in (all_kinds or kinds)
            if kind not in kinds:
                continue
            if HOLE not in payload and not self._loses_all(kind, payload):
                self._alive[what].add(payload["id"])
                continue
            self._gone_records.add(place)
            self._gone[what].add(version)
            self._before[what][version] = payload.get("previous")
            if HOLE not in payload:
                setattr(self._counts, f"{what}s", getattr(self._counts, f"{what}s") + 1)
                self.ids.add((what, payload["id"]))

    def _loses_all(self, kind: str, payload: Payload) -> bool:
        """Return whether all sources of a fact or event are erased; of an observation, any."""
        if self._everything:
            return True
        if kind in FACTS:
            lost = [*map(self._gone_memory, payload.get("evidence", ()))]
            lost += map(self._gone_mention, payload.get("mentions", ()))
        else:
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
        parts = ("entity", "source", "subject", "target", PARTED_FROM)
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
        what = "fact" if kind in FACTS else "event" if kind in EVENTS else None
        if what is None:
            return self._changed(kind, payload)
        version = self._next[what]
        self._next[what] += 1
        closes, previous = payload.get("closes"), payload.get("previous")
        while previous in self._gone[what]:
            previous = self._before[what][previous]
        left: Payload
        if version in self._gone[what]:
            left = {HOLE: True} | ({"by": payload["by"]} if "by" in payload else {})
        else:
            left = self._changed(kind, payload)
            left = {name: left[name] for name in left if name not in ("closes", "previous")}
        if previous is not None:
            left["previous"] = previous
        if closes is not None and closes not in self._gone[what]:
            left["closes"] = closes
        return left

    def _changed(self, kind: str, payload: Payload) -> Payload:
        """Return a record that stays, without its erased sources and edges.

        If all of a record of an entity, a link or the end of a fact is erased, only who made it is
        left.
        """
        if HOLE in payload:
            return payload
        if kind in ENTITIES:
            gone = self._everything
        elif kind == "archive_edge":
            gone = payload["closes"] in self._gone["fact"]
        elif kind == SURFACE and payload["of"] == "entity":
            gone = self._everything or not self._names.is_kept(payload["name"], payload["version"])
        elif kind == SURFACE:
            gone = payload["version"] in self._gone[payload["of"]]
        elif kind == "link":
            gone = self._everything or payload["source"] not in self._alive["event"]
            gone = gone or self._loses_edge(payload["relation"], payload["target"])
        else:
            return self._without_sources(kind, payload)
        return (
            {HOLE: True} | ({"by": payload["by"]} if "by" in payload else {}) if gone else payload
        )

    def _without_sources(self, kind: str, payload: Payload) -> Payload:
        left = payload
        if kind in FACTS:
            for name, gone in (("evidence", self._gone_memory), ("mentions", self._gone_mention)):
                if name in payload and any(map(gone, payload[name])):
                    left = left | {name: [each for each in payload[name] if not gone(each)]}
        elif kind in EVENTS:
            kept = [edge for edge in payload["edges"] if not self._loses_edge(*edge[:2])]
            if len(kept) < len(payload["edges"]):
                left = left | {"edges": kept}
        return left
