"""Every script of `bench` runs, with a few memories, a few questions and tiny data sets.

What a script measures then says nothing. What its checks compare still has to agree. A package of
the extra ``bench`` that is not installed skips the scripts that race with it.
"""

import importlib
import os
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.pool import ThreadPool
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import recollex
from bench.lib import latency, rundata
from bench.lib.chat import WordVectors
from bench.tables import entities
from bench.tables.lib.scripted_histories import history
from tests.bench import tiny_data

ROOT = Path(__file__).parents[2]
DATA = "DATA"
"""Stands in an argument for the folder of the tiny data sets."""


@dataclass(frozen=True)
class Small:
    """How a script is run small: its arguments, the constants that are lowered, what it prints."""

    arguments: Sequence[str] = ()
    constants: Mapping[str, Any] = field(default_factory=dict)
    printed: str = "|"


def rows(count: int = 300, **constants: Any) -> Small:
    return Small(("--rows", str(count)), constants)


def data(*arguments: str, **constants: Any) -> Small:
    return Small(("--data", DATA, *arguments), constants)


def short_history(seed: int) -> Any:
    return history(seed)[:6]


SOMEBODY = entities.Label("somebody", "PERSON")
WORDS = SimpleNamespace(name="words", encode=lambda text, disallowed_special: text.split())
"""Stands in for a vocabulary that a machine may not have."""

SCRIPTS: dict[str, Small] = {
    "accesses": rows(QUESTIONS=12, CHECKED=4, PAIRS=1),
    "adapters": rows(60, QUESTIONS=4, SECONDS=0.1),
    "answer_eval": data("--scripted", "--banks", "1", "--limit", "1", "--sets", "locomo"),
    "backup": rows(TURNS=1, WRITES=4),
    "code_size": Small((), {}, "lines in"),
    "cold_start": Small((), {"REPEATS": 1, "MEMORIES": 60}),
    "cuts": rows(REPEATS=4),
    "encryption": rows(WRITES=8, QUESTIONS=8, OPENINGS=1),
    "episodic": Small(
        ("--facts", "600"), {"QUESTIONS": 20, "EPISODES": 5, "CHECKED": 5, "PLACES": 1 << 10}
    ),
    "facts": Small(
        ("--versions", "400"),
        {"CHECKED": 10, "LOOKUPS": 20, "SELECTIONS": 20, "SNAPSHOTS": 2, "A_TRANSACTION": 50},
    ),
    "filters": rows(2_000, QUESTIONS=5, CHECKED=3),
    "gpu": Small(),
    "graph_peers": rows(QUESTIONS=4, CHECKED=2),
    "hybrid_peers": data("--rows", "200", QUESTIONS=4, EXACT=50),
    "ingest": rows(),
    "keyword_peers": rows(2_000, QUESTIONS=5, CHECKED=3),
    "leakage": data("--conversations", "1"),
    "locomo_evidence": data(WARM=2),
    "many_agents": Small(("--agents", "3")),
    "memora_latency": data(QUESTIONS=4, JUDGED=1, CHECKED=2, CANDIDATES=5),
    "memora_scale": rows(QUESTIONS=4, CALLERS=(1, 2), CALLS=6),
    "models": Small(("--short", "--parts", "mixed"), {"GEMM": (8, 384, 1536)}),
    "rebuild": rows(KILLS=1, BATCH=100, LATER=400),
    "recall": rows(TAIL=100, QUESTIONS=4, REPEATS=1),
    "roaring": rows(20_000, REPEATS=2),
    "server": Small(("--parts", "small"), {"ROWS": 100, "QUESTIONS": 4, "EXCHANGES": 20}),
    "server_http": Small(("--rows", "100"), {"QUESTIONS": 4, "REPEATS": 1}),
    "store": rows(BATCH=100, WORDS=500, CENTRES=20, REOPENINGS=2),
    "tempr_table1": data(QUESTIONS=4, JUDGED=1, CHECKED=2),
    "vector_peers": rows(2_000, QUESTIONS=5),
    "write_path": data(TURNS=5, PIECES=3),
    "tables.ablation": data("--sets", "locomo", "--limit", "2"),
    "tables.abstention": data("--limit", "3"),
    "tables.augmentation": data("--limit", "2"),
    "tables.cited_by_facts": data("--limit", "2", ADDED={"lifebench": -1.0, "locomo": -1.0}),
    "tables.crowd": data("--sets", "locomo", "--limit", "2"),
    "tables.diversity": data("--sets", "locomo", "--limit", "2"),
    "tables.entities": data(
        HALVES={"one": range(1, 2), "other": range(2, 3)},
        read_labels=lambda: defaultdict(lambda: defaultdict(lambda: SOMEBODY)),
    ),
    "tables.episodic_costs": data("--limit", "1", vocabulary=lambda: WORDS),
    "tables.episodic_evidence": data("--limit", "2"),
    "tables.everyday": Small(("--limit", "1")),
    "tables.extraction": data("--limit", "2"),
    "tables.facts_beside": data("--limit", "2"),
    "tables.generalization": data("--sets", "locomo", "updates", "--limit", "4"),
    "tables.late_interaction": data("--limit", "2"),
    "tables.learned_sparse": data("--model", "."),
    "tables.longmemeval": data(),
    "tables.memora_recall": data("--sets", "locomo", "--limit", "2"),
    "tables.memotrace": Small(("--histories", "1"), {"QUESTIONS": 2, "SNAPSHOTS": 1}),
    "tables.memotrace_baselines": Small(
        ("--histories", "1"), {"QUESTIONS": 2, "history": short_history}
    ),
    "tables.mind_recall": data("--limit", "2", ROUNDS=1, OPINIONS=2),
    "tables.multihop": data("--limit", "3"),
    "tables.narrative": data("--limit", "2"),
    "tables.presets": data("--sets", "locomo", "--limit", "2"),
    "tables.satf_tables": data("--sets", "locomo", "--limit", "2"),
    "tables.scifact_keyword": data("--limit", "3"),
    "tables.tempr_table2": data("--limit", "2"),
    "tables.tempr_table3": data("--limit", "2", QUESTIONS=4),
    "tables.thinking_budget": data("--limit", "2"),
    "tables.time_expressions": data(),
    "tables.timeqa_facts": data("--limit", "3"),
}


def scripts() -> list[str]:
    """Return the modules below `bench` that are run as programs, but for those of its libraries."""
    found = [*ROOT.glob("bench/*.py"), *ROOT.glob("bench/tables/*.py")]
    return sorted(
        ".".join(path.relative_to(ROOT / "bench").with_suffix("").parts)
        for path in found
        if '__name__ == "__main__"' in path.read_text("utf-8")
    )


def rivals() -> set[str]:
    """Return the names under which the packages of the extra ``bench`` are imported."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    names = {re.split(r"[><=\[]", each)[0] for each in extras["bench"]}
    return {name.removesuffix("-cpu").removesuffix("io") for name in names}


SLOW = {
    *("adapters", "cold_start", "models", "rebuild", "server", "server_http"),
    *("tables.abstention", "tables.memotrace", "tables.memotrace_baselines"),
    *("tables.extraction", "tables.mind_recall", "tables.tempr_table2"),
}
"""Scripts that take more than two seconds of CPU even when they are run small."""


def cases() -> list[Any]:
    return [
        pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in SCRIPTS
    ]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tiny data sets, and a cache that the scripts share."""
    folder = tmp_path_factory.mktemp("bench")
    tiny_data.write_all(folder / "data")
    return folder


def inline(kind: str) -> SimpleNamespace:
    """Stand in for a context of processes: a pool of threads has the lowered constants too."""
    return SimpleNamespace(Pool=lambda count, **options: ThreadPool(count))


def test_every_script_has_a_small_run() -> None:
    assert sorted(SCRIPTS) == scripts()


@pytest.mark.parametrize("name", cases())
def test_a_script_runs_small(
    name: str,
    shared: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    small = SCRIPTS[name]
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv(rundata.CACHE, str(shared / "cache"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    for variable in latency.THREADS:
        monkeypatch.setenv(variable, "1")
    arguments = [each.replace(DATA, str(shared / "data")) for each in small.arguments]
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    monkeypatch.setattr(recollex, "load_encoder", lambda *arguments: WordVectors())
    with without_rivals():
        module: Any = importlib.import_module(f"bench.{name}")
        for constant, value in small.constants.items():
            assert hasattr(module, constant), constant
            monkeypatch.setattr(module, constant, value)
        if hasattr(module, "multiprocessing"):
            context = SimpleNamespace(get_context=inline)
            monkeypatch.setattr(module, "multiprocessing", context)
        module.main()
    assert small.printed in capsys.readouterr().out


@contextmanager
def without_rivals() -> Iterator[None]:
    """Skip the test if a package of the extra ``bench`` is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in rivals():
            raise
        pytest.skip(f"{error.name} is in the extra bench")
    except SystemExit as error:
        if "is missing: pip install" not in str(error):
            raise
        pytest.skip(str(error))
