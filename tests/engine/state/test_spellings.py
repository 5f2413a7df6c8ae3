import numpy as np

from recollex_engine.state.spellings import Spellings
from recollex_engine.storage.dictionary import Dictionary
from recollex_kernels.words.spelling import marks


def test_the_marks_of_terms_grow_with_the_dictionary():
    terms, spellings = Dictionary(), Spellings()
    assert len(spellings.of(terms)[2]) == 0
    for count in (1, 5, 70, 300):
        while len(terms) < count:
            terms.intern(f"term{chr(97 + len(terms) % 26) * 3}{'x' * (len(terms) // 26)}")
        text, ends, found = spellings.of(terms)
        expected = np.zeros(count, np.uint64)
        marks(*terms.flat, 0, expected)
        assert found.tolist() == expected.tolist() and len(ends) == count
        assert bytes(text[: ends[0]]) == b"termaaa"
        assert spellings.of(terms)[2].base is found.base  # nothing is computed again
