import doctest

import pytest

from recollex_engine.text import name_variants
from recollex_engine.text.name_variants import variant_of
from recollex_engine.text.names import fold_name


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(name_variants).failed == 0


@pytest.mark.parametrize(
    ("name", "full", "way"),
    [
        ("Google Inc", "Google", "form"),
        ("Bob", "Robert", "form"),
        ("Bob", "Robert Chen", "part"),
        ("Chen", "Robert Chen", "part"),
        ("Alice", "Alice Cooper", "part"),
        ("NYC", "New York City", "initials"),
        ("CA", "California", "initials"),
        ("CS", "Counter-Strike", "initials"),
        ("UN", "The United Nations", "initials"),
        ("Caro", "Caroline", "short"),
        ("Debs", "Deborah Quill", "short"),
        ("San Francsico", "San Francisco", "spelling"),
        ("German Shepherds", "German Shepherd", "spelling"),
        ("Jana", "Jane", None),
        ("Room 1234 A", "Room 1235 A", None),
        ("Iran", "Iraq", None),
        ("York", "New York City", None),
        ("J", "Joanna", None),
        ("Greek", "Greta", None),
        ("Robert Chen", "Robert Cooper", None),
    ],
)
def test_a_name_is_a_variant_in_one_way_or_in_none(name, full, way):
    found = variant_of(fold_name(name), fold_name(full))
    assert (found and found.way) == way
    if way not in ("form", "spelling"):
        assert variant_of(fold_name(full), fold_name(name)) is None
