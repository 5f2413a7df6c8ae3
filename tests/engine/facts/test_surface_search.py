"""Facts, events and episodes are found by what they say, in every cut, and after every change."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex
from recollex_engine.domain import surfaces
from recollex_engine.domain.surfaces import fact_parts, surface_of
from recollex_engine.facts.surface_search import FRESH, HALVED
from recollex_engine.models.description import PAPER_THRESHOLDS
from recollex_engine.ranking.contextual_fusion import Contextual
from recollex_engine.ranking.presets import DEFAULT, PRESETS
from recollex_engine.ranking.small_stores import CERTAIN, SIMILARITY, certainty, smallness
from recollex_engine.recall.beside import joined
from recollex_engine.text.analyzer import Analyzer
from tests.bindings.word_vectors import WordVectors
from tests.default_model import default_model
from tests.engine.facts.told_surfaces import told

START = datetime(2024, 5, 1, tzinfo=UTC)
FOLDER = Path(__file__).parent
ALL = ("memory", "fact", "event", "episode")


def pairs(name):
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines]


@pytest.fixture
def alice(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        yield store.agent("alice")


# -- questions in other words -----------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """An agent with 100 events and 100 facts, each with a question in other words."""
    with recollex.open(tmp_path_factory.mktemp("pairs"), embedder=default_model()) as store:
        agent = store.agent("a")
        with agent.transaction() as tx:
            for summary, _ in pairs("paraphrased_events.tsv"):
                tx.events.add(summary)
            for subject, predicate, object_, _ in pairs("paraphrased_facts.tsv"):
                tx.facts.add(subject, predicate, object_)
        yield agent


def test_the_event_is_among_the_first_three(written):
    asked = pairs("paraphrased_events.tsv")
    found = [
        summary in [hit.item.summary for hit in written.events.search(question, limit=3)]
        for summary, question in asked
    ]
    assert len(found) == 100 and sum(found) >= 95  # 0.98 when they were first asked


def test_the_fact_is_among_the_first_three(written):
    asked = pairs("paraphrased_facts.tsv")
    found = [
        [subject, predicate, object_]
        in [
            [hit.item.subject, hit.item.predicate, hit.item.object]
            for hit in written.facts.search(question, limit=3)
        ]
        for subject, predicate, object_, question in asked
    ]
    assert len(found) == 100 and sum(found) >= 97  # 1.00 when they were first asked


def test_among_all_kinds_they_are_found_as_alone(written):
    both = [
        (kind, *pair) for kind in ("event", "fact") for pair in pairs(f"paraphrased_{kind}s.tsv")
    ]
    found = {"event": 0, "fact": 0}
    for kind, *said, question in both:
        hits = written.recall(question, kinds=ALL, limit=3).hits
        found[kind] += any(
            hit.kind == kind
            and said
            == (
                [hit.item.summary]
                if kind == "event"
                else [hit.item.subject, hit.item.predicate, hit.item.object]
            )
            for hit in hits
        )
    assert found["event"] >= 95 and found["fact"] >= 97, found


# -- the score, beside its equation -------------------------------------------------------------

WORDS = ["tea", "cello", "rome", "oslo", "boat", "lamp"]
FACT = st.tuples(
    st.sampled_from(["Ann", "Ben", "Eve"]),
    st.sampled_from(["likes", "lives_in"]),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
)


def by_the_equation(texts, starts, question, now):
    """Return the score of each surface; ``starts``: when each was recorded, in microseconds."""
    analyzer, weights, limits = Analyzer(), Contextual(), PAPER_THRESHOLDS
    held = [[word for word in analyzer.sequence(text) if word] for text in texts]
    terms = analyzer.query(question).terms
    count, mean = len(held), sum(map(len, held)) / len(held)
    idf = {
        term: math.log1p((count - df + 0.5) / (df + 0.5))
        for term in terms
        for df in [sum(term in words for words in held)]
    }
    bm25 = [
        sum(
            idf[term] * f / (f + 0.9 * (0.6 + 0.4 * len(words) / mean))
            for term in terms
            if (f := words.count(term))
        )
        for words in held
    ]
    best = max(range(count), key=lambda place: (bm25[place], -place))
    sure = 1.0
    if bm25[best] and held[best][0] not in terms:  # the subject is first in a text
        sure = certainty(bm25[best], count)
        sure = 1.0 if sure > CERTAIN else sure
    model = WordVectors()
    asked = model.embed_query(question)
    cosines = [float(model.embed_query(text) @ asked) for text in texts]
    small = 1 + SIMILARITY * smallness(count)
    return [
        weights.keyword * sure * score / sum(idf.values())
        + small * max((cosine - limits.semantic) / (limits.entry - limits.semantic), -1)
        + FRESH * 2 ** -((now - start) / HALVED)
        for score, cosine, start in zip(bm25, cosines, starts, strict=True)
    ]


@settings(max_examples=25, deadline=None)
@given(
    said=st.lists(FACT, min_size=3, max_size=12, unique=True),
    names=st.sampled_from(["Ann", "Ben", "Ann Ben Eve"]),
    rest=st.lists(st.sampled_from(WORDS), max_size=3),
)
def test_the_score_is_that_of_the_equation(tmp_path_factory, said, names, rest):
    question = " ".join([names, *rest])
    with recollex.open(tmp_path_factory.mktemp("s"), embedder=WordVectors()) as store:
        agent = store.agent("a")
        for day, (subject, predicate, object_) in enumerate(said):
            agent.facts.add(
                subject, predicate, recollex.Text(object_), recorded_at=START + timedelta(day)
            )
        hits = agent.facts.search(question, limit=100)
        now = START + timedelta(len(said) - 1)
    micros = [int((START + timedelta(day)).timestamp() * 1e6) for day in range(len(said))]
    texts = [f"{one} {two.replace('_', ' ')} {three}" for one, two, three in said]
    expected = by_the_equation(texts, micros, question, int(now.timestamp() * 1e6))
    assert sorted(hit.text for hit in hits) == sorted(texts)
    scores = [expected[texts.index(hit.text)] for hit in hits]
    assert scores == pytest.approx([hit.score for hit in hits], abs=3e-3)
    assert all(one.score >= two.score for one, two in pairwise(hits))


def test_many_are_searched_as_few_are(alice):
    with alice.transaction() as tx:
        for n in range(5_000):
            tx.facts.add(f"person {n}", "likes", f"{WORDS[n % 6]} {n}")
    assert alice.engine.facts().columns.surfaces.rows > 4096
    for number in (0, 77, 4_999):
        found = alice.facts.search(f"What does person {number} like?", limit=2)
        assert found[0].item.subject == f"person {number}"
        exact = alice.engine.search(alice.facts.view(), "tea 77", ("fact",), 1, exact=True)
        assert exact == alice.engine.search(alice.facts.view(), "tea 77", ("fact",), 1)


def test_facts_recorded_after_a_search_are_found_and_names_are_not(alice):
    before = None
    for first in (0, 3_000):
        with alice.transaction() as tx:
            for n in range(first, first + 3_000):
                tx.facts.add(f"person {n}", "likes", f"{WORDS[n % 6]} {n}")
        view = alice.facts.view()
        for number in (first, first + 2_999):
            text = f"person {number} likes {WORDS[number % 6]} {number}"
            (found,) = alice.engine.search(view, text, ("fact",), 1)
            assert alice.facts.search(text, limit=1)[0].item.subject == f"person {number}"
            exact = alice.engine.search(view, text, ("fact",), 1, exact=True)
            assert [found] == exact
        if before is not None:  # a view of fewer surfaces
            text = f"person 77 likes {WORDS[5]} 77"
            assert alice.engine.search(before, text, ("fact",), 1)[0].number == 77
        before = view


# -- what a cut shows ---------------------------------------------------------------------------


def test_a_corrected_fact_is_found_as_it_is_and_a_cut_finds_it_as_it_was(alice):
    id = alice.facts.add("Ann", "lives_in", "Rome", recorded_at=START)
    alice.facts.correct(id, object="Oslo", recorded_at=START + timedelta(2))
    text = "Where does Ann live in"
    assert [hit.text for hit in alice.facts.search(text)] == ["Ann lives in Oslo"]
    then = START + timedelta(1)
    for found in (alice.facts.search(text, as_recorded=then), alice.at(then).facts.search(text)):
        assert [hit.text for hit in found] == ["Ann lives in Rome"]
    alice.facts.archive(id)
    assert alice.facts.search(text) == []


def test_as_world_looks_at_the_span(alice):
    alice.facts.add("Ann", "lives_in", "Rome", valid=(START, START + timedelta(10)))
    alice.events.add("Ann moved.", span=(START, START + timedelta(1)))
    asked = [START - timedelta(1), START + timedelta(5), START + timedelta(20)]
    assert [len(alice.facts.search("Ann", as_world=at)) for at in asked] == [0, 1, 0]
    assert [len(alice.events.search("Ann", as_world=at)) for at in asked] == [0, 1, 1]


def test_the_fresher_of_two_that_say_the_same_is_first(alice):
    for day, who in ((0, "Ann"), (90, "Ben")):
        began, at = START + timedelta(day), START + timedelta(90 + day)
        alice.facts.add(who, "broke", "the lamp", valid=(began, None), id=who, recorded_at=at)
    found = alice.facts.search("broke the lamp")
    assert [hit.item.id for hit in found] == ["Ben", "Ann"]
    at = START + timedelta(95)
    found = alice.facts.search("broke the lamp", as_world=START + timedelta(95))
    assert [hit.item.id for hit in found] == ["Ben", "Ann"]


def test_an_event_is_hidden_with_a_fact_that_it_includes_and_so_is_its_episode(alice):
    fact = alice.facts.add("Ann", "lives_in", "Rome")
    event = alice.events.add("Ann moved to Rome.", facts=fact, participants={"Ben": "driver"})
    alice.events.add_episode("A year of moves", [event])
    hit = alice.events.search("Who drove? Ben, the driver")[0]
    assert hit.text == "Ann moved to Rome. With Ben (driver)."
    assert hit.item.id == event and "keyword" in hit.ranks
    assert alice.events.search_episodes("moves")[0].item.title == "A year of moves"
    alice.facts.archive(fact)
    assert alice.events.search("Ann moved") == alice.events.search_episodes("moves") == []


def test_an_event_that_is_undone_is_found_by_its_status_alone(alice):
    event = alice.events.add("The lamp broke.")
    alice.events.add_episode("A dark week", [event])
    alice.facts.undo(alice.log(op="upsert_event")[-1].op)
    assert alice.events.get(event).status == "archived"
    assert alice.events.search("lamp") == []
    assert alice.recall("lamp", kinds=("event", "fact")).hits == ()
    assert alice.events.search("lamp", status="archived")[0].item.id == event


def test_conditions_narrow_the_search(alice):
    for who in ("Ann", "Ben"):
        alice.facts.add(who, "likes", "tea")
        alice.facts.add(who, "owns", "a boat")
        alice.events.add(f"{who} broke the lamp.", participants=[who])
    found = alice.facts.search("tea", subject="Ben")
    assert [hit.text for hit in found] == ["Ben likes tea", "Ben owns a boat"]
    assert len(alice.facts.search("tea", predicate="likes", limit=1)) == 1
    assert alice.facts.search("tea", subject="Eve") == []
    assert [hit.item.summary for hit in alice.events.search("lamp", participant="Ann")] == [
        "Ann broke the lamp."
    ]


def test_arguments_are_checked(alice):
    alice.facts.add("Ann", "likes", "tea")
    for call in (
        lambda: alice.facts.search(""),
        lambda: alice.facts.search("tea", limit=0),
        lambda: alice.facts.search("tea", query_embedding=[1.0]),
        lambda: alice.recall("tea", kinds="facts"),
        lambda: alice.recall("tea", kinds=()),
        lambda: alice.recall("", kinds=("memory", "fact"), tags=["x"]),
        lambda: alice.recall("tea", kinds="fact", pack="subgraph"),
        lambda: alice.recall("tea", kinds="fact", min_confidence=0.5),
    ):
        with pytest.raises(recollex.errors.InputError):
            call()


# -- beside memories ------------------------------------------------------------------------------


def test_they_are_recalled_beside_memories_or_alone(alice):
    told(alice)
    plain = alice.recall("Where does Ann live?")
    mixed = alice.recall("Where does Ann live?", kinds=ALL)
    assert [memory.to_dict() for memory in mixed] == [memory.to_dict() for memory in plain]
    assert plain.beside is None and [hit.kind for hit in plain.hits] == ["memory", "memory"]
    assert {hit.kind for hit in mixed.hits} == set(ALL)
    scores = [hit.score for hit in mixed.hits]
    assert scores == sorted(scores, reverse=True)
    assert "hits" not in plain.to_dict() and len(mixed.to_dict()["hits"]) == 6
    assert "source: web] Ann lives in Rome." in mixed.to_prompt()
    assert "[fact; trusted as web] Ann lives in Rome" in mixed.to_prompt()
    alone = alice.recall("Where does Ann live?", kinds="fact")
    assert len(alone) == 0 and [hit.item.id for hit in alone.hits] == ["f1", "f2"]
    assert [hit.score for hit in alone.hits] == [
        hit.score for hit in alice.facts.search("Where does Ann live?")
    ]
    assert alone.confidence is None and alone.to_prompt().startswith("[fact] Ann lives in Rome")


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_fact_that_answers_is_before_memories_that_do_not(tmp_path, preset):
    with recollex.open(tmp_path / "s", embedder=default_model()) as store:
        agent = store.agent("a")
        for said in ("watched a film", "bought bread", "was late", "slept", "read", "sang"):
            agent.retain(f"Ann {said}.")
        agent.facts.add("Ann", "lives_in", "Rome")
        for limit in (None, 3):
            found = agent.recall(
                "Ann lives in Rome", kinds=("memory", "fact"), limit=limit, preset=preset
            )
            assert [hit.kind for hit in found.hits] == ["fact", *["memory"] * ((limit or 7) - 1)]


def test_a_memory_that_answers_is_before_facts_that_do_not(alice):
    alice.retain("Ann lives in Rome.")
    for thing in ("tea", "boats"):
        alice.facts.add("Ann", "likes", thing)
    found = alice.recall("Where in Rome does Ann live?", kinds=("memory", "fact"))
    assert [hit.kind for hit in found.hits] == ["memory", "fact", "fact"]


def test_a_presets_choices_hold_for_facts(alice):
    alice.facts.add("Ann", "likes", "tea")
    alice.facts.add("Ann", "likes", "tea in the boat by the lamp in Oslo")
    facts = {"kinds": "fact", "preset": replace(DEFAULT, arms=("keyword",))}
    default = [hit.score for hit in alice.recall("tea", **facts).hits]
    for changed in ({"b": 0.0}, {"k1": 3.0}, {"fusion": Contextual(keyword=1.0)}):
        preset = replace(facts["preset"], **changed)
        found = [hit.score for hit in alice.recall("tea", kinds="fact", preset=preset).hits]
        assert found != default
        assert (found[0] == pytest.approx(found[1], abs=1e-3)) == ("b" in changed)
    meaning = replace(DEFAULT, arms=("semantic",))
    found = alice.recall("tea", kinds="fact", preset=meaning).hits
    assert all(set(hit.ranks) == {"semantic"} for hit in found)


def test_a_list_that_another_stage_ordered_keeps_its_order():
    assert list(joined([3, 1, 2], [2.5, 2, 1])) == [
        (True, 0),
        (False, 0),
        (True, 1),
        (True, 2),
        (False, 1),
        (False, 2),
    ]


def test_one_budget_and_one_limit_hold_for_all(alice):
    told(alice)
    for most in (5, 12, 25, 60):
        found = alice.recall("Where does Ann live?", kinds=ALL, max_tokens=most)
        counted = alice.engine.counter().count(found.to_prompt())
        assert counted <= found.tokens <= most
    whole = alice.recall("Where does Ann live?", kinds=ALL)
    limited = alice.recall("Where does Ann live?", kinds=ALL, limit=3)
    assert limited.hits == whole.hits[:3]


def test_with_filters_a_fact_must_cite_an_admitted_memory(alice):
    told(alice)
    found = alice.recall("Where does Ann live?", kinds=ALL, tags=["home"])
    ids = [(hit.kind, hit.item.id) for hit in found.hits]
    assert sorted(ids) == [("episode", "p1"), ("event", "e1"), ("fact", "f1"), ("memory", "m1")]
    trusted = alice.recall("Where does Ann live?", kinds=ALL, trust="user")
    assert trusted.hits == ()


def test_a_search_that_fails_leaves_the_memories(alice, monkeypatch):
    told(alice)
    monkeypatch.setattr("recollex_engine.recall.kinds.search_surfaces", lambda *_: 1 / 0)
    found = alice.recall("Where does Ann live?", kinds=ALL)
    assert len(found) == 2 and found.beside.hits == ()
    assert found.trace.errors["surfaces"].startswith("ZeroDivisionError")


def test_a_pack_starts_from_what_the_question_asks_for(alice):
    with alice.transaction() as tx:
        memory = tx.retain("Something was written in a letter.", id="m1")
        fact = tx.facts.add("Ben", "plays", "the cello", evidence=memory)
        tx.events.add("A concert was given.", facts=fact)
        for n in range(40):
            tx.retain(f"Who plays the cello in letter {n}?")
    packed = alice.recall("Who plays the cello?", limit=3, pack=recollex.Packing(seeds=3)).subgraph
    assert [fact.object for fact in packed.facts] == ["the cello"]


def test_the_texts_of_all_kinds_of_objects():
    day = 86_400_000_000
    always = [-(2**63) + 1, 2**63 - 1]
    for record, said in (
        ({"entity": ["Rome", 1]}, "Rome"),
        ({"number": 3.0}, "3"),
        ({"number": 0.5}, "0.5"),
        ({"boolean": True}, "yes"),
        ({"boolean": False}, "no"),
        ({"time": 2 * day}, "January 3, 1970"),
        ({"text": "blue"}, "blue"),
        ({"mention": recollex.Mention("d", (0, 3), "red").to_json()}, "red"),
    ):
        content = {"subject": ["Ann", 0], "predicate": "p", "object": record, "valid": always}
        assert (
            surface_of("upsert_edge", content) == " ".join(fact_parts(content)) == f"Ann p {said}"
        )
    spans = (
        ((0, day), "January 1, 1970 to January 2, 1970"),
        ((always[0], 0), "until January 1, 1970"),
    )
    for span, said in spans:
        content = {"summary": "It was.", "edges": [], "span": span}
        assert surface_of("upsert_event", content) == f"It was. {said}"
        content = {"subject": ["Ann", 0], "predicate": "livesIn", "object": {"text": "Oslo"}}
        content["valid"] = span
        assert surface_of("upsert_edge", content) == f"Ann lives In Oslo, {said}"
        assert " ".join(fact_parts(content)) == f"Ann lives In Oslo {said}"


def test_only_so_many_days_are_kept_in_words(monkeypatch):
    monkeypatch.setattr(surfaces, "_MEMO_DAYS", 3)
    days = surfaces._Days()
    told = [days[number % 7] for number in range(20)]
    assert told == [f"January {number % 7 + 1}, 1970" for number in range(20)] and len(days) <= 3
