"""Every subcommand takes --json, and then prints one JSON document, or one on each line."""

import argparse
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recollex
from recollex.cli import subcommands
from tests.bindings.command_line import Shell
from tests.bindings.serving import serving
from tests.bindings.word_vectors import WordVectors

FACT = {"op": "UPSERT_EDGE", "subject": "Ann", "predicate": "lives_in", "object": "Lisbon"}
PRINTS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "demo": ("demo", lambda said: len(said["recalls"]) == 12 and said["turns"] > 50),
    "retain": ("retain new 'Ben has a dog.'", lambda said: len(said["ids"]) == 1),
    "ingest": ("ingest memory talk.jsonl", lambda said: said["stored"] == 1),
    "apply": ("apply memory facts.jsonl", lambda said: said["operations"] == 1),
    "memowrite": ("memowrite memory facts.jsonl", lambda said: said["transactions"] == 1),
    "memoread": ("memoread memory home", lambda said: said["memory"]["id"] == "home"),
    "memosearch": ("memosearch memory Lisbon?", lambda said: said["memories"] != []),
    "facts": ("facts told", lambda said: said["id"] == "lives"),
    "recall": ("recall memory Lisbon?", lambda said: said["query"] == "Lisbon?"),
    "list": ("list memory", lambda said: said["id"] == "home"),
    "agents": ("agents memory", lambda said: "default" in str(said)),
    "delete-agent": ("delete-agent memory default --yes", lambda said: said["deleted"] is True),
    "stats": ("stats memory", lambda said: said["memories"] == 1),
    "export": ("export memory", lambda said: said["id"] == "home"),
    "import": ("import copy talk.jsonl --embedder given:8", lambda said: said["stored"] == 1),
    "log": ("log memory --op retain", lambda said: said["ids"] == ["home"]),
    "audit": ("audit memory --since 2024-05-01", lambda said: said["kind"] == "retain"),
    "amend": ("amend memory home --tag a", lambda said: said == {"id": "home"}),
    "forget": ("forget memory --id home", lambda said: said == {"forgotten": 1}),
    "erase": ("erase memory --id home --by a --why b --yes", lambda said: said["memories"] == 1),
    "think": ("think memory Lisbon? --prompt", lambda said: said["text"] is None),
    "jobs": ("jobs memory", lambda said: said["status"] == "waiting"),
    "profile": ("profile memory", lambda said: said["personality"]["openness"] == 0.5),
    "retention": ("retention memory --count 9 --by ann", lambda said: said["count"] == 9),
    "consolidate": ("consolidate memory --preview", lambda said: said["archived"] == 0),
    "diff": ("diff memory 2024-01-01", lambda said: said["added"][0]["id"] == "home"),
    "snapshot": ("snapshot memory 2024-05-02 may", lambda said: said["memories"] == 1),
    "replay": ("replay memory/agents/default again", lambda said: said["operations"] == 2),
    "backup": ("backup memory backup", lambda said: said["number"] == 2),
    "backups": ("backups backup", lambda said: said["agents"] == {"default": 2}),
    "restore": ("restore backup restored", lambda said: said["agents"] == {"default": 2}),
    "head": ("head memory", lambda said: said["op"] == 2 and len(said["chain"]) == 43),
    "verify": ("verify memory", lambda said: said["operations"] == 2),
    "doctor": ("doctor memory", lambda said: [each["ok"] for each in said] == [True, True]),
    "checkpoint": ("checkpoint memory", lambda said: said == {"passages": 1}),
    "reembed": ("reembed memory --model all-MiniLM-L6-v2", lambda said: said["passages"] == 1),
    "models": ("models verify", lambda said: "fingerprint" in str(said)),
    "key": ("key memory.key", lambda said: said == {"file": "memory.key"}),
    "completion": ("completion bash", lambda said: "complete" in said["script"]),
}
ELSEWHERE = {
    "cluster",
    "mcp",
    "serve",
    "studio",
    "top",
    "warmup",
    "undo",
    "resolve-entities",
    "investigate",
    "extract",
}  # they take a server, a minute, a fact, names, or a language model


def parsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of every subcommand."""
    actions = subcommands.build()._actions
    (found,) = (a for a in actions if isinstance(a, argparse._SubParsersAction))
    for parser in found.choices.values():
        parser.complete()
    return dict(found.choices)


@pytest.fixture
def files(shell: Shell) -> None:
    line = {"id": "new", "text": "Ben has a dog.", "embedding": [1.0] * 8}
    Path("talk.jsonl").write_text(json.dumps(line), "utf-8")
    Path("facts.jsonl").write_text(json.dumps(FACT), "utf-8")
    with recollex.open("memory", embedder=recollex.GivenVectors(8)) as store:
        vector, at = np.ones(8, np.float32), "2024-05-01T00:00Z"
        store.agent("default").retain(
            "Ann is in Lisbon.", id="home", embedding=vector, recorded_at=at
        )
        store.backup("backup")
    with recollex.open("told", embedder=recollex.GivenVectors(8)) as store:
        store.agent("default").facts.add("Ann", "lives_in", "Oslo", id="lives")


@pytest.mark.parametrize("command", sorted(parsers()))
def test_every_subcommand_takes_it(command: str) -> None:
    assert "--json" in parsers()[command]._option_string_actions
    assert command in PRINTS.keys() | ELSEWHERE


@pytest.mark.parametrize("command", PRINTS)
@pytest.mark.usefixtures("files")
def test_the_output_is_json(shell: Shell, command: str) -> None:
    words, is_right = PRINTS[command]
    code, out, err = shell(*shlex.split(words), "--json")
    assert code == 0, err
    try:
        said = json.loads(out)
    except ValueError:  # a document on each line
        said = [json.loads(line) for line in out.splitlines()]
    assert is_right(said), said


def test_top_prints_one_document_for_each_look(shell: Shell, tmp_path: Path) -> None:
    address = f"unix://{tmp_path / 'socket'}"
    with serving(recollex.open("memory", embedder=WordVectors()), address=address):
        code, out, err = shell("top", address, "--once", "--every", "0.1", "--json")
    assert code == 0, err
    said = json.loads(out)
    assert said["seconds"] > 0 and said["waiting"] == 0 and "calls" in said
