"""Names that join entities and are split off, against a model, through reopening and rebuilding."""

import os
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import recollex
from recollex.errors import InputError, UnknownIdError
from recollex_engine.text import names as entity_table
from tests.bindings.word_vectors import WordVectors

NAMES = ["John Chen", "John Chenn", "Jon Chen", "Mara Lind", "Mara Linde", "Oslo"]
NAME = st.sampled_from(NAMES)
START = datetime(2024, 5, 1, tzinfo=UTC)

Shown = dict[str, tuple[frozenset[str], frozenset[str]]]
"""For each name, the ids of its memories, and those of its facts."""


class Machine(RuleBasedStateMachine):
    """The model holds which names each memory and fact says, and the entity of each name.

    Which entity a new name joins is taken from the engine: other tests are about that.
    """

    @initialize()
    def start(self) -> None:
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(entity_table, "MATCH_THRESHOLD", 0.55)  # "John Chenn" is John Chen
        self.patch.setattr(os, "fsync", lambda fd: None)
        self.patch.setattr(os, "fdatasync", lambda fd: None)
        self.folder = Path(tempfile.mkdtemp())
        self.now = START
        self.memories: dict[str, tuple[str, ...]] = {}
        self.facts: dict[str, tuple[str, str]] = {}
        self.entity: dict[str, str] = {}  # name -> the first name of its entity
        self.above: dict[str, str] = {}  # first name of an entity -> that of the one it is in
        self.past: dict[datetime, Shown] = {}
        self.open()

    def teardown(self) -> None:
        if hasattr(self, "patch"):
            self.store.close()
            self.patch.undo()
            shutil.rmtree(self.folder)

    def open(self, **options: Any) -> None:
        self.store = recollex.open(
            self.folder,
            embedder=WordVectors(),
            durability="off",
            clock=lambda: self.now,
            **options,
        )
        self.agent = self.store.agent("a")

    def root(self, name: str) -> str:
        found = self.entity[name]
        while found in self.above:
            found = self.above[found]
        return found

    def meet(self, *names: str) -> None:
        """Take from the engine which entity a new name joined."""
        view = self.agent.engine.view()
        for name in names:
            if name not in self.entity:
                number = view.columns.entity(name, view.op)
                assert number is not None
                self.entity[name] = view.columns.entity_name(number)

    @rule(names=st.lists(NAME, min_size=1, max_size=3, unique=True), given=st.booleans())
    def retain(self, names: list[str], given: bool) -> None:
        self.now += timedelta(hours=1)
        id = f"m{len(self.memories)}"
        text = f"we did thing {len(self.memories)} with"
        if given:
            self.agent.retain(text, id=id, entities=names)
        else:
            self.agent.retain(f"{text} {' and '.join(names)}.", id=id)
        self.memories[id] = tuple(names)
        self.meet(*names)

    @rule(given=st.lists(st.lists(NAME, min_size=1, max_size=2, unique=True), max_size=3))
    def retain_many(self, given: list[list[str]]) -> None:
        self.now += timedelta(hours=1)
        ids = [f"m{len(self.memories) + place}" for place in range(len(given))]
        self.agent.retain_many([f"it was {id}" for id in ids], id=ids, entities=given)
        for id, names in zip(ids, given, strict=True):
            self.memories[id] = tuple(names)
            self.meet(*names)

    @precondition(lambda self: self.memories)
    @rule(data=st.data())
    def amend(self, data: Any) -> None:
        self.now += timedelta(hours=1)
        id = data.draw(st.sampled_from(sorted(self.memories)))
        self.agent.amend(id, tags=[f"tag {self.now.isoformat()}"])

    @precondition(lambda self: self.entity)
    @rule(data=st.data())
    def add_fact(self, data: Any) -> None:
        self.now += timedelta(hours=1)
        known = st.sampled_from(sorted(self.entity))
        subject, object = data.draw(known), data.draw(known)
        id = f"f{len(self.facts)}"
        self.agent.facts.add(subject, "knows", object, id=id)
        self.facts[id] = subject, object
        if data.draw(st.booleans()):
            self.agent.facts.correct(id, confidence=0.5)

    @rule(name=NAME, by_entity=st.booleans())
    def split(self, name: str, by_entity: bool) -> None:
        self.now += timedelta(hours=1)
        if name not in self.entity:
            with pytest.raises(UnknownIdError):
                self.agent.facts.split(name)
            return
        first = self.entity[name]
        if by_entity:
            say = lambda: self.agent.facts.split(self.root(name), name=name)  # noqa: E731
        else:
            say = lambda: self.agent.facts.split(name)  # noqa: E731
        if first != name and (by_entity or first not in self.above):
            say()
            self.entity[name] = name
        elif first in self.above:
            say()
            del self.above[first]
        else:
            with pytest.raises(InputError):
                say()

    @rule(pair=st.tuples(NAME, NAME))
    def merge(self, pair: tuple[str, str]) -> None:
        source, target = pair
        self.now += timedelta(hours=1)
        if not {source, target} <= set(self.entity):
            return
        one, other = self.entity[source], self.entity[target]
        if self.root(source) == self.root(target) or one in self.above:
            return  # the order of several merges is the subject of other tests
        self.agent.facts.merge(source, target)
        self.above[one] = other

    @rule(what=st.sampled_from(["checkpoint", "reopen", "rebuild"]))
    def change_nothing(self, what: str) -> None:
        if what == "checkpoint":
            self.agent.checkpoint()
            return
        self.store.close()
        if what == "rebuild" and (self.folder / "agents" / "a").exists():
            shutil.rmtree(self.folder / "agents" / "a" / "columns", ignore_errors=True)
            (self.folder / "agents" / "a" / "MANIFEST").unlink(missing_ok=True)
        self.open()

    def shown(self, agent: Any) -> Shown:
        return {
            name: (
                frozenset(memory.id for memory in agent.list(entities=[name], limit=1000)),
                frozenset(
                    fact.id
                    for part in ("subject", "object")
                    for fact in agent.facts.find(**{part: name})
                ),
            )
            for name in NAMES
        }

    def expected(self) -> Shown:
        found: Shown = {}
        for name in NAMES:
            if name not in self.entity:
                found[name] = frozenset(), frozenset()
                continue
            same = {each for each in self.entity if self.root(each) == self.root(name)}
            found[name] = (
                frozenset(id for id, said in self.memories.items() if same & set(said)),
                frozenset(id for id, said in self.facts.items() if same & set(said)),
            )
        return found

    @invariant()
    def every_cut_is_the_models(self) -> None:
        if not self.memories:
            return
        self.now += timedelta(minutes=1)  # an agent's first memory is recorded after its settings
        shown = self.expected()
        assert self.shown(self.agent) == shown
        self.past[self.now] = shown
        for moment in list(self.past)[:: max(1, len(self.past) // 3)]:
            assert self.shown(self.agent.at(moment)) == self.past[moment]


Machine.TestCase.settings = settings(
    max_examples=40,
    stateful_step_count=14,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestNameSplits = Machine.TestCase
