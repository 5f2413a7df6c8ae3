import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from recollex_engine.domain.schema import NONE
from recollex_engine.state.postings import Tail
from recollex_kernels.words.tail import chain_frequency

TERMS = 400
texts = st.lists(st.sampled_from([0, 1, 2, 300, TERMS - 1, NONE]), max_size=6)


class Tails(RuleBasedStateMachine):
    """Every view taken keeps finding what it found, whatever is recorded and asked for later."""

    def __init__(self):
        super().__init__()
        self.texts = []
        self.taken = []
        self.tail = Tail(0)

    @rule(new=st.lists(texts, min_size=1, max_size=4))
    def record(self, new):
        self.texts += new

    @rule()
    def record_many(self):
        self.texts += [[term, term + 1] for term in range(0, TERMS, 3)]

    @rule()
    def checkpoint(self):
        """The memories so far come from posting lists: the tail begins after them."""
        self.tail = Tail(len(self.texts))

    @rule(data=st.data())
    def look(self, data):
        """Views need not come in order: one thread may hold an older one."""
        end = data.draw(st.integers(self.tail.first_memory, len(self.texts)))
        terms = [0, *(term + 1 for text in self.texts[:end] for term in text if term != NONE)]
        offsets = np.cumsum([0] + [len(text) for text in self.texts[:end]]).astype(np.uint64)
        found = self.tail.postings(
            np.arange(end + 1, dtype=np.uint32),
            offsets,
            np.array([term for text in self.texts[:end] for term in text], np.uint32),
            end,
            max(terms),
        )
        self.taken.append((found, self.tail.first_memory, end))

    @invariant()
    def every_view_counts_its_own(self):
        terms = np.array([0, 1, 2, 3, 300, TERMS - 1, TERMS, NONE], np.uint32)
        for found, first, end in self.taken:
            frequency = chain_frequency(found.head, found.postings, terms, end).tolist()
            own = self.texts[first:end]
            expected = [
                sum(term in text for text in own) if term != NONE else 0 for term in terms.tolist()
            ]
            assert frequency == expected


Tails.TestCase.settings = settings(deadline=None, max_examples=30, stateful_step_count=12)
TestTails = Tails.TestCase


def test_many_memories_at_once_keep_no_room_that_they_do_not_fill():
    memories = 2_000
    found = Tail(0).postings(
        np.arange(memories + 1, dtype=np.uint32),
        np.arange(memories + 1, dtype=np.uint64),
        np.zeros(memories, np.uint32),
        memories,
        10_000,
    )
    assert len(found.postings) == len(found.counts) <= 2 * memories
    assert chain_frequency(found.head, found.postings, np.zeros(1, np.uint32), memories) == memories
