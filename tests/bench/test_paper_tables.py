"""The tables that stand beside the papers': their printed numbers, and what ours count."""

import json
import urllib.request
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import recollex
from bench import memora_scale
from bench.lib.counting_endpoint import counting_endpoint
from bench.lib.kept_vectors import KeptVectors
from bench.lib.rundata import environment
from bench.lib.storage_parts import PARTS, part_of, storage_parts
from bench.tables import memora_recall, memotrace_baselines, satf_tables, tempr_table2
from bench.tables.lib.trials import trials
from tests.bench.made_up_bank import START, made_up_bank

BANK = made_up_bank("one", "dev", "What froze?", "t2")


def test_every_run_names_the_token_counter() -> None:
    assert environment()["token_counter"] in ("cl100k_base", "wordpiece")


def test_the_parts_of_a_store_are_all_of_it(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        ann = store.agent("ann")
        vectors = np.eye(8, dtype=np.float32)
        ann.retain_many([f"Ann met Bob {n}" for n in range(8)], embedding=vectors)
        ann.checkpoint()
        folder = tmp_path / "agents" / "ann"
        sizes = storage_parts(folder)
        files = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert sum(sizes.values()) == files and set(sizes) == set(PARTS)
    assert all(sizes[name] for name in PARTS if name not in ("other", "log"))
    told = {"columns/code4": "vector index", "columns-2/terms.heap": "words", "HEAD": "other"}
    told |= {"columns/text_offset": "texts", "columns/mention_memory": "links", "log/1": "log"}
    told |= {"vectors-2.f16": "embeddings", "graphs/hnsw-1": "vector index"}
    told |= {"columns/trust": "metadata", "columns/tokens": "metadata"}
    assert {name: part_of(Path(name)) for name in told} == told


def test_the_endpoint_counts_its_calls() -> None:
    with counting_endpoint() as calls:
        sent = json.dumps({"messages": [{"role": "user", "content": "when?"}]}).encode()
        for _ in range(2):
            with urllib.request.urlopen(f"{calls.url}/chat/completions", sent) as answer:
                said = json.load(answer)["choices"][0]["message"]["content"]
    assert json.loads(said)["found"] is False
    assert (calls.count, calls.characters) == (2, 10)


def test_satf_differences_as_printed_are_those_of_its_columns() -> None:
    for name, (_, alone, both, more) in satf_tables.PAPER_TABLE_2.items():
        assert both - alone == pytest.approx(more, abs=0.0011), name
    activated = [(n, share) for n, share, *_ in satf_tables.PAPER_TABLE_3.values()]
    assert sum(n for n, _ in activated) == 470
    assert sum(n * share for n, share in activated) / 470 == pytest.approx(0.947, abs=0.002)
    assert [section.title.split(":")[0] for section in satf_tables.printed()] == [
        *("Table 1 as printed", "Table 2 as printed", "Table 3 as printed")
    ]


def test_tempr_has_one_filled_row_and_says_which_cells_are_empty() -> None:
    rows = tempr_table2.printed("Table 2", tempr_table2.PRINTED).rows
    assert [row["Overall"] for row in rows] == [73.50, *[tempr_table2.EMPTY] * 5]


def test_precision_has_the_ceiling_of_its_evidence(kept: KeptVectors) -> None:
    found = trials([BANK], memora_recall.LISTS, kept, memora_recall.MEASURES)
    rows = memora_recall.rows(found)
    assert [row["list"] for row in rows[:3]] == [each["list"] for each in memora_recall.PRINTED]
    ceiling = next(row for row in rows if row["list"] == "ceiling")
    queries = found["default"].scored.queries
    assert ceiling["P@5"] == pytest.approx(
        np.mean([min(5, len(query.evidence)) / 5 for query in queries])
    )
    for row in rows[4 : 4 + len(memora_recall.LISTS)]:
        assert row["P@5"].mean <= ceiling["P@5"] + 1e-9


def test_satf_takes_any_set(kept: KeptVectors) -> None:
    banks = [replace(BANK, dataset="made up")]
    asked = satf_tables.with_stages() | satf_tables.varied()
    found = trials(banks, asked, kept, satf_tables.MEASURES, read=satf_tables.activated, unit=None)
    sections = satf_tables.tables("made up", "made up, dev", found)
    assert sections[0].title.startswith("Table 1, all questions")
    assert all(row["model calls"] == 0 for row in sections[0].rows)


def test_memoras_twelve_statements_are_there_and_say_what_was_not_run() -> None:
    recalls = [{"system": "made up, default", "memories": 10_000, "p50 ms": 0.3}]
    callers = [{"memories": 10_000, "callers": 100, "recalls/s": 2000.0}]
    sizes = dict.fromkeys(PARTS, 1_000_000)
    rows = memora_scale.statements(
        recalls, callers, [{"memories": 1000} | memora_scale.per_thousand(sizes, 1000)]
    )
    assert len(rows) == 12
    here = {row["statement"]: row["here"] for row in rows}
    assert here["10,000 memories: retrieval, ms"] == 0.3
    assert here["100,000 memories: retrieval, ms"] == "not run"
    assert here["1,000 memories: embeddings, MB"] == 2.0
    assert here["1,000 memories: total, MB"] == len(PARTS)
    assert {row["here"] for row in memora_scale.statements([], [], [])} >= {"not run"}


def test_a_reader_takes_the_object_that_a_turn_names_last() -> None:
    lines = {
        "a": SimpleNamespace(at=START),
        "b": SimpleNamespace(at=START + timedelta(days=1)),
    }
    heard: Any = SimpleNamespace(lines=lines)
    read = [
        ("b", "Actually I was wrong about Carl: it is not Oslo but Ghent.", 9),
        ("a", "Carl moved to Oslo on 3 May 2023.", 9),
        ("a", "Dana moved to Lyon.", 9),
    ]
    said = memotrace_baselines.told_of(heard, read, "Carl", "lives_in")
    assert max(said)[1] == "Ghent" and {name for _, name in said} == {"Ghent", "Oslo"}


def test_calibration_is_that_of_brier() -> None:
    own, constant = memotrace_baselines.calibration([(0.9, True), (0.4, False)])
    assert own["Brier"] == pytest.approx((0.01 + 0.16) / 2)
    assert own["ECE"] == pytest.approx((0.1 + 0.4) / 2)
    assert constant["Brier"] == pytest.approx(0.25)
