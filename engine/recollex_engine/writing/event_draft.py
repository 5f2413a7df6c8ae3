"""The entities, events, episodes and links of a transaction, before they are logged."""

from datetime import datetime
from typing import Any

from recollex_engine.clock import to_micros, zone_of
from recollex_engine.domain import operations as say
from recollex_engine.domain.fact_schema import ARCHIVED, EVENT_KINDS, PARTED_FROM, TARGETS
from recollex_engine.domain.intervals import check_interval
from recollex_engine.domain.literals import Mention
from recollex_engine.errors import InputError, UnknownIdError
from recollex_engine.state.column_set import NONE
from recollex_engine.state.mentions import Identities
from recollex_engine.text.names import fold_name
from recollex_engine.writing.fact_staging import FactStaging, edges_of, event_fields
from recollex_engine.writing.name_split import NameSplit, names_of


# The entities of a transaction, before they are written to the log: recorded, merged, split.
class EntityDraft:
    """Stages the operations on entities of one transaction, checked against recorded ones."""

    def __init__(self, staging: FactStaging) -> None:
        self._staging = staging
        self.columns = staging.columns
        self._links: list[tuple[int, int]] = []
        self._merged: list[tuple[int, int]] = []  # those of ``_links`` that a split may part
        self._parted: set[int] = set()  # the sources of recorded merges that are parted

    def upsert_entity(self, operation: say.UpsertEntity) -> None:
        """Stage a record of an entity, unless its newest record is equal."""
        names: list[tuple[str, str, int]] = []
        named = self._staging.entity(operation.name, names)
        payload: dict[str, Any] = {"entity": named}
        table = self._staging.draft.lexicon.names(self.columns)
        for alias in operation.aliases:
            known = table.get(alias)
            if known is None:
                table.add(alias, named[1])
                names.append((alias, fold_name(alias), named[1]))
            elif known != named[1]:
                raise InputError(
                    f"{alias!r} is the name of another entity already: merge it into "
                    f"{operation.name!r} with MERGE_ENTITY"
                )
        for name in ("aliases", "types"):
            if given := getattr(operation, name):
                payload[name] = list(given)
        if names:
            payload["names"] = names
        elif self._says_nothing_new(payload):
            return
        self._staging.record("upsert_entity", payload)

    def _says_nothing_new(self, payload: dict[str, Any]) -> bool:
        """Return whether the newest record of an entity is equal."""
        if any(
            kind == "upsert_entity" and said["entity"][1] == payload["entity"][1]
            for kind, said in self._staging.draft.operations
        ):
            return False
        columns = self.columns
        entry = columns.facts.head("node_entity", payload["entity"][1])
        if entry == NONE:
            return False
        labels = self._labels(entry)
        said = [*(f"n:{each}" for each in payload.get("types", ()))]
        said += [f"a:{each}" for each in payload.get("aliases", ())]
        name = columns.dictionary["labels"].string(int(columns.array("node_name")[entry]))
        return (
            columns.dictionary["labels"].strings(labels) == said
            and name == f"e:{payload['entity'][0]}"
        )

    def merge_entity(self, operation: say.MergeEntity) -> None:
        """Stage that two entities are one, unless they are already."""
        source = self._staging.known_entity(operation.source)
        target = self._staging.known_entity(operation.target)
        if self._identities().is_new(source, target, (operation.source, operation.target)):
            self._links.append((source, target))
            self._merged.append((source, target))
            self._staging.record(
                "merge_entity",
                {"source": [operation.source, source], "target": [operation.target, target]},
            )

    def split_entity(self, operation: say.SplitEntity) -> None:
        """Stage that an entity that was merged is one of its own again."""
        name = operation.source if operation.name is None else operation.name
        source = self._staging.known_entity(operation.source)
        if operation.name is not None:
            source = self._staging.known_entity(name)
        merges = self.columns.facts.merges(self.columns.op)
        recorded = any(each[1] == source and each[3] is None for each in merges)
        staged = [link for link in self._merged if link[0] == source]
        if (not recorded or source in self._parted) and not staged:
            members = self._identities().members(self._identities().root(source))
            own = fold_name(self.columns.entity_name(source))
            names = [each for each in names_of(self.columns, members) if fold_name(each) != own]
            hint = f": split {' or '.join(map(repr, names))} from it" if names else ""
            raise InputError(f"{name!r} was not merged into another entity{hint}")
        if recorded:
            self._parted.add(source)
        for link in staged:
            self._links.remove(link)
            self._merged.remove(link)
        self._staging.record("split_entity", {"source": [name, source]})

    def split_name(self, split: NameSplit) -> list[Any]:
        """Stage that a name is an entity of its own; return [name, number] of that.

        What it takes with it is staged after this. Raises `InputError` if the transaction has named
        the entity already.
        """
        draft = self._staging.draft
        columns = self.columns
        before = {kind for kind, _ in draft.operations} - {"merge_entity", "split_entity"}
        if before:
            raise InputError(
                f"split the name {split.name!r} in a transaction of its own, or before the other "
                "operations of the transaction"
            )
        entity = draft.entities
        draft.entities += 1
        draft.lexicon.names(columns).part(split.name, entity)
        named = [split.name, entity]
        called = [columns.entity_name(split.entity), split.entity]
        names = [(split.name, fold_name(split.name), entity)]
        payload = {"source": named, PARTED_FROM: called, "names": names}
        self._staging.record("split_entity", payload)
        records = [self._said(entry) for entry in split.records]
        if not (records or split.memories or split.facts or split.events):
            records = [{}]  # an alias that nothing else says
        for said in records:
            self._staging.record("upsert_entity", {"entity": named, **said})
        return named

    def _said(self, entry: int) -> dict[str, list[str]]:
        """Return the types and aliases of a recorded entry."""
        strings = self.columns.dictionary["labels"].strings(self._labels(entry))
        found = {
            "aliases": [each[2:] for each in strings if each[0] == "a"],
            "types": [each[2:] for each in strings if each[0] == "n"],
        }
        return {name: said for name, said in found.items() if said}

    def _labels(self, entry: int) -> list[int]:
        ends = self.columns.array("node_label_end")
        first = int(ends[entry - 1]) if entry else 0
        found: list[int] = self.columns.array("node_label")[first : int(ends[entry])].tolist()
        return found

    def alias(self, subject: list[Any], target: list[Any]) -> None:
        """Stage that a fact makes two entities, [name, number] each, one."""
        self._identities().is_new(subject[1], target[1], (subject[0], target[0]))
        self._links.append((subject[1], target[1]))

    def _identities(self) -> Identities:
        """Return which entities are the same, with the merges of this transaction."""
        state = self.columns.facts
        if not self._links and not self._parted:
            return state.identities(self.columns.op)
        return Identities([*state.links(self.columns.op, self._parted), *self._links])


Edges = list[tuple[str, Any, str | None]]


class EventDraft:
    """Stages the events, episodes and links of one transaction, checked against recorded ones."""

    def __init__(self, staging: FactStaging) -> None:
        self._staging = staging
        self.columns = staging.columns
        self._versions = self.columns.column["event_id"].count
        self._staged: dict[str, tuple[str, int, dict[str, Any]]] = {}  # kind, version, content
        self._links: set[tuple[Any, ...]] = set()

    def is_staged(self, id: str) -> bool:
        """Return whether this transaction records an event or an episode with this id."""
        return id in self._staged

    def upsert_event(self, operation: say.UpsertEvent) -> None:
        """Stage an event, unless it is equal to its newest version."""
        names: list[tuple[str, str, int]] = []
        edges: Edges = []
        for id in operation.facts:
            if self._staging.fact(id) is None:
                raise UnknownIdError(id, self._staging.agent, "fact")
            edges.append(("includes_fact", id, None))
        for name, role in operation.participants:
            edges.append(("has_participant", self._staging.entity(name, names), role))
        for time in operation.times:
            kind = "has_time_text" if isinstance(time, str) else "has_time"
            edges.append((kind, _target(time), None))
        edges += [("mentioned_in", mention.to_json(), None) for mention in operation.mentions]
        content = {
            "summary": operation.summary,
            "span": list(check_interval(operation.start, operation.end, "time_span")),
            "status": operation.status,
            "edges": _unique(edges),
        }
        self._open("event", operation.id, content, names)

    def upsert_episode(self, operation: say.UpsertEpisode) -> None:
        """Stage an episode over existing events."""
        for id in operation.events:
            self._check_event(id)
        content = {
            "summary": operation.title,
            "span": list(check_interval(operation.start, operation.end, "window")),
            "status": "",
            "edges": _unique([("aggregates", id, None) for id in operation.events]),
        }
        self._open("episode", operation.id, content, [])

    def restore(self, kind: str, id: str, content: dict[str, Any] | None) -> None:
        """Stage an event or episode as it was; one that was not there becomes archived."""
        if content is None:
            found = self._found(id)
            assert found is not None
            content = self._named(found[2]) | {"status": ARCHIVED}
        self._open(kind, id, content, [])

    def rename(self, id: str, entity: int, named: list[Any]) -> None:
        """Stage an event in which ``named``, [name, number], takes the part of an entity."""
        found = self._found(id)
        assert found is not None
        kind, _, content = found
        content = self._named(content)
        edges = [
            (relation, named if _is_entity(target, entity) else target, qualifier)
            for relation, target, qualifier in content["edges"]
        ]
        self._open(kind, id, content | {"edges": edges}, [])

    def link(self, operation: say.Link) -> None:
        """Stage an edge between existing things, unless the edge exists already."""
        self._check_event(operation.source)
        names: list[tuple[str, str, int]] = []
        target: Any = _target(operation.target)
        if operation.relation == "has_participant":
            target = self._staging.entity(str(target), names)
        elif operation.relation == "mentioned_in":
            assert isinstance(operation.target, Mention)
            target = operation.target.to_json()
        elif operation.relation in TARGETS:
            self._check_event(target)
        plain = target[1] if operation.relation == "has_participant" else target
        edge = (operation.source, operation.relation, plain, operation.qualifier)
        if edge in self._links or edge[1:] in self._recorded_links(operation.source):
            return
        self._links.add(edge)
        payload: dict[str, Any] = {
            "source": operation.source,
            "relation": operation.relation,
            "target": target,
        }
        if operation.qualifier is not None:
            payload["qualifier"] = operation.qualifier
        if names:
            payload["names"] = names
        self._staging.record("link", payload)

    def _recorded_links(self, id: str) -> Edges:
        key = self.columns.dictionary["event_ids"].get(id)
        return [] if key is None else edges_of(self.columns, key, NONE)

    def _check_event(self, id: str) -> None:
        kind = self._staged[id][0] if id in self._staged else self._event_kind(id)
        if kind is None:
            raise UnknownIdError(id, self._staging.agent, "event")
        if kind != "event":
            raise InputError(f"{id!r} is an episode: give the id of an event")

    def _event_kind(self, id: str) -> str | None:
        """Return whether this is the id of an "event" or an "episode"; None for neither."""
        key = self.columns.dictionary["event_ids"].get(id)
        version = NONE if key is None else self.columns.facts.newest("event", key)
        if version == NONE:
            return None
        return EVENT_KINDS[int(self.columns.array("event_kind")[version])]

    def _open(
        self, kind: str, id: str, content: dict[str, Any], names: list[tuple[str, str, int]]
    ) -> None:
        found = self._found(id)
        payload = {"id": id, **content}
        if found is not None:
            kind_there, version, said = found
            if kind_there != kind:
                raise InputError(f"{id!r} is the id of an {kind_there} already, not of an {kind}")
            if _plain(said) == _plain(content):
                return
            payload["previous"] = payload["closes"] = version
        if not content["status"]:
            del payload["status"]
        if names:
            payload["names"] = names
        self._staged[id] = kind, self._versions, content
        self._versions += 1
        self._staging.record(f"upsert_{kind}", payload)

    def _found(self, id: str) -> tuple[str, int, dict[str, Any]] | None:
        """Return kind, version and content of the event or episode with this id."""
        if id in self._staged:
            return self._staged[id]
        columns = self.columns
        key = columns.dictionary["event_ids"].get(id)
        version = NONE if key is None else columns.facts.newest("event", key)
        if key is None or version == NONE:
            return None
        content = event_fields(columns, version) | {"edges": edges_of(columns, key, version)}
        return EVENT_KINDS[int(columns.array("event_kind")[version])], version, content

    def _named(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return a content with the names of its entities."""
        edges = [
            (relation, [self.columns.entity_name(target), target], qualifier)
            if relation == "has_participant" and isinstance(target, int)
            else (relation, target, qualifier)
            for relation, target, qualifier in content["edges"]
        ]
        return content | {"edges": edges}


def _unique(edges: Edges) -> Edges:
    """Return the edges without repetitions."""
    found: dict[tuple[Any, ...], tuple[str, Any, str | None]] = {}
    for relation, target, qualifier in edges:
        plain = target[1] if relation == "has_participant" else target
        found.setdefault((relation, plain, qualifier), (relation, target, qualifier))
    return list(found.values())


def _plain(content: dict[str, Any]) -> dict[str, Any]:
    """Return a content in which entities are numbers."""
    edges = [
        (relation, target[1] if isinstance(target, list) else target, qualifier)
        for relation, target, qualifier in content["edges"]
    ]
    return content | {"edges": edges}


def _is_entity(target: Any, entity: int) -> bool:
    return isinstance(target, list) and target[1] == entity


def _target(value: Any) -> Any:
    """Return the target of an edge as the log holds it: a time in a zone as (micros, zone)."""
    return (to_micros(value, "time"), zone_of(value)) if isinstance(value, datetime) else value
