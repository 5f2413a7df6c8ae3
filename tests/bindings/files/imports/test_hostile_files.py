"""Files that were made to harm their reader are refused or counted, in bounded time and memory."""

import os
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest

import recollex
from recollex import cli
from recollex.api import foreign_files
from recollex.files.imports.markdown import read_text
from recollex.files.imports.mbox import text_of_html
from recollex.files.imports.reading import FileReading
from recollex_engine.errors import InputError
from tests.hostile import UNITS, seconds

TOO_DEEP = "is not JSON: it is nested too deeply"
DEEP = "[" * 100_000 + "]" * 100_000
MAIL = "From a Mon Jan  1 00:00:00 2024\nFrom: a@b.org\nDate: Mon, 01 Jan 2024 00:00:00 +0000\n"
GOOD = MAIL + "\nTea at four.\n"


def archive(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in files.items():
            written.writestr(name, content)
    return path


def test_an_archive_that_unpacks_to_far_more_is_refused(ingest, tmp_path):
    spaces = b"[" + b" " * (1 << 25) + b"]"
    bomb = archive(tmp_path / "bomb.zip", {"conversations.json": spaces})
    with pytest.raises(InputError, match=r"conversations.json unpacks from .* to 33,554,434 bytes"):
        ingest(bomb)


def test_an_archive_of_too_many_bytes_or_files_is_refused(ingest, tmp_path, monkeypatch):
    many = archive(tmp_path / "many.zip", {f"conversations-{n}.json": b"[]" for n in range(9)})
    monkeypatch.setattr(foreign_files, "MOST_FILES", 8)
    with pytest.raises(InputError, match="9 files, and may have 8"):
        ingest(many)
    monkeypatch.setattr(foreign_files, "MOST_FILES", 9)
    monkeypatch.setattr(foreign_files, "MOST_BYTES", 17)
    with pytest.raises(InputError, match="takes 18 bytes, and up to 17"):
        ingest(many)


@pytest.mark.parametrize("name", ["conversations.json", "users.json"])
def test_a_damaged_archive_is_an_error_of_its_file(ingest, tmp_path, name):
    path = archive(tmp_path / "a.zip", {name: os.urandom(999), "channels.json": b"[]"})
    data = bytearray(path.read_bytes())
    data[200:300] = bytes(100)
    path.write_bytes(data)
    with pytest.raises(InputError, match=f"{name} cannot be unpacked"):
        ingest(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", DEEP),
        ("a.jsonl", '{"text": "a", "metadata": ' + DEEP + "}\n"),
        ("a.csv", f"text,metadata\nTea.,{DEEP}\n"),
        ("a.ics", "BEGIN:VCALENDAR\n" * 5000),
        ("conversations.json", '[{"mapping": ' + DEEP + "}]"),
        ("a.json", '[{"phone_id": ' + DEEP + "}]"),
        ("a.md", f"---\na: {DEEP}\n---\nTea.\n"),
        ("a.mbox", MAIL + "".join(
            f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(3000)
        )),
    ],
)  # fmt: skip
def test_what_is_nested_too_deeply_is_no_recursion_error(agent, tmp_path, name, content):
    (tmp_path / name).write_text(content, "utf-8")
    try:
        done = recollex.ingest(agent, tmp_path / name)
    except InputError as error:
        assert name in str(error)
    else:
        assert done.left_out or not done.read


def test_deep_json_in_every_place_is_an_input_error(ingest, tmp_path):
    inside = archive(tmp_path / "a.zip", {"conversations.json": DEEP.encode()})
    with pytest.raises(InputError, match=rf"conversations.json {TOO_DEEP}"):
        ingest(inside)
    for name in ("users.json", "channels.json"):
        (tmp_path / "slack").mkdir(exist_ok=True)
        (tmp_path / "slack" / name).write_text(DEEP)
    with pytest.raises(InputError, match=rf"users.json {TOO_DEEP}"):
        ingest(tmp_path / "slack")


@pytest.mark.parametrize(
    "head",
    [
        "From: " + "(" * 100_000,
        "To: " + "<" * 100_000,
        "Date: Fri, 31 Dec 9999 23:59:59 -2359",
        "Date: Mon, 01 Jan 99999 00:00:00 +0000",
        "".join(f"X-{n}: boundary=b\n" for n in range(300)) + "Subject: a",
    ],
)
def test_a_hostile_mail_does_not_end_the_import_of_others(ingest, head):
    bad = f"From a Mon Jan  1 00:00:00 2024\nFrom: c@d.org\n{head}\n\nNo.\n\n"
    done = ingest(bad + GOOD, "a.mbox")
    assert done.stored == 1 and done.left_out


BROKEN = (
    *("<a '", '<a "', "<!--", "<!", "<", "</", "<a ", "&#", "&a", "<a b='", "<script>", "<style "),
    *("<![CDATA[", "<?", "=", "<a ="),
)


@pytest.mark.parametrize("unit", BROKEN)
def test_broken_html_takes_linear_time(unit):
    short, long = (unit * (n // len(unit)) for n in (20_000, 80_000))
    taken = seconds(lambda: text_of_html(long), 0.1)
    assert taken <= max(0.1, 6 * seconds(lambda: text_of_html(short), 0.0))


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("a < b and 3 > 2", "a < b and 3 > 2"),
        ('<p title="a > b">Tea</p>', "Tea"),
        ("Tea <!-- no -->at <!---->four<!-->.", "Tea at four."),
        ("<script>if (a < b) '</p>'</script>Tea", "Tea"),
        ("<STYLE>p {}</STYLE >Tea<br/>Cake", "Tea\nCake"),
        ("<head><title>No</title></head><h1>Tea &amp; cake</h1>", "Tea & cake"),
        ("<!DOCTYPE html><?xml?></>Tea", "Tea"),
        ("Tea <a href=", "Tea"),
        ("<scripts>Tea", "Tea"),
    ],
)
def test_a_page_is_read_as_a_browser_shows_it(page, words):
    assert text_of_html(page) == words


def test_links_in_a_folder_are_counted_not_followed(ingest, agent, tmp_path):
    (tmp_path / "outside.md").write_text("A secret.")
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "b.md").write_text("Another secret.")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("Tea.")
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    (folder / "linked").symlink_to(tmp_path / "private")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.md")
    done = ingest(folder)
    assert done.left_out == {"link": 3, "pipe, socket or device": 1}
    assert [memory.text for memory in agent.list()] == ["Tea."]


@pytest.mark.parametrize("name", ["conversations.json", "users.json"])
def test_a_link_or_a_pipe_in_the_folder_of_an_export_is_not_read(ingest, tmp_path, name):
    (tmp_path / "outside.json").write_text("[]")
    for place, make in {
        "a": lambda p: p.symlink_to(tmp_path / "outside.json"),
        "b": os.mkfifo,
    }.items():
        folder = tmp_path / place
        folder.mkdir()
        (folder / "channels.json").write_text("[]")
        make(folder / name)
        with pytest.raises(InputError):
            ingest(folder)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.csv", "a.md", "a.pdf", "a.mbox", "a"])
def test_a_pipe_or_a_device_is_refused(agent, tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match="a pipe, a socket or a device"):
        recollex.ingest(agent, tmp_path / name)
    (tmp_path / f"link-{name}").symlink_to("/dev/zero")
    with pytest.raises(InputError, match="a pipe, a socket or a device"):
        recollex.ingest(agent, tmp_path / f"link-{name}")
    with pytest.raises(InputError):
        recollex.import_memories(agent, tmp_path / name, format="jsonl")


ALIASES = "a: &a [x]\n" + "".join(
    f"{name}: &{name} [*{before}, *{before}]\n" for before, name in pairwise("abcdefghi")
)


@pytest.mark.parametrize("front", [ALIASES, "a: " + "[" * 5000, "a: 2024-99-99", "a: b\n" * 30_000])
def test_front_matter_is_bounded_and_has_no_aliases(front):
    reading = FileReading("a")
    [found] = read_text(f"---\n{front}\n---\nTea.", "a.md", reading)
    assert found["text"] == "Tea." and reading.left_out == {"front matter that is no YAML": 1}


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_markdown_takes_linear_time(unit):
    short, long = (unit * (n // len(unit)) for n in (5_000, 20_000))
    taken = seconds(lambda: list(read_text(long, "a.md", FileReading("a"))), 0.1)
    assert taken <= max(
        0.1, 6 * seconds(lambda: list(read_text(short, "a.md", FileReading("a"))), 0.0)
    )


def test_the_command_line_says_it_in_one_line(tmp_path, capsys):
    (tmp_path / "a.csv").write_text(f"text,metadata\nTea.,{DEEP[:900]}{DEEP[-900:]}\n")
    (tmp_path / "a.json").write_text('[{"phone_id": ' + DEEP + "}]")
    assert cli.main(["ingest", str(tmp_path / "memory"), str(tmp_path / "a.json")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert cli.main(["ingest", str(tmp_path / "memory"), str(tmp_path / "a.csv")]) in (0, 2)
