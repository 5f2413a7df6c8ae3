import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollex_kernels._neighbours import NONE, neighbours
from recollex_kernels.context import asks, best_of_document

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

labels = st.sampled_from([0, 1, 0xFFFFFFF0, int(NONE)])
turns = st.lists(st.tuples(labels, st.integers(0, 6), st.integers(0, 1)), max_size=16)


def frozen(values, dtype):
    array = np.array(values, dtype)
    array.flags.writeable = False
    return array


def around(turn, m, reach, window):
    """Before, after, second before, second after: what is met on each side, until one is far."""
    document, said_at, _ = turn[m]
    found = [-1] * 4
    if document == int(NONE):
        return found
    for side, places in enumerate((range(m - 1, -1, -1), range(m + 1, len(turn)))):
        met = []
        for other in places[:reach]:
            if turn[other][0] == document and turn[other][2] == 1:
                if abs(turn[other][1] - said_at) > window:
                    break
                met.append(other)
        for rank, other in enumerate(met[:2]):
            found[2 * rank + side] = other
    return found


@given(turns, st.integers(0, 6), st.integers(0, 4))
@example([(0, 0, 1), (0, 9, 1), (0, 0, 1)], 6, 4)  # a far one ends the walk
def test_neighbours_equal_a_walk_to_both_sides(turn, reach, window):
    found = neighbours(
        frozen(range(len(turn)), np.uint32),
        frozen([document for document, _, _ in turn], np.uint32),
        frozen([said_at for _, said_at, _ in turn], np.int64),
        frozen([visible for _, _, visible in turn], np.uint8),
        reach,
        window,
    )
    assert found.tolist() == [around(turn, m, reach, window) for m in range(len(turn))]


@given(st.lists(st.tuples(labels, st.sampled_from([-2.0, -0.5, 0.0, 0.5, 3.0])), max_size=20))
@example([(0, -1.0), (0, -2.0), (int(NONE), 5.0)])
def test_the_best_of_a_document_is_the_greatest_of_its_entries(entries):
    found = best_of_document(
        frozen([label for label, _ in entries], np.uint32),
        frozen([score for _, score in entries], np.float64),
    )
    assert found.tolist() == [
        0.0 if label == int(NONE) else max(score for other, score in entries if other == label)
        for label, _ in entries
    ]


def test_the_best_of_many_documents():
    rng = np.random.default_rng(0)
    documents = rng.integers(0, 700, 2000).astype(np.uint32)
    scores = rng.standard_normal(2000)
    best = {d: scores[documents == d].max() for d in set(documents.tolist())}
    assert best_of_document(documents, scores).tolist() == [best[d] for d in documents.tolist()]


pieces = st.lists(
    st.sampled_from(["?", "\uff1f", "\u061f", "!", "a", "\u0175", "\uff01", " ", "\n", "\u3000"]),
    max_size=4,
)


@given(st.lists(pieces.map("".join), max_size=8))
@example(["\u061f\r\n", "\u07df", "?", "", " \t"])
def test_asks_is_a_question_mark_at_the_end(texts):
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0] + [len(text) for text in encoded])
    found = asks(
        frozen([*range(len(texts)), -1], np.int64),
        frozen(list(b"".join(encoded)), np.uint8),
        frozen(offsets, np.uint64),
    )
    expected = [int(text.rstrip(" \t\n\r").endswith(("?", "\uff1f", "\u061f"))) for text in texts]
    assert found.tolist() == [*expected, 0]
