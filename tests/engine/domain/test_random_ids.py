import doctest
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from recollex_engine.domain import ids
from recollex_engine.domain.ids import id_of, random_id


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(ids).failed == 0


@given(st.binary(min_size=16, max_size=16))
def test_equals_the_standard_library(random):
    assert id_of(random) == str(UUID(bytes=random, version=4))


def test_ids_differ():
    assert len({random_id() for _ in range(100)}) == 100
