"""Half a surrogate pair is joined with its other half, or becomes a question mark."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollex_engine.domain.checks import mended

HALF, CLIPBOARD = "done \ud83d", "\ud83d" + "\udccb"
pieces = st.sampled_from(["a", "é", "语", "\U0001f4cb", "\ud83d", "\udccb"])
texts = st.lists(pieces, max_size=8).map("".join)
values = st.recursive(
    texts | st.none() | st.integers(),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(texts, each, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (HALF, "done ?"),
        (CLIPBOARD, "\U0001f4cb"),
        ("\udccb\ud83d", "??"),
        (f"{CLIPBOARD}\ud83d{CLIPBOARD}", "\U0001f4cb?\U0001f4cb"),
    ],
)
def test_halves_are_joined_or_replaced(said: str, shown: str) -> None:
    assert mended(said) == shown
    assert mended({said: [said, (said, 1)]}) == {shown: [shown, [shown, 1]]}


@given(values)
def test_what_is_mended_is_unicode_and_what_is_whole_is_the_same_object(value: object) -> None:
    found = mended(value)
    json.dumps(found, ensure_ascii=False).encode()
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        assert found is not value
    else:
        assert found is value


def test_values_without_an_end_stay_for_their_check() -> None:
    deep: list[object] = [HALF]
    for _ in range(100_000):
        deep = [deep]
    assert mended(deep) is deep
    deep.append(deep)
    assert mended(deep) is deep
