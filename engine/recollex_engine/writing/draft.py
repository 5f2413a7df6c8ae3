"""A transaction's operations and their payloads, before they are written to the log.

Ids, names and words are looked up in the columns. Results that depend on chance or on the version
of the code (entities, semantic links) are put into the payloads, so that a replay repeats them. No
state changes before the draft is in the log.

Which earlier memories is a new one similar to? Semantic links, found once, kept in the log.
A new passage is compared with every earlier passage that no graph covers. While these are few, the
comparison is exact; else the one-bit codes select the passages to compare. The passages that a
graph proposes are compared too. A replay repeats the links that the log holds.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NoReturn, cast

import numpy as np
import numpy.typing as npt
import orjson

from recollex_engine.clock import OPEN_END
from recollex_engine.domain.fields import LABELS
from recollex_engine.domain.ids import id_of
from recollex_engine.domain.records import RetainRecord
from recollex_engine.domain.schema import (
    AMENDS,
    CALLED,
    NONE,
    OPINION,
    RETAINING,
    STOP_WORD,
    words,
)
from recollex_engine.domain.statement import Statement
from recollex_engine.domain.trust import LEVELS, RETAIN, Act, own_trust, role_of_speaker
from recollex_engine.errors import InputError
from recollex_engine.fork import ThreadPool
from recollex_engine.state.columns import Columns
from recollex_engine.state.replica import Replica
from recollex_engine.state.row_codes import PassageColumns
from recollex_engine.state.word_pieces import VOCABULARY
from recollex_engine.text.entity_types import ENTITY_TYPES, OTHER, PERSON, EntityType
from recollex_engine.text.names import FULL_COMPANY, EntityTable, fold_name
from recollex_engine.text.type_rule import find_type
from recollex_engine.writing.preparation import Prepared
from recollex_kernels.vectors.codes import cosines, eight_bits
from recollex_kernels.vectors.semantic_links import likely_links
from recollex_kernels.vectors.semantic_links import links as links_of_rows

# A writer's cache of words and names, in front of the dictionaries.
NUMBERS = 100_000
"""Maximum number of cached words."""


class Lexicon:
    """The numbers of recent words, and the table of names.

    Threads: only the thread that holds the writer's lock may use it.
    """

    def __init__(self) -> None:
        self.numbers: dict[str | None, int] = {None: STOP_WORD}
        self._names: EntityTable | None = None

    def remember(self, word: str, number: int) -> None:
        """Cache the number of a recorded word."""
        if len(self.numbers) >= NUMBERS:
            self.numbers = {None: STOP_WORD}
        self.numbers[word] = number

    def names(self, columns: Columns) -> EntityTable:
        """Return the table of names, built from ``columns`` on first use."""
        if self._names is None:
            settings = columns.settings
            self._names = EntityTable(settings.entity_rule if settings else "alike")
            name_of = columns.dictionary["names"].string
            for number, entity in enumerate(columns.array("name_entity").tolist()):
                self._names.add(name_of(number), entity)
            for number, entity, _ in columns.parted_names:
                self._names.part(name_of(number), entity)
        return self._names

    def forget_names(self) -> None:
        """Drop the table: it may hold names of a transaction that failed."""
        self._names = None


LIMIT = 5
"""Maximum links of a memory to earlier ones: TEMPR 2.4.3 counts 3 to 5."""
PROPOSED_LINKS = 16
"""Rows that a graph proposes for a passage."""

SCANNED_ROWS = 524_288
"""Up to this many rows, all of them are compared, even if there is a graph."""
EXACT_ROWS = 32_768
"""Up to this many rows, four-bit codes select the pairs to score; above it, one-bit codes."""
TOGETHER = 64
"""From this many new passages on, two threads share the work."""

WeightedLinks = list[tuple[int, float]]


def semantic_links(
    replica: Replica,
    rows: PassageColumns,
    vectors: npt.NDArray[np.uint16],
    threshold: float,
) -> list[WeightedLinks]:
    """Return, for each memory of the new rows, its links as (earlier memory, weight).

    The weight is the cosine, at least ``threshold`` (TEMPR 2.4.2). Best first, up to `LIMIT`.
    ``rows``: the columns of all rows with the new ones, as `Columns.with_rows` returns them;
    ``vectors`` uint16[rows, dimension]. Forgotten memories are not linked to.
    """
    columns = replica.columns
    memory_of_row = rows.memory_of_row
    first_row = columns.rows
    end_row = len(memory_of_row)
    codes = rows.code4.reshape(end_row, columns.dimension // 2)
    memories = int(memory_of_row[-1]) + 1
    allowed = columns.open[:memories]  # new memories are open in its spare capacity
    if len(allowed) < memories:
        allowed = np.ones(memories, np.uint8)
        allowed[: columns.memories] = columns.open[: columns.memories]
    count = end_row - first_row
    found = np.empty((count, LIMIT), np.uint32)
    weights = np.empty((count, LIMIT), np.float32)
    counts = np.empty(count, np.int64)
    first_scan = 0
    proposed: list[npt.NDArray[np.uint32]] = []
    if first_row > SCANNED_ROWS:
        new = np.empty((count, columns.dimension), np.int8)
        eight_bits(vectors[first_row:], new)
        for graph in replica.indexes.graphs:
            if graph.first_row == first_scan:
                proposed.append(graph.search_many(new, PROPOSED_LINKS))
                first_scan = graph.end_row

    bits = rows.code1.reshape(end_row, words(columns.dimension))

    def compare(first: int, end: int) -> None:
        part = slice(first - first_row, end - first_row)
        asked = (memory_of_row, allowed, first_scan, first, end, threshold, LIMIT)
        told = (found[part], weights[part], counts[part])
        coded = codes, rows.code_step, rows.code_norm, rows.code_loss
        if first_row - first_scan > EXACT_ROWS:
            likely_links(vectors, coded, (bits, rows.code_factor), *asked, told)
        else:
            links_of_rows(vectors, coded, *asked, told)

    if count < TOGETHER:
        compare(first_row, end_row)
    else:
        middle = first_row + count // 2
        other = _comparing.submit(compare, first_row, middle)
        compare(middle, end_row)
        other.result()
    by_memory: dict[int, dict[int, float]] = {
        memory: {} for memory in range(int(memory_of_row[first_row]), memories)
    }
    for place in range(count):
        best = by_memory[int(memory_of_row[first_row + place])]
        for memory, weight in zip(
            found[place, : counts[place]].tolist(),
            weights[place, : counts[place]].tolist(),
            strict=True,
        ):
            best[memory] = max(weight, best.get(memory, weight))
        for each in proposed:
            _add_proposed(
                best, each[place], vectors, first_row + place, memory_of_row, allowed, threshold
            )
    return [
        [
            (memory, round(weight, 4))
            for memory, weight in sorted(best.items(), key=lambda item: (-item[1], item[0]))[:LIMIT]
        ]
        for best in by_memory.values()
    ]


_comparing = ThreadPool(1, "recollex links")


def _add_proposed(
    best: dict[int, float],
    rows: npt.NDArray[np.uint32],
    vectors: npt.NDArray[np.uint16],
    row: int,
    memory_of_row: npt.NDArray[np.uint32],
    allowed: npt.NDArray[np.uint8],
    threshold: float,
) -> None:
    """Add to ``best`` the ``rows`` whose cosine with ``row`` is at least ``threshold``."""
    scores = np.empty(len(rows), np.float32)
    cosines(vectors, rows, vectors[row].view(np.float16).astype(np.float32), scores)
    near = (scores >= threshold) & (allowed[memory_of_row[rows]] == 1)
    for memory, weight in zip(
        memory_of_row[rows[near]].tolist(), scores[near].tolist(), strict=True
    ):
        best[memory] = max(weight, best.get(memory, weight))


COAPPEARANCES = 64
"""How many of an entity's newest mentions are looked at when two names are compared."""


def refuse_opinion(id: str) -> NoReturn:
    """Raise `InputError`: an opinion stays as it was formed (Memora 2.1.3)."""
    raise InputError(
        f"the memory {id!r} is an opinion, which does not change: form another that supersedes "
        "it, with opinions.form(..., supersedes=), or forget it"
    )


class Draft:
    """The memories that one transaction adds, and the ids, words and entities that are new."""

    def __init__(self, replica: Replica, lexicon: Lexicon) -> None:
        self.replica = replica
        self.columns: Columns = replica.columns
        self.lexicon = lexicon
        self.operations: list[tuple[str, Any]] = []
        self.ids: list[str] = []
        self.random: bytes = b""
        self.kept: list[int] = []  # passages that are recorded, among all passages of the call
        self.kept_statements: list[Prepared] = []
        self.memory_of_row: list[int] = []
        self.passage: int = 0
        self.memories: int = self.columns.memories
        self.words: dict[str, int] = {}
        self.entities: int = self.columns.entities
        self.first_names: dict[int, str] = {}  # folded, of entities that this draft makes
        self.typed: dict[int, EntityType] = {}  # entities whose type this draft records
        self.statements: dict[str, tuple[int, Statement]] = {}
        self.vocabulary: str | None = None
        self.phrases: dict[int, tuple[str, dict[str, Any], bool]] = {}
        """Entities that had no surface: the name, the payload of the first fact that names it, and
        whether it gets a vector."""
        self.surfaces: list[tuple[dict[str, Any], str]] = []
        """Payloads that lack a surface, which gets a vector, and the kind of each."""
        self.tells: bool = False  # whether there are facts, events or episodes

    def replace(self, memories: Sequence[int]) -> None:
        """Close the memories that a replaced document loses."""
        if memories:
            self.operations.append(("replace", {"memories": list(memories)}))

    def add(self, prepared: Prepared, act: Act = RETAIN, *, again: bool = False) -> None:
        """Add one statement, unless the memory with its id is equal already.

        again: add it in any case: the same statement, whose names are of other entities now.
        """
        statement = prepared.statement
        passages = range(self.passage, self.passage + len(prepared.passages))
        self.passage = passages.stop
        id = statement.id or self._new_id()
        self.ids.append(id)
        previous = replaces = None
        if statement.id is not None:
            if (staged := self.statements.get(id)) is not None:
                previous, before = staged
                replaces = previous
                if before == statement:
                    return
                if before.network == OPINION:
                    refuse_opinion(id)
            else:
                previous, replaces = self._versions(id)
                if replaces is not None and not again:
                    if is_same(self.columns, replaces, statement):
                        return
                    if self.columns.array("network")[replaces] == OPINION:
                        refuse_opinion(id)
            self.statements[id] = (self.memories, statement)
        memory = self.memories
        self.memories += 1
        self.kept.extend(passages)
        self.memory_of_row.extend([memory] * len(passages))
        payload: Any = self._payload(id, prepared)
        if previous is not None:
            payload["previous"] = previous
        if replaces is not None:
            payload["replaces"] = replaces
            if act.kind == "correct" and self._text(replaces) == statement.text:
                payload[AMENDS] = True
        self.operations.append((act.kind, payload | act.note))
        self.kept_statements.append(prepared)

    def _text(self, memory: int) -> str:
        """Return the text of a memory that is recorded, or that this draft adds."""
        first = self.columns.memories
        if memory < first:
            return self.columns.text(memory)
        return self.kept_statements[memory - first].statement.text

    def _new_id(self) -> str:
        if not self.random:
            self.random = os.urandom(16 * 64)  # one system call for 64 ids
        id = id_of(self.random[:16])
        self.random = self.random[16:]
        return id

    def _versions(self, id: str) -> tuple[int | None, int | None]:
        """Return the newest memory that ever had ``id``, and the open memory with it, if any."""
        key = self.columns.dictionary["ids"].get(id)
        if key is None:
            return None, None
        open_one = self.columns.newest(id, self.columns.memories, self.columns.op)
        return self.columns.newest_of(key), open_one

    def _payload(self, id: str, prepared: Prepared) -> RetainRecord:
        statement = prepared.statement
        payload: RetainRecord = {
            "id": id,
            "text": statement.text,
            "said": prepared.said_at,
            "terms": [],  # see `_number_words`
            "tokens": [],  # see `count_tokens`
        }
        if prepared.event is not None:
            payload["event"] = prepared.event
        if statement.network:
            payload["network"] = statement.network
        if statement.valid_until is not None:
            payload["valid_until"] = statement.valid_until
        told = cast(dict[str, Any], payload)  # a label's key is known at run time
        for field in LABELS:
            if (value := getattr(statement, field.key)) is not None:
                told[field.key] = value
        if statement.role != role_of_speaker(statement.speaker):  # as `apply` reads a record
            payload["role"] = statement.role
        if statement.trust != own_trust(statement.source):
            payload["trust"] = str(LEVELS[statement.trust])
        if statement.tags:
            payload["tags"] = statement.tags
        if statement.metadata:
            payload["metadata"] = statement.metadata
        self._resolve_names(prepared, payload)
        self._number_words(prepared, payload)
        if len(prepared.passages) > 1:
            payload["passages"] = prepared.passages
        if prepared.pieces is not None:
            payload["pieces"] = prepared.pieces.encoded()
            self.vocabulary = prepared.pieces.vocabulary
        return payload

    @property
    def announced(self) -> list[tuple[str, dict[str, Any]]]:
        """The operations; first one that names the vocabulary of their pieces, if it is new."""
        name = self.vocabulary
        if name is None or name == self.columns.vocabulary:
            return self.operations
        return [(VOCABULARY, {"name": name}), *self.operations]

    def _resolve_names(self, prepared: Prepared, payload: RetainRecord) -> None:
        table = self.lexicon.names(self.columns)
        entities: list[int] = []
        named: list[tuple[str, str, int]] = []
        given: list[tuple[str, int]] = []
        typed: list[tuple[int, EntityType]] = []
        for surface in prepared.names:
            entity = table.get(surface)
            if entity is None:
                entity = table.resolve(
                    surface, prepared.said_at, entities, self._shared, self._last_seen
                )
                if entity is None:
                    entity = self.entities
                    self.entities += 1
                    self.first_names[entity] = fold_name(surface)
                table.add(surface, entity)
                named.append((surface, fold_name(surface), entity))
            elif surface in prepared.statement.entities:
                given.append((surface, entity))
            if entity not in entities:
                entities.append(entity)
                if kind := self._new_type(entity, surface, prepared):
                    typed.append((entity, kind))
        if entities:
            payload["entities"] = entities
        if named:
            payload["names"] = named
        if given and (called := self._called(given, named)):
            payload[CALLED] = called
        if typed:
            payload["typed"] = typed

    def _called(
        self, given: Sequence[tuple[str, int]], named: Sequence[tuple[str, str, int]]
    ) -> list[tuple[str, int]]:
        """Return the given names that are not the only and the first one of their entity."""
        times = Counter(entity for _, entity in given)
        times.update(entity for _, _, entity in named)
        return [
            (surface, entity)
            for surface, entity in given
            if times[entity] > 1 or fold_name(surface) != self._first_name(entity)
        ]

    def _first_name(self, entity: int) -> str:
        """Return the folded name by which an entity was first recorded; it may be in this draft."""
        if entity < self.columns.entities:
            return fold_name(self.columns.entity_name(entity))
        return self.first_names.get(entity, "")

    def _new_type(self, entity: int, surface: str, prepared: Prepared) -> EntityType | None:
        """Return the type of an entity that the memory tells first; None if it tells nothing new.

        What the caller says holds; a recognizer and the rule only fill in what was not known.
        """
        statement = prepared.statement
        known = self.type_of(entity)
        said = dict(statement.types).get(surface) if statement.types else None
        if said is None and known != OTHER:
            return None
        if said is None and statement.speaker and surface == " ".join(statement.speaker.split()):
            said = PERSON
        if said is None:
            said = prepared.types.get(fold_name(surface)) or find_type(surface, statement.text)
        if said == known:
            return None
        self.typed[entity] = said
        return said

    def type_of(self, entity: int) -> EntityType:
        """Return the type of an entity so far."""
        if entity in self.typed:
            return self.typed[entity]
        entry = self.columns.facts.head("type_entity", entity)
        return OTHER if entry == NONE else ENTITY_TYPES[int(self.columns.array("type_code")[entry])]

    def type_names(self, names: Sequence[tuple[str, str, int]]) -> list[tuple[int, EntityType]]:
        """Return the types that the new names of a fact or event show by themselves."""
        found = []
        for surface, _, entity in names:
            kind = find_type(surface, "")
            if kind != OTHER and self.type_of(entity) == OTHER:
                self.typed[entity] = kind
                found.append((entity, kind))
        return found

    def _mentions(self, entity: int) -> Iterator[int]:
        """Yield the newest memories that name ``entity``, of those already recorded."""
        entry = self._newest_mention(entity)
        memory = self.columns.array("mention_memory")
        previous = self.columns.array("mention_previous")
        for _ in range(COAPPEARANCES):
            if entry == NONE:
                return
            yield int(memory[entry])
            entry = int(previous[entry])

    def _shared(self, entity: int, others: Sequence[int]) -> int:
        """Return how many of its newest memories also name one of ``others``, up to a limit."""
        if not others:
            return 0
        offsets = self.columns.array("mention_offset")
        entities = self.columns.array("mention_entity")
        wanted = set(others)
        together = (
            memory
            for memory in self._mentions(entity)
            if not wanted.isdisjoint(
                entities[int(offsets[memory]) : int(offsets[memory + 1])].tolist()
            )
        )
        return sum(1 for _ in islice(together, FULL_COMPANY))

    def _last_seen(self, entity: int) -> int:
        columns = self.columns
        entry = self._newest_mention(entity)
        if entry == NONE:
            return -(2**62)
        memory = columns.column["mention_memory"].buffer.item(entry)
        return int(columns.column["said_at"].buffer.item(memory))

    def _newest_mention(self, entity: int) -> int:
        """Return the entry of the newest recorded mention of an entity, NONE without one."""
        columns = self.columns
        return int(columns.mentions.head.item(entity)) if entity < columns.entities else NONE

    def _number_words(self, prepared: Prepared, payload: RetainRecord) -> None:
        number = self.lexicon.numbers.get
        new: list[str] = []
        found: dict[str | None, int] = {}  # of the words that the lexicon lacks: some come often
        numbered = [list(map(number, sequence)) for sequence in prepared.sequences]
        for terms, sequence in zip(numbered, prepared.sequences, strict=True):
            if None in terms:
                for place, word in enumerate(sequence):
                    if terms[place] is None:
                        if word not in found:
                            found[word] = self._number(word, new)
                        terms[place] = found[word]
        payload["terms"] = cast(list[list[int]], numbered)  # each has its number now
        if new:
            payload["words"] = new

    def _number(self, word: str | None, new: list[str]) -> int:
        """Return the number of a word, which goes into ``new`` if this is its first time."""
        if word is None:
            return STOP_WORD
        known = self.columns.dictionary["terms"]
        number = known.get(word)
        if number is not None:
            self.lexicon.remember(word, number)
            return number
        number = self.words.get(word)
        if number is None:
            number = self.words[word] = known.count + len(self.words)
            new.append(word)
        return number

    def count_tokens(self) -> None:
        """Put the token counts into the payloads; another thread counted them meanwhile."""
        if self.kept_statements:
            for payload, prepared in zip(self.retained, self.kept_statements, strict=True):
                payload["tokens"] = prepared.tokens

    @property
    def retained(self) -> list[RetainRecord]:
        """The payloads of the memories that are recorded."""
        return [payload for kind, payload in self.operations if kind in RETAINING]

    def link(self, vectors: npt.NDArray[np.uint16], threshold: float) -> None:
        """Put the semantic links to earlier memories into the payloads.

        ``vectors``: of the recorded passages; the file holds them already, after the others.
        """
        self.columns.code_rows(self.replica.rows_of_file, needed=True)
        rows = self.columns.with_rows(self.memory_of_row, vectors)
        everything = self.replica.rows_followed_by(vectors)
        found = semantic_links(self.replica, rows, everything, threshold)
        for payload, links in zip(self.retained, found, strict=True):
            if links:
                payload["links"] = links


def is_same(columns: Columns, memory: int, statement: Statement) -> bool:
    """Return whether ``statement`` is equal to the open ``memory``.

    A statement without a time of its own is equal at any time.
    """
    return (
        columns.text(memory) == statement.text
        and (
            statement.said_at is None or int(columns.array("said_at")[memory]) == statement.said_at
        )
        and int(columns.array("network")[memory]) == statement.network
        and int(columns.array("valid_end")[memory])
        == (OPEN_END if statement.valid_until is None else statement.valid_until)
        and all(
            columns.label_in(field.key, memory) == getattr(statement, field.key) for field in LABELS
        )
        and int(columns.array("role")[memory]) == statement.role
        and int(columns.array("trust")[memory]) == statement.trust
        and columns.tags(memory) == list(statement.tags)
        and columns.metadata(memory) == orjson.loads(orjson.dumps(statement.metadata))
    )
