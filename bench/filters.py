"""What does a filter cost? Recalls narrowed to 0.1, 1, 10 and 50 % of the memories, and others.

Claim: at 1,000,000 memories at most twice the unfiltered recall at p50, with results equal to
filtering an exact scan at recall@10 of at least 0.98.

Command: python -m bench.filters [--rows N ...] [--json] [--out FILE]

Check: before the clock starts, 50 questions are answered under each filter, and every memory
returned passes it; recall@10 is against the exact recall under the same filter.

Memories are made up (see `bench.lib.made_up`). The preset is the default, and the question's vector
is given. One thread.
"""

from typing import Any

import numpy as np

import recollex
from bench.lib import made_up
from bench.lib.drawing import Plot
from bench.lib.kept_stores import add_arguments, made_up_store
from bench.lib.latency import (
    Bound,
    Page,
    Section,
    System,
    claim,
    finish,
    parse,
    race,
    with_one_thread,
)

QUESTIONS = 100
CHECKED = 50
MIDDLE = made_up.START + made_up.SPAN / 2
FILTERS: dict[str, tuple[float, dict[str, Any]]] = {
    "none": (1.0, {}),
    "tag, 0.1 %": (0.001, {"tags": ["thousandth"]}),
    "tag, 1 %": (0.01, {"tags": ["hundredth"]}),
    "tag, 10 %": (0.1, {"tags": ["tenth"]}),
    "tag, 50 %": (0.5, {"tags": ["half"]}),
    "network, 10 %": (0.1, {"network": ["opinion"]}),
    "network, 70 %": (0.7, {"network": ["world"]}),
    "second half of the time": (0.5, {"since": MIDDLE}),
    "time and network and tag": (0.175, {"since": MIDDLE, "network": ["world"], "tags": ["half"]}),
}
"""Name -> (share of memories that pass, filter)."""


def main() -> None:
    with_one_thread()
    parser = parse(__doc__, (10_000, 100_000))
    add_arguments(parser)
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for size in arguments.rows:
        with made_up_store(arguments.stores, size) as agent:
            rows += measure(agent, size)
    finish(page(rows), arguments)


def measure(agent: recollex.Agent, size: int) -> list[dict[str, Any]]:
    asked = [question.fields() for question in made_up.questions(size, QUESTIONS)]
    shared = {name: check(agent, asked[:CHECKED], given) for name, (_, given) in FILTERS.items()}
    systems = [
        System(name, lambda question, given=given: agent.recall(**question, **given).ids)
        for name, (_, given) in FILTERS.items()
    ]
    spent = race(systems, asked)
    return [
        {
            "memories": size,
            "filter": name,
            "passes": FILTERS[name][0],
            "p50 us": times["p50"],
            "p95": times["p95"],
            "p99": times["p99"],
            "/ unfiltered": times["p50"] / spent["none"]["p50"],
            "recall@10": shared[name],
        }
        for name, times in spent.items()
    ]


def check(agent: recollex.Agent, asked: list[dict[str, Any]], given: dict[str, Any]) -> float:
    """Return recall@10 against the exact answer. Raises if a memory does not pass the filter."""
    shares = []
    for question in asked:
        found = agent.recall(**question, **given)
        for memory in found:
            assert set(given.get("tags", ())) <= set(memory.tags)
            assert "network" not in given or memory.network in given["network"]
            assert "since" not in given or memory.event_at >= given["since"]
        ten = agent.recall(**question, **given, exact=True).ids[:10]
        shares.append(len(set(ten) & set(found.ids[:10])) / len(ten) if ten else 1.0)
    return float(np.mean(shares))


def page(rows: list[dict[str, Any]]) -> Page:
    bounds = []
    for row in rows:
        if row["memories"] == max(each["memories"] for each in rows) and row["filter"] != "none":
            what = f"{row['filter']}, {row['memories']:,}"
            bounds.append(Bound(f"{what}, p50 / unfiltered", row["/ unfiltered"], 2))
            bounds.append(Bound(f"{what}, recall@10", row["recall@10"], 0.98, least=True))
    return Page(
        "filters",
        claim(__doc__),
        "python -m bench.filters --rows 10000 100000 1000000",
        [
            Section(
                "Recalls under filters",
                rows,
                Plot("curves", "memories", "p50 us", "filter", "p50, us"),
            )
        ],
        bounds,
        ["A tag of 0.1 % leaves 1,000 of 1,000,000 memories."],
        (),
        {"questions": QUESTIONS, "preset": "default"},
    )


if __name__ == "__main__":
    main()
