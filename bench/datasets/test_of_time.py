"""Test of Time (Fatemi et al., ICLR 2025), the semantic part: questions about dated relations.

The published schema: JSON lines, or one JSON list, of objects with ``question``,
``graph_gen_algorithm``, ``question_type`` (seven or eight kinds), ``sorting_type``, ``prompt`` and
``label``. The prompt lists the facts, one a line: "E92 was the R17 of E69 from 1980 to 1985.". Each
question is a bank, each of its facts a memory. The set names no evidence.

From huggingface.co/datasets/baharef/ToT (CC BY 4.0), ``tot_semantic``; REMem reports exact match
over it, without spaces. The file was not available, so there is no checksum and no run yet.
"""

import json
import re
from pathlib import Path
from typing import Any

from bench.datasets.bank import Bank, Query, Split, Turn, halves
from bench.datasets.undated import ASKED_AT

FILES = ("tot_semantic.jsonl", "tot_semantic.json", "test.jsonl", "test.json")
"""The names of the file, in the order in which they are looked for."""
_FACT = re.compile(r"^\s*(\S+ was the \S+ of \S+ from .+? to .+?)\.?\s*$", re.M)


def load(data: Path) -> list[Bank]:
    """Return one bank for each question, in the file's order."""
    path = find(data)
    if path is None:
        raise FileNotFoundError(f"none of {', '.join(FILES)} in {data / 'test_of_time'}")
    items = read_objects(path)
    return [
        _bank(item, number, split)
        for number, (item, split) in enumerate(zip(items, halves(len(items)), strict=True))
    ]


def find(data: Path) -> Path | None:
    """Return the path of the file, or None if there is none."""
    paths = (data / "test_of_time" / name for name in FILES)
    return next((path for path in paths if path.is_file()), None)


def read_objects(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines, or of one JSON list."""
    text = path.read_text(encoding="utf-8")
    if text.lstrip().startswith("["):
        found: list[dict[str, Any]] = json.loads(text)
        return found
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def facts_of(prompt: str) -> list[str]:
    r"""Return the facts that a prompt lists, in its order, each once.

    >>> facts_of("Facts:\nE1 was the R2 of E3 from 1980 to 1981.\n\nWho was the R2 of E3?")
    ['E1 was the R2 of E3 from 1980 to 1981.']
    """
    return list(dict.fromkeys(f"{fact}." for fact in _FACT.findall(prompt)))


def _bank(item: dict[str, Any], number: int, split: Split) -> Bank:
    name = f"question-{number}"
    turns = tuple(
        Turn(id=f"{name}:{place}", text=fact, document=name)
        for place, fact in enumerate(facts_of(item["prompt"]))
    )
    query = Query(
        name,
        item["question"],
        frozenset(),
        item["question_type"],
        ASKED_AT,
        len(turns),
        split,
        answers=(str(item["label"]),),
    )
    return Bank("test_of_time", name, "reader", turns, (query,), "turn", {})
