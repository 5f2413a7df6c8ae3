"""What spaCy says that names are; its own parts run where it is installed."""

import doctest
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex_engine.errors import InputError
from recollex_engine.text import type_rule
from recollex_engine.text.type_rule import find_model, types_by_spacy
from tests.bindings.word_vectors import WordVectors

needs_spacy = pytest.mark.skipif(
    find_spec("spacy") is None, reason="needs the extra: recollex[spacy]"
)


def types(agent: recollex.Agent) -> dict[str, str]:
    return {each.name: each.type for each in agent.facts.entities(mentioned=True)}


def test_the_examples_in_the_docstrings_run() -> None:
    assert doctest.testmod(type_rule).failed == 0


def test_the_rule_is_the_rule_whatever_is_installed(tmp_path: Path) -> None:
    assert types_by_spacy("english", "rule") is None
    with recollex.open(tmp_path, embedder=WordVectors(), entity_types="rule") as store:
        store.agent("ann").retain("We moved to Plim.")
        assert types(store.agent("ann")) == {"Plim": "LOCATION"}


def test_what_is_no_way_to_type_is_refused(tmp_path: Path) -> None:
    options: Any = {"entity_types": "model"}
    with pytest.raises(InputError, match="must be one of rule, auto, spacy, got 'model'"):
        recollex.open(tmp_path, embedder=WordVectors(), **options)


@pytest.mark.skipif(find_spec("spacy") is not None, reason="spaCy is installed")
def test_spacy_that_is_missing_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"pip install 'recollex\[spacy\]'"):
        recollex.open(tmp_path, embedder=WordVectors(), entity_types="spacy")
    assert types_by_spacy("english", "auto") is None


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A pipeline of spaCy's with patterns of our own, for no weights can be committed."""
    import spacy

    pipeline = spacy.blank("en")
    patterns = [("Plim", "PERSON"), ("Ann", "ORG"), ("Quex", "EVENT"), ("Zen Act", "LAW")]
    ruler: Any = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": label, "pattern": name} for name, label in patterns])
    folder = tmp_path / "model"
    pipeline.to_disk(folder)
    monkeypatch.setattr(type_rule, "find_model", lambda language: str(folder))
    return str(folder)


@needs_spacy
def test_it_types_names_before_the_rule_and_after_the_caller(model: str, tmp_path: Path) -> None:
    with recollex.open(tmp_path / "memory", embedder=WordVectors(), entity_types="auto") as store:
        ann = store.agent("ann")
        turn = {
            "speaker": "Ann",
            "text": "We moved to Plim, by the Zen Act.",
            "at": "2024-05-01T00:00Z",
        }
        ann.retain_dialogue([turn], document_id="talk")
        ann.retain("We moved to Quex.", entities={"Plim": "PRODUCT"})
        assert types(ann) == {
            "Ann": "PERSON",  # who speaks
            "Plim": "PRODUCT",  # which spaCy took for a person, and then the caller for a product
            "Zen Act": "CONCEPT",
            "Quex": "LOCATION",  # an EVENT is none of the six
        }
        [retained, _] = ann.log(op="retain")
        assert retained.payload is not None
        assert retained.payload["typed"] == [[0, "PERSON"], [1, "PERSON"], [2, "CONCEPT"]]


@needs_spacy
def test_a_language_without_a_model_is_typed_by_rule_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type_rule, "find_model", lambda language: None)
    assert types_by_spacy("hungarian", "auto") is None
    with recollex.open(tmp_path, embedder=WordVectors(), entity_types="spacy") as store:
        with pytest.raises(InputError, match="spaCy has no model of english"):
            store.agent("ann").retain("Plim.")
        assert store.agents() == []


@needs_spacy
def test_a_model_that_does_not_load_leaves_it_to_the_rule_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type_rule, "find_model", lambda language: str(tmp_path / "none"))
    with recollex.open(tmp_path / "memory", embedder=WordVectors(), entity_types="auto") as store:
        ann = store.agent("ann")
        with pytest.warns(RuntimeWarning, match="names are typed by rule: spaCy's"):
            ann.retain("We moved to Plim.")
        assert types(ann) == {"Plim": "LOCATION"}


@pytest.mark.skipif(not find_model("english"), reason="needs a model of spaCy for English")
def test_a_real_model(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors(), entity_types="spacy") as store:
        ann = store.agent("ann")
        ann.retain("Barack Obama was born in Honolulu and met people of Microsoft Research.")
        found = types(ann)
        assert (found["Barack Obama"], found["Honolulu"]) == ("PERSON", "LOCATION")
