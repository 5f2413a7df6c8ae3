"""Which memory caused a change that the engine made? The one that the note of its record names.

A note that the engine composes has the name of a rule, and at most the id of the memory that caused
the change, at its end. It quotes nothing: the record of a correction stays when the memory that
it speaks of is erased. ::

    same as ID    refined by ID    superseded by ID    narrative-1: refines ID
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from recollex_engine.writing.drawn_facts import EXTRACTION

SUPERSEDED = "superseded by "
"""Why a later opinion archives an opinion; its id follows."""

_RULE = re.compile(r"same as |refined by |superseded by |[\w.-]+: \w+ ")


def names_one_of(payload: Mapping[str, Any], ids: Collection[str]) -> bool:
    """Return whether the note of a record is the engine's, and names one of these ids."""
    why = payload.get("why")
    if not ids or why is None or payload.get("by") != EXTRACTION:
        return False
    rule = _RULE.match(why)
    return rule is not None and why[rule.end() :] in ids


def supersedes(payload: Mapping[str, Any], ids: Collection[str]) -> bool:
    """Return whether a record archives an opinion because one of these ids superseded it."""
    why = payload.get("why") or ""
    return why.startswith(SUPERSEDED) and why.removeprefix(SUPERSEDED) in ids
