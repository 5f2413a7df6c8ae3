"""What does a bank of memories lose if nine others share its agent?

Claim: a bank that shares an agent with nine others loses at most 0.03 of the default's R@10 with
nothing said, and nothing beyond chance if a tag filter names the bank.

Command: python -m bench.tables.crowd --data FOLDER [--json FILE] [--limit N] [--sets NAME ...]

Check: the first ten banks of a set are retained three times: each in an agent of its own, and all
in one agent, one after another, each with a tag of its own. The same questions are asked in each,
in the one agent without and with a filter by the bank's tag. Differences are paired bootstraps over
questions. Questions that see only a part of their bank are left out.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from bench.datasets import CASES, LOADERS, load
from bench.datasets.bank import Bank, Turn
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import Options, ask, open_store, retain
from bench.tables.lib.metrics import paired
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.scoring import Scored, pooled, score
from bench.tables.lib.trials import by_set, claim_of
from bench.tables.presets import CONFIGURATIONS

BANKS = 10
SETS = ("locomo", "lifebench", "household", "assistant_chats", "meetings", "updates")
MEASURES = ("R@10", "NDCG@10")
ASKED = ("default", "keyword alone", "semantic alone")
ALONE, CROWD, FILTERED = "alone", "together", "together, filtered"


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=[*LOADERS, *CASES], default=list(SETS))
    given = parser.parse_args()
    embedder = KeptVectors()
    found = {
        dataset: measured([own(bank, given.limit) for bank in banks[:BANKS]], embedder)
        for dataset, banks in by_set(load(given.data, given.sets)).items()
    }
    sections = [
        Section(f"{name}, {measure}", rows_of(found, name, measure))
        for name in ASKED
        for measure in MEASURES
    ]
    keep(Table("crowd", claim_of(__doc__), sections), given.json)


def own(bank: Bank, limit: int | None) -> Bank:
    """Return the bank with ids and documents that no other bank has."""
    turns = tuple(
        turn | Turn(id=f"{bank.name}/{turn['id']}", document=f"{bank.name}/{turn['document']}")
        for turn in bank.turns
    )
    queries = tuple(
        replace(query, evidence=frozenset(f"{bank.name}/{id}" for id in query.evidence))
        for query in bank.queries[:limit]
        if query.evidence and query.visible == len(turns)
    )
    return replace(bank, turns=turns, queries=queries)


Found = Mapping[tuple[str, str], Scored]
"""(configuration, ALONE, CROWD or FILTERED) -> the measures of all questions, in one order."""


def measured(banks: Sequence[Bank], embedder: KeptVectors) -> Found:
    parts: dict[tuple[str, str], list[Scored]] = {}

    def add(way: str, agent: object, bank: Bank, options: Options) -> None:
        for name in ASKED:
            asking = {**CONFIGURATIONS[name], **options}
            answers = [ask(agent, query, asking, embedder, lists=False) for query in bank.queries]
            parts.setdefault((name, way), []).append(score(bank, answers, MEASURES))

    with tempfile.TemporaryDirectory() as folder, open_store(folder, embedder) as store:
        together, recorded = store.agent("together"), datetime.min.replace(tzinfo=UTC)
        for number, bank in enumerate(banks):
            alone = store.agent(f"bank-{number}")
            retain(alone, bank.turns, datetime.min.replace(tzinfo=UTC), [f"bank-{number}"])
            recorded = retain(together, bank.turns, recorded, [f"bank-{number}"])
            add(ALONE, alone, bank, {})
        for number, bank in enumerate(banks):
            add(CROWD, together, bank, {})
            add(FILTERED, together, bank, {"tags": [f"bank-{number}"]})
    return {key: pooled(scored) for key, scored in parts.items()}


def rows_of(found: Mapping[str, Found], name: str, measure: str) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for dataset, by_way in found.items():
        alone = by_way[name, ALONE].values[measure]
        row: dict[str, Cell] = {"set": dataset, "questions": len(alone)}
        row[ALONE] = round(float(alone.mean()), 3)
        for way in (CROWD, FILTERED):
            row[way] = paired(by_way[name, way].values[measure], alone)
        rows.append(row)
    return rows


if __name__ == "__main__":
    main()
