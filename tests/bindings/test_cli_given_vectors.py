"""Every subcommand on a store whose vectors a program gives: none loads a model."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

import recollex
from recollex.cli import subcommands
from recollex_engine.models import encoder
from tests.bindings.command_line import Shell

WORKS = {
    "stats": "stats memory",
    "log": "log memory",
    "list": "list memory --tag t",
    "agents": "agents memory",
    "export": "export memory",
    "import": "import copy given.jsonl",
    "ingest": "ingest memory given.jsonl",
    "apply": "apply memory facts.jsonl",
    "memowrite": "memowrite memory facts.jsonl",
    "memoread": "memoread memory home",
    "memosearch": "memosearch memory Lisbon?",
    "facts": "facts memory --subject Ann --start 'ge 2024' --count",
    "recall": "recall memory Lisbon?",
    "audit": "audit memory",
    "amend": "amend memory home --tag kept",
    "forget": "forget memory --id home",
    "erase": "erase memory --id home --by ann --why asked --yes",
    "think": "think memory Lisbon? --prompt --embedder given:8",
    "jobs": "jobs memory",
    "resolve-entities": "resolve-entities memory",
    "profile": "profile memory",
    "retention": "retention memory --count 100 --by ann",
    "diff": "diff memory 2024-01-01",
    "snapshot": "snapshot memory 2024-05-02 may",
    "replay": "replay memory/agents/default rebuilt",
    "backup": "backup memory backup",
    "backups": "backups backup",
    "restore": "restore backup restored",
    "head": "head memory",
    "verify": "verify memory",
    "doctor": "doctor memory",
    "checkpoint": "checkpoint memory",
    "consolidate": "consolidate memory --preview",
    "undo": "undo memory 3",
    "delete-agent": "delete-agent memory default --yes",
}
LINE = {"id": "new", "text": "Ben has a dog.", "embedding": [1.0] * 8}
FACT = {"op": "UPSERT_EDGE", "subject": "Ann", "predicate": "lives_in", "object": "Lisbon"}
NEEDS_A_MODEL_OR_NO_STORE = {
    "cluster",
    "investigate",
    "extract",
    "demo",
    "retain",
    "reembed",
    "models",
    "warmup",
    "key",
    "serve",
    "studio",
    "mcp",
    "top",
}


@pytest.fixture
def store(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a model is loaded")

    monkeypatch.setattr(encoder, "load_encoder", refuse)
    Path("given.jsonl").write_text(json.dumps(LINE), "utf-8")
    Path("facts.jsonl").write_text(json.dumps(FACT), "utf-8")
    with recollex.open("memory", embedder=recollex.GivenVectors(8)) as opened:
        vector = np.ones(8, np.float32)
        told: dict[str, object] = {"id": "home", "tags": ["t"], "recorded_at": "2024-05-01T00:00Z"}
        opened.agent("default").retain("Ann moved to Lisbon.", embedding=vector, **told)  # type: ignore[arg-type]
        opened.agent("default").facts.add("Ann", "likes", "tea", valid=("2024-05-01T00:00Z", None))
        opened.backup("backup")


def test_every_subcommand_is_tried() -> None:
    assert WORKS.keys() | NEEDS_A_MODEL_OR_NO_STORE >= subcommands.COMMANDS.keys() - {"completion"}


@pytest.mark.parametrize("command", WORKS)
@pytest.mark.usefixtures("store")
def test_it_works_without_a_model(shell: Shell, command: str) -> None:
    code, _, err = shell(*shlex.split(WORKS[command]))
    assert code == 0, err


@pytest.mark.parametrize("name", ["all.jsonl", "all.parquet"])
@pytest.mark.usefixtures("store")
def test_an_exported_file_is_imported_with_its_vectors(shell: Shell, name: str) -> None:
    assert shell("export", "memory", "--output", name)[0] == 0
    code, out, err = shell("import", "copy", name)
    assert (code, out) == (0, "1 memory stored for default\n"), err
    assert json.loads(shell("stats", "copy", "--json")[1])["model"] == "given-8"
    assert shell("export", "copy")[1] == shell("export", "memory")[1]


@pytest.mark.usefixtures("store")
def test_a_recall_answers_by_words_and_says_what_to_do(shell: Shell) -> None:
    code, out, _ = shell("recall", "memory", "Who moved to Lisbon?")
    assert code == 0 and "Ann moved to Lisbon." in out
    assert " failed: " in out and "the program that uses this agent gives its vectors" in out
    assert "query_embedding=" in out and "recollex reembed STORE" in out


@pytest.mark.usefixtures("store")
def test_a_text_without_a_vector_says_what_to_do(shell: Shell) -> None:
    code, _, err = shell("retain", "memory", "Ben has a dog.")
    assert code == 2 and 'ingest lines with "embedding": [8 numbers]' in err
    assert err.count("\n") == 1
    code, _, err = shell("retain", "memory", "Ben has a dog.", "--embedder", "given:8x")
    assert code == 2 and "given:N says how long vectors are, got 'given:8x'" in err


def test_an_agent_of_another_known_model_is_read_without_it(shell: Shell) -> None:
    given = recollex.GivenVectors(384)
    given.fingerprint = "BAAI/bge-small-en-v1.5@000000000000-int8-v1"
    with recollex.open("memory", embedder=given) as opened:
        opened.agent("default").retain("Ann moved to Lisbon.", embedding=np.ones(384))
    for command in ("list memory", "verify memory", "checkpoint memory"):
        code, _, err = shell(*command.split())
        assert code == 0, err
