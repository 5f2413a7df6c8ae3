import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.fusing._neighbourhood import NONE, neighbours, surround, weigh
from recollex_kernels.vectors.codes import cosines
from recollex_kernels.words.bm25 import scores_of
from recollex_kernels.words.postings import build_postings
from recollex_kernels.words.segments import table
from tests.kernels.circles import lost_by, strangers_among
from tests.kernels.inputs import frozen, read_only
from tests.kernels.posting_lists import graded_lists

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

WIDTH = 40
ZERO, UNIT, SCALE, SHARE = 0.2, 0.3, 0.7, 4.4


KEPT = []


def bank(sizes, seed):
    """What the arms say of memories of so many rows each, vectors on a coarse grid for ties."""
    rng = np.random.default_rng(seed)
    first_row = np.cumsum([0, *sizes])
    vectors = (rng.integers(-2, 3, (int(first_row[-1]), WIDTH)) / 8).astype(np.float16)
    query = read_only(rng.integers(-2, 3, WIDTH).astype(np.float32))
    offsets = np.arange(int(first_row[-1]) + 1, dtype=np.uint64)  # a word a row
    words = rng.choice(np.array([0, 1, 2], np.uint32), int(first_row[-1]))
    lengths = np.array(sizes, np.uint32)
    lists = build_postings(offsets[first_row], words, 0, len(sizes), 3)
    KEPT.append(graded_lists(*lists, lengths, 0, len(sizes)))  # a table holds addresses
    terms, idf = np.array([2, 0], np.uint32), np.array([2.0, 0.5], np.float32)
    tail = np.empty(0, np.float32)
    asked = table(KEPT[-1:]), tail, lengths, offsets, words, 0.5, 0.25, terms, idf
    rows = first_row.astype(np.uint32)
    apart = strangers_among(len(sizes), rng)
    return asked, SCALE, read_only(vectors.view(np.uint16)), rows, query, ZERO, UNIT, apart


def keyword_of(said, m):
    (_, _, lengths, offsets, words, fixed, per_word, terms, idf), scale, _, first_row, *_ = said
    fixed, per_word = np.float32(fixed), np.float32(per_word)
    found = np.empty(1, np.float32)
    one = np.array([m], np.uint32)
    forward = lengths, first_row, offsets, words
    scores_of(one, forward, (terms, idf, fixed, per_word), found)
    return float(found[0]) * scale


def semantic_of(said, m):
    own = max((alike(said, m) - ZERO) / UNIT, -1.0) if len(said[4]) else 0.0
    return own - lost_by(said[-1], m)


def alike(said, m):
    _, _, vectors, first_row, query, *_ = said
    rows = np.arange(first_row[m], first_row[m + 1], dtype=np.uint32)
    scores = np.empty(len(rows), np.float32)
    cosines(vectors, rows, query, scores)
    return float(scores.max())


def check(said, memories, keyword, semantic):
    assert keyword.tolist() == [keyword_of(said, m) for m in memories.tolist()]
    assert semantic.tolist() == [semantic_of(said, m) for m in memories.tolist()]


sizes = st.lists(st.integers(1, 3), min_size=1, max_size=90)


@given(sizes, st.integers(0, 9), st.data())
def test_weighs_each_memory_once_by_its_best_row(sizes, seed, data):
    said = list(bank(sizes, seed))
    if data.draw(st.booleans()):
        said[0] = *said[0][:-2], said[0][-2][:0], said[0][-1][:0]
    if data.draw(st.booleans()):
        said[4] = said[4][:0]
    found = data.draw(st.lists(st.integers(0, len(sizes) - 1), max_size=20))
    known = sorted({m for m in found if data.draw(st.booleans())}) if len(said[4]) else []
    near, likeness = frozen(known, np.uint32), frozen([alike(said, m) for m in known], np.float32)
    memories, keyword, semantic = weigh(
        (frozen(found, np.uint32), (near, likeness)), len(sizes), tuple(said)
    )
    assert memories.tolist() == sorted(set(found))
    check(said, memories, keyword, semantic)


def test_a_known_similarity_is_believed_of_a_memory_of_one_row():
    said = bank([1, 2, 1], 3)
    found = frozen([0, 1, 2], np.uint32)
    _, _, semantic = weigh((found, (found[:2], frozen([0.8, 0.8], np.float32))), 3, said)
    assert semantic[0] == (float(np.float32(0.8)) - ZERO) / UNIT - lost_by(said[-1], 0)
    assert semantic[1:].tolist() == [semantic_of(said, 1), semantic_of(said, 2)]


@given(sizes, st.integers(0, 9), st.integers(0, 6), st.data())
def test_members_are_the_candidates_and_whatever_stands_beside_one(sizes, seed, widened, data):
    end = len(sizes)
    rng = np.random.default_rng(seed)
    document = rng.choice(np.array([0, 1, int(NONE)], np.uint32), end)
    said_at = np.cumsum(rng.integers(0, 3, end))
    visible = rng.choice(np.array([0, 1, 1, 1], np.uint8), end)
    allowed = rng.choice(np.array([0, 1], np.uint8), end) & visible
    memory = st.integers(0, end - 1)
    found, associated = (data.draw(st.lists(memory, max_size=9)) for _ in range(2))
    said, around = bank(sizes, seed), (document, said_at, visible)
    nobody = frozen([], np.uint32), frozen([], np.float32)
    weighed = weigh((frozen(found, np.uint32), nobody), end, said)
    speaker = np.zeros(end, np.uint32)
    members, keyword, semantic, places, beside = surround(
        *(weighed, SHARE, frozen(associated, np.uint32)),
        *(
            (document, said_at, speaker, speaker.astype(np.uint8), visible),
            allowed,
            (widened, 5, 4),
            said,
        ),
    )

    def beside_of(memories):
        return neighbours(np.array(memories, np.uint32), *around, 5, 4).tolist()

    first = sorted({*found, *associated})
    best = sorted(first, key=lambda m: (-SHARE * keyword_of(said, m) - semantic_of(said, m), m))
    near = {m for four in beside_of(best[:widened]) for m in four if m >= 0 and allowed[m]}
    candidates = sorted({*first, *near})
    expected = [four[:3] for four in beside_of(candidates)]
    assert members[places].tolist() == candidates
    assert [[members[m] if m >= 0 else -1 for m in three] for three in beside.tolist()] == expected
    assert members.tolist() == sorted(
        {*candidates, *(m for three in expected for m in three)} - {-1}
    )
    check(said, members, keyword, semantic)
