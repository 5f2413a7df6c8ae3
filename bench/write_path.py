"""TEMPR 3.5's write path, filled in without its LLM: what a conversation of 20 turns takes.

Claim: 20 turns are embedded, named, linked and durable in under 100 ms at p50 (TEMPR expects 3 s,
2.3 s of it the LLM that extracts facts, which nothing here needs).

Command: python -m bench.write_path --data FOLDER [--json] [--out FILE]

Check: after the last conversation the store is opened again, holds every turn, and its log's chain,
columns and indexes verify.

LoCoMo's conversations are cut into 20 turns each, and one agent retains each of these in one call,
with durability "always" and the int8 model on one thread. Stages are timed around the engine's
functions that do them (`STAGES`). Tokens are counted in another thread, so stages overlap. With a
model's answers the way is measured by `bench.tables.extraction`.
"""

import importlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import recollex
from bench.datasets import locomo
from bench.lib.conversations import available, turns
from bench.lib.drawing import Plot
from bench.lib.kept_stores import AGENT
from bench.lib.latency import Bound, Page, Section, claim, finish, parse
from bench.lib.rundata import percentiles

TURNS = 20
PIECES = 100
STAGES = {
    "Words, passages, dates": ("recollex_engine.writing.recording:prepare",),
    "Entity recognition and resolution": (
        "recollex_engine.text.names:find_names",
        "recollex_engine.writing.draft:Draft._resolve_names",
    ),
    "Embedding": ("recollex_engine.writing.recording:embed",),
    "Graph link construction": ("recollex_engine.writing.draft:Draft.link",),
    "Insertion, durable": (
        "recollex_engine.writing.writer:Writer._append_vectors",
        "recollex_engine.writing.writer:Writer._commit",
        "recollex_engine.writing.writer:Writer.publish",
    ),
}
"""Shown name -> its functions; the time of other listed functions that they call is not theirs."""
EXPECTED = {
    "Entity recognition and resolution": "450",
    "Graph link construction": "180",
    "Insertion, durable": "65",
    "Total": "3,000 (2,300 the LLM's)",
}
"""Milliseconds at p50 that TEMPR 3.5 expects."""


def main() -> None:
    parser = parse(__doc__)
    arguments = parser.parse_args()
    if not available(arguments.data):
        raise SystemExit("--data must name a folder with locomo/locomo10.json")
    pieces = [
        said[first : first + TURNS]
        for said in map(turns, locomo.load(arguments.data))
        for first in range(0, len(said) - TURNS + 1, TURNS)
    ][: PIECES + 5]
    encoder = recollex.load_encoder()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder) / "store", pieces, encoder)
    finish(page(found), arguments)


@contextmanager
def clocked(
    spent: dict[str, float], stages: Mapping[str, tuple[str, ...]] = STAGES
) -> Iterator[None]:
    """Add the milliseconds of every stage's own functions to ``spent``."""
    changed: list[tuple[Any, str, Any]] = []

    inner = [0.0]  # for each open call, the time of the calls inside it

    def timed(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            inner.append(0.0)
            before = time.perf_counter_ns()
            try:
                return function(*arguments, **options)
            finally:
                took = (time.perf_counter_ns() - before) / 1e6
                spent[stage] = spent.get(stage, 0.0) + took - inner.pop()
                inner[-1] += took

        return call

    for stage, functions in stages.items():
        for function in functions:
            module, path = function.split(":")
            owner: Any = importlib.import_module(module)
            *outer, name = path.split(".")
            for part in outer:
                owner = getattr(owner, part)
            changed.append((owner, name, getattr(owner, name)))
            setattr(owner, name, timed(stage, getattr(owner, name)))
    try:
        yield
    finally:
        for owner, name, function in changed:
            setattr(owner, name, function)


def measure(
    path: Path, pieces: list[list[dict[str, Any]]], encoder: recollex.Encoder
) -> dict[str, list[float]]:
    """Return the milliseconds of every stage, one number for each 20 turns."""
    found: dict[str, list[float]] = {}
    with recollex.open(path, embedder=encoder) as store:
        agent = store.agent(AGENT)
        for number, piece in enumerate(pieces):
            spent: dict[str, float] = {}
            with clocked(spent):
                before = time.perf_counter_ns()
                agent.retain_dialogue(piece, document_id=f"piece {number}")
                spent["Total"] = (time.perf_counter_ns() - before) / 1e6
            if number < 5:
                continue  # the first one loads the model and the kernels
            for stage in (*STAGES, "Total"):
                found.setdefault(stage, []).append(spent.get(stage, 0.0))
    with recollex.open(path, embedder=encoder) as store:
        agent = store.agent(AGENT)
        assert agent.stats().memories == sum(map(len, pieces))
        assert agent.verify().ok
    return found


def page(found: dict[str, list[float]]) -> Page:
    total = sum(found["Total"])
    rows = [
        {
            "stage": stage,
            **percentiles(times),
            "share": sum(times) / total,
            "TEMPR expects": EXPECTED.get(stage, ""),
        }
        for stage, times in found.items()
    ]
    return Page(
        "write_path",
        claim(__doc__),
        "python -m bench.write_path --data FOLDER",
        [
            Section(
                f"A conversation of {TURNS} turns, {len(found['Total'])} of them, ms",
                rows,
                Plot("bars", "stage", "p50", unit="p50, ms"),
            )
        ],
        [Bound("20 turns, p50 ms", percentiles(found["Total"])["p50"], 100)],
        ["Nothing calls an LLM: TEMPR's row of fact extraction is left out."],
        (),
        {"turns": TURNS, "durability": "always", "model threads": 1},
    )


if __name__ == "__main__":
    main()
