"""Does the evidence of the tools help a recall? LifeBench's phones, R@10 of the evidence.

Claim: with what `tools.lexical_retrieve` and `find_entity_contexts` find in the facts of a phone
(`recollex.ingest`, by rule) added to the score of a recall, the first ten hold .03 more of the
evidence on the report half than the recall alone.

Command: python -m bench.tables.tools_beside --data FOLDER [--json FILE] [--limit N]

Check: exits with 1 if the choice that is best on the development half adds less than .03 on the
report half. Every item that the tools name must be one of the phone.

A second agent holds the phone as the importer reads it: gists and facts of who did what when, found
by their words. A memory of the recall that the tools name at rank r gets w / (1 + r / 10) more;
those that the recall does not have come in with that alone. ``in time``: if the question names a
time, only what was so then is asked for. w and the tools are chosen on the first user.
"""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import recollex
from bench.datasets import load
from bench.datasets.bank import Query, Split
from bench.episodic import HashedWords
from bench.lib.kept_vectors import KeptVectors
from bench.tables.lib.evaluation import NO_LIMIT, asked, open_store
from bench.tables.lib.metrics import bootstrap, paired
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import claim_of

FIRST, DEPTH, NAMES = 10, 60, 3
WEIGHTS = (0.2, 0.4, 0.8, 1.2, 1.6)
ADDED = 0.03
SPLITS: tuple[Split, ...] = ("dev", "report")
ALONE = "the recall alone"
KINDS = {"agent_chat": "agentchat"}


def main() -> None:
    given = arguments(__doc__.splitlines()[0]).parse_args()
    embedder = KeptVectors()
    rows: dict[Split, dict[str, list[float]]] = {split: {} for split in SPLITS}
    for bank in load(given.data, ("lifebench",)):
        bank = replace(bank, queries=bank.queries[: given.limit])
        with (
            tempfile.TemporaryDirectory() as folder,
            tempfile.TemporaryDirectory() as other,
            open_store(folder, embedder) as store,
            recollex.open(other, embedder=HashedWords()) as phones,
        ):
            phone = phones.agent(bank.name)
            recollex.ingest(phone, given.data / "lifebench" / bank.name / "phone_data")
            known = {turn["id"] for turn in bank.turns}
            agent = store.agent(bank.name)
            for query in asked(agent, bank):
                if query.evidence:
                    for name, ids in answers(agent, phone, query, embedder, known).items():
                        share = len(query.evidence & set(ids[:FIRST])) / len(query.evidence)
                        rows[query.split].setdefault(name, []).append(share)
    keep(
        Table("tools_beside", claim_of(__doc__), [section(rows[split], split) for split in SPLITS]),
        given.json,
    )
    best = max(rows["dev"], key=lambda name: sum(rows["dev"][name]))
    report = rows["report"]
    added = (sum(report[best]) - sum(report[ALONE])) / len(report[ALONE])
    if added < ADDED:
        sys.exit(f"{best}, chosen on the development half, adds {added:.3f} on the report half")


def answers(
    agent: recollex.Agent,
    phone: recollex.Agent,
    query: Query,
    embedder: KeptVectors,
    known: set[str],
) -> dict[str, list[str]]:
    """Return the ids that each way finds, best first."""
    recall = agent.recall(
        query.text,
        now=query.asked_at,
        query_embedding=embedder.embed_query(query.text),
        max_tokens=NO_LIMIT,
        limit=DEPTH,
    )
    assert not recall.trace.errors, recall.trace.errors
    scores = {memory.id: memory.score for memory in recall}
    found = {ALONE: list(scores)}
    for tool, evidence in named(phone, query, recall.time_range).items():
        held = [[id for id in each if not id.startswith("contact:")] for each in evidence]
        assert all(set(each) <= known for each in held)  # contacts are no items of the bench
        for weight in WEIGHTS:
            found[f"{tool}, {weight}"] = joined(scores, held, weight)
    return found


def named(
    phone: recollex.Agent, query: Query, time: tuple[datetime, datetime] | None
) -> dict[str, list[list[str]]]:
    """Return the lists of items that tools name, each in its order."""
    window: dict[str, Any] = {}
    if time is not None:
        window = {
            "start_time": time[1],
            "start_operator": "lt",
            "end_time": time[0],
            "end_operator": "gt",
        }
    words = phone.tools.lexical_retrieve(query.text, limit=DEPTH, max_tokens=None)
    timed = phone.tools.lexical_retrieve(query.text, limit=DEPTH, max_tokens=None, **window)
    around: list[recollex.Fact] = []
    for hit in phone.facts.search_entities(query.text, limit=NAMES):
        for part in ("subject", "object"):
            asked_for: dict[str, Any] = {part: hit.item.name, "limit": DEPTH, **window}
            around += phone.tools.find_entity_contexts(**asked_for, max_tokens=None).facts
    facts = items(fact.evidence for fact in timed.facts)
    gists = items((gist.id,) for gist in timed.gists)
    return {
        "facts by words": [items(fact.evidence for fact in words.facts)],
        "facts by words, in time": [facts],
        "gists by words, in time": [gists],
        "facts and gists by words, in time": [facts, gists],
        "facts of names, in time": [items(fact.evidence for fact in around)],
    }


def items(cited: Any) -> list[str]:
    """Return the ids of the bench for those of the importer: owner/kind/number."""
    found: dict[str, None] = {}
    for ids in cited:
        for id in ids:
            _, kind, number = id.split("/")[:3]
            found[f"{KINDS.get(kind, kind)}:{number}"] = None
    return list(found)


def joined(
    scores: Mapping[str, float], evidence: Sequence[Sequence[str]], weight: float
) -> list[str]:
    """Return the items by their scores with what the tools add."""
    total = dict(scores)
    for each in evidence:
        for rank, id in enumerate(each):
            total[id] = total.get(id, 0.0) + weight / (1 + rank / 10)
    return sorted(total, key=lambda id: -total[id])


def section(scored: dict[str, list[float]], split: Split) -> Section:
    table: list[dict[str, Cell]] = []
    for name, mine in scored.items():
        row: dict[str, Cell] = {"ranked by": name, "queries": len(mine), "R@10": bootstrap(mine)}
        if name != ALONE:
            row["added"] = paired(mine, scored[ALONE])
        table.append(row)
    return Section(f"lifebench, {split}", table, plot="R@10")


if __name__ == "__main__":
    main()
