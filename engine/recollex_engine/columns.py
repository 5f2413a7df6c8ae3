"""What do an agent's operations add up to? Columns: one append-only array a property.

The log is the truth; these arrays are what it says, in the form that kernels read. `Columns.apply`
is the only code that turns operations into columns, for the writer, for a reader that follows it,
and for a rebuild alike, so all three hold the same bytes.

Properties of a memory (one item a memory, by ordinal)::

    id uint32            its string in the dictionary `ids`
    previous uint32      the older version with the same id, or NONE
    op uint64            the operation that recorded it
    closed_by uint64     the operation that forgot or replaced it; 0 while it is open (written once)
    said_at int64        when it was said or done, as the caller gave it
    event_start, event_end int64    the interval it speaks of, [start, end)
    network uint8        world 0, agent 1, opinion 2
    document, context, speaker uint32   a label, or NONE
    tokens uint32        of the whole text
    first_row uint32     [memories + 1] its passages are rows first_row[m]:first_row[m + 1]

Lists of a memory, flat, with offsets of memories + 1 items::

    text uint8               text_offset uint64       UTF-8
    metadata uint8           metadata_offset uint64   JSON; empty for none
    label uint32             label_offset uint64      tags and metadata pairs, for filters
    mention_entity uint32    mention_offset uint64    CSR: memory -> entities
    link_target uint32, link_weight float32    link_offset uint64    CSR: memory -> earlier memories

Properties of a passage (one item a row)::

    memory_of_row uint32, passage_start, passage_end uint32 (characters), passage_tokens uint32
    length uint32 (words that are not stop words), term_offset uint64 [rows + 1], term uint32 (flat)
    code int8 [rows * dimension], scale, residual float32     the vector in eight bits

Properties of an operation (one item an op, by op - 1)::

    op_recorded_at int64, op_memories uint32, op_rows uint32, op_length uint64
        what stood after it: counts, and the sum of `length`: a view is one number

The reversed directions (entity -> memories, memory -> later memories that link to it) are chains
threaded through the flat arrays, newest first: `mention_previous` and `link_previous` hold the
entry before, and the heads are found again on opening. A chain grows by one store per entry and
needs no rebuild, so nothing about the graph depends on where an index ends and a tail begins.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from recollex_engine.chain import Chain
from recollex_engine.column import Column
from recollex_engine.dictionary import Dictionary
from recollex_engine.entities import fold
from recollex_engine.log_reader import Operation
from recollex_engine.settings import Settings
from recollex_kernels.filters import mask_open
from recollex_kernels.vectors import quantize

NONE = 0xFFFFFFFF
NETWORKS = ("world", "agent", "opinion")
"""The three networks of Memora, section 2.1, by their number in the column."""

AT_HAND = 10_000
"""Labels and names of entities whose text is kept at hand."""

STOP_WORD = -1
"""In a log record, the place of a stop word among the terms of a passage."""

MEMORY = {
    "id": "<u4",
    "previous": "<u4",
    "op": "<u8",
    "closed_by": "<u8",
    "said_at": "<i8",
    "event_start": "<i8",
    "event_end": "<i8",
    "network": "|u1",
    "document": "<u4",
    "context": "<u4",
    "speaker": "<u4",
    "tokens": "<u4",
}
LISTS = {
    "text": {"text": "|u1"},
    "metadata": {"metadata": "|u1"},
    "label": {"label": "<u4"},
    "mention": {"mention_entity": "<u4", "mention_memory": "<u4", "mention_previous": "<u4"},
    "link": {
        "link_target": "<u4",
        "link_source": "<u4",
        "link_previous": "<u4",
        "link_weight": "<f4",
    },
}
ROW = {
    "memory_of_row": "<u4",
    "passage_start": "<u4",
    "passage_end": "<u4",
    "passage_tokens": "<u4",
    "length": "<u4",
    "term_offset": "<u8",
}
CODE = {"code": "|i1", "scale": "<f4", "residual": "<f4"}
OP = {"op_recorded_at": "<i8", "op_memories": "<u4", "op_rows": "<u4", "op_length": "<u8"}
CHAINED = {
    "mention": ("mention_entity", "mention_memory"),
    "link": ("link_target", "link_source", "link_weight"),
}
"""The columns of a chained list that are given, the chain's key first."""
DICTIONARIES = ("ids", "terms", "labels", "names")

Rows = Callable[[int, int], npt.NDArray[np.uint16]]
"""Returns the vectors of rows [first, end) as float16 bit patterns, uint16[n, dimension]."""


def schema() -> dict[str, str]:
    """Return every column's name and dtype."""
    offsets = {f"{name}_offset": "<u8" for name in LISTS}
    flat = {name: dtype for group in LISTS.values() for name, dtype in group.items()}
    return {
        **MEMORY,
        "first_row": "<u4",
        **offsets,
        **flat,
        **ROW,
        **CODE,
        "term": "<u4",
        "entity_name": "<u4",
        "name_entity": "<u4",
        **OP,
    }


@dataclass(frozen=True, slots=True)
class Stored:
    """How many items of each column and dictionary a checkpoint left on disk."""

    settings: Settings
    columns: dict[str, int]
    dictionaries: dict[str, int]
    generation: int


class Columns:
    """The columns of one agent, up to the last operation applied.

    Threads: one writer may `apply` while any number of readers hold slices of the arrays; items
    are never changed once a view covers them, but for `closed_by`, which is written once and
    compared with the view's op.
    """

    def __init__(self, folder: Path, stored: Stored | None = None) -> None:
        self.settings = stored.settings if stored else None
        counts = stored.columns if stored else {}
        generation = stored.generation if stored else 0
        self.column = {
            name: Column(
                np.dtype(dtype), folder / name, counts.get(name, 0), fixed=name != "closed_by"
            )
            for name, dtype in schema().items()
        }
        self.dictionary = {
            name: Dictionary(
                folder, name, stored.dictionaries.get(name, 0) if stored else 0, generation
            )
            for name in DICTIONARIES
        }
        for name in ("first_row", "term_offset", *(f"{name}_offset" for name in LISTS)):
            if not self.column[name].count:
                self.column[name].append(0)
        self._labels: dict[int, str] = {}
        self._entity_names: dict[int, str] = {}
        self._find_again()

    def _find_again(self) -> None:
        """Compute what is not stored: heads of chains, newest versions, the mask of the open."""
        array = self.array
        # A copy: the pages of the file may change under a reader while a checkpoint writes.
        closed_by = array("closed_by").copy()
        for memory in np.flatnonzero(closed_by > self.op):  # ahead of what was read of the log
            self.column["closed_by"].set(int(memory), 0)
            closed_by[memory] = 0
        self.open = np.ones(max(64, len(closed_by) * 3 // 2), np.uint8)
        self.open[: len(closed_by)] = closed_by == 0
        self.closed_op = int(closed_by.max(initial=0))
        self._latest = np.full(max(64, self.dictionary["ids"].count * 3 // 2), NONE, np.uint32)
        self._latest[array("id")] = np.arange(len(closed_by), dtype=np.uint32)
        self.mentions = Chain(array("mention_entity"), self.entities)
        self.incoming = Chain(array("link_target"), self.memories)

    @property
    def dimension(self) -> int:
        """The length of a vector; 0 before the agent was created."""
        return self.settings.dimension if self.settings else 0

    @property
    def op(self) -> int:
        """The last operation applied."""
        return self.column["op_recorded_at"].count

    @property
    def memories(self) -> int:
        """How many memories were ever recorded."""
        return self.column["id"].count

    @property
    def rows(self) -> int:
        """How many passages were ever recorded."""
        return self.column["memory_of_row"].count

    @property
    def entities(self) -> int:
        """How many entities there are."""
        return self.column["entity_name"].count

    @property
    def recorded_at(self) -> int:
        """The recorded time of the last operation; -1 before the first."""
        times = self.array("op_recorded_at")
        return int(times[-1]) if len(times) else -1

    def array(self, name: str) -> npt.NDArray[Any]:
        """Return the column's items so far."""
        return self.column[name].array

    def text(self, memory: int) -> str:
        """Return the whole text of a memory."""
        return self._utf8("text", memory)

    def metadata(self, memory: int) -> dict[str, Any]:
        """Return the metadata of a memory."""
        raw = self._utf8("metadata", memory)
        return orjson.loads(raw) if raw else {}

    def _utf8(self, name: str, memory: int) -> str:
        first, end = self.array(f"{name}_offset")[memory : memory + 2].tolist()
        return self.array(name)[first:end].tobytes().decode() if end > first else ""

    def label(self, number: int) -> str | None:
        """Return the text of a label without its kind."""
        if number == NONE:
            return None
        text = self._labels.get(number)
        if text is None:
            if len(self._labels) >= AT_HAND:
                self._labels = {}
            text = self._labels[number] = self.dictionary["labels"].string(number)[2:]
        return text

    def entity_name(self, entity: int) -> str:
        """Return the name under which an entity was first met."""
        name = self._entity_names.get(entity)
        if name is None:
            if len(self._entity_names) >= AT_HAND:
                self._entity_names = {}
            label = int(self.array("entity_name")[entity])
            name = self._entity_names[entity] = self.dictionary["labels"].string(label)[2:]
        return name

    def tags(self, memory: int) -> list[str]:
        """Return the tags of a memory, in the order in which they were given."""
        first, end = self.array("label_offset")[memory : memory + 2].tolist()
        return self.tag_names(self.array("label")[first:end].tolist())

    def tag_names(self, labels: Sequence[int]) -> list[str]:
        """Return those of ``labels`` that are tags."""
        strings = self.dictionary["labels"].strings(labels)
        return [string[2:] for string in strings if string[0] == "t"]

    def entity(self, surface: str) -> int | None:
        """Return the entity that was met under a name, whatever its case; None if none was.

        Beside a writer it may be newer than the caller's view.
        """
        name = self.dictionary["names"].get(fold(surface))
        entities = self.array("name_entity")  # it may lag behind the dictionary
        return None if name is None or name >= len(entities) else int(entities[name])

    def newest(self, id: str, memories: int, op: int) -> int | None:
        """Return the ordinal of the open version of ``id`` in the view (memories, op), if any."""
        key = self.dictionary["ids"].get(id)
        if key is None:
            return None
        memory = self.newest_of(key)
        while memory != NONE and memory >= memories:
            memory = int(self.array("previous")[memory])
        if memory == NONE:
            return None
        closed = int(self.array("closed_by")[memory])
        return memory if closed == 0 or closed > op else None

    def newest_of(self, key: int) -> int:
        """Return the newest memory, open or not, whose id has number ``key``; NONE for none."""
        latest = self._latest  # it may lag behind the dictionary
        return int(latest[key]) if key < len(latest) else NONE

    def apply(self, operations: Iterable[Operation], rows: Rows) -> None:
        """Append what ``operations`` say; ``rows`` gives the vectors of the passages they add."""
        staged = _Staged(self)
        for operation in operations:
            staged.add(operation)
        staged.finish(rows)

    def extend_rows(self, memory_of_row: Sequence[int], vectors: npt.NDArray[np.uint16]) -> None:
        """Append passages' memories and their vectors in eight bits."""
        count, dimension = vectors.shape
        codes = np.empty((count, dimension), np.int8)
        scales, residuals = np.empty(count, np.float32), np.empty(count, np.float32)
        quantize(vectors, codes, scales, residuals)
        self.column["code"].extend(codes.reshape(-1))
        self.column["scale"].extend(scales)
        self.column["residual"].extend(residuals)
        self.column["memory_of_row"].extend(np.array(memory_of_row, np.uint32))

    def drop_rows(self, rows: int) -> None:
        """Take back `extend_rows` down to ``rows``: they were tried on, not recorded."""
        for name in ("memory_of_row", "scale", "residual"):
            self.column[name].truncate(rows)
        self.column["code"].truncate(rows * self.dimension)

    def extend(self, name: str, items: Sequence[Any]) -> None:
        """Append items to one column."""
        if items:
            column = self.column[name]
            column.extend(np.array(items, dtype=column.dtype))

    def extend_table(self, names: Sequence[str], lines: Sequence[tuple[Any, ...]]) -> None:
        """Append lines to several columns, which stand in the order of a line's items."""
        if lines:
            for name, items in zip(names, zip(*lines, strict=True), strict=True):
                self.extend(name, items)

    def extend_chained(self, name: str, values: Sequence[list[Any]], count: int) -> None:
        """Append entries of mentions or links, of which ``count`` keys exist; the heads last.

        ``values`` stand in the order of `CHAINED`: the key first.
        """
        chain = self.mentions if name == "mention" else self.incoming
        members = [self.column[member] for member in LISTS[name]]
        before = [member.buffer for member in members]
        keys = np.array(values[0], np.uint32)
        first = members[0].count
        if len(keys):
            for member, items in zip(CHAINED[name], values, strict=True):
                self.extend(member, items)
            self.column[f"{name}_previous"].extend(chain.previous(keys, first))
        moved = any(old is not member.buffer for old, member in zip(before, members, strict=True))
        chain.publish(keys, first, count, moved)

    def extend_latest(self, first: int, keys: Sequence[int]) -> None:
        """Note that memories ``first...`` are the newest versions of ids ``keys``."""
        count = self.dictionary["ids"].count
        if count > len(self._latest):
            grown = np.full(count * 3 // 2, NONE, np.uint32)
            grown[: len(self._latest)] = self._latest
            self._latest = grown
        numbers = np.arange(first, first + len(keys), dtype=np.uint32)
        self._latest[np.array(keys, np.int64)] = numbers  # the last one written stays

    def extend_open(self, memories: int) -> None:
        """Mark new memories as open."""
        if memories > len(self.open):
            grown = np.ones(memories * 3 // 2, np.uint8)
            grown[: len(self.open)] = self.open
            self.open = grown

    def close(self, closed: Sequence[tuple[int, int]]) -> None:
        """Write once which (memory, op) were closed; views taken before keep their own mask."""
        if not closed:
            return
        self.closed_op = closed[-1][1]  # before the mask changes: see `open_at`
        opened = self.open.copy()
        for memory, op in closed:
            self.column["closed_by"].set(memory, op)
            opened[memory] = 0
        self.open = opened

    def open_at(self, memories: int, op: int) -> npt.NDArray[np.uint8]:
        """Return uint8[memories]: 1 for those that no operation up to ``op`` closed.

        Cost: nothing where ``op`` is as late as the last closure; O(memories) for the past.
        """
        opened = self.open  # first: a closure that it shows is one that `closed_op` tells of
        if self.closed_op <= op:
            return opened[:memories]
        opened = np.ones(memories, np.uint8)
        mask_open(self.array("closed_by")[:memories], op, opened)
        return opened


class _Staged:
    """The items that a run of operations adds, gathered in lists and appended at once."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.memory: list[tuple[int, ...]] = []  # in the order of MEMORY, then ends of the lists
        self.row: list[tuple[int, ...]] = []
        self.op: list[tuple[int, int, int, int]] = []
        self.flat: dict[str, list[Any]] = {
            name: [] for name in ("label", "mention", "mention_of", "link", "link_of", "weight")
        }
        self.term: list[int] = []
        self.first_rows: list[int] = []
        self.names: list[int] = []
        self.name_entity: list[int] = []
        self.text: list[bytes] = []
        self.metadata: list[bytes] = []
        self.words: list[str] = []
        self.ids: list[str] = []
        self.known_ids = columns.dictionary["ids"].count
        self.first_memory = self.memories = columns.memories
        self.first_row = self.rows = columns.rows
        self.entities = columns.entities
        self.folded_names = columns.column["name_entity"].count
        self.length = int(columns.array("op_length")[-1]) if columns.op else 0
        self.at = {name: int(columns.array(f"{name}_offset")[-1]) for name in (*LISTS, "term")}
        self.closed: list[tuple[int, int]] = []

    def add(self, operation: Operation) -> None:
        """Take in one operation."""
        payload = operation.payload
        if payload is not None:
            if operation.kind == "retain":
                self._retain(operation.op, payload)
            elif operation.kind == "create":
                self.columns.settings = Settings.from_payload(payload)
            elif operation.kind in ("forget", "replace"):
                self.closed.extend((memory, operation.op) for memory in payload["memories"])
        self.op.append((operation.recorded_at, self.memories, self.rows, self.length))

    def _retain(self, op: int, payload: dict[str, Any]) -> None:
        columns, at, get = self.columns, self.at, payload.get
        memory = self.memories
        self.memories += 1
        previous = get("previous", NONE)
        if previous == NONE:
            key = self.known_ids + len(self.ids)
            self.ids.append(payload["id"])
        elif previous >= self.first_memory:
            key = self.memory[previous - self.first_memory][0]
        else:
            key = int(columns.array("id")[previous])
        if (replaces := get("replaces")) is not None:
            self.closed.append((replaces, op))
        said = payload["said"]
        start, end = get("event") or (said, said + 1)
        text = payload["text"].encode()
        self.text.append(text)
        at["text"] += len(text)
        label = columns.dictionary["labels"].intern
        document = NONE if (value := get("document")) is None else label(f"d:{value}")
        context = NONE if (value := get("context")) is None else label(f"c:{value}")
        speaker = NONE if (value := get("speaker")) is None else label(f"s:{value}")
        if tags := get("tags"):
            self._label([label(f"t:{tag}") for tag in tags])
        if metadata := get("metadata"):
            raw = orjson.dumps(metadata)
            self.metadata.append(raw)
            at["metadata"] += len(raw)
            self._label([label(metadata_label(name, value)) for name, value in metadata.items()])
        if names := get("names"):
            self._name(names)
        if entities := get("entities"):
            self.flat["mention"] += entities
            self.flat["mention_of"] += [memory] * len(entities)
            at["mention"] += len(entities)
        if links := get("links"):
            self.flat["link"] += [target for target, _ in links]
            self.flat["weight"] += [weight for _, weight in links]
            self.flat["link_of"] += [memory] * len(links)
            at["link"] += len(links)
        self._passages(memory, payload)
        network, tokens = get("network", 0), payload["tokens"][0]
        self.memory.append(
            (
                *(key, previous, op, 0, said, start, end, network),
                *(document, context, speaker, tokens),
                *(at["text"], at["metadata"], at["label"], at["mention"], at["link"]),
            )
        )

    def _label(self, labels: list[int]) -> None:
        self.flat["label"] += labels
        self.at["label"] += len(labels)

    def _name(self, names: list[tuple[str, str, int]]) -> None:
        for surface, folded, entity in names:
            if self.columns.dictionary["names"].intern(folded) == self.folded_names:
                self.folded_names += 1
                self.name_entity.append(entity)
            if entity == self.entities:
                self.names.append(self.columns.dictionary["labels"].intern(f"e:{surface}"))
                self.entities += 1

    def _passages(self, memory: int, payload: dict[str, Any]) -> None:
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
        self.rows += len(payload["terms"])
        self.first_rows.append(self.rows)

    def finish(self, rows: Rows) -> None:
        """Append everything, the chains' heads last: they must never name what is not there."""
        columns, flat = self.columns, self.flat
        columns.dictionary["ids"].add_many(self.ids)
        columns.dictionary["terms"].add_many(self.words)
        if self.row:
            memory_of_row, *rest = zip(*self.row, strict=True)
            columns.extend_rows(memory_of_row, rows(self.first_row, self.rows))
            for name, items in zip(list(ROW)[1:], rest, strict=True):
                columns.extend(name, items)
            # -1, the place of a stop word, becomes NONE
            columns.column["term"].extend(np.array(self.term, np.int64).astype(np.uint32))
        columns.extend_chained("mention", (flat["mention"], flat["mention_of"]), self.entities)
        columns.extend_chained(
            "link", (flat["link"], flat["link_of"], flat["weight"]), self.memories
        )
        columns.column["text"].extend(np.frombuffer(b"".join(self.text), np.uint8))
        columns.column["metadata"].extend(np.frombuffer(b"".join(self.metadata), np.uint8))
        columns.extend("label", flat["label"])
        columns.extend("entity_name", self.names)
        columns.extend("name_entity", self.name_entity)
        columns.extend("first_row", self.first_rows)
        columns.extend_table((*MEMORY, *(f"{name}_offset" for name in LISTS)), self.memory)
        columns.extend_table(tuple(OP), self.op)
        columns.extend_latest(self.first_memory, [line[0] for line in self.memory])
        columns.extend_open(self.memories)
        columns.close(self.closed)


def metadata_label(name: str, value: Any) -> str:
    """Return the label by which a filter on metadata finds ``name`` = ``value``."""
    return f"m:{name}={orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()}"
