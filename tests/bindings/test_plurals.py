"""The noun of a number is in its number, wherever the command line counts."""

import re
from pathlib import Path

import pytest

import recollex.cli
from recollex.api.plurals import counted

FILES = sorted(Path(recollex.cli.__file__).parent.rglob("*.py"))
COUNTED_BY_HAND = re.compile(
    r"(:,(\.0f)?|\blen\([^{}]*\))\} (new )?"
    r"(memor|agent|operation|passage|fact|event|version|transaction|record|object|byte|turn|token"
    r"|question|time|connection)(s|ies)\b"
)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_count_takes_its_noun_from_counted(file):
    assert COUNTED_BY_HAND.search(file.read_text("utf-8")) is None


def test_one_is_singular():
    assert [counted(n, "memory") for n in (0, 1, 2)] == ["0 memories", "1 memory", "2 memories"]
    assert counted(1.0, "connection") == "1 connection"
    assert counted(1_000_000, "day") == "1,000,000 days"
