"""What does it cost a recall that its memories are counted?

Claim: a recall of a store with ``count_accesses=True`` takes at most 1.02 times as long, by the p50
of each question's best time.

Command: python -m bench.accesses [--rows N ...] [--json] [--out FILE]

Check: after the clock stops, `accesses` says of every memory that 50 recalls return how often.

The same folder is open for reading twice, and is asked alternately: once it counts, once it does
not. The first ten memories of each recall are read. Memories are made up (see `bench.lib.made_up`).
The preset is the default, and the question's vector is given. One thread recalls; another writes
the counts once a second.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import recollex
from bench.lib import made_up
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

QUESTIONS = 500
CHECKED = 50
PAIRS = 3
"""Stores of each kind, which alternate; the least p50 of each kind is compared."""
FILE = "ACCESSES"


def main() -> None:
    with_one_thread()
    parser = parse(__doc__, (10_000,))
    add_arguments(parser)
    arguments = parser.parse_args()
    rows = []
    for size in arguments.rows:
        with made_up_store(arguments.stores, size) as agent:
            rows.append(measure(agent, size))
    finish(page(rows), arguments)


def measure(agent: recollex.Agent, size: int) -> dict[str, Any]:
    asked = [question.fields() for question in made_up.questions(size, QUESTIONS)]
    folder: Path = agent.engine.folder.parent.parent
    options: dict[str, Any] = {"read_only": True, "embedder": recollex.GivenVectors(384)}
    (folder / "agents" / agent.name / FILE).unlink(missing_ok=True)
    stores = [
        recollex.open(folder, **options, count_accesses=bool(number % 2))
        for number in range(2 * PAIRS)
    ]
    agents = [store.agent(agent.name) for store in stores]
    recalls = 0

    def recall(number: int, question: dict[str, Any]) -> list[str]:
        nonlocal recalls
        recalls += number % 2
        return [memory.id for memory in agents[number].recall(**question)[:10]]

    systems = [
        System(f"{number}", lambda question, number=number: recall(number, question))
        for number in range(2 * PAIRS)
    ]
    spent = race(systems, asked)
    plain, counted = (
        min((spent[f"{n}"] for n in range(first, 2 * PAIRS, 2)), key=lambda t: t["best p50"])
        for first in (0, 1)
    )
    for store in stores:
        store.close()
    path = folder / "agents" / agent.name / FILE
    used = path.stat().st_size
    path.unlink()
    check(agent, folder, options, asked[:CHECKED])
    return {
        "memories": size,
        "p50 us, not counted": plain["p50"],
        "best p50": plain["best p50"],
        "p50 us, counted": counted["p50"],
        "its best p50": counted["best p50"],
        "ratio of best": counted["best p50"] / plain["best p50"],
        "bytes a recall": used / recalls,
    }


def check(
    agent: recollex.Agent, folder: Path, options: dict[str, Any], asked: list[dict[str, Any]]
) -> None:
    """Compare the counts with the ids that recalls return."""
    with recollex.open(folder, **options, count_accesses=True) as store:
        reader = store.agent(agent.name)
        returned = Counter(id for question in asked for id in reader.recall(**question).ids)
    for id, count in returned.items():
        assert agent.accesses(id).returned == count, id
    (folder / "agents" / agent.name / FILE).unlink()


def page(rows: list[dict[str, Any]]) -> Page:
    return Page(
        "accesses",
        claim(__doc__),
        "python -m bench.accesses --rows " + " ".join(str(row["memories"]) for row in rows),
        [Section("Recalls that are counted", rows)],
        [
            Bound(f"{row['memories']:,}, best p50 / not counted", row["ratio of best"], 1.02)
            for row in rows
        ],
        [],
        (),
        {"questions": QUESTIONS, "preset": "default"},
    )


if __name__ == "__main__":
    main()
