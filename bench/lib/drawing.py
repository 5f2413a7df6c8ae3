"""How is a latency table drawn? As bars, one for each stage, or as curves on log axes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

COLOURS = ("#33658a", "#c8553d", "#6a994e", "#8e6c8a", "#e0a030", "#55828b", "#999999", "#222222")


@dataclass(frozen=True)
class Plot:
    """How the rows of a section are drawn.

    bars: one for each row, named by column ``x``, as long as ``y``. curves: ``y`` against ``x``,
    one curve for each value of the column ``series``.
    """

    kind: Literal["bars", "curves"]
    x: str
    y: str
    series: str = ""
    unit: str = ""


Drawn = tuple[str, Plot, Sequence[Mapping[str, Any]]]


def draw(plots: Sequence[Drawn], path: Path) -> None:
    """Draw one panel for each section; the same table gives the same bytes."""
    try:
        import matplotlib
        from matplotlib import pyplot
    except ImportError as error:
        raise SystemExit("plots need matplotlib: pip install 'recollex[bench]'") from error

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "recollex"
    across = min(2, len(plots))
    down = -(-len(plots) // across)
    figure, panels = pyplot.subplots(
        down, across, figsize=(5.2 * across, 3.4 * down), squeeze=False
    )
    for panel in panels.flat[len(plots) :]:
        panel.set_visible(False)
    for (title, plot, rows), panel in zip(plots, panels.flat, strict=False):
        held = [row for row in rows if plot.x in row and isinstance(row.get(plot.y), int | float)]
        if plot.kind == "bars":
            _bars(plot, held, panel)
        else:
            _curves(plot, held, panel)
        panel.set_title(title, fontsize=8)
        panel.tick_params(labelsize=7)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def _bars(plot: Plot, rows: Sequence[Mapping[str, Any]], panel: Any) -> None:
    names = [
        f"{row[plot.x]} ({row[plot.series]})" if plot.series else str(row[plot.x]) for row in rows
    ]
    panel.barh(range(len(rows)), [row[plot.y] for row in rows], color=COLOURS[0], height=0.7)
    panel.set_yticks(range(len(rows)), names)
    panel.invert_yaxis()
    panel.set_xlabel(plot.unit or plot.y, fontsize=7)


def _curves(plot: Plot, rows: Sequence[Mapping[str, Any]], panel: Any) -> None:
    names = list(dict.fromkeys(row[plot.series] for row in rows))
    for place, name in enumerate(names):
        points = sorted((row[plot.x], row[plot.y]) for row in rows if row[plot.series] == name)
        panel.plot(
            [x for x, _ in points],
            [y for _, y in points],
            color=COLOURS[place % len(COLOURS)],
            linestyle="-" if place < len(COLOURS) else "--",
            marker="o",
            markersize=3,
            linewidth=2 if str(name).startswith("recollex") else 1,
            label=name,
        )
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.grid(alpha=0.2)
    panel.legend(fontsize=6)
    panel.set_xlabel(plot.x, fontsize=7)
    panel.set_ylabel(plot.unit or plot.y, fontsize=7)
