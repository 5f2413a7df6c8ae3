"""The subcommands agents and delete-agent."""

import json

from tests.bindings.command_line import Shell
from tests.bindings.test_cli_history import store

__all__ = ["store"]


def test_agents_are_listed_with_what_they_hold(shell: Shell, store: str) -> None:
    assert shell("retain", store, "Bob likes tea.", "--agent", "bob")[0] == 0
    code, out, _ = shell("agents", store)
    assert code == 0
    first, second = (line.split() for line in out.splitlines())
    assert (first[:3], second[:3]) == (["bob", "1", "memory"], ["default", "1", "memory"])
    assert second[-1] == "kB" and second[3].count("-") == 2
    code, out, _ = shell("agents", store, "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [(each["id"], each["memories"]) for each in lines] == [("bob", 1), ("default", 1)]
    assert lines[0]["bytes_on_disk"] > 0 and lines[0]["written_at"].endswith("+00:00")


def test_deleting_asks_first(shell: Shell, store: str) -> None:
    assert shell("retain", store, "Bob likes tea.", "--agent", "bob")[0] == 0
    code, out, err = shell("delete-agent", store, "bob", stdin="n\n")
    assert (code, out) == (1, "")
    assert "agent bob with 1 memory would be deleted, for good" in err and "nothing deleted" in err
    assert shell("delete-agent", store, "bob", stdin="")[0] == 1
    assert shell("delete-agent", store, "bob", stdin="y\n")[:2] == (0, "agent bob deleted\n")
    code, out, err = shell("delete-agent", store, "defualt", "--yes")
    assert (code, out) == (1, "") and "did you mean" in err
    assert shell("delete-agent", store, "default", "--yes")[0] == 0
    assert shell("agents", store)[0] == 1
    assert shell("delete-agent", "nowhere", "bob", "--yes")[0] == 1
