from uuid import UUID, uuid5

import orjson
from hypothesis import given
from hypothesis import strategies as st

from recollex_engine.domain.ids import content_id

NAMESPACE = UUID("5b0f8a0e-52ad-5c5b-9a6e-6f1f3f7a1d2c")
parts = st.lists(st.none() | st.integers(-(2**62), 2**62) | st.text(max_size=20), max_size=4)


@given(st.text(max_size=9), parts)
def test_it_is_the_uuid_of_version_5(kind: str, given: list[object]) -> None:
    named = orjson.dumps([kind, *given]).decode()
    assert content_id(kind, *given) == str(uuid5(NAMESPACE, named))
