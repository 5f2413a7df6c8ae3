"""How is a latency table drawn? As bars, one for each stage, or as curves on log axes.

What ranking tables are drawn with is here too: panels that grow with their rows, and one colour for
a system or a row in all panels.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal

from bench.lib.rundata import number

COLOURS = (
    *("#33658a", "#c8553d", "#6a994e", "#8e6c8a", "#e0a030", "#55a6a6", "#999999", "#d487b5"),
    *("#7a5c3e", "#8fb8de", "#e39774", "#b5d19c", "#bfa8c9", "#222222", "#5c5c8a", "#a3b18a"),
    *("#b03a6b", "#00695c", "#9e9d24", "#b08968"),
)
"""Colours of systems, then of other families of rows, in turn."""

_RACED = "recollex bm25s tantivy sqlite lancedb usearch hnswlib faiss numpy networkx igraph scipy"
SYSTEMS = {name: place for place, name in enumerate(_RACED.split())}
"""The systems that are raced, by the first word of their rows; they keep a colour in all plots."""

LINES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class Plot:
    """How the rows of a section are drawn.

    bars: one for each row, named by column ``x``, as long as ``y``. curves: ``y`` against ``x``,
    one curve for each value of the column ``series``; bars, one for each of these values, where
    ``x`` has one value only.
    """

    kind: Literal["bars", "curves"]
    x: str
    y: str
    series: str = ""
    unit: str = ""


Drawn = tuple[str, Plot, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class Bar:
    """A bar of a panel: its name, its length, and how far below and above it its interval goes."""

    name: str
    length: float
    below: float = 0.0
    above: float = 0.0


def family_of(name: str) -> str:
    """Return what a row is a variant of: a system, or its name before a comma or bracket.

    >>> family_of("recollex, default"), family_of("SQLite FTS5"), family_of("tag, 1 %")
    ('recollex', 'sqlite', 'tag')
    """
    first = re.match(r"[a-z]+(?:\d+[a-z]+)?", name.casefold())
    return first[0] if first and first[0] in SYSTEMS else re.split(r", | \(", name)[0]


def colours_of(names: Iterable[str]) -> dict[str, str]:
    """Return name -> colour. A system has its own, other families take what is left, in turn.

    >>> colours_of(["Total", "recollex, default", "recollex, tempr"])["recollex, tempr"]
    '#33658a'
    """
    of = {name: family_of(name) for name in names}
    families = dict.fromkeys(of.values())
    raced = {family: SYSTEMS[family] for family in families if family in SYSTEMS}
    free = [place for place in range(len(COLOURS)) if place not in raced.values()]
    others = [family for family in families if family not in raced]
    places = raced | {family: free[turn % len(free)] for turn, family in enumerate(others)}
    return {name: COLOURS[places[family]] for name, family in of.items()}


def draw(plots: Sequence[Drawn], path: Path) -> None:
    """Draw one panel for each section; the same table gives the same bytes.

    A name has one colour in all panels. Sizes stand on an axis only if there are several.
    """
    held = [(title, plot, _held(plot, rows)) for title, plot, rows in plots]
    barred = [
        plot.kind == "bars" or len({row[plot.x] for row in rows}) < 2 for _, plot, rows in held
    ]
    names = [
        [_name(plot, row) if bars else str(row[plot.series]) for row in rows]
        for (_, plot, rows), bars in zip(held, barred, strict=True)
    ]
    colours = colours_of(name for panel in names for name in panel)
    sizes = [
        bars_height(len(each)) if bars else 3.8 for each, bars in zip(names, barred, strict=True)
    ]
    figure, panels = new_panels([title for title, *_ in held], sizes, across=2, width=5.2)
    for (_, plot, rows), bars, own, panel in zip(held, barred, names, panels, strict=True):
        if bars:
            lengths = [row[plot.y] for row in rows]
            draw_bars([Bar(*each) for each in zip(own, lengths, strict=True)], colours, panel)
            panel.set_xlabel(plot.unit or plot.y, fontsize=7)
        else:
            _curves(plot, rows, colours, panel)
    save(figure, path)


def _held(plot: Plot, rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [row for row in rows if plot.x in row and isinstance(row.get(plot.y), int | float)]


def _name(plot: Plot, row: Mapping[str, Any]) -> str:
    named = row[plot.series or plot.x]
    return f"{named:,}" if isinstance(named, int) else str(named)


def new_panels(
    titles: Sequence[str], heights: Sequence[float], across: int, width: float
) -> tuple[Any, list[Any]]:
    """Return a figure and its panels, sizes in inches.

    At most ``across`` panels stand beside each other, and under each other if their heights differ.
    """
    try:
        import matplotlib
        from matplotlib import pyplot
    except ImportError as error:
        raise SystemExit("plots need matplotlib: pip install 'recollex[bench]'") from error

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "recollex"
    across = 1 if max(heights) > 2 * min(heights) else min(across, len(titles))
    tall = [max(heights[first : first + across]) for first in range(0, len(titles), across)]
    figure, grid = pyplot.subplots(
        len(tall),
        across,
        figsize=(width * across, sum(tall)),
        squeeze=False,
        gridspec_kw={"height_ratios": tall},
    )
    panels = list(grid.flat)
    for panel in panels[len(titles) :]:
        panel.set_visible(False)
    for title, panel in zip(titles, panels, strict=False):
        panel.set_title("\n".join(wrap(title, int(width * 12))), fontsize=8)
        panel.tick_params(labelsize=7)
    return figure, panels[: len(titles)]


def save(figure: Any, path: Path) -> None:
    """Write a figure as SVG, and let go of it."""
    from matplotlib import pyplot

    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def bars_height(rows: int) -> float:
    """Return the inches of a panel in which the names of so many bars do not overlap."""
    return 1.0 + 0.2 * max(rows, 2)


def draw_bars(bars: Sequence[Bar], colours: Mapping[str, str], panel: Any) -> None:
    """Draw bars under each other, each in its name's colour and with its length beside it."""
    places = range(len(bars))
    lengths = [bar.length for bar in bars]
    reach = [[bar.below for bar in bars], [bar.above for bar in bars]]
    drawn = panel.barh(
        places,
        lengths,
        xerr=reach if any(map(any, reach)) else None,
        color=[colours[bar.name] for bar in bars],
        ecolor="#333333",
        height=0.7,
    )
    panel.bar_label(drawn, [number(length) for length in lengths], padding=3, fontsize=6)
    panel.set_yticks(places, [bar.name for bar in bars])
    panel.set_ylim(max(len(bars), 1) - 0.5, -0.5)
    panel.margins(x=0.18)


def _curves(
    plot: Plot, rows: Sequence[Mapping[str, Any]], colours: Mapping[str, str], panel: Any
) -> None:
    names = list(dict.fromkeys(str(row[plot.series]) for row in rows))
    drawn: dict[str, int] = {}
    for name in names:
        points = sorted((row[plot.x], row[plot.y]) for row in rows if str(row[plot.series]) == name)
        # Curves of one colour differ by their line.
        line = drawn[colours[name]] = drawn.get(colours[name], -1) + 1
        panel.plot(
            [x for x, _ in points],
            [y for _, y in points],
            color=colours[name],
            linestyle=LINES[line % len(LINES)],
            marker="o",
            markersize=3,
            linewidth=2 if family_of(name) == "recollex" else 1,
            label=name,
        )
    sizes = sorted({row[plot.x] for row in rows})
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xticks(sizes, [f"{size:,}" for size in sizes])
    panel.minorticks_off()
    panel.yaxis.set_major_locator(_decades())
    panel.yaxis.set_major_formatter(lambda value, _: number(float(value)))
    panel.grid(alpha=0.2)
    # Below the panel, where it covers no curve.
    panel.legend(fontsize=6, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.16))
    panel.set_xlabel(plot.x, fontsize=7)
    panel.set_ylabel(plot.unit or plot.y, fontsize=7)


def _decades() -> Any:
    """Return where a log axis is labelled: at 1, 2 and 5 of each power of ten."""
    from matplotlib.ticker import LogLocator

    return LogLocator(subs=(1.0, 2.0, 5.0), numticks=12)
