import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.domain.schema import NONE
from recollex_engine.state.speakers import Speakers, joined
from recollex_engine.storage.dictionary import Dictionary
from recollex_engine.text.question_cues import first_name

NAMES = ["Ann Lee", "ann", "Bob", "O\u2019Brien", "?!", "", "the_dude"]
LABELS = Dictionary()
LABELS.add_many([f"s:{name}" for name in NAMES])


def test_a_view_without_speakers_names_none():
    assert Speakers(LABELS).by_name(np.empty(0, np.uint32), {"ann"}) == []
    silent = np.full(3, NONE, np.uint32)
    assert Speakers(LABELS).by_name(silent, {"ann", "bob"}) == []
    assert joined([]).tolist() == []


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([*range(len(NAMES)), NONE]), max_size=20),
    st.lists(st.integers(0, 20), max_size=4),
    st.sets(st.sampled_from(["ann", "bob", "o'brien", "the", "dude", "?!", ""])),
)
def test_every_view_finds_the_speakers_that_it_heard(heard, ends, words):
    """Views come in any order; one may be told of speakers whom it has not heard yet."""
    speakers = Speakers(LABELS)
    column = np.array(heard, np.uint32)
    wanted = {label for label, name in enumerate(NAMES) if first_name(name) in words}
    for end in (*ends, len(heard)):
        by_name = speakers.by_name(column[:end], words)
        for labels in by_name:
            assert len({first_name(NAMES[label]) for label in labels.tolist()}) == 1
        found = joined(by_name).tolist()
        assert found == sorted(set(found))
        assert set(heard[:end]) & wanted <= set(found) <= set(heard) & wanted
