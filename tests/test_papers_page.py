"""docs/papers.md names files, and names inside them: each exists, and each section has a row."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "papers.md"
STATES = ("built", "in part", "not built")
SECTIONS = {
    "TEMPR": "2.1 2.2.1 2.2.2 2.3.1 2.3.2 2.3.3 2.4.1 2.4.2 2.5 3.1.1 3.1.2 3.1.3 3.1.4 3.2 3.3"
    " 3.4 3.5 4.1 4.2 4.3 4.4",
    "Memora": "2.1 2.2 2.3.1 2.3.2 2.3.3 2.4 3.1.1 3.1.2 3.1.3 3.1.4 3.2 3.3.1 3.3.2 3.4 3.5 4.1"
    " 4.2 4.3 4.4 5.1 5.2 5.3 6 7.1",
    "SATF": "3.2 3.3 3.4 3.5 4.1 4.2 4.4 4.5 4.6",
    "MemoTrace": "",
    "REMem": "3.1 3.2 4 5",
}
"""The papers and the sections that a reader looks for; MemoTrace numbers none."""


def rows() -> list[tuple[str, str, str, str, str]]:
    """Return paper, section, state, where, and difference of each row."""
    found = []
    paper = ""
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("## "):
            paper = line[3:]
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and cells[0] != "section" and not cells[0].startswith("---"):
            assert len(cells) == 4, line
            found.append((paper, cells[0], cells[1], cells[2], cells[3]))
    return found


ROWS = rows()


def files(cell: str) -> list[Path]:
    return [(PAGE.parent / target).resolve() for target in re.findall(r"\]\(([^)#]+)", cell)]


def is_defined(name: str, text: str) -> bool:
    return (
        re.search(rf"^\s*(?:(?:async )?def|class) {name}\b|^{name}\b\s*[:=]", text, re.M)
        is not None
    )


@pytest.mark.parametrize(("paper", "section", "state", "where", "difference"), ROWS)
def test_a_row_names_what_there_is(
    paper: str, section: str, state: str, where: str, difference: str
) -> None:
    assert state in STATES
    named = files(where)
    assert bool(named) == (state != "not built")
    assert state == "built" or difference, "a row that is not wholly built says what is missing"
    for file in named:
        assert file.is_file() and ROOT in file.parents, file
    texts = [file.read_text("utf-8") for file in named]
    for name in re.findall(r"`([^`]+)`", where):
        assert any(is_defined(name, text) for text in texts), name
    for file in files(difference):
        assert file.is_file(), file


def test_every_paper_and_every_section_has_a_row() -> None:
    assert list(dict.fromkeys(row[0] for row in ROWS)) == list(SECTIONS)
    for paper, wanted in SECTIONS.items():
        told = " ".join(section for of, section, *_ in ROWS if of == paper)
        numbers = set(re.findall(r"\d[\d.]*", told))
        assert set(wanted.split()) <= numbers, paper


def test_a_preset_that_the_page_names_exists() -> None:
    from recollex_engine.ranking.presets import PRESETS

    named = set(re.findall(r"`(tempr[\w-]*|memora|satf|memotrace)`", PAGE.read_text("utf-8")))
    assert named and named <= set(PRESETS)
