"""The subcommand retention."""

import json

from tests.bindings.command_line import Shell
from tests.bindings.test_cli_history import store

__all__ = ["store"]


def test_rules_are_shown_set_added_applied_and_taken_away(shell: Shell, store: str) -> None:
    code, out, err = shell("retention", store)
    assert (code, out) == (1, "") and "has no retention rules: everything is kept" in err
    by = ("--by", "eve", "--why", "policy 7")
    code, out, _ = shell("retention", store, "--age-days", "36500", *by)
    assert (code, out) == (0, "all networks: older than 36500 days, 0:00:00: forget\n")
    code, out, _ = shell("retention", store, "--count", "0", "--erase", "--add", *by)
    assert code == 0 and out.splitlines()[1] == "all networks: more than 0: erase"
    told = [json.loads(line) for line in shell("retention", store, "--json")[1].splitlines()]
    assert told == [{"age": 36500 * 86400 * 10**6}, {"count": 0, "erase": True}]
    assert "Ann" in shell("export", store)[1]
    code, _, err = shell("retention", store, "--apply")
    assert code == 0 and "1 memory forgotten, 3 versions erased" in err
    assert shell("export", store)[1] == ""
    assert "by retention" in shell("audit", store)[1] and "(policy 7)" in shell("audit", store)[1]
    code, out, err = shell("retention", store, "--none", "--by", "eve")
    assert (code, out) == (0, "") and "everything is kept" in err
    assert shell("verify", store)[0] == 0


def test_wrong_rules_are_refused(shell: Shell, store: str) -> None:
    for options, message in (
        (("--erase",), "a rule needs --age-days or --count"),
        (("--count", "1", "--none"), "--none goes without a rule"),
        (("--age-days", "0"), "--age-days must lie in"),
        (("--count", "1", "--network", "x"), "network must be one of"),
        (("--count", "-1"), "--count"),
    ):
        code, _, err = shell("retention", store, *options)
        assert code == 2 and message in err
