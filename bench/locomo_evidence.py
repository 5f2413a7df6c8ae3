"""Does recall find the turns that prove the answer? LoCoMo, evidence-level, no LLM.

Claim: on LoCoMo's questions the turns named as evidence stand among the first that `recall`
returns, at a p50 of at most 1 ms without embedding the query and 3 ms with it.

Command: python -m bench.locomo_evidence --data FOLDER [--json] [--out FILE]
(FOLDER/locomo holds locomo10.json of github.com/snap-research/locomo.)

Check: every turn is retained, a recall is the same with `exact=True`, and the arms' own lists are
read from the same recall. Each conversation is an agent, and each turn is a memory. R@k is the
share of a question's evidence among the first k, averaged over questions. NDCG@10 counts evidence
as gain 1. Conversations 1 to 5 are for development; 6 to 10 are reported.
"""

import math
import tempfile
import time
from typing import Any

import numpy as np

import recollex
from bench.datasets import locomo
from bench.datasets.locomo import CATEGORIES, Conversation
from bench.lib.drawing import Plot
from bench.lib.latency import Bound, Page, Section, claim, finish, parse
from bench.lib.rundata import percentiles

CUTS = (5, 10, 20)
BUDGET = 100
WARM = 20
DEVELOPMENT = 5
"""Number of conversations, from the first, that are for development."""
ARMS = ("semantic", "keyword", "graph", "temporal")


def main() -> None:
    arguments = parse(__doc__).parse_args()
    conversations = locomo.conversations(arguments.data)
    encoder = recollex.load_encoder()
    with (
        tempfile.TemporaryDirectory() as folder,
        recollex.open(folder, embedder=encoder) as store,
    ):
        ingest = retain(store, conversations)
        rows = ask(store, conversations, encoder)
    finish(page(rows, ingest), arguments)


def retain(store: recollex.Store, conversations: list[Conversation]) -> dict[str, float]:
    store.agent("warm").retain("The first text loads the model.")
    turns, started, cpu = 0, time.perf_counter(), time.process_time()
    for conversation in conversations:
        agent = store.agent(conversation.id)
        ids = agent.retain_dialogue(list(conversation.turns), document_id=conversation.id)
        assert len(ids) == len(conversation.turns) == agent.stats().memories
        turns += len(ids)
    seconds, spent = time.perf_counter() - started, time.process_time() - cpu
    return {"turns": turns, "turns/s": turns / seconds, "turns/s of CPU": turns / spent}


def ask(
    store: recollex.Store, conversations: list[Conversation], encoder: recollex.Encoder
) -> list[dict[str, Any]]:
    rows = []
    for number, conversation in enumerate(conversations):
        agent = store.agent(conversation.id)
        for question in conversation.questions[:WARM]:
            agent.recall(question.text + " really", max_tokens=1 << 30)
        for place, question in enumerate(conversation.questions):
            fresh = time.perf_counter_ns()
            agent.recall(question.text)  # a new question: the query is embedded
            with_embedding = time.perf_counter_ns() - fresh
            vector = encoder.embed_query(question.text)
            started = time.perf_counter_ns()
            recall = agent.recall(question.text, query_embedding=vector)
            recalled = time.perf_counter_ns()
            texts = [memory.text for memory in recall]
            without = time.perf_counter_ns()
            assert len(texts) == len(recall) and not recall.trace.errors, recall.trace.errors
            whole = agent.recall(question.text, query_embedding=vector, max_tokens=1 << 30)
            if place % 10 == 0:
                exact = agent.recall(
                    question.text, query_embedding=vector, max_tokens=1 << 30, exact=True
                )
                assert exact.ids == whole.ids
            lists: dict[str, list[str]] = {"fused": whole.ids}
            for arm in ARMS:
                ranked = [(m.ranks[arm], m.id) for m in whole if arm in m.ranks]
                lists[arm] = [id for _, id in sorted(ranked)]
            rows.append(
                {
                    "conversation": number,
                    "category": question.category,
                    "evidence": set(question.evidence),
                    "lists": lists,
                    "recall_us": (recalled - started) / 1000,
                    "read_us": (without - started) / 1000,
                    "embedded_us": with_embedding / 1000,
                    "stages": dict(recall.trace.stages),
                }
            )
    return rows


def score(found: list[str], evidence: set[str]) -> dict[str, float]:
    """Return R@k and NDCG@10 of one list."""
    scores = {f"R@{k}": len(evidence & set(found[:k])) / len(evidence) for k in CUTS}
    gain = sum(1 / math.log2(place + 2) for place, id in enumerate(found[:10]) if id in evidence)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(10, len(evidence))))
    return scores | {"NDCG@10": gain / ideal}


def mean(rows: list[dict[str, Any]], name: str) -> dict[str, float]:
    scores = [score(row["lists"][name], row["evidence"]) for row in rows]
    keys = [*(f"R@{k}" for k in CUTS), "NDCG@10"]
    return {key: float(np.mean([each[key] for each in scores])) if scores else 0.0 for key in keys}


def quality(part: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row for each list: the fused one, each arm's, the fused one by category."""
    dated = [row for row in rows if row["lists"]["temporal"]]
    lists = {"fused": (rows, "fused"), **{arm: (rows, arm) for arm in ARMS[:-1]}}
    lists["temporal (questions with a range)"] = (dated, "temporal")
    for number, name in CATEGORIES.items():
        of = [row for row in rows if row["category"] == number]
        lists[f"fused, {name}"] = (of, "fused")
    return [
        {"part": part, "list": name, "questions": len(of), **mean(of, key)}
        for name, (of, key) in lists.items()
    ]


def page(rows: list[dict[str, Any]], ingest: dict[str, float]) -> Page:
    kinds = {
        "query vector given": "recall_us",
        "query vector given, every text read": "read_us",
        "query embedded": "embedded_us",
    }
    times = [
        {"recall": name, **percentiles([row[key] for row in rows])} for name, key in kinds.items()
    ]
    spent: dict[str, list[float]] = {}
    for row in rows:
        for name, us in row["stages"].items():
            spent.setdefault(name, []).append(us)
    stages = [{"stage": name, **percentiles(each)} for name, each in spent.items()]
    parts = {
        "all": rows,
        "development": [row for row in rows if row["conversation"] < DEVELOPMENT],
        "reported": [row for row in rows if row["conversation"] >= DEVELOPMENT],
    }
    return Page(
        "locomo_evidence",
        claim(__doc__),
        "python -m bench.locomo_evidence --data FOLDER",
        [
            *(Section(f"Evidence, {part}", quality(part, of)) for part, of in parts.items()),
            Section("Recalls, us", times, Plot("bars", "recall", "p50", unit="p50 us")),
            Section("Stages, us", stages, Plot("bars", "stage", "p50", unit="p50 us")),
            Section("Retaining, embedding included", [ingest]),
        ],
        [
            Bound("recall, vector given, p50 ms", times[0]["p50"] / 1000, 1),
            Bound("recall, query embedded, p50 ms", times[2]["p50"] / 1000, 3),
        ],
    )


if __name__ == "__main__":
    main()
