"""Which format is found, what the command line says of it, and what it says of no known one."""

import io
import json
import sys
import zipfile
from pathlib import Path

import pytest

import recollex
from recollex.cli import main
from recollex.files import imports
from recollex.files.imports.formats import formats
from recollex_engine.errors import InputError
from tests.bindings.command_line import Shell
from tests.bindings.files.imports.conftest import Ingest
from tests.bindings.files.imports.test_chatgpt import CONVERSATIONS

MODULE = """
from recollex.files.imports.formats import Format


def read(text, reading):
    yield {"text": text.partition("\\n")[2]}


def matches(first):
    return first == "!note\\n"


FORMATS = (Format("note", ("text",), "a note", "a memory", matches, read),)
"""
OBJECTS = [{"text": "Tea at four.", "id": "1"}, {"text": "Coffee at five.", "id": "2"}]


def test_the_help_and_the_page_list_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    main(["ingest", "--help"])
    shown = capsys.readouterr().out
    page = (Path(__file__).parents[4] / "docs" / "imports.md").read_text("utf-8")
    for row in formats().values():
        assert f"  {row.name:<10} {row.line()}\n".replace("`", "") in shown
        assert f"| `{row.name}` | {row.line()} | {row.becomes} |\n" in page


def test_a_format_is_one_module(
    agent: recollex.Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notebook.py").write_text(MODULE)
    monkeypatch.setattr(imports, "__path__", [*imports.__path__, str(tmp_path)])
    formats.cache_clear()
    try:
        (tmp_path / "day.note").write_text("!note\nTea at four.\n")
        done = recollex.ingest(agent, tmp_path / "day.note")
        assert (done.format, done.stored) == ("note", 1)
    finally:
        monkeypatch.undo()
        formats.cache_clear()
        del sys.modules["recollex.files.imports.notebook"]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_of_objects_is_json(ingest: Ingest, indent: int | None) -> None:
    assert ingest(json.dumps(OBJECTS, indent=indent)).format == "json"


def test_messages_of_a_chat_api_are_json(agent: recollex.Agent, ingest: Ingest) -> None:
    said = {"messages": [{"role": "user", "content": "I moved to Oslo.", "id": "m"}]}
    assert ingest(said, "chat.json").format == "json"
    assert agent.get("m").document_id == "chat"


def test_a_stream_of_text_is_read(agent: recollex.Agent) -> None:
    lines = "\n".join(["", *map(json.dumps, OBJECTS)])
    assert recollex.ingest(agent, io.StringIO(lines)).stored == 2
    assert recollex.ingest(agent, io.StringIO(json.dumps(CONVERSATIONS))).format == "chatgpt"
    with pytest.raises(InputError, match="a file of the format parquet is read by its name"):
        recollex.ingest(agent, io.StringIO(""), format="parquet")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Alice likes tea.\nBob too.\n", "line 1 is not JSON, and no header of a table"),
        ('{"text": "Tea."\n', "notes.txt: line 1 is not JSON"),
        ('{"messages": [{"role": "user"}]}\n' * 2, "line 1 has an unknown field 'messages'"),
        ('{"price": 3, "name": "tea"}', "has an unknown field 'price'"),
        ('[{"price": 3}]', "JSON of no known format: known are chatgpt, claude, csv"),
        ("17", "JSON of no known format"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "no text in UTF-8"),
        (b"PAR1\x00\x00", "not a Parquet file"),
    ],
)
def test_another_file_says_what_is_known(ingest: Ingest, content: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ingest(content, "notes.txt")


def test_a_zip_says_what_to_do(agent: recollex.Agent, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("notes.txt", "Tea at four.")
    with pytest.raises(InputError, match=r"export.zip: it is a ZIP archive of no known format"):
        recollex.ingest(agent, tmp_path / "export.zip")
    with pytest.raises(InputError, match="pdf is not read from a ZIP archive: unpack it"):
        recollex.ingest(agent, tmp_path / "export.zip", format="pdf")


def test_an_export_is_read_from_its_archive_and_its_folder(ingest: Ingest, tmp_path: Path) -> None:
    """ChatGPT's large exports have several files of conversations."""
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for number, conversation in enumerate(CONVERSATIONS):
            archive.writestr(f"export/conversations-{number:03d}.json", json.dumps([conversation]))
        archive.writestr("export/user.json", "{}")
        archive.extractall(tmp_path)
    done = ingest(tmp_path / "export.zip")
    assert (done.format, done.stored) == ("chatgpt", 6)
    assert ingest(tmp_path / "export").read == 6


def test_a_folder_of_nothing_that_is_known_is_refused(
    agent: recollex.Agent, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty: it is a folder of no known format: known are"):
        recollex.ingest(agent, tmp_path / "empty")
    with pytest.raises(InputError, match=r"the folder has no file that ends with \.pdf"):
        recollex.ingest(agent, tmp_path / "empty", format="pdf")


def test_an_id_that_stands_twice_is_another_memory_if_its_text_is(
    agent: recollex.Agent, ingest: Ingest
) -> None:
    said = [{"id": "m", "memory": text} for text in ("Tea.", "Coffee.", "Tea.")]
    done = ingest({"results": said})
    assert {memory.id: memory.text for memory in agent.list()} == {"m": "Tea.", "m#2": "Coffee."}
    assert done.left_out == {"memory that stands twice": 1}


def test_half_a_pair_of_surrogates_is_replaced_and_said(
    agent: recollex.Agent, ingest: Ingest
) -> None:
    done = ingest('{"results": [{"id": "m", "memory": "Tea \\ud83c"}]}')
    assert agent.get("m").text == "Tea ?"
    assert done.left_out == {"memory with broken characters": 1}


def test_an_agent_of_a_server_ingests(address: str, tmp_path: Path) -> None:
    (tmp_path / "talk.json").write_text(json.dumps(CONVERSATIONS), "utf-8")
    with recollex.connect(address) as store:
        agent = store.agent("alice")
        assert recollex.ingest(agent, tmp_path / "talk.json").stored == 6  # type: ignore[arg-type]
        assert recollex.ingest(agent, tmp_path / "talk.json").stored == 0  # type: ignore[arg-type]


def test_a_wrong_format_is_refused(agent: recollex.Agent) -> None:
    with pytest.raises(InputError, match=r"format must be one of chatgpt, .* got 'xml'"):
        recollex.ingest(agent, "talk.xml", format="xml")
    with pytest.raises(InputError, match=r"batch must lie in \[1, 100000\], got 0"):
        recollex.ingest(agent, io.StringIO('{"text": "Tea."}'), batch=0)
    with pytest.raises(InputError, match="stamped keeps the source of each line"):
        recollex.ingest(agent, io.StringIO("{}"), stamped=True, source="user")


def test_the_command_says_the_format_and_what_is_left_out(shell: Shell) -> None:
    Path("conversations.json").write_text(json.dumps(CONVERSATIONS), "utf-8")
    code, out, err = shell("ingest", "memory", "conversations.json")
    assert (code, out) == (0, "6 memories stored for default\n")
    assert "conversations.json is read as chatgpt; --format names another" in err
    assert "left out, or kept as a note: 3 x message of a branch that is not shown" in err
    code, out, _ = shell("ingest", "memory", "conversations.json")
    assert (code, out) == (0, "0 memories stored for default, 6 there already\n")
    code, out, _ = shell("ingest", "memory", "conversations.json", "--json")
    said = json.loads(out)
    assert (said["stored"], said["read"], said["format"]) == (0, 6, "chatgpt")
    assert said["left_out"]["picture"] == 1


def test_the_command_says_what_columns_are_and_what_has_no_time(shell: Shell) -> None:
    Path("notes.csv").write_text("message,channel\nTea at four.,kitchen\n", "utf-8")
    code, out, err = shell("ingest", "memory", "notes.csv")
    assert code == 0 and out.startswith("1 memory stored")
    assert "columns: message is text, channel is metadata" in err
    assert "1 item without a time: that of recording stands for it" in err


def test_a_file_without_anything_is_said(shell: Shell) -> None:
    Path("empty.jsonl").touch()
    code, _, err = shell("ingest", "memory", "empty.jsonl")
    assert code == 1 and "empty.jsonl has nothing to store" in err
    assert not Path("memory").exists()


def test_the_bar_shows_total_and_time_left(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [json.dumps({"text": f"Note {n}.", "embedding": [1.0] * 8}) for n in range(300)]
    Path("notes.jsonl").write_text("\n".join(lines), "utf-8")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    code, _, err = shell(
        "ingest", "memory", "notes.jsonl", "--embedder", "given:8", "--batch", "250"
    )
    assert code == 0
    assert "ingesting: " in err and "/300 " in err and "<" in err
    assert "retaining" not in err
