"""Output to a terminal: messages on standard error, and text without control characters."""

import json
import shutil
import sys
from collections import Counter
from typing import Any

from recollex.cli.parser import Arguments


def say(message: str) -> None:
    """Print one line for the user on standard error, apart from the output."""
    print(f"recollex: {message}", file=sys.stderr)


def show(arguments: Arguments, words: str, **values: Any) -> None:
    """Print what was done: in words, or with ``--json`` the values as one JSON object on a line."""
    print(json.dumps(values, ensure_ascii=False, default=str) if arguments.json else words)


def printable(text: str) -> str:
    r"""Return the text on one line, without characters that could control a terminal.

    >>> printable("one\ntwo\x1b[2J")
    'one two�[2J'
    """
    line = " ".join(text.split())
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line
    )


def say_left_out(counts: Counter[str]) -> None:
    """Say what of a file was not stored as it was, and how often; nothing if all was."""
    if counts:
        said = ", ".join(f"{count:,} x {what}" for what, count in counts.most_common())
        say(f"left out, or kept as a note: {printable(said)}")


def terminal_width() -> int:
    """Return the characters of a line: the terminal's, within 60 to 110."""
    return min(max(shutil.get_terminal_size((100, 24)).columns, 60), 110)
