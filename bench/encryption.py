"""What does encryption at rest cost? The same memories in a plain and in an encrypted agent.

Claim: a recall of an encrypted agent takes at most 1.2 times as long as that of a plain one, a
retain at most 1.3 times.

Command: python -m bench.encryption [--rows 10000 100000] [--json] [--out FILE]

Check: both agents answer every question with the same memories and scores, and both verify.

Two agents are filled with memories of 100 characters and given vectors, alternately, in batches of
1,000. Then memories are retained one by one, with durability "always", and questions are asked,
alternately. An opening is that of a store, with its first recall, in a process that has its
kernels.
"""

import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import recollex
import recollex.encryption
from bench.lib.latency import Bound, Page, Section, System, claim, finish, parse, race
from bench.lib.rundata import percentiles
from bench.store import DIMENSION, batches

WRITES = 600
QUESTIONS = 300
OPENINGS = 7
NOW = datetime(2026, 11, 23, tzinfo=UTC)


def main() -> None:
    arguments = parse(__doc__, (10_000, 100_000)).parse_args()
    sections, bounds = [], []
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory() as folder:
            run = measure(Path(folder), rows)
        sections += run[0]
        bounds += run[1]
    settings = {"writes": WRITES, "questions": QUESTIONS, "dimension": DIMENSION}
    page = Page(
        *("encryption", claim(__doc__), "python -m bench.encryption", sections, bounds),
        *([], (), settings),
    )
    finish(page, arguments)


def measure(folder: Path, rows: int) -> tuple[list[Section], list[Bound]]:
    """Return the tables and the bounds of one size."""
    keys = {"plain": None, "encrypted": recollex.encryption.new_key()}
    of = f", {rows:,}"

    def opened(kind: str, **options: Any) -> recollex.Store:
        embedder = recollex.GivenVectors(DIMENSION, links=False)
        options = {"clock": lambda: NOW, **options}  # equal times: equal scores
        return recollex.open(folder / kind, embedder=embedder, key=keys[kind], **options)

    filled: dict[str, list[float]] = {kind: [] for kind in keys}
    stores = {kind: opened(kind, durability="interval") for kind in keys}
    for texts, vectors in batches(rows):
        for kind, store in stores.items():
            agent = store.agent("bench")
            retain = timed(lambda a=agent, t=texts, v=vectors: a.retain_many(t, embedding=v))
            filled[kind].append(retain / len(texts))
    for store in stores.values():
        store.agent("bench").checkpoint()
        store.close()
    ((texts, vectors),) = batches(1_000)
    stores = {kind: opened(kind) for kind in keys}
    agents = {kind: store.agent("bench") for kind, store in stores.items()}
    written: dict[str, list[float]] = {kind: [] for kind in keys}
    for number in range(WRITES):
        for kind, agent in sorted(agents.items(), reverse=number % 2 == 0):
            text, vector = f"{texts[number]} {number}", vectors[number]
            retain = timed(lambda a=agent, t=text, v=vector: a.retain(t, embedding=v))
            written[kind].append(retain)
    questions = [(" ".join(texts[n].split()[:5]), vectors[-n]) for n in range(1, QUESTIONS + 1)]

    def asking(agent: recollex.Agent) -> Callable[[Any], Any]:
        return lambda question: agent.recall(question[0], query_embedding=question[1])

    systems = [System(kind, asking(agent)) for kind, agent in agents.items()]
    for question in questions:
        found = [[(m.text, m.score) for m in system.ask(question)] for system in systems]
        assert found[0] == found[1]
    recalls = race(systems, questions)
    for kind, agent in agents.items():
        assert agent.verify().ok
        agent.checkpoint()
        stores[kind].close()
    openings: dict[str, list[float]] = {kind: [] for kind in keys}
    for _ in range(OPENINGS):
        for kind in keys:
            openings[kind].append(timed(lambda k=kind: open_and_ask(opened, k, questions[0])))
    sizes = {
        kind: sum(each.stat().st_size for each in (folder / kind).rglob("*") if each.is_file())
        for kind in keys
    }
    rows_of = [
        {
            "agent": kind,
            "recall p50, ms": recalls[kind]["p50"] / 1000,
            "retain one, p50, ms": percentiles(written[kind])["p50"] * 1000,
            "retain 1,000, p50, us a memory": percentiles(filled[kind])["p50"] * 1e6,
            "open and recall, least, ms": min(openings[kind]) * 1000,
            "bytes a memory": sizes[kind] / (rows + WRITES),
        }
        for kind in keys
    ]
    ratio = {
        name: float(rows_of[1][name]) / float(rows_of[0][name])
        for name in rows_of[0]
        if name != "agent"
    }
    rows_of.append({"agent": "ratio", **ratio})
    bounds = [
        Bound(f"recall p50{of}", ratio["recall p50, ms"], 1.2),
        Bound(f"retain one, p50{of}", ratio["retain one, p50, ms"], 1.3),
        Bound(f"retain 1,000, p50{of}", ratio["retain 1,000, p50, us a memory"], 1.3),
    ]
    return [Section(f"Plain and encrypted{of}", rows_of)], bounds


def open_and_ask(opened: Callable[..., recollex.Store], kind: str, question: Any) -> None:
    """Open the store for reading, ask once, and close it."""
    with opened(kind, read_only=True) as store:
        store.agent("bench").recall(question[0], query_embedding=question[1])


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that ``work`` takes."""
    before = time.perf_counter()
    work()
    return time.perf_counter() - before


if __name__ == "__main__":
    main()
