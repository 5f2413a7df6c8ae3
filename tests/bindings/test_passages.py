"""A memory too long for the token budget comes back as its best passages."""

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollex
from recollex_engine.ranking import passage_choice
from recollex_engine.ranking.passage_choice import GAP, GAP_TOKENS
from recollex_engine.text.token_counter import open_counter
from recollex_engine.writing.preparation import split
from tests.bindings.line_tokens import line_tokens
from tests.bindings.word_vectors import WordVectors

START = datetime(2024, 5, 1, tzinfo=UTC)
QUESTION = "Which colour has the kettle of the lighthouse?"


def filler(count, seed):
    """Return sentences of made-up words."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("bcdfghjklm", k=2)) + "a" for _ in range(300)]
    return [" ".join(draw.choices(words, k=9)).capitalize() + "." for _ in range(count)]


def long_text(needles, sentences=400, seed=0):
    """Return a long text with ``needles``: share of the text -> sentence."""
    lines = filler(sentences, seed)
    for share, needle in sorted(needles.items(), reverse=True):
        lines.insert(int(share * len(lines)), needle)
    return " ".join(lines)


NEEDLES = {
    0.1: "The lighthouse has a kettle of a dark red colour.",
    0.5: "Later the kettle of the lighthouse got another colour, a pale blue.",
    0.9: "In May the lighthouse sold its kettle, whatever its colour.",
}


@pytest.fixture
def store(tmp_path):
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        yield store


def check(memory, retained):
    """Check that a memory is made of spans of the retained text, in order, gaps marked."""
    spans = memory.passages
    assert all(0 <= start < end <= len(retained) for start, end in spans)
    assert all(one[1] < other[0] for one, other in pairwise(spans))
    parts = [retained[start:end] for start, end in spans]
    if len(parts) == 1:
        assert memory.text == parts[0]
    else:
        assert memory.text == GAP.join(part.strip() for part in parts)
    assert any(memory.passage in part for part in parts)
    assert {end for span in split(retained) for end in span} >= {e for span in spans for e in span}


def test_of_a_text_of_300_kb_the_budget_is_used_for_the_best_passages_in_their_order(store):
    text = long_text(NEEDLES, 8000)
    assert 290_000 < len(text) < 310_000
    agent = store.agent("a")
    agent.retain_many([text, "The kettle is warm."], id=["long", "short"])
    for budget in (450, 1000, 4096, 20_000):
        check_recall(agent.recall(QUESTION, max_tokens=budget), budget, text)
    recall = agent.recall(QUESTION)  # 4,096 tokens
    check_recall(recall, 4096, text)
    assert recall.tokens > 0.9 * 4096 and len(recall[0].passages) > 3


def check_recall(recall, budget, text):
    found = {memory.id: memory for memory in recall}
    memory = found["long"]
    check(memory, text)
    assert 0.6 * budget <= recall.tokens <= budget
    assert recall.tokens == line_tokens(recall)
    counter = open_counter(len, recall.token_counter)
    if recall.token_counter == "cl100k_base":
        assert counter.count(memory.text) <= memory.tokens
    if budget >= 1000:
        assert all(needle in memory.text for needle in NEEDLES.values())
        assert memory.text.count(GAP) == len(memory.passages) - 1 >= 2
    assert found["short"].passages == ((0, len("The kettle is warm.")),)
    assert memory.to_dict()["passages"] == [list(span) for span in memory.passages]


def test_a_gap_takes_no_more_tokens_than_it_is_counted_for():
    for count in (open_counter(lambda text: len(text.strip())), None):
        assert (len(GAP.strip()) if count is None else count.count(GAP)) <= GAP_TOKENS


def test_a_passage_borrows_from_those_beside_it(store):
    """All passages are equal, but for one that has the words of the question."""
    lines = ["On that day the weather was fine again and nothing else happened here."] * 120
    lines[60] = "The kettle of the lighthouse, which colour has it, the keeper wondered."
    text = " ".join(lines)
    spans = split(text)
    at = next(n for n, (start, end) in enumerate(spans) if "keeper" in text[start:end])
    agent = store.agent("a")
    agent.retain(text, id="long")
    (one,) = agent.recall(QUESTION, max_tokens=180)
    assert one.passages == (spans[at],) and one.text == one.passage
    (three,) = agent.recall(QUESTION, max_tokens=340)
    assert three.passages == ((spans[at - 1][0], spans[at + 1][1]),)  # those that touch are one
    assert three.passage == one.text and GAP not in three.text


def test_memories_of_one_passage_cost_nothing_more(store, monkeypatch):
    agent = store.agent("a")
    agent.retain_many([f"The kettle number {n} of the lighthouse." for n in range(80)])
    monkeypatch.setattr(passage_choice, "rows_of", None)
    for budget in (20, 100, 4096):
        for memory in agent.recall(QUESTION, max_tokens=budget):
            assert memory.passages == ((0, len(memory.text)),)
            assert memory.passage == memory.text


def test_whole_memories_come_first_and_the_papers_cut_nothing(store):
    agent = store.agent("a")
    text = long_text(NEEDLES, 60)
    agent.retain_many([text, *filler(5, 3)], id=["long", *"bcdef"])
    everything = agent.recall(QUESTION, max_tokens=100_000)
    long = next(memory for memory in everything if memory.id == "long")
    assert long.text == text and long.passages == ((0, len(text)),)
    assert long.passage != text
    for memory in agent.recall(QUESTION, max_tokens=300, preset="tempr"):
        assert memory.passages == ((0, len(memory.text)),)


WORDS = st.sampled_from(
    ["kettle", "lighthouse", "naïve", "灯塔的水壶是红色的。", "🚢", "red.\n\n", "x" * 40]
)
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=900).map(" ".join), min_size=1, max_size=4)


@settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)
@given(TEXTS, st.integers(1, 3000), st.booleans())
def test_any_texts_stay_within_the_budget(store, texts, budget, exact):
    agent = store.agent(f"a{len(store.agents())}")
    ids = [str(n) for n in range(len(texts))]
    agent.retain_many(texts, id=ids)
    recall = agent.recall("Which kettle is red 灯塔?", max_tokens=budget, exact=exact)
    assert recall.tokens == line_tokens(recall) <= budget
    for memory in recall:
        check(memory, texts[int(memory.id)])
        if memory.text == texts[int(memory.id)]:
            assert memory.passages == ((0, len(memory.text)),)


def test_a_cut_has_the_passages_of_a_store_without_the_future(tmp_path):
    texts = [long_text(NEEDLES, 300, seed) for seed in range(4)]

    def told(name, count):
        store = recollex.open(tmp_path / name, embedder=WordVectors())
        for n in range(count):
            store.agent("a").retain(texts[n], id=str(n), recorded_at=START + timedelta(days=n))
        return store

    with told("all", 4) as store, told("two", 2) as early:
        cut = store.agent("a").at(START + timedelta(days=1, hours=1))
        for budget in (300, 1500):
            found = [
                list(agent.recall(QUESTION, max_tokens=budget, now=START))
                for agent in (cut, early.agent("a"))
            ]
            assert found[0] == found[1]
            assert budget == 300 or any(len(memory.passages) > 1 for memory in found[0])
        store.agent("a").checkpoint()
        now = list(store.agent("a").recall(QUESTION, max_tokens=1500, now=START))
    with recollex.open(tmp_path / "all", embedder=WordVectors()) as store:
        assert list(store.agent("a").recall(QUESTION, max_tokens=1500, now=START)) == now
