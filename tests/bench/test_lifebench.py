"""Every kind of item on LifeBench's phones becomes a turn."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.datasets import lifebench
from tests.bench.dataset_files import by_id, write

PHONE: dict[str, list[dict[str, Any]]] = {
    "sms": [
        {
            "phone_id": 0,
            "contactName": "Bo",
            "message_type": "Send",
            "message_content": "Tea?",
            "datetime": "2025-02-01 10:00:00",
        },
        {
            "phone_id": "0",
            "contactName": "Bo",
            "message_type": "Send",
            "message_content": "Some tea?",
            "datetime": "2025-02-01 10:00:00",
        },
    ],
    "call": [
        {
            "phone_id": 1,
            "contactName": "Bo",
            "direction": 0,
            "datetime": "2025-01-31 09:00:00",
            "datetime_end": "2025-01-31 09:12:10",
        },
        {
            "phone_id": 2,
            "contactName": "Cy",
            "call_type": "Dial",
            "datetime": "2025-01-31 09:30:00",
        },
    ],
    "note": [
        {"phone_id": 3, "title": "List", "content": "milk", "datetime": "2025-01-30 08:00:00"}
    ],
    "calendar": [
        {
            "phone_id": 4,
            "title": "Dinner",
            "description": "With Bo.",
            "start_time": "2025-02-03 18:00:00",
            "end_time": "2025-02-03 20:00:00",
            "datetime": "2025-02-01 12:00:00",
        }
    ],
    "push": [
        {
            "phone_id": 5,
            "title": "Rain",
            "content": "Soon.",
            "source": "Sky",
            "datetime": "2025-02-02 07:00:00",
        }
    ],
    "photo": [
        {
            "phone_id": 6,
            "caption": "A dog.",
            "location": {"poi": "Park", "city": "Rome"},
            "faceRecognition": ["Bo"],
            "imageTag": ["dog"],
            "ocrText": "None",
            "datetime": "2025-02-02 08:00:00",
        },
        {
            "phone_id": 7,
            "caption": "A sign.",
            "location": None,
            "faceRecognition": "None",
            "imageTag": [],
            "ocrText": "EXIT",
            "datetime": "2025-02-02 09:00:00",
        },
    ],
    "agent_chat": [
        {
            "phone_id": 8,
            "date": "2025-02-02",
            "conversation": {
                "turn 1": {"user": {"content": "Hi"}, "assistant": {"content": "Hello"}}
            },
        }
    ],
}


def test_lifebench_tells_every_item(tmp_path: Path) -> None:
    for user in ("ann", "zoe"):
        folder = tmp_path / "lifebench" / user
        write(folder / "persona.json", {"name": user.capitalize()})
        for kind, items in PHONE.items():
            write(folder / "phone_data" / f"{kind}.json", items)
        question = {"question": "Tea?", "question_type": "Multi-hop reasoning"}
        evidence = [{"type": "sms", "id": "0"}, {"type": "push", "id": 99}]
        write(
            folder / "QA" / "QA_clean.json",
            [
                question | {"evidence": evidence, "ask_time": "2025-02"},
                question | {"question_type": "Unanswerable", "ask_time": "2025-02-28"},
            ],
        )
    (tmp_path / "lifebench" / "LICENSE").write_text("")
    ann, zoe = lifebench.load(tmp_path)
    assert (ann.agent, ann.queries[0].split, zoe.queries[0].split) == ("Ann", "dev", "report")
    assert {turn["id"]: turn["text"] for turn in ann.turns} == {
        "note:3": "Note: List. milk",
        "call:1": "Call from Bo, 12 minutes",
        "call:2": "Call to Cy",
        "sms:0": "Message to Bo: Tea?",
        "calendar:4": "Calendar: Dinner, 2025-02-03 18:00 to 2025-02-03 20:00. With Bo.",
        "push:5": "Notification from Sky: Rain. Soon.",
        "photo:6": "Photo: A dog. At Park, Rome. With Bo. Shows dog.",
        "photo:7": "Photo: A sign. Text in it: EXIT",
        "agent_chat:8": "Chat with the assistant\nUser: Hi\nAssistant: Hello",
    }
    times = [turn["at"] for turn in ann.turns]
    assert times == sorted(times)
    assert by_id(ann)["sms:0"]["document"] == "2025-02-01"
    answered, unanswerable = ann.queries
    assert answered.evidence == {"sms:0"}
    assert answered.asked_at == unanswerable.asked_at == datetime(2025, 3, 1, tzinfo=UTC)
    assert not unanswerable.answerable and not unanswerable.evidence
    assert ann.notes == {
        "items there twice": 1,
        "evidence not on the phone": 1,
        "without evidence": 1,
    }


def test_facts_are_read_from_items_that_have_a_time_and_a_name(tmp_path: Path) -> None:
    write(tmp_path / "persona.json", {"name": "Ann"})
    nameless = PHONE["sms"][0] | {"contactName": " ", "phone_id": 98}
    timeless = PHONE["sms"][0] | {"datetime": "soon", "phone_id": 99}
    faces = {"faceRecognition": ["Bo", "Bo", "x" * 99], "phone_id": 97}
    phone = PHONE | {
        "sms": [*PHONE["sms"], nameless, timeless],
        "photo": [*PHONE["photo"], PHONE["photo"][0] | faces],
    }
    for kind, items in phone.items():
        write(tmp_path / "phone_data" / f"{kind}.json", items)
    found = lifebench.facts(tmp_path)
    said = [
        (each["subject"], each["predicate"], each["object"], *each["evidence"]) for each in found
    ]
    assert said == [
        ("Ann", "wrote to", "Bo", "sms:0"),
        ("Ann", "wrote to", "Bo", "sms:0"),
        ("Bo", "called", "Ann", "call:1"),
        ("Ann", "called", "Cy", "call:2"),
        ("Ann", "noted", "List", "note:3"),
        ("Ann", "planned", "Dinner", "calendar:4"),
        ("Ann", "took a photo at", "Park", "photo:6"),
        ("Bo", "was photographed at", "Park", "photo:6"),
        ("Ann", "took a photo at", "Park", "photo:97"),
        ("Bo", "was photographed at", "Park", "photo:97"),
        ("Sky", "notified", "Rain", "push:5"),
    ]
    assert found[0]["valid"] == (
        datetime(2025, 2, 1, 10, tzinfo=UTC),
        datetime(2025, 2, 1, 10, 0, 1, tzinfo=UTC),
    )
    assert found[2]["valid"][1] == datetime(2025, 1, 31, 9, 12, 10, tzinfo=UTC)
