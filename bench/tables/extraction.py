"""What does a write path with a language model cost, and what do its facts find?

Claim: with LoCoMo's ``observation`` facts replayed as a model's answers, the facts of ten
conversations are drawn, checked, compared and recorded, and a store of turns and facts finds no
less evidence than the turns alone, beyond chance (TEMPR 2.2, 4.4).

Command: python -m bench.tables.extraction --data FOLDER [--json FILE] [--limit N]

Check: every turn is read once, no job is left, and the log's chain verifies. A retrieved fact
counts as retrieving the turns that it names; k counts memories. "atomic": an observation is a
fact. "narrative": the observations of a chunk are joined, one fact for each speaker. The turns
alone are asked before anything is drawn, in the same store.

The model is an endpoint on the loopback that knows the observations of the turns that it is shown,
so that the real client, prompts, schemas and checks run. Its answers come at once: the time of a
real model is to be added. It relates no facts to each other, so all of them stay.
"""

import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import recollex
from bench.datasets import load
from bench.datasets.bank import Bank, Query, Split
from bench.datasets.locomo import observations
from bench.lib.counting_endpoint import counting_endpoint
from bench.lib.replayed_model import ReplayedModel
from bench.tables.lib.evaluation import NO_LIMIT, retain
from bench.tables.lib.metrics import bootstrap, paired
from bench.tables.lib.report import Cell, Section, Table, arguments, keep
from bench.write_path import clocked

MODES = ("atomic", "narrative")
SPLITS: tuple[Split, ...] = ("dev", "report")
STAGES = {
    "Which chunks are left": (
        "recollex_mind.extraction:extractions",
        "recollex_mind.extraction:chunks_of",
    ),
    "Prompt, client, schema": ("recollex_mind.extraction:extract_chunk",),
    "Checks of evidence, networks, dates": ("recollex_mind.drawing:_checked",),
    "Known facts near each new one": ("recollex_mind.extraction:near_facts",),
    "Comparison by the model": ("recollex_mind.extraction:compare",),
    "Words, passages, dates": ("recollex_engine.writing.recording:prepare",),
    "Embedding": ("recollex_engine.writing.recording:embed",),
    "Graph link construction": ("recollex_engine.writing.draft:Draft.link",),
    "Insertion, durable": ("recollex_engine.writing.writer:Writer.transact",),
}
"""Shown name -> its functions; the time of other listed functions that they call is not theirs."""
FACTS = {"extraction": {"exists": True}}


def main() -> None:
    given = arguments(__doc__.splitlines()[0]).parse_args()
    encoder = recollex.load_encoder()
    facts = observations(given.data)
    banks = load(given.data, ("locomo",))
    tables = {mode: Measured(mode) for mode in MODES}
    for mode, measured in tables.items():
        model = ReplayedModel(mode)
        with (
            counting_endpoint(model.answer) as endpoint,
            recollex.llm("replayed", base_url=endpoint.url) as llm,
        ):
            for bank in banks:
                model.hear(bank, facts[bank.name])
                measured.add(bank, model, encoder, llm, given.limit)
    sections = [section(tables, split) for split in SPLITS]
    sections += [stored(tables), spent(tables)]
    claim = __doc__.split("\n\n")[1].replace("\n", " ")
    keep(Table("extraction", claim, sections, [remark(tables)]), given.json)


class Measured:
    """What one mode of extraction gave on all conversations."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.found: dict[str, list[tuple[Split, float, int]]] = {
            "turns": [],
            "facts": [],
            "both": [],
        }
        self.stages: dict[str, list[float]] = {}
        self.sizes: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()

    def add(
        self,
        bank: Bank,
        model: ReplayedModel,
        encoder: recollex.Encoder,
        llm: recollex.LanguageModel,
        limit: int | None,
    ) -> None:
        """Write a conversation, ask, draw its facts, ask again."""
        queries = [each for each in bank.queries[:limit] if each.evidence]
        vectors = {each.id: encoder.embed_query(each.text) for each in queries}
        with (
            tempfile.TemporaryDirectory() as folder,
            recollex.open(Path(folder) / "s", embedder=encoder, llm=llm) as store,
        ):
            agent = store.agent("locomo")
            retain(agent, bank.turns, bank.turns[0]["at"].replace(year=1990))
            agent.checkpoint()
            self.sizes["turns"] += len(bank.turns)
            self.sizes["bytes of turns"] += _bytes(Path(folder))
            self.ask(agent, "turns", queries, vectors)
            taken: dict[str, float] = {}
            with clocked(taken, STAGES):
                before = time.perf_counter_ns()
                done = agent.extract(mode=self.mode)
                taken["Total"] = (time.perf_counter_ns() - before) / 1e6
            agent.checkpoint()
            drawn = agent.list(where=FACTS, limit=10_000)
            assert done.turns == len(bank.turns) and not done.failed
            assert not agent.jobs.find(mode=self.mode) and agent.verify().ok
            assert len(drawn) == len(done.facts) == agent.count() - len(bank.turns)
            for stage, milliseconds in taken.items():
                self.stages.setdefault(stage, []).append(milliseconds / done.chunks)
            self.left_out.update(done.left_out)
            self.sizes["chunks"] += done.chunks
            self.sizes["facts"] += len(drawn)
            self.sizes["tokens of facts"] += sum(memory.tokens for memory in drawn)
            turns = agent.list(where={"extraction": {"exists": False}}, limit=10_000)
            self.sizes["tokens of turns"] += sum(memory.tokens for memory in turns)
            self.sizes["characters of facts"] += sum(len(memory.text) for memory in drawn)
            self.sizes["characters of turns"] += sum(len(memory.text) for memory in turns)
            self.sizes["bytes of both"] += _bytes(Path(folder))
            self.sizes["dates dropped"] += sum("dropped_dates" in each.metadata for each in drawn)
            self.sizes["observations"] += model.given
            self.ask(agent, "facts", queries, vectors, where=FACTS)
            self.ask(agent, "both", queries, vectors)

    def ask(
        self,
        agent: recollex.Agent,
        what: str,
        queries: Sequence[Query],
        vectors: Mapping[str, Any],
        **filters: Any,
    ) -> None:
        """Note the evidence in the first ten memories, and their tokens."""
        for query in queries:
            recall = agent.recall(
                query.text,
                max_tokens=NO_LIMIT,
                limit=10,
                now=query.asked_at,
                query_embedding=vectors[query.id],
                **filters,
            )
            found: set[str] = set()
            for memory in recall:
                found |= {memory.id, *(memory.metadata.get("evidence") or ())}
            value = len(found & query.evidence) / len(query.evidence)
            self.found[what].append((query.split, value, sum(each.tokens for each in recall)))


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def section(tables: Mapping[str, Measured], split: Split) -> Section:
    rows: list[dict[str, Cell]] = []
    for mode, measured in tables.items():
        alone = [value for at, value, _ in measured.found["turns"] if at == split]
        for what, values in measured.found.items():
            if what == "turns" and rows:
                continue
            mine = [(value, tokens) for at, value, tokens in values if at == split]
            name = what if what == "turns" else f"{what}, {mode}"
            rows.append(
                {
                    "asked": name,
                    "queries": len(mine),
                    "R@10": bootstrap([value for value, _ in mine]),
                    "over turns": paired([value for value, _ in mine], alone),
                    "tokens@10": round(float(np.mean([tokens for _, tokens in mine])), 1),
                }
            )
    return Section(f"locomo, {split}", rows, plot="R@10")


def stored(tables: Mapping[str, Measured]) -> Section:
    rows: list[dict[str, Cell]] = []
    for mode, measured in tables.items():
        sizes = measured.sizes
        if not rows:
            rows.append(_size("turns", sizes["turns"], sizes, "turns", sizes["bytes of turns"]))
        more = sizes["bytes of both"] - sizes["bytes of turns"]
        rows.append(_size(f"facts, {mode}", sizes["facts"], sizes, "facts", more))
    return Section("what is stored (TEMPR 4.4), ten conversations", rows)


def _size(name: str, count: int, sizes: Counter[str], what: str, size: int) -> dict[str, Cell]:
    return {
        "stored": name,
        "memories": count,
        "a conversation": round(count / 10, 1),
        "tokens each": round(sizes[f"tokens of {what}"] / count, 1),
        "tokens": sizes[f"tokens of {what}"],
        "characters": sizes[f"characters of {what}"],
        "KB on disk": round(size / 1000),
    }


def spent(tables: Mapping[str, Measured]) -> Section:
    rows: list[dict[str, Cell]] = []
    for mode, measured in tables.items():
        total = float(np.mean(measured.stages["Total"]))
        for stage, values in measured.stages.items():
            mean = float(np.mean(values))
            rows.append(
                {
                    "mode": mode,
                    "stage": stage,
                    "ms": round(mean, 2),
                    "share": round(mean / total, 3),
                }
            )
    return Section("time of a chunk of up to 20 turns, mean of ten conversations, ms", rows)


def remark(tables: Mapping[str, Measured]) -> str:
    said = [
        f"{mode}: {each.sizes['chunks']:,} chunks, {each.sizes['observations']:,} observations "
        f"given, {each.sizes['facts']:,} facts recorded, left out {dict(each.left_out)}, dates "
        f"dropped in {each.sizes['dates dropped']:,}"
        for mode, each in tables.items()
    ]
    return "; ".join(said) + "."


if __name__ == "__main__":
    main()
