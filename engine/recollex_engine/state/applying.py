"""How do operations become columns? `apply` is the only code that appends to columns.

The writer's own transactions, those that a reader follows, and those of a rebuild all pass through
`apply`, so all three produce the same bytes.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import orjson

from recollex_engine.clock import OPEN_END
from recollex_engine.domain import records
from recollex_engine.domain.fact_schema import PARTED_FROM
from recollex_engine.domain.fields import LABELS
from recollex_engine.domain.schema import (
    CLOSING,
    HOLE,
    LISTS,
    MEMORY,
    NONE,
    OP,
    PLACEHOLDER,
    RETAINING,
    ROW,
    STOP_WORD,
    metadata_label,
)
from recollex_engine.domain.settings import REEMBED, settings_of
from recollex_engine.domain.trust import own_trust, role_of_speaker, trust_number
from recollex_engine.log.reader import LogOperation
from recollex_engine.state.column_set import check_below, check_earlier
from recollex_engine.state.columns import Columns, ReadRows
from recollex_engine.state.fact_applying import KINDS, StagedFacts
from recollex_engine.state.word_pieces import VOCABULARY, decode_pieces
from recollex_engine.storage.dictionary import BatchInterner

MOST_PASSAGES = 1 << 20
"""More than a text can have."""
_LABELLED = tuple((field.key, f"{field.prefix}:") for field in LABELS)
_OFFSETS = [(name, f"{name}_offset") for name in (*LISTS, "term")]
_OF_MEMORY = (*MEMORY, *(f"{name}_offset" for name in LISTS))
_OF_ROW = tuple(ROW)[1:]
_OF_OP = tuple(OP)


def apply(
    columns: Columns, operations: Iterable[LogOperation], rows: ReadRows, *, check: bool = True
) -> None:
    """Append the items of ``operations``; ``rows`` gives the vectors of new and older passages.

    Kernels trust the numbers in columns. ``check`` raises `ValueError` for one that names nothing;
    a writer, which has made its operations itself, does without.
    """
    staged = _Staged(columns)
    for operation in operations:
        staged.add(operation)
    if check:
        staged.check()
    staged.finish(rows)


class _Staged:
    """The items that a run of operations adds, gathered in lists and appended together."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.labels = BatchInterner(columns.dictionary["labels"])
        self.folded = BatchInterner(columns.dictionary["names"])
        self.memory: list[tuple[int, ...]] = []  # in the order of MEMORY, then the lists' ends
        self.row: list[tuple[int, ...]] = []
        self.op: list[tuple[int, ...]] = []
        self.flat: dict[str, list[Any]] = {
            name: [] for name in ("label", "mention", "mention_of", "link", "link_of", "weight")
        }
        self.term: list[int] = []
        self.piece: list[bytes] = []
        self.piece_rows: list[int] = []
        self.vocabularies: list[tuple[int, int]] = []
        self.first_rows: list[int] = []
        self.names: list[int] = []
        self.name_entity: list[int] = []
        self.name_op: list[int] = []
        self.parted: list[tuple[int, int, int]] = []
        self.text: list[bytes] = []
        self.metadata: list[bytes] = []
        self.words: list[str] = []
        self.ids: list[str] = []
        self.known_ids = columns.dictionary["ids"].count
        self.first_memory = self.memories = columns.memories
        self.first_row = self.rows = columns.rows
        self.entities = columns.entities
        self.folded_names = columns.column["name_entity"].count
        self.length: int = columns.column["op_length"].last if columns.op else 0
        self.at: dict[str, int] = {name: columns.column[offset].last for name, offset in _OFFSETS}
        self.closed: list[tuple[int, int]] = []
        self.facts = StagedFacts(columns, self.labels)

    def add(self, operation: LogOperation) -> None:
        """Gather the items of one operation."""
        payload: Any = operation.payload  # of the class of its kind in `records.RECORDS`
        kind = operation.kind
        by = why = NONE
        labels = self.labels
        if payload is not None:
            if HOLE in payload:
                self._tombstone(operation, payload)
            elif kind in RETAINING:
                self._retain(operation.op, payload)
            elif kind in KINDS:
                if names := payload.get("names"):
                    self._name(names, operation.op)
                    if PARTED_FROM in payload:
                        self._part_names(names, operation.op)
                self.facts.add(operation.op, kind, payload)
            elif (settings := settings_of(kind, payload)) is not None:
                self.columns.settings = settings
                if kind == REEMBED:
                    self.facts.surfaces.forget()
            elif kind in CLOSING:
                self.closed.extend((memory, operation.op) for memory in payload["memories"])
            elif kind == VOCABULARY:
                self.vocabularies.append((labels[f"v:{payload['name']}"], self.rows))
            if typed := payload.get("typed"):
                self.facts.type_entities(operation.op, typed)
            if (who := payload.get("by")) is not None:
                by = labels[f"b:{who}"]
            if (reason := payload.get("why")) is not None:
                why = labels[f"y:{reason}"]
        at = operation.recorded_at
        kinds = labels[f"k:{kind}"]
        self.op.append((at, self.memories, self.rows, self.length, kinds, by, why))

    def _retain(self, op: int, payload: records.RetainRecord) -> None:
        columns = self.columns
        at = self.at
        memory = self.memories
        self.memories += 1
        previous = payload.get("previous", NONE)
        if previous == NONE:
            key = self.known_ids + len(self.ids)
            self.ids.append(payload["id"])
        elif previous >= self.first_memory:
            key = self.memory[previous - self.first_memory][0]
        else:
            key = int(columns.array("id")[previous])
        if (replaces := payload.get("replaces")) is not None:
            self.closed.append((replaces, op))
        said = payload["said"]
        start, end = payload.get("event") or (said, said + 1)
        text = payload["text"].encode()
        self.text.append(text)
        at["text"] += len(text)
        labels = self.labels
        told: Mapping[str, Any] = payload
        labelled = [
            NONE if (value := told.get(key)) is None else labels[prefix + value]
            for key, prefix in _LABELLED
        ]
        if (role := payload.get("role")) is None:
            role = role_of_speaker(told.get("speaker"))
        level = payload.get("trust")
        trust = own_trust(told.get("source")) if level is None else trust_number(level)
        if tags := payload.get("tags"):
            self._label([labels[f"t:{tag}"] for tag in tags])
        if metadata := payload.get("metadata"):
            raw = orjson.dumps(metadata)
            self.metadata.append(raw)
            at["metadata"] += len(raw)
            self._label([labels[metadata_label(name, value)] for name, value in metadata.items()])
        if names := payload.get("names"):
            self._name(names, op)
        if entities := payload.get("entities"):
            self.flat["mention"] += entities
            self.flat["mention_of"] += [memory] * len(entities)
            at["mention"] += len(entities)
        if links := payload.get("links"):
            self.flat["link"] += [target for target, _ in links]
            self.flat["weight"] += [weight for _, weight in links]
            self.flat["link_of"] += [memory] * len(links)
            at["link"] += len(links)
        before = self.length
        self._passages(memory, payload)
        words = self.length - before
        network = payload.get("network", 0)
        tokens = payload["tokens"][0]
        self.memory.append(
            (
                key,
                previous,
                op,
                0,
                0,
                said,
                start,
                end,
                payload.get("valid_until", OPEN_END),
                network,
                role,
                trust,
                tokens,
                words,
                *labelled,
                at["text"],
                at["metadata"],
                at["label"],
                at["mention"],
                at["link"],
            )
        )

    def _tombstone(self, operation: LogOperation, payload: dict[str, Any]) -> None:
        """Gather the items of an erased record: the numbers that later records count from.

        An erased memory says nothing, and is closed by the operation that recorded it, so no view
        shows it.
        """
        if names := payload.get("names"):
            self._name(names, operation.op)
        if operation.kind in KINDS:
            self.facts.tombstone(operation.op, operation.kind, payload)
        if operation.kind not in RETAINING:
            return
        at = self.at
        memory = self.memories
        said = operation.recorded_at
        rows = payload[HOLE]
        check_below("the passages of a memory", (rows,), MOST_PASSAGES)
        key = self.known_ids + len(self.ids)
        self.ids.append(f"{PLACEHOLDER}{memory}")
        self.memories += 1
        self.closed.append((memory, operation.op))
        self.words += payload.get("words", ())
        self.row += [(memory, 0, 0, 0, 0, at["term"])] * rows
        self.rows += rows
        self.first_rows.append(self.rows)
        items = {
            **dict.fromkeys(("previous", *(key for key, _ in _LABELLED)), NONE),
            **{"id": key, "op": operation.op, "valid_end": OPEN_END},
            **{"said_at": said, "event_start": said, "event_end": said + 1},
        }
        self.memory.append(
            (*(items.get(name, 0) for name in MEMORY), *(at[name] for name in LISTS))
        )

    def _label(self, labels: list[int]) -> None:
        self.flat["label"] += labels
        self.at["label"] += len(labels)

    def _name(self, names: list[tuple[str, str, int]], op: int) -> None:
        for surface, folded, entity in names:
            if self.folded[folded] == self.folded_names:
                self.folded_names += 1
                self.name_entity.append(entity)
                self.name_op.append(op)
            if entity == self.entities:
                self.names.append(self.labels[f"e:{surface}"])
                self.entities += 1

    def _part_names(self, names: list[tuple[str, str, int]], op: int) -> None:
        self.parted += [(self.folded[folded], entity, op) for _, folded, entity in names]

    def _passages(self, memory: int, payload: records.RetainRecord) -> None:
        at = self.at
        if words := payload.get("words"):
            self.words += words
        tokens = payload["tokens"]
        passages = payload.get("passages") or ((0, len(payload["text"])),)
        several = len(tokens) > 1
        for place, terms in enumerate(payload["terms"]):
            start, end = passages[place]
            length = len(terms) - terms.count(STOP_WORD)
            self.length += length
            self.term += terms
            at["term"] += len(terms)
            self.row.append((memory, start, end, tokens[place + several], length, at["term"]))
        if pieces := payload.get("pieces"):
            self.piece += map(decode_pieces, pieces)
            self.piece_rows += range(self.rows, self.rows + len(pieces))
        self.rows += len(payload["terms"])
        self.first_rows.append(self.rows)

    def check(self) -> None:
        """Raise `ValueError` for a number that names nothing. Cost: 10 ns a number."""
        flat = self.flat
        terms = self.columns.dictionary["terms"].count + len(self.words)
        check_below("a term", self.term, terms, first=STOP_WORD)
        check_below("an entity", flat["mention"], self.entities)
        check_below("an entity", self.name_entity, self.entities)
        check_below("an entity", [entity for _, entity, _ in self.parted], self.entities)
        check_below("a memory", [memory for memory, _ in self.closed], self.memories)
        check_earlier("a link", flat["link"], flat["link_of"])
        previous = [line[1] for line in self.memory]
        check_earlier("a version", previous, range(self.first_memory, self.memories), none=True)
        self.facts.check(self.entities, self.memories)

    def finish(self, rows: ReadRows) -> None:
        """Append everything, the chains' heads last: no head may name an entry not yet stored."""
        columns = self.columns
        flat = self.flat
        self.labels.add()
        self.folded.add()
        columns.dictionary["ids"].add_many(self.ids)
        columns.dictionary["terms"].add_many(self.words)
        if self.row:
            columns.column["memory_of_row"].extend([line[0] for line in self.row])
            columns.code_rows(rows)
            columns.extend_table(_OF_ROW, [line[1:] for line in self.row])
            # -1, which stands for a stop word, becomes NONE
            columns.column["term"].extend(np.array(self.term, np.int64).astype(np.uint32))
        self._finish_pieces()
        columns.extend_chained("mention", (flat["mention"], flat["mention_of"]), self.entities)
        columns.extend_chained(
            "link", (flat["link"], flat["link_of"], flat["weight"]), self.memories
        )
        columns.column["text"].extend(np.frombuffer(b"".join(self.text), np.uint8))
        columns.column["metadata"].extend(np.frombuffer(b"".join(self.metadata), np.uint8))
        columns.column.extend("label", flat["label"])
        columns.column.extend("entity_name", self.names)
        columns.column.extend("name_entity", self.name_entity)
        columns.column.extend("name_op", self.name_op)  # last, because readers look at it first
        columns.parted_names.extend(self.parted)
        columns.column.extend("first_row", self.first_rows)
        columns.extend_table(_OF_MEMORY, self.memory)
        columns.extend_table(_OF_OP, self.op)
        columns.extend_latest(self.first_memory, [line[0] for line in self.memory])
        columns.extend_open(self.memories)
        columns.close(self.closed)
        self.facts.finish()

    def _finish_pieces(self) -> None:
        """Append the token ids of passages; rows before the first one with ids get empty lists."""
        columns = self.columns
        offsets = self.columns.column["piece_offset"]
        columns.extend_table(("vocabulary", "vocabulary_row"), self.vocabularies)
        if not self.piece and not len(offsets):
            return
        if not len(offsets):
            offsets.extend(np.zeros(self.first_row + 1, np.uint64))
        sizes = np.zeros(self.rows - self.first_row, np.uint64)
        for row, ids in zip(self.piece_rows, self.piece, strict=True):
            sizes[row - self.first_row] = len(ids) // 2
        first = np.uint64(len(columns.column["piece"]))
        columns.column["piece"].extend(np.frombuffer(b"".join(self.piece), "<u2"))
        offsets.extend(first + np.cumsum(sizes))
