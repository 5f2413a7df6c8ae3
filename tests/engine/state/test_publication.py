"""What leads to new data is stored after it, and a barrier stands between both, for ARM."""

import threading

import numpy as np
import pytest

from recollex_engine.state import column_set, read_replica
from recollex_engine.state import postings as tail
from recollex_engine.state.column_set import NONE, Chain
from recollex_engine.storage import commit_word
from recollex_engine.storage.commit_word import CommitWord, fence
from tests.engine.faults.small_store import fill, opened, vectors


@pytest.fixture
def seen(monkeypatch):
    """Let a barrier call the functions of a list, by the module that it stands in."""
    calls = {module: [] for module in (column_set, tail, commit_word, read_replica)}
    for module, functions in calls.items():
        monkeypatch.setattr(module, "fence", lambda functions=functions: [f() for f in functions])
    return calls


def test_entries_are_stored_before_the_heads_that_lead_to_them(tmp_path, seen):
    """Of the mentions of an agent, whose chains kernels walk while a writer extends them."""
    told = []
    with opened(tmp_path / "store") as agent:
        agent.retain("Ann is here.", entities=["Ann"], embedding=vectors(8, 1)[0])
        columns = agent.engine.replica().columns
        known = columns.array("mention_entity").copy()

        def at_the_barrier():
            keys = columns.array("mention_entity")
            previous = columns.array("mention_previous")
            memories = columns.array("mention_memory")
            if len(keys) > len(known) and not told:  # later ones are of other chains
                assert len(keys) == len(previous) == len(memories)
                assert int(columns.mentions.head[columns.mentions.head != NONE].max()) < len(known)
                told.append(len(keys))

        seen[column_set].append(at_the_barrier)
        agent.retain("Tea for Ann.", entities=["Ann", "Zoe"], embedding=vectors(9, 1)[0])
        assert told
        assert int(columns.mentions.head[columns.mentions.head != NONE].max()) >= len(known)


def test_a_chain_passes_a_barrier_before_its_heads_change(seen):
    chains = Chain(np.empty(0, np.uint32), 4)
    held = []
    seen[column_set].append(lambda: held.append(chains.head[1]))
    chains.publish([1], 0, 4, moved=False)
    assert held == [NONE] and chains.head[1] == 0


def test_postings_of_the_tail_are_stored_before_their_heads(seen):
    postings = tail.Tail(0)
    held = []

    def at_the_barrier():
        assert postings.now.counts.sum() == 2
        held.append(postings.now.head.any())

    seen[tail].append(at_the_barrier)
    rows, terms = np.array([0, 1], np.uint32), np.array([3, 4], np.uint32)
    now = postings.postings(rows, np.array([0, 2], np.uint64), terms, 1, 8)
    assert held == [False] and now.head[3] and now.head[4]


def test_two_threads_that_ask_a_view_at_once_search_arrays_that_it_keeps(tmp_path, monkeypatch):
    """One of them searched the addresses of arrays that the other one's had replaced: a crash."""
    real, first, second = tail.Tail.postings, threading.Event(), threading.Event()

    def postings(self, *columns):
        found = real(self, *columns)
        if threading.current_thread() is slow:
            first.set()
            assert second.wait(30)
            return found
        made = (array.copy() for array in (found.head, found.postings, found.counts))
        return tail.TailPostings(*made)  # as when later memories have moved them meanwhile

    with opened(tmp_path / "store") as agent:
        agent.retain("Ann is here.", embedding=vectors(8, 1)[0])
        view = agent.engine.view()
        monkeypatch.setattr(tail.Tail, "postings", postings)
        found = []
        slow = threading.Thread(target=lambda: found.append(view.text_index.places))
        slow.start()
        assert first.wait(30)
        found.append(view.text_index.places)
        second.set()
        slow.join()
    kept = [array.ctypes.data for array in (view.tail.head, view.tail.postings, view.tail.counts)]
    assert [places[:3, 0].tolist() for places in found] == [kept, kept]


def test_the_log_is_written_before_the_commit_word_says_so(tmp_path, seen):
    with opened(tmp_path / "store") as agent:
        fill(agent, 0, 3)
        folder = tmp_path / "store" / "agents" / "a"
        before = CommitWord(folder / "COMMIT").op
        held = []

        def at_the_barrier():
            log = b"".join(each.read_bytes() for each in sorted((folder / "log").glob("*.jsonl")))
            held.append((CommitWord(folder / "COMMIT").op, b"Barrier tea." in log))

        seen[commit_word].append(at_the_barrier)
        agent.retain("Barrier tea.", embedding=vectors(9, 1)[0])
        assert held == [(before, True)]
        assert CommitWord(folder / "COMMIT").op > before


def test_a_reader_passes_a_barrier_before_it_reads_what_was_published(tmp_path, seen):
    with opened(tmp_path / "store") as agent:
        fill(agent, 0, 3)
        with opened(tmp_path / "store", read_only=True) as reader:
            known, held = reader.engine.view().op, []
            replica = reader.engine.replica()
            seen[read_replica].append(lambda: held.append(replica.published))
            fill(agent, 3, 1)
            assert len(reader.list()) == 4 and held == [known]


def test_a_barrier_holds_nothing_up():
    threads = [threading.Thread(target=lambda: [fence() for _ in range(1000)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
