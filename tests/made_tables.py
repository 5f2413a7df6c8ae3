"""Writes the tables of docs/ that come from the tables of the code.

``python -m tests.made_tables`` writes them anew; `test_made_tables` compares them with what stands
there.
"""

from pathlib import Path

from recollex_engine.recall.memory import FIELDS

DOCS = Path(__file__).parents[1] / "docs"


def of_a_memory() -> str:
    """Return the table of a memory's fields."""
    rows = [f"| `{name}` | {told.help} |\n" for name, told in FIELDS.items()]
    return "| of a memory | |\n|---|---|\n" + "".join(rows)


def recall_page() -> str:
    """Return docs/recall.md with its table as it is made."""
    held = (DOCS / "recall.md").read_text("utf-8")
    before, head, rest = held.partition("| of a memory | |\n")
    assert head, "the table begins with this line"
    _, _, after = rest.partition("\n\n")
    return f"{before}{of_a_memory()}\n{after}"


PAGES = {"recall.md": recall_page}


def main() -> None:
    for name, made in PAGES.items():
        (DOCS / name).write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main()
