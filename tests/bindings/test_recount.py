"""A token counter that is changed later: what is counted, for whom, and that it outlasts files."""

import shutil
import tempfile
import threading
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import tiktoken
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

import recollex
from recollex.cli import main
from recollex_engine.errors import InputError, ModelError, ReadOnlyError
from recollex_engine.state.manifest import Manifest
from recollex_engine.text import token_counter
from recollex_engine.writing import checkpoint, recounting
from tests.bindings.word_vectors import WordVectors

START = datetime(2024, 5, 4, tzinfo=UTC)
LONG = " ".join(f"Sentence {n} says that tea is a drink of leaves." for n in range(60))
BYTES = tiktoken.Encoding(
    "bytes",
    pat_str=r"\S+|\s+",
    mergeable_ranks={bytes([byte]): byte for byte in range(256)},
    special_tokens={"<|endoftext|>": 256},
)
WORDS = "wordpiece"
CL100K = "cl100k_base"


@pytest.fixture(autouse=True)
def a_vocabulary(monkeypatch):
    """A token of cl100k_base is a byte here."""
    monkeypatch.setattr(token_counter, "_encoding", lambda: BYTES)


class Clock:
    now = START

    def __call__(self):
        self.now += timedelta(minutes=1)
        return self.now


def opened(path, **options):
    return recollex.open(path, embedder=WordVectors(), **options)


def counted(text, counter):
    """The tokens of a text without a line end in it, by the plain rule."""
    line = f" {text}\n"
    return len(line.encode()) if counter == CL100K else WordVectors().count_tokens(line)


def tokens(agent):
    return {memory.text: memory.tokens for memory in agent.list(limit=1000)}


@pytest.fixture
def agent(tmp_path):
    with opened(tmp_path / "s", clock=Clock()) as store:
        yield store.agent("a")


def test_everything_is_counted_again_and_the_name_stands_in_stats(agent):
    agent.retain_many(["Ann likes tea.", LONG])
    before = agent.recall("tea", max_tokens=400)
    assert agent.stats().token_counter == before.token_counter == CL100K
    assert agent.recount(WORDS, by="ann", why="no network") == 2
    assert agent.stats().token_counter == WORDS
    assert tokens(agent) == {text: counted(text, WORDS) for text in ("Ann likes tea.", LONG)}
    after = agent.recall("tea", max_tokens=400)
    assert after.token_counter == WORDS
    assert after.tokens > before.tokens and after.tokens <= 400
    assert len(after.to_prompt()) > len(before.to_prompt())  # a long memory is cut by passages
    [entry] = agent.log(op="recount")
    assert (entry.by, entry.why) == ("ann", "no network")


def test_the_counter_that_it_has_changes_nothing(agent):
    agent.retain("Ann likes tea.")
    assert agent.recount(CL100K) == 0
    assert agent.log(op="recount") == []


def test_cuts_count_by_the_new_counter_too(agent):
    agent.retain("Ann likes tea.")
    then = agent.log()[-1].recorded_at
    agent.retain("Ben likes milk.")
    agent.recount(WORDS)
    cut = agent.at(then)
    assert tokens(cut) == {"Ann likes tea.": counted("Ann likes tea.", WORDS)}
    assert cut.recall("tea").token_counter == WORDS


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_snapshot_answers_as_the_cut_does(agent, tmp_path, moment):
    agent.retain_many(["Ann likes tea.", LONG])
    then = agent.log()[-1].recorded_at
    agent.retain("Ben likes milk.")
    agent.recount(WORDS)
    agent.recount(CL100K)
    agent.recount(WORDS)
    then = then if moment == "before" else agent.log()[-1].recorded_at
    agent.snapshot(then, tmp_path / "copy")
    with opened(tmp_path / "copy") as store:
        copy = store.agent("a")
        assert tokens(copy) == tokens(agent.at(then))
        assert copy.stats().token_counter == WORDS
        assert copy.verify().ok
        copy.retain("Dan likes rye.")
        assert copy.get(copy.list()[-1].id).tokens == counted("Dan likes rye.", WORDS)


def test_a_replay_repeats_it_without_the_vocabulary(agent, tmp_path, monkeypatch):
    agent.recount(WORDS)
    agent.retain("Ann likes tea.")
    agent.recount(CL100K)
    monkeypatch.setattr(token_counter, "_encoding", lambda: None)
    recollex.replay(agent.engine.folder, tmp_path / "again", agent_id="a", embedder=WordVectors())
    with opened(tmp_path / "again") as store:
        assert tokens(store.agent("a")) == {"Ann likes tea.": counted("Ann likes tea.", CL100K)}
        assert store.agent("a").stats().token_counter == CL100K


def test_a_backup_restored_as_of_a_time_counts_by_the_new_counter(tmp_path):
    with opened(tmp_path / "s", clock=Clock()) as store:
        agent = store.agent("a")
        agent.retain("Ann likes tea.")
        then = agent.log()[-1].recorded_at
        store.backup(tmp_path / "b")
        agent.retain("Ben likes milk.")
        agent.recount(WORDS)
        store.backup(tmp_path / "b")
    recollex.restore(tmp_path / "b", tmp_path / "r", at=then)
    with opened(tmp_path / "r") as store:
        assert tokens(store.agent("a")) == {"Ann likes tea.": counted("Ann likes tea.", WORDS)}


def test_a_reader_sees_it(agent, tmp_path):
    agent.retain_many(["Ann likes tea.", LONG])
    agent.checkpoint()
    with opened(tmp_path / "s", read_only=True) as store:
        reader = store.agent("a")
        assert tokens(reader)[LONG] == counted(LONG, CL100K)
        agent.recount(WORDS)
        assert tokens(reader)[LONG] == counted(LONG, WORDS)
        assert reader.stats().token_counter == WORDS
        agent.checkpoint()
        assert tokens(reader)[LONG] == counted(LONG, WORDS)


def test_an_erasure_leaves_no_count_of_what_was_erased(agent):
    agent.retain_many(["Ann likes tea.", LONG, "Ben likes milk."], id=["tea", "long", "milk"])
    agent.recount(WORDS)
    agent.erase("long", by="ann", why="asked")
    [entry] = agent.log(op="recount")
    ann, long, ben = entry.payload["tokens"]
    assert ann == [counted("Ann likes tea.", WORDS)] and ben == [counted("Ben likes milk.", WORDS)]
    assert len(long) > 2 and not any(long)
    assert tokens(agent) == {
        text: counted(text, WORDS) for text in ("Ann likes tea.", "Ben likes milk.")
    }
    agent.recount(CL100K)
    assert not any(agent.log(op="recount")[-1].payload["tokens"][1])
    assert agent.verify().ok


def test_a_write_that_was_prepared_before_is_counted_anew(agent, monkeypatch):
    agent.retain("Ann likes tea.")
    ready, go_on = threading.Event(), threading.Event()
    embed = WordVectors.embed

    def slow(self, texts, threads=1, progress=None):
        ready.set()
        go_on.wait(10)
        return embed(self, texts)

    monkeypatch.setattr(WordVectors, "embed", slow)
    writer = threading.Thread(target=agent.retain, args=["Ben likes milk."])
    writer.start()
    assert ready.wait(10)
    agent.recount(WORDS)
    go_on.set()
    writer.join()
    assert tokens(agent)["Ben likes milk."] == counted("Ben likes milk.", WORDS)


def test_what_is_retained_while_it_counts_is_counted(agent, monkeypatch):
    agent.retain("Ann likes tea.")
    count = recounting.count_memories
    calls = []

    def slow(columns, counter, first, end):
        found = count(columns, counter, first, end)
        if not calls:
            calls.append(1)
            agent.retain("Ben likes milk.")
        return found

    monkeypatch.setattr("recollex_engine.agents.agent.count_memories", slow)
    assert agent.recount(WORDS) == 2
    assert tokens(agent)["Ben likes milk."] == counted("Ben likes milk.", WORDS)


class Others(WordVectors):
    """Another model of the same dimension."""

    def __init__(self):
        super().__init__()
        self.fingerprint = "others-64"


def test_it_and_a_move_to_another_model_keep_each_other(tmp_path):
    with opened(tmp_path / "s", clock=Clock()) as store:
        agent = store.agent("a")
        agent.retain_many(["Ann likes tea.", LONG])
        then = agent.log()[-1].recorded_at
        agent.recount(WORDS)
    recollex.reembed(tmp_path / "s", "a", embedder=Others())
    (tmp_path / "s" / "agents" / "a" / "MANIFEST").unlink()
    with recollex.open(tmp_path / "s", embedder=Others()) as store:
        agent = store.agent("a")
        assert agent.stats().token_counter == WORDS
        agent.snapshot(then, tmp_path / "copy")
        agent.recount(CL100K)
        agent.retain("Ben likes milk.")
        assert tokens(agent)["Ben likes milk."] == counted("Ben likes milk.", CL100K)
    with recollex.open(tmp_path / "copy", embedder=Others()) as store:
        copy = store.agent("a")
        assert tokens(copy) == {text: counted(text, WORDS) for text in ("Ann likes tea.", LONG)}
        assert copy.stats().token_counter == WORDS
        assert copy.verify().ok


def test_a_checkpoint_that_fails_after_it_leaves_the_files_of_the_last_one(agent, monkeypatch):
    agent.retain("Ann likes tea.")
    agent.checkpoint()
    agent.recount(WORDS)

    def full(manifest, folder):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Manifest, "write", full)
        with pytest.raises(OSError, match="No space"):
            agent.checkpoint()
    home = agent.engine.folder
    with opened(home.parent.parent, read_only=True) as store:  # a warning would be an error
        assert tokens(store.agent("a")) == {"Ann likes tea.": counted("Ann likes tea.", WORDS)}
    agent.checkpoint()
    assert {path.name for path in (home / "columns").glob("*tokens*")} == {
        "tokens-2",
        "passage_tokens-2",
    }


def test_a_new_agent_can_be_given_one(agent):
    assert agent.recount(WORDS) == 0
    agent.retain("Ann likes tea.")
    assert tokens(agent) == {"Ann likes tea.": counted("Ann likes tea.", WORDS)}


def test_refusals(agent, tmp_path, monkeypatch):
    agent.retain("Ann likes tea.")
    with pytest.raises(InputError, match="counter must be cl100k_base or wordpiece, got 'gpt2'"):
        agent.recount("gpt2")
    with pytest.raises(ReadOnlyError):
        agent.at(agent.log()[-1].recorded_at).recount(WORDS)
    agent.recount(WORDS)
    monkeypatch.setattr(token_counter, "_encoding", lambda: None)
    with warnings.catch_warnings():  # that the model's own counts is a warning elsewhere
        warnings.simplefilter("error")
        with pytest.raises(ModelError, match="recollex warmup"):
            agent.recount(CL100K)
    assert agent.stats().token_counter == WORDS


def test_the_command_line_changes_it(tmp_path, capsys):
    store = str(tmp_path / "s")
    with recollex.open(store, embedder=recollex.GivenVectors(8)) as made:
        made.agent("default").retain("Ann likes tea.", embedding=[1.0] * 8)
    assert main(["recount", store, "--counter", WORDS, "--by", "ann"]) == 0
    assert capsys.readouterr().out == "default: 1 memory counted by wordpiece\n"
    assert main(["recount", store, "--json"]) == 0
    assert capsys.readouterr().out == '{"memories": 1, "counter": "cl100k_base"}\n'
    assert main(["recount", str(tmp_path / "none")]) == 1


class Recounted(RuleBasedStateMachine):
    """An agent beside a dictionary of its texts; its counts are those of its last counter."""

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.texts = set()
        self.counter = CL100K
        self.store = opened(self.folder, durability="off")

    def teardown(self):
        self.store.close()
        shutil.rmtree(self.folder)

    @property
    def agent(self):
        return self.store.agent("a")

    @rule(number=st.integers(0, 99), long=st.booleans())
    def retain(self, number, long):
        text = f"Memory {number}. {LONG}" if long else f"Memory {number}."
        self.agent.retain(text, id=str(number) + "long" * long)
        self.texts.add(text)

    @rule(counter=st.sampled_from([CL100K, WORDS]))
    def recount(self, counter):
        self.agent.recount(counter)
        self.counter = counter

    @rule()
    def fold(self):
        if self.texts:
            self.agent.checkpoint()

    @rule()
    def reopen(self):
        self.store.close()
        self.store = opened(self.folder, durability="off")

    @rule()
    def lose_the_checkpoint(self):
        self.store.close()
        (self.folder / "agents" / "a" / "MANIFEST").unlink(missing_ok=True)
        self.store = opened(self.folder, durability="off")

    @invariant()
    def all_is_counted_by_the_last_counter(self):
        assert tokens(self.agent) == {text: counted(text, self.counter) for text in self.texts}
        if self.texts:
            assert self.agent.verify().ok
            for memory in self.agent.recall("Memory", max_tokens=100):
                assert memory.tokens <= 100


def test_the_model_holds(monkeypatch):
    monkeypatch.setattr(checkpoint, "TAIL_ROWS", 1 << 40)
    run_state_machine_as_test(
        Recounted,
        settings=settings(
            max_examples=15,
            stateful_step_count=10,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
