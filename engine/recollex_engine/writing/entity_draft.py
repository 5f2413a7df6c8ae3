"""The entities of a transaction, before they are written to the log: recorded, merged, split."""

from typing import Any

from recollex_engine.domain import operations as say
from recollex_engine.domain.fact_schema import PARTED_FROM
from recollex_engine.errors import InputError
from recollex_engine.state.column_set import NONE
from recollex_engine.state.mentions import Identities
from recollex_engine.text.names import fold_name
from recollex_engine.writing.fact_staging import FactStaging
from recollex_engine.writing.name_split import NameSplit, names_of


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
