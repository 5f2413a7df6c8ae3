"""How does something become a memory? Validated, logged, made durable, applied, published.

The writer alone holds the agent's lock file. A call is one transaction: all of it is in the log or
nothing is. What chance or a version decides on the way (entities, semantic links, token counts)
goes into the log with it.
"""

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from recollex_engine.clock import Clock, from_micros
from recollex_engine.columns import NONE, STOP_WORD
from recollex_engine.commit import CommitWord
from recollex_engine.durability import Durability
from recollex_engine.entities import EntityTable, fold
from recollex_engine.errors import CorruptError, InputError, UnknownIdError
from recollex_engine.links import semantic_links
from recollex_engine.lock import WriterLock
from recollex_engine.log import LogWriter
from recollex_engine.log_reader import LogFollower, Operation, Transaction
from recollex_engine.preparation import Prepared
from recollex_engine.replica import LOG, VECTORS, Replica
from recollex_engine.restoration import TextEmbedder, restore_vectors
from recollex_engine.settings import Settings
from recollex_engine.statement import Statement
from recollex_engine.vectors_file import VectorsWriter, checksum

NUMBERS = 100_000
"""Words whose numbers a writer keeps at hand."""
COAPPEARANCES = 64
"""How many of an entity's newest mentions are looked at when two names are compared."""


class Overtaken(Exception):  # noqa: N818 - not an error: the caller looks again
    """Another thread recorded something after the caller had looked at what was recorded."""


class Writer:
    """The one writer of an agent's folder.

    Threads: any number may call; appends happen in one order, and the threads that wait for the
    disk share one flush.
    """

    def __init__(
        self,
        folder: Path,
        durability: Durability,
        clock: Clock,
        embedder_for: Callable[[Settings], TextEmbedder],
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.lock_file = WriterLock(folder / "LOCK")
        try:
            self.clock = clock
            self.numbers: dict[str | None, int] = {None: STOP_WORD}
            self.replica = Replica(folder)
            self.log = LogWriter(
                folder / LOG,
                self.replica.position,
                durability=durability,
                before_flush=self._flush_vectors,
            )
            self.vectors: VectorsWriter | None = None
            self.lock = threading.RLock()
            self._names: EntityTable | None = None
            try:
                self._recover()
            except CorruptError as error:
                if error.path != folder / VECTORS:
                    raise
                restore_vectors(self.log, folder / VECTORS, embedder_for, clock)
                self.replica = Replica(folder)
                self._recover()
            self.commit_word = CommitWord(folder / "COMMIT", writable=True)
            # Never back, not even after the manifest was lost: readers wait for a greater one.
            self.replica.generation = max(self.replica.generation, self.commit_word.generation)
            self.commit_word.generation = self.replica.generation
            self.commit_word.op = self.replica.published
        except BaseException:
            self._let_go()
            raise

    def _recover(self) -> None:
        """Apply what the log holds beyond the last checkpoint, and see that its vectors are there.

        Raises `CorruptError` with the path of the vectors file if they are not.
        """
        follower = LogFollower(self.replica.folder / LOG, self.replica.position)
        try:
            self.replica.follow(follower, None, check_vectors=True)
        finally:
            follower.close()
        if self.replica.columns.rows:
            self.replica.rows_of_file(0, self.replica.columns.rows)

    def _let_go(self) -> None:
        """Close what an opening that failed has opened."""
        try:
            if (log := getattr(self, "log", None)) is not None:
                log.close()
        finally:
            self.lock_file.close()

    def _flush_vectors(self) -> None:
        if self.vectors is not None:
            self.vectors.sync()

    @property
    def settings(self) -> Settings | None:
        """What was fixed when the agent was created; None before that."""
        return self.replica.columns.settings

    def create(self, settings: Settings, before: int | None) -> None:
        """Record the settings of a new agent; nothing happens where there are some already.

        ``before``: the recorded time of what comes next, if it is given.
        """
        with self.lock:
            if self.settings is None:
                at = None if before is None else before - 1
                self._commit([("create", settings.to_payload())], None, at)

    def retain(
        self,
        prepared: Sequence[Prepared],
        vectors: npt.NDArray[np.float16],
        recorded_at: int | None,
        replaced_document: Sequence[int] = (),
        link_threshold: float | None = None,
        as_of: int | None = None,
    ) -> list[str]:
        """Record statements as one transaction and return their ids, in order.

        ``vectors`` float16[passages, dimension] holds the passages of all of them in order. A
        statement whose id exists is left out when equal, and replaces the older one when not.
        ``replaced_document``: memories to close in the same transaction. ``as_of``: the operation
        after which the caller looked at what is recorded; `Overtaken` if there was another since.
        """
        with self.lock:
            if as_of is not None and self.replica.columns.op > as_of:
                raise Overtaken
            batch = _Batch(self, vectors.view(np.uint16), link_threshold)
            if replaced_document:
                batch.operations.append(("replace", {"memories": list(replaced_document)}))
            try:
                for statement in prepared:
                    batch.add(statement)
                op = batch.commit(recorded_at)
            except BaseException:
                self._names = None  # it may hold names of a transaction that never happened
                raise
        self.publish(op)
        return batch.ids

    def forget(self, ids: Sequence[str], agent: str, recorded_at: int | None = None) -> None:
        """Record that memories are forgotten, as one transaction.

        Raises `UnknownIdError` for the first id that is not an open memory; nothing is forgotten
        then.
        """
        with self.lock:
            columns = self.replica.columns
            memories = []
            for id in ids:
                memory = columns.newest(id, columns.memories, columns.op)
                if memory is None:
                    raise UnknownIdError(id, agent)
                memories.append(memory)
            unique = sorted(set(memories))
            op = self._commit([("forget", {"memories": unique})], None, recorded_at)
        self.publish(op)

    def remember(self, word: str, number: int) -> None:
        """Keep the number of a word at hand."""
        if len(self.numbers) >= NUMBERS:
            self.numbers = {None: STOP_WORD}
        self.numbers[word] = number

    def names(self) -> EntityTable:
        """Return the table of entity names, built from the columns on first use."""
        if self._names is None:
            columns = self.replica.columns
            self._names = EntityTable()
            name_of = columns.dictionary["names"].string
            for number, entity in enumerate(columns.array("name_entity").tolist()):
                self._names.add(name_of(number), entity)
        return self._names

    def _commit(
        self,
        payloads: Sequence[tuple[str, dict[str, Any]]],
        vectors: npt.NDArray[np.uint16] | None,
        recorded_at: int | None,
    ) -> int:
        """Log and apply one transaction; return its last op, not yet published."""
        replica = self.replica
        last = self.log.position.recorded_at
        at = max(self.clock(), last + 1) if recorded_at is None else recorded_at
        if at <= last:
            raise InputError(
                f"recorded_at must be later than the last recorded time, {from_micros(last)}, "
                f"got {from_micros(at)}"
            )
        encoded = [(kind, orjson.dumps(payload)) for kind, payload in payloads]
        position = self.log.append(at, encoded)
        first = position.op - len(payloads) + 1
        operations = [
            Operation(first + place, at, kind, payload)
            for place, (kind, payload) in enumerate(payloads)
        ]
        try:
            replica.apply([Transaction(at, first, operations, position)], vectors)
        except BaseException as error:  # the log holds all of it, the columns perhaps a part
            self.log.poison(error)
            raise
        return position.op

    def append_vectors(self, vectors: npt.NDArray[np.uint16]) -> None:
        """Write the vectors of a transaction that is about to be logged."""
        columns = self.replica.columns
        if self.vectors is None:
            path = self.replica.folder / VECTORS
            self.vectors = VectorsWriter(path, columns.dimension, columns.rows)
        self.vectors.rewind(columns.rows)  # a transaction that failed may have left some
        self.vectors.append(vectors.view(np.float16))

    def publish(self, op: int) -> None:
        """Wait until ``op`` is durable as asked, then let readers see it."""
        self.log.wait_durable(op)
        with self.lock:
            if op > self.replica.published:
                self.replica.published = op
                self.commit_word.op = op

    def close(self) -> None:
        """Flush, close, and let another writer in."""
        try:
            self.log.close()
        finally:
            if self.vectors is not None:
                self.vectors.close()
            self.replica.close()
            self.lock_file.close()


class _Batch:
    """One retain call on its way into the log: what it would add, beside what there is."""

    def __init__(
        self, writer: Writer, vectors: npt.NDArray[np.uint16], link_threshold: float | None
    ) -> None:
        self.writer = writer
        self.columns = writer.replica.columns
        self.vectors = vectors
        self.operations: list[tuple[str, dict[str, Any]]] = []
        self.ids: list[str] = []
        self.kept: list[int] = []  # passages, among `vectors`, of statements that are recorded
        self.memory_of_row: list[int] = []
        self.passage = 0
        self.memories = self.columns.memories
        self.words: dict[str, int] = {}
        self.entities = self.columns.entities
        self.statements: dict[str, tuple[int, Statement]] = {}
        self.link_threshold = link_threshold

    def add(self, prepared: Prepared) -> None:
        statement = prepared.statement
        passages = range(self.passage, self.passage + len(prepared.passages))
        self.passage = passages.stop
        id = statement.id or _uuid()
        self.ids.append(id)
        previous = replaces = None
        if statement.id is not None:
            if (staged := self.statements.get(id)) is not None:
                previous, before = staged
                replaces = previous
                if before == statement:
                    return
            else:
                previous, replaces = self._versions(id)
                if replaces is not None and is_same(self.columns, replaces, statement):
                    return
            self.statements[id] = (self.memories, statement)
        memory = self.memories
        self.memories += 1
        self.kept.extend(passages)
        self.memory_of_row.extend([memory] * len(passages))
        payload = self._payload(id, prepared)
        if previous is not None:
            payload["previous"] = previous
        if replaces is not None:
            payload["replaces"] = replaces
        self.operations.append(("retain", payload))

    def _versions(self, id: str) -> tuple[int | None, int | None]:
        """Return the newest memory that ever had ``id``, and that one again if it is open."""
        key = self.columns.dictionary["ids"].get(id)
        if key is None:
            return None, None
        open_one = self.columns.newest(id, self.columns.memories, self.columns.op)
        return self.columns.newest_of(key), open_one

    def _payload(self, id: str, prepared: Prepared) -> dict[str, Any]:
        statement = prepared.statement
        payload: dict[str, Any] = {"id": id, "text": statement.text, "said": prepared.said_at}
        if prepared.event is not None:
            payload["event"] = prepared.event
        if statement.network:
            payload["network"] = statement.network
        for name in ("document", "context", "speaker"):
            if (value := getattr(statement, name)) is not None:
                payload[name] = value
        for name in ("tags", "metadata"):
            if value := getattr(statement, name):
                payload[name] = value
        self._resolve_names(prepared, payload)
        self._number_words(prepared, payload)
        if len(prepared.passages) > 1:
            payload["passages"] = prepared.passages
        payload["tokens"] = prepared.tokens
        return payload

    def _resolve_names(self, prepared: Prepared, payload: dict[str, Any]) -> None:
        table = self.writer.names()
        entities: list[int] = []
        named: list[tuple[str, str, int]] = []
        for surface in prepared.names:
            entity = table.get(surface)
            if entity is None:
                entity = table.resolve(
                    surface, prepared.said_at, entities, self._shared, self._last_seen
                )
                if entity is None:
                    entity = self.entities
                    self.entities += 1
                table.add(surface, entity)
                named.append((surface, fold(surface), entity))
            if entity not in entities:
                entities.append(entity)
        if entities:
            payload["entities"] = entities
        if named:
            payload["names"] = named

    def _mentions(self, entity: int) -> list[int]:
        """Return the newest memories that name ``entity``, of those already recorded."""
        head = self.columns.mentions.head
        found: list[int] = []
        if entity >= self.columns.entities:
            return []
        memory = self.columns.array("mention_memory")
        previous = self.columns.array("mention_previous")
        entry = int(head[entity])
        while entry != NONE and len(found) < COAPPEARANCES:
            found.append(int(memory[entry]))
            entry = int(previous[entry])
        return found

    def _shared(self, entity: int, others: Sequence[int]) -> int:
        offsets = self.columns.array("mention_offset")
        entities = self.columns.array("mention_entity")
        wanted = set(others)
        return sum(
            not wanted.isdisjoint(entities[int(offsets[m]) : int(offsets[m + 1])].tolist())
            for m in self._mentions(entity)
        )

    def _last_seen(self, entity: int) -> int:
        mentions = self._mentions(entity)[:1]
        return int(self.columns.array("said_at")[mentions[0]]) if mentions else -(2**62)

    def _number_words(self, prepared: Prepared, payload: dict[str, Any]) -> None:
        number = self.writer.numbers.get
        new: list[str] = []
        payload["terms"] = numbered = [
            list(map(number, sequence)) for sequence in prepared.sequences
        ]
        for terms, sequence in zip(numbered, prepared.sequences, strict=True):
            if None in terms:
                for place, word in enumerate(sequence):
                    if terms[place] is None:
                        terms[place] = self._number(word, new)
        if new:
            payload["words"] = new

    def _number(self, word: str | None, new: list[str]) -> int:
        """Return the number of a word, which goes into ``new`` if this is its first time."""
        if word is None:
            return STOP_WORD
        known = self.columns.dictionary["terms"]
        number = known.get(word)
        if number is not None:
            self.writer.remember(word, number)
            return number
        number = self.words.get(word)
        if number is None:
            number = self.words[word] = known.count + len(self.words)
            new.append(word)
        return number

    def commit(self, recorded_at: int | None) -> int:
        """Find the links, write the transaction; return its last op."""
        writer = self.writer
        if not self.operations:
            return writer.replica.columns.op
        vectors = self.vectors
        if len(self.kept) < len(vectors):
            vectors = vectors[self.kept]
        retained = [payload for kind, payload in self.operations if kind == "retain"]
        if len(vectors):
            writer.append_vectors(vectors)
            if self.link_threshold is not None:
                self._link(retained, vectors, self.link_threshold)
            retained[0]["vectors"] = {"rows": len(vectors), "sha256": checksum(vectors)}
        return writer._commit(self.operations, vectors, recorded_at)

    def _link(
        self, retained: list[dict[str, Any]], vectors: npt.NDArray[np.uint16], threshold: float
    ) -> None:
        """Put into the payloads which earlier memories they are like."""
        columns, replica = self.columns, self.writer.replica
        first = columns.rows
        columns.extend_rows(self.memory_of_row, vectors)
        try:
            everything = replica.rows_of_file(0, first + len(vectors))
            found = semantic_links(replica, first, everything, threshold)
        finally:
            columns.drop_rows(first)
        for payload, links in zip(retained, found, strict=True):
            if links:
                payload["links"] = links


def _uuid() -> str:
    """Return a random UUID, version 4 (RFC 9562), in a third of the standard library's time."""
    digits = os.urandom(16).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def is_same(columns: Any, memory: int, statement: Statement) -> bool:
    """Return whether ``statement`` says again what the open ``memory`` says already.

    A statement without a time of its own is the same at any time.
    """

    def label(name: str) -> str | None:
        return columns.label(int(columns.array(name)[memory]))  # type: ignore[no-any-return]

    return (
        columns.text(memory) == statement.text
        and (
            statement.said_at is None or int(columns.array("said_at")[memory]) == statement.said_at
        )
        and int(columns.array("network")[memory]) == statement.network
        and label("document") == statement.document
        and label("context") == statement.context
        and label("speaker") == statement.speaker
        and columns.tags(memory) == list(statement.tags)
        and columns.metadata(memory) == orjson.loads(orjson.dumps(statement.metadata))
    )
