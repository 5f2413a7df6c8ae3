"""Do facts help to recall memories? LifeBench's phones and LoCoMo's talks, R@10 of the evidence.

Claim: with facts recorded on the evidence of memories, the first ten memories of the default recall
hold more of the evidence on the report half: 0.03 more of LifeBench's, where the importer makes the
facts of a phone by rule (`recollex.ingest`), and 0.02 more of LoCoMo's, where an LLM drew them from
each session (its ``observation``).

Command: python -m bench.tables.cited_by_facts --data FOLDER [--json FILE] [--limit N]

Check: exits with 1 if the default adds less on a report half.

The facts that share words with the question raise the memories that they cite,
and only those that held then if it names a time. The weight was chosen on the development halves.
"""

import sys
import tempfile
from dataclasses import replace
from typing import Any, TypeAlias

import recollex
from bench.datasets import lifebench, load
from bench.datasets.bank import Query, Split
from bench.datasets.locomo import observations
from bench.lib.kept_vectors import KeptVectors
from bench.tables import facts_beside
from bench.tables.lib.evaluation import NO_LIMIT, asked, open_store
from bench.tables.lib.metrics import bootstrap, paired
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import claim_of
from recollex.presets import Contextual, default

FIRST, BATCH = 10, 2_000
ADDED = {"lifebench": 0.03, "locomo": 0.02}
"""Set -> what facts must add to R@10 on its report half."""
SPLITS: tuple[Split, ...] = ("dev", "report")
Shares: TypeAlias = dict[float, list[float]]
"""Weight -> the share of each question's evidence that is in the first ten."""
SHIPPED = Contextual().cited
WEIGHTS = (0.0, 1.0, 2.0, SHIPPED, 4.0, 6.0)
PRESETS = {weight: replace(default, fusion=Contextual(cited=weight)) for weight in WEIGHTS}


def main() -> None:
    given = arguments(__doc__.splitlines()[0]).parse_args()
    embedder, said = KeptVectors(), observations(given.data)
    rows: dict[str, dict[Split, Shares]] = {name: {s: {} for s in SPLITS} for name in ADDED}
    for bank in load(given.data, tuple(ADDED)):
        bank = replace(bank, queries=bank.queries[: given.limit])
        name = "locomo" if bank.name in said else "lifebench"
        with tempfile.TemporaryDirectory() as folder, open_store(folder, embedder) as store:
            agent, recorded = store.agent(bank.name), False
            for query in asked(agent, bank):
                if not recorded:
                    if name == "locomo":
                        facts_beside.record(agent, said[bank.name])
                    else:
                        record(agent, lifebench.facts(given.data / "lifebench" / bank.name))
                    recorded = True
                if query.evidence:
                    for weight, share in shares(agent, query, embedder).items():
                        rows[name][query.split].setdefault(weight, []).append(share)
    sections = [section(rows[name][split], name, split) for name in ADDED for split in SPLITS]
    keep(Table("cited_by_facts", claim_of(__doc__), sections), given.json)
    for name, least in ADDED.items():
        report = rows[name]["report"]
        added = (sum(report[SHIPPED]) - sum(report[0.0])) / len(report[0.0])
        if added < least:
            sys.exit(f"facts add {added:.3f} on the report half of {name}, less than {least}")


def record(agent: recollex.Agent, facts: list[dict[str, Any]]) -> None:
    """Record facts on the evidence of the items that they were made of."""
    for first in range(0, len(facts), BATCH):
        with agent.transaction(by="bench", why="imported") as tx:
            for fact in facts[first : first + BATCH]:
                tx.facts.add(**fact, embed=False)


def shares(agent: recollex.Agent, query: Query, embedder: KeptVectors) -> dict[float, float]:
    """Return, for each weight, the share of the evidence in the first ten."""
    vector = embedder.embed_query(query.text)
    found: dict[float, list[str]] = {}
    for weight, preset in PRESETS.items():
        recall = agent.recall(
            query.text,
            now=query.asked_at,
            query_embedding=vector,
            max_tokens=NO_LIMIT,
            limit=FIRST,
            preset=preset,
        )
        assert not recall.trace.errors, recall.trace.errors
        found[weight] = recall.ids
    return {
        weight: len(query.evidence & set(ids)) / len(query.evidence)
        for weight, ids in found.items()
    }


def section(scored: Shares, name: str, split: Split) -> Section:
    table: list[dict[str, Cell]] = []
    for weight, mine in scored.items():
        row: dict[str, Cell] = {"weight": weight, "queries": len(mine), "R@10": bootstrap(mine)}
        if weight:
            row["added"] = paired(mine, scored[0.0])
        table.append(row)
    return Section(f"{name}, {split}", table, plot="R@10")


if __name__ == "__main__":
    main()
