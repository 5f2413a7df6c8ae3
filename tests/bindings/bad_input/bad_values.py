"""Values that a call refuses, with the error and the message of each."""

import re
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from recollex_engine.errors import InputError, RecollexError

D = 32
V = np.ones(D)
AT = datetime(2024, 5, 4, 10, tzinfo=UTC)
FIRST = datetime.min.replace(tzinfo=UTC)
NAIVE = datetime(2024, 5, 4, 10)
LONE = "tea \ud800 ink"
HUGE = "x" * 1_000_001
DEEP: list = []
for _ in range(300):
    DEEP = [DEEP]


class Odd:
    """An object that nothing expects."""

    def __repr__(self):
        return "<odd>"


def bad(name, message, *args, error=InputError, **options):
    return pytest.param(args, options, error, message, id=name)


def refuses(call, error, message):
    with pytest.raises(RecollexError) as caught:
        call()
    assert type(caught.value) is error, caught.value
    assert re.search(message, str(caught.value)), str(caught.value)
    return caught.value


NAMES = {
    "a str": ("tags", r"tags must be a list of str, got a str: tags=\['x'\]", "x"),
    "bytes": ("tags", "tags must be a list of str, got bytes", b"x"),
    "an int": ("entities", "entities must be a list of str, got int", 5),
    "a dict": ("tags", "tags must be a list of str, got dict", {"x": 1}),
    "a set": ("tags", "tags must be a list of str, got set", {"x"}),
    "of ints": ("tags", "tags must be a (list of )?str, got int", [5]),
    "of ints too": ("tags", "tags must be a str, got int", ["x", 5]),
    "of empty": ("entities", "entities is empty", [""]),
    "of spaces": ("tags", "tags is empty", [" \n"]),
    "of a lone surrogate": ("tags", "tags has a lone surrogate at character 4", [LONE]),
    "of long ones": (
        "entities",
        "entities may have up to 1,000 characters, got 1,001",
        ["x" * 1001],
    ),
    "too many": ("tags", "tags may have up to 256 items, got 257", ["x"] * 257),
}

METADATA = {
    "a str": ("metadata must be a dict", "x"),
    "an empty str": ("metadata must be a dict", ""),
    "zero": ("metadata must be a dict", 0),
    "a set": ("metadata must be a dict", {1}),
    "key of int": ("metadata is not JSON: Dict key must be str", {1: 2}),
    "key of surrogate": ("metadata is not JSON: .*surrogates", {LONE: 2}),
    "value of surrogate": ("metadata is not JSON: .*surrogates", {"a": {"b": [LONE]}}),
    "object": ("metadata is not JSON: .*Odd", {"a": Odd()}),
    "bytes": ("metadata is not JSON: .*bytes", {"a": b"x"}),
    "datetime": ("metadata is not JSON: .*datetime", {"a": AT}),
    "naive datetime": ("metadata is not JSON: .*datetime", {"a": NAIVE}),
    "nan": ("metadata holds a NaN or an infinity", {"a": [1, {"b": float("nan")}]}),
    "infinity": ("metadata holds a NaN or an infinity", {"a": (1, float("-inf"))}),
    "beyond int64": ("metadata is not JSON: Integer exceeds 64-bit", {"a": 2**64}),
    "deep": ("metadata is not JSON: Recursion limit", {"a": DEEP}),
    "large": (
        "metadata may take up to 100,000 bytes as JSON, got 100,00[89]",
        {"a": "x" * 100_001},
    ),
    "many keys": ("metadata may have up to 256 keys, got 257", {str(n): n for n in range(257)}),
}

VECTORS = {
    "nan": ("embedding holds a NaN", np.where(np.arange(D) == 3, np.nan, 1)),
    "infinity": ("embedding holds a NaN or an infinity", [np.inf] * D),
    "beyond float32": ("embedding holds a NaN or an infinity", [1e300] * D),
    "zero": ("embedding is all zeros", [0.0] * D),
    "short": (r"embedding must have shape \(1, 32\), got \(1, 31\)", np.ones(31)),
    "long": (r"embedding must have shape \(1, 32\), got \(1, 33\)", np.ones(33)),
    "a matrix": (r"embedding must have shape \(1, 32\), got \(1, 1, 32\)", np.ones((1, D))),
    "a number": (r"embedding must have shape \(1, 32\), got \(1,\)", 1.0),
    "a str": ("embedding must be numbers", "x" * D),
    "numbers as str": ("embedding must be numbers", ["1"] * D),
    "complex": ("embedding must be numbers", [1j] * D),
    "bools": ("embedding must be numbers", [True] * D),
    "ragged": ("embedding must be numbers", [[1], [1, 2]] * 16),
    "a dict": ("embedding must be numbers", {"x": 1}),
    "objects": ("embedding must be numbers", [Odd()] * D),
    "huge ints": ("embedding must be numbers|embedding holds", [10**400] * D),
}

LATER = AT + timedelta(days=365 * 90)

GOOD = {"speaker": "Ann", "text": "Hello.", "at": "2024-05-04T10:00:00Z"}
