"""The subcommands erase and audit."""

import json

from tests.bindings.command_line import Shell
from tests.bindings.test_cli_history import store

__all__ = ["store"]


BY = ("--by", "eve", "--why", "asked for")


def test_erase_asks_first(shell: Shell, store: str) -> None:
    code, out, err = shell("erase", store, "--id", "home", *BY, stdin="n\n")
    assert (code, out) == (1, "") and "2 memories (2 passages), 0 facts and 0 events" in err
    assert "Ann lives in Rome." in shell("export", store)[1]
    code, out, _ = shell("erase", store, "--id", "home", *BY, stdin="y\n")
    assert code == 0 and out.startswith("2 memories (2 passages)") and "by operation 7" in out
    assert "Ann" not in shell("export", store)[1]
    assert "Ann" not in shell("log", store)[1]
    code, out, err = shell("erase", store, "--tag", "none", *BY, "--yes")
    assert (code, out) == (1, "") and "nothing erased" in err
    code, out, err = shell("erase", store, "--source", "web", *BY, "--yes")
    assert (code, out) == (1, "") and "nothing erased" in err
    code, _, err = shell("erase", store, *BY, "--yes")
    assert code == 2 and "say what to erase" in err
    code, _, err = shell("erase", store, "--id", "home", *BY, "--yes")
    assert code == 2 and "no memory with id 'home'" in err
    assert shell("erase", store, "--everything", *BY, "--yes")[0] == 0
    assert shell("verify", store)[0] == 0


def test_copies_follow(shell: Shell, store: str) -> None:
    assert shell("snapshot", store, "2024-05-03", "first")[0] == 0
    assert shell("snapshot", store, "2024-05-03", "second")[0] == 0
    code, out, _ = shell("erase", store, "--id", "home", *BY, "--yes", "--copy", "first")
    assert code == 0 and out.splitlines()[1].endswith("of default erased in first")
    code, out, _ = shell("erase", store, *BY, "--copy", "second", "--copy", "first")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["2", "0"]
    for folder in ("first", "second"):
        assert "Ann" not in shell("export", folder)[1] and shell("verify", folder)[0] == 0
    code, _, err = shell("erase", store, *BY, "--copy", "nowhere")
    assert code == 2 and "no agent 'default' in nowhere" in err


def test_audit_says_who_did_what_and_nothing_of_the_content(shell: Shell, store: str) -> None:
    shell("erase", store, "--id", "pet", *BY, "--yes")
    code, out, _ = shell("audit", store)
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    assert [(line[2], line[3]) for line in lines if line[2] != "vocabulary"] == [
        ("create", "1"),
        ("retain", "2"),
        ("correct", "1"),
        ("forget", "1"),
        ("erase", "1"),
    ]
    assert "by ben  (She moved.)" in out and "by eve  (asked for)" in out
    assert "Oslo" not in out and "puppy" not in out and "pet" not in out and "home" not in out
    told = [json.loads(line) for line in shell("audit", store, "--json")[1].splitlines()]
    assert told[-1]["erased"] == {"memories": 1, "passages": 1, "facts": 0, "events": 0}
    assert (told[-1]["by"], told[-1]["why"], told[-1]["kind"]) == ("eve", "asked for", "erase")
    code, out, err = shell("audit", store, "--since", "2999-01-01")
    assert (code, out) == (0, "") and "none: " in err


def test_list_and_forget_take_a_filter(shell: Shell, store: str) -> None:
    line = '{"text": "The lamp came.", "id": "lamp", "metadata": {"n": 2}, "tags": ["open"]}'
    assert shell("ingest", store, "-", stdin=line)[0] == 0
    code, out, _ = shell("list", store, "--newest", "--limit", "1")
    assert code == 0 and out.startswith("lamp  ") and out.endswith("[open]  The lamp came.\n")
    assert shell("list", store, "--count")[1] == "2\n"
    code, out, _ = shell("list", store, "--where", '{"n": {"gt": 1}}', "--json")
    assert json.loads(out)["id"] == "lamp"
    assert shell("list", store, "--tag", "open", "--count", "--json")[1] == '{"count": 1}\n'
    assert shell("list", store, "--values", "tags") == (0, "        1  open\n", "")
    assert shell("list", store, "--values", "tags", "--json")[1] == '{"open": 1}\n'
    code, _, err = shell("list", store, "--values", "speakers")
    assert code == 1 and "has speakers" in err
    code, _, err = shell("list", store, "--values", "tag")
    assert code == 2 and "field must be one of tags, document_id" in err
    assert shell("recall", store, "", "--tag", "open", "--prompt")[1].endswith("The lamp came.\n")
    assert json.loads(shell("export", store, "--any-tag", "open")[1])["id"] == "lamp"
    code, _, err = shell("list", store, "--where", "n > 1")
    assert code == 2 and "--where must be a JSON object" in err
    code, _, err = shell("list", store, "--where", '{"n": {"$gt": 1}}')
    assert code == 2 and "did you mean 'gt'" in err
    code, out, _ = shell("forget", store, "--tag", "open", "--by", "ann")
    assert (code, out) == (0, "1 memory of default forgotten\n")
    code, _, err = shell("forget", store, "--tag", "open")
    assert code == 1 and "nothing forgotten" in err
    code, _, err = shell("list", store, "--tag", "open")
    assert code == 1 and "no memories like that" in err
    assert shell("forget", store)[0] == 2


def test_amend_changes_tags_and_metadata(shell: Shell, store: str) -> None:
    code, out, _ = shell("amend", store, "home", "--tag", "x", "--metadata", '{"n": 2}', *BY)
    assert (code, out) == (0, "home of default amended\n")
    assert shell("amend", store, "home", "--valid-until", "2030-01-01")[0] == 0
    memory = json.loads(shell("list", store, "--tag", "x", "--json")[1])
    assert (memory["metadata"], memory["valid_until"][:10]) == ({"n": 2}, "2030-01-01")
    assert shell("amend", store, "home", "--no-tags", "--valid-until", "never")[0] == 0
    memory = json.loads(shell("list", store, "--where", '{"n": 2}', "--json")[1])
    assert (memory["tags"], memory["valid_until"]) == ([], None)
    code, out, _ = shell("log", store, "--op", "amend")
    assert code == 0 and len(out.splitlines()) >= 3 and "asked for" in out
    code, _, err = shell("amend", store, "home")
    assert code == 2 and "say what to amend" in err
    assert shell("amend", store, "nothing", "--tag", "x")[0] == 2
