import itertools

import pytest

from bench.lib import drawing
from bench.lib.drawing import COLOURS, SYSTEMS, Plot, colours_of, draw, family_of

SIZES = Plot("curves", "memories", "p50", "system")


def row(memories, system, p50):
    return {"memories": memories, "system": system, "p50": p50}


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Return a function that draws, and returns the figure as it was written."""
    kept = []
    save = drawing.save

    def keeping(figure, path):
        kept.append(figure)
        save(figure, path)

    monkeypatch.setattr(drawing, "save", keeping)

    def figure_of(*plots):
        draw(plots, tmp_path / "plot.svg")
        return kept[-1]

    return figure_of


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_a_system_has_one_colour_in_every_plot():
    one = colours_of(["recollex, default", "bm25s (numba)", "LanceDB hybrid", "Total"])
    other = colours_of(["sqlite3 + FTS5, always", "LanceDB", "recollex", "recollex, tempr"])
    assert one["recollex, default"] == other["recollex"] == other["recollex, tempr"]
    assert one["LanceDB hybrid"] == other["LanceDB"]
    assert len(set(one.values())) == 4
    assert family_of("bm25s numba") == "bm25s"
    assert family_of("SQLite FTS5") == family_of("sqlite3 + FTS5, always")
    assert family_of("Total (three-way)") == family_of("Total (four-way)") == "Total"
    assert len(SYSTEMS) < len(COLOURS) == len(set(COLOURS))


def test_stages_have_different_colours_and_the_same_in_all_panels(drawn):
    names = [f"stage {place}" for place in range(12)]
    bars = Plot("bars", "stage", "p50")
    rows = [{"stage": name, "p50": 1.0 + place} for place, name in enumerate(names)]
    figure = drawn(("all", bars, rows), ("some", bars, rows[5:]))
    first, second = [[bar.get_facecolor() for bar in panel.patches] for panel in figure.axes]
    assert len(set(first)) == 12
    assert second == first[5:]


def test_one_size_is_drawn_as_bars_of_the_systems(drawn):
    figure = drawn(("one", SIZES, [row(10_000, "recollex", 2.0), row(10_000, "bm25s", 3000.0)]))
    (panel,) = figure.axes
    assert len(panel.patches) == 2 and not panel.lines
    assert ticks(panel.yaxis) == ["recollex", "bm25s"]
    assert [text.get_text() for text in panel.texts] == ["2", "3,000"]


def test_several_sizes_stand_on_the_axis_and_no_others(drawn):
    rows = [row(n, "recollex", n / 7) for n in (1000, 5000, 40_000)]
    figure = drawn(("some", SIZES, [*rows, row(1000, "bm25s", 3.0), row(5000, "bm25s", 9.0)]))
    (panel,) = figure.axes
    assert ticks(panel.xaxis) == ["1,000", "5,000", "40,000"]
    assert not panel.patches
    assert [line.get_linestyle() for line in panel.lines] == ["-", "-"]


def test_curves_of_one_system_differ_by_their_line(drawn):
    names = ("recollex, default", "recollex, tempr", "bm25s")
    rows = [row(n, name, n + 1.0) for n in (10, 20) for name in names]
    lines = drawn(("some", SIZES, rows)).axes[0].lines
    assert [line.get_linestyle() for line in lines] == ["-", "--", "-"]
    assert lines[0].get_color() == lines[1].get_color() != lines[2].get_color()


@pytest.mark.parametrize("count", [3, 16, 60])
def test_names_of_stages_do_not_overlap(drawn, count):
    bars = Plot("bars", "stage", "p50")
    rows = [{"stage": f"A stage of a long name, {n}", "p50": 10.0 ** (n % 4)} for n in range(count)]
    long = "A title that says much of the machine, the memories, the questions and the unit, in ms"
    figure = drawn((long, bars, rows), (long, bars, rows[:3]), (long, bars, rows[:5]))
    figure.canvas.draw()
    for panel in figure.axes:
        if not panel.get_visible():
            continue
        for texts in (panel.get_yticklabels(), panel.texts):
            boxes = [text.get_window_extent() for text in texts]
            assert not any(one.overlaps(two) for one, two in itertools.combinations(boxes, 2))
        assert panel.texts[-1].get_window_extent().x1 <= panel.get_window_extent().x1 + 1


def test_a_page_with_nothing_to_draw_has_an_empty_panel(drawn):
    figure = drawn(("none", SIZES, [{"memories": 10, "system": "recollex", "p50": "not run"}]))
    assert not figure.axes[0].patches
