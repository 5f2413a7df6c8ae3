"""The subcommands backup, backups, restore, and verify of a backup."""

import json
from pathlib import Path

from tests.bindings.command_line import Shell
from tests.bindings.test_cli_history import store

__all__ = ["store"]


def test_a_backup_is_made_listed_verified_and_restored(shell: Shell, store: str) -> None:
    code, out, _ = shell("backup", store, "b")
    assert code == 0 and out.startswith("backup 1 in b: 1 agent, 6 operations, 6 of them new; ")
    assert shell("retain", store, "Ann sings.", "--id", "song")[0] == 0
    code, out, _ = shell("backup", store, "b")
    assert code == 0 and "7 operations, 1 of them new" in out
    assert [line.split()[0] for line in shell("backups", "b")[1].splitlines()] == ["1", "2"]
    told = [json.loads(line) for line in shell("backups", "b", "--json")[1].splitlines()]
    assert [each["agents"] for each in told] == [{"default": 6}, {"default": 7}]
    code, out, _ = shell("verify", "b")
    assert code == 0 and out.startswith("backup 2 in b is sound: 1 agent, 7 operations")
    assert json.loads(shell("verify", "b", "--number", "1", "--json")[1])["problems"] == []
    code, out, _ = shell("restore", "b", "again", "--at", "2024-05-02T12:00", "--zone", "UTC")
    assert code == 0 and out.startswith("1 agent as of 2024-05-02T12:00:00+00:00 restored to again")
    assert shell("export", "again")[1].count("\n") == 2 and shell("verify", "again")[0] == 0
    code, out, err = shell("restore", "b", "none", "--at", "2024-05-01")
    assert (code, out) == (1, "") and "nothing restored" in err
    code, _, err = shell("restore", "b", "again")
    assert code == 2 and "has an agent 'default' already" in err
    assert json.loads(shell("verify", "again", "--json")[1])["problems"] == []


def test_what_is_wrong_is_one_line(shell: Shell, store: str) -> None:
    assert shell("backup", "nowhere", "b")[0] == 1
    code, _, err = shell("backup", store, store)
    assert code == 2 and "holds other files" in err
    code, _, err = shell("restore", "nowhere", "x")
    assert code == 2 and err == (
        "recollex: there is no backup at nowhere: recollex backup makes one\n"
    )
    shell("backup", store, "b")
    victim = next(path for path in Path("b/objects").rglob("*") if path.is_file())
    victim.unlink()
    code, out, err = shell("verify", "b")
    assert code == 1 and victim.name in out and "backup 1 in b is damaged" in err
    assert shell("backup", store, "b", "--fresh")[0] == 0 and shell("verify", "b")[0] == 0


def test_an_agent_that_cannot_be_read_is_named(shell: Shell, store: str) -> None:
    assert shell("retain", store, "Tea.", "--agent", "ben")[0] == 0
    log = next(Path(store, "agents/ben/log").iterdir())
    log.write_bytes(log.read_bytes().replace(b"Tea", b"Ink"))
    code, out, err = shell("backup", store, "b")
    assert code == 1 and "not backed up as it is now: ben: " in err and "1 agent" in out


def test_an_erasure_reaches_a_backup(shell: Shell, store: str) -> None:
    shell("backup", store, "b")
    by = ("--by", "eve", "--why", "asked for")
    code, out, _ = shell("erase", store, "--id", "home", *by, "--yes", "--copy", "b")
    assert code == 0 and out.splitlines()[1].startswith("2 memories (2 passages)")
    shell("restore", "b", "again", "--number", "1")
    assert "Ann" not in shell("export", "again")[1] and shell("verify", "b")[0] == 0
    assert shell("backups", "b")[1].splitlines()[1].endswith("default erased by eve (asked for)")
