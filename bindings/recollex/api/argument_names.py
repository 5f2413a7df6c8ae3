"""Does a tool take the arguments that a model gives it? Servers start with it: no engine here."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from recollex_engine.errors import InputError


def check_names(tool: str, given: Iterable[object], known: Mapping[str, Any]) -> None:
    """Raise `InputError` for an argument that a tool does not take; it names the nearest one."""
    for name in given:
        if name not in known:
            raise InputError(
                f"{tool} has no argument {name!r:.80}{near(name, known)} It takes "
                f"{', '.join(known) or 'none'}"
            )


def near(given: object, known: Mapping[str, Any]) -> str:
    """Return the end of a sentence, which names the known name nearest to a given one.

    >>> near("subjct", {"subject": "who"}), near("x", {})
    (", did you mean 'subject'?", '.')
    """
    found = difflib.get_close_matches(str(given), known, 1)
    return f", did you mean {found[0]!r}?" if found else "."
