"""What the command line says to somebody who types something wrong, or finds nothing."""

import json
import shlex
import socket
from pathlib import Path

import pytest

import recollex
from recollex.cli import subcommands
from recollex_engine.errors import InputError
from tests.bindings.command_line import Shell
from tests.bindings.word_vectors import WordVectors


@pytest.fixture
def store(shell: Shell) -> str:
    shell("retain", "memory", "Ann moved to Lisbon.", "--id", "home")
    return "memory"


def test_a_folder_of_other_files_gets_no_store(shell: Shell) -> None:
    Path("notes").mkdir()
    Path("notes/a.txt").touch()
    for words in (("retain", "notes", "Ann."), ("recall", "notes", "Ann?"), ("stats", "notes")):
        code, out, err = shell(*words)
        assert (code, out) == (2, "")
        assert "notes holds other files and no store" in err and "notes/memory" in err
    assert [path.name for path in Path("notes").iterdir()] == ["a.txt"]
    Path("empty").mkdir()
    assert shell("retain", "empty", "Ann.")[0] == 0


def test_a_folder_with_the_socket_of_a_killed_server_is_empty(shell: Shell) -> None:
    Path("new").mkdir()
    with socket.socket(socket.AF_UNIX) as left:
        left.bind("new/socket")
    assert shell("recall", "new", "Tea?") == (
        1, "", "recollex: there is no store at new: recollex retain makes one\n",
    )  # fmt: skip
    assert shell("retain", "new", "Tea.")[0] == 0 and shell("recall", "new", "Tea?")[0] == 0


def test_a_filter_that_leaves_nothing_is_told(shell: Shell, store: str) -> None:
    code, _, err = shell("recall", store, "Where did Ann move?", "--tag", "hoem")
    assert code == 1 and "bears on 'Where did Ann move?', of what the filter admits\n" in err
    told = "recollex: default has no memories like that\n"
    assert shell("export", store, "--tag", "hoem") == (0, "", told)


def test_a_budget_that_holds_no_memory_is_named(shell: Shell, store: str) -> None:
    code, _, err = shell("recall", store, "Where did Ann move?", "--tokens", "1")
    assert code == 1
    assert "nothing that bears on 'Where did Ann move?' fits in --tokens 1: give more" in err


def test_a_recall_says_how_often_a_memory_was_told(shell: Shell) -> None:
    for day in range(1, 9):
        said = ("retain", "memory", "Ann moved to Lisbon.", "--at", f"2024-05-0{day}")
        assert shell(*said)[0] == 0
    shell("retain", "memory", "Ben has a dog.")
    code, out, _ = shell("recall", "memory", "Where did Ann move?")
    assert code == 0 and out.count("Ann moved to Lisbon.") == 1
    told = "told 8 times, also 2024-05-0"
    assert told in out and " and 2 more days" in out
    assert "told" not in shell("recall", "memory", "Ben's dog?", "--limit", "1")[1]


def test_a_log_without_an_operation_says_none(shell: Shell, store: str) -> None:
    assert shell("log", store, "--op", "correct") == (
        0, "", "recollex: none: the log of default has no correct\n",
    )  # fmt: skip
    code, _, err = shell("log", store, "--op", "forget", "--op", "erase", "--since", "2024-01-01")
    assert code == 0 and "has no forget or erase at these times" in err


def test_a_mistyped_operation_is_guessed(shell: Shell, store: str) -> None:
    code, _, err = shell("log", store, "--op", "corect")
    assert code == 2 and "there is no operation 'corect': did you mean correct?" in err


def test_an_unknown_operation_is_refused(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        agent.retain("Ann moved to Lisbon.")
        with pytest.raises(InputError, match=r"op must be some of create, .*, got 'corect'"):
            agent.log(op="corect")


def test_a_diff_without_changes_says_so(shell: Shell, store: str) -> None:
    code, out, err = shell("diff", store, "2024-01-01", "2024-01-02")
    assert (code, out) == (0, "") and "nothing changed in what default knew" in err


def test_a_search_that_finds_nothing_says_so(shell: Shell, store: str) -> None:
    code, out, err = shell("memosearch", store, "Lisbon?", "--as-recorded", "2024-01-02")
    assert (code, out) == (0, "")
    assert "default has no facts, events or memories for 'Lisbon?'" in err
    words = ("memosearch", store, "Lisbon?", "--as-recorded", "2024-01-02", "--json")
    assert json.loads(shell(*words)[1]) == {"events": [], "facts": [], "memories": []}


def test_facts_are_searched_beside_memories(shell: Shell, store: str) -> None:
    with recollex.open(store) as opened:
        opened.agent("default").facts.add("Ben", "keeps", "bees")
        opened.agent("default").events.add("Ben was stung.")
    code, out, _ = shell("recall", store, "Who has bees?", "--kind", "fact", "--kind", "event")
    assert code == 0 and out.splitlines() == ["fact    Ben keeps bees", "event   Ben was stung."]
    code, out, _ = shell("recall", store, "Who has bees?", "--kind", "memory", "--kind", "fact")
    assert {line.split()[0] for line in out.splitlines()} == {"memory", "fact"}
    code, out, _ = shell("memosearch", store, "What insects does he have?", "--top", "1")
    assert code == 0 and "Ben keeps bees" in out and out.count("\n") == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("stats", "m", "--jsn"), "no option --jsn: did you mean --json? (see: recollex stats -"),
        (("recall", "m", "x", "--limitt", "3"), "did you mean --limit? (see: recollex recall --"),
        (("recall", "m", "--qurey=x"), "there is no option --qurey"),
        (("recall", "m", "--query", "x"), "--query: the query is written alone, without --query"),
        (("think", "m", "x", "--model", "b"), "did you mean --llm or --embedder? (see: recollex t"),
        (("recall", "m", "x", "--as-of", "2024"), "did you mean --as-recorded or --as-world?"),
        (("export", "m", "-o", "x"), "no option -o: did you mean --output? (see: recollex export"),
        (("serve", "m", "--port", "80"), "did you mean --listen or --http? (see: recollex serve"),
        (("top", "unix:x", "--agnet", "bob"), "no option --agnet, only --help, --every, --once"),
        (("studio", "m", "--agnt", "bob"), "did you mean --agent? (see: recollex studio --help)"),
        (("--agent", "bob", "stats", "m"), "--version. A subcommand's options stand after it"),
        (("--json", "stats", "m"), "--version. A subcommand's options stand after it"),
        (("forget", "m", "home"), "'home' is one word too many: an id is given as --id home (see"),
        (("stats", "m", "home"), "'home' is one word too many (see"),
        (("--verson",), "did you mean --version?"),
        (("recall", "m", "Where", "does", "she", "work?"), "'does she work?' is one word too many"),
        (("recall", "m"), "required: query (see: recollex recall --help)"),
        (("warmup", "--store", "m"), "there is no option --store"),
        (("--store", "m"), "a subcommand is missing after --store"),
        (("stats", "--store"), "--store: expected one argument"),
    ],
)
def test_a_wrong_word_is_named_with_what_to_type(
    shell: Shell, words: tuple[str, ...], said: str
) -> None:
    code, out, err = shell(*words)
    assert (code, out) == (2, "") and said in err and err.count("\n") == 1, err
    if not words[0].startswith("-"):
        assert f"(see: recollex {words[0]} --help)" in err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("models lst", "there is no action 'lst': did you mean list?"),
        ("completion fish", "there is no shell 'fish', only bash, zsh, tcsh"),
        ("retain new Tea. --zone Nowhere", "zone must be a name such as UTC"),
        ("recall memory x --min-confidence high", "--min-confidence: must be a number, got 'high'"),
        ("import memory notes.txt", "name the format, jsonl or parquet. recollex ingest reads"),
        ("import memory nothing.txt", "there is no file nothing.txt to import"),
        ("ingest memory notes.txt", "notes.txt: line 1 is not JSON, and no header of a table"),
        ("ingest memory bad.jsonl", "bad.jsonl: line 1 is not JSON: "),
        ("ingest memory bad.jsonl --format mem0", "bad.jsonl: it is not JSON, as mem0 is: "),
        ("ingest memory .", "it is a folder of no known format: known are chatgpt"),
        ("restore bk new --number 9", "there is no backup at bk: recollex backup makes one"),
        ("erase memory --by a --why b", "such as id or document_id, or everything"),
        (
            "log memory --since 2024-05-01 --until 2024-04-01",
            "--since must be earlier than --until",
        ),
        ("audit memory --since 2024-05-01 --until 2024-05-01", "--since must be earlier"),
        ("verify memory --number 2", "--number is of a backup, and memory is none"),
        ("verify memory --head 3", "or what recollex head printed, got '3'"),
        ("retain /proc/new Tea.", "/proc/new"),
        (
            "facts memory --start=gtt\\ 2012",
            "--start has no operator 'gtt', only lt, le, eq, ge, gt,",
        ),
        ("serve notes.txt", "notes.txt is a file: a store is a folder"),
        ("serve .", "holds other files and no store: give a folder that is not there yet"),
    ],
)
def test_a_mistake_is_one_line(shell: Shell, store: str, line: str, said: str) -> None:
    Path("notes.txt").write_text("some notes\n", "utf-8")
    Path("bad.jsonl").write_text('{"text": "a"\n', "utf-8")
    code, out, err = shell(*shlex.split(line))
    assert (code, out) == (2, "") and said in err and err.count("\n") == 1, err
    assert err.startswith("recollex: ") and "Traceback" not in err


def test_a_missing_agent_is_guessed_by_reembed(shell: Shell, store: str) -> None:
    words = ("reembed", store, "--model", "all-MiniLM-L6-v2", "--agent", "defualt")
    code, _, err = shell(*words)
    assert code == 1 and "did you mean default?" in err


def test_the_head_of_a_log_is_not_looked_for_in_a_backup(shell: Shell, store: str) -> None:
    assert shell("backup", store, "bk")[0] == 0
    code, _, err = shell("verify", "bk", "--head", "2:x")
    assert code == 2 and "--head is of an agent's log, and bk is a backup" in err


@pytest.mark.parametrize(
    "line",
    [
        "diff memory 2024-01-01 --agent default 2024-01-02",
        "diff --zone UTC memory --agent=default 2024-01-01",
        "retain memory --agent default Tea. --tag a Coffee. --tag b",
    ],
)
def test_options_may_stand_anywhere(shell: Shell, store: str, line: str) -> None:
    code, _, err = shell(*line.split())
    assert code == 0, err


@pytest.mark.parametrize("command", sorted(subcommands.COMMANDS))
def test_every_subcommand_points_at_its_own_help(shell: Shell, command: str) -> None:
    code, out, err = shell(command, "--no-such-optoin")
    assert (code, out) == (2, "")
    assert "there is no option --no-such-optoin" in err
    assert err.endswith(f"(see: recollex {command} --help)\n")


@pytest.mark.parametrize(
    "words",
    [
        ("stats", "--store", "memory"),
        ("--store", "memory", "stats"),
        ("--store=memory", "stats", "--agent", "default"),
        ("stats", "--agent", "default", "--store=memory"),
        ("recall", "--top", "3", "--store", "memory", "Who moved?"),
        ("--store", "memory", "recall", "Who moved?"),
        ("diff", "--store", "memory", "2024-01-01"),
    ],
)
def test_the_store_may_be_an_option(shell: Shell, store: str, words: tuple[str, ...]) -> None:
    code, out, err = shell(*words)
    assert code == 0 and out, err


def test_a_text_that_begins_like_an_option_follows_two_dashes(shell: Shell) -> None:
    assert shell("retain", "memory", "--id", "a", "--", "--store is an option")[0] == 0
    assert json.loads(shell("export", "memory")[1])["text"] == "--store is an option"


def test_content_is_another_name_of_text(shell: Shell) -> None:
    assert shell("ingest", "memory", "-", stdin='{"content": "Tea at four.", "id": "t"}')[0] == 0
    assert json.loads(shell("export", "memory")[1])["text"] == "Tea at four."
    both = '{"content": "Tea.", "text": "Coffee."}'
    code, _, err = shell("ingest", "memory", "-", stdin=both)
    assert code == 2 and "line 1 has both 'text' and 'content'" in err


def test_a_dict_in_place_of_a_text_names_text(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        agent = store.agent("a")
        wrong = r"text must be a str, got a dict: give its 'content' as the text"
        with pytest.raises(InputError, match=wrong):
            agent.retain({"content": "Tea at four."})  # type: ignore[arg-type]
        with pytest.raises(InputError, match=wrong):
            agent.retain_many([{"content": "Tea at four."}])  # type: ignore[list-item]
        turn = {"speaker": "Ann", "content": "Tea at four.", "at": "2024-05-01T16:00:00Z"}
        (id,) = agent.retain_dialogue([turn], document_id="d")
        assert agent.get(id).text == "Ann: Tea at four."
