"""A folder of data sets in the form of the real ones, each with a few turns and questions."""

import csv
import gzip
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bench.datasets.cases import NAMES

PEOPLE = ("Ann", "Ben")
DEEDS = ("painted", "lost", "bought", "repaired", "sold", "found", "drew", "broke")
THINGS = ("kite", "piano", "canoe", "lamp", "bicycle", "sweater", "telescope", "kettle")
PLACES = ("Rome", "Oslo", "Ghent", "Lyon", "Porto", "Turin", "Basel")
CONVERSATIONS, SESSIONS, TURNS = 6, 2, 7
START = datetime(2023, 3, 1, 9)


def said(number: int) -> str:
    """Return a sentence; numbers below 56 have different things and places together."""
    deed, thing = DEEDS[number % 8], THINGS[number % 8]
    return f"I {deed} the {thing} in {PLACES[number % 7]} with Carol."


def asked(number: int) -> str:
    return f"Where did somebody have the {THINGS[number % 8]} of {PLACES[number % 7]}?"


def write_all(data: Path) -> None:
    """Write every set below ``data``."""
    _write(data / "locomo" / "locomo10.json", [_conversation(n) for n in range(CONVERSATIONS)])
    _write_irc(data / "irc" / "messages.jsonl.gz")
    for name in ("Ann_A", "Ben_B", "Cy_C", "Dana_D"):
        _write(data / "realmem" / f"{name}_dialogues_256k.json", _persona(name))
    for user in ("a", "b", "c"):
        _write_phone(data / "lifebench" / user)
    _write(data / "timeqa" / "human_annotated_train.json", [_page(n) for n in range(8)])
    for stem in ("musique", "2wikimultihopqa"):
        _write_passages(data / "multihop", stem)
    _write_abstracts(data / "scifact")
    _write(data / "longmemeval" / "longmemeval_s_cleaned.json", [_haystack(n) for n in range(4)])
    for name in NAMES:
        banks = [_bank(f"{name} {n}") for n in range(2)]
        _write_lines(data / "cases" / f"{name}.jsonl.gz", banks)


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def _write_lines(path: Path, items: list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(item) + "\n" for item in items)


def _conversation(number: int) -> dict[str, Any]:
    sessions: dict[str, Any] = {"speaker_a": "Ann", "speaker_b": "Ben"}
    observed: dict[str, Any] = {}
    for session in range(1, SESSIONS + 1):
        day = START + timedelta(days=7 * session)
        sessions[f"session_{session}_date_time"] = f"9:00 am on {day:%d %B, %Y}"
        sessions[f"session_{session}"] = [
            {
                "speaker": PEOPLE[turn % 2],
                "dia_id": f"D{session}:{turn + 1}",
                "text": said(number * 7 + session * TURNS + turn),
            }
            for turn in range(TURNS)
        ]
        observed[f"session_{session}_observation"] = {
            "Ann": [[f"Ann paints {THINGS[number % 8]}s.", f"D{session}:1"]],
            "Ben": [[f"Ben moved to {PLACES[session]}.", [f"D{session}:2"]]],
        }
    questions = [
        {
            "question": asked(number * 7 + TURNS + turn),
            "answer": PLACES[turn],
            "evidence": [f"D1:{turn + 1}"],
            "category": category,
        }
        for turn, category in enumerate((1, 2, 3, 4, 5))
    ]
    questions[1]["question"] = f"When did Ben lose the {THINGS[1]} in March 2023?"
    return {
        "sample_id": f"conv-{number}",
        "conversation": sessions,
        "observation": observed,
        "qa": questions,
    }


def _write_irc(path: Path) -> None:
    lines = [
        {
            "at": (START + timedelta(hours=number)).isoformat() + "+00:00",
            "speaker": PEOPLE[number % 2],
            "text": said(number) + f" That was number {number}.",
        }
        for number in range(600)
    ]
    _write_lines(path, lines)


def _persona(name: str) -> dict[str, Any]:
    sessions = [
        {
            "session_uuid": f"{name} {session}",
            "current_time": f"2024-01-0{session + 1} (Mon)",
            "dialogue_turns": [
                _dialogue_turn(name, session, turn, is_query=session > 0 and turn == 2)
                for turn in range(4)
            ],
        }
        for session in range(3)
    ]
    return {"_metadata": {"person_name": name}, "dialogues": sessions}


def _dialogue_turn(name: str, session: int, turn: int, is_query: bool) -> dict[str, Any]:
    return {
        "speaker": ("User", "Assistant")[turn % 2],
        "content": asked(turn) if is_query else said(session * 4 + turn),
        "is_query": is_query,
        "query_id": f"{name}/{session}",
        "category_name": "recall",
        "memory_session_uuids": [f"{name} 0"],
    }


def _write_phone(folder: Path) -> None:
    at = "2025-02-0{day} 10:0{day}:00"
    messages = [
        {
            "phone_id": day,
            "datetime": at.format(day=day),
            "message_type": ("Send", "Receive")[day % 2],
            "contactName": PEOPLE[day % 2],
            "message_content": said(day),
        }
        for day in range(1, 9)
    ]
    notes = [
        {
            "phone_id": day,
            "datetime": at.format(day=day),
            "title": f"Note {day}",
            "content": said(day + 9),
        }
        for day in range(1, 5)
    ]
    questions = [
        {
            "question": asked(day),
            "question_type": "Unanswerable" if day == 4 else "Single",
            "ask_time": "2025-02",
            "evidence": [{"type": "sms", "id": day}],
        }
        for day in range(1, 5)
    ]
    _write(folder / "phone_data" / "sms.json", messages)
    _write(folder / "phone_data" / "note.json", notes)
    _write(folder / "QA" / "QA_clean.json", questions)
    _write(folder / "persona.json", {"name": "Dana"})


def _page(number: int) -> dict[str, Any]:
    person = f"{PEOPLE[number % 2]} {THINGS[number].capitalize()}"
    return {
        "index": f"/wiki/{number}#P54",
        "link": f"/wiki/{number}",
        "type": "P54",
        "paras": [
            f"{person} worked for {PLACES[number % 7]} from 19{number}0 to 19{number}5.",
            f"He then played for {PLACES[(number + 1) % 7]} until 19{number}9.",
        ],
        "questions": [
            [f"Whom did {person} work for in 19{number}2?", [_span(0, PLACES[number % 7])]],
            [f"Whom did {person} work for in 1890?", [_span(0, "")]],
        ],
    }


def _span(paragraph: int, answer: str) -> dict[str, Any]:
    return {"para": paragraph, "from": 0, "end": 4, "answer": answer}


def _write_passages(folder: Path, stem: str) -> None:
    passages = [
        {"idx": number, "title": f"{PLACES[number % 7]} {number}", "text": said(number)}
        for number in range(12)
    ]
    questions = [
        {
            "id": f"2hop__{number}",
            "question": asked(number),
            "type": "",
            "supporting_idx": [number, number + 1],
        }
        for number in range(6)
    ]
    _write(folder / f"{stem}_corpus.json", passages)
    _write(folder / f"{stem}_questions.json", questions)


def _write_abstracts(folder: Path) -> None:
    documents = [
        {"_id": str(number), "title": THINGS[number % 8], "text": said(number)}
        for number in range(12)
    ]
    claims = [
        {
            "_id": str(number),
            "text": said(number),
            "split": "train",
            "cited_doc_ids": [number],
        }
        for number in range(6)
    ]
    _write_lines(folder / "corpus.jsonl", documents)
    _write_lines(folder / "queries.jsonl", claims)
    with (folder / "beir_qrels_test.tsv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, delimiter="\t")
        rows.writerow(["query-id", "corpus-id", "score"])
        rows.writerows([number, number, 1] for number in range(3))


def _haystack(number: int) -> dict[str, Any]:
    sessions = [
        [
            {"role": ("user", "assistant")[turn % 2], "content": said(number + session * 4 + turn)}
            for turn in range(4)
        ]
        for session in range(3)
    ]
    return {
        "question_id": f"q{number}" + ("_abs" if number == 3 else ""),
        "question_type": "single-session-user",
        "question": asked(number),
        "question_date": "2023/05/30 (Tue) 02:21",
        "answer": PLACES[number],
        "haystack_session_ids": [f"s{session}" for session in range(3)],
        "haystack_dates": [f"2023/05/2{session} (Sat) 02:21" for session in range(3)],
        "haystack_sessions": sessions,
        "answer_session_ids": ["s0"],
    }


def _bank(name: str) -> dict[str, Any]:
    memories = [
        {
            "id": f"m{number}",
            "text": said(number),
            "at": (START + timedelta(days=number)).isoformat(),
            "speaker": PEOPLE[number % 2],
            "session": f"s{number // 4}",
        }
        for number in range(12)
    ]
    questions: list[dict[str, Any]] = [
        {"q": asked(number), "gold": [f"m{number}"], "type": "single"} for number in range(4)
    ]
    questions.append({"q": "Who climbed the volcano?", "gold": [], "type": "none", "none": True})
    return {"bank": name, "memories": memories, "questions": questions}
