"""Who an agent is: read, set, merged, and in the log like all else."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex.errors import InputError, ReadOnlyError
from recollex_mind.profile import NUMBERS
from tests.bindings.word_vectors import WordVectors
from tests.scripted_llm import Script, Step, error, scripted

DAY = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[recollex.Store]:
    with recollex.open(tmp_path / "store", embedder=WordVectors()) as store:
        yield store


def test_an_agent_begins_in_the_middle_and_reading_records_nothing(store: recollex.Store) -> None:
    profile = store.agent("ada").profile.get()
    assert profile.personality == dict.fromkeys(NUMBERS, 0.5)
    assert (profile.background, profile.created_at, profile.updated_at) == ("", None, None)
    assert store.agent("ada").get_agent_profile() == profile
    assert store.agents() == []


def test_what_is_not_given_stays(store: recollex.Store) -> None:
    ada = store.agent("ada")
    ada.profile.set(openness=0.9, background=" I cook. ", by="ann", why="asked")
    set_ = ada.profile.set(neuroticism=0, bias_strength=1)
    assert set_.personality == dict.fromkeys(NUMBERS, 0.5) | {
        "openness": 0.9,
        "neuroticism": 0.0,
        "bias_strength": 1.0,
    }
    assert set_.background == "I cook." and set_ == ada.profile.get()
    assert ada.facts.history("self:openness")[0].by == "ann"
    before = ada.head()
    assert ada.profile.set(openness=0.9) == set_ and ada.head() == before
    assert ada.profile.set(background="").background == ""
    assert ada.profile.get().openness == 0.9


def test_traits_in_the_words_of_the_paper(store: recollex.Store) -> None:
    profile = store.agent("ada").profile.set(
        openness=0.8, conscientiousness=0.2, extraversion=0.6, agreeableness=0.19
    )
    assert profile.traits == [
        "very high openness to new ideas",
        "low conscientiousness and organization",
        "high extraversion and sociability",
        "very low agreeableness and cooperation",
        "moderate emotional sensitivity",
    ]


def test_a_cut_shows_the_character_of_then(store: recollex.Store) -> None:
    ada = store.agent("ada")
    for day in range(3):
        ada.profile.set(
            openness=day / 2, background=f"I am {day}.", recorded_at=DAY + timedelta(days=day)
        )
    then = DAY + timedelta(days=1, hours=1)
    was = ada.at(then).profile.get()
    assert (was.openness, was.background) == (0.5, "I am 1.")
    assert was.created_at == DAY - timedelta(microseconds=1)  # the agent is created before it
    assert was.updated_at == DAY + timedelta(days=1)
    assert ada.profile.get(as_recorded=then) == was
    with pytest.raises(ReadOnlyError):
        ada.at(then).profile.set(openness=1)
    with pytest.raises(ReadOnlyError):
        ada.at(then).profile.merge_background("I sing.")
    assert ada.profile.get().updated_at == DAY + timedelta(days=2)


def test_it_survives_a_rebuild_and_a_reopening(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with recollex.open(folder, embedder=WordVectors()) as store:
        made = store.agent("ada").profile.set(openness=0.1, background="I cook.")
    with recollex.open(folder, embedder=WordVectors(), read_only=True) as store:
        assert store.agent("ada").profile.get() == made
        assert store.agent("ada").verify().ok


@pytest.mark.parametrize(
    "given",
    [
        {"openness": 1.1},
        {"bias_strength": -0.1},
        {"neuroticism": True},
        {"agreeableness": "high"},
        {"extraversion": float("nan")},
        {"background": "x" * 501},
        {"background": 3},
    ],
)
def test_what_cannot_be_set(store: recollex.Store, given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(given))):
        store.agent("ada").profile.set(**given)
    assert store.agents() == []


def test_a_background_of_500_characters(store: recollex.Store) -> None:
    ada = store.agent("ada")
    assert len(ada.profile.set(background="x" * 500).background) == 500
    with pytest.raises(InputError, match="503"):
        ada.profile.merge_background("y")
    assert ada.profile.get().background == "x" * 500
    assert ada.merge_agent_background("x" * 500).background == "x" * 500


@pytest.fixture
def needs_client() -> None:
    if find_spec("openai") is None:
        pytest.skip("needs the extra: recollex[llm]")


def merged(folder: Path, script: Script, told: str) -> tuple[str, str]:
    """Return the background after a merge by a model, and what the model was sent."""
    with (
        scripted(script) as served,
        recollex.llm("m", base_url=served.url, attempts=2, first_wait=0.01) as llm,
        recollex.open(folder, embedder=WordVectors(), llm=llm) as store,
    ):
        ada = store.agent("ada")
        ada.profile.set(background="I was born in Colorado.")
        ada.profile.merge_background(told, by="ann")
        assert set(llm.usage) == {"background"}
        return ada.profile.get().background, served.prompt(0)


@pytest.mark.usefixtures("needs_client")
def test_a_model_merges(tmp_path: Path) -> None:
    answer = Step({"background": "You were born in Texas, and your name is Ada."})
    found, sent = merged(tmp_path, [answer], "You were born in Texas. You are Ada.")
    assert found == "I was born in Texas, and my name is Ada."
    assert "I was born in Colorado." in sent and "You were born in Texas." in sent


@pytest.mark.usefixtures("needs_client")
@pytest.mark.parametrize(
    "step",
    [error(500), Step({"background": "x" * 501}), Step(refusal="no"), Step("no JSON"), error(401)],
    ids=["down", "too long", "refused", "malformed", "key"],
)
def test_a_model_that_fails_leaves_it_to_rules(tmp_path: Path, step: Step) -> None:
    with pytest.warns(RuntimeWarning, match="merged by rule"):
        found, _ = merged(tmp_path, [step], "You were born in Texas.")
    assert found == "I was born in Texas."


def test_a_model_is_one_of_ours(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"recollex\.llm"):
        recollex.open(tmp_path, llm="gpt")  # type: ignore[arg-type]
