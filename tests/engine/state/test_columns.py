"""Columns against a model of what the operations say, however they were grouped and reopened."""

import gc
import tempfile
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.clock import OPEN_END
from recollex_engine.domain.schema import CLOSED, DICTIONARIES, LISTS, NONE, schema
from recollex_engine.domain.settings import Settings
from recollex_engine.log.reader import LogOperation
from recollex_engine.state.applying import apply
from recollex_engine.state.column_set import ColumnSet
from recollex_engine.state.columns import CODED_FROM, Columns, StoredCounts
from recollex_engine.state.word_pieces import VOCABULARY, PassagePieces
from recollex_engine.text.names import fold_name

DIMENSION = 8
CREATED = Settings("given-8", DIMENSION, "english", 1, "words")
SURFACES = ["Ann", "Ben", "The Hague", "Ångström"]
SEED = st.integers(0, 2**32)


class History:
    """Operations made at random, and what they come to, kept in plain lists."""

    def __init__(self, random, count):
        self.operations = [LogOperation(1, 100, "create", CREATED.to_payload())]
        self.memories = []  # payloads
        self.opened_by = []
        self.closed_by = []
        self.forgotten_by = []
        self.archived = []
        self.rows = [0]
        self.pieces = []  # of each row: the vocabulary and the ids
        self.vocabulary = None
        self.counts = [0, 0]  # memories after each operation, from 0
        self.entities = {}
        self.words = {}
        self.vectors = np.random.default_rng(random.getrandbits(32)).standard_normal((4000, 8))
        for op in range(2, count + 2):
            if random.random() < 0.1:
                self.vocabulary = random.choice(["one", "two"])
                self.operations.append(
                    LogOperation(op, 100 + op, VOCABULARY, {"name": self.vocabulary})
                )
                self.counts.append(len(self.memories))
                continue
            opened = [m for m, closed in enumerate(self.closed_by) if not closed]
            if opened and random.random() < 0.2:
                chosen = random.sample(opened, min(len(opened), random.randint(1, 3)))
                for memory in chosen:
                    self.closed_by[memory] = op
                kind, payload = self.close(random, chosen)
            elif self.archived and random.random() < 0.2:
                memory = self.archived.pop()
                self.forgotten_by[memory] = op
                kind, payload = "forget", {"memories": [memory]}
            else:
                kind, payload = "retain", self.retain(random, op)
            self.operations.append(LogOperation(op, 100 + op, kind, payload))
            self.counts.append(len(self.memories))

    def close(self, random, chosen):
        kind, payload = (
            random.choice(["forget", "replace", "archive"]),
            {"memories": sorted(chosen)},
        )
        if kind == "archive":
            self.archived += chosen
            payload |= {"by": "Ann", "why": "it is over"}
        return kind, payload

    def retain(self, random, op):
        id = f"m{random.randint(0, 12)}"
        passages = random.choice([1, 1, 1, 3])
        text = random.choice(["tea", "größer", "日本 tea"]) * passages
        payload = {"id": id, "text": text, "said": random.randint(-5, 5)}
        payload["tokens"] = [random.randint(1, 9) for _ in range(1 if passages == 1 else 4)]
        if passages > 1:
            payload["passages"] = [(0, 1), (1, 2), (2, len(text))]
        older = [m for m, memory in enumerate(self.memories) if memory["id"] == id]
        if older:
            payload["previous"] = older[-1]
            if not self.closed_by[older[-1]]:
                payload["replaces"] = older[-1]
                self.closed_by[older[-1]] = op
        if random.random() < 0.5:
            payload |= {"event": (3, 7), "network": random.randint(0, 2), "document": "d1"}
            payload |= {"context": "call", "speaker": "Ann", "tags": ["x", "y"]}
            payload["metadata"] = {"k": [1, None], "ä": "b"}
            payload["valid_until"] = 12
        terms = []
        new = []
        for _ in range(passages):
            chosen = [random.choice([None, "tea", f"w{random.randint(0, 60)}"]) for _ in range(4)]
            for word in chosen:
                if word is not None and word not in self.words:
                    self.words[word] = len(self.words)
                    new.append(word)
            terms.append([-1 if word is None else self.words[word] for word in chosen])
        payload["terms"] = terms
        if new:
            payload["words"] = new
        surfaces = random.sample(SURFACES, random.randint(0, 3))
        named = [s for s in surfaces if s not in self.entities]
        for surface in named:
            self.entities[surface] = len(self.entities)
        if surfaces:
            payload["entities"] = [self.entities[surface] for surface in surfaces]
        if named:
            payload["names"] = [(s, fold_name(s), self.entities[s]) for s in named]
        if self.memories:
            targets = random.sample(range(len(self.memories)), min(len(self.memories), 2))
            payload["links"] = [(target, 0.75) for target in targets]
        ids = [np.array([], np.uint16)] * passages
        if self.vocabulary is not None and random.random() < 0.7:
            ids = [
                np.array([random.randrange(1 << 16) for _ in range(random.randint(0, 3))], "<u2")
                for _ in range(passages)
            ]
            payload["pieces"] = PassagePieces(self.vocabulary, tuple(ids)).encoded()
        self.pieces += [(self.vocabulary, each.tolist()) for each in ids]
        self.memories.append(payload)
        self.opened_by.append(op)
        self.closed_by.append(0)
        self.forgotten_by.append(0)
        self.rows.append(self.rows[-1] + passages)
        return payload

    def rows_of(self, first, end):
        return self.vectors[first:end].astype(np.float16).view(np.uint16)


def persist(columns, folder, generation):
    """What a checkpoint does; returns the columns opened again from it."""
    for name, column in columns.column.all().items():
        column.persist(folder / name, sync=False)
        column.write_back(sync=False)
    for name, dictionary in columns.dictionary.items():
        dictionary.persist(folder, name, generation, sync=False)
    return Columns(
        folder,
        StoredCounts(
            columns.settings,
            {name: column.count for name, column in columns.column.items()},
            {name: dictionary.count for name, dictionary in columns.dictionary.items()},
            generation,
        ),
    )


def walk(chain, columns, name, key):
    """The memories that a chain leads to, newest first."""
    found, entry = [], int(chain.head[key]) if key < len(chain.head) else NONE
    while entry != NONE:
        found.append(
            int(columns.array("mention_memory" if name == "mention" else "link_source")[entry])
        )
        entry = int(columns.array(f"{name}_previous")[entry])
    return found


def check(columns, history):
    assert columns.op == len(history.operations)
    assert columns.memories == len(history.memories)
    assert columns.rows == history.rows[-1]
    for memory, payload in enumerate(history.memories):
        assert columns.text(memory) == payload["text"]
        assert columns.metadata(memory) == payload.get("metadata", {})
        assert columns.tags(memory) == payload.get("tags", [])
        assert columns.label(int(columns.array("document")[memory])) == payload.get("document")
        assert columns.array("op")[memory] == history.opened_by[memory]
        assert columns.array("closed_by")[memory] == history.closed_by[memory]
        assert columns.array("forgotten_by")[memory] == history.forgotten_by[memory]
        assert columns.array("valid_end")[memory] == payload.get("valid_until", OPEN_END)
        assert columns.array("previous")[memory] == payload.get("previous", NONE)
        assert columns.array("first_row")[memory] == history.rows[memory]
        incoming = [
            source
            for source, other in reversed(list(enumerate(history.memories)))
            if memory in [target for target, _ in other.get("links", [])]
        ]
        assert walk(columns.incoming, columns, "link", memory) == incoming
    for surface, entity in history.entities.items():
        for form in (surface, surface.upper(), surface.lower()):
            assert columns.entity(form, columns.op) == entity
        assert columns.entity_name(entity) == surface
        naming = [m for m, p in enumerate(history.memories) if entity in p.get("entities", [])]
        assert walk(columns.mentions, columns, "mention", entity) == naming[::-1]
    assert columns.entity("Nobody", columns.op) is None
    offsets, since = columns.array("piece_offset"), columns.array("vocabulary_row")
    assert len(offsets) in (0, columns.rows + 1)
    for row, (vocabulary, ids) in enumerate(history.pieces):
        first, end = offsets[row : row + 2].tolist() if len(offsets) else (0, 0)
        assert columns.array("piece")[first:end].tolist() == ids
        named = np.searchsorted(since, row, side="right") - 1
        if ids:
            assert columns.label(int(columns.array("vocabulary")[named])) == vocabulary
    assert columns.vocabulary == history.vocabulary
    assert columns.array("op_memories").tolist() == history.counts[1:]
    for operation in history.operations:
        kind, by, why = (
            columns.label(int(columns.array(name)[operation.op - 1]))
            for name in ("op_kind", "op_by", "op_why")
        )
        said = (operation.payload.get("by"), operation.payload.get("why"))
        assert (kind, by, why) == (operation.kind, *said)


def same_bytes(one, other):
    for name in schema():
        assert one.array(name).tobytes() == other.array(name).tobytes(), name
    for name in DICTIONARIES:
        count = one.dictionary[name].count
        assert other.dictionary[name].count == count
        assert one.dictionary[name].strings(range(count)) == other.dictionary[name].strings(
            range(count)
        )


@settings(deadline=None, max_examples=40)
@given(SEED, st.integers(1, 60))
def test_columns_say_what_the_operations_say_however_they_are_grouped(seed, count):
    random = Random(seed)
    history = History(random, count)
    whole = Columns(Path("unused"))
    apply(whole, history.operations, history.rows_of)
    check(whole, history)
    with tempfile.TemporaryDirectory() as folder:
        columns, at, generation = Columns(Path(folder)), 0, 0
        while at < len(history.operations):
            end = at + random.randint(1, 20)
            apply(columns, history.operations[at:end], history.rows_of)
            at = end
            if random.random() < 0.5:
                generation += 1
                columns = persist(columns, Path(folder), generation)
        check(columns, history)
        same_bytes(columns, whole)


@settings(deadline=None, max_examples=40)
@given(SEED, st.integers(1, 40))
def test_each_operation_has_its_own_open_memories_and_versions(seed, count):
    history = History(Random(seed), count)
    columns = Columns(Path("unused"))
    apply(columns, history.operations, history.rows_of)
    for op, memories in enumerate(history.counts[1:], 1):
        closed = [0 < history.closed_by[memory] <= op for memory in range(memories)]
        assert columns.open_at(memories, op).tolist() == [1 - each for each in closed]
        for id in {payload["id"] for payload in history.memories}:
            versions = [m for m in range(memories) if history.memories[m]["id"] == id]
            newest = versions[-1] if versions and not closed[versions[-1]] else None
            assert columns.newest(id, memories, op) == newest
    assert columns.newest("nobody", columns.memories, columns.op) is None


@settings(deadline=None, max_examples=30)
@given(SEED, st.integers(2, 40), st.integers(1, 40))
def test_closures_beyond_what_was_read_of_the_log_are_not_believed(seed, count, kept):
    """A checkpoint writes closures into the file before its manifest is in force."""
    history = History(Random(seed), count)
    kept = min(kept, count)
    with tempfile.TemporaryDirectory() as folder:
        columns = Columns(Path(folder))
        apply(columns, history.operations[:kept], history.rows_of)
        columns = persist(columns, Path(folder), 1)
        stored = StoredCounts(
            columns.settings,
            {name: column.count for name, column in columns.column.items()},
            {name: dictionary.count for name, dictionary in columns.dictionary.items()},
            1,
        )
        apply(columns, history.operations[kept:], history.rows_of)
        for name in CLOSED:
            columns.column[name].write_back(sync=False)
        again = Columns(Path(folder), stored)
        closed = [c if c <= kept else 0 for c in history.closed_by[: again.memories]]
        assert again.array("closed_by").tolist() == closed
        assert again.array("forgotten_by").max(initial=0) <= kept
        assert again.open_at(again.memories, kept).tolist() == [1 - bool(c) for c in closed]
        apply(again, history.operations[kept:], history.rows_of)
        check(again, history)
        same_bytes(again, columns)


def test_rows_that_were_tried_on_leave_nothing():
    history = History(Random(1), 30)
    columns = Columns(Path("unused"))
    apply(columns, history.operations[:20], history.rows_of)
    columns.code_rows(history.rows_of, needed=True)
    held = columns.array("code4")
    before = held.tobytes()
    rows = columns.rows
    tried = columns.with_rows([columns.memories] * 500, history.rows_of(0, 600)[rows : rows + 500])
    assert len(tried.memory_of_row) == rows + 500
    assert columns.rows == rows
    apply(columns, history.operations[20:], history.rows_of)
    check(columns, history)
    assert held.tobytes() == before


def test_few_rows_have_codes_once_they_are_needed_and_then_as_if_made_at_once():
    history = History(Random(3), 500)
    assert history.rows[-1] > CODED_FROM
    whole, parts, asked = Columns(Path("a")), Columns(Path("b")), Columns(Path("c"))
    apply(whole, history.operations, history.rows_of)
    assert whole.array("code_factor").all()
    for at, operation in enumerate(history.operations):
        for columns in (parts, asked):
            apply(columns, [operation], history.rows_of)
        assert len(parts.array("code_factor")) in (0, parts.rows)
        assert (len(parts.array("code4")) > 0) == (parts.rows >= CODED_FROM)
        if at == 50:
            assert asked.rows < CODED_FROM
            asked.code_rows(history.rows_of, needed=True)
        assert len(asked.array("code_loss")) == (asked.rows if at >= 50 else 0)
    same_bytes(whole, parts)
    same_bytes(whole, asked)


def test_applying_leaves_nothing_to_the_collector():
    history = History(Random(5), 60)
    columns = Columns(Path("unused"))
    gc.collect()
    gc.disable()
    try:
        apply(columns, history.operations, history.rows_of)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_what_a_view_holds_does_not_change_while_columns_grow():
    history = History(Random(2), 400)
    columns = Columns(Path("unused"))
    apply(columns, history.operations[:50], history.rows_of)
    memories = columns.memories
    opened = columns.open_at(memories, 50)
    names = [name for name in schema() if name not in CLOSED]
    held = {name: columns.array(name) for name in names}
    before = {name: array.tobytes() for name, array in held.items()}
    mask = opened.tobytes()
    for operation in history.operations[50:]:
        apply(columns, [operation], history.rows_of)
    assert opened.tobytes() == mask == columns.open_at(memories, 50).tobytes()
    for name, array in held.items():
        assert array.tobytes() == before[name], name
    check(columns, history)


def test_a_name_that_is_not_applied_yet_is_not_found():
    columns = Columns(Path("unused"))
    columns.dictionary["names"].intern("ann")  # a transaction is being applied
    assert columns.entity("Ann", 0) is None
    columns.dictionary["ids"].add_many(["m1"] + [f"n{number}" for number in range(200)])
    assert columns.newest("m1", 0, 0) is None
    assert columns.newest("n199", 0, 0) is None


@pytest.mark.parametrize("name", sorted(LISTS))
def test_offsets_begin_at_zero(name):
    columns = Columns(Path("unused"))
    assert columns.array(f"{name}_offset").tolist() == [0]
    assert columns.array("first_row").tolist() == [0]


def test_columns_that_are_extended_together_tell_whether_one_moved():
    columns = ColumnSet(Path("columns"), {})
    assert columns.extend_all({"op_kind": [1], "op_by": [2]})
    assert not columns.extend_all({"op_kind": [3], "op_by": []})
    room = len(columns["op_by"].buffer) - 1
    assert columns.extend_all({"op_by": range(room + 1), "op_kind": [4]})
    assert columns.array("op_kind").tolist() == [1, 3, 4]
    assert len(columns.array("op_by")) == room + 2
