"""Moves between models, writes and reopening at random, compared with a twin."""

import os
import shutil
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

import recollex
from recollex_engine.errors import ModelError, ModelMismatchError
from recollex_engine.storage.vectors_file import HEADER_BYTES
from recollex_engine.writing import checkpoint, maintenance, reembedding
from tests.engine.writing.named_model import LONG, MODELS, START, WORDS, Model, answers
from tests.searching import LONGER

STEP = timedelta(hours=1)


def vectors_of(agent: recollex.Agent) -> bytes:
    """The vectors in force; the file may hold others after them."""
    path, counted = agent.engine.replica().vectors_path, agent.stats().passages
    return path.read_bytes()[HEADER_BYTES:][: 2 * agent.engine.dimension * counted]


class Moves(RuleBasedStateMachine):
    """The twin was told the same, from the beginning, under the model that is in force."""

    @initialize(tail=st.sampled_from([4, 1 << 40]))
    def start(self, tail: int) -> None:
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(reembedding, "BATCH", 3)
        self.patch.setattr(checkpoint, "TAIL_ROWS", tail)
        self.patch.setattr(maintenance, "CLOSING_TAIL", 6)
        self.patch.setattr(os, "fsync", lambda fd: None)
        self.patch.setattr(os, "fdatasync", lambda fd: None)
        self.home = Path(tempfile.mkdtemp())
        self.folder = self.home / "s" / "agents" / "a"
        self.now, self.model, self.told = START, MODELS[0], []
        self.moments: list[datetime] = []
        self.open()
        self.retain([("m0", "The tea is here.")])

    def open(self) -> None:
        self.store = self.opened(self.home / "s", Model(*self.model))
        self.agent = self.store.agent("a")

    def opened(self, path: Path, model: Model) -> recollex.Store:
        return recollex.open(path, embedder=model, durability="off", clock=lambda: self.now)

    def teardown(self) -> None:
        if hasattr(self, "patch"):
            try:
                self.compare()
            finally:
                self.store.close()
                self.patch.undo()
                shutil.rmtree(self.home)

    def compare(self) -> None:
        assert self.agent.verify().problems == ()
        now = self.now
        with self.opened(self.home / "twin", Model(*self.model)) as store:
            twin = store.agent("a")
            for at, call in self.told:
                self.now = at
                call(twin)
            assert twin.list(limit=1000) == self.agent.list(limit=1000)
            assert vectors_of(twin) == vectors_of(self.agent)
            for moment in self.moments[:: max(1, len(self.moments) // 2)]:
                self.now = max(now, moment)
                assert answers(self.agent.at(moment), moment) == answers(twin.at(moment), moment)
        self.now = now
        shutil.rmtree(self.home / "twin")

    def tell(self, call) -> None:
        self.now += STEP
        self.told.append((self.now, call))
        call(self.agent)
        self.moments.append(self.now + STEP / 2)
        self.now += STEP

    @rule(
        texts=st.lists(
            st.tuples(
                st.sampled_from([f"m{n}" for n in range(9)]),
                st.sampled_from([f"Ann: the {a} of {b}." for a in WORDS for b in WORDS]),
            ),
            min_size=1,
            max_size=5,
            unique_by=lambda each: each[0],
        ),
        long=st.booleans(),
    )
    def retain(self, texts, long=False) -> None:
        ids = [id for id, _ in texts]
        said = [text + LONG * long for _, text in texts]
        self.tell(lambda agent: agent.retain_many(said, id=ids, event_at=START))

    @rule(place=st.integers(0, 8))
    def forget(self, place: int) -> None:
        held = self.agent.list(limit=9)
        if place < len(held):
            self.tell(lambda agent: agent.forget(held[place].id))

    @rule()
    def fold(self) -> None:
        self.agent.checkpoint()

    @rule(model=st.sampled_from(MODELS), fails_after=st.sampled_from([0, 4, 7, 1 << 40]))
    def move(self, model, fails_after: int) -> None:
        """Move beside a reader; where the model falls silent, the old vectors go on serving."""
        self.store.close()
        before = answers_of_reader(self.home / "s", self.model, self.now)
        moving = Model(*model, fails_after)
        with recollex.open(
            self.home / "s", embedder=Model(*self.model), read_only=True, clock=lambda: self.now
        ) as store:
            reader = store.agent("a")
            assert answers(reader, self.now) == before
            try:
                made = reembedding.reembed(self.folder, "a", moving, self.micros, 1)
                assert made == len(moving.embedded)
            except ModelError:
                assert answers(reader, self.now) == before
            else:
                if model != self.model:
                    with pytest.raises(
                        ModelMismatchError, match=f"reembed .*{model[0]}@1|{model[0]}@1"
                    ):
                        reader.recall("tea")
                    self.model = model
        self.now += STEP
        self.open()

    def micros(self) -> int:
        return int(self.now.timestamp() * 1e6)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.open()
        self.compare()


def answers_of_reader(path: Path, model: tuple[str, int], now: datetime) -> list[object]:
    with recollex.open(path, embedder=Model(*model), read_only=True) as store:
        return answers(store.agent("a"), now)


def test_what_was_told_stays_and_the_vectors_are_the_new_models():
    run_state_machine_as_test(
        Moves, settings=settings(max_examples=12 * LONGER, stateful_step_count=10, deadline=None)
    )
