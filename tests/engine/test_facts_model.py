"""Facts, entities and events against a naive bitemporal model, through reopening and rebuilding."""

import os
import shutil
import tempfile
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import recollex
from recollex_engine.errors import InputError, MergeCycleError, UnknownIdError
from tests.engine.bitemporal_model import FACTS, NAMES, START, Model, year
from tests.engine.model_comparison import ModelComparison
from tests.engine.one_vector import OneVector
from tests.searching import LONGER

OBJECTS = [*NAMES, recollex.Text("tea"), 3, 3.5, True, datetime(2000, 1, 1, tzinfo=UTC)]
NAME = st.sampled_from(NAMES)
YEAR = st.integers(0, 5)
SPAN = st.tuples(st.none() | YEAR, st.none() | YEAR).filter(
    lambda span: None in span or span[0] < span[1]
)
PREDICATE = st.sampled_from(["likes", "lives_in", "likes", "alias_of"])


class Machine(RuleBasedStateMachine):
    @initialize()
    def start(self):
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(os, "fsync", lambda fd: None)
        self.patch.setattr(os, "fdatasync", lambda fd: None)
        self.folder = Path(tempfile.mkdtemp())
        self.model = Model()
        self.open()
        self.agent.retain("the first memory", id="m0")  # and the agent's settings, on day 0
        self.model.memories.add("m0")
        self.model.now = 1
        self.reader = recollex.open(
            self.folder, read_only=True, embedder=OneVector(), clock=self.clock
        )
        self.checked = None
        self.upsert_now("f0", "Ann", "likes", "Oslo", (None, 3), ["m0"], 1.0)
        self.upsert_now("f1", "Bob", "likes", "Oslo", (1, None), [], 0.5)
        self.upsert_now("f2", "Ann", "likes", "Rome", (3, 5), [], 1.0)
        self.event_now("e0", ["f0"], ["Ann"], (2, 3))
        self.event_now("e1", ["f1", "f2"], ["Bob", "Oslo"], (None, None))

    def clock(self):
        return START + timedelta(days=self.model.now)

    def open(self):
        self.store = recollex.open(
            self.folder, embedder=OneVector(), durability="off", clock=self.clock
        )
        self.agent = self.store.agent("a")

    def teardown(self):
        if hasattr(self, "patch"):
            self.store.close()
            self.reader.close()
            self.patch.undo()
            shutil.rmtree(self.folder)

    def begin(self):
        self.model.now += 1
        self.checked = None

    # -- operations ------------------------------------------------------------------------------

    @rule(number=st.integers(0, 3))
    def retain(self, number):
        self.begin()
        self.agent.retain(f"memory {number} at {self.model.now}", id=f"m{number}")
        self.model.memories.add(f"m{number}")

    @precondition(lambda self: self.model.memories)
    @rule(data=st.data())
    def forget(self, data):
        id = data.draw(st.sampled_from(sorted(self.model.memories)))
        self.begin()
        self.agent.forget(id)
        self.model.memories.remove(id)

    @rule(
        data=st.data(),
        id=st.sampled_from(FACTS),
        subject=NAME,
        predicate=PREDICATE,
        object=st.sampled_from(OBJECTS),
        span=SPAN,
        confidence=st.sampled_from([1.0, 0.5, 0.0]),
    )
    def upsert(self, data, id, subject, predicate, object, span, confidence):
        if predicate == "alias_of" and not isinstance(object, str):
            object = "Oslo"
        known = st.sampled_from([*sorted(self.model.memories), "gone"])
        evidence = data.draw(st.lists(known, max_size=2))
        self.upsert_now(id, subject, predicate, object, span, evidence, confidence)

    def upsert_now(self, id, subject, predicate, object, span, evidence, confidence):
        self.begin()
        say = lambda: self.agent.facts.add(  # noqa: E731
            subject,
            predicate,
            object,
            valid=(year(span[0]), year(span[1])),
            evidence=evidence,
            confidence=confidence,
            id=id,
        )
        if "gone" in evidence:
            with pytest.raises(UnknownIdError, match="gone"):
                say()
            return
        content = {
            "subject": subject,
            "predicate": predicate,
            "object": object,
            "valid": span,
            "evidence": tuple(evidence),
            "confidence": confidence,
        }
        old = self.model.open(self.model.facts, id)
        new = old is None or old[1] != content
        if predicate == "alias_of" and new and self.model.refuses(subject, object):
            with pytest.raises(MergeCycleError):
                say()
            return
        say()
        self.model.meet(subject)
        if isinstance(object, str):
            self.model.meet(object)
        self.model.put(self.model.facts, id, content)

    @rule(id=st.sampled_from(FACTS), end=st.none() | YEAR, object=st.sampled_from(OBJECTS))
    def correct(self, id, end, object):
        self.begin()
        old = self.model.open(self.model.facts, id)
        say = lambda: self.agent.facts.correct(  # noqa: E731
            id, valid_end=year(end), object=object, by="me", why="wrong"
        )
        if old is None:
            with pytest.raises(UnknownIdError):
                say()
            return
        content = old[1] | {"valid": (old[1]["valid"][0], end), "object": object}
        start = content["valid"][0]
        is_alias = content["predicate"] == "alias_of"
        if (
            (end is not None and start is not None and end <= start)
            or (is_alias and not isinstance(object, str))
            or (is_alias and content != old[1] and self.model.refuses(old[1]["subject"], object))
        ):
            with pytest.raises(InputError):
                say()
            return
        say()
        if isinstance(object, str):
            self.model.meet(object)
        self.model.put(self.model.facts, id, content)

    @rule(id=st.sampled_from(FACTS))
    def archive(self, id):
        self.begin()
        old = self.model.open(self.model.facts, id)
        if old is None:
            with pytest.raises(UnknownIdError):
                self.agent.facts.archive(id)
            return
        self.agent.facts.archive(id)
        old[3] = self.model.now

    @rule(pair=st.tuples(NAME, NAME))
    def merge(self, pair):
        source, target = pair
        self.begin()
        met = {source, target} <= set(self.model.met)
        if not met or self.model.refuses(source, target):
            with pytest.raises(MergeCycleError if met else UnknownIdError):
                self.agent.facts.merge(source, target)
            return
        self.agent.facts.merge(source, target)
        parent = self.model.parents(self.model.now)
        if self.model.top(parent, source) != self.model.top(parent, target):
            self.model.merges.append((self.model.now, source, target))

    @rule(name=NAME)
    def split(self, name):
        self.begin()
        held = [merge for merge in self.model.merges if merge[1] == name]
        parted = [when for when, who in self.model.splits if who == name]
        if not held or (parted and parted[-1] > held[-1][0]):
            with pytest.raises(InputError if name in self.model.met else UnknownIdError):
                self.agent.facts.split(name)
            return
        self.agent.facts.split(name)
        self.model.splits.append((self.model.now, name))

    @rule(name=NAME)
    def add_entity(self, name):
        self.begin()
        self.agent.facts.add_entity(name, types=["thing"])
        self.model.meet(name)
        self.model.records.append((self.model.now, name))

    @rule(
        id=st.sampled_from(["e0", "e1"]),
        facts=st.lists(st.sampled_from(FACTS), max_size=2, unique=True),
        names=st.lists(NAME, max_size=2, unique=True),
        span=SPAN,
    )
    def event(self, id, facts, names, span):
        self.event_now(id, facts, names, span)

    def event_now(self, id, facts, names, span):
        self.begin()
        known = {version[0] for version in self.model.facts}
        say = lambda: self.agent.events.add(  # noqa: E731
            f"what {id} is", participants=names, facts=facts, span=tuple(map(year, span)), id=id
        )
        if not set(facts) <= known:
            with pytest.raises(UnknownIdError):
                say()
            return
        say()
        self.model.meet(*names)
        content = {"kind": "event", "facts": facts, "names": names, "span": span}
        self.model.put(self.model.events, id, content)

    @precondition(lambda self: len({version[0] for version in self.model.events}) > 1)
    @rule(relation=st.sampled_from(["causes", "subevent"]))
    def link(self, relation):
        self.begin()
        ids = {version[0] for version in self.model.events if version[1]["kind"] == "event"}
        if ids != {"e0", "e1"}:
            return
        self.agent.events.link("e0", relation, "e1")
        name = {"subevent": "subevent_of"}.get(relation, relation)
        if all(link[1] != name for link in self.model.links):
            self.model.links.append((self.model.now, name))

    @precondition(lambda self: self.model.events)
    @rule()
    def episode(self):
        self.begin()
        ids = sorted({v[0] for v in self.model.events if v[1]["kind"] == "event"})
        self.agent.events.add_episode("all of it", ids, id="p")
        content = {"kind": "episode", "events": ids}
        self.model.put(self.model.events, "p", content)

    @rule(names=st.lists(NAME, min_size=1, max_size=3))
    def refused(self, names):
        """A transaction whose last operation is refused leaves nothing."""
        self.begin()
        before = self.agent.stats().operations
        with (
            pytest.raises(recollex.errors.OperationError, match=r"operation \d+ \(ARCHIVE_EDGE\)"),
            self.agent.transaction(by="nobody") as tx,
        ):
            for name in names:
                tx.facts.add(name, "likes", f"New {name}")
            tx.retain("a memory that never was", id="never")
            tx.facts.archive("no such fact")
        assert self.agent.stats().operations == before

    @rule(name=NAME, number=st.integers(4, 6))
    def together(self, name, number):
        """A fact that cites a memory of its own transaction, and is corrected in it."""
        self.begin()
        id = f"m{number}"
        with self.agent.transaction(by="me", why="together") as tx:
            memory = tx.retain(f"{name.lower()} again at {self.model.now}", id=id)
            tx.facts.add(name, "likes", "Rome", evidence=memory, id="f0")
            tx.facts.correct("f0", object=3)
        self.model.meet(name, "Rome")
        self.model.memories.add(id)
        content = {
            "subject": name,
            "predicate": "likes",
            "object": "Rome",
            "valid": (None, None),
            "evidence": (id,),
            "confidence": 1.0,
        }
        self.model.put(self.model.facts, "f0", content)
        if self.model.facts[-1][0] == "f0" and self.model.facts[-1][2] == self.model.now:
            self.model.facts[-1][3] = self.model.now
        else:
            self.model.open(self.model.facts, "f0")[3] = self.model.now
        self.model.facts.append(["f0", content | {"object": 3}, self.model.now, None])

    # -- what must not change anything -----------------------------------------------------------

    @rule(what=st.sampled_from(["checkpoint", "reopen", "rebuild", "rebuild all", "verify"]))
    def change_nothing(self, what):
        self.checked = None
        if what == "checkpoint":
            self.agent.checkpoint()
        elif what == "verify":
            assert self.agent.verify().problems == ()
        else:
            self.store.close()
            if what != "reopen":
                self.drop_derived(manifest=what == "rebuild all")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                self.open()
                if what != "reopen":
                    self.reader.close()
                    self.reader = recollex.open(
                        self.folder, read_only=True, embedder=OneVector(), clock=self.clock
                    )
                    self.reader.agent("a").stats()

    def drop_derived(self, manifest):
        folder = self.folder / "agents" / "a"
        for derived in (folder / "columns", *folder.glob("segment-*")):
            if derived.exists():
                shutil.rmtree(derived)
        if manifest:
            (folder / "MANIFEST").unlink(missing_ok=True)

    # -- what must hold --------------------------------------------------------------------------

    @invariant()
    def every_cut_is_the_models(self):
        if getattr(self, "checked", True) is not None:
            return
        now = self.model.now
        comparison = ModelComparison(self.model)
        for agent in (self.agent, self.reader.agent("a")):
            for at in (None, now - 1, 1 + now // 2):
                for world in (None, 3):
                    comparison.compare(agent, at, world)
            comparison.compare_history(agent)
        self.checked = now


Machine.TestCase.settings = settings(
    max_examples=12 * LONGER,
    stateful_step_count=14,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # a history is short as it is
)
TestFacts = Machine.TestCase
