"""Does an agent of 5 to 50 memories answer everyday questions that share no word with the answer?

Claim: of 200 such questions, the default has the right memory first in at least 75 % and among the
first three in at least 95 %, and never answers with nothing.

Command: python -m bench.tables.everyday [--json FILE] [--limit N]

Check: `bench.datasets.everyday` has the questions; a test holds them to share no stem with their
evidence. Each preset and each arm alone answers over the same stores. The cosine alone, over all
memories and without any threshold, is the ceiling of what the embedding model can tell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bench.datasets import everyday
from bench.datasets.bank import Bank
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import Answer, run_all
from bench.tables.lib.metrics import bootstrap
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import claim_of
from bench.tables.presets import CONFIGURATIONS
from recollex import Recall

COSINE = "cosine alone, no threshold"
SIZES = ((5, 12), (13, 20), (21, 30), (31, 50))

Placed = tuple[Bank, str, int | None, int]
"""A bank, a question, the place of the best evidence from 1 (None: not found), how many came."""


def main() -> None:
    parser = arguments(__doc__.splitlines()[0], data=False)
    given = parser.parse_args()
    banks = [replace(bank, queries=bank.queries[: given.limit]) for bank in everyday.load()]
    keep(table(banks), given.json)


def table(banks: Sequence[Bank]) -> Table:
    embedder = KeptVectors()
    found: dict[str, list[Placed]] = {}
    for bank in banks:
        answers = run_all(bank, CONFIGURATIONS, embedder, confidence, lists=False)
        for name, given in answers.items():
            found.setdefault(name, []).extend(placed(bank, answer) for answer in given)
        found.setdefault(COSINE, []).extend(by_cosine(bank, embedder))
    sections = [Section("All questions", overall(found), plot="first")]
    for split in ("dev", "report"):
        part = {
            name: [one for one in given if one[0].queries[0].split == split]
            for name, given in found.items()
        }
        sections.append(Section(f"Questions of the {split} half", overall(part)))
    sections.append(Section("The default by the size of the bank", by_size(found["default"])))
    missed = [
        f"{bank.name}: {question} ({'not found' if place is None else f'place {place}'})"
        for bank, question, place, _ in found["default"]
        if place is None or place > 3
    ]
    remarks = [f"not among the default's first three: {one}" for one in missed]
    return Table("everyday", claim_of(__doc__), sections, remarks)


def confidence(recall: Recall) -> Any:
    return recall.confidence


def placed(bank: Bank, answer: Answer) -> Placed:
    """Return where the evidence stands in an answer."""
    places = [place for place, id in enumerate(answer.ids, 1) if id in answer.query.evidence]
    return bank, answer.query.text, min(places, default=None), len(answer.ids)


def by_cosine(bank: Bank, embedder: KeptVectors) -> list[Placed]:
    """Return where the evidence stands if all memories are ordered by their cosine."""
    vectors = embedder.embed([turn["text"] for turn in bank.turns])
    made = []
    for query in bank.queries:
        likeness = vectors @ embedder.embed_query(query.text)
        order = np.argsort(-likeness, kind="stable")
        places = [
            place
            for place, at in enumerate(order.tolist(), 1)
            if bank.turns[at]["id"] in query.evidence
        ]
        made.append((bank, query.text, min(places), len(order)))
    return made


def overall(found: Mapping[str, Sequence[Placed]]) -> list[dict[str, Cell]]:
    return [{"preset": name} | shares(given) for name, given in found.items()]


def shares(given: Sequence[Placed]) -> dict[str, Cell]:
    """Return the shares of questions with evidence first, in the first three, with no answer."""
    places = np.array([np.inf if place is None else place for _, _, place, _ in given])
    row: dict[str, Cell] = {"questions": len(given)}
    row["first"] = bootstrap((places <= 1).astype(np.float64))
    row["first three"] = bootstrap((places <= 3).astype(np.float64))
    row["first five"] = bootstrap((places <= 5).astype(np.float64))
    row["empty"] = sum(count == 0 for *_, count in given)
    return row


def by_size(given: Sequence[Placed]) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for least, most in SIZES:
        part = [one for one in given if least <= len(one[0].turns) <= most]
        if part:
            rows.append({"memories": f"{least} to {most}"} | shares(part))
    return rows


if __name__ == "__main__":
    main()
