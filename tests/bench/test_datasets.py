"""Each loader reads a tiny file of its set's schema, with the faults that the originals have."""

import gzip
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bench import datasets
from bench.datasets import (
    cases,
    locomo,
    longmemeval,
    multihop,
    realmem,
    scifact,
    timeqa,
)
from bench.datasets.bank import Bank, counts, halves
from tests.bench.dataset_files import by_id, write


def conversation(name: str) -> dict[str, Any]:
    return {
        "sample_id": name,
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I got a puppy!"},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Show!", "blip_caption": "a dog"},
            ],
            "session_2_date_time": "2:00 pm on 9 May, 2023",
            "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "He is called Rex."}],
        },
        "qa": [
            {"question": "Whose is Rex?", "evidence": ["D1:1; D2:1"], "category": 1},
            {"question": "When?", "evidence": ["D1:1-2", "D9:9"], "category": 2},
            {"question": "Why?", "evidence": [], "category": 3},
            {"question": "Has Ben a cat?", "evidence": ["D1:2"], "category": 5},
        ],
        "observation": {
            "session_2_observation": {"Ann": [["Ann's dog is Rex.", ["D1:1", "D2:1"]]]},
            "session_1_observation": {"Ann": [["Ann has a puppy.", "D1:1"]]},
        },
    }


def test_locomo(tmp_path: Path) -> None:
    names = [f"conv-{n}" for n in range(6)]
    write(tmp_path / "locomo" / "locomo10.json", [conversation(name) for name in names])
    banks = locomo.load(tmp_path)
    assert [bank.name for bank in banks] == names
    assert [bank.queries[0].split for bank in banks] == ["dev"] * 5 + ["report"]
    bank = banks[0]
    assert bank.agent == "Ann and Ben" and bank.unit == "turn"
    assert bank.document_of == {"D1:1": "D1", "D1:2": "D1", "D2:1": "D2"}
    assert by_id(bank)["D1:2"]["caption"] == "a dog"
    assert [query.evidence for query in bank.queries] == [
        {"D1:1", "D2:1"},
        {"D1:1", "D1:2"},
        set(),
        {"D1:2"},
    ]
    assert [query.answerable for query in bank.queries] == [True, True, True, False]
    assert bank.notes == {"without evidence": 1, "evidence naming no turn": 1}
    assert all(query.visible == 3 for query in bank.queries)
    assert bank.queries[0].asked_at > bank.turns[-1]["at"]


def test_locomo_observations_name_their_turns(tmp_path: Path) -> None:
    write(tmp_path / "locomo" / "locomo10.json", [conversation("conv-1")])
    first, second = locomo.observations(tmp_path)["conv-1"]
    assert (first.session, first.text, first.turns) == ("D1", "Ann has a puppy.", ("D1:1",))
    assert (second.session, second.turns) == ("D2", ("D1:1", "D2:1"))


def turn(speaker: str, content: str, **more: Any) -> dict[str, Any]:
    return {"speaker": speaker, "content": content, "is_query": False, "query_id": None} | more


def test_realmem_sees_what_came_before(tmp_path: Path) -> None:
    asks = {"is_query": True, "query_id": "Q-1", "category_name": "Dynamic Updating"}
    sessions = [
        ("s1", "2025-12-15 (Monday)", [turn("User", "I like tea."), turn("Assistant", "")]),
        (
            "s2",
            "2025-12-15 (Monday)",
            [
                turn("User", "Hello."),
                turn("User", "What do I like?", **asks),
                turn("Assistant", "Tea.", memory_session_uuids=["s1", "s2", "s3"]),
            ],
        ),
        ("s3", "2025-12-16 (Tuesday)", [turn("User", "Coffee, now.")]),
    ]
    raw = {
        "_metadata": {"person_name": "Ann_Lee"},
        "dialogues": [
            {"session_uuid": id, "current_time": day, "dialogue_turns": turns}
            for id, day, turns in sessions
        ],
    }
    for name in "ABC":
        write(tmp_path / "realmem" / f"{name}_dialogues_256k.json", raw)
    banks = realmem.load(tmp_path)
    assert [bank.queries[0].split for bank in banks] == ["dev", "dev", "report"]
    bank, (query,) = banks[0], banks[0].queries
    assert bank.unit == "document" and bank.agent == "Ann Lee"
    assert [turn["id"] for turn in bank.turns] == ["s1:0", "s2:0", "s2:1", "s2:2", "s3:0"]
    assert query.evidence == {"s1"}
    assert query.visible == 2  # neither the query nor its answer
    assert bank.notes == {"empty turns": 1, "evidence not yet said": 2}
    assert by_id(bank)["s2:0"]["at"] == datetime(2025, 12, 15, 9, 20, tzinfo=UTC)
    assert query.asked_at == by_id(bank)["s2:1"]["at"]


def test_realmem_without_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="_dialogues_"):
        realmem.load(tmp_path)


def test_timeqa_pools_its_pages(tmp_path: Path) -> None:
    none = {"para": 0, "from": 0, "end": 0, "answer": ""}
    page = {
        "link": "/wiki/Ann",
        "type": "P39",
        "paras": ["Ann", "She was mayor from 1990 to 1994 ."],
        "questions": [
            ["Ann was what in 1992?", [{"para": 1, "from": 4, "end": 9, "answer": "mayor"}]],
            ["Ann was what in 2000?", [none]],
        ],
    }
    twice = page | {"index": "/wiki/Ann#P27", "questions": [["Of where was Ann?", [none]]]}
    write(
        tmp_path / "timeqa" / "human_annotated_train.json",
        [page | {"index": "/wiki/Ann#P39"}, twice],
    )
    (bank,) = timeqa.load(tmp_path)
    assert [turn["id"] for turn in bank.turns] == ["/wiki/Ann:0", "/wiki/Ann:1"]
    assert [query.evidence for query in bank.queries] == [{"/wiki/Ann:1"}, set(), set()]
    assert [query.answerable for query in bank.queries] == [True, False, False]
    assert [query.split for query in bank.queries] == ["dev", "dev", "report"]
    assert len({query.id for query in bank.queries}) == 3


def test_multihop(tmp_path: Path) -> None:
    folder = tmp_path / "multihop"
    for stem, kind in (("musique", None), ("2wikimultihopqa", "comparison")):
        write(folder / f"{stem}_corpus.json", [{"idx": 0, "title": "Ann", "text": "Born 1990."}])
        question = {"id": "2hop__1_2", "question": "When?", "type": kind, "supporting_idx": [0]}
        write(folder / f"{stem}_questions.json", [question, question])
    (musique,) = multihop.load_musique(tmp_path)
    (wiki,) = multihop.load_2wiki(tmp_path)
    assert [query.category for query in musique.queries] == ["2hop", "2hop"]
    assert [query.split for query in wiki.queries] == ["dev", "report"]
    assert wiki.queries[0].category == "comparison" and wiki.queries[0].evidence == {"0"}
    assert musique.turns[0]["text"] == "Ann\nBorn 1990." and musique.turns[0]["document"] == "Ann"


def test_scifact_reports_on_judged_claims_alone(tmp_path: Path) -> None:
    folder = tmp_path / "scifact"
    folder.mkdir()
    documents = [{"_id": "7", "title": "On tea", "text": "It is hot."}]
    claims = [
        {"_id": "1", "text": "Tea is hot.", "split": "dev", "cited_doc_ids": []},
        {"_id": "2", "text": "Tea is cold.", "split": "train", "cited_doc_ids": [7, 8]},
        {"_id": "3", "text": "Tea is blue.", "split": "test", "cited_doc_ids": []},
    ]
    for name, rows in (("corpus", documents), ("queries", claims)):
        text = "\n".join(json.dumps(row) for row in rows)
        (folder / f"{name}.jsonl").write_text(text)
    (folder / "beir_qrels_test.tsv").write_text("query-id\tcorpus-id\tscore\n1\t7\t1\n1\t9\t0\n")
    (bank,) = scifact.load(tmp_path)
    assert bank.turns[0]["text"] == "On tea It is hot."
    assert [(q.id, q.split) for q in bank.queries] == [("2", "dev"), ("1", "report")]
    assert [q.evidence for q in bank.queries] == [{"7"}, {"7"}]


def haystack(id: str) -> dict[str, Any]:
    return {
        "question_id": id,
        "question_type": "multi-session",
        "question": "What do I drink?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["b", "a", "b"],
        "haystack_dates": [
            "2023/05/21 (Sun) 10:00",
            "2023/05/20 (Sat) 02:21",
            "2023/05/21 (Sun) 10:00",
        ],
        "haystack_sessions": [
            [{"role": "user", "content": "Tea.", "has_answer": True}],
            [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": " "}],
            [{"role": "user", "content": "Tea."}],
        ],
        "answer_session_ids": ["b"],
    }


def test_longmemeval(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="longmemeval_s"):
        longmemeval.load(tmp_path)
    write(tmp_path / "longmemeval" / "longmemeval_s.json", [haystack("q1"), haystack("q2_abs")])
    first, second = longmemeval.load(tmp_path)
    assert [turn["id"] for turn in first.turns] == ["a:0", "b:0"]
    assert first.turns[0]["at"] == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
    assert first.notes == {"empty turns": 1, "sessions there twice": 1}
    assert first.queries[0].evidence == {"b"} and first.queries[0].answerable
    assert not second.queries[0].answerable
    assert (first.queries[0].split, second.queries[0].split) == ("dev", "report")


def test_halves_and_counts() -> None:
    assert halves(3) == ["dev", "dev", "report"] and halves(0) == []
    assert counts([Bank("x", "y", "z", (), (), "turn", {"odd": 2})]).endswith("odd 2")


@pytest.mark.skipif("RECOLLEX_DATA" not in os.environ, reason="RECOLLEX_DATA names no data")
def test_the_originals_have_the_known_counts() -> None:
    banks = datasets.load(Path(os.environ["RECOLLEX_DATA"]))
    found: dict[str, list[int]] = {}
    for bank in banks:
        row = found.setdefault(bank.dataset, [0, 0, 0, 0])
        proved = [query for query in bank.queries if query.evidence]
        assert len({turn["id"] for turn in bank.turns}) == len(bank.turns)
        known = set(bank.document_of.values() if bank.unit == "document" else bank.document_of)
        assert all(query.evidence <= known for query in proved)
        for place, value in enumerate((1, len(bank.turns), len(bank.queries), len(proved))):
            row[place] += value
    assert found == {
        "locomo": [10, 5882, 1986, 1982],
        "realmem": [5, 7105, 728, 728],
        "lifebench": [3, 19157, 589, 576],
        "timeqa": [1, 15491, 1171, 982],
        "musique": [1, 5021, 300, 300],
        "2wiki": [1, 4306, 657, 657],
        "scifact": [1, 5183, 1109, 1109],
    }


def case(name: str) -> dict[str, Any]:
    memories = [
        {"id": "0", "text": "I live in Rome.", "at": "2024-01-05T00:00:00", "speaker": "user"},
        {"id": "1", "text": "Noted.", "at": None, "speaker": "assistant"},
        {"id": "2", "text": "Rome is old.", "at": None, "speaker": "document"},
    ]
    questions = [
        {"q": "Where?", "gold": ["0", "lost"], "type": "fact"},
        {"q": "Who?", "gold": ["0"], "type": "fact", "none": True},
        {"q": "When?", "gold": ["0"], "type": "time", "before": 1, "now": "2024-12"},
    ]
    said = [memory | {"session": "s"} for memory in memories]
    return {"bank": name, "memories": said, "questions": questions}


def test_cases(tmp_path: Path) -> None:
    path = tmp_path / "cases" / "office.jsonl.gz"
    path.parent.mkdir()
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for name in ("a", "b"):
            file.write(json.dumps(case(name)) + "\n")
    banks = datasets.load(tmp_path, ["office"])
    assert [bank.name for bank in banks] == ["a", "b"]
    assert [{query.split for query in bank.queries} for bank in banks] == [{"dev"}, {"report"}]
    assert [turn.get("speaker") for turn in banks[0].turns] == ["user", "assistant", None]
    when, where, who = banks[0].queries  # in the order in which they see the bank
    assert (when.visible, when.asked_at) == (1, datetime(2025, 1, 1, tzinfo=UTC))
    assert where.asked_at == datetime(2024, 1, 6, tzinfo=UTC)
    assert (where.evidence, who.evidence, who.answerable) == ({"0"}, frozenset(), False)
    assert banks[0].notes == {"evidence that is not in the bank": 1}


def test_one_bank_is_split_by_question(tmp_path: Path) -> None:
    path = tmp_path / "cases" / "office.jsonl.gz"
    path.parent.mkdir()
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(json.dumps(case("a")) + "\n")
    (bank,) = cases.load(tmp_path, "office")
    assert sorted(query.split for query in bank.queries) == ["dev", "dev", "report"]
