"""TEMPR's Table 3 without its dollars: model calls, texts, pairs and bytes for LoCoMo.

Claim: writing LoCoMo's ten conversations and answering 512 questions takes no call of a language
model; with the time of a question read by one (TEMPR 3.1.4) it takes one call a question. Every
cell of the paper's table is a placeholder, so none can be compared.

Command: python -m bench.tables.tempr_table3 --data FOLDER [--json FILE] [--limit N]

Check: model calls are counted by an endpoint on the loopback that answers "no time is named"; with
the grammar the same endpoint must have counted none. Each conversation is an agent of its own with
the preset `tempr`. Storage is the sum of all files after a checkpoint, by part; links in time and
through entities are computed or shared, so only semantic links are counted as edges. A database
query is a recall whose question has its vector and whose time is read by the grammar: the CPU time
of the process. Model calls of a store with a model attached are in `bench.tables.extraction`.
"""

import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bench.datasets import load
from bench.datasets.bank import Bank
from bench.lib.counting_endpoint import counting_endpoint
from bench.lib.kept_vectors import KeptVectors
from bench.lib.storage_parts import PARTS, storage_parts
from bench.tables.lib.evaluation import open_store, retain
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import claim_of, spread
from recollex import presets

QUESTIONS = 512
EMPTY = "empty in print"
NO_MODEL = "0 (no model is attached)"
NO_WEIGHTS = "not run: its weights are not on this machine"


def main() -> None:
    given = arguments(__doc__.splitlines()[0]).parse_args()
    banks = load(given.data, ("locomo",))
    keep(Table("tempr_table3", claim_of(__doc__), sections(banks, given.limit)), given.json)


def sections(banks: Sequence[Bank], limit: int | None = None) -> list[Section]:
    """Return the cost by component, by phase, and the storage by part."""
    embedder = KeptVectors()
    turns = sum(len(bank.turns) for bank in banks)
    each = min(limit or QUESTIONS, QUESTIONS) // len(banks) + 1
    asked = [(bank, query) for bank in banks for query in spread(bank.queries, each)][:QUESTIONS]
    sizes: Counter[str] = Counter()
    links = tokens = judged = 0
    by_grammar, by_model, seconds = 0, 0, 0.0
    with tempfile.TemporaryDirectory() as folder, counting_endpoint() as calls:
        reader = presets.LanguageModelDates("scripted", calls.url, "no key")
        with open_store(folder, embedder) as store:
            for bank in banks:
                agent = store.agent(bank.name)
                retain(agent, bank.turns, datetime.min.replace(tzinfo=UTC))
                agent.checkpoint()
                links += agent.stats().links
                tokens += sum(memory.tokens for memory in agent.list(limit=1_000_000))
            for bank, query in asked:
                agent, vector = store.agent(bank.name), embedder.embed_query(query.text)
                for parser in (presets.tempr.time_parser, reader):
                    before, began = calls.count, time.process_time()
                    recall = agent.recall(
                        query.text,
                        now=query.asked_at,
                        preset=replace(presets.tempr, time_parser=parser),
                        query_embedding=vector,
                    )
                    spent = time.process_time() - began
                    assert not recall.trace.errors, recall.trace.errors
                    if parser is reader:
                        by_model += calls.count - before
                    else:
                        by_grammar += calls.count - before
                        seconds += spent
                        judged += recall.trace.judged or 0
        reader.close()
        for agent_folder in sorted((Path(folder) / "agents").iterdir()):
            sizes.update(storage_parts(agent_folder))
    assert by_grammar == 0
    queries = len(asked)
    pairs: Cell = judged if judged else NO_WEIGHTS
    components: list[dict[str, Cell]] = [
        _row("Fact extraction (write)", "model calls", NO_MODEL, 0),
        _row("Entity disambiguation (write)", "model calls", NO_MODEL, 0),
        _row("Temporal parsing (query), grammar", "model calls", by_grammar / queries, by_grammar),
        _row("Temporal parsing (query), a model", "model calls", by_model / queries, by_model),
        _row("Fact embeddings (write)", "texts embedded", "", turns),
        _row("Query embeddings (query)", "texts embedded", 1, queries),
        _row("Database queries", "CPU ms", 1000 * seconds / queries, round(1000 * seconds)),
        _row("Cross-encoder reranking", "pairs", "", pairs),
        _row("Storage", "bytes", "", sum(sizes.values())),
        _row("HNSW index size", "bytes", "", sizes["vector index"]),
        _row("Graph links (edges)", "semantic links", "", links),
    ]
    phases: list[dict[str, Cell]] = [
        {"phase": "write, a conversation", "model calls": 0, "texts embedded": turns / len(banks)},
        {"phase": "read, a query", "model calls": 0, "texts embedded": 1},
        {"phase": "read, a query, time by a model", "model calls": by_model / queries}
        | {"texts embedded": 1},
    ]
    stored: list[dict[str, Cell]] = [
        {"part": name, "bytes": sizes[name], "bytes a memory": sizes[name] / turns}
        for name in PARTS
    ]
    extraction: list[dict[str, Cell]] = [
        {"strategy": "Atomic (baseline)", "facts": EMPTY, "tokens a fact": EMPTY, "tokens": EMPTY},
        {"strategy": "TEMPR (narrative)", "facts": EMPTY, "tokens a fact": EMPTY, "tokens": EMPTY},
        {"strategy": "turns as they were said, here", "facts": turns}
        | {"tokens a fact": tokens / turns, "tokens": tokens},
    ]
    return [
        Section(f"Table 3: LoCoMo, {turns:,} turns, {queries} queries", components),
        Section("Cost by phase", phases),
        Section("Storage by part, ten conversations", stored),
        Section("Storage overhead of extraction (TEMPR 4.4)", extraction),
    ]


def _row(name: str, unit: str, each: Cell, total: Cell) -> dict[str, Cell]:
    return {
        "component": name,
        "TEMPR prints": EMPTY,
        "unit here": unit,
        "per query": each,
        "total": total,
    }


if __name__ == "__main__":
    main()
