"""How is a table kept? As JSON, a Markdown page and a plot, side by side.

A table has sections, a section has rows, and a row has its labels and an interval for each measure.
Every ranking table is written in this form.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.lib.drawing import COLOURS, Bar, bars_height, colours_of, draw_bars, new_panels, save
from bench.lib.rundata import environment
from bench.tables.lib.metrics import Difference, Interval

Cell = Interval | Difference | str | float | int


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under one heading. A row is column -> cell; the first columns are its labels.

    plot: the measure that is drawn, with its interval; None draws nothing. It is drawn as one bar
    for each row. With ``across``, a column of numbers, it is a curve over that column, and each
    point is named by the row's first column.
    """

    title: str
    rows: Sequence[Mapping[str, Cell]]
    plot: str | None = None
    across: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A finished table: its name (the script's), what it claims, its sections, and remarks."""

    name: str
    claim: str
    sections: Sequence[Section]
    remarks: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


def arguments(description: str, *, data: bool = True) -> argparse.ArgumentParser:
    """Return the parser that every table script shares; without ``data``, for a set of our own."""
    parser = argparse.ArgumentParser(description=description)
    if data:
        parser.add_argument("--data", required=True, type=Path, help="folder of the data sets")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="keep the table here; .md and .svg go beside it"
    )
    parser.add_argument(
        "--limit", type=int, metavar="N", help="ask the first N queries of each bank: a quick look"
    )
    return parser


def keep(table: Table, path: Path | None) -> None:
    """Print the table as Markdown; with ``path``, keep it as JSON, page and plot as well."""
    page = markdown(table)
    print(page)
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    plotted = [section for section in table.sections if section.plot]
    if plotted:
        draw(plotted, path.with_suffix(".svg"))
        page += f"\n![{table.name}]({path.stem}.svg)\n"
    path.with_suffix(".md").write_text(page, encoding="utf-8")
    kept = {"bench": table.name, "environment": environment(), **as_json(table)}
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def as_json(table: Table) -> dict[str, Any]:
    """Return the table as JSON values, with four decimals: intervals are wider than that."""
    return {
        "claim": table.claim,
        "settings": dict(table.settings),
        "sections": [
            {
                "title": section.title,
                "rows": [
                    {
                        name: _rounded(
                            cell if isinstance(cell, str | float | int) else asdict(cell)
                        )
                        for name, cell in row.items()
                    }
                    for row in section.rows
                ],
            }
            for section in table.sections
        ],
        "remarks": list(table.remarks),
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def markdown(table: Table) -> str:
    """Return the table as a Markdown page."""
    lines = [f"# {table.name}", "", table.claim, ""]
    for section in table.sections:
        columns = list(dict.fromkeys(name for row in section.rows for name in row))
        lines += [f"## {section.title}", ""]
        lines.append("| " + " | ".join(columns) + " |")
        lines.append("|" + " --- |" * len(columns))
        for row in section.rows:
            cells = [_cell(row[name]) if name in row else "" for name in columns]
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    if table.remarks:
        lines += [*(f"- {remark}" for remark in table.remarks), ""]
    if table.settings:
        told = ", ".join(f"{name} {value}" for name, value in table.settings.items())
        lines += [f"Settings: {told}.", ""]
    return "\n".join(lines)


def _cell(cell: Cell) -> str:
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)


def draw(sections: Sequence[Section], path: Path) -> None:
    """Draw one panel for each section, bars or a curve; the same table gives the same bytes.

    A row has one colour in all panels.
    """
    rows = [_intervals(section)[0] for section in sections]
    heights = [
        bars_height(len(own)) if section.across is None else 3.2
        for section, own in zip(sections, rows, strict=True)
    ]
    names = [[_label(row) for row in own] for own in rows]
    colours = colours_of(name for own in names for name in own)
    titles = [section.title for section in sections]
    figure, panels = new_panels(titles, heights, across=3, width=4.5)
    for section, own, panel in zip(sections, names, panels, strict=True):
        if section.across is None:
            _, means, (below, above) = _intervals(section)
            bars = [Bar(*each) for each in zip(own, means, below, above, strict=True)]
            draw_bars(bars, colours, panel)
            panel.set_xlabel(section.plot, fontsize=7)
        else:
            _curve(section, section.across, panel)
    save(figure, path)


def _intervals(section: Section) -> tuple[list[Mapping[str, Cell]], list[float], list[list[float]]]:
    """Return the rows with the plotted measure, its means, and the lengths of its intervals."""
    rows, cells = [], []
    for row in section.rows:
        cell = row.get(section.plot or "")
        if isinstance(cell, Difference):
            cell = cell.interval
        if isinstance(cell, Interval):
            rows.append(row)
            cells.append(cell)
    means = [cell.mean for cell in cells]
    reach = [[cell.mean - cell.low for cell in cells], [cell.high - cell.mean for cell in cells]]
    return rows, means, reach


def _curve(section: Section, across: str, panel: Any) -> None:
    rows, means, reach = _intervals(section)
    over = [row[across] for row in rows]
    panel.errorbar(over, means, yerr=reach, color=COLOURS[0], ecolor="#bbbbbb", marker="o")
    for turn, (row, x, y) in enumerate(zip(rows, over, means, strict=True)):
        name = str(next(iter(row.values())))
        beside = (3, -9 if turn % 2 else 3)  # neighbours may be near
        panel.annotate(name, (x, y), beside, textcoords="offset points", fontsize=7)
    panel.margins(x=0.1)
    panel.set_xlabel(across, fontsize=7)
    panel.set_ylabel(section.plot, fontsize=7)


def _label(row: Mapping[str, Cell]) -> str:
    return ", ".join(cell for cell in row.values() if isinstance(cell, str))
