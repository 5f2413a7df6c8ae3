from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

import recollex
from recollex_engine.errors import InputError
from tests.bindings.files.imports.conftest import Ingest
from tests.bindings.files.imports.pdf_files import pdf

ABOUT = {"Title": "A report", "Author": "Ann", "CreationDate": "D:20240504100000+02'00'"}


def test_a_page_is_a_memory(agent: recollex.Agent, ingest: Ingest) -> None:
    done = ingest(pdf(["Tea at four.\nBring cake.", "", "The end."], **ABOUT), "report.pdf")
    assert (done.format, done.stored, done.untimed) == ("pdf", 2, 0)
    first, last = agent.list()
    assert (first.id, first.text) == ("report.pdf#page=1", "Tea at four.\nBring cake.")
    assert (last.id, last.metadata) == (
        "report.pdf#page=3",
        {"page": 3, "pages": 3, "author": "Ann"},
    )
    assert (first.document_id, first.context) == ("report.pdf", "A report")
    assert first.event_at.isoformat() == "2024-05-04T08:00:00+00:00"
    assert done.left_out == {"page without a text": 1}


def test_a_folder_of_them(agent: recollex.Agent, ingest: Ingest, tmp_path: Path) -> None:
    (tmp_path / "papers" / "old").mkdir(parents=True)
    (tmp_path / "papers" / "a.pdf").write_bytes(pdf(["One."]))
    (tmp_path / "papers" / "old" / "b.pdf").write_bytes(pdf(["Two."]))
    (tmp_path / "papers" / "list.txt").touch()
    done = ingest(tmp_path / "papers")
    assert (done.format, done.untimed, done.left_out) == ("pdf", 2, {"file .txt": 1})
    assert [each.id for each in agent.list()] == ["a.pdf#page=1", "old/b.pdf#page=1"]


def test_one_with_a_password_and_a_broken_one_are_refused(
    agent: recollex.Agent, tmp_path: Path
) -> None:
    (tmp_path / "plain.pdf").write_bytes(pdf(["Secret."]))
    writer = PdfWriter(PdfReader(tmp_path / "plain.pdf"))
    writer.encrypt("word", algorithm="AES-256")
    writer.write(tmp_path / "locked.pdf")
    with pytest.raises(InputError, match=r"locked\.pdf is encrypted: save it without a password"):
        recollex.ingest(agent, tmp_path / "locked.pdf")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4\n" + b"x" * 100)
    with pytest.raises(InputError, match=r"broken\.pdf is no PDF that can be read"):
        recollex.ingest(agent, tmp_path / "broken.pdf")


def test_without_pypdf_it_says_what_to_install(
    agent: recollex.Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf(["Tea."]))
    monkeypatch.setattr("recollex.files.imports.pdf.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'recollex\[pdf\]'"):
        recollex.ingest(agent, tmp_path / "a.pdf")
