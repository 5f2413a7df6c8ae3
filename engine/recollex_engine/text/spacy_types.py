"""What do names name, as spaCy's models see it (Memora 2.3.1)? Loaded when a text first needs it.

The names are those of the rule; spaCy only says what they are, so what is found by names does not
depend on what is installed. A name has the type of the entity that spaCy finds at it.
"""

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias, get_args

from recollex_engine.errors import InputError
from recollex_engine.text.entity_types import CONCEPT, OTHER, EntityType, known_type
from recollex_engine.text.names import fold_name

TypedBy: TypeAlias = Literal["rule", "auto", "spacy"]
"""Who says what a name is: "rule", "spacy", or "auto": spaCy if it is installed with a model of the
language, else the rule. A type that the caller gives holds in any case."""
FindTypes = Callable[[Sequence[str]], list[Mapping[str, EntityType]]]
"""Returns for each text the types of names, by their folded form."""

LANGUAGES = {
    "danish": "da",
    "dutch": "nl",
    "english": "en",
    "finnish": "fi",
    "french": "fr",
    "german": "de",
    "greek": "el",
    "italian": "it",
    "norwegian": "nb",
    "portuguese": "pt",
    "romanian": "ro",
    "russian": "ru",
    "spanish": "es",
    "swedish": "sv",
}
"""The codes with which spaCy's models begin; of another language, the multilingual "xx"."""
_CONCEPTS = frozenset({"LANGUAGE", "LAW"})
_lock = threading.Lock()


def check_typed_by(value: object) -> None:
    """Raise `InputError` unless this says who types names, and spaCy is there if it must."""
    if value not in get_args(TypedBy):
        raise InputError(
            f"entity_types must be one of {', '.join(get_args(TypedBy))}, got {value!r}"
        )
    if value == "spacy" and find_spec("spacy") is None:
        raise InputError(
            "entity_types='spacy' needs spaCy and a model of it: pip install 'recollex[spacy]', "
            "then python -m spacy download en_core_web_sm"
        )


def types_by_spacy(language: str, typed_by: TypedBy) -> FindTypes | None:
    """Return how spaCy types the names of a language's texts; None if the rule does.

    Raises `InputError` if spaCy is demanded and has no model of the language.
    """
    if typed_by == "rule" or find_spec("spacy") is None:
        return None
    model = find_model(language)
    if model is None:
        if typed_by == "spacy":
            code = LANGUAGES.get(language, "xx")
            raise InputError(
                f"spaCy has no model of {language}: python -m spacy download {code}_core_news_sm, "
                "or en_core_web_sm for English"
            )
        return None
    return lambda texts: _types(model, texts)


@cache
def find_model(language: str) -> str | None:
    """Return the name of an installed model of a language, or of all; None without one."""
    names = sorted(each.name for each in entry_points(group="spacy_models"))
    for code in (LANGUAGES.get(language), "xx"):
        for name in names:
            if code is not None and name.startswith(f"{code}_"):
                return name
    return None


@cache
def _pipeline(model: str) -> Any:
    """Return a pipeline that finds entities and nothing else; None if it does not load."""
    try:
        import spacy

        others = ["parser", "tagger", "morphologizer", "attribute_ruler", "lemmatizer"]
        return spacy.load(model, exclude=others)
    except Exception as error:
        warnings.warn(
            f"names are typed by rule: spaCy's {model} does not load: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
        return None


def _types(model: str, texts: Sequence[str]) -> list[Mapping[str, EntityType]]:
    with _lock:  # a pipeline is one thread's
        pipeline = _pipeline(model)
        if pipeline is None:
            return [{} for _ in texts]
        return [
            {fold_name(each.text): kind for each in text.ents if (kind := _type(each.label_))}
            for text in pipeline.pipe(texts)
        ]


def _type(label: str) -> EntityType | None:
    """Return the type of a label; None for what the rule may know better.

    >>> _type("GPE"), _type("LAW"), _type("DATE")
    ('LOCATION', 'CONCEPT', None)
    """
    if label in _CONCEPTS:
        return CONCEPT
    found = known_type(label)
    return None if found == OTHER else found
