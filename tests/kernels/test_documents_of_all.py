import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.postings import STOP, build_postings, documents_of_all

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

VOCABULARY = 4
texts = st.lists(st.lists(st.sampled_from([0, 1, 2, 3, int(STOP)]), max_size=6), max_size=20)
queries = st.lists(st.integers(0, VOCABULARY), min_size=1, max_size=4)  # may repeat, be unknown


def frozen(values, dtype):
    array = np.array(values, dtype)
    array.flags.writeable = False
    return array


@given(texts, queries, st.integers(0, 25))
def test_they_hold_every_term_and_come_before_the_view_ends(texts, query, end):
    offsets = frozen(np.cumsum([0, *map(len, texts)]), np.int64)
    words = frozen([word for text in texts for word in text], np.uint32)
    starts, documents, _ = build_postings(offsets, words, 0, len(texts), VOCABULARY)
    starts.flags.writeable = documents.flags.writeable = False
    found = documents_of_all(starts, documents, frozen(query, np.uint32), end)
    assert found.tolist() == [
        n for n, text in enumerate(texts[:end]) if set(query) <= set(text) - {int(STOP)}
    ]
