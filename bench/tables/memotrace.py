"""What do the bitemporal cut, episodes and each write trigger bring? MemoTrace's own measures.

Claim: with every turn written, what facts answer under both cuts is what a naive bitemporal model
of the talk answers, without one error. A policy of at most 120 tokens a session keeps most of that
with a part of the turns; without the cut, answers about the past are wrong and contradict.

Command: python -m bench.memotrace [--histories 5] [--first-seed 101] [--json] [--out FILE]

Check: leaves with 1 if the store of every turn differs from the naive model in one answer or one
snapshot, or if leaving out the cut does not cost accuracy.

Histories are made by a seed (bench/scripted_histories.py): 30 sessions over 17 months, in which
changes in four properties of eight people are told in time, late, wrongly and corrected. Each turn
goes through `retain_dialogue` with a policy. Where a turn is written, what it tells is recorded as
facts, with the memory as evidence: by the same few rules as in the naive model, from what the agent
knows, so a correction of what was never written is itself the first that is known. No model reads
the turns: what a turn tells is scripted, and the triggers see its words alone. After each session
three questions are asked; where facts have no answer, or several, the tiers are read again
(backfill). In the end:

  Acc-AR   who, what, where as recorded at the end of a session, about that day
  Acc-AW   about a day of the past, by what is known in the end
  Acc-both about a day, as recorded earlier; no answer is right where none was told
  TC-F1    Time-Consistency-F1: triples of snapshots under both cuts against the naive model's
           (the paper names the measure and gives no formula)
  conflict Temporal-Conflict-Rate: answers with several objects where the model has one
  hit@5    Evidence-Hit@5: a turn that the belief rests on among the first 5 memories recalled
           for an Acc-AR question under its cut
  R@10     of "where has she lived over the years?": the share of its evidence among the first 10,
           with the first three memories followed through their facts, events and episodes
  growth   tokens and memories written a session, and the share of all tokens

Thresholds were looked at on seeds 1 to 5. Times are without the embedding model: vectors are kept.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import recollex
from bench.rundata import environment, percentiles, write_run
from bench.scripted_histories import (
    ASKED,
    ASKED_ALL,
    ASKED_OF,
    Beliefs,
    Line,
    Telling,
    best,
    history,
    written,
)
from bench.tables.metrics import bootstrap
from bench.tables.vectors import KeptVectors
from recollex_engine.triggers import TRIGGERS

DOCUMENT = "talk"
QUESTIONS = 120
"""Of each kind, a history."""
SNAPSHOTS = 20
SECOND = timedelta(seconds=1)
END = timedelta(minutes=60)
"""From a session's first turn to its periodic write, to its questions, to the cut behind it."""
ASK, CUT = 2 * END, 3 * END

POLICY = recollex.WritePolicy(session_gap=timedelta(hours=6))
SYSTEMS: dict[str, tuple[recollex.WritePolicy | None, bool, bool]] = {}
"""name -> (policy, whether questions are asked under their cut, whether episodes are followed)."""


def _without(trigger: str) -> recollex.WritePolicy:
    left = tuple(each for each in TRIGGERS if each != trigger)
    return recollex.WritePolicy(session_gap=POLICY.session_gap, triggers=left)


SYSTEMS["every turn written"] = (None, True, True)
SYSTEMS["the policy"] = (POLICY, True, True)
SYSTEMS["- bitemporal cut"] = (POLICY, False, True)
SYSTEMS["- episodes"] = (POLICY, True, False)
for _trigger in ("periodic", "backfill", "salience", "event"):
    SYSTEMS[f"- {_trigger}"] = (_without(_trigger), True, True)


@dataclass
class Score:
    """What one system got, over all histories."""

    right: dict[str, list[float]] = field(
        default_factory=lambda: {"AR": [], "AW": [], "both": [], "hit@5": [], "R@10": []}
    )
    conflicts: list[float] = field(default_factory=list)
    triples: list[int] = field(default_factory=lambda: [0, 0, 0])  # shared, ours, the model's
    tokens: int = 0
    heard: int = 0
    memories: int = 0
    sessions: int = 0
    written_by: dict[str, int] = field(default_factory=dict)
    taken: dict[str, list[float]] = field(
        default_factory=lambda: {"turn_ms": [], "lookup_us": [], "recall_ms": []}
    )


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
        """Record what newly written memories tell."""
        for id in ids:
            self.sources[id] = self.agent.get(id).metadata.get("write_turns", [id])
            for source in self.sources[id]:
                telling = self.lines[source].telling
                if telling is not None:
                    with self.agent.transaction(by="memotrace", recorded_at=at) as transaction:
                        self._record(transaction, telling, f"{source}", id)
                    at += SECOND

    def _record(self, tx: recollex.Transaction, told: Telling, name: str, memory: str) -> None:
        """Record what one turn tells, as `Beliefs.tell` takes it in."""
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
        """Return what facts say under a cut, and how many different objects they name."""
        found = self.agent.facts.find(subject=key[0], predicate=key[1], **cut)
        facts = [(fact.confidence < 1.0, fact.recorded[0], str(fact.object)) for fact in found]
        return best(facts), len({each[2] for each in facts})

    def followed(self, ids: list[str]) -> list[str]:
        """Return a ranking whose first three bring what shares an episode with them."""
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--histories", type=int, default=5, help="how many (5)")
    parser.add_argument("--first-seed", type=int, default=101, help="of the first history (101)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--out", type=Path, help="write the JSON to this file as well")
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.histories)
    scores = {name: Score() for name in SYSTEMS}
    embedder = KeptVectors()
    for seed in seeds:
        for name, (policy, with_cut, with_episodes) in SYSTEMS.items():
            with tempfile.TemporaryDirectory() as folder:
                hear(Path(folder), embedder, seed, policy, with_cut, with_episodes, scores[name])
    result = {
        "bench": "memotrace",
        "environment": environment(),
        "seeds": [seeds.start, seeds.stop - 1],
        "systems": {name: summed(score) for name, score in scores.items()},
    }
    write_run(result, arguments.json, arguments.out, show)
    systems = result["systems"]
    whole = systems["every turn written"]
    exact = all(whole[name][0] == 1.0 for name in ("AR", "AW", "both")) and whole["TC-F1"] == 1.0
    with_cut, without = systems["the policy"], systems["- bitemporal cut"]
    return int(not exact or with_cut["AR"][0] <= without["AR"][0])


def hear(
    folder: Path,
    embedder: KeptVectors,
    seed: int,
    policy: recollex.WritePolicy | None,
    with_cut: bool,
    with_episodes: bool,
    score: Score,
) -> None:
    """Let one system hear one history, and add what it answers to its score."""
    told = history(seed)
    beliefs = Beliefs()
    rng = random.Random(seed)
    with recollex.open(
        folder, embedder=embedder, durability="off", clock=lambda: told[-1][0].at + 2 * CUT
    ) as store:
        agent = store.agent("listener")
        listener = Listener(agent, policy)
        for lines in told:
            for line in lines:
                beliefs.tell(line)
            listener.session(lines, rng, score.taken["turn_ms"])
        memories = agent.list(limit=1_000_000)
        score.tokens += sum(memory.tokens for memory in memories)
        score.memories += len(memories)
        score.sessions += len(told)
        for memory in memories:
            trigger = memory.metadata.get("write_trigger", "none")
            score.written_by[trigger] = score.written_by.get(trigger, 0) + 1
        counter = agent.engine.counter()
        score.heard += sum(
            counter.count(f"{line.speaker}: {line.text}") for lines in told for line in lines
        )
        cuts = [lines[0].at + CUT for lines in told]
        examine(listener, beliefs, cuts, random.Random(seed), with_cut, score)
        ask_all(listener, beliefs, with_episodes, score)


def examine(
    listener: Listener,
    beliefs: Beliefs,
    cuts: list[datetime],
    rng: random.Random,
    with_cut: bool,
    score: Score,
) -> None:
    """Ask at points of both times, and compare snapshots."""
    keys = sorted({(each.subject, each.predicate) for each in beliefs.versions})
    first, last = cuts[0], cuts[-1]
    for kind in ("AR", "AW", "both"):
        for _ in range(QUESTIONS):
            key = rng.choice(keys)
            recorded = last if kind == "AW" else rng.choice(cuts)
            world = recorded if kind == "AR" else first + rng.random() * (recorded - first)
            held = [
                each
                for each in beliefs.at(recorded, world)
                if (each.subject, each.predicate) == key
            ]
            expected = best([(each.rumour, each.recorded, each.object) for each in held])
            cut = {"as_recorded": recorded, "as_world": world} if with_cut else {}
            started = time.perf_counter()
            answer, objects = listener.answer(key, cut)
            score.taken["lookup_us"].append((time.perf_counter() - started) * 1e6)
            score.right[kind].append(float(answer == expected))
            score.conflicts.append(float(objects > 1 and len({e.object for e in held}) <= 1))
            if kind == "AR" and held:
                query = ASKED_OF[key[1]].format(s=key[0], d=written(world))
                options = {"as_recorded": recorded} if with_cut else {}
                started = time.perf_counter()
                ids = listener.agent.recall(query, max_tokens=POLICY.read_tokens, **options).ids
                score.taken["recall_ms"].append((time.perf_counter() - started) * 1000)
                found = {turn for id in ids[:5] for turn in listener.sources[id]}
                rests_on = {turn for each in held for turn in each.evidence}
                score.right["hit@5"].append(float(bool(found & rests_on)))
    for _ in range(SNAPSHOTS):
        recorded = rng.choice(cuts)
        world = first + rng.random() * (recorded - first)
        cut = {"as_recorded": recorded, "as_world": world} if with_cut else {}
        ours = {
            (fact.subject, fact.predicate, str(fact.object))
            for fact in listener.agent.facts.snapshot(**cut)
        }
        theirs = {(e.subject, e.predicate, e.object) for e in beliefs.at(recorded, world)}
        for place, count in enumerate((len(ours & theirs), len(ours), len(theirs))):
            score.triples[place] += count


def ask_all(listener: Listener, beliefs: Beliefs, with_episodes: bool, score: Score) -> None:
    """Ask for everything that ever held of each subject and predicate."""
    evidence: dict[tuple[str, str], set[str]] = {}
    for each in beliefs.versions:
        if not each.rumour:
            evidence.setdefault((each.subject, each.predicate), set()).update(each.evidence)
    for (subject, predicate), turns in sorted(evidence.items()):
        if len(turns) < 2:
            continue
        query = ASKED_ALL[predicate].format(s=subject)
        ids = listener.agent.recall(query, max_tokens=POLICY.read_tokens).ids
        if with_episodes:
            ids = listener.followed(ids)
        found = {turn for id in ids[:10] for turn in listener.sources[id]}
        score.right["R@10"].append(len(found & turns) / len(turns))


def summed(score: Score) -> dict[str, Any]:
    shared, ours, theirs = score.triples
    found: dict[str, Any] = {}
    for name, values in score.right.items():
        interval = bootstrap(values)
        found[name] = [interval.mean, interval.low, interval.high, interval.n]
    return found | {
        "TC-F1": 2 * shared / max(1, ours + theirs),
        "TC-precision": shared / max(1, ours),
        "TC-recall": shared / max(1, theirs),
        "conflict": sum(score.conflicts) / len(score.conflicts),
        "tokens_a_session": score.tokens / score.sessions,
        "memories_a_session": score.memories / score.sessions,
        "share_of_tokens": score.tokens / score.heard,
        "written_by": score.written_by,
        **{name: percentiles(values) for name, values in score.taken.items()},
    }


def show(result: dict[str, Any]) -> str:
    lines = [
        f"histories of seeds {result['seeds'][0]} to {result['seeds'][1]}",
        f"{'system':<19} Acc-AR Acc-AW Acc-both  TC-F1 conflict  hit@5   R@10  tokens memories"
        "  share   turn ms p50/p95  lookup us p50/p95  recall ms p50/p95",
    ]
    for name, row in result["systems"].items():
        values = [row[key][0] for key in ("AR", "AW", "both")]
        values += [row["TC-F1"], row["conflict"], row["hit@5"][0], row["R@10"][0]]
        widths = (6, 6, 8, 6, 8, 6, 6)
        cells = " ".join(f"{v:>{w}.3f}" for v, w in zip(values, widths, strict=True))
        times = "  ".join(
            f"{row[key]['p50']:>8.1f}/{row[key]['p95']:<8.1f}"
            for key in ("turn_ms", "lookup_us", "recall_ms")
        )
        lines.append(
            f"{name:<19} {cells} {row['tokens_a_session']:>7.1f} {row['memories_a_session']:>8.2f} "
            f"{row['share_of_tokens']:>6.3f}  {times}"
        )
    lines.append("tokens, memories: written a session; share: of all tokens heard")
    for name, row in result["systems"].items():
        by = ", ".join(f"{key} {count}" for key, count in sorted(row["written_by"].items()))
        lines.append(f"{name:<19} written by: {by}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
