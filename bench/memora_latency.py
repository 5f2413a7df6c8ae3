"""Memora's latency breakdowns (3.5 and 5.2), filled in: each stage, heuristic and cross-encoder.

Claim: with the heuristic reranker and MMR the whole recall answers in under 5 ms at p50, the
question embedded within it (Memora: 92 ms; 40 to 60 ms); SATF, fusion, heuristic, MMR and budget of
100 candidates together take at most 150 us.

Command: python -m bench.memora_latency --data FOLDER [--json] [--out FILE]

Check: before the clock starts, 98 % of the first ten memories of 50 recalls are those of exact
ones; no arm and no reranker fails in any recall.

256 questions are asked about LoCoMo's 5,882 turns in one memory, with the preset `memora` and
thinking_budget 50 as in 5.2. They are asked about its first hundred turns too: 5.2 may mean that by
"100 memories". Every question is new to the model. The cross-encoder's rows have 32 questions. If
its weights are missing, a model of the same shape with a seeded head stands for it: its latency
counts, not its quality. The late stages are SATF, RRF, a heuristic, MMR and the budget, over the
union of the arms' lists. The arms find 100 candidates together.
"""

from dataclasses import replace
from typing import Any

import recollex
from bench.lib import seeded_judge
from bench.lib.conversations import (
    FreshQueries,
    available,
    conversation_store,
    turns,
)
from bench.lib.drawing import Plot
from bench.lib.kept_stores import add_arguments, kept
from bench.lib.latency import Bound, Page, Section, claim, finish, parse
from bench.lib.rundata import percentiles
from bench.lib.stages import Timed, timed
from bench.tempr_table1 import check
from recollex import presets

QUESTIONS = 256
JUDGED = 32
CHECKED = 50
BUDGET = 50
CANDIDATES = 100
STAGES = {
    "embed": "Query embedding",
    "parse": "Temporal parsing",
    "filter": "Narrowing",
    "semantic": "Semantic",
    "keyword": "Keyword",
    "graph": "Graph",
    "temporal": "Temporal-graph",
    "fusion": "RRF fusion",
    "rerank": "Reranking",
    "diversity": "MMR diversification",
    "budget": "Token budget filtering",
}
PRINTED = {
    "embed": ("5, with the parsing", "60 (GPU)"),
    "parse": ("in the 5 above; 3.1.4: < 5", ""),
    "semantic": ("30 to 50, the four together", "30 to 50, the four together"),
    "keyword": ("in those; 3.1.2: about 5", "in those"),
    "graph": ("in those", "in those"),
    "temporal": ("in those", "in those"),
    "fusion": ("1", "1"),
    "rerank": ("0 to 80", "0 to 80"),
    "diversity": ("1", "1"),
    "budget": ("1", ""),
}
"""Milliseconds printed in Memora 3.5 and in its 5.2."""
TOTALS = {"Heuristic": ("40 to 60", "92"), "Cross-encoder": ("120 to 140", "192")}
LATE = ("fusion", "satf", "rerank", "diversity", "budget")
LATE_STAGES = presets.Preset(
    name="late stages",
    arms=("keyword",),
    fusion=presets.ReciprocalRank(),
    self_anchoring=presets.SelfAnchoring(),
    reranker=presets.Heuristic(),
    diversity=presets.Diversity(),
)


def main() -> None:
    parser = parse(__doc__)
    add_arguments(parser)
    arguments = parser.parse_args()
    if not available(arguments.data):
        raise SystemExit("--data must name a folder with locomo/locomo10.json")
    embedder = FreshQueries()
    judge = seeded_judge.find(arguments.stores)
    sections: list[Section] = []
    with conversation_store(arguments.stores, arguments.data, embedder) as (agent, banks, asked):
        questions = [each.fields() for each in asked[:: len(asked) // QUESTIONS]]
        check(agent, questions[:CHECKED], embedder)
        whole = measure(agent, questions, "5,882 memories", judge, sections)
        late = late_stages(agent, questions, embedder)

    def fill(agent: recollex.Agent) -> None:
        agent.retain_dialogue(turns(banks[0])[:100], document_id="first")

    first = [each.fields() for each in asked[:QUESTIONS]]
    with kept(arguments.stores, "locomo-100", embedder, fill) as agent:
        measure(agent, first, "100 memories", judge, sections)
    sections.append(Section(f"Late stages of {CANDIDATES} candidates, us", late))
    finish(page(sections, whole, late[-1]["p50"]), arguments)


def measure(
    agent: recollex.Agent,
    questions: list[dict[str, Any]],
    what: str,
    judge: tuple[presets.CrossEncoderReranker, str] | None,
    sections: list[Section],
) -> Timed:
    """Add one section for each reranker, and return the times with the heuristic."""
    timed(agent, questions[:20], preset=presets.memora, thinking_budget=BUDGET)
    heuristic, _ = timed(agent, questions, preset=presets.memora, thinking_budget=BUDGET)
    sections.append(section(f"Heuristic, {what}", heuristic))
    if judge is not None:
        preset = replace(presets.memora, reranker=judge[0])
        few = questions[:: len(questions) // JUDGED]
        timed(agent, few[:2], preset=preset, thinking_budget=BUDGET)
        judged, _ = timed(agent, few, preset=preset, thinking_budget=BUDGET)
        sections.append(section(f"Cross-encoder ({judge[1]}), {what}", judged))
    return heuristic


def section(title: str, spent: Timed) -> Section:
    printed = {shown: PRINTED[name] for name, shown in STAGES.items() if name in PRINTED}
    printed["Total"] = next(both for kind, both in TOTALS.items() if title.startswith(kind))
    rows = []
    for row in [*spent.rows(STAGES, 1000), spent.total("Total", 1000)]:
        first, second = printed.get(row["stage"], ("", ""))
        rows.append(row | {"Memora 3.5": first, "Memora 5.2": second})
    plot = Plot("bars", "stage", "p50", unit="p50, ms")
    return Section(f"{title}, {len(spent.whole)} questions, ms", rows, plot)


def late_stages(
    agent: recollex.Agent, questions: list[dict[str, Any]], embedder: FreshQueries
) -> list[dict[str, Any]]:
    """Return the times of the stages after the arms, in recalls with 100 candidates."""
    given = [q | {"query_embedding": embedder.embed_query(q["query"])} for q in questions]
    options = {"preset": LATE_STAGES, "thinking_budget": CANDIDATES, "max_tokens": 1 << 20}
    _, recalls = timed(agent, given, **options)
    full = [q for q, found in zip(given, recalls, strict=True) if len(found) == CANDIDATES]
    assert len(full) >= len(given) // 4, len(full)
    spent = Timed()
    for _ in range(5):
        again, _ = timed(agent, full, **options)
        for name, stage in again.stages.items():
            spent.stages.setdefault(name, []).extend(stage)
        spent.whole += again.whole
    together = [sum(parts) for parts in zip(*(spent.stages[name] for name in LATE), strict=True)]
    rows = [{"stage": name, **percentiles(spent.stages[name])} for name in LATE]
    return [*rows, {"stage": "together", **percentiles(together)}]


def page(sections: list[Section], whole: Timed, late: float) -> Page:
    return Page(
        "memora_latency",
        claim(__doc__),
        "python -m bench.memora_latency --data FOLDER",
        sections,
        [
            Bound("heuristic, 5,882 memories, p50 ms", percentiles(whole.whole)["p50"] / 1000, 5),
            Bound("SATF + fusion + heuristic + MMR + budget, 100 candidates, p50 us", late, 150),
        ],
        [
            "Memora's totals: 40-60 ms with the heuristic and 120-140 ms with the cross-encoder "
            "(3.5), 92 and 192 ms (5.2).",
            "Words are searched while the model runs: shares of stages may add up to more than 1.",
            "Latency alone is measured with a seeded head: its order is random.",
        ],
        (),
        {"questions": QUESTIONS, "thinking_budget": BUDGET, "max_tokens": 4096},
    )


if __name__ == "__main__":
    main()
