"""Erasures within random histories of memories, corrections, facts, events and entities.

After each erasure the agent is what its log says: `verify` finds nothing, a reader and an agent
that is opened again hold the same, and a cut is a store rebuilt from the log up to there.
"""

import contextlib
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import recollex
from recollex_engine.errors import InputError, UnknownIdError
from tests.engine.faults.small_store import Model, opened

START = datetime(2024, 5, 1, tzinfo=UTC)
PEOPLE = ["Ann Lee", "Ben Oak", "Eve Fox", "Ann", "Ben", "Zoe Quill", "Max Penn", "The Max Club"]
WORDS = "tea ink owl fig oak bay elm jam kit log".split()  # noqa: SIM905


class History:
    """Does one random thing after another to an agent."""

    def __init__(self, agent, seed):
        self.agent, self.rng, self.step = agent, np.random.default_rng(seed), 0
        self.known, self.facts, self.events = [], [], []
        self.gone = set()

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))] if items else "none"

    def text(self):
        parts = [self.pick(PEOPLE), *(self.pick(WORDS) for _ in range(3)), self.pick(PEOPLE)]
        return " ".join(parts) + f" u{self.step}u." * int(self.rng.integers(1, 60) // 55 * 30 + 1)

    def do(self):
        self.step += 1
        act = self.pick(
            ["retain"] * 5
            + ["batch", "correct", "forget", "archive", "replace", "fact", "fact", "fact"]
            + ["mend", "end", "event", "event", "link", "episode", "entity", "merge"]
        )
        at = START + timedelta(minutes=self.step)
        with contextlib.suppress(InputError):  # such as of a memory that is not open
            getattr(self, act)(at)

    def retain(self, at):
        id = f"m{self.step}"
        options = {"document_id": self.pick([None, "d1", "d2"]), "tags": [self.pick("xyz")]}
        people = self.pick([(), (self.pick(PEOPLE),)])
        self.known.append(id)
        self.agent.retain(self.text(), id=id, recorded_at=at, entities=people, **options)

    def batch(self, at):
        ids = [f"m{self.step}.{n}" for n in range(4)]
        self.agent.retain_many([self.text() for _ in ids], id=ids, recorded_at=at)
        self.known += ids

    def correct(self, at):
        self.agent.correct(self.pick(self.known), self.text(), by="x", recorded_at=at)

    def forget(self, at):
        self.agent.forget([self.pick(self.known)], why=self.text(), recorded_at=at)

    def archive(self, at):
        self.agent.archive(self.pick(self.known), recorded_at=at)

    def replace(self, at):
        turns = [{"speaker": self.pick(PEOPLE[:3]), "text": self.text()} for _ in range(2)]
        self.agent.retain_dialogue(turns, document_id="d2", replace=True, recorded_at=at)

    def evidence(self):
        return [self.pick(self.known) for _ in range(int(self.rng.integers(0, 3)))]

    def fact(self, at):
        id = f"f{self.step}"
        quote = recollex.Mention("d1", (0, 3), self.pick(WORDS))
        self.agent.facts.add(
            self.pick(PEOPLE), self.pick(["knows", "likes"]), self.pick(PEOPLE), id=id,
            evidence=self.evidence(), mentions=self.pick([(), (quote,)]), recorded_at=at,
        )  # fmt: skip
        self.facts.append(id)

    def mend(self, at):
        evidence = self.evidence() or [self.known[-1]]
        self.agent.facts.correct(
            self.pick(self.facts), object=self.pick(PEOPLE), evidence=evidence, recorded_at=at
        )

    def end(self, at):
        self.agent.facts.archive(self.pick(self.facts), recorded_at=at)

    def event(self, at):
        facts = [self.pick(self.facts) for _ in range(int(self.rng.integers(0, 3)))]
        id = self.pick([f"e{self.step}", *self.events[-1:]])
        self.agent.events.add(
            self.text(), facts=facts, id=id, participants=[(self.pick(PEOPLE), "one")],
            recorded_at=at,
        )  # fmt: skip
        self.events.append(id)

    def link(self, at):
        self.agent.events.link(
            self.pick(self.events), "causes", self.pick(self.events), recorded_at=at
        )

    def episode(self, at):
        self.agent.events.add_episode(
            f"y{self.step}", [self.pick(self.events)], id=f"y{self.step}", recorded_at=at
        )

    def entity(self, at):
        self.agent.facts.add_entity(self.pick(PEOPLE), aliases=[f"al{self.step}"], recorded_at=at)

    def merge(self, at):
        self.agent.facts.merge(self.pick(PEOPLE), self.pick(PEOPLE), recorded_at=at)

    def erase(self):
        """Erase memories that were not erased before, or a document's; return the ids of all."""
        left = sorted(set(self.known) - self.gone)
        ids = {self.pick(left) for _ in range(int(self.rng.integers(1, 6)))}
        if self.pick([True, True, True, False]):
            self.agent.erase(sorted(ids), by="b", why="w")
        else:
            self.agent.erase(tags=["x"], document_id="d1", by="b", why="w")
        for id in self.known:
            try:
                self.agent.erase(id, by="b", why="w", preview=True)
            except UnknownIdError:
                self.gone.add(id)
        return self.gone


def everything(agent):
    recalls = [
        [(memory.id, memory.score, memory.entities) for memory in agent.recall(query, exact=True)]
        for query in ("Ann Lee tea", "owl of Max Penn", "u7u")
    ]
    memories = [(m.id, m.text, m.entities, m.tags) for m in agent.list(limit=9999)]
    facts = [(f.id, f.subject, f.object, f.evidence, f.recorded) for f in agent.facts.find()]
    events = [(e.id, e.summary, e.participants, e.facts) for e in agent.events.find()]
    episodes = [(e.id, e.events) for e in agent.events.episodes()]
    return recalls, memories, facts, events, episodes


@pytest.mark.parametrize(
    "seed", [1, 2, 3, *(pytest.param(n, marks=pytest.mark.slow) for n in range(4, 40))]
)
def test_erasures_within_a_history(tmp_path, seed):
    path = tmp_path / "store"
    with opened(path, embedder=Model()) as agent:
        history = History(agent, seed)
        for _ in range(8):
            history.retain(START - timedelta(days=1) + timedelta(minutes=len(history.known)))
        for _ in range(5):
            for _ in range(14):
                history.do()
            if history.pick([True, False]):
                agent.checkpoint()
        before = agent.log()[-1].recorded_at
        with opened(path, embedder=Model(), read_only=True) as reader:
            everything(reader)
            for _ in range(4):
                ids = history.erase()
                assert agent.verify().problems == ()
                held = everything(agent)
                assert everything(reader) == held
                assert not ids & {id for id, *_ in held[1]}
            for _ in range(3):
                history.retain(datetime.now(UTC))
                history.step += 1
        now = everything(agent)
        assert agent.verify().problems == ()
        cut = before - (before - START) / 2
        then = everything(agent.at(cut))
        agent.snapshot(cut, tmp_path / "cut")
    with opened(path, embedder=Model()) as agent:
        assert everything(agent) == now
        assert agent.verify().problems == ()
    with opened(tmp_path / "cut", embedder=Model()) as agent:
        assert agent.verify().problems == ()
        assert everything(agent.at(cut)) == then
    recollex.replay(path / "agents" / "a", tmp_path / "new", agent_id="a", embedder=Model())
    with opened(tmp_path / "new", embedder=Model()) as agent:
        assert everything(agent) == now
