"""The entities of LoCoMo's conversations against labels set by hand."""

import os
from pathlib import Path

import pytest

from bench.datasets import locomo
from bench.tables.entities import (
    NOTHING,
    Agreement,
    Found,
    Label,
    find_surfaces,
    found_in,
    of_differing,
    of_mentions,
    of_names,
    of_types,
    read_labels,
)
from recollex_engine.text.entity_types import ENTITY_TYPES


def test_every_label_is_of_a_known_type():
    labels = read_labels()
    assert sorted(labels) == list(range(1, 11))
    for known in labels.values():
        for name, label in known.items():
            assert label.entity is None or label.type in ENTITY_TYPES, name
            assert label.entity is None or label.entity in known, name


def test_pairs_are_counted_over_mentions_and_over_names():
    labels = {
        "Mel": Label("Melanie", "PERSON"),
        "Melanie": Label("Melanie", "PERSON"),
        "Oslo": Label("Oslo", "LOCATION"),
        "Wow": Label(None, "-"),
    }
    entity = {"Mel": "Melanie", "Melanie": "Melanie", "Oslo": "Oslo", "Wow": "Oslo"}
    types = dict.fromkeys(labels, "PERSON")
    found = Found({"Mel": 2, "Melanie": 3, "Oslo": 1, "Wow": 9}, entity, types)
    assert of_names(found, labels) == Agreement(1, 0, 0)
    assert of_differing(found, labels) == Agreement(6, 0, 0)
    assert of_mentions(found, labels) == Agreement(6 + 1 + 3, 0, 0)
    wrong = Found(found.mentions, entity | {"Mel": "Oslo"}, types)
    assert of_names(wrong, labels) == Agreement(0, 1, 1)
    assert of_mentions(wrong, labels) == Agreement(4, 2, 6)
    assert (of_names(wrong, labels).precision, NOTHING.precision, NOTHING.recall) == (0, 1, 1)
    assert of_types([(found, labels)])["right"] == pytest.approx(2 / 3)


@pytest.fixture(scope="module")
def banks():
    if not (folder := os.environ.get("RECOLLEX_DATA")):
        pytest.skip("no LoCoMo; RECOLLEX_DATA names a folder with locomo/locomo10.json")
    return locomo.load(Path(folder))


def test_the_labels_cover_every_name_that_is_found(banks):
    labels = read_labels()
    for number, bank in enumerate(banks, 1):
        assert set(find_surfaces(bank)) == set(labels[number])


@pytest.mark.parametrize("numbers", [range(1, 6), range(6, 11)], ids=["development", "other"])
def test_precision_and_recall_hold(banks, numbers):
    labels, total, names = read_labels(), NOTHING, NOTHING
    for number in numbers:
        found = found_in(banks[number - 1], resolved=True)
        total += of_mentions(found, labels[number])
        names += of_names(found, labels[number])
    assert total.precision >= 0.95 and total.recall >= 0.85
    assert names.precision >= 0.95 and names.recall >= 0.5
