import gc
import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import recollex
from recollex import cli
from recollex.cli import subcommands
from tests.bindings.command_line import Shell

TALK = [
    {"speaker": "Ann", "text": "I moved to Lisbon.", "at": "2024-05-01T10:00:00+00:00", "id": "a"},
    {"speaker": "Ben", "text": "Is Lisbon hot?", "at": "2024-05-01T10:00:10+00:00", "id": "b"},
]


@pytest.fixture
def store(shell: Shell) -> str:
    """Return a store where the agent `default` has heard two turns."""
    shell("ingest", "memory", "-", "--document", "d", stdin="\n".join(map(json.dumps, TALK)))
    return "memory"


def test_help_without_words(shell: Shell) -> None:
    code, out, _ = shell()
    assert code == 0 and "subcommands:" in out


def test_every_table_of_commands_is_listed_and_every_command_has_its_own_name() -> None:
    files = {file: file.read_text("utf-8") for file in Path(cli.__file__).parent.rglob("*.py")}
    tables = {file for file, text in files.items() if "\nCOMMANDS = (" in text}
    assert tables == {Path(str(module.__file__)) for module in subcommands.MODULES}
    rows = [row for module in subcommands.MODULES for row in module.COMMANDS]
    assert len({row.name for row in rows}) == len(rows) == len(subcommands.COMMANDS) - 1
    later = [
        found
        for text in files.values()
        for found in re.findall(r'run_of\("(.*?)", "(.*?)"\)', text)
    ]
    assert later and all(callable(getattr(import_module(place), name)) for place, name in later)


def test_the_version(shell: Shell) -> None:
    code, out, _ = shell("--version")
    assert code == 0 and out.startswith("recollex")


@pytest.mark.parametrize("words", [("recal", "m", "x"), ("recall", "m"), ("stats", "m", "--jsn")])
def test_a_wrong_call_is_one_line_and_2(shell: Shell, words: tuple[str, ...]) -> None:
    code, out, err = shell(*words)
    assert (code, out) == (2, "")
    assert err.startswith("recollex: ") and err.count("\n") == 1


def test_a_mistyped_subcommand_is_guessed(shell: Shell) -> None:
    assert "did you mean recall?" in shell("recal", "memory", "x")[2]
    assert "no subcommand 'version': did you mean --version?" in shell("version")[2]


@pytest.mark.parametrize(
    "words", [("recall", "m", "x"), ("agents", "m"), ("stats", "m"), ("verify", "m"),
              ("checkpoint", "m"), ("export", "m"), ("log", "m"), ("diff", "m", "2024"),
              ("snapshot", "m", "2024", "n")]
)  # fmt: skip
def test_what_needs_a_store_makes_none(shell: Shell, words: tuple[str, ...]) -> None:
    code, out, err = shell(*words)
    assert (code, out) == (1, "")
    assert "there is no store at m" in err
    assert not Path("m").exists()


def test_a_mistyped_agent_is_guessed_and_not_made(shell: Shell, store: str) -> None:
    code, _, err = shell("recall", store, "x", "--agent", "defualt")
    assert code == 1 and "did you mean default?" in err
    assert shell("agents", store)[1].split()[0] == "default"


def test_retain_then_recall(shell: Shell) -> None:
    code, out, _ = shell(
        "retain", "memory", "Ann moved to Lisbon.", "-", "--at", "2024-05-01", "--tag", "home",
        stdin="Ben likes tea.",
    )  # fmt: skip
    first, second = out.split()
    assert code == 0
    code, out, _ = shell("recall", "memory", "Where is Lisbon?", "--json")
    recall = json.loads(out)
    assert code == 0 and recall["query"] == "Where is Lisbon?"
    best = recall["memories"][0]
    assert (best["id"], best["event_at"]) == (first, "2024-05-01T00:00:00+00:00")
    assert best["tags"] == ["home"] and best["ranks"]
    assert recall["trace"]["total"] > 0
    assert second not in (first, "")


def test_the_table_shows_date_speaker_text_arms_and_stages(shell: Shell, store: str) -> None:
    code, out, _ = shell("recall", store, "Who moved to Lisbon?", "--explain")
    assert code == 0
    for part in ("2024-05-01", "Ann", "    I moved to Lisbon.", "keyword 1 (", "µs", "total"):
        assert part in out


def test_below_the_bound_nothing_is_shown_but_the_probability(shell: Shell, store: str) -> None:
    query = "Which volcano erupted near Reykjavik and moved?"
    shown = shell("recall", store, query)
    assert shown[0] == 0 and "an answer is there with probability 0." in shown[1]
    code, out, err = shell("recall", store, query, "--min-confidence", "0.99")
    assert code == 1 and "nothing that is likely to answer 'Which volcano" in err
    assert "0 memories" in out and "an answer is there with probability 0." in out
    code, out, err = shell("recall", store, "Кто живёт в Лиссабоне?", "--min-confidence", "0.1")
    assert code == 1 and "Лиссабоне?' is, is not known: leave out --min-confidence" in err
    assert "0 memories" in out and "probability" not in out
    code, _, err = shell("recall", store, query, "--min-confidence", "2")
    assert code == 2 and "min_confidence must lie in [0, 1], got 2" in err and err.count("\n") == 1


def test_recall_writes_nothing(shell: Shell, store: str) -> None:
    before = {path: path.read_bytes() for path in Path(store).rglob("*") if path.is_file()}
    shell("recall", store, "Who moved to Lisbon?")
    after = {path: path.read_bytes() for path in Path(store).rglob("*") if path.is_file()}
    assert before == after


def test_reading_goes_on_beside_a_writer(shell: Shell, store: str) -> None:
    with recollex.open(store) as writer:
        writer.agent("default").retain("Ann has a garden.")
        for words in (["stats", store], ["recall", store, "a garden"], ["export", store]):
            code, out, err = shell(*words)
            assert code == 0 and out, err
        code, _, err = shell("retain", store, "Ann has a cat.")
        assert code == 2 and "open for writing elsewhere" in err and err.count("\n") == 1


def test_ingest_twice_stores_once(shell: Shell, store: str) -> None:
    talk = "\n".join(map(json.dumps, TALK))
    assert shell("ingest", store, "-", "--document", "d", stdin=talk)[0] == 0
    assert json.loads(shell("stats", store, "--json")[1])["memories"] == 2


def test_turns_of_a_file_are_of_a_document_with_its_name(shell: Shell) -> None:
    Path("monday.jsonl").write_text("\n".join(map(json.dumps, TALK)), "utf-8")
    assert shell("ingest", "memory", "monday.jsonl")[0] == 0
    lines = [json.loads(line) for line in shell("export", "memory")[1].splitlines()]
    assert [line["document_id"] for line in lines] == ["monday", "monday"]


def test_a_wrong_line_is_named_and_its_batch_refused(shell: Shell) -> None:
    good = [json.dumps({"text": f"Statement {n}.", "id": f"m{n}"}) for n in range(5)]
    talk = "\n".join([*good, '{"txt": "x"}'])
    code, _, err = shell("ingest", "memory", "-", "--batch", "2", stdin=talk)
    assert code == 2 and "line 6 has an unknown field 'txt'" in err and "4 memories" in err
    assert json.loads(shell("stats", "memory", "--json")[1])["memories"] == 4


def test_a_file_wrong_from_the_start_makes_no_store(shell: Shell) -> None:
    code, _, err = shell("ingest", "memory", "-", stdin="not json")
    assert code == 2 and "line 1 is not JSON" in err
    assert not Path("memory").exists()


def test_a_batch_is_cut_where_the_document_changes(shell: Shell) -> None:
    talk = [turn | {"document_id": f"d{n}"} for n, turn in enumerate(TALK)]
    shell("ingest", "memory", "-", stdin="\n".join(map(json.dumps, talk)))
    lines = [json.loads(line) for line in shell("export", "memory")[1].splitlines()]
    assert [line["document_id"] for line in lines] == ["d0", "d1"]


def test_an_export_is_ingested_whole(shell: Shell, store: str) -> None:
    more = {"text": "", "caption": "a harbour", "metadata": {"page": 2}, "tags": ["trip"]}
    turn = TALK[0] | more | {"id": "e", "document_id": "f", "context": "walk"}
    shell("ingest", store, "-", stdin=json.dumps(turn))
    shell("retain", store, "Tea is better.", "--network", "opinion", "--tag", "tea", "--id", "c")
    code, exported, _ = shell("export", store)
    assert code == 0 and len(exported.splitlines()) == 4
    code, _, err = shell("ingest", "copy", "-", "--recorded", stdin=exported)
    assert code == 0, err
    again = shell("export", "copy")[1]
    assert [json.loads(line) for line in again.splitlines()] == [
        json.loads(line) for line in exported.splitlines()
    ]
    assert shell("ingest", "copy", "-", stdin=exported)[0] == 0  # equal memories change nothing
    assert shell("export", "copy")[1] == again


def test_verify_and_checkpoint(shell: Shell, store: str) -> None:
    assert shell("checkpoint", store)[0] == 0
    code, out, _ = shell("verify", store)
    assert code == 0 and "default is sound: " in out and "2 memories" in out


def test_a_missing_file_is_said_in_one_line(shell: Shell) -> None:
    assert shell("ingest", "memory", "nothing.jsonl") == (
        2, "", "recollex: nothing.jsonl: No such file or directory\n",
    )  # fmt: skip


def test_a_time_must_be_written_plainly(shell: Shell, store: str) -> None:
    code, _, err = shell("recall", store, "x", "--since", "yesterday")
    assert code == 2 and "--since must be written as" in err
    code, _, err = shell("recall", store, "x", "--since", "2024-05-01", "--zone", "Nowhere")
    assert code == 2 and "zone must be a name" in err


def test_a_reader_that_leaves_early_is_no_error(shell: Shell, store: str) -> None:
    code = "import sys; from recollex.cli import main; sys.exit(main(sys.argv[1:]))"
    export = subprocess.Popen(
        [sys.executable, "-c", code, "export", store],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    )
    assert export.stdout and export.stderr
    export.stdout.close()
    assert export.stderr.read() == b""
    export.stderr.close()
    assert export.wait() == 0


def test_only_a_process_of_its_own_changes_the_collector(shell: Shell, store: str) -> None:
    before = gc.get_threshold()
    assert shell("recall", store, "x")[0] in (0, 1)
    assert gc.get_threshold() == before
    code = (
        "import atexit, gc; atexit.register(lambda: print(gc.get_freeze_count() > 0))\n"
        "from recollex.cli import main; main(); print(gc.get_threshold()[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout.split()[-2:] == ["100000", "True"]
