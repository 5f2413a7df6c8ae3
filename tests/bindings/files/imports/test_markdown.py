"""Files and folders of Markdown, and the memory folders of agents."""

import io
from pathlib import Path

import pytest

import recollex
from recollex_engine.errors import InputError
from tests.bindings.files.imports.conftest import Ingest

NOTE = """\ufeff---
title: Oslo
date: 2024-05-04
tags: [city, "the north"]
mood: {good: yes}
---
Before any heading.

# Food

Fish.

```
# no heading
```

## Sweets
- cake
- cream

Drinks
------
Tea.

## Sweets
Again.
"""


def test_a_section_is_a_memory(agent: recollex.Agent, ingest: Ingest) -> None:
    done = ingest(NOTE.replace("\n", "\r\n"), "oslo.md")
    assert (done.format, done.stored, done.untimed) == ("markdown", 5, 0)
    assert [(each.id, each.context, each.text) for each in agent.list()] == [
        ("oslo.md#", None, "Before any heading."),
        ("oslo.md#food", "Food", "Fish.\n\n```\n# no heading\n```"),
        ("oslo.md#food/sweets", "Food / Sweets", "- cake\n\n- cream"),
        ("oslo.md#food/drinks", "Food / Drinks", "Tea."),
        ("oslo.md#food/sweets-2", "Food / Sweets", "Again."),
    ]
    first = agent.list()[0]
    assert first.event_at.isoformat() == "2024-05-04T00:00:00+00:00"
    assert (first.tags, first.document_id) == (("city", "the north"), "oslo.md")
    assert first.metadata == {"title": "Oslo", "mood": {"good": True}}


def test_an_edited_section_replaces_what_it_said(agent: recollex.Agent, ingest: Ingest) -> None:
    ingest(NOTE, "oslo.md")
    assert ingest(NOTE.replace("Fish.", "Cod."), "oslo.md").stored == 1
    assert [each.text[:5] for each in agent.history("oslo.md#food")] == ["Fish.", "Cod.\n"]


def test_a_long_section_is_divided_between_blocks(agent: recollex.Agent, ingest: Ingest) -> None:
    ingest("# Log\n\n" + "\n\n".join(f"{n} " + "word " * 300 for n in range(5)), "log.md")
    assert [(each.id, each.text[0]) for each in agent.list()] == [
        ("log.md#log", "0"),
        ("log.md#log/2", "2"),
        ("log.md#log/3", "4"),
    ]


def test_a_text_is_found_by_its_heading(agent: recollex.Agent) -> None:
    assert recollex.ingest(agent, io.StringIO("# Tea\nAt four.\n")).format == "markdown"
    assert agent.get("stdin#tea").text == "At four."


def memory(folder: Path) -> Path:
    (folder / "notes" / ".hidden").mkdir(parents=True)
    (folder / "MEMORY.md").write_text(
        "# Ann\n\n- Likes tea.\n- Lives in *Oslo*\n  since May.\n"
        "- [Work](notes/work.md) - her jobs\n\n1. [ ] Buy a boat.\n\nShe is kind.\n"
    )
    (folder / "notes" / "2024-05-04.md").write_text("- Met Ben.\n- Likes tea.\n- Met Ben.\n")
    (folder / "notes" / ".hidden" / "x.md").write_text("- No.\n")
    (folder / "notes" / "face.png").write_bytes(b"\x89PNG")
    (folder / "USER.md").write_text("Speaks Norwegian.\n\u00a7\nHas a cat.\nIt is black.\n")
    return folder


def test_items_of_a_memory_folder(agent: recollex.Agent, ingest: Ingest, tmp_path: Path) -> None:
    done = ingest(memory(tmp_path / "ann"))
    assert (done.format, done.stored, done.untimed) == ("markdown", 9, 6)
    assert [(each.document_id, each.text) for each in agent.list()] == [
        ("MEMORY.md", "Likes tea."),
        ("MEMORY.md", "Lives in *Oslo*\n  since May."),
        ("MEMORY.md", "Buy a boat."),
        ("MEMORY.md", "She is kind."),
        ("USER.md", "Speaks Norwegian."),
        ("USER.md", "Has a cat.\nIt is black."),
        ("notes/2024-05-04.md", "Met Ben."),
        ("notes/2024-05-04.md", "Likes tea."),
        ("notes/2024-05-04.md", "Met Ben."),
    ]
    assert agent.list()[-1].event_at.isoformat() == "2024-05-04T00:00:00+00:00"
    assert done.left_out == {"item of an index": 1, "file .png": 1}


def test_an_item_keeps_its_id_where_others_are_written_before_it(
    agent: recollex.Agent, ingest: Ingest, tmp_path: Path
) -> None:
    folder = memory(tmp_path / "ann")
    ingest(folder)
    file = folder / "MEMORY.md"
    file.write_text(file.read_text().replace("- Likes tea.", "- Plays chess.\n- Likes tea."))
    assert ingest(folder).stored == 1


def test_front_matter_that_is_none(agent: recollex.Agent, ingest: Ingest) -> None:
    done = ingest("---\n: [\n---\nTea.\n", "a.md")
    assert (done.stored, done.left_out) == (1, {"front matter that is no YAML": 1})
    done = ingest("---\nA line, and one below.\n---\nTea.\n# End\n", "b.md")
    assert agent.get("b.md#a-line-and-one-below").text == "Tea."
    assert done.left_out == {"heading without a text": 1}


def test_without_the_parsers_it_says_what_to_install(
    agent: recollex.Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_text("Tea.")
    monkeypatch.setattr("recollex.files.imports.markdown.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'recollex\[markdown\]'"):
        recollex.ingest(agent, tmp_path / "a.md")
