"""Memories go to files that other programs read, and `recollex.ingest` reads them again."""

import json
from pathlib import Path

import pytest

import recollex
from recollex_engine.errors import InputError
from tests.bindings.command_line import Shell
from tests.bindings.test_memory_files import told
from tests.bindings.word_vectors import WordVectors


@pytest.fixture
def alice(tmp_path: Path) -> recollex.Agent:
    agent = recollex.open(tmp_path / "a", embedder=WordVectors()).agent("alice")
    told(agent)
    return agent


def read_again(tmp_path: Path, file: Path) -> tuple[recollex.Ingestion, recollex.Agent]:
    agent = recollex.open(tmp_path / "b", embedder=WordVectors()).agent("alice")
    return recollex.ingest(agent, file, stamped=True, recorded=True), agent


def test_notes_hold_all_of_a_memory(alice: recollex.Agent, tmp_path: Path) -> None:
    count = recollex.export_memories(alice, tmp_path / "notes", format="markdown")
    names = sorted(path.name for path in (tmp_path / "notes").iterdir())
    assert len(names) == count == alice.count()
    assert names[0] == "2024-05-01-ann-lives-in-oslo.md"
    assert (tmp_path / "notes").stat().st_mode & 0o777 == 0o700
    done, agent = read_again(tmp_path, tmp_path / "notes")
    assert (done.format, done.stored, dict(done.left_out)) == ("markdown", count, {})

    def plain(of: recollex.Agent) -> list[dict[str, object]]:
        found = [memory.to_dict() | {"recorded_at": None} for memory in of.list(limit=100)]
        for each in found:
            each["text"] = str(each["text"]).strip()
        return sorted(
            ({k: each[k] for k in each if k not in ("passage", "passages", "tokens")}
             for each in found),
            key=lambda each: str(each["id"]),
        )  # fmt: skip

    assert plain(agent) == plain(alice)


def test_notes_of_one_name_are_told_apart(tmp_path: Path) -> None:
    agent = recollex.open(tmp_path / "a", embedder=WordVectors()).agent("alice")
    agent.retain_many(["Tea!", "Tea?"], event_at="2024-05-04T10:00:00Z")
    recollex.export_memories(agent, tmp_path / "notes", format="markdown")
    found = sorted(path.name for path in (tmp_path / "notes").iterdir())
    assert found == ["2024-05-04-tea-2.md", "2024-05-04-tea.md"]
    with pytest.raises(InputError, match="notes exists: name a folder that is new"):
        recollex.export_memories(agent, tmp_path / "notes", format="markdown")


def test_memories_of_mem0(alice: recollex.Agent, tmp_path: Path) -> None:
    count = recollex.export_memories(alice, tmp_path / "mem0.json", format="mem0")
    done, agent = read_again(tmp_path, tmp_path / "mem0.json")
    assert (done.format, done.stored) == ("mem0", count)
    home = agent.get("home")
    assert (home.text, home.tags, home.event_at) == (
        "Ann lives in Oslo.",
        ("a", "b"),
        alice.get("home").event_at,
    )
    assert home.metadata["n"] == 1
    assert home.valid_until == alice.get("home").valid_until


def test_turns_as_messages_of_langchain(alice: recollex.Agent, tmp_path: Path) -> None:
    file = tmp_path / "talk.json"
    assert recollex.export_memories(alice, file, format="langchain") == 2
    first, second = json.loads(file.read_text("utf-8"))
    assert (first["type"], first["data"]["role"], first["data"]["content"]) == (
        "chat",
        "Bob",
        "How is the job?",
    )
    assert (second["type"], second["data"]["name"]) == ("ai", "Ann")
    done, agent = read_again(tmp_path, file)
    assert (done.format, done.stored, done.untimed) == ("langchain", 2, 0)
    assert [each.text for each in agent.list()] == ["Bob: How is the job?", "Ann: Busy!"]
    assert agent.get("t1").event_at == alice.get("t1").event_at


def test_a_wrong_format_names_those_that_are(alice: recollex.Agent, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'"mem0" or "langchain", got .x'):
        recollex.export_memories(alice, tmp_path / "x", format="x")
    with pytest.raises(InputError, match='format must be "jsonl" or "parquet", got \'mem0\''):
        recollex.import_memories(alice, __file__, format="mem0")


def test_the_command_writes_notes(shell: Shell) -> None:
    Path("tea.csv").write_text("text,date\nTea at four.,2024-05-04\n", "utf-8")
    shell("ingest", "memory", "tea.csv")
    code, _, err = shell("export", "memory", "--format", "markdown", "--output", "notes")
    assert (code, err) == (0, "recollex: 1 memory written to notes\n")
    assert "Tea at four." in Path("notes/2024-05-04-tea-at-four.md").read_text("utf-8")
    code, _, err = shell("export", "memory", "--format", "mem0")
    assert code == 2 and "--format mem0 needs --output" in err
