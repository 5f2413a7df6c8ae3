"""An agent keeps the counter of its tokens, and says where another has to count."""

import warnings

import pytest
import tiktoken

import recollex
from recollex_engine.domain.prompt_lines import DATES, LineCosts
from recollex_engine.text import token_counter
from tests.bindings.word_vectors import WordVectors

TEXT = "Ann likes tea."
TOLD = r"counted by the model's own tokenizer.* `recollex warmup` .* TIKTOKEN_CACHE_DIR"


def bytes_as_tokens():
    ranks = {bytes([byte]): byte for byte in range(256)}
    return tiktoken.Encoding(
        "bytes", pat_str=r"\w+|\W", mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 256}
    )


@pytest.fixture
def vocabulary(monkeypatch):
    def have(encoding):
        monkeypatch.setattr(token_counter, "_encoding", lambda: encoding)

    return have


def opened(folder):
    return recollex.open(folder, embedder=WordVectors(), durability="off")


def test_a_new_agent_that_the_model_counts_for_warns_once_and_stats_say_it(tmp_path, vocabulary):
    vocabulary(None)
    with opened(tmp_path) as store:
        agent = store.agent("a")
        with pytest.warns(UserWarning, match=TOLD) as told:
            agent.retain(TEXT)
        assert len(told) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            agent.retain("Bob likes milk.")
            recall = agent.recall("tea")
        assert recall.token_counter == agent.stats().token_counter == "wordpiece"


def test_an_agent_that_the_model_counted_for_stays_so_where_there_is_a_vocabulary(
    tmp_path, vocabulary
):
    vocabulary(None)
    with opened(tmp_path) as store, pytest.warns(UserWarning, match=TOLD):
        store.agent("a").retain(TEXT)
    vocabulary(bytes_as_tokens())
    with opened(tmp_path) as store:
        store.agent("a").retain("Bob likes tea.")
        assert [memory.tokens for memory in store.agent("a").list()] == [3, 3]
        store.agent("b").retain(TEXT)
        (memory,) = store.agent("b").list()
        assert (memory.tokens, store.agent("b").stats().token_counter) == (16, "cl100k_base")


def test_an_agent_of_a_vocabulary_that_is_missing_here_warns_when_it_is_written(
    tmp_path, vocabulary
):
    vocabulary(bytes_as_tokens())
    with opened(tmp_path) as store:
        store.agent("a").retain(TEXT)
    vocabulary(None)
    with opened(tmp_path) as store:
        agent = store.agent("a")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert agent.recall("tea").tokens == 16 + DATES["cl100k_base"]
        with pytest.warns(UserWarning, match=TOLD):
            agent.retain("Bob likes tea.")
        assert agent.stats().token_counter == "cl100k_base"


def test_an_export_is_counted_by_the_counter_of_the_agent_that_imports_it(tmp_path, vocabulary):
    vocabulary(None)
    with opened(tmp_path / "s") as store, pytest.warns(UserWarning, match=TOLD):
        store.agent("a").retain(TEXT)
    vocabulary(bytes_as_tokens())
    with opened(tmp_path / "s") as store:
        recollex.export_memories(store.agent("a"), tmp_path / "a.jsonl")
        recollex.import_memories(store.agent("b"), tmp_path / "a.jsonl")
        (memory,) = store.agent("b").list()
        assert (memory.tokens, store.agent("b").stats().token_counter) == (16, "cl100k_base")


def test_a_first_write_is_counted_anew_if_another_process_made_the_agent(
    tmp_path, vocabulary, monkeypatch
):
    embed, made = WordVectors.embed, []

    def made_meanwhile(self, texts, threads=1, progress=None):
        if not made:
            made.append(1)
            vocabulary(None)
            with opened(tmp_path) as other, pytest.warns(UserWarning, match=TOLD):
                other.agent("a").retain("Bob likes tea.")
        return embed(self, texts)

    vocabulary(bytes_as_tokens())
    with opened(tmp_path) as store:
        monkeypatch.setattr(WordVectors, "embed", made_meanwhile)
        store.agent("a").retain(TEXT)
        assert store.agent("a").stats().token_counter == "wordpiece"
        assert [memory.tokens for memory in store.agent("a").list()] == [3, 3]


def test_the_costliest_date_of_cl100k_base_is_the_known_one():
    if not token_counter._on_disk():
        pytest.skip("no cl100k_base vocabulary; TIKTOKEN_CACHE_DIR names a folder that holds it")
    counter = token_counter.open_counter(len)
    assert LineCosts(lambda: counter).date == DATES[counter.name]
