"""ARCHITECTURE's statement about the size of the code, and about the files that a call enters."""

import re
from pathlib import Path

import pytest

from bench import code_size

NUMBERS = re.compile(
    r"at most ([\d,]+) lines of Python in ([\d,]+) modules.*?"
    r"retain of a sentence enters at most (\d+) of its files, a recall (\d+), a get (\d+)",
    re.S,
)
SLACK = 0.95
"""The counts may be less than stated by so much, and the statement is still worth its place."""


@pytest.fixture(scope="module")
def stated() -> list[int]:
    page = code_size.ROOT.joinpath("ARCHITECTURE.md").read_text("utf-8").replace("`", "")
    found = NUMBERS.search(" ".join(page.split()))
    assert found is not None
    return [int(number.replace(",", "")) for number in found.groups()]


def test_lines_and_modules_are_as_stated(stated: list[int]) -> None:
    for counted, number in zip(code_size.size(), stated[:2], strict=True):
        assert SLACK * number <= counted <= number


def test_calls_enter_as_many_files_as_stated(stated: list[int]) -> None:
    entered = code_size.entered()
    assert list(entered) == ["retain", "recall", "get"]
    for counted, number in zip(entered.values(), stated[2:], strict=True):
        assert number - 3 <= counted <= number, entered


def test_a_file_counts_when_a_function_of_it_begins() -> None:
    def call() -> None:
        Path("x").exists()  # not the product's

    assert not code_size.files(call)
