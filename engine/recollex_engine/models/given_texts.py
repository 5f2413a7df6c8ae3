"""The texts that callers give to a model."""

from collections.abc import Sequence

from recollex_engine.errors import InputError


def checked(text: str) -> str:
    """Return a text. Raises `InputError` unless it is a str."""
    if not isinstance(text, str):
        raise InputError(f"a text must be a str, got {type(text).__name__}")
    return text


def places_of(texts: Sequence[str]) -> dict[str, list[int]]:
    """Return the places of each different text, in the order in which they come first.

    Raises `InputError` for one that is no str.

    >>> places_of(["a", "b", "a"])
    {'a': [0, 2], 'b': [1]}
    """
    places: dict[str, list[int]] = {}
    for n, text in enumerate(texts):
        places.setdefault(checked(text), []).append(n)
    return places
