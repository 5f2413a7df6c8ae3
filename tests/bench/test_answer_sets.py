"""The loaders of REALTALK, Complex-TR and Test of Time, on files of their published schemas."""

import doctest
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bench.datasets import complex_tr, locomo, longmemeval, realtalk, test_of_time
from tests.bench.dataset_files import write

FACTS = """Ada Berg worked for Acme Labs from January 1902 to January 1906.
 Ada Berg worked for Nord College  (Oslo) from January 1906 to January 1911.
 Ada Berg worked for Acme Labs from January 1902 to January 1906."""


def complex_item(id: str, answers: list[str]) -> dict[str, Any]:
    return {
        "id": id,
        "question": "Which employer did Ada Berg work for in March 1907?",
        "text_answers": {"text": answers, "answer_start": []},
        "fact_context": FACTS,
        "context": "Ada Berg was a chemist.",
        "passages": [{"title": "Ada Berg", "text": "Ada Berg was a chemist."}],
    }


def test_complex_tr(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"test_gold_gcs\.json"):
        complex_tr.load(tmp_path)
    items = [
        complex_item("L2_Q1_P108_0", ["Nord College (Oslo)"]),
        complex_item("L3H_Q1_P108_P69_1", ["Acme Labs", "Nord College"]),
        complex_item("L2M_Q1_P108_2", []),
    ]
    path = tmp_path / "complex_tr" / "test_gold_gcs.json"
    path.parent.mkdir()
    path.write_text("\n".join(map(json.dumps, items)), "utf-8")
    first, second, third = complex_tr.load(tmp_path)
    assert [turn["text"] for turn in first.turns] == [
        "Ada Berg worked for Acme Labs from January 1902 to January 1906.",
        "Ada Berg worked for Nord College (Oslo) from January 1906 to January 1911.",
    ]
    (one,), (two,), (none,) = first.queries, second.queries, third.queries
    assert (one.answers, one.category, one.visible) == (
        ("Nord College (Oslo)",),
        "time to event, one hop, one answer",
        2,
    )
    assert two.answers == ("Acme Labs and Nord College",)
    assert two.category == "event to event, several hops, several answers"
    assert (none.answers, none.answerable) == ((), False)
    assert [one.split, none.split] == ["dev", "report"]


def chat(*sessions: list[tuple[str, str, str, str]], qa: list[dict[str, Any]]) -> dict[str, Any]:
    """A chat of REALTALK; a message is (id, speaker, text, caption)."""
    said: dict[str, Any] = {"name": {"speaker_1": "Emi", "speaker_2": "Kurt"}}
    for number, session in enumerate(sessions, 1):
        said[f"session_{number}_date_time"] = f"{number:02}.01.2024, 10:00:00"
        said[f"events_session_{number}"] = {"agent_a": [], "agent_b": []}
        said[f"session_{number}"] = [
            {
                "clean_text": text,
                "speaker": speaker,
                "date_time": f"{number:02}.01.2024, 10:00:{place:02}",
                "dia_id": id,
                **({"blip_caption": caption} if caption else {}),
            }
            for place, (id, speaker, text, caption) in enumerate(session)
        ]
    return said | {"qa": qa}


def test_realtalk(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="Chat_1"):
        realtalk.load(tmp_path)
    asked = {"question": "What does Emi row?", "answer": "A kayak", "evidence": ["D2:1; D10:1"]}
    files = {
        "Chat_10_Emi_Kurt.json": chat([("D1:1", "Emi", "Hi!", "")], qa=[]),
        "Chat_2_Emi_Kurt.json": chat(
            [("D1:1", "Kurt", "Hello  Emi.", ""), ("D1:2", "Emi", "", "a red kayak")],
            [("D2:1", "Emi", "I row this.", ""), ("D2:2", "Emi", "", "")],
            qa=[asked | {"category": 1}, {**asked, "category": 2, "evidence": []}],
        ),
    }
    for name, said in files.items():
        write(tmp_path / "realtalk" / name, said)
    second, tenth = realtalk.load(tmp_path)
    assert (second.name, second.agent, tenth.name) == ("chat-2", "Kurt and Emi", "chat-10")
    assert [(turn["id"], turn["text"], turn["document"]) for turn in second.turns] == [
        ("D1:1", "Hello Emi.", "D1"),
        ("D1:2", "(a picture)", "D1"),
        ("D2:1", "I row this.", "D2"),
    ]
    assert second.turns[1]["caption"] == "a red kayak"
    assert second.turns[2]["at"] == datetime(2024, 1, 2, 10, tzinfo=UTC)
    one, two = second.queries
    assert (one.evidence, one.category, one.answers) == ({"D2:1"}, "multi-hop", ("A kayak",))
    assert (two.evidence, two.category, two.visible) == (frozenset(), "temporal", 3)
    assert one.asked_at > second.turns[2]["at"]
    assert second.notes == {
        **{"messages without text": 1, "without evidence": 1},
        "evidence naming no turn": 1,
    }
    assert [one.split, len(tenth.queries)] == ["dev", 0]


def time_item(question: str, label: str) -> dict[str, Any]:
    prompt = (
        "Here are some facts about time.\n\nE92 was the R17 of E69 from 1980 to 1985.\n"
        "E7 was the R17 of E69 from 1986 to 1990.\nE92 was the R17 of E69 from 1980 to 1985.\n\n"
        f"{question} Answer with JSON."
    )
    return {
        "question": question,
        "graph_gen_algorithm": "er",
        "question_type": "before_after",
        "sorting_type": "shuffle",
        "prompt": prompt,
        "label": label,
    }


@pytest.mark.parametrize("name", ["tot_semantic.jsonl", "tot_semantic.json"])
def test_test_of_time(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileNotFoundError, match=r"tot_semantic\.jsonl"):
        test_of_time.load(tmp_path)
    items = [time_item("Who was the R17 of E69 after E92?", "E7"), time_item("When?", "1980")]
    path = tmp_path / "test_of_time" / name
    if name.endswith("l"):
        path.parent.mkdir()
        path.write_text("\n".join(map(json.dumps, items)), "utf-8")
    else:
        write(path, items)
    first, second = test_of_time.load(tmp_path)
    assert [turn["text"] for turn in first.turns] == [
        "E92 was the R17 of E69 from 1980 to 1985.",
        "E7 was the R17 of E69 from 1986 to 1990.",
    ]
    (query,) = first.queries
    assert (query.answers, query.category, query.visible) == (("E7",), "before_after", 2)
    assert second.queries[0].answers == ("1980",)


def test_the_examples_in_the_docstrings_run() -> None:
    for module in (complex_tr, test_of_time, locomo, longmemeval):
        assert doctest.testmod(module).failed == 0
