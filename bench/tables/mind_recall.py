"""Is a recall slower for a language model, for facts that were drawn, or for opinions?

Claim: a recall of a store that has a language model attached and extracts facts in the background
takes as long as one of the same memories without; facts that were drawn and opinions make it longer
by less than the share of memories that they add.

Command: python -m bench.tables.mind_recall --data FOLDER [--json FILE] [--limit N]

Check: the stores "turns" and "attached" return the same memories with the same scores. All four
stores of a conversation are open in one process, and asked each question in turn, in an order that
changes from round to round. A time is the least of `ROUNDS` of one question, its vector given.

The stores are copies of one: "turns" is opened without a model; "attached" with a model that draws
nothing and `extraction="narrative"`, whose run is over; "facts" has LoCoMo's observations as
narrative facts; "opinions" has these, and `OPINIONS` opinions on them, formed by the caller.
"""

import os
import random
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

import recollex
from bench.datasets import load
from bench.datasets.bank import Bank
from bench.datasets.locomo import Observation, observations
from bench.lib.counting_endpoint import counting_endpoint
from bench.lib.replayed_model import ReplayedModel
from bench.tables.extraction import FACTS
from bench.tables.lib.evaluation import retain
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.tables.lib.trials import claim_of

ROUNDS = 15
OPINIONS = 100
STORES = ("turns", "attached", "facts", "opinions")
AGENT = "locomo"


def main() -> None:
    given = arguments(__doc__.splitlines()[0]).parse_args()
    encoder = recollex.load_encoder()
    told = observations(given.data)
    times: dict[str, list[float]] = {name: [] for name in STORES}
    counts = dict.fromkeys(STORES, 0)
    banks = load(given.data, ("locomo",))
    for bank in banks:
        with tempfile.TemporaryDirectory() as folder:
            measure(bank, told[bank.name], encoder, Path(folder), times, counts, given.limit)
    rows: list[dict[str, Cell]] = []
    for name, taken in times.items():
        ratios = np.array(taken) / np.array(times["turns"])
        rows.append(
            {
                "store": name,
                "memories": counts[name] / len(banks),
                "p50, ms": float(np.median(taken)),
                "p99, ms": float(np.percentile(taken, 99)),
                "p50 over turns": float(np.median(taken) / np.median(times["turns"])),
                "median ratio of a question": float(np.median(ratios)),
            }
        )
    questions = len(times["turns"])
    section = Section(f"a recall of the default, query vector given; {questions:,} questions", rows)
    load_average = f"{os.getloadavg()[0]:.0f} on {os.cpu_count()} cores"
    remark = f"The load of the machine was {load_average} at the end."
    keep(Table("mind_recall", claim_of(__doc__), [section], [remark]), given.json)


def measure(
    bank: Bank,
    told: Sequence[Observation],
    encoder: recollex.Encoder,
    folder: Path,
    times: dict[str, list[float]],
    counts: dict[str, int],
    limit: int | None,
) -> None:
    """Add the times and the counts of one conversation."""
    with recollex.open(folder / "turns", embedder=encoder) as store:
        retain(store.agent(AGENT), bank.turns, bank.turns[0]["at"].replace(year=1990))
    for name in ("attached", "facts"):
        shutil.copytree(folder / "turns", folder / name)
    observed, nothing = ReplayedModel("narrative"), ReplayedModel("narrative")
    observed.hear(bank, told)
    nothing.hear(bank, ())
    with ExitStack() as stack:

        def opened(name: str, model: ReplayedModel | None = None) -> recollex.Agent:
            options: dict[str, Any] = {}
            if model is not None:
                endpoint = stack.enter_context(counting_endpoint(model.answer))
                llm = stack.enter_context(recollex.llm("replayed", base_url=endpoint.url))
                options = {"llm": llm, "extraction": "narrative"}
            store = stack.enter_context(recollex.open(folder / name, embedder=encoder, **options))
            return store.agent(AGENT)

        with ExitStack() as drawing, counting_endpoint(observed.answer) as endpoint:
            llm = drawing.enter_context(recollex.llm("replayed", base_url=endpoint.url))
            store = drawing.enter_context(
                recollex.open(folder / "facts", embedder=encoder, llm=llm)
            )
            store.agent(AGENT).extract()
        shutil.copytree(folder / "facts", folder / "opinions")
        agents = {
            "turns": opened("turns"),
            "attached": opened("attached", nothing),
            "facts": opened("facts"),
            "opinions": opened("opinions"),
        }
        agents["attached"].extract()
        assert agents["attached"].jobs.wait() and not agents["attached"].jobs.find()
        for fact in agents["opinions"].list(where=FACTS, limit=OPINIONS):
            text = f"It is good that {fact.text}"
            agents["opinions"].opinions.form(text, confidence=0.7, evidence=fact.id)
        for name, agent in agents.items():
            agent.checkpoint()
            counts[name] += agent.count()
        ask(bank, encoder, agents, times, limit)


def ask(
    bank: Bank,
    encoder: recollex.Encoder,
    agents: Mapping[str, recollex.Agent],
    times: dict[str, list[float]],
    limit: int | None,
) -> None:
    """Ask every question of every agent, in turn, and note the least time of each."""
    queries = bank.queries[:limit]
    vectors = [encoder.embed_query(query.text) for query in queries]
    least = {name: np.full(len(queries), np.inf) for name in agents}
    chance = random.Random(0)
    for _ in range(ROUNDS):
        for place, (query, vector) in enumerate(zip(queries, vectors, strict=True)):
            order = list(agents)
            chance.shuffle(order)
            found = {}
            for name in order:
                before = time.perf_counter_ns()
                found[name] = agents[name].recall(
                    query.text, now=query.asked_at, query_embedding=vector
                )
                taken = (time.perf_counter_ns() - before) / 1e6
                least[name][place] = min(least[name][place], taken)
            turns, attached = found["turns"], found["attached"]
            assert [(each.id, each.score) for each in turns] == [
                (each.id, each.score) for each in attached
            ]
    for name, taken_by in least.items():
        times[name] += taken_by.tolist()


if __name__ == "__main__":
    main()
