"""What is left of each record of the log when memories are erased? A plan, made from the log alone.

An erased memory leaves the numbers of its passages, words and entities, because later records
count from them. A word stays if a memory that is not erased has it; a name stays if such a memory,
fact, event or entity may use it. A fact or event is erased with its last source. The sources of a
fact are its evidence and the documents of its mentions, those of an event its facts and mentions,
those of an episode its events. If some sources stay, the others are removed from the record. An
observation is erased with its first source. `domain.records` says of each field of a record
whether it goes with what the record is about.

What an erased memory caused goes with it, and what was before holds again: versions of facts (see
`erased_facts`), and what the comparison of facts or a later opinion did to earlier ones, which
their notes name (`supersedes`). What a model said of an erased fact goes out of the metadata of
later ones.

Two things are removed from records that stay, because they could confirm a guess at what was
erased: semantic links to erased memories, and checksums of batches of vectors with erased rows.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import orjson

from recollex_engine.domain.records import STAYS, RetainRecord
from recollex_engine.domain.schema import (
    CALLED,
    CLOSING,
    DRAWN,
    ERASE,
    FORM,
    HOLE,
    MADE_BY,
    OPINION,
    PLACEHOLDER,
    RELATIONS,
    RETAINING,
    THINK,
)
from recollex_engine.domain.settings import REEMBED
from recollex_engine.domain.surfaces import EVENTS, FACTS
from recollex_engine.log.reader import LogOperation
from recollex_engine.state.vector_batches import VectorBatch, VectorBatches
from recollex_engine.writing.erased_facts import ErasedFacts, SurvivingNames, tombstone
from recollex_engine.writing.taking_away import SUPERSEDED, names_one_of, supersedes

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Erasing:
    """What to erase.

    memories: their ordinals; every version of an id, or none. documents: the documents that they
    belong to. everything: all memories, facts, events and entities instead.
    """

    memories: frozenset[int] = frozenset()
    documents: frozenset[str] = frozenset()
    everything: bool = False


@dataclass(slots=True)
class Counts:
    """How many memories, passages, facts and events are erased; each version counts once."""

    memories: int = 0
    passages: int = 0
    facts: int = 0
    events: int = 0


@dataclass(slots=True)
class ErasedNumbers:
    """How many memories, passages, words, facts and events earlier records have made."""

    memories: int = 0
    rows: int = 0
    words: int = 0
    entities: int = 0
    facts: int = 0
    events: int = 0

    def count(self, kind: str, payload: Payload) -> None:
        """Count what a record makes."""
        for _, _, entity in payload.get("names", ()):
            self.entities += entity == self.entities
        if kind in RETAINING:
            self.memories += 1
            self.rows += payload[HOLE] if HOLE in payload else len(payload["terms"])
            self.words += len(payload.get("words", ()))
        elif kind in FACTS:
            self.facts += 1
        elif kind in EVENTS:
            self.events += 1


@dataclass(slots=True)
class _Read:
    """What `ErasurePlan.read` gathers from the records that stay."""

    ids: set[str] = field(default_factory=set)  # of erased memories
    opinions: set[int] = field(default_factory=set)  # ordinals of those that stay
    words: set[int] = field(default_factory=set)
    texts: dict[str, list[str]] = field(default_factory=dict)  # of documents with erased memories
    rows: list[tuple[int, int]] = field(default_factory=list)  # rows [first, end) to erase


class ErasurePlan:
    """The plan of one erasure: call `read` with the whole log, then `left` for each record.

    The plan is the same if some files of the log are rewritten already.
    """

    def __init__(self, erasing: Erasing) -> None:
        self.erasing = erasing
        self.counts = Counts()
        self.batches = VectorBatches()
        self.rows = np.empty((0, 2), np.int64)
        self._read = _Read()
        self._names = SurvivingNames()
        self._facts = ErasedFacts(erasing.everything, self.counts, self._names)
        self._numbers = ErasedNumbers()
        self._thoughts: set[str] = set()  # those that stay
        self._ended: dict[int, int] = {}  # memories that lose the end of their valid time
        self._opened: set[int] = set()  # memories whose archiving is erased

    def read(self, operations: Iterable[LogOperation]) -> None:
        """Read every operation of the log, in order."""
        numbers = ErasedNumbers()
        for operation in operations:
            self.batches.add(operation)
            kind = operation.kind
            payload: Any = operation.payload  # of the class of its kind in `records.RECORDS`
            if payload is None:
                continue
            self._names.meet(payload.get("names", ()))
            if kind in RETAINING:
                self._read_memory(payload, numbers)
            else:
                self._facts.read(kind, payload)
            numbers.count(kind, payload)
        self.rows = np.array(self._read.rows, np.int64).reshape(-1, 2)
        self._facts.decide(self._gone_memory, self._gone_mention)

    @property
    def ids(self) -> set[tuple[str, str]]:
        """What is erased: ("memory", "fact" or "event", its id)."""
        return {("memory", id) for id in self._read.ids} | self._facts.ids

    def _gone_memory(self, memory: int) -> bool:
        return self.erasing.everything or memory in self.erasing.memories

    def _caused(self, payload: Payload) -> bool:
        """Return whether the engine made a record because of an erased memory."""
        return names_one_of(payload, self._read.ids)

    def _gone_mention(self, mention: str) -> bool:
        """Return whether a mention quotes only what was erased."""
        document, _, _, text = orjson.loads(mention)
        if document not in self.erasing.documents:
            return self.erasing.everything
        return not any(text in said for said in self._read.texts.get(document, ()))

    def _read_memory(self, payload: RetainRecord, numbers: ErasedNumbers) -> None:
        if self._gone_memory(numbers.memories):
            count = payload[HOLE] if HOLE in payload else len(payload["terms"])
            self._read.rows.append((numbers.rows, numbers.rows + count))
            if HOLE not in payload:
                self._read.ids.add(payload["id"])
                self.counts.memories += 1
                self.counts.passages += count
            return
        if HOLE in payload:
            return
        if payload.get("network") == OPINION:
            self._read.opinions.add(numbers.memories)
        for terms in payload["terms"]:
            self._read.words.update(terms)
        if (document := payload.get("document")) in self.erasing.documents:
            self._read.texts.setdefault(str(document), []).append(payload["text"])
        self._names.name(
            payload.get("entities", ()),
            payload.get("names", ()),
            payload["text"],
            cast(str | None, payload.get("speaker")),
        )
        for called in payload.get(CALLED, ()):
            self._names.keep_called(*called)

    # -- what is left ----------------------------------------------------------------------------

    def left(self, kind: str, payload: Payload) -> Payload:
        """Return what is left of the next record's payload; all of it if nothing is erased."""
        left = self._left(kind, payload)
        if self.erasing.everything and HOLE not in left:
            stays = STAYS.get(kind, ())
            left = {name: value for name, value in left.items() if name in stays}
        return left

    def _left(self, kind: str, payload: Payload) -> Payload:
        numbers = self._numbers
        if kind in RETAINING:
            if HOLE in payload or self._gone_memory(numbers.memories):
                left = self._left_of_memory(payload)
            else:
                left = self._without_causes(self._without_links(payload))
                if "vectors" in payload:
                    left = left | {"vectors": self._sums(payload["vectors"])}
        elif kind == ERASE:
            left = {name: value for name, value in payload.items() if name != "left"}
            left["vectors"] = [self._batch(*batch) for batch in payload["vectors"]]
        elif kind == REEMBED:
            ends = [0, *(end for end, _ in payload["batches"])]
            sums = [
                [end, None if self._touched(first, end) else sha256]
                for first, (end, sha256) in zip(ends, payload["batches"], strict=False)
            ]
            left = payload | {"batches": sums}
        elif kind == "restore":
            first, end, sha256 = self._batch(payload["first"], payload["end"], payload["sha256"])
            left = payload | {"first": first, "end": end, "sha256": sha256}
        elif kind in CLOSING:
            left = self._left_of_closing(kind, payload)
        elif kind in (THINK, FORM) and HOLE not in payload:
            left = self._left_of_thought(kind, payload)
        else:
            left = self._facts.left(kind, payload)
            if HOLE in left:
                left = {name: value for name, value in left.items() if name != "names"}
                if names := self._left_names(payload):
                    left["names"] = names
        numbers.count(kind, payload)
        return left

    def _left_of_memory(self, payload: Payload) -> Payload:
        numbers = self._numbers
        used = self._read.words
        left: Payload = {HOLE: payload[HOLE] if HOLE in payload else len(payload["terms"])}
        if words := payload.get("words"):
            left["words"] = [
                word if number in used else f"{PLACEHOLDER}{number}"
                for number, word in enumerate(words, numbers.words)
            ]
        if names := self._left_names(payload):
            left["names"] = names
        if "vectors" in payload:
            left["vectors"] = self._sums(payload["vectors"])
        if "by" in payload:
            left["by"] = payload["by"]
        return left

    def _left_names(self, payload: Payload) -> list[list[Any]]:
        return self._names.left(payload.get("names", ()), self._numbers.entities)

    def _without_links(self, payload: Payload) -> Payload:
        links = payload.get("links")
        if not links or not any(self._gone_memory(target) for target, _ in links):
            return payload
        kept = [link for link in links if not self._gone_memory(link[0])]
        left = {name: value for name, value in payload.items() if name != "links"}
        return left | {"links": kept} if kept else left

    def _without_causes(self, payload: Payload) -> Payload:
        """Return the record of a memory that stays, without what erased ones caused or quote."""
        number = self._numbers.memories
        left = payload
        previous = payload.get("previous", -1)
        if previous in self._opened and "replaces" not in payload:
            left = left | {"replaces": previous}
        end = payload.get("valid_until")
        ended = bool(end is not None and self._ended.get(previous) == end)
        why = payload.get("why")
        if self._caused(payload):
            left = {name: value for name, value in left.items() if name != "why"}
            ended |= str(why).startswith(SUPERSEDED)
        if end is not None and ended:
            self._ended[number] = end
            left = {name: value for name, value in left.items() if name != "valid_until"}
        metadata = payload.get("metadata", {})
        if DRAWN in metadata and isinstance(related := metadata.get(RELATIONS), list):
            kept = [each for each in related if not self._is_erased(each)]
            if len(kept) < len(related):
                others = {name: metadata[name] for name in metadata if name != RELATIONS}
                left = left | {"metadata": others | ({RELATIONS: kept} if kept else {})}
        made_by = metadata.get(MADE_BY)
        thought = made_by.get("thought") if isinstance(made_by, dict) else None
        if why is not None and payload.get("by") == THINK and thought not in self._thoughts:
            left = {name: value for name, value in left.items() if name != "why"}
        return left

    def _is_erased(self, relation: Any) -> bool:
        return isinstance(relation, dict) and relation.get("known") in self._read.ids

    def _left_of_closing(self, kind: str, payload: Payload) -> Payload:
        memories = payload.get("memories", ())
        kept = [memory for memory in memories if not self._gone_memory(memory)]
        caused = self._caused(payload) or (
            self._read.opinions.issuperset(kept) and supersedes(payload, self._read.ids)
        )
        if kind == "archive" and caused:
            self._opened.update(kept)
            return tombstone(payload)
        if len(kept) == len(memories):
            return payload
        return payload | {"memories": kept} if kept else tombstone(payload)

    def _left_of_thought(self, kind: str, payload: Payload) -> Payload:
        """Return a thought or what says more of it, unless a memory that it was shown is erased."""
        if kind == THINK and not any(map(self._gone_memory, payload["shown"])):
            self._thoughts.add(payload["thought"])
        is_kept = payload["thought"] in self._thoughts and not self.erasing.everything
        return payload if is_kept else tombstone(payload)

    def _sums(self, said: Payload) -> Payload:
        first = self._numbers.rows
        return {
            "rows": said["rows"],
            "sha256": self._batch(first, first + said["rows"], said["sha256"])[2],
        }

    def _batch(self, first: int, end: int, sha256: str | None) -> list[Any]:
        return [first, end, None if self._touched(first, end) else sha256]

    def _touched(self, first: int, end: int) -> bool:
        """Return whether any of rows [first, end) is erased."""
        rows = self.rows
        place = int(np.searchsorted(rows[:, 1], first, "right")) if len(rows) else 0
        return place < len(rows) and int(rows[place, 0]) < end

    def touched_batches(self) -> list[VectorBatch]:
        """Return the batches in force that have erased rows, in order."""
        return [each for each in self.batches.in_force if self._touched(each.first, each.end)]
