import argparse
import ast
import json
from pathlib import Path

import pytest

from bench.lib import made_up
from bench.lib.latency import Bound, Page, Section, System, claim, finish, race, table
from bench.lib.rundata import number
from bench.lib.stages import Timed

BENCHES = sorted(Path(__file__).parents[2].joinpath("bench").glob("*.py"))


def test_systems_answer_every_question_in_turns():
    asked = []
    systems = [
        System("a", lambda question: asked.append(("a", question))),
        System("b", lambda question: 7.0, reported=lambda answer: answer),
        System("c", lambda question: asked.append(("c", question)), prepare=str),
    ]
    found = race(systems, [1, 2], repeats=3)
    names = ("p50", "p95", "p99", "best p50", "best p95", "best p99")
    assert found["b"] == dict.fromkeys(names, 7.0) | {"n": 6}
    assert found["a"]["n"] == found["c"]["n"] == 6
    first, *rounds = [asked[4 * n : 4 * n + 4] for n in range(4)]
    assert first == rounds[0] == [("a", 1), ("a", 2), ("c", "1"), ("c", "2")]


def test_the_best_is_of_each_question_over_the_rounds():
    told = iter([9.0, 9.0, 5.0, 1.0, 2.0, 8.0, 7.0])
    system = System("a", lambda question: None, reported=lambda answer: next(told))
    found = race([system], ["x", "y"], repeats=3)["a"]
    assert (found["best p50"], found["p50"]) == (1.5, 6.5)


def test_a_slow_system_stops_after_its_seconds():
    found = race([System("slow", lambda question: sum(range(100_000)))], range(60), seconds=0.0)
    assert found["slow"]["n"] == 20


@pytest.mark.parametrize(
    ("measured", "limit", "least", "held"),
    [
        (2.0, 2.0, False, True),
        (2.1, 2.0, False, False),
        (2.0, 2.0, True, True),
        (1, 2, True, False),
    ],
)
def test_a_bound_holds_up_to_its_limit(measured, limit, least, held):
    assert Bound("it", measured, limit, least).held is held


def test_the_claim_is_a_paragraph_of_the_docstring():
    assert claim("Q?\n\nClaim: fast, and\nsmall.\n\nCommand: x") == "Fast, and small."


@pytest.mark.parametrize(
    "script", [path for path in BENCHES if "    finish(" in path.read_text()], ids=lambda p: p.stem
)
def test_every_table_says_what_it_claims_and_how_to_run_it(script):
    document = ast.get_docstring(ast.parse(script.read_text()))
    assert claim(document)
    assert f"Command: python -m bench.{script.stem}" in document


def test_cells_show_three_digits():
    shown = [number(cell) for cell in ("us", 1_234_567, 1234.5, 0.012345, 1.0, 99.96)]
    assert shown == ["us", "1,234,567", "1,234", "0.0123", "1", "100"]
    assert table([{"a": 1}, {"b": "x"}])[2:] == ["| 1 |  |", "|  | x |"]


def test_a_page_is_kept_as_json_and_markdown_and_missed_bounds_are_told(tmp_path, capsys):
    out = tmp_path / "runs" / "it.json"
    arguments = argparse.Namespace(json=False, out=out)
    rows = [{"system": "recollex", "p50 us": 1.5}]
    bounds = [Bound("fast", 2, 1), Bound("near", 1, 1)]
    finish(Page("it", "It holds.", "python it", [Section("All", rows)], bounds), arguments)
    kept = json.loads(out.read_text())
    assert kept["sections"][0]["rows"] == rows
    assert [bound["held"] for bound in kept["bounds"]] == [False, True]
    page = out.with_suffix(".md").read_text()
    assert "| recollex | 1.5 |" in page and "| fast | <= 1 | 2 | **no** |" in page
    assert page.strip() == capsys.readouterr().out.strip()


def test_shares_are_of_the_time_of_whole_recalls():
    spent = Timed({"a": [1000.0, 3000.0], "b": [500.0, 500.0]}, [2000.0, 8000.0])
    rows = spent.rows({"b": "second", "a": "first", "c": "never"}, unit=1000)
    assert [(row["stage"], row["share"]) for row in rows] == [("second", 0.1), ("first", 0.4)]
    assert rows[1]["p50"] == 2.0
    assert spent.total("all", 1000)["share"] == 1.0


def test_memories_are_the_same_whatever_was_made_before():
    whole = list(made_up.batches(5_000))
    again = list(made_up.batches(5_000))
    assert [len(batch) for batch in whole] == [2_000, 2_000, 1_000]
    assert whole[1].fields()["texts"] == again[1].texts
    assert (whole[2].vectors == made_up.vectors(2, 1_000)).all()
    assert 90 < sum(map(len, whole[0].texts)) / 2_000 < 110


def test_questions_have_a_frequent_and_a_rare_word():
    for question in made_up.questions(5_000, 20):
        assert 3 <= len(question.words) <= 8 and len(set(question.words)) == len(question.words)
        assert min(question.words) < 100 and max(question.words) >= 3_000
