"""Do facts beside memories help? LoCoMo's observations as facts, recalled with its turns.

Claim: with the facts that an LLM drew from each session (LoCoMo's ``observation``) recorded as
facts, on the evidence of the turns that they name, the first ten of memories and facts together
hold as much of the evidence as the first ten memories alone, to 0.005.

Command: python -m bench.tables.facts_beside --data FOLDER [--json FILE] [--limit N]

Check: exits with 1 if the mean R@10 of memories and facts together is below that of memories alone
by more than 0.005, on either half. Before that, every fact that a search returns is compared with
its observation.

A fact counts as the turns that it cites. "of ten" counts ten items, memories or facts. "ten turns"
counts the first ten turns that the items name, since a fact often names a turn that a memory before
it is.
"""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import recollex
from bench.datasets import load
from bench.datasets.bank import Query, Split
from bench.datasets.locomo import Observation, observations
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import NO_LIMIT, asked, open_store
from bench.tables.lib.metrics import bootstrap, paired
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import claim_of

FIRST = 10
DEPTH = 60
"""Memories and facts that are looked at: more than ten turns are named by them."""
LESS = 0.005
"""What R@10 may be less beside facts."""
SPLITS: tuple[Split, ...] = ("dev", "report")
ALONE, TOGETHER = "memories alone", "memories and facts"

Turns = tuple[str, ...]
"""The turns that an item counts as."""


def main() -> None:
    given = arguments(__doc__.splitlines()[0]).parse_args()
    embedder, facts = KeptVectors(), observations(given.data)
    rows: dict[Split, dict[str, list[dict[str, float]]]] = {split: {} for split in SPLITS}
    for bank in load(given.data, ("locomo",)):
        bank = replace(bank, queries=bank.queries[: given.limit])
        with tempfile.TemporaryDirectory() as folder, open_store(folder, embedder) as store:
            agent, recorded = store.agent(bank.name), False
            for query in asked(agent, bank):
                if not recorded:
                    record(agent, facts[bank.name])
                    recorded = True
                if query.evidence:
                    for name, items in answers(agent, query, embedder, facts[bank.name]).items():
                        scores = values(items, query.evidence)
                        rows[query.split].setdefault(name, []).append(scores)
    keep(
        Table("facts_beside", claim_of(__doc__), [section(rows[split], split) for split in SPLITS]),
        given.json,
    )
    for split in SPLITS:
        means = {
            name: sum(each["of ten"] for each in rows[split][name]) / len(rows[split][name])
            for name in (ALONE, TOGETHER)
        }
        if means[TOGETHER] < means[ALONE] - LESS:
            sys.exit(f"{split}: memories and facts together hold less than memories alone")


def record(agent: recollex.Agent, facts: Sequence[Observation]) -> None:
    """Record observations as facts of their speaker, on the evidence of their turns."""
    known = {memory.id for memory in agent.list(limit=100_000)}
    with agent.transaction(by="bench", why="observed") as tx:
        for fact in facts:
            subject, predicate, rest = fact.triple
            evidence = [turn for turn in fact.turns if turn in known]
            tx.facts.add(subject, predicate, recollex.Text(rest), evidence=evidence, id=fact.id)


def answers(
    agent: recollex.Agent,
    query: Query,
    embedder: KeptVectors,
    facts: Sequence[Observation],
) -> dict[str, list[Turns]]:
    """Return what each configuration returns, as the turns that each item counts as."""
    vector, asked_at = embedder.embed_query(query.text), query.asked_at
    options: dict[str, Any] = {
        "now": asked_at,
        "query_embedding": vector,
        "max_tokens": NO_LIMIT,
        "limit": DEPTH,
    }
    together = agent.recall(query.text, kinds=("memory", "fact"), **options)
    assert not together.trace.errors, together.trace.errors
    memories: list[Turns] = [(memory.id,) for memory in agent.recall(query.text, **options)]
    hits = agent.facts.search(query.text, limit=DEPTH, query_embedding=vector)
    said = {fact.id: fact.text for fact in facts}
    assert all(said[hit.item.id].endswith(str(hit.item.object)) for hit in hits)
    found: list[Turns] = [hit.item.evidence for hit in hits]
    mixed: list[Turns] = [
        (hit.item.id,) if hit.kind == "memory" else hit.item.evidence for hit in together.hits
    ]
    return {ALONE: memories, "facts alone": found, TOGETHER: mixed}


def values(items: Sequence[Turns], evidence: frozenset[str]) -> dict[str, float]:
    """Return the share of the evidence in ten items, and in the first ten turns named."""
    ten = set(chain.from_iterable(items[:FIRST]))
    named = set(islice(dict.fromkeys(chain.from_iterable(items)), FIRST))
    return {
        "of ten": len(evidence & ten) / len(evidence),
        "ten turns": len(evidence & named) / len(evidence),
    }


def section(scored: dict[str, list[dict[str, float]]], split: Split) -> Section:
    table: list[dict[str, Cell]] = []
    for name, mine in scored.items():
        row: dict[str, Cell] = {"recalled": name, "queries": len(mine)}
        for measure in ("of ten", "ten turns"):
            row[f"R@10 {measure}"] = bootstrap([each[measure] for each in mine])
        if name != ALONE:
            row["added of ten"] = paired(
                [each["of ten"] for each in mine], [each["of ten"] for each in scored[ALONE]]
            )
        table.append(row)
    return Section(f"locomo, {split}", table, plot="R@10 of ten")


if __name__ == "__main__":
    main()
