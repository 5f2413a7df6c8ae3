"""The subcommands for an agent's past: log, diff, snapshot, replay."""

import json
from pathlib import Path

import pytest

import recollex
from tests.bindings.command_line import Shell

LINES = [
    {"id": "home", "text": "Ann lives in Oslo.", "event_at": "2024-05-01"},
    {
        "id": "pet",
        "text": "Ben has a puppy.",
        "event_at": "2024-05-01",
        "valid_until": "2024-06-01",
    },
]


@pytest.fixture
def store(shell: Shell) -> str:
    """Return a store that was given two texts on 2 May, and more on 3 and 4 May."""
    told = [json.dumps(line | {"recorded_at": "2024-05-02"}) for line in LINES]
    assert shell("ingest", "memory", "-", "--recorded", stdin="\n".join(told))[0] == 0
    with recollex.open("memory") as opened:
        agent = opened.agent("default")
        (day,) = {memory.recorded_at for memory in agent.list()}
        agent.correct(
            "home", "Ann lives in Rome.", by="ben", why="She moved.",
            recorded_at=day.replace(day=3),
        )  # fmt: skip
        agent.forget("pet", recorded_at=day.replace(day=4))
    return "memory"


def test_recall_as_it_was_then(shell: Shell, store: str) -> None:
    code, out, _ = shell("recall", store, "Where does Ann live?", "--as-recorded", "2024-05-02")
    assert code == 0 and "Ann lives in Oslo." in out and "Rome" not in out
    code, _, err = shell("recall", store, "Ann", "--as-recorded", "2024-05-01")
    assert code == 1 and "remembers nothing" in err
    code, _, err = shell("recall", store, "Ann", "--as-recorded", "2999-01-01")
    assert code == 2 and "must not be in the future" in err
    code, _, err = shell("recall", store, "Ann", "--as-recorded", "soon")
    assert code == 2 and "--as-recorded must be written as" in err


def test_recall_what_was_so_then(shell: Shell, store: str) -> None:
    words = ("recall", store, "a puppy", "--as-recorded", "2024-05-02", "--as-world")
    assert "puppy" in shell(*words, "2024-05-31")[1]
    assert "puppy" not in shell(*words, "2024-06-01")[1]


def test_retain_what_ceases_to_be_so(shell: Shell) -> None:
    words = ("retain", "memory", "Ann lives in Oslo.", "--at", "2024-05-01", "--valid-until")
    code, _, err = shell(*words, "2024-04-01")
    assert code == 2 and "valid_until must be later than the event" in err
    assert not Path("memory").exists()
    assert shell(*words, "2024-06-01")[0] == 0
    line = json.loads(shell("export", "memory")[1])
    assert line["valid_until"] == "2024-06-01T00:00:00+00:00"
    assert shell("ingest", "copy", "-", stdin=json.dumps(line))[0] == 0
    assert json.loads(shell("export", "copy")[1])["valid_until"] == line["valid_until"]


def test_the_log_on_lines(shell: Shell, store: str) -> None:
    code, out, _ = shell("log", store)
    assert code == 0
    lines = out.splitlines()
    assert [line.split()[2] for line in lines] == [
        "create", "vocabulary", "retain", "retain", "correct", "forget",
    ]  # fmt: skip
    assert lines[4].split(maxsplit=3)[3] == ('home  "Ann lives in Rome."  by ben  (She moved.)')
    code, out, _ = shell("log", store, "--op", "correct", "--op", "forget", "--json")
    assert [json.loads(line)["ids"] for line in out.splitlines()] == [["home"], ["pet"]]
    code, out, _ = shell("log", store, "--since", "2024-05-03", "--until", "2024-05-04")
    assert [line.split()[2] for line in out.splitlines()] == ["correct"]
    code, out, err = shell("log", store, "--until", "2024-01-01")
    assert (code, out) == (0, "") and "none: " in err
    code, _, err = shell("log", store, "--op", "forgte")
    assert code == 2 and "did you mean forget?" in err


def test_what_changed(shell: Shell, store: str) -> None:
    code, out, _ = shell("diff", store, "2024-05-02")
    assert code == 0
    assert out.splitlines() == [
        "- 2024-05-03T00:00:00+00:00  home  corrected by ben (She moved.)",
        "    Ann lives in Oslo.",
        "- 2024-05-04T00:00:00+00:00  pet  forgotten",
        "    Ben has a puppy.",
        "+ 2024-05-03T00:00:00+00:00  home",
        "    Ann lives in Rome.",
    ]
    found = json.loads(shell("diff", store, "2024-05-01", "2024-05-02", "--json")[1])
    assert [memory["id"] for memory in found["added"]] == ["home", "pet"]
    code, out, err = shell("diff", store, "2024-05-02", "2024-05-02T12:00")
    assert (code, out) == (0, "") and "nothing changed" in err
    code, _, err = shell("diff", store, "2024-05-03", "2024-05-02")
    assert code == 2 and "swap them" in err
    code, _, err = shell("diff", store, "then")
    assert code == 2 and "T1 must be written as" in err


def test_a_snapshot_and_a_replay(shell: Shell, store: str) -> None:
    code, out, _ = shell("snapshot", store, "2024-05-02", "then")
    assert code == 0 and "4 operations, 2 memories" in out
    assert "Oslo" in shell("export", "then")[1]
    assert shell("verify", "then")[0] == 0
    code, _, err = shell("snapshot", store, "2024-05-02", "then")
    assert code == 2 and "has an agent 'default' already" in err
    code, out, _ = shell("replay", "memory/agents/default", "again", "--agent", "bob")
    assert code == 0 and "6 operations replayed for bob" in out
    assert shell("export", "again", "--agent", "bob")[1] == shell("export", store)[1]
    code, _, err = shell("replay", "nowhere", "other")
    assert code == 2 and "there is no log at nowhere" in err
    assert not Path("other").exists()
