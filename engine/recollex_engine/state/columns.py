"""The columns of an agent: one append-only array for each property of its memories and operations.

The log is the source of truth; these arrays hold its content in the form that kernels read.
`applying.apply` is the only code that turns operations into columns, for the writer, for a reader
that follows it and for a rebuild, so all three hold the same bytes.

Which entity has a name? The one that it first named, until it became one of its own.
Each such name is an item of the columns `parted_name`, `parted_entity` and `parted_op`: from that
operation on, that entity has the name.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.literals import read_stored
from recollex_engine.domain.schema import (
    CHAINED,
    CLOSED,
    DICTIONARIES,
    ENDS,
    LISTS,
    NONE,
)
from recollex_engine.domain.settings import Settings
from recollex_engine.domain.trust import Stamp
from recollex_engine.state.access_journal import FILE as ACCESSES
from recollex_engine.state.access_journal import AccessJournal
from recollex_engine.state.column_set import Chain, ColumnSet, newest, put_newest
from recollex_engine.state.fact_state import FactState
from recollex_engine.state.filter_indexes import (
    EventTimeIndex,
    FactSources,
    LabelLists,
    MetadataValues,
)
from recollex_engine.state.mentions import Hubs, MentionCounts, MergedMentionsCache
from recollex_engine.state.postings import Tail
from recollex_engine.state.row_codes import PassageColumns, RowEncoder
from recollex_engine.state.speakers import Circles, Speakers
from recollex_engine.state.spellings import Spellings
from recollex_engine.state.surfaces import Surfaces
from recollex_engine.storage.dictionary import Dictionary
from recollex_engine.text.names import fold_name
from recollex_kernels.memories.filters import mask_open, open_and_last


class PartedNames:
    """The names of one agent that became entities of their own.

    Threads: one writer extends; any number read.
    """

    def __init__(self, columns: ColumnSet) -> None:
        self._columns = columns
        self._since: dict[int, list[tuple[int, int]]] = {}  # name -> (operation, entity)
        self._note(self)

    def __bool__(self) -> bool:
        return bool(self._since)

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        """Yield (name, entity, operation), in the order of the log."""
        names = ("parted_name", "parted_entity", "parted_op")
        yield from zip(*(self._columns.array(each).tolist() for each in names), strict=True)

    def entity(self, name: int, op: int) -> int | None:
        """Return the entity that a name became by operation ``op``; None if it did not."""
        since = self._since.get(name, ())
        place = bisect_right(since, op, key=lambda each: each[0])
        return since[place - 1][1] if place else None

    def extend(self, parted: Iterable[tuple[int, int, int]]) -> None:
        """Append items (name, entity, operation)."""
        items = list(parted)
        if items:
            for name, column in zip(
                ("parted_name", "parted_entity", "parted_op"), zip(*items, strict=True), strict=True
            ):
                self._columns.extend(name, column)
            self._note(items)

    def _note(self, parted: Iterable[tuple[int, int, int]]) -> None:
        for name, entity, op in parted:
            self._since[name] = [*self._since.get(name, ()), (op, entity)]


CACHED_NAMES = 10_000
"""The most texts of labels, and of entity names, that are cached."""
CODED_FROM = 256
"""Rows are coded from this many on; comparing fewer vectors is faster than coding them."""

ReadRows = Callable[[int, int], npt.NDArray[np.uint16]]
"""Returns the vectors of rows [first, end) as float16 bit patterns, uint16[n, dimension]."""


@dataclass(frozen=True, slots=True)
class StoredCounts:
    """How many items of each column and dictionary the last checkpoint stored."""

    settings: Settings
    columns: dict[str, int]
    dictionaries: dict[str, int]
    generation: int


class Columns:
    """The columns of one agent, up to the last operation applied.

    Threads: one writer may `apply` while any number of readers hold slices of the arrays. Items
    that a view covers never change, except in the columns of `schema.CLOSED`, whose items readers
    compare with the view's operation.
    """

    def __init__(
        self,
        folder: Path,
        stored: StoredCounts | None = None,
        check: Callable[["Columns"], None] | None = None,
    ) -> None:
        """Open the columns of ``folder``; ``check`` is called before anything relies on them."""
        self.settings: Settings | None = stored.settings if stored else None
        counts = stored.columns if stored else {}
        generation = stored.generation if stored else 0
        self.column: ColumnSet = ColumnSet(folder, counts)
        self.dictionary: dict[str, Dictionary] = {
            name: Dictionary(
                folder, name, stored.dictionaries.get(name, 0) if stored else 0, generation
            )
            for name in DICTIONARIES
        }
        if check is not None:
            check(self)
        for name in ("first_row", "term_offset", *(f"{name}_offset" for name in LISTS)):
            if not self.column[name].count:
                self.column[name].append(0)
        self.tail: Tail = Tail(0)
        self.label_lists: LabelLists = LabelLists()
        self.metadata_values: MetadataValues = MetadataValues(self.dictionary["labels"])
        self.fact_sources = FactSources(self.metadata_values, self.dictionary)
        self.speakers: Speakers = Speakers(self.dictionary["labels"])
        self.circles: Circles = Circles()
        self.spellings: Spellings = Spellings()
        self.event_times: EventTimeIndex = EventTimeIndex()
        self.accesses: AccessJournal = AccessJournal(folder.parent / ACCESSES)
        self._encoder = RowEncoder()
        self._labels: dict[int, str] = {}
        self._entity_names: dict[int, str] = {}
        self._find_again()

    def _find_again(self) -> None:
        """Compute what is not stored: chain heads, newest versions, the mask of open memories."""
        array = self.array
        memories = len(array("closed_by"))
        self.open: npt.NDArray[np.uint8] = np.ones(max(64, memories * 3 // 2), np.uint8)
        self.closed_op: int = self._forget_later("closed_by", self.open[:memories])
        for name in CLOSED[1:]:
            self._forget_later(name, np.empty(len(array(name)), np.uint8))
        ids = max(64, self.dictionary["ids"].count * 3 // 2)
        self._latest: npt.NDArray[np.uint32] = newest(array("id"), ids)
        self.mentions: Chain = Chain(array("mention_entity"), self.entities)
        self.incoming: Chain = Chain(array("link_target"), self.memories)
        self.mention_counts: MentionCounts = MentionCounts()
        self.hubs: Hubs = Hubs()
        self.merged_mentions: MergedMentionsCache = MergedMentionsCache()
        self.parted_names: PartedNames = PartedNames(self.column)
        self.facts: FactState = FactState(self.column, self.dictionary)
        self.drop_surfaces()

    def drop_surfaces(self) -> None:
        """Begin to index the surfaces again."""
        self.surfaces: Surfaces = Surfaces(self.column, self.dictionary["surface_terms"])

    def _forget_later(self, name: str, out: npt.NDArray[np.uint8]) -> int:
        """Set to 0 what lies beyond the log that was read, and ``out`` to the items that are 0.

        Returns the last operation in the column. The pages of the file may change under a reader
        while a checkpoint writes.
        """
        last, later = open_and_last(self.array(name), self.op, out)
        if later:
            for memory in np.flatnonzero(self.array(name) > self.op):
                self.column[name].set(int(memory), 0)
        return last

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
    def vocabulary(self) -> str | None:
        """The vocabulary's name of the newest token ids of passages; None without any."""
        labels = self.array("vocabulary")
        return self.label(int(labels[-1])) if len(labels) else None

    def array(self, name: str) -> npt.NDArray[Any]:
        """Return the column's items so far."""
        return self.column.array(name)

    def text(self, memory: int) -> str:
        """Return the whole text of a memory."""
        return self._utf8("text", memory)

    def metadata(self, memory: int) -> dict[str, Any]:
        """Return the metadata of a memory."""
        raw = self._utf8("metadata", memory)
        found: dict[str, Any] = read_stored(raw, "metadata") if raw else {}
        return found

    def _utf8(self, name: str, memory: int) -> str:
        first, end = self.array(f"{name}_offset")[memory : memory + 2].tolist()
        return (
            self.array(name)[first:end].tobytes().decode("utf-8", "replace") if end > first else ""
        )

    def label(self, number: int) -> str | None:
        """Return the text of a label without its kind prefix; None for `NONE`."""
        return None if number == NONE else self.known_label(number)

    def label_in(self, name: str, place: int) -> str | None:
        """Return the text of the label at a place of a column; None for `NONE`."""
        return self.label(int(self.array(name)[place]))

    def stamp(self, memory: int) -> Stamp:
        """Return the source of a memory and the number of its trust."""
        return self.label_in("source", memory), int(self.array("trust")[memory])

    def known_label(self, number: int) -> str:
        """Return the text of an existing label, without its kind prefix."""
        text = self._labels.get(number)
        if text is None:
            if len(self._labels) >= CACHED_NAMES:
                self._labels = {}
            text = self._labels[number] = self.dictionary["labels"].string(number)[2:]
        return text

    def entity_name(self, entity: int) -> str:
        """Return the name by which an entity was first recorded."""
        name = self._entity_names.get(entity)
        if name is None:
            if len(self._entity_names) >= CACHED_NAMES:
                self._entity_names = {}
            label = int(self.array("entity_name")[entity])
            name = self._entity_names[entity] = self.dictionary["labels"].string(label)[2:]
        return name

    def first_names(self, entities: Sequence[int]) -> list[str]:
        """Return the names by which entities were first recorded, see `entity_name`."""
        labels = self.array("entity_name")[np.array(entities, np.int64)]
        return [text[2:] for text in self.dictionary["labels"].strings(labels)]

    def tags(self, memory: int) -> list[str]:
        """Return the tags of a memory, in the order in which they were given."""
        first, end = self.array("label_offset")[memory : memory + 2].tolist()
        return self.tag_names(self.array("label")[first:end].tolist())

    def tag_names(self, labels: Sequence[int]) -> list[str]:
        """Return those of ``labels`` that are tags."""
        strings = self.dictionary["labels"].strings(labels)
        return [string[2:] for string in strings if string[0] == "t"]

    def entity(self, surface: str, op: int) -> int | None:
        """Return the entity that has this name at operation ``op``; None if there is none.

        Case is ignored. A later operation may give an old entity a new name.
        """
        name = self.dictionary["names"].get(fold_name(surface))
        first = self.array("name_op")  # it may lag behind the dictionary
        if name is None or name >= len(first) or int(first[name]) > op:
            return None
        own = self.parted_names.entity(name, op) if self.parted_names else None
        return int(self.array("name_entity")[name]) if own is None else own

    def newest(self, id: str, memories: int, op: int) -> int | None:
        """Return the ordinal of the open version of ``id`` in the view (memories, op), if any."""
        key = self.dictionary["ids"].get(id)
        if key is None:
            return None
        memory = self.newest_of(key)
        while memory != NONE and memory >= memories:
            memory = int(self.array("previous")[memory])
        return None if memory == NONE or self.closed_at(memory, op) else memory

    def op_at(self, recorded_at: int) -> int:
        """Return the last operation recorded at or before a time; 0 if there was none."""
        return int(np.searchsorted(self.array("op_recorded_at"), recorded_at, side="right"))

    def closed_at(self, memory: int, op: int) -> int:
        """Return the operation that closed ``memory``, if it is at most ``op``; otherwise 0."""
        closed = int(self.array("closed_by")[memory])
        return closed if closed <= op else 0

    def end_of(self, memory: int, op: int) -> str | None:
        """Return how ``memory`` had ended by operation ``op`` (see `ENDS`); None if it was open."""
        closed = self.closed_at(memory, op)
        if not closed:
            return None
        if 0 < int(self.array("forgotten_by")[memory]) <= op:
            return ENDS["forget"]
        return ENDS[self.label(int(self.array("op_kind")[closed - 1])) or ""]

    def archived(self, id: str) -> int | None:
        """Return the ordinal of the newest version of ``id`` if it is archived now."""
        key = self.dictionary["ids"].get(id)
        memory = NONE if key is None else self.newest_of(key)
        archived = memory != NONE and self.end_of(memory, self.op) == ENDS["archive"]
        return memory if archived else None

    def closable(self, id: str, kind: str) -> int | None:
        """Return the memory that an operation of ``kind`` on ``id`` would close, or None.

        That is the open version. An archived memory can still be forgotten.
        """
        memory = self.newest(id, self.memories, self.op)
        return self.archived(id) if memory is None and kind == "forget" else memory

    def newest_of(self, key: int) -> int:
        """Return the newest memory, open or not, whose id is number ``key``; NONE if none."""
        latest = self._latest  # it may lag behind the dictionary
        return int(latest[key]) if key < len(latest) else NONE

    def code_rows(self, rows: ReadRows, *, needed: bool = False) -> None:
        """Append codes of the rows that have none: their vectors in four bits and in one bit.

        Does nothing below `CODED_FROM` rows, unless codes are ``needed`` or some exist already.
        Cost: 5 us a row of 384 components.
        """
        first = self.column["code_factor"].count
        end = self.rows
        if first == end or not (first or needed or end >= CODED_FROM):
            return
        for name, items in self._encoder.to_add(rows(first, end)).items():
            # an interrupted call may have appended to some; factors come last (`View.is_coded`)
            width = len(items) // (end - first)
            self.column[name].replace_from(first * width, items)

    def with_rows(
        self, memory_of_row: Sequence[int], vectors: npt.NDArray[np.uint16]
    ) -> PassageColumns:
        """Return the columns of all passages, followed by passages that are not added.

        All earlier passages must have codes. The next passages that are added overwrite these.
        """
        beyond = {"memory_of_row": memory_of_row} | self._encoder.to_compare(vectors)
        return PassageColumns(
            **{name: self.column[name].followed_by(items) for name, items in beyond.items()}
        )

    def extend_table(self, names: Sequence[str], lines: Sequence[tuple[Any, ...]]) -> None:
        """Append ``lines`` to the columns ``names``; each line has an item for each column."""
        column = self.column
        if len(lines) == 1:  # as of a memory that is recorded alone
            for name, item in zip(names, lines[0], strict=True):
                column[name].append(item)
        elif lines:
            for name, items in zip(names, zip(*lines, strict=True), strict=True):
                column[name].extend(items)

    def extend_chained(self, name: str, values: Sequence[list[Any]], count: int) -> None:
        """Append entries of mentions or links, whose chains have ``count`` keys; the heads last.

        ``values`` are in the order of `CHAINED`: the keys first.
        """
        chain = self.mentions if name == "mention" else self.incoming
        items: dict[str, Any] = dict(zip(CHAINED[name], values, strict=True))
        keys = values[0]
        first = self.column[CHAINED[name][0]].count
        items[f"{name}_previous"] = chain.previous(keys, first)
        moved = self.column.extend_all({member: items[member] for member in LISTS[name]})
        chain.publish(keys, first, count, moved)

    def extend_latest(self, first: int, keys: Sequence[int]) -> None:
        """Record that the memories from ``first`` on are the newest versions of ids ``keys``."""
        count = self.dictionary["ids"].count
        if count > len(self._latest):
            grown = np.full(count * 3 // 2, NONE, np.uint32)
            grown[: len(self._latest)] = self._latest
            self._latest = grown
        put_newest(self._latest, keys, first)

    def extend_open(self, memories: int) -> None:
        """Mark new memories as open."""
        if memories > len(self.open):
            grown = np.ones(memories * 3 // 2, np.uint8)
            grown[: len(self.open)] = self.open
            self.open = grown

    def close(self, closed: Sequence[tuple[int, int]]) -> None:
        """Record pairs (memory, op) of closed memories; earlier views keep their own mask.

        If a memory is already closed, the operation has forgotten it.
        """
        if not closed:
            return
        self.closed_op = closed[-1][1]  # set before the mask changes: see `open_at`
        opened = self.open.copy()
        for memory, op in closed:
            name = "closed_by" if opened[memory] else "forgotten_by"
            self.column[name].set(memory, op)
            opened[memory] = 0
        self.open = opened

    def open_at(self, memories: int, op: int) -> npt.NDArray[np.uint8]:
        """Return uint8[memories]: 1 for memories that no operation up to ``op`` closed.

        Cost: O(1) if ``op`` is at least the last closure; O(memories) for the past.
        """
        opened = self.open  # read first: `closed_op` covers every closure in it
        if self.closed_op <= op:
            return opened[:memories]
        opened = np.ones(memories, np.uint8)
        mask_open(self.array("closed_by")[:memories], op, opened)
        return opened
