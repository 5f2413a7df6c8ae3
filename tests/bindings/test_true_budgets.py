"""What `to_prompt` writes has no more tokens than the budget, and few less where more is left."""

import random
from copy import copy
from datetime import UTC, datetime

import pytest
import tiktoken
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import recollex
from recollex_engine.domain import prompt_lines
from recollex_engine.domain.prompt_lines import LineCosts, count_texts
from recollex_engine.text import token_counter
from recollex_engine.text.token_counter import TokenCounter, open_counter
from tests.bindings.word_vectors import WordVectors

DAY = datetime(2024, 5, 4, tzinfo=UTC)
CL100K = (  # how cl100k_base divides a text before it merges bytes
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
    r"""|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)
LETTERS = "ab1.!)]['\n\t é語"
MARKS = ("<|im_end|>", "</s>", "[INST]", "</memory >")


WORDS = "Ann likes tea with milk and asked for a third cup on Monday"


def encoding(seed):
    """Return a tokenizer that divides like cl100k_base and merges other bytes, by chance."""
    draw = random.Random(seed)
    ranks = {bytes([byte]): byte for byte in range(256)}
    parts = [letter.encode() for letter in LETTERS]
    while len(ranks) < 456:
        joined = draw.choice(parts) + draw.choice(parts)
        if joined not in ranks and len(joined) < 9:
            ranks[joined] = len(ranks)
            parts.append(joined)
    return made_of(ranks)


def encoding_of_words():
    """Return a tokenizer of one token for a word, a month, or up to three digits."""
    months = [f" {DAY.replace(month=month):%B}" for month in range(1, 13)]
    words = [*(f" {word}" for word in WORDS.split()), *months, " source", " web"]
    words += [f"[{month.strip()}" for month in months] + [f"{n:03}" for n in range(1000)]
    ranks = {bytes([byte]): byte for byte in range(256)}
    for word in words:
        for end in range(2, len(word) + 1):
            ranks.setdefault(word[:end].encode(), len(ranks))
    return made_of(ranks)


def made_of(ranks):
    return tiktoken.Encoding(
        "made",
        pat_str=CL100K,
        mergeable_ranks=ranks,
        special_tokens={"<|endoftext|>": len(ranks)},
    )


@pytest.fixture
def counted_by(monkeypatch):
    monkeypatch.setattr(prompt_lines, "DATES", {})

    def count_by(made):
        monkeypatch.setattr(token_counter, "_encoding", lambda: made)

    yield count_by


PIECES = dict(
    zip("abcdefghijklmnopqrstuv", [*LETTERS, "tea", " milk", ". ", "Ann", *MARKS], strict=True)
)
drawn = st.text("".join(PIECES), min_size=1, max_size=30)  # a tenth of the cost of a list of pieces
texts = drawn.map(lambda letters: "".join(map(PIECES.__getitem__, letters))).filter(str.strip)
longer = st.lists(texts, min_size=40, max_size=60).map(". Tea ".join)
sources = st.sampled_from([None, None, "user", "web", "crm-", "my_tool/1"])
years = st.integers(1, 9999)


@pytest.mark.parametrize("formatted", ["plain", "marked", "packed"])
@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example([("!1!!", None, 2024), ("]\n", "web", 1)], 1, 40)
@given(
    st.lists(st.tuples(texts | longer, sources, years), min_size=1, max_size=8),
    st.integers(0, 5),
    st.integers(1, 200) | st.integers(200, 3000),
)
def test_a_prompt_has_no_more_tokens_than_the_budget(
    tmp_path_factory, counted_by, formatted, said, seed, budget
):
    made = encoding(seed)
    counted_by(made)
    folder = tmp_path_factory.mktemp("store")
    with recollex.open(folder, embedder=WordVectors(), durability="off") as store:
        agent = store.agent("a")
        for number, (text, source, year) in enumerate(said):
            agent.retain(
                text,
                id=str(number),
                source=None if formatted == "plain" else source,
                event_at=DAY.replace(year=year),
            )
        pack = "subgraph" if formatted == "packed" else None
        recall = agent.recall("tea", max_tokens=budget, pack=pack)
        prompt = recall.to_prompt()
        assert len(made.encode_ordinary(prompt)) <= budget
        assert open_counter(len).count(prompt) <= budget
        if pack is None:
            counted = len(made.encode_ordinary(prompt))
            assert counted <= recall.tokens <= budget
            left = [memory for memory in agent.list() if memory.id not in set(recall.ids)]
            if formatted == "plain" and not any(memory.collapsed for memory in recall):
                date = LineCosts(lambda: open_counter(len)).date
                assert all(recall.tokens + date + memory.tokens > budget for memory in left)


@pytest.mark.parametrize("source", [None, "web"])
def test_a_budget_is_used_where_memories_are_left_over(tmp_path, counted_by, source):
    made = encoding_of_words()
    counted_by(made)
    draw = random.Random(1)
    said = [" ".join(draw.choices(WORDS.split(), k=draw.randint(4, 15))) + "." for _ in range(300)]
    with recollex.open(tmp_path, embedder=WordVectors(), durability="off") as store:
        agent = store.agent("a")
        agent.retain_many(said, event_at=DAY, source=source)
        for budget in (500, 2000):
            recall = agent.recall("tea", max_tokens=budget)
            used = len(made.encode_ordinary(recall.to_prompt()))
            assert 0.94 * budget < used <= budget, used


@pytest.mark.parametrize("preset", ["default", "tempr"])  # the latter stops at what does not fit
def test_without_a_budget_tokens_are_those_of_a_budget_that_nothing_exceeds(tmp_path, preset):
    with recollex.open(tmp_path, embedder=WordVectors(), durability="off") as store:
        agent = store.agent("a")
        said = ["Tea.", "Ann likes tea with milk. " * 300, "A third cup of tea.", "Tea on Monday"]
        for number, source in enumerate([None, "web", "user", None]):
            agent.retain(said[number], source=source, event_at=DAY)
        within = agent.recall("tea", max_tokens=2**30, preset=preset)
        every = agent.recall("tea", max_tokens=None, preset=preset)
        copied = copy(every)
        assert within.ids == every.ids == copied.ids and len(every) == len(said)
        assert within.tokens == every.tokens == copied.tokens > 0
        assert every.to_dict()["tokens"] == within.tokens
        assert agent.recall("tea", max_tokens=None, limit=2, preset=preset).tokens < every.tokens
        assert set(every.trace.stages) == set(within.trace.stages)


def test_a_line_takes_its_date_and_its_text():
    words = TokenCounter("words", lambda text: len(text.split()))
    costs = LineCosts(lambda: words)
    assert costs.date == 3
    assert costs.marked("web", "web") == costs.date + 2
    assert costs.marked("user", "user") == costs.date
    assert count_texts(words, ["Ann likes tea.", "Tea\nand milk."]) == [3, 3]


def test_an_end_that_takes_more_at_the_end_of_a_prompt_is_counted_there():
    single = {bytes([byte]): byte for byte in range(256)}
    made = made_of(single | {b"!\n": 256, b")!\n": 257})
    counter = TokenCounter("made", lambda text: len(made.encode_ordinary(text)))
    assert (counter.count(" a)!\n"), counter.count(" a)!")) == (3, 4)
    assert count_texts(counter, ["a)!", "a!", "a", " "]) == [4, 3, 3, 3]
