"""Packed recalls on small graphs, against looking at everything that the cut sees."""

import tempfile
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollex
from recollex_engine.errors import MergeCycleError, UnknownIdError
from recollex_engine.text.analyzer import Analyzer
from recollex_engine.text.token_counter import open_counter
from tests.engine.one_vector import OneVector
from tests.searching import LONGER

START = datetime(2024, 1, 1, tzinfo=UTC)
NAMES = ["Ann", "Bob", "Oslo", "Rome"]
PREDICATES = ["lives_in", "likes"]
WORDS = ["ann", "bob", "oslo", "tea", "lives", "garden"]
QUERIES = ["Where lives Ann?", "Who likes tea in the garden of Bob?", "?"]
COUNTER = open_counter(lambda text: len(text.split()))


def day(number):
    return START + timedelta(days=number)


SPANS = st.tuples(st.none() | st.integers(0, 3), st.none() | st.integers(4, 6))
PLACES = st.lists(st.integers(0, 9), max_size=3, unique=True)
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("retain"), st.lists(st.sampled_from(WORDS), min_size=1, max_size=5)),
        st.tuples(
            st.just("fact"),
            st.sampled_from(NAMES),
            st.sampled_from(PREDICATES),
            st.sampled_from(NAMES),
            SPANS,
            PLACES,
        ),
        st.tuples(st.just("event"), st.sampled_from(WORDS), st.sampled_from(NAMES), PLACES),
        st.tuples(st.just("episode"), PLACES),
        st.tuples(st.just("link"), st.integers(0, 9), st.integers(0, 9)),
        st.tuples(st.just("merge"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
        st.tuples(st.just("archive"), st.integers(0, 9)),
        st.tuples(st.just("forget"), st.integers(0, 9)),
    ),
    min_size=1,
    max_size=8,
)


PROLOGUE = [
    ("retain", ["ann", "lives", "oslo"]),
    ("retain", ["bob", "tea", "garden"]),
    ("retain", ["ann", "bob", "garden"]),
    ("fact", "Ann", "lives_in", "Oslo", (None, None), [0, 2]),
    ("fact", "Ann", "lives_in", "Rome", (2, None), [2]),
    ("fact", "Bob", "likes", "Rome", (0, 4), [1]),
    ("event", "tea", "Bob", [2]),
    ("event", "garden", "Ann", [0, 2]),
    ("episode", [0, 1]),
]
"""A small graph, so that short lists of actions reach far."""


class History:
    """A store in which the prologue and then some actions have happened, an action a day."""

    def __init__(self, folder, actions, packing):
        self.now = START
        self.store = recollex.open(folder, embedder=OneVector(), clock=lambda: self.now)
        self.agent = self.store.agent("a")
        self.memories, self.facts, self.events = [], [], []
        self.packing = packing
        self.then = []
        for place, action in enumerate([*PROLOGUE, *actions], 1):
            self.now += timedelta(days=1)
            try:
                getattr(self, action[0])(*action[1:])
            except (MergeCycleError, UnknownIdError):  # nothing happened
                continue
            self.now += timedelta(hours=1)
            if place < len(PROLOGUE):
                continue
            self.then.append((self.now, self.answers(exact=True, now=self.now)))

    def answers(self, **options):
        return [self.packed(query, **options).to_dict() for query in QUERIES]

    def packed(self, query, max_tokens=4096, **options):
        found = self.agent.recall(query, max_tokens=max_tokens, **{"pack": self.packing} | options)
        return found.subgraph

    def some(self, items, places):
        return [items[place % len(items)] for place in places if items]

    def retain(self, words):
        self.memories.append(self.agent.retain(" ".join(words), id=f"m{len(self.memories)}"))

    def fact(self, subject, predicate, object, span, evidence):
        valid = tuple(None if each is None else day(each) for each in span)
        id = f"f{len(self.facts)}"
        cited = self.some(self.memories, evidence)
        self.agent.facts.add(subject, predicate, object, valid=valid, evidence=cited, id=id)
        self.facts.append(id)

    def event(self, summary, participant, facts):
        id = f"e{len(self.events)}"
        included = self.some(self.facts, facts)
        self.agent.events.add(summary, participants=[participant], facts=included, id=id)
        self.events.append(id)

    def episode(self, events):
        self.agent.events.add_episode("days", self.some(self.events, events) or ["none"])

    def link(self, one, other):
        pair = dict.fromkeys(self.some(self.events, [one, other]))
        source, target = [*pair, "x", "y"][:2]
        self.agent.events.link(source, "causes", target)

    def merge(self, one, other):
        self.agent.facts.merge(one, other)

    def archive(self, place):
        self.agent.facts.archive(self.some(self.facts, [place])[0] if self.facts else "none")

    def forget(self, place):
        self.agent.forget(self.some(self.memories, [place]) or "none")


@pytest.fixture(scope="module")
def folders():
    with tempfile.TemporaryDirectory() as folder:
        yield folder


def terms(text):
    return set(filter(None, Analyzer().sequence(text)))


def check(history, graph, query, budget, **cut):
    """Compare a subgraph with all that the cut sees."""
    agent = history.agent
    facts = {fact.id: fact for fact in agent.facts.snapshot(**cut)}
    events = {event.id: event for event in agent.events.find(**cut)}
    shown = {memory.id for memory in agent.at(cut["as_recorded"]).list()}
    shown &= {memory.id for memory in agent.recall("ann bob oslo tea lives garden", **cut)}
    packed = {fact.id: fact for fact in graph.facts}
    proofs = {memory.id: memory for memory in graph.memories}

    assert graph.tokens == COUNTER.count(graph.to_prompt()) <= budget
    assert set(packed) <= set(facts)
    assert set(proofs) <= shown
    for event in graph.events:
        assert event.to_dict() == events[event.id].to_dict()
        assert set(event.facts) <= set(packed)
    for fact in graph.facts:
        cited = [id for id in facts[fact.id].evidence if id in shown]
        assert list(fact.evidence) == cited
        assert not cited or set(cited) & set(proofs)
        rivals = {
            other.id
            for other in facts.values()
            if (other.subject, other.predicate) == (fact.subject, fact.predicate)
            and other.object != fact.object
            and (other.valid[0] or day(-9)) < (fact.valid[1] or day(99))
            and (fact.valid[0] or day(-9)) < (other.valid[1] or day(99))
        }
        assert {each.id for each in graph.conflicts[fact.id]} == rivals
        assert all(set(each.evidence) <= shown for each in graph.conflicts[fact.id])
    for episode in graph.episodes:
        assert set(episode.events) <= set(events)
    wanted = set(Analyzer().query(query).terms)
    for memory in graph.memories:
        others = [each for each in graph.memories if each is not memory]
        left = {each.id for each in others}
        said = [each.text for each in others]
        said += [f"{each.subject} {each.predicate} {each.object}" for each in graph.facts]
        said += [
            f"{each.summary} {' '.join(who.name for who in each.participants)}"
            for each in graph.events
        ]
        proves = any(
            memory.id in fact.evidence and not left & set(fact.evidence) for fact in graph.facts
        )
        is_cited = any(memory.id in fact.evidence for fact in graph.facts)
        alone = wanted & terms(memory.text) - terms(" ".join(said))
        assert proves or not is_cited or alone


@given(
    ACTIONS,
    st.sampled_from([1, 12, 40, 80, 150, 4096]),
    st.builds(
        recollex.Packing,
        depth=st.integers(0, 3),
        fan_out=st.sampled_from([{}, {"subject": 1}, {"evidence": 0, "includes_fact": 1}]),
        coverage=st.sampled_from([0.4, 0.9, 1.0]),
        seeds=st.sampled_from([0, 1, 20]),
    ),
)
@settings(deadline=None, max_examples=8 * LONGER, suppress_health_check=list(HealthCheck))
def test_a_pack_is_closed_visible_minimal_and_within_budget_at_every_cut(
    folders, actions, budget, packing
):
    folder = tempfile.mkdtemp(dir=folders)
    history = History(folder, actions, packing)
    for moment, answers in history.then:
        assert history.answers(as_recorded=moment) == answers  # nothing of later changes it
        for query in QUERIES:
            for cut in ({"as_recorded": moment}, {"as_recorded": moment, "as_world": day(3)}):
                check(history, history.packed(query, budget, **cut), query, budget, **cut)
    history.store.close()
    if history.then:
        moment, answers = history.then[-1]
        with recollex.open(folder, embedder=OneVector(), read_only=True) as store:
            history.agent = store.agent("a")
            assert history.answers(as_recorded=moment) == answers


@given(ACTIONS)
@settings(deadline=None, max_examples=6 * LONGER, suppress_health_check=list(HealthCheck))
def test_with_room_and_depth_all_that_is_reached_is_packed(folders, actions):
    wide = recollex.Packing(
        depth=10, fan_out=dict.fromkeys(recollex.Packing().limits, 256), coverage=1
    )
    history = History(tempfile.mkdtemp(dir=folders), actions, wide)
    for query in QUERIES:
        graph = history.packed(query, 100_000)
        assert (graph.coverage, graph.stopped) in {(1.0, "coverage"), (1.0, "all")}
        events = history.agent.events.find()
        named = {who.name for event in graph.events for who in event.participants}
        named |= {name for fact in graph.facts for name in (fact.subject, fact.object)}
        # nothing beside it is one edge away from what is packed
        for fact in history.agent.facts.snapshot():
            if {fact.subject, fact.object} & named:
                assert fact.id in {each.id for each in graph.facts}
        for event in events:
            if named & {who.name for who in event.participants}:
                assert event.id in {each.id for each in graph.events}
    history.store.close()
