"""Memories that facts cite count more, if the facts share words with the question and held then."""

import math
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex
from recollex.presets import Contextual
from recollex_engine.clock import to_micros
from recollex_engine.domain.fact_schema import SURFACE_KINDS
from recollex_engine.facts import cited_by_facts as module
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.surface_arms import SurfaceQuestion
from recollex_engine.models.description import PAPER_THRESHOLDS
from recollex_engine.ranking.fusion import Fused
from recollex_engine.ranking.reordering import raise_cited
from recollex_engine.state.postings import K1, B
from recollex_engine.text.analyzer import Analyzer
from tests.bindings.word_vectors import WordVectors

WORDS = ["tea", "rome", "lamp", "oslo", "boat", "kite"]
MEMORIES = 10
FACT = SURFACE_KINDS.index("fact")
QUESTION = "What did Ann buy in May 2024?"


def day(number: int) -> datetime:
    return datetime(2020 + number // 28, 1, number % 28 + 1, tzinfo=UTC)


# -- the part of the score ----------------------------------------------------------------------


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 40), unique=True, min_size=1, max_size=20),
    st.dictionaries(st.integers(0, 40), st.floats(0.125, 1, width=16), min_size=1, max_size=20),
    st.sampled_from([0.5, 3.0]),
)
def test_the_score_is_that_of_the_equation(memories, cited, weight):
    scores = np.linspace(3, 1, len(memories))
    fused = Fused(np.array(memories, np.uint32), scores, {"semantic": scores})
    shares = np.array(list(cited), np.uint32), np.array(list(cited.values()), np.float32)
    raised = raise_cited(fused, shares, weight)
    expected = {
        memory: score + weight * cited.get(memory, 0)
        for memory, score in zip(memories, scores.tolist(), strict=True)
    }
    assert raised.memories.tolist() == sorted(memories, key=lambda memory: -expected[memory])
    assert raised.scores == pytest.approx([expected[m] for m in raised.memories.tolist()])
    assert sum(raised.parts.values()) == pytest.approx(raised.scores)


# -- the memories that facts of a time cite -----------------------------------------------------


facts_said = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
        st.none() | st.integers(0, 60),
        st.none() | st.integers(1, 30),
        st.lists(st.integers(0, MEMORIES - 1), max_size=3, unique=True),
        st.booleans(),
    ),
    min_size=1,
    max_size=20,
)


@settings(max_examples=40, deadline=None)
@given(
    facts_said,
    st.none() | st.tuples(st.integers(0, 60), st.integers(1, 20)),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
    st.sampled_from([2, 60]),
)
def test_they_are_the_best_of_all_facts_that_held_then(tmp_path_factory, said, named, words, most):
    with (
        recollex.open(tmp_path_factory.mktemp("s"), embedder=WordVectors()) as store,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(module, "FACTS", most)
        agent = store.agent("a")
        notes = [f"note {number}" for number in range(MEMORIES)]
        agent.retain_many(notes, id=[str(number) for number in range(MEMORIES)])
        with agent.transaction() as tx:
            for text, begin, lasts, evidence, corrected in said:
                end = None if lasts is None else day((begin or 0) + lasts)
                fact = tx.facts.add(
                    *("it", "has", recollex.Text(" ".join(text))),
                    valid=(None if begin is None else day(begin), end),
                    evidence=[str(number) for number in evidence],
                )
                if corrected:
                    tx.facts.correct(fact, object=recollex.Text("kite " + " ".join(text)))
        span = None
        if named is not None:
            ends = day(named[0]), day(sum(named))
            span = to_micros(ends[0], "start"), to_micros(ends[1], "end")
        asked = SurfaceQuestion(Analyzer(), " ".join(words), None, PAPER_THRESHOLDS, span)
        found = module.cited_by_facts(agent.engine.view(), None, 0, asked)
        facts = agent.facts.view()
        expected = naive(facts, asked, most)
        shares = {} if found is None else dict(zip(*map(np.ndarray.tolist, found), strict=True))
        assert shares == pytest.approx(expected)
        assert list(shares) == list(expected)


def naive(facts: FactView, asked: SurfaceQuestion, most: int) -> dict[int, float]:
    """Return memory -> its share, from the words of each fact."""
    surfaces, terms = facts.columns.surfaces, facts.columns.dictionary["surface_terms"]
    said = {}
    for row in range(surfaces.rows):
        version = int(surfaces.array("version")[row])
        if surfaces.array("kind")[row] == FACT and facts.is_visible(version):
            first, end = surfaces.array("term_offset")[row : row + 2].tolist()
            said[version] = surfaces.array("term")[first:end].tolist()
    start, end = facts.data("fact_start"), facts.data("fact_end")
    span = asked.span
    held = {v for v in said if span is None or (start[v] < span[1] and end[v] > span[0])}
    mean = sum(map(len, said.values())) / max(len(said), 1) or 1.0
    numbers = [terms.get(word) for word in asked.terms]
    dfs = [sum(number in said[version] for version in held) for number in numbers]
    idf = [math.log(1 + (len(said) - df + 0.5) / (df + 0.5)) for df in dfs]
    scores = {}
    for version in held:
        norm = K1 * (1 - B + B * len(said[version]) / mean)
        counts = Counter(said[version])
        score = sum(
            weight * counts[number] / (counts[number] + norm)
            for number, weight in zip(numbers, idf, strict=True)
        )
        if score:
            scores[version] = score
    best = sorted(scores, key=lambda version: (-scores[version], version))[:most]
    shares: dict[int, float] = {}
    for version in best:
        share = scores[version] / math.sqrt(scores[best[0]] * sum(idf))
        for memory in facts.numbers("fact_evidence", "fact_evidence_end", version):
            shares.setdefault(memory, share)
    return shares


# -- through the public API ---------------------------------------------------------------------


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[recollex.Agent]:
    """Ten receipts that share no word with the question."""
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        agent = store.agent("a")
        agent.retain_many(
            [f"Receipt number {number}, total to pay." for number in range(MEMORIES)],
            id=[str(number) for number in range(MEMORIES)],
            tags=[["shop"] if number % 2 else ["web"] for number in range(MEMORIES)],
        )
        yield agent


def bought(agent: recollex.Agent, month: int, receipt: str, thing: str = "boat") -> recollex.Fact:
    days = datetime(2024, month, 7, tzinfo=UTC), datetime(2024, month, 8, tzinfo=UTC)
    return agent.facts.add("Ann", "bought", recollex.Text(thing), valid=days, evidence=receipt)


def cited(agent: recollex.Agent, question: str = QUESTION, **options: object) -> dict[str, float]:
    recall = agent.recall(question, explain=True, **options)  # type: ignore[arg-type]
    assert not recall.trace.errors
    scores = [memory.score for memory in recall]
    assert scores == sorted(scores, reverse=True)
    for memory in recall:
        assert sum(memory.parts.values()) == pytest.approx(memory.score)
    return {m.id: m.parts["cited"] for m in recall if m.parts.get("cited")}


def test_the_memory_that_a_fact_cites_comes_first(agent):
    bought(agent, 5, "7", "boat of wood")
    bought(agent, 6, "3", "kite")
    found = cited(agent)
    assert list(found) == ["7"]
    assert 1 < found["7"] <= 3
    assert agent.recall(QUESTION)[0].id == "7"
    assert list(cited(agent, "Who lent the kite?")) == ["3"]
    assert cited(agent, "Is it raining?") == {}
    without = recollex.presets.Preset(name="without", fusion=Contextual(cited=0.0))
    assert cited(agent, preset=without) == {}


def test_a_fact_counts_by_its_share_of_what_is_possible(agent):
    bought(agent, 5, "7", "boat")
    all_words = cited(agent, "Ann bought a boat")["7"]
    one_word = cited(agent, "Which harbour has a blue boat with oars?")["7"]
    assert one_word < 0.7 * all_words


def test_a_fact_of_less_trust_does_not_count(agent):
    agent.retain("We rowed all day.", id="told", source="user")
    agent.retain("A page on harbours.", id="read", source="web")
    for id in ("told", "read"):
        bought(agent, 5, id, f"boat, {id}")
    assert set(cited(agent)) == {"told", "read"}
    assert set(cited(agent, trust="user")) == {"told"}


def test_a_fact_counts_as_the_cut_shows_it(agent):
    fact = bought(agent, 5, "7")
    before = agent.list(limit=1)[0].recorded_at
    agent.facts.correct(
        fact, valid=(datetime(2024, 6, 1, tzinfo=UTC), datetime(2024, 6, 2, tzinfo=UTC))
    )
    assert cited(agent) == {}
    assert list(cited(agent, "What did Ann buy in June 2024?")) == ["7"]
    assert cited(agent, as_recorded=before) == {}


def test_after_the_next_opening_the_answer_is_the_same(tmp_path):
    answers = []
    for _ in range(2):
        with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
            agent = store.agent("a")
            if not agent.count():
                agent.retain("Receipt number 1.", id="1")
                bought(agent, 5, "1")
            answers.append([(memory.id, memory.score) for memory in agent.recall(QUESTION)])
    assert answers[0] == answers[1]


def test_filters_hold_for_the_cited_memories(agent):
    bought(agent, 5, "7", "boat of wood")
    bought(agent, 5, "4", "blue boat")
    assert set(cited(agent)) == {"4", "7"}
    assert set(cited(agent, tags=["shop"])) == {"7"}


def test_of_too_many_facts_none_counts(agent, monkeypatch):
    bought(agent, 5, "7")
    monkeypatch.setattr(module, "MOST", 1)
    assert cited(agent) != {}
    bought(agent, 6, "3")
    assert cited(agent) == {}


def test_a_search_of_facts_that_fails_is_named_and_the_memories_answer(agent, monkeypatch):
    bought(agent, 5, "7")

    def broken(*_: object) -> None:
        raise ValueError("a torn page")

    monkeypatch.setattr("recollex_engine.recall.word_search.cited_by_facts", broken)
    recall = agent.recall(QUESTION)
    assert recall.trace.errors == {"facts": "ValueError: a torn page"}
    assert len(recall) == MEMORIES
