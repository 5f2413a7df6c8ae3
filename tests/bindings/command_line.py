"""The command line, called in the test's process."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from recollex.cli import main

Shell = Callable[..., tuple[int, str, str]]


def command_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    """Return a function that runs a command line in a folder: exit code, output, errors."""
    monkeypatch.chdir(folder)

    def run(*words: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = main(words)
        return code, *capsys.readouterr()

    return run
