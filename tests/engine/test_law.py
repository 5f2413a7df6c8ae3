"""Does a cut know anything that was recorded later? Random histories, looked at from their ends.

The law: a recall as of t is, to the bit, an exact recall at t on a store rebuilt from the log up to
t. Each history is written once; what it answered at each moment is noted then and there, asked
again through cuts whenever more was written, and asked of stores rebuilt from beginnings of its
log. Vectors are made from the words of a small vocabulary, so that texts tie.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

import recollex
from recollex_engine.clock import to_micros
from recollex_engine.domain.question import KINDS
from recollex_engine.errors import InputError, UnknownIdError
from recollex_engine.log.writer import LogWriter
from recollex_engine.state import mentions
from recollex_engine.text import names
from recollex_engine.writing import checkpoint, maintenance
from tests.engine.histories import (
    IDS,
    OPERATION,
    PEOPLE,
    QUERIES,
    SOURCES,
    START,
    STATEMENT,
    STEP,
    TEXT,
    TEXTS,
    TOOL_CALLS,
    TURN,
    TURN_SOURCES,
    WordVectors,
)
from tests.engine.log.whole_log import LogReader


def answers(agent: recollex.Agent, now: datetime, **options: Any) -> list[object]:
    """Everything that can be read of an agent."""
    said: list[object] = []
    for query, narrowed in QUERIES:
        recall = agent.recall(query, explain=True, now=now, exact=True, **narrowed, **options)
        assert not recall.trace.errors
        said.append(
            (
                *(recall.tokens, recall.token_counter, recall.time_range, recall.signs),
                *(list(recall), recall.to_prompt()),
            )
        )
    for query, world in (("Ann tea 2024", None), ("Who lost it?", START + timedelta(hours=20))):
        mixed = agent.recall(
            query, kinds=KINDS, as_world=world, now=now, exact=True, max_tokens=200, **options
        )
        assert not mixed.trace.errors
        hits = [hit.to_dict() for hit in mixed.hits]
        said.append([hits, mixed.to_prompt(), mixed.tokens])
    return [*said, *tools(agent, as_recorded=options.get("as_recorded"))]


def tools(agent: recollex.Agent, **clocks: Any) -> list[object]:
    """What the tools over gists and facts return, under both clocks."""
    said: list[object] = []
    for name, given in TOOL_CALLS:
        for world in (None, START + timedelta(hours=20)):
            try:
                found = agent.tools.call(name, given, max_tokens=90, as_world=world, **clocks)
            except UnknownIdError as error:
                said.append(str(error))
            else:
                assert isinstance(found, recollex.Contexts)
                said.append((found.to_dict(), found.to_prompt()))
    return said


def look_ups(agent: recollex.Agent) -> list[object]:
    said: list[object] = [agent.list(limit=1000)]
    for look in (agent.get, agent.history):
        for id in IDS:
            try:
                said.append(look(id))
            except UnknownIdError as error:
                said.append(str(error))
    said += facts(agent)
    numbers = agent.stats()
    return [*said, numbers.memories, numbers.forgotten, numbers.archived, numbers.entities,
            numbers.terms, numbers.links, numbers.operations, numbers.facts,
            numbers.events]  # fmt: skip


def facts(agent: recollex.Agent) -> list[object]:
    """Every fact, event, episode and entity of an agent."""
    said: list[object] = []
    for world in (None, START + timedelta(hours=20), START + timedelta(days=3)):
        said += [fact.to_dict() for fact in agent.facts.snapshot(as_world=world)]
        said += [agent.facts.entities(as_world=world), agent.events.find(as_world=world)]
    said.append(agent.facts.entities(mentioned=True))
    said += [agent.events.episodes(), agent.events.find(participant="Al")]
    for name in ("Ann", "Quokka"):
        said += [[hit.to_dict() for hit in agent.facts.search_entities(name, limit=4)]]
        with contextlib.suppress(UnknownIdError):
            said += agent.facts.synonyms(name)
    for id in ("f1", "f2", "f3"):
        try:
            said += agent.facts.history(id)
        except UnknownIdError as error:
            said.append(str(error))
    for narrowed in ({"subject": "Ann"}, {"object": "ben"}, {"evidence": "m1"}):
        try:
            said.append(agent.facts.find(**narrowed).ids)
        except UnknownIdError as error:
            said.append(str(error))
    return said


def rebuilt(folder: Path, until: datetime, target: Path) -> None:
    """Write the log of an agent again as far as it was recorded by ``until``."""
    source = folder / "agents" / "a"
    copy = target / "agents" / "a"
    copy.mkdir(parents=True)
    (target / "store.json").write_text('{"recollex_store": 1}')
    with LogWriter(copy / "log", durability="off") as log:
        for transaction in LogReader(source / "log").transactions():
            if transaction.recorded_at <= to_micros(until, "until"):
                records = [
                    (each.kind, orjson.dumps(each.payload)) for each in transaction.operations
                ]
                log.append(transaction.recorded_at, records)
        empty = not log.position.op
    if (source / "vectors.f16").exists():
        shutil.copyfile(source / "vectors.f16", copy / "vectors.f16")
    if empty:
        shutil.rmtree(copy)


class Law(RuleBasedStateMachine):
    cuts = 2
    """Moments of each history at which a store is rebuilt."""

    @initialize(segment_rows=st.sampled_from([5, 16]), tail_rows=st.sampled_from([6, 1 << 40]))
    def start(self, segment_rows: int, tail_rows: int) -> None:
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(checkpoint, "TAIL_ROWS", tail_rows)
        self.patch.setattr(checkpoint, "SEGMENT_ROWS", segment_rows)
        self.patch.setattr(checkpoint, "LOG_BYTES", 6_000)
        self.patch.setattr(maintenance, "CLOSING_TAIL", 12)
        self.patch.setattr(names, "MATCH_THRESHOLD", 0.6)  # "Bob Chenn" is Bob Chen
        self.patch.setattr(mentions, "STRIDE", 3)
        self.patch.setattr(mentions, "MOST", 3)
        self.patch.setattr(os, "fsync", lambda fd: None)
        self.patch.setattr(os, "fdatasync", lambda fd: None)
        self.folder = Path(tempfile.mkdtemp())
        self.now = START
        self.open()
        self.past: dict[datetime, tuple[list[object], list[object]]] = {}
        self.note()

    def open(self, **options: Any) -> None:
        self.store = recollex.open(
            self.folder / "s",
            embedder=WordVectors(),
            durability="off",
            clock=lambda: self.now,
            **options,
        )
        self.agent = self.store.agent("a")

    def note(self) -> None:
        """Note what is answered now; and ask, of an earlier moment, what was noted then."""
        self.past[self.now] = answers(self.agent, self.now), look_ups(self.agent)
        moments = list(self.past)
        for moment in {moments[0], moments[len(moments) // 2]}:
            self.compare(moment)

    def compare(self, moment: datetime) -> None:
        expected, found = self.past[moment]
        cut = self.agent.at(moment)
        assert answers(cut, moment) == expected
        assert look_ups(cut) == found
        between = moment + STEP / 2
        if between <= self.now:
            assert answers(self.agent, moment, as_recorded=between) == expected

    def teardown(self) -> None:
        if not hasattr(self, "patch"):
            return
        try:
            moments = list(self.past)
            for moment in moments:
                self.compare(moment)
            for number, moment in enumerate(moments[:: max(1, len(moments) // self.cuts)]):
                self.compare_with_rebuilt(moment, self.folder / f"r{number}")
            assert self.agent.verify().ok
        finally:
            self.store.close()
            self.patch.undo()
            shutil.rmtree(self.folder)

    def compare_with_rebuilt(self, moment: datetime, folder: Path) -> None:
        """Ask a rebuilt store what `compare` has just found the cut of a moment to answer."""
        expected, found = self.past[moment]
        rebuilt(self.folder / "s", moment, folder)
        with recollex.open(folder, embedder=WordVectors(), read_only=True) as store:
            assert answers(store.agent("a"), moment) == expected
            assert look_ups(store.agent("a")) == found

    def write(self, call: Callable[[], object]) -> None:
        self.now += STEP
        with contextlib.suppress(UnknownIdError, InputError):  # then nothing was written
            call()
        self.now += STEP / 10  # an agent's first memory is recorded just after its settings
        self.note()

    @rule(statements=st.lists(STATEMENT, min_size=1, max_size=4))
    def retain(self, statements: list[dict[str, Any]]) -> None:
        options = {name: [each[name] for each in statements] for name in statements[0]}
        texts = options.pop("text")
        self.write(lambda: self.agent.retain_many(texts, **options))

    @rule(
        turns=st.lists(TURN, max_size=4),
        document=st.sampled_from(["d1", "d3"]),
        replace=st.booleans(),
        source=TURN_SOURCES,
    )
    def retain_dialogue(
        self, turns: list[dict[str, Any]], document: str, replace: bool, source: Any
    ) -> None:
        self.write(
            lambda: self.agent.retain_dialogue(
                turns, document_id=document, replace=replace, source=source
            )
        )

    @rule(
        how=st.sampled_from(["forget", "archive"]),
        places=st.lists(st.integers(0, 20), min_size=1, max_size=2),
    )
    def take_away(self, how: str, places: list[int]) -> None:
        held = self.agent.list(limit=21)
        if ids := [held[place].id for place in places if place < len(held)]:
            self.write(lambda: getattr(self.agent, how)(ids, by="ann"))

    @rule(how=st.sampled_from(["forget", "archive"]), id=st.sampled_from(IDS))
    def take_away_again(self, how: str, id: str) -> None:
        self.write(lambda: getattr(self.agent, how)(id, why="a reason"))

    @rule(id=st.sampled_from(IDS), text=TEXTS, until=st.sampled_from([None, 2, 5]), source=SOURCES)
    def correct(self, id: str, text: str, until: int | None, source: str | None) -> None:
        end = None if until is None else START + timedelta(days=until)
        self.write(
            lambda: self.agent.correct(id, text, valid_until=end, by="ben", why="so", source=source)
        )

    @rule(
        id=st.sampled_from(IDS),
        tags=st.sampled_from([None, [], ["x"], ["x", "y"]]),
        metadata=st.sampled_from([None, {}, {"k": 1}, {"k": 2}]),
        until=st.sampled_from([..., None, START + timedelta(days=20)]),
        together=st.booleans(),
    )
    def amend(self, id: str, tags: Any, metadata: Any, until: Any, together: bool) -> None:
        changes = {"tags": tags, "metadata": metadata, "valid_until": until}

        def transact() -> None:
            with self.agent.transaction(by="ann") as tx:
                tx.amend(id, **changes)

        self.write(transact if together else lambda: self.agent.amend(id, **changes, by="ann"))

    @rule(operations=st.lists(OPERATION, min_size=1, max_size=3))
    def transact(self, operations: list[dict[str, Any]]) -> None:
        self.write(lambda: self.agent.apply(operations, by="ben", source="assistant"))

    @rule(operation=OPERATION)
    def record(self, operation: dict[str, Any]) -> None:
        self.write(lambda: self.agent.apply([operation]))

    @rule(one=PEOPLE, other=PEOPLE, text=TEXT)
    def merge(self, one: str, other: str, text: str) -> None:
        """Name two, and make them one: recalls of earlier moments stay as they were."""
        self.write(lambda: self.agent.retain_many([f"{one} {text}", f"{other} {text}"]))
        self.write(lambda: self.agent.facts.merge(one, other))

    @rule(one=PEOPLE, other=PEOPLE, text=TEXT)
    def split(self, one: str, other: str, text: str) -> None:
        """Make two one and part them again: moments between show one."""
        self.merge(one, other, text)
        self.write(lambda: self.agent.facts.split(one))

    @rule(text=TEXT, id=st.sampled_from(IDS))
    def split_name(self, text: str, id: str) -> None:
        """Part a name that joined another while it was retained, with all that says it."""
        self.write(lambda: self.agent.retain_many([f"Bob Chen {text}", f"Bob Chenn {text}"]))
        self.write(lambda: self.agent.retain(f"{text} Bob Chenn", id=id))
        self.write(lambda: self.agent.facts.add("Bob Chenn", "likes", "Oslo", evidence=id, id="f2"))
        self.write(lambda: self.agent.facts.split("Bob Chen", name="Bob Chenn", by="ann"))

    @rule()
    def resolve(self) -> None:
        self.write(lambda: self.agent.facts.resolve_entities())

    @rule(count=st.sampled_from([None, None, 4, 9]))
    def keep(self, count: int | None) -> None:
        rules = [] if count is None else [recollex.Retention(count=count)]
        self.write(lambda: self.agent.set_retention(rules))

    @rule()
    def checkpoint(self) -> None:
        self.agent.checkpoint()

    @precondition(lambda self: len(self.past) > 1)
    @rule(read_only=st.booleans())
    def reopen(self, read_only: bool) -> None:
        """Open again; where ``read_only``, ask a reader first."""
        self.store.close()
        if read_only:
            self.open(read_only=True)
            for moment in list(self.past)[::3]:
                self.compare(moment)
            self.store.close()
        self.open()


def histories(count: int, machine: type[Law]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=count,
            stateful_step_count=10,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_a_cut_is_what_a_store_without_the_future_says() -> None:
    histories(20, Law)


class Thorough(Law):
    cuts = 12


@pytest.mark.slow
def test_a_cut_is_what_a_store_without_the_future_says_in_many_histories() -> None:
    histories(2_000, Thorough)
