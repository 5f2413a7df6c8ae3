import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex_engine.errors import InputError
from tests.bindings.files.imports.conftest import Ingest

USERS = [
    {"id": "U1", "name": "ann", "profile": {"display_name": "Ann", "real_name": "Ann Berg"}},
    {"id": "U2", "name": "ben", "profile": {"display_name": "", "real_name": "Ben Dahl"}},
]
GENERAL: dict[str, list[dict[str, Any]]] = {
    "2024-05-04.json": [
        {"type": "message", "user": "U1", "ts": "1714816800.000100",
         "thread_ts": "1714816800.000100",
         "text": "Hi <@U2>, see <https://x.org|the map> in <#C1|general> &amp; <!here>",
         "reactions": [{"name": "+1", "count": 2}], "edited": {"user": "U1"}},
        {"type": "message", "user": "U2", "ts": "1714816860.000200",
         "thread_ts": "1714816800.000100",
         "text": "Seen."},
        {"type": "message", "subtype": "channel_join", "user": "U2", "ts": "1714816870.0",
         "text": "<@U2> has joined the channel"},
    ],
    "2024-05-05.json": [
        {"type": "message", "subtype": "bot_message", "bot_id": "B1", "username": "CI",
         "ts": "1714903200.000300", "text": "", "attachments": [{"fallback": "Build 7 failed"}]},
        {"type": "message", "user": "U9", "ts": "1714903300.0", "text": "",
         "user_profile": {"display_name": "Eve"}, "files": [{"name": "plan.pdf"}]},
    ],
}  # fmt: skip


@pytest.fixture
def export(tmp_path: Path) -> Path:
    root = tmp_path / "Acme Slack export"
    root.mkdir()
    (root / "users.json").write_text(json.dumps(USERS))
    channels = [{"id": "C1", "name": "general", "topic": {"value": "All of us"}, "members": []}]
    (root / "channels.json").write_text(json.dumps(channels))
    (root / "dms.json").write_text(json.dumps([{"id": "D1", "members": ["U2", "U1"]}]))
    (root / "general").mkdir()
    for name, messages in GENERAL.items():
        (root / "general" / name).write_text(json.dumps(messages))
    (root / "D1").mkdir()
    said = [{"type": "message", "user": "U1", "ts": "1714989600.5", "text": "Tea?"}]
    (root / "D1" / "2024-05-06.json").write_text(json.dumps(said))
    return root


def test_channels_threads_and_direct_talks(
    agent: recollex.Agent, ingest: Ingest, export: Path
) -> None:
    done = ingest(export)
    assert (done.format, done.stored, done.untimed) == ("slack", 5, 0)
    assert [(each.speaker, each.text) for each in agent.list(document_id="general")] == [
        ("Ann", "Ann: Hi @Ben Dahl, see the map (https://x.org) in #general & @here"),
        ("CI", "CI: Build 7 failed"),
        ("Eve", "Eve: [file: plan.pdf]"),
    ]
    (reply,) = agent.list(document_id="general/1714816800.000100")
    assert (reply.text, reply.context) == ("Ben Dahl: Seen.", "All of us")
    first = agent.get("general/1714816800.000100")
    assert first.event_at.isoformat() == "2024-05-04T10:00:00.000100+00:00"
    assert first.metadata == {"user": "U1", "edited": True}
    (direct,) = agent.list(document_id="talk of Ann, Ben Dahl")
    assert (direct.id, direct.text) == ("D1/1714989600.5", "Ann: Tea?")
    assert done.left_out == {"event of a channel: channel_join": 1, "file": 1, "reaction": 2}


def test_the_archive_is_the_same(
    agent: recollex.Agent, ingest: Ingest, export: Path, tmp_path: Path
) -> None:
    shutil.make_archive(str(tmp_path / "flat"), "zip", export)
    shutil.make_archive(str(tmp_path / "nested"), "zip", tmp_path, export.name)
    assert ingest(tmp_path / "flat.zip").stored == 5
    assert (ingest(tmp_path / "nested.zip").stored, ingest(export).stored) == (0, 0)


def test_a_broken_file_is_named(agent: recollex.Agent, export: Path) -> None:
    (export / "general" / "2024-05-05.json").write_text("[{")
    with pytest.raises(InputError, match=r"2024-05-05\.json is not JSON"):
        recollex.ingest(agent, export)


def test_another_folder_is_refused(agent: recollex.Agent, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"Slack's export has users\.json and one of channels\.json"
    ):
        recollex.ingest(agent, tmp_path, format="slack")
