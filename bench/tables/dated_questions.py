"""Are questions about dated facts answered exactly without a language model, or else declined?

Claim: of 2,800 generated questions from the templates that the planner was written on, at least
99 % are answered exactly, of 2,800 from templates that it was not written on at least 90 %; none is
answered wrongly, no language model is called, and what has no answer gets none.

Command: python -m bench.tables.dated_questions [--graphs 50] [--json FILE]

Check: exits with 1 if a part of the claim does not hold.

The questions are those of `bench.datasets.dated_relations`, their gold is computed by brute force.
They are asked by `Agent.investigate` of stores without a model. "Printed" is REMem-I with
GPT-4.1-mini on Test of Time (REMem, Table 13): another set, with harder graphs to search and one
phrasing for each type. The unseen templates were written by the planner's author before the planner
and not looked at while it was written; words for which they are declined were not added.

Refusal is counted as in REMem's Table 6: questions without an answer are generated too (an unknown
name or relation, a time at which nothing held, "before" the first one, two readings that differ). A
question that is declined counts as refused.
"""

import random
import sys
import tempfile
import time
from collections import Counter
from typing import Any

import recollex
from bench.datasets.dated_relations import GRAPHS, HALVES, TYPES, Gold, load, unanswerable
from bench.lib.rundata import percentiles
from bench.tables.lib.metrics import bootstrap
from bench.tables.lib.report import Section, Table, arguments, keep
from bench.tables.lib.trials import claim_of

PRINTED = {
    "before_after": 97.4,
    "event_at_time": 99.4,
    "event_at_what_time": 100.0,
    "first_last": 92.0,
    "event_at_time_of_event": 97.4,
    "number_of_events": 71.4,
    "relation_duration": 94.0,
    "timeline": 92.9,
}
"""REMem-I with GPT-4.1-mini on Test of Time, exact match in percent (REMem, Table 13)."""
PRINTED_REFUSALS = {  # REMem, Table 6
    "Graphiti, LoCoMo (printed)": (954, 0.389, 0.836, 0.531),
    "Mem0, LoCoMo (printed)": (90, 0.400, 0.081, 0.135),
    "REMem, LoCoMo (printed)": (344, 0.733, 0.568, 0.640),
}
SEED = 21
NOW = "2026-01-01T00:00:00Z"
LEAST = {"own": 0.99, "unseen": 0.90}


def main() -> int:
    parser = arguments(__doc__.splitlines()[0], data=False)
    parser.add_argument("--graphs", type=int, default=GRAPHS, help=f"({GRAPHS})")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = measure(folder, given.graphs)
    keep(table(run, given.graphs), given.json)
    outcomes = run["outcomes"]
    enough = all(share(outcomes, half, None, "exact") >= least for half, least in LEAST.items())
    wrong = sum(count for key, count in outcomes.items() if key[2] == "wrong")
    return int(not enough or wrong > 0 or run["answered in vain"] > 0)


def measure(folder: str, graphs: int) -> dict[str, Any]:
    outcomes: Counter[tuple[str, str, str]] = Counter()
    vain: Counter[str] = Counter()
    taken: list[float] = []
    facts = calls = 0
    embedder = recollex.GivenVectors(8)
    with recollex.open(folder, embedder=embedder, durability="off") as store:
        for graph, questions in load(graphs, SEED):
            agent = store.agent(graph.name.replace(" ", "-"))
            with agent.transaction(by="bench") as transaction:
                for relation in graph.relations:
                    transaction.facts.add(*relation[:3], valid=graph.valid(relation))
            facts += len(graph.relations)
            for asked in questions:
                started = time.perf_counter()
                found = agent.investigate(asked.text, now=NOW)
                taken.append((time.perf_counter() - started) * 1000)
                calls += found.calls
                half = asked.template.split("/")[0]
                outcomes[half, asked.type, outcome(found, asked.gold)] += 1
            for half in HALVES:
                chance = random.Random(f"{SEED} {graph.name} {half}")
                for why, text in unanswerable(graph, half, chance):
                    found = agent.investigate(text, now=NOW)
                    refused = found.text is None or found.refused
                    vain[f"{why}: {'refused' if refused else 'answered'}"] += 1
    answered = sum(count for name, count in vain.items() if name.endswith("answered"))
    return {
        "outcomes": outcomes,
        "vain": vain,
        "answered in vain": answered,
        "milliseconds": percentiles(taken),
        "facts": facts,
        "model calls": calls,
    }


def outcome(found: recollex.Investigation, gold: Gold) -> str:
    """Return "exact", "declined" or "wrong"."""
    if found.text is None or found.plan is None:
        return "declined"
    values = found.plan.values
    if isinstance(gold, frozenset):
        return "exact" if frozenset(values) == gold and len(values) == len(gold) else "wrong"
    return "exact" if values == (gold if isinstance(gold, tuple) else (gold,)) else "wrong"


def share(outcomes: Counter[tuple[str, str, str]], half: str, kind: str | None, what: str) -> float:
    """Return the share of an outcome among the questions of a half, and of a type."""
    chosen = {
        key: count
        for key, count in outcomes.items()
        if key[0] == half and (kind is None or key[1] == kind)
    }
    total = sum(chosen.values())
    return sum(count for key, count in chosen.items() if key[2] == what) / total


def table(run: dict[str, Any], graphs: int) -> Table:
    outcomes = run["outcomes"]
    rows = []
    for kind in (*TYPES, None):
        row: dict[str, Any] = {"type": "all" if kind is None else kind.replace("_", " ")}
        for half in HALVES:
            exact = sum(
                n
                for k, n in outcomes.items()
                if (k[0], k[2]) == (half, "exact") and kind in (None, k[1])
            )
            rest = sum(
                n
                for k, n in outcomes.items()
                if k[0] == half and k[2] != "exact" and kind in (None, k[1])
            )
            row[f"{half}: exact"] = bootstrap([1.0] * exact + [0.0] * rest)
            row[f"{half}: declined"] = round(share(outcomes, half, kind, "declined"), 4)
            row[f"{half}: wrong"] = round(share(outcomes, half, kind, "wrong"), 4)
        printed = sum(PRINTED.values()) / len(PRINTED) if kind is None else PRINTED[kind]
        row["REMem-I, Test of Time (printed)"] = round(printed / 100, 3)
        rows.append(row)
    refused = sum(run["vain"].values()) - run["answered in vain"]
    refusals: list[dict[str, Any]] = []
    for half in HALVES:
        declined = sum(n for k, n in outcomes.items() if k[0] == half and k[2] == "declined")
        in_half = refused / len(HALVES)
        precision = in_half / (in_half + declined)
        recall = refused / sum(run["vain"].values())
        refusals.append(
            {
                "method": f"planner, {half} templates",
                "refusals": round(in_half + declined),
                "precision": round(precision, 3),
                "recall": round(recall, 3),
                "F1": round(2 * precision * recall / (precision + recall), 3),
            }
        )
    for name, (count, precision, recall, f1) in PRINTED_REFUSALS.items():
        refusals.append(
            {"method": name, "refusals": count, "precision": precision, "recall": recall, "F1": f1}
        )
    return Table(
        "dated_questions",
        claim_of(__doc__),
        [
            Section("By type of question", rows, plot="unseen: exact"),
            Section("Refusal", refusals),
            Section(
                "Questions without an answer",
                [{"why": name, "questions": n} for name, n in sorted(run["vain"].items())],
            ),
            Section("Milliseconds for a question", [run["milliseconds"]]),
        ],
        [
            "Printed rows are of other sets, with a language model; they stand beside ours for "
            "orientation and are no comparison.",
            f"{run['model calls']} calls of a language model.",
        ],
        {"graphs": graphs, "facts": run["facts"], "seed": SEED},
    )


if __name__ == "__main__":
    sys.exit(main())
