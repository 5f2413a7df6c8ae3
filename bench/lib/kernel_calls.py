"""The arguments of every kernel, as an agent's own work calls it.

`record` retains, recalls in every preset, filtered, quoted, explained, under a cut and through a
graph, and checkpoints. Meanwhile each kernel that the engine imports is wrapped, to note the
arguments of its largest call. A kernel that the engine imports and nothing called is an error.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recollex
from bench.lib import made_up
from bench.lib.chat import WordVectors
from recollex import presets
from recollex_engine.writing import checkpoint as graphs
from recollex_engine.writing import draft as links
from recollex_kernels.graph.spread import Stamps

ROWS = 20_000
"""Memories of an agent whose calls are worth measuring."""
QUESTIONS = 8
TURNS = 300
FACTS = 4_500
"""More than are compared without one-bit codes."""
VIEWS: list[Any] = []
"""Kept to the end: tables of segments hold the addresses of arrays."""


@dataclass
class Call:
    """One call of a kernel: the function, its arguments (arrays copied), the place of `Stamps`."""

    kernel: Any
    arguments: tuple[Any, ...]
    stamps: int | None

    def again(self) -> Any:
        """Call the kernel again; scratch arrays that hold an epoch get a later one."""
        if self.stamps is not None:
            arguments = list(self.arguments)
            epoch, *scratch = arguments[self.stamps]
            arguments[self.stamps] = (epoch + 1_000, *scratch)  # one epoch for each known memory
            self.arguments = tuple(arguments)
        return self.kernel(*self.arguments)

    def nbytes(self) -> int:
        """Return the bytes of all arrays in the arguments."""
        return size(self.arguments)

    def rounds(self, most: int, seconds: float) -> int:
        """Return the number of calls that fit into ``seconds``, from 3 to ``most``."""
        before = time.perf_counter()
        self.again()
        once = time.perf_counter() - before
        return max(3, min(most, int(seconds / max(once, 1e-6))))


def is_kernel(value: Any) -> bool:
    """Return whether a value is a compiled public function of the kernels."""
    home = getattr(value, "__module__", "") or ""
    return hasattr(value, "py_func") and home.startswith("recollex_kernels.")


def named(kernel: Any) -> str:
    return f"{kernel.__module__.removeprefix('recollex_kernels.')}.{kernel.__name__}"


def callers() -> list[tuple[Any, str, Any]]:
    """Return the places that import kernels: (module, name there, kernel)."""
    modules = [m for n, m in sorted(sys.modules.items()) if n.startswith("recollex_engine.")]
    return [
        (module, name, value)
        for module in modules
        for name, value in sorted(vars(module).items())
        if is_kernel(value)
    ]


@contextmanager
def recording(found: dict[str, Call]) -> Iterator[None]:
    """Note the arguments of every kernel that the engine calls during the block."""
    changed: list[tuple[Any, str, Any]] = []

    def wrapped(kernel: Any) -> Any:
        parameters = signature(kernel.py_func).parameters.values()
        stamps = next((i for i, each in enumerate(parameters) if each.annotation == Stamps), None)
        name = named(kernel)

        def call(*arguments: Any) -> Any:
            before = found.get(name)
            if before is None or size(arguments) >= size(before.arguments):
                found[name] = Call(kernel, tuple(map(copied, arguments)), stamps)
            return kernel(*arguments)

        return call

    for module, name, value in callers():
        changed.append((module, name, value))
        setattr(module, name, wrapped(value))
    try:
        yield
        wanted = {named(value) for _, _, value in changed}
        assert found.keys() == wanted, f"nothing calls {sorted(wanted - found.keys())}"
    finally:
        for module, name, value in changed:
            setattr(module, name, value)


def size(value: Any) -> int:
    """Return the bytes of the arrays in an argument, or in a tuple of them."""
    if isinstance(value, tuple):
        return sum(map(size, value))
    return value.nbytes if isinstance(value, np.ndarray) else 0


def copied(value: Any) -> Any:
    """Return an argument with a copy of each array that a kernel may write."""
    if isinstance(value, tuple):
        return tuple(map(copied, value))
    return value.copy() if isinstance(value, np.ndarray) and value.flags.writeable else value


def record(rows: int = ROWS) -> dict[str, Call]:
    """Return the largest call of each kernel by an agent of so many memories, by its name."""
    found: dict[str, Call] = {}
    with tempfile.TemporaryDirectory() as folder:
        embedder = WordVectors()
        with (
            recollex.open(Path(folder) / "store", embedder=embedder, durability="off") as store,
            small_crossovers(rows),
        ):
            agent = store.agent("micro")
            *first, late, later = tenths(rows)
            for fields in first:
                agent.retain_many(**fields)
            agent.checkpoint()
            work(agent, made_up.questions(rows, 1))  # compiles
            with recording(found):
                for fields in (late, later):
                    agent.retain_many(**fields)
                    work(agent, made_up.questions(rows, 1))
                agent.forget(agent.list(limit=1)[0].id)
                work(agent, made_up.questions(rows, QUESTIONS))
                VIEWS.append(agent.engine.view())
                agent.checkpoint()
                work(agent, made_up.questions(rows, QUESTIONS))
                VIEWS.append(agent.engine.view())
                for graph in VIEWS[-1].indexes.graphs:
                    graph.rows_of_slots()  # as if several threads had inserted at once
                late_interaction(agent, made_up.questions(rows, 1)[0])
                talk_and_facts(agent)
                VIEWS.append(agent.engine.view())
                reopened(Path(folder) / "store", embedder, made_up.questions(rows, 1)[0])
    return found


def tenths(rows: int) -> Iterator[dict[str, Any]]:
    """Yield made-up memories in ten parts, each as `Agent.retain_many` takes it."""
    whole: dict[str, list[Any]] = {}
    for batch in made_up.batches(rows):
        for name, values in batch.fields().items():
            whole.setdefault(name, []).extend(values)
    for part in range(10):
        place = slice(rows * part // 10, rows * (part + 1) // 10)
        yield {name: values[place] for name, values in whole.items()}


@contextmanager
def small_crossovers(rows: int) -> Iterator[None]:
    """Lower the thresholds, so that these few memories get a graph and likely links."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graphs, "GRAPH_ROWS", rows // 2)
        patch.setattr(links, "EXACT_ROWS", rows * 17 // 20)
        yield


def talk_and_facts(agent: recollex.Agent) -> None:
    """Retain turns of two people and facts about them, and ask for both."""
    turns = [
        {"speaker": ("Ann", "Ben")[n % 2], "text": f"We saw castle {n} in Rome.", "id": f"turn {n}"}
        for n in range(TURNS)
    ]
    for first in range(0, TURNS, 30):
        part = slice(first, first + 30)
        agent.retain_dialogue(turns[part], document_id=f"talk {first}")
    drawn = {"extraction": "narrative-1", "evidence": ["turn 0", "turn 1"]}
    agent.retain("Ann and Ben saw castle 0.", metadata=drawn)
    with agent.transaction(by="bench") as transaction:
        for n in range(FACTS):
            when = (made_up.START + n * made_up.SPAN / FACTS, made_up.END)
            transaction.facts.add(
                f"Ann {n % 9}", "saw", f"castle {n}", valid=when, evidence=f"turn {n % TURNS}"
            )
    agent.recall("What did Ann see in Rome?")
    agent.recall("castle 0 of Ann and Ben", kinds=("memory", "fact"))
    agent.facts.search("Ann saw a castle")
    for options in (
        {"subject": "Ann 1", "as_world": made_up.END - made_up.SPAN / 9},
        {"start": {"ge": "2024", "lt": "2025"}},
        {"end": {"le": "2026"}, "order_by": "end"},
        {"overlaps": (made_up.START, made_up.END)},
    ):
        found: Any = agent.facts.find(**options)
        assert [fact.object for fact in found]
    assert agent.tools.find_entity_contexts("Ann 1").facts


def reopened(folder: Path, embedder: Any, question: made_up.Question) -> None:
    """Open the store once more, which looks through its columns."""
    with recollex.open(folder, embedder=embedder, read_only=True) as store:
        agent = store.agent("micro")
        agent.recall(**question.fields())
        VIEWS.append(agent.engine.view())


def late_interaction(agent: recollex.Agent, question: made_up.Question) -> None:
    """Run late interaction between the model's token vectors of a question and of memories."""
    preset = replace(presets.default, reranker=presets.LateInteraction())
    agent.recall(**question.fields(), preset=preset, thinking_budget=10)


def work(agent: recollex.Agent, questions: list[made_up.Question]) -> None:
    """Recall in every way that uses another kernel."""
    variety = presets.Preset(
        name="variety",
        fusion=presets.ReciprocalRank(),
        self_anchoring=presets.SelfAnchoring(),
        reranker=presets.Heuristic(),
        diversity=presets.Diversity(collapse=True),
    )
    chosen = [presets.default, presets.tempr, presets.memora, presets.satf, variety]
    chosen.append(replace(presets.default, overflow="stop"))
    chosen.append(replace(variety, diversity=presets.Diversity(collapse=True, threshold=0.95)))
    past = agent.list(limit=1)[0].recorded_at
    for question in questions:
        fields = question.fields()
        for preset in chosen:
            agent.recall(**fields, preset=preset, thinking_budget=100)
        filtered: list[dict[str, Any]] = [
            {"tags": ["hundredth"]},
            {"network": ["opinion"], "since": made_up.START + made_up.SPAN / 2},
            {"as_world": made_up.END},
            {"document_id": "document 7"},
            {"entities": [made_up.name(3)]},
            {"as_recorded": past},
            {"exact": True},
            {"explain": True},
        ]
        for options in filtered:
            for memory in agent.recall(**fields, **options)[:1]:
                assert memory.id and memory.tags is not None and memory.ranks is not None
        words = fields["query"].split()
        dated = f"{fields['query']} in March 2024"
        said = " ".join(agent.list(limit=1)[0].text.split()[:3])
        for quote in (f'"{said}"', f'"{words[0]}" {fields["query"]}'):
            agent.recall(quote, **rest(fields))
        for preset in (presets.default, presets.tempr, presets.memora):
            agent.recall(dated, **rest(fields), preset=preset)


def rest(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != "query"}
