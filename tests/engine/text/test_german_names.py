"""Names in German texts, where nouns have capitals; some sentences are XQuAD's (CC BY-SA 4.0)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.text.german_names import find_german_names, is_noun


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "Luthers Schriften erreichten bereits 1519 Frankreich, England und Italien.",
            ["Luthers Schriften", "Frankreich", "England", "Italien"],
        ),
        (
            "Studenten strömten nach Wittenberg, um Luther sprechen zu hören.",
            ["Wittenberg", "Luther"],
        ),
        ("Die Bezirke in Krakau besitzen jedoch keine Powiat-Anrechte.", ["Krakau"]),
        ("In Warschau haben Bezirke zusätzlich einige Anrechte der Powiaty.", ["Warschau"]),
        ("Als solche leistete sie einen wesentlichen Beitrag zur Entwicklung der Sprache.", []),
        (
            "Dies sind der Großraum Los Angeles mit 17.786.419 Einwohnern und San Diego-Tijuana.",
            ["Los Angeles", "San Diego-Tijuana"],
        ),
        ("Das Wojciech Bogusławski Theater war das beste Beispiel.", ["Wojciech Bogusławski"]),
        ("Nördlich von Weimar liegt ein Wald.", ["Weimar"]),
        ("Wenn P nicht gleich NP ist, dann ist auch P nicht gleich PSPACE.", ["NP", "PSPACE"]),
        ("Gestern war Frau Dr. Krüger bei Otto von Bismarck.", ["Krüger", "Otto von Bismarck"]),
        ("Am Montag im Mai war die Wartung der Maschine.", []),
        ("Die NFL und das Fahrrad.", ["NFL"]),
        ("Ihr habt recht, sagte Jana. Sie wohnt in Jena.", ["Jana", "Jena"]),
        ("Jana wohnt hier.", []),  # a word that begins a sentence alone says nothing
        ("Wir besuchen Jana und ich sehe Weimar.", ["Jana", "Weimar"]),
        ("Sie trank kalten Kaffee und frische Molke, den alten Whisky auch.", []),
        ("Er kaufte Reifen. Die Reifen sind rund.", []),
        ("", []),
    ],
)
def test_names(text, names):
    assert find_german_names(text) == names


@pytest.mark.parametrize(
    "word", ["dorfschulen", "häuser", "wartung", "wartungen", "jahrhunderte", "städten", "freundin"]
)
def test_nouns_in_any_inflection(word):
    assert is_noun(word)


@pytest.mark.parametrize("word", ["jena", "england", "nürnberg", "münchen", "luther", "krüger"])
def test_names_are_no_nouns(word):
    assert not is_noun(word)


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("Aa.-' vonDieÄö\u2019\u4e2d1\n"), max_size=60))
def test_any_text_is_read_and_names_stand_in_it(text):
    for name in find_german_names(text):
        assert name in text and any(letter.isupper() for letter in name)
