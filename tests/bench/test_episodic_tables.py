"""Temporal categories by rule, the correlation of measures with people, evidence by tools."""

import json
import math
from pathlib import Path

import pytest

from bench.datasets import human_judgements
from bench.lib.kept_vectors import KeptVectors
from bench.lib.temporal_categories import CATEGORIES, temporal_category
from bench.tables import episodic_evidence
from tests.bench.made_up_bank import made_up_bank

QUESTIONS = {
    "When did Ann paint a sunrise?": "Event Timing",
    "In which year did Ann move?": "Event Timing",
    "How long has Ann had her cat for?": "Duration",
    "How many months passed between both moves?": "Duration",
    "How many times has Ann gone to the beach in 2023?": "Aggregation",
    "Did Ann have a dog during March 2023?": "Existence Check",
    "What did Ann buy in May 2023?": "Event Attributes",
    "What did Ann do after the road trip?": "Order",
    "Where did Ann hide her bone?": "Non-temporal",
    "How many cats has Ann?": "Non-temporal",
}


@pytest.mark.parametrize(("question", "category"), QUESTIONS.items())
def test_categories(question: str, category: str) -> None:
    assert temporal_category(question) == category and category in CATEGORIES


def test_people_and_measures_correlate(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    told = [("Rome", "Rome", 1, 1), ("Oslo", "Rome", 0, 0), ("in Rome", "Rome", 1, 0)]
    path.write_text(
        "\n".join(
            json.dumps({"question": "Where?", "gold": g, "answer": a, "human": h, "judge": j})
            for a, g, h, j in told
        )
    )
    found = human_judgements.correlations(human_judgements.load(path))
    assert found["judge"]["mean"] == pytest.approx(1 / 3)
    assert found["judge"]["Pearson"] == pytest.approx(0.5)
    assert found["judge"]["Spearman"] == pytest.approx(0.5)
    assert found["F1"]["Pearson"] > 0.8
    path.write_text('{"question": "?", "gold": "a", "answer": "a", "human": 2}')
    with pytest.raises(ValueError, match="line 1: human"):
        human_judgements.load(path)
    path.write_text('\n{"question": "?", "gold": "a", "answer": "a", "human": 1}\n')
    (one,) = human_judgements.load(path)
    assert one.judge is None
    assert math.isnan(human_judgements.correlations([one])["F1"]["Pearson"])


def test_tools_and_recall_find_evidence(kept: KeptVectors) -> None:
    bank = made_up_bank("one", "report", "What froze?", "t2")
    rows, tokens = episodic_evidence.measure([bank], lambda query: query.category, kept, None)
    total = rows[-1]
    asked = sum(bool(query.evidence) for query in bank.queries)
    assert (total["type"], total["questions"]) == ("all", asked)
    assert sum(row["questions"] for row in rows[:-1]) == asked
    assert all(total[name].mean > 0.5 for name in episodic_evidence.METHODS) and tokens > 0
