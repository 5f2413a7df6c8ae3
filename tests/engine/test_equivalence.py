"""Does a recall depend on anything but the operations? Stores that went different ways, compared.

Every operation goes to two stores. One is never closed and never checkpointed; the other is
checkpointed, reopened, rebuilt from its log and followed by a reader. They must answer alike, to
the bit. Vectors are made from the words of a small vocabulary, so that equal texts tie.
"""

import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

import recollex
from recollex.errors import InputError
from recollex_engine.domain.question import Question
from recollex_engine.ranking.presets import DEFAULT, TEMPR
from recollex_engine.recall import pipeline
from recollex_engine.writing import checkpoint, draft, maintenance
from tests.engine.histories import DIMENSION, WordVectors
from tests.searching import LONGER

START = datetime(2024, 5, 1, 12, tzinfo=UTC)
WORDS = [
    *("tea", "cello", "puppy", "garden", "train", "letter"),
    *("like", "bought", "lost", "the", "a", "and"),
    *("zymurgy", "quokka"),  # rare
]
NAMES = ["Ann", "Ben", "Oslo"]  # Ann is a hub
WORD = st.sampled_from([*WORDS * 3, *NAMES, "Ann", "Ann", "Ann"])
TEXT = st.lists(WORD, min_size=1, max_size=8).map(" ".join)
LONG = st.builds(
    lambda seed, count: (
        ". ".join(" ".join(np.random.default_rng(seed + i).choice(WORDS, 12)) for i in range(count))
        + "."
    ),
    st.integers(0, 3),
    st.integers(14, 30),
)
REPEATED = st.sampled_from(["Ann lost the tea", "the puppy and a quokka", "tea " * 300])
TEXTS = st.one_of(TEXT, TEXT, TEXT, REPEATED, LONG)
MOMENT = st.integers(0, 6).map(lambda step: START + timedelta(hours=9 * step))
ID = st.sampled_from([None, None, None, "m1", "m2", "m3"])
STATEMENT = st.fixed_dictionaries(
    {
        "text": TEXTS,
        "id": ID,
        "event_at": st.one_of(st.none(), MOMENT),
        "network": st.sampled_from(["world", "agent", "opinion"]),
        "document_id": st.sampled_from([None, "d1", "d2"]),
        "tags": st.sampled_from([[], ["x"], ["x", "y"]]),
        "metadata": st.sampled_from([{}, {"k": 1}, {"k": [1, {"z": None}], "who": "Zoë"}]),
        "entities": st.sampled_from([[], ["Ann"], ["Ann", "The Quokka Club"]]),
        "source": st.sampled_from([None, "user", "tool", "crm"]),
    }
)
TURN = st.fixed_dictionaries(
    {
        "speaker": st.sampled_from(["Ann", "Ben"]),
        "text": TEXTS,
        "at": MOMENT,
        "id": st.sampled_from([None, None, "m2", "t1"]),
    }
)
QUERIES: list[tuple[str, dict[str, object]]] = [
    ("Ann tea", {}),
    ("quokka zymurgy unheard", {"thinking_budget": 3, "max_tokens": 40}),
    ('"the tea" puppy', {}),
    ('"lost and"', {}),
    ("letter train", {"network": ["world", "opinion"], "tags": ["x"]}),
    ("puppy", {"where": {"k": 1}, "since": START + timedelta(hours=9)}),
    ("cello", {"until": START + timedelta(hours=20), "thinking_budget": 5}),
    ("what did Ann do in May 2024?", {"entities": ["ann"], "max_tokens": 25}),
    ("garden tea yesterday", {"document_id": "d1", "exact": True}),
    ("lost letter", {"trust": "tool"}),
]


class OneOfTwo:
    """One of the stores: a folder, and the agent in it."""

    def __init__(self, folder: Path, clock: Callable[[], datetime], tail_rows: int) -> None:
        self.folder = folder
        self.clock = clock
        self.tail_rows = tail_rows
        self.open()

    def open(self) -> None:
        self.store = recollex.open(
            self.folder, embedder=WordVectors(), durability="off", clock=self.clock
        )
        self.agent = self.store.agent("a")

    def follower(self) -> recollex.Store:
        return recollex.open(self.folder, read_only=True, embedder=WordVectors(), clock=self.clock)


def answers(agent: recollex.Agent) -> list[object]:
    """Everything that recalls say, scores as they are."""
    said: list[object] = []
    for query, options in QUERIES:
        recall = agent.recall(query, explain=True, **options)
        assert not recall.trace.errors
        said.append((query, recall.op, recall.tokens, recall.signs, recall.ids, list(recall)))
    said.append(agent.list(limit=1000))
    return said


def answers_at(agent: recollex.Agent, op: int) -> list[object]:
    """What two exact recalls say in the view of an earlier operation."""
    inner = agent.engine
    view = inner.view(op)
    assert view is not None
    said: list[object] = []
    for text in ("Ann tea garden", "quokka letter"):
        for preset in (DEFAULT, TEMPR):
            recall = pipeline.recall(
                view,
                Question(text, exact=True),
                preset,
                inner.context.analyzer("english"),
                WordVectors(),
                0,
                token_counter="",
                counter=inner.counter,
                costs=inner.counting.costs("wordpiece"),
                latency=inner.context.latency,
                explain=True,
            )
            assert not recall.trace.errors
            said.append((recall.op, recall.tokens, recall.signs, list(recall)))
    return said


class Stores(RuleBasedStateMachine):
    @initialize(segment_rows=st.sampled_from([5, 16]), tail_rows=st.sampled_from([6, 1 << 40]))
    def start(self, segment_rows: int, tail_rows: int) -> None:
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(checkpoint, "TAIL_ROWS", checkpoint.TAIL_ROWS)  # undone at the end
        self.patch.setattr(checkpoint, "SEGMENT_ROWS", segment_rows)
        self.patch.setattr(checkpoint, "LOG_BYTES", 6_000)
        self.patch.setattr(maintenance, "CLOSING_TAIL", 12)
        self.patch.setattr(os, "fsync", lambda fd: None)  # what the disk keeps is tested elsewhere
        self.patch.setattr(os, "fdatasync", lambda fd: None)
        self.patch.setattr(draft, "id_of", lambda _: str(UUID(int=next(self.uuids))))
        self.folder = Path(tempfile.mkdtemp())
        self.now = START
        self.calls = 0
        self.past: dict[int, list[object]] = {}
        self.checked: list[object] | None = None
        self.oracle = OneOfTwo(self.folder / "oracle", lambda: self.now, 1 << 40)
        self.tested = OneOfTwo(self.folder / "tested", lambda: self.now, tail_rows)
        self.follower = self.tested.follower()

    def teardown(self) -> None:
        if hasattr(self, "patch"):
            self.patch.undo()  # first: what it changed would fail other tests as well
            for store in (self.oracle.store, self.follower):
                store.close()
            self.tested.store.close()
            shutil.rmtree(self.folder)

    def both(self, call: Callable[[recollex.Agent], object]) -> None:
        """Do the same in both stores, at the same time and with the same new ids.

        What is refused, such as another text for the id of an opinion, is refused by both.
        """
        self.calls += 1
        self.now += timedelta(minutes=7)
        results: list[object] = []
        for one in (self.oracle, self.tested):
            self.uuids: Iterator[int] = iter(range(self.calls * 1000, self.calls * 1000 + 999))
            checkpoint.TAIL_ROWS = one.tail_rows
            try:
                results.append(call(one.agent))
            except InputError as refusal:
                results.append(str(refusal))
        assert results[0] == results[1]
        self.checked = None

    @rule(statements=st.lists(STATEMENT, min_size=1, max_size=4))
    def retain(self, statements: list[dict[str, object]]) -> None:
        options = {name: [each[name] for each in statements] for name in statements[0]}
        texts = options.pop("text")
        self.both(lambda agent: agent.retain_many(texts, **options))

    @rule(place=st.integers(0, 2), text=TEXT, many=st.integers(1, 12))
    def retain_given_vector(self, place: int, text: str, many: int) -> None:
        vector = np.eye(3, DIMENSION)[place]
        self.both(lambda agent: agent.retain_many([text] * many, embedding=[vector] * many))

    @rule(
        turns=st.lists(TURN, max_size=5),
        document=st.sampled_from(["d1", "d3"]),
        replace=st.booleans(),
    )
    def retain_dialogue(self, turns: list[dict[str, object]], document: str, replace: bool) -> None:
        self.both(lambda agent: agent.retain_dialogue(turns, document_id=document, replace=replace))

    @precondition(lambda self: self.calls)
    @rule(places=st.lists(st.integers(0, 40), min_size=1, max_size=3))
    def forget(self, places: list[int]) -> None:
        held = self.oracle.agent.list(limit=41)
        ids = [held[place].id for place in places if place < len(held)]
        if ids:
            self.both(lambda agent: agent.forget(ids))

    @rule()
    def checkpoint(self) -> None:
        self.tested.agent.checkpoint()
        self.checked = None

    @rule()
    def reopen(self) -> None:
        self.tested.store.close()
        self.tested.open()
        self.checked = None

    @rule(manifest=st.booleans())
    def rebuild(self, manifest: bool) -> None:
        self.tested.store.close()
        folder = self.tested.folder / "agents" / "a"
        for derived in (folder / "columns", *folder.glob("segment-*")):
            if derived.exists():
                shutil.rmtree(derived)
        if manifest:
            (folder / "MANIFEST").unlink(missing_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            self.tested.open()
        self.checked = None

    @rule()
    def reopen_follower(self) -> None:
        self.follower.close()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            self.follower = self.tested.follower()
            self.follower.agent("a").recall("tea")
        self.checked = None

    @invariant()
    def answers_are_equal(self) -> None:
        if not getattr(self, "calls", 0) or self.checked is not None:
            return
        expected = answers(self.oracle.agent)
        assert answers(self.tested.agent) == expected
        assert answers(self.follower.agent("a")) == expected
        op = self.oracle.agent.stats().operations
        if not op:
            return
        self.past.setdefault(op, answers_at(self.oracle.agent, op))
        for earlier in list(self.past)[:: max(1, len(self.past) // 3)]:
            assert answers_at(self.tested.agent, earlier) == self.past[earlier]
            assert answers_at(self.oracle.agent, earlier) == self.past[earlier]
        self.checked = expected

    @precondition(lambda self: self.calls)
    @rule()
    def verify(self) -> None:
        assert self.tested.agent.verify().problems == ()


Stores.TestCase.settings = settings(
    max_examples=12 * LONGER,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestStores = Stores.TestCase
