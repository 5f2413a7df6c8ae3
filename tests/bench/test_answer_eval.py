"""Answers and their measures: each against an oracle, and the whole way against a script."""

import doctest
import json
import math
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex
from bench import answer_eval
from bench.answer_eval import NOT_A_RESULT, evaluate, table
from bench.lib import answer_metrics, answering
from bench.lib.answer_metrics import (
    bleu_1,
    exact_match,
    exact_without_spaces,
    is_refusal,
    normal,
    token_f1,
)
from tests.bench.dataset_files import write
from tests.bench.locomo_conversation import CONVERSATION
from tests.bench.test_answer_sets import complex_item, time_item
from tests.bindings.word_vectors import WordVectors
from tests.scripted_llm import Scripted, Step, error, scripted

needs_llm = pytest.mark.skipif(
    find_spec("openai") is None or find_spec("pydantic") is None,
    reason="needs the extra: recollex[llm]",
)
WORDS = st.lists(st.sampled_from(["red", "kite", "two", "may", "1902"]), max_size=6).map(" ".join)


def test_the_examples_in_the_docstrings_run() -> None:
    assert doctest.testmod(answer_metrics).failed == 0


def oracle_bleu(said: list[str], right: list[str]) -> float:
    """Papineni et al., section 2, with unigrams: clipped precision and brevity penalty."""
    if not said:
        return 0.0
    clipped = sum(min(said.count(word), right.count(word)) for word in set(said))
    penalty = 1.0 if len(said) > len(right) else math.exp(1 - len(right) / len(said))
    return penalty * clipped / len(said)


@settings(deadline=None)
@given(WORDS, WORDS)
def test_the_measures_equal_their_formulas(said: str, right: str) -> None:
    assert bleu_1(said, [right]) == pytest.approx(oracle_bleu(said.split(), right.split()))
    same = sum((Counter(said.split()) & Counter(right.split())).values())
    expected = float(said.split() == right.split())
    if said and right:
        precision, recall = same / len(said.split()), same / len(right.split())
        expected = 2 * precision * recall / (precision + recall) if same else 0.0
    assert token_f1(said, [right]) == pytest.approx(expected)
    assert exact_match(said, [right]) == float(said == right)


def test_the_measures_by_hand() -> None:
    # the answer of Papineni's example, against its first reference: 2 of 7 once clipped
    the = "the the the the the the the"
    assert bleu_1(the, ["The cat is on the mat"]) == pytest.approx(2 / 7)
    assert bleu_1("a red kite", ["a red kite in May"]) == pytest.approx(math.exp(1 - 5 / 3))
    assert bleu_1("red", ["a blue kite", "red"]) == 1.0
    assert token_f1("the red kite", ["a red kite.", "blue"]) == 1.0
    assert token_f1("red kite", ["red kite in May"]) == pytest.approx(2 * 2 / (2 + 4))
    assert (exact_match("The Kite!", ["kite"]), exact_match("kites", ["kite"])) == (1.0, 0.0)
    assert exact_without_spaces("E1, E2.", ["E1,E2"]) == 1.0
    assert exact_without_spaces("E1,E3", ["E1,E2"]) == 0.0
    assert (token_f1("x", []), bleu_1("x", []), bleu_1("", ["x"])) == (0.0, 0.0, 0.0)
    assert is_refusal("") and is_refusal("No information available") and not is_refusal("Oslo")
    assert normal("A  cat, the dog") == "cat dog"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    asked = [
        {"question": "Which kite?", "answer": "a red kite", "evidence": ["D1:1"], "category": 4},
        {"question": "When was Bo there?", "evidence": ["D1:2"], "category": 5},
    ]
    talk = {"sample_id": "conv-1", "conversation": CONVERSATION, "qa": asked}
    write(folder / "locomo" / "locomo10.json", [talk])
    items = [complex_item("L2_Q1_P108_0", ["Nord College (Oslo)"])]
    write(folder / "complex_tr" / "test.json", items)
    write(folder / "test_of_time" / "test.json", [time_item("Who was it after E92?", "E7, E8")])
    return folder


def answers(sent: Any) -> Step:
    text = sent["messages"][-1]["content"]
    if "The answer to judge" in text:
        return Step({"right": "Nord College" not in text, "reason": "so it is"})
    if "Which kite?" in text:
        return Step("The red kite")
    if "Bo" in text:
        return Step("No information available.")
    return Step("E7,E8") if "E92" in text else error(500)


def run(
    data: Path, served: Scripted, judged: bool = True, **options: Any
) -> answer_eval.Evaluation:
    sets = ["locomo", "longmemeval", "complex_tr", "test_of_time"]
    with recollex.llm("m", base_url=served.url, attempts=1) as model:
        critic = model if judged else None
        found = evaluate(data, sets, model, critic, embedder=WordVectors(), **options)
        page = table(found, False, model, critic, 4096)
    assert page.settings["model"] == "m"
    return found


@needs_llm
def test_a_whole_run_against_a_scripted_model(data: Path) -> None:
    with scripted(answers) as served:
        found = run(data, served)
    locomo, adversarial = found.answers["locomo"]
    assert locomo.values == {"F1": 1.0, "BLEU-1": pytest.approx(2 / 3), "EM": 1.0, "judge": 1.0}
    assert adversarial.query.answerable is False
    assert adversarial.values == {"F1": 1.0, "BLEU-1": 1.0, "EM": 1.0, "judge": 1.0}
    [failed] = found.answers["complex_tr"]
    assert failed.failed and set(failed.values.values()) == {0.0}
    assert found.answers["test_of_time"][0].values["EM"] == 1.0
    assert found.absent[0].startswith("longmemeval: none of longmemeval_s_cleaned.json")
    prompt = served.prompt(0)
    assert "Ann: Look!" in prompt and "The question: Which kite?" in prompt
    judging = next(text for text in map(served.prompt, range(9)) if "to judge: The red" in text)
    assert "The right answer: a red kite" in judging


@needs_llm
def test_without_a_judge_there_are_no_verdicts(data: Path) -> None:
    with scripted(answers) as served:
        found = run(data, served, judged=False, limit=1)
    [only] = found.answers["locomo"]
    assert "judge" not in only.values


@needs_llm
def test_the_command_with_a_script_says_that_it_is_no_result(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(answer_eval, "KeptVectors", WordVectors)
    out = tmp_path / "answers.json"
    line = ["answer_eval", "--data", str(data), "--scripted", "--json", str(out)]
    monkeypatch.setattr(sys, "argv", line)
    answer_eval.main()
    assert NOT_A_RESULT in capsys.readouterr().out
    kept = json.loads(out.read_text("utf-8"))
    assert kept["claim"] == NOT_A_RESULT and NOT_A_RESULT in kept["remarks"]
    assert kept["settings"]["prompts"] == answering.VERSION
    titles = [section["title"] for section in kept["sections"]]
    assert titles == ["locomo", "complex_tr", "test_of_time"]
