"""The table of fields that may be given with a memory fits the classes that hold them."""

from dataclasses import fields

from recollex_engine.domain.fields import FIELDS, GIVEN, LABELS
from recollex_engine.domain.schema import MEMORY
from recollex_engine.domain.statement import Statement
from recollex_engine.recall import memory

OTHER_LABELS = set("kbyetmvnaxpuoiqzr")
"""What other labels begin with: see `state.applying` and `state.fact_applying`."""


def test_labels_begin_with_letters_of_their_own() -> None:
    prefixes = [field.prefix for field in LABELS]
    assert len(set(prefixes)) == len(prefixes) and OTHER_LABELS.isdisjoint(prefixes)
    assert {field.key for field in LABELS} <= MEMORY.keys()


def test_each_field_is_shown_and_is_in_a_statement() -> None:
    shown = {field.name for field in FIELDS} - {"embedding"}
    assert shown <= memory.FIELDS.keys()
    assert {field.key for field in GIVEN} - {"embedding"} <= {
        each.name for each in fields(Statement)
    }
