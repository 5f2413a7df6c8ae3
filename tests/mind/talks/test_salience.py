import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_mind.talks.turn_features import (
    EVENTS,
    Features,
    SalienceWeights,
    read_features,
    salience,
)

AT = 1_700_000_000_000_000
KINDS = {
    "correction": ["Actually, it was June.", "I no longer smoke.", "I used to live there."],
    "update": ["I moved to Oslo.", "She got promoted!", "We adopted a puppy."],
    "decision": ["We decided to sell.", "I plan to paint it.", "I'm going to learn Spanish."],
    "preference": ["I love Thai food.", "My favourite colour is red.", "He is allergic to nuts."],
    "identity": ["My name is Ann.", "I work as a nurse.", "My sister lives in Rome."],
    "schedule": ["The flight leaves at 9.", "We meet every Tuesday.", "My appointment is today."],
}


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in KINDS.items() for text in texts]
)
def test_each_kind_of_event_is_read(kind: str, text: str) -> None:
    assert kind in read_features(text, None, AT).events


@pytest.mark.parametrize(
    "text", ["Ok thanks!", "Wow, that is so nice.", "Did you move to Oslo?", "Haha, yes!", "..."]
)
def test_small_talk_and_questions_are_no_events(text: str) -> None:
    assert read_features(text, None, AT).events == ()


def test_the_speaker_is_no_name_of_a_turn() -> None:
    assert read_features("Ann: Ann here, with Bob Chen.", "Ann", AT).names == 1
    assert read_features("Ann here, with Bob Chen.", None, AT).names == 2


def test_a_question_counts_by_its_share_of_sentences() -> None:
    features = read_features("I moved to Oslo. Where do you live? And why?", None, AT)
    assert features.asking == pytest.approx(2 / 3)
    assert features.events == ("update",)


parts = st.integers(0, 4)
shares = st.sampled_from([0.0, 0.25, 0.5, 1.0])
features_of = st.builds(
    Features, parts, parts, st.booleans(), st.booleans(), shares, st.integers(0, 20), st.just(())
)
weights_of = st.builds(SalienceWeights, *[shares] * 5)


@given(features_of, shares, weights_of, shares, shares)
@settings(deadline=None)
def test_salience_is_the_equation_and_never_grows_with_likeness_or_questions(
    features: Features,
    novelty: float,
    weights: SalienceWeights,
    share: float,
    factor: float,
) -> None:
    content = 0.0
    for weight, value, enough in (
        (weights.names, features.names, 3),
        (weights.numbers, features.numbers, 1),
        (weights.dated, int(features.dated), 1),
        (weights.personal, int(features.personal), 1),
        (weights.words, features.words, 20),
    ):
        content += weight * min(value / enough, 1)
    expected = min(content, 1) * (1 - share + share * novelty)
    expected *= (1 - features.asking) + features.asking * factor
    found = salience(features, novelty, weights, share, factor)
    assert found == pytest.approx(expected)
    assert 0 <= found <= 1
    assert salience(features, 1.0, weights, share, factor) >= found


@given(st.text(max_size=300))
@settings(deadline=None)
def test_any_text_has_features(text: str) -> None:
    features = read_features(text, "Ann", AT)
    assert 0 <= features.asking <= 1
    assert set(features.events) <= set(EVENTS)
