"""Does recall find the turns that prove the answer? LoCoMo, evidence-level, no LLM.

Claim: on LoCoMo's questions the turns named as evidence stand among the first that `recall`
returns, at a p50 of at most 1 ms without embedding the query and 3 ms with it.

Command: python bench/locomo_evidence.py --data FOLDER [--json] [--out FILE]
(FOLDER holds locomo10.json of github.com/snap-research/locomo.)

Check: every turn is retained, a recall is the same with `exact=True`, and the arms' own lists are
read off the same recall. Each conversation is an agent, one memory a turn. R@k is the share of a
question's evidence among the first k, averaged over questions; NDCG@10 counts evidence as gain 1.
Conversations 1-5 are for development; 6-10 are what is reported.
"""

import argparse
import math
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rundata import environment, percentiles, write_run

import recollex
from recollex.locomo import CATEGORIES, Conversation, load

CUTS = (5, 10, 20)
BUDGET = 100
WARM = 20
ARMS = ("semantic", "keyword", "graph", "temporal")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, type=Path, help="folder of locomo10.json")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--out", type=Path, help="write the JSON to this file as well")
    arguments = parser.parse_args()
    conversations = load(arguments.data)
    encoder = recollex.load_encoder()
    with (
        tempfile.TemporaryDirectory() as folder,
        recollex.open(folder, embedder=encoder) as store,
    ):
        ingest = retain(store, conversations)
        rows = ask(store, conversations, encoder)
    result = {
        "bench": "locomo_evidence",
        "environment": environment(),
        "ingest": ingest,
        "all": table(rows),
        "development": table([row for row in rows if row["conversation"] < 5]),
        "reported": table([row for row in rows if row["conversation"] >= 5]),
        "latency": latency(rows),
    }
    write_run(result, arguments.json, arguments.out, show)


def retain(store: recollex.Store, conversations: list[Conversation]) -> dict[str, float]:
    store.agent("warm").retain("The first text loads the model.")
    turns, started, cpu = 0, time.perf_counter(), time.process_time()
    for conversation in conversations:
        agent = store.agent(conversation.id)
        ids = agent.retain_dialogue(list(conversation.turns), document_id=conversation.id)
        assert len(ids) == len(conversation.turns) == agent.stats().memories
        turns += len(ids)
    seconds, spent = time.perf_counter() - started, time.process_time() - cpu
    return {"turns": turns, "turns_per_s": turns / seconds, "turns_per_cpu_s": turns / spent}


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
            agent.recall(question.text)  # nobody asked this before: the query is embedded
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


def table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    dated = [row for row in rows if row["lists"]["temporal"]]
    return {
        "questions": len(rows),
        "fused": mean(rows, "fused"),
        **{arm: mean(rows, arm) for arm in ("semantic", "keyword", "graph")},
        "temporal (questions with a range)": {"questions": len(dated), **mean(dated, "temporal")},
        "by category": {
            name: mean([row for row in rows if row["category"] == number], "fused")
            for number, name in CATEGORIES.items()
        },
    }


def latency(rows: list[dict[str, Any]]) -> dict[str, Any]:
    names = sorted({name for row in rows for name in row["stages"]})
    return {
        "recall, query vector given, us": percentiles([row["recall_us"] for row in rows]),
        "recall and read every text, query vector given, us": percentiles(
            [row["read_us"] for row in rows]
        ),
        "recall, query embedded, us": percentiles([row["embedded_us"] for row in rows]),
        "stages, us": {
            name: percentiles([row["stages"][name] for row in rows if name in row["stages"]])
            for name in names
        },
    }


def show(result: dict[str, Any]) -> str:
    lines = []
    for part in ("all", "development", "reported"):
        lines.append(f"\n{part}: {result[part]['questions']} questions")
        for name, scores in result[part].items():
            if name in ("questions", "by category"):
                continue
            lines.append(_line(name, scores))
        lines += [_line(f"fused, {name}", s) for name, s in result[part]["by category"].items()]
    lines.append("")
    for name, values in result["latency"].items():
        if name == "stages, us":
            lines += [f"  {stage:<12} {_times(times)}" for stage, times in values.items()]
        else:
            lines.append(f"{name}: {_times(values)}")
    ingest = result["ingest"]
    lines.append(
        f"retain with embedding: {ingest['turns_per_s']:.0f} turns/s, "
        f"{ingest['turns_per_cpu_s']:.0f} per CPU second ({ingest['turns']:.0f} turns)"
    )
    return "\n".join(lines)


def _line(name: str, scores: dict[str, float]) -> str:
    cells = "  ".join(f"{key} {scores[key]:.3f}" for key in ("R@5", "R@10", "R@20", "NDCG@10"))
    return f"  {name:<34} {cells}"


def _times(values: dict[str, float]) -> str:
    return "  ".join(f"{key} {value:.0f}" for key, value in values.items())


if __name__ == "__main__":
    main()
