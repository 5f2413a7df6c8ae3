"""Complex-TR (Tan et al., ACL 2024): questions with several answers and several hops in time.

The published schema: JSON lines of objects with ``id``, ``question``, ``text_answers`` (its
``text`` lists the answers), ``fact_context`` (the facts of the question's page, one a line: "Ann
worked for Acme from January 1902 to January 1906."), ``context`` (the page) and ``passages``. The
first part of an id is the kind: L2 asks for an event at a time, L3 for an event before or after
another; H and M mark questions of several hops. Each question is a bank, and each of its facts a
memory: REMem's and the authors' "reasoning" setting. The set names no evidence.

From huggingface.co/datasets/tonytan48/complex-tr, ``test_gold_gcs.json``. The file was not
available, so there is no checksum and no run yet.
"""

import re
from pathlib import Path
from typing import Any

from bench.datasets.bank import Bank, Query, Split, Turn, halves
from bench.datasets.test_of_time import read_objects
from bench.datasets.undated import ASKED_AT

FILES = ("test_gold_gcs.json", "test_processed_gcs.json", "test.json", "test.jsonl")
"""The names of the file, in the order in which they are looked for."""
_BETWEEN = re.compile(r"(?<=\.)\s*\n\s*")


def load(data: Path) -> list[Bank]:
    """Return one bank for each question, in the file's order."""
    path = find(data)
    if path is None:
        raise FileNotFoundError(f"none of {', '.join(FILES)} in {data / 'complex_tr'}")
    items = read_objects(path)
    return [_bank(item, split) for item, split in zip(items, halves(len(items)), strict=True)]


def find(data: Path) -> Path | None:
    """Return the path of the file, or None if there is none."""
    paths = (data / "complex_tr" / name for name in FILES)
    return next((path for path in paths if path.is_file()), None)


def _bank(item: dict[str, Any], split: Split) -> Bank:
    name = str(item["id"])
    facts = [" ".join(fact.split()) for fact in _BETWEEN.split(item["fact_context"])]
    turns = tuple(
        Turn(id=f"{name}:{place}", text=fact, document=name)
        for place, fact in enumerate(dict.fromkeys(filter(None, facts)))
    )
    answers = [str(answer) for answer in item["text_answers"]["text"]]
    query = Query(
        name,
        item["question"],
        frozenset(),
        _kind(name, len(answers)),
        ASKED_AT,
        len(turns),
        split,
        answerable=bool(answers),
        answers=(" and ".join(answers),) if answers else (),
    )
    return Bank("complex_tr", name, "reader", turns, (query,), "turn", {})


def _kind(id: str, answers: int) -> str:
    """Return the kind of a question.

    >>> _kind("L3H_Q1_P108_P69_3", 2)
    'event to event, several hops, several answers'
    """
    level = id.split("_")[0]
    kind = {"L2": "time to event", "L3": "event to event"}.get(level[:2], level)
    hops = "several hops" if level[2:] else "one hop"
    return f"{kind}, {hops}, {'several answers' if answers > 1 else 'one answer'}"
