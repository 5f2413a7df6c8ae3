"""Which rule finds an agent's names."""

import pytest

from recollex_engine.text.name_rules import name_rule
from recollex_engine.text.names import find_names

GERMAN = "Gestern war die Wartung der Maschine bei Jana in Weimar."
MIXED = "Bart去动物园看到了大象，与好友Jimmy和小王分享。"


def test_each_language_has_its_rule():
    assert name_rule("german")(GERMAN, "Anna") == ["Anna", "Jana", "Weimar"]
    assert "Wartung" in name_rule("english")(GERMAN, None)
    assert name_rule("english")(MIXED, None) == ["Bart", "Jimmy", "小王"]
    assert name_rule("german")("小王 wohnt in Jena.", " Anna  K ") == ["Anna K", "Jena", "小王"]


@pytest.mark.parametrize(
    "text", ["Wow, thanks Mel! Bob Chen's in Oslo.", "Élodie and Zoë met Ann."]
)
def test_texts_with_capitals_are_read_as_before(text):
    assert name_rule("english")(text, "Al") == name_rule("french")(text, "Al")
    assert name_rule("english")(text, "Al") == find_names(text, "Al")
