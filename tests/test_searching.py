"""Each run draws the same examples; longer searches draw others each time."""

import os
import subprocess
import sys

from hypothesis import settings

TOLD = """
import tests.conftest
from hypothesis import settings
print(settings.default.derandomize, settings.default.deadline)
"""


def told(**environment: str) -> str:
    given = {name: value for name, value in os.environ.items() if name != "CI"} | environment
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", TOLD]
    return subprocess.run(
        command, check=True, env=given | paths, capture_output=True
    ).stdout.decode()


def test_examples_are_the_same_each_time_unless_more_is_asked_for() -> None:
    for name in ("RECOLLEX_SEARCH", "RECOLLEX_FUZZ"):
        assert told(**{name: "10"}) == "False None\n"
    if not any(name in os.environ for name in ("RECOLLEX_SEARCH", "RECOLLEX_FUZZ")):
        assert told() == "True None\n"
        assert settings.default.derandomize  # here, too
