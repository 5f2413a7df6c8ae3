"""Writes the tables of docs/ that come from the tables of the code.

``python -m tests.made_tables`` writes them anew; `test_made_tables` compares them with what stands
there.
"""

import types
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

from recollex_engine.domain import records
from recollex_engine.recall.memory import FIELDS

ROOT = Path(__file__).parents[1]
RECALL = "docs/recall.md"
RECORDS = "engine/LOG.md"


def of_a_memory() -> str:
    """Return the table of a memory's fields."""
    rows = [f"| `{name}` | {told.help} |\n" for name, told in FIELDS.items()]
    return "| of a memory | |\n|---|---|\n" + "".join(rows)


def recall_page() -> str:
    """Return docs/recall.md with its table as it is made."""
    held = (ROOT / RECALL).read_text("utf-8")
    before, head, rest = held.partition("| of a memory | |\n")
    assert head, "the table begins with this line"
    _, _, after = rest.partition("\n\n")
    return f"{before}{of_a_memory()}\n{after}"


JSON = {str: "text", int: "number", float: "number", bool: "true", Any: "any"}


def in_json(kind: Any) -> str:
    """Return what a type of a record is in JSON."""
    arguments = get_args(kind)
    origin = get_origin(kind)
    if is_typeddict(kind):
        hints = get_type_hints(kind, include_extras=False)
        if kind in records.RECORDS.values():
            return "an object as of `create`"
        return "{" + ", ".join(f"{name}: {in_json(each)}" for name, each in hints.items()) + "}"
    if origin is types.UnionType:
        return " or ".join(in_json(each) for each in arguments)
    if origin in (list, Sequence):
        return f"list of {in_json(arguments[0])}"
    if origin is tuple:
        return f"[{', '.join(map(in_json, arguments))}]"
    if origin is Literal:
        return "text"
    if origin is dict:
        return "object"
    return JSON.get(kind, "null")


def of_records() -> str:
    """Return a section for each class of record."""
    parts = []
    for record, group in groupby(records.RECORDS.items(), lambda each: each[1]):
        kinds = [kind for kind, _ in group]
        hints = get_type_hints(record)
        needed = record.__required_keys__
        parts.append(f"### {', '.join(f'`{kind}`' for kind in kinds)}\n\n{record.__doc__}\n\n")
        parts.append("| field | in JSON | erased | |\n|---|---|---|---|\n")
        own = {name: said for name, said in records.FIELDS[kinds[0]].items() if name not in COMMON}
        for name, said in own.items():
            kind = in_json(hints.get(name, str))
            optional = "" if name in needed else "?"
            parts.append(f"| `{name}`{optional} | {kind} | {said.fate} | {said.help} |\n")
        parts.append("\n")
    return "".join(parts).rstrip("\n") + "\n"


COMMON = ("hole", "by", "why")
"""Fields that the head of the page tells of."""


def records_page() -> str:
    """Return engine/LOG.md with its sections as they are made."""
    held = (ROOT / RECORDS).read_text("utf-8")
    before, head, _ = held.partition("## Which fields has each kind?\n")
    assert head, "the sections begin with this line"
    return f"{before}{head}\n{of_records()}"


PAGES = {RECALL: recall_page, RECORDS: records_page}


def main() -> None:
    for name, made in PAGES.items():
        (ROOT / name).write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main()
