import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex
from recollex_engine.errors import InputError
from recollex_engine.ranking.diversity import Diversity, normalised, particulars
from recollex_engine.ranking.reranking import Candidates

SAID = [  # (text, network, the axis that is its vector)
    ("Ann has a dog.", "world", 0),
    ("ann  has a DOG!", "world", 0),
    ("Ann has a dog?", "world", 0),
    ("Ann has a dog.", "opinion", 0),
    ("Bob met Ann at 7:45.", "world", 1),
    ("Bob met Ann at 8:45.", "world", 1),
    ("Bob saw Ann at 7:45.", "world", 1),
    ("Ann met Bob at 7:45.", "world", 1),
    ("Bob never met Ann at 7:45.", "world", 1),
    ("It rains.", "world", 2),
    ("a, a", "world", 3),
    ("\N{THUMBS UP SIGN}", "world", 4),
    ("\N{THUMBS DOWN SIGN}", "world", 4),
]
SPOKEN = [("Ann", "Thanks!"), ("Bob", "Thanks!"), ("Ann", "thanks")]
AXES = {text: axis for text, _, axis in SAID}


class Axes(recollex.GivenVectors):
    """Texts of the table have the vector named there, all others the last one."""

    def embed(self, texts, threads=1, progress=None):
        return np.eye(8, dtype=np.float32)[[AXES.get(text, 7) for text in texts]]


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    with recollex.open(tmp_path_factory.mktemp("diversity") / "s", embedder=Axes(8)) as store:
        agent = store.agent("a")
        for text, network, _ in SAID:
            agent.retain(text, network=network)
        turns = [{"speaker": speaker, "text": text} for speaker, text in SPOKEN]
        agent.retain_dialogue(turns, document_id="d")
        yield agent.engine.view()


def candidates_of(view, memories, scores=None):
    scores = np.linspace(1, 0, len(memories)) if scores is None else np.array(scores, np.float64)
    return Candidates("q", view, np.array(memories, np.uint32), scores, 0)


def test_repetitions_fold_into_the_best_and_are_named(view):
    found = Diversity(None, collapse=True).apply(candidates_of(view, [9, 1, 0, 2, 3]))
    assert found.order.tolist() == [0, 1, 3, 4]
    assert found.collapsed == {1: (0,)}


def test_speakers_are_told_apart(view):
    found = Diversity(None, collapse=True).apply(candidates_of(view, [13, 14, 15]))
    assert (found.order.tolist(), found.collapsed) == ([0, 1], {0: (15,)})


def test_texts_without_words_are_told_apart(view):
    found = Diversity(None, collapse=True).apply(candidates_of(view, [11, 12]))
    assert (found.order.tolist(), found.collapsed) == ([0, 1], {})


def test_the_threshold_folds_paraphrases_but_no_other_particulars(view):
    plain = Diversity(None, collapse=True).apply(candidates_of(view, [4, 5, 6, 7, 8]))
    assert plain.collapsed == {}
    found = Diversity(None, collapse=True, threshold=0.95).apply(
        candidates_of(view, [4, 5, 6, 7, 8])
    )
    assert (found.order.tolist(), found.collapsed) == ([0, 1, 3, 4], {0: (6,)})


def test_collapsing_and_mmr_work_together(view):
    memories, scores = [0, 1, 4, 5, 9], [1.0, 0.9, 0.8, 0.7, 0.2]
    for threshold in (None, 0.9):
        stage = Diversity(0.5, collapse=True, threshold=threshold)
        found = stage.apply(candidates_of(view, memories, scores))
        assert found.order.tolist() == [0, 2, 4, 3]  # 5 is like 4, so what is new comes first
        assert found.collapsed == {0: (1,)}


def test_the_names_of_the_folded_follow_their_memory(view):
    found = Diversity(0.5, collapse=True).apply(
        candidates_of(view, [4, 5, 0, 1, 3], [1.0, 0.9, 0.8, 0.7, 0.0])
    )
    assert found.order.tolist()[1] == 2
    assert found.collapsed == {1: (1,)}


def test_what_lies_beyond_the_limit_keeps_its_order(view):
    memories, scores = [4, 5, 0, 9, 6], [1.0, 0.9, 0.8, 0.7, 0.6]
    found = Diversity(0.5, limit=2).apply(candidates_of(view, memories, scores))
    assert found.order.tolist() == [0, 2, 1, 3, 4]


def test_what_is_like_a_folded_one_alone_does_not_fold_into_it(tmp_path):
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(8)) as store:
        agent = store.agent("a")
        for text, degrees in [("it rains", 0), ("it pours", 20), ("it drizzles", 40)]:
            angle = np.radians(degrees)
            vector = np.array([np.cos(angle), np.sin(angle), *[0.0] * 6])
            agent.retain(text, embedding=vector)
        stage = Diversity(None, collapse=True, threshold=0.9)
        found = stage.apply(candidates_of(agent.engine.view(), [0, 1, 2]))
        assert (found.order.tolist(), found.collapsed) == ([0, 2], {0: (1,)})
        found = stage.apply(candidates_of(agent.engine.view(), [1, 0, 2]))
        assert (found.order.tolist(), found.collapsed) == ([0], {0: (0, 2)})


@given(st.lists(st.integers(0, 15), unique=True, max_size=16), st.data())
@settings(deadline=None, max_examples=60)
def test_nothing_is_lost_and_the_best_of_each_kind_stays(view, memories, data):
    stage = data.draw(
        st.builds(
            Diversity,
            st.sampled_from([None, 0.0, 0.5, 1.0]),
            st.booleans(),
            st.sampled_from([None, 0.9]),
            st.sampled_from([1, 3, 100]),
        )
    )
    found = stage.apply(candidates_of(view, memories))
    kept = [memories[place] for place in found.order]
    folded = [memory for group in found.collapsed.values() for memory in group]
    assert sorted(kept + folded) == sorted(memories)
    assert stage.collapse or not folded
    for place, group in found.collapsed.items():
        assert list(group) == [m for m in memories if m in group]
        assert all(memories.index(kept[place]) < memories.index(m) for m in group)
    if stage.balance in (None, 1.0):
        assert found.order.tolist() == sorted(found.order.tolist())


def test_normalised_keeps_what_a_sentence_says():
    assert normalised("\uff21\uff2e\uff2e said: \u2018It\u2019s 3.5\u2019.") == normalised(
        "ann said 'it's 3.5'"
    )
    for one, other in [("-5", "5"), (".5", "5"), ("$5", "€5"), ("C++", "C"), ("1,200", "1200")]:
        assert normalised(one) != normalised(other)


def test_particulars_are_in_order():
    assert particulars("Ann gave Bob 2 books") != particulars("Bob gave Ann 2 books")
    assert particulars("I can't") == particulars("I do not")
    assert particulars("猫が好き") != particulars("犬が好き")
    assert particulars("") == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"balance": 1.5}, r"balance must lie in \[0, 1\], got 1.5"),
        ({"threshold": -0.1}, "threshold must lie in"),
        ({"limit": 0}, "limit must lie in"),
        ({"collapse": 0.9}, "collapse must be True or False, got 0.9"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        Diversity(**arguments)
