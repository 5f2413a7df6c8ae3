"""The listener of a scripted history: an agent that writes turns by a policy, and their facts.

Facts are recorded by the rules of `scripted_histories.Beliefs`, but from the memories that the
policy wrote, since the agent knows only these.
"""

import random
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import recollex
from bench.tables.lib.scripted_histories import ASKED, Line, Telling, best

DOCUMENT = "talk"
SECOND = timedelta(seconds=1)
END = timedelta(minutes=60)
"""Times after a session's first turn: END of its periodic write, ASK of its questions, CUT of the
cut."""
ASK, CUT = 2 * END, 3 * END


class Listener:
    """One agent that hears a history under one policy."""

    def __init__(self, agent: recollex.Agent, policy: recollex.WritePolicy | None) -> None:
        self.agent = agent
        self.policy = policy
        self.lines: dict[str, Line] = {}
        self.sources: dict[str, list[str]] = {}  # memory -> the turns that it holds
        self.events: dict[str, list[str]] = {}  # subject and predicate -> events
        self.at: datetime | None = None

    def session(self, lines: list[Line], rng: random.Random, taken: list[float]) -> None:
        """Hear a session's turns, end it, and be asked about it."""
        start = lines[0].at
        for line in lines:
            self.lines[line.id] = line
            turn = {"speaker": line.speaker, "text": line.text, "at": line.at, "id": line.id}
            options: dict[str, Any] = {} if self.policy is None else {"policy": self.policy}
            started = time.perf_counter()
            ids = self.agent.retain_dialogue(
                [turn], document_id=DOCUMENT, recorded_at=line.at, **options
            )
            taken.append((time.perf_counter() - started) * 1000)
            self._learn([id for id in ids if id is not None], line.at + SECOND)
        if self.policy is not None:
            ended = self.agent.sessions.end(DOCUMENT, recorded_at=start + END)
            self._learn(ended, start + END + SECOND)
            self._ask(lines, start + ASK, rng)

    def _ask(self, lines: list[Line], at: datetime, rng: random.Random) -> None:
        """Ask about two things told in this session and one at random; backfill what is missed."""
        told = [line.telling for line in lines if line.telling is not None]
        known = [line.telling for line in self.lines.values() if line.telling is not None]
        chosen = rng.sample(told, min(2, len(told))) + rng.sample(known, min(1, len(known)))
        for number, telling in enumerate(chosen):
            moment = at + number * 60 * SECOND
            found = self.agent.facts.find(
                subject=telling.subject, predicate=telling.predicate, as_world=moment
            )
            objects = {fact.object for fact in found}
            because = {0: "abstention", 1: None}.get(len(objects), "temporal conflict")
            query = ASKED[telling.predicate].format(s=telling.subject)
            assert self.policy is not None
            recall = self.agent.recall(query, max_tokens=self.policy.read_tokens, now=moment)
            ids = self.agent.sessions.backfill(
                recall, document_id=DOCUMENT, because=because, recorded_at=moment
            )
            self._learn(ids, moment + SECOND)

    def _learn(self, ids: list[str], at: datetime) -> None:
        """Record the content of newly written memories."""
        for id in ids:
            self.sources[id] = self.agent.get(id).metadata.get("write_turns", [id])
            for source in self.sources[id]:
                telling = self.lines[source].telling
                if telling is not None:
                    with self.agent.transaction(by="memotrace", recorded_at=at) as transaction:
                        self._record(transaction, telling, f"{source}", id)
                    at += SECOND

    def _record(self, tx: recollex.Transaction, told: Telling, name: str, memory: str) -> None:
        """Record the content of one turn by the rules of `Beliefs.tell`."""
        known = list(self.agent.facts.find(subject=told.subject, predicate=told.predicate))
        sure = [fact for fact in known if fact.confidence == 1.0]
        end = None
        if told.kind == "settle":
            for fact in known:
                if fact.confidence < 1.0 and fact.object == told.object:
                    tx.facts.archive(fact.id, why=memory)
            return
        if told.kind == "state":
            end = min((f.valid[0] for f in sure if f.valid[0] > told.start), default=None)
            for fact in sure:
                begun, over = fact.valid
                assert begun is not None
                if begun < told.start and (over is None or told.start < over):
                    evidence = [*fact.evidence, memory]
                    tx.facts.correct(fact.id, valid_end=told.start, evidence=evidence)
        elif told.kind in ("object", "start"):
            wrong = told.wrong if told.kind == "object" else told.object
            if found := [fact for fact in sure if fact.object == wrong]:
                self._correct(tx, told, found[-1], sure, memory)
                return
        tx.facts.add(
            told.subject,
            told.predicate,
            told.object,
            valid=(told.start, end),
            evidence=memory,
            confidence=0.5 if told.kind == "rumour" else 1.0,
            id=name,
        )
        event = f"event {name}"
        tx.events.add(
            self.lines[name].text,
            participants=[told.subject],
            facts=[name],
            span=(told.start, told.start + timedelta(days=1)),
            id=event,
        )
        key = f"{told.subject} {told.predicate}"
        self.events.setdefault(key, []).append(event)
        tx.events.add_episode(key, self.events[key], id=key)

    def _correct(
        self,
        tx: recollex.Transaction,
        told: Telling,
        old: recollex.Fact,
        sure: Sequence[recollex.Fact],
        memory: str,
    ) -> None:
        if old.valid[1] is not None and told.start >= old.valid[1]:
            return
        for fact in sure:
            begun, over = fact.valid
            assert begun is not None
            if over == old.valid[0] and begun < told.start:
                evidence = [*fact.evidence, memory]
                tx.facts.correct(fact.id, valid_end=told.start, evidence=evidence)
        tx.facts.correct(
            old.id, object=told.object, valid_start=told.start, evidence=[*old.evidence, memory]
        )

    def answer(self, key: tuple[str, str], cut: dict[str, datetime]) -> tuple[str | None, int]:
        """Return the answer of the facts under a cut, and how many different objects they name."""
        found = self.agent.facts.find(subject=key[0], predicate=key[1], **cut)
        facts = [(fact.confidence < 1.0, fact.recorded[0], str(fact.object)) for fact in found]
        return best(facts), len({each[2] for each in facts})

    def followed(self, ids: list[str]) -> list[str]:
        """Return a ranking in which the first three are followed by memories of their episodes."""
        order: list[str] = []
        agent = self.agent
        for id in ids[:3]:
            order.append(id)
            for fact in agent.facts.find(evidence=id):
                for event in agent.events.find(fact=fact.id):
                    for episode in agent.events.episodes(event=event.id):
                        for other in episode.events:
                            for name in agent.events.get(other).facts:
                                order += agent.facts.get(name).evidence
        return list(dict.fromkeys([*order, *ids]))
