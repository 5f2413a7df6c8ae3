"""By which rule does an agent find names? By that of its language, and of each text's script."""

import re
from collections.abc import Callable

from recollex_engine.text.caseless_names import CASELESS, find_caseless_names
from recollex_engine.text.german_names import find_german_names
from recollex_engine.text.names import LONGEST_NAME, find_names

FindNames = Callable[[str, str | None], list[str]]
"""Returns the names in a text, in order, each once, its speaker's first."""

_BESIDE_LATIN = re.compile(rf"(?<=[A-Za-z0-9])(?=[{CASELESS}])|(?<=[{CASELESS}])(?=[A-Za-z])")


def name_rule(language: str) -> FindNames:
    """Return how an agent of this language finds names.

    >>> find = name_rule("german")
    >>> find("Gestern war Jana mit dem Fahrrad in Weimar.", "Anna")
    ['Anna', 'Jana', 'Weimar']
    """
    return _german if language == "german" else _by_script


def _by_script(text: str, speaker: str | None) -> list[str]:
    caseless = find_caseless_names(text)
    if not text.isascii():
        text = _BESIDE_LATIN.sub(" ", text)
    found = find_names(text, speaker)
    return _joined(found, caseless) if caseless else found


def _german(text: str, speaker: str | None) -> list[str]:
    speakers = find_names("", speaker)
    return _joined(speakers, find_german_names(text), find_caseless_names(text))


def _joined(*lists: list[str]) -> list[str]:
    names: dict[str, str] = {}
    for found in lists:
        for name in found:
            if len(name) <= LONGEST_NAME:
                names.setdefault(name.casefold(), name)
    return list(names.values())
