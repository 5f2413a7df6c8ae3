"""How is a latency table measured and kept? Systems race over the same questions.

A table is printed as Markdown, or with ``--json`` as JSON. ``--out FILE`` keeps the JSON there,
with a Markdown page and a plot beside it. A missed bound is kept as missed; nothing here raises for
it.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.lib.drawing import Plot, draw
from bench.lib.rundata import environment, number, percentiles

THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "LANCE_CPU_THREADS",
    "TOKIO_WORKER_THREADS",
)
"""Variables from which libraries read their number of threads when they are loaded.
(LANCE_IO_THREADS is left out: with one thread, LanceDB waits forever.)"""

Cell = str | int | float


@dataclass(frozen=True)
class System:
    """Something that answers questions.

    reported: reads the microseconds from an answer, if only a part of a recall counts; None to
    measure the time around ``ask``. prepare: called on a question right before the clock starts, so
    that the caches hold no more of the last question than they would in use.
    """

    name: str
    ask: Callable[[Any], Any]
    reported: Callable[[Any], float] | None = None
    prepare: Callable[[Any], Any] = lambda question: question


@dataclass(frozen=True)
class Bound:
    """A condition: ``measured`` is at most (or with ``least``, at least) ``limit``."""

    what: str
    measured: float
    limit: float
    least: bool = False
    note: str = ""

    @property
    def held(self) -> bool:
        """Whether the condition holds."""
        return self.measured >= self.limit if self.least else self.measured <= self.limit


@dataclass(frozen=True)
class Section:
    """Rows under one heading; a row is column -> cell. With ``plot``, they are drawn."""

    title: str
    rows: Sequence[Mapping[str, Cell]]
    plot: Plot | None = None


@dataclass(frozen=True)
class Page:
    """A finished table."""

    name: str
    claim: str
    command: str
    sections: Sequence[Section]
    bounds: Sequence[Bound] = ()
    remarks: Sequence[str] = ()
    rivals: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


def parse(document: str, sizes: Sequence[int] = ()) -> argparse.ArgumentParser:
    """Return the parser that every latency table shares; ``sizes`` are the default of --rows."""
    parser = argparse.ArgumentParser(description=document.splitlines()[0])
    if sizes:
        parser.add_argument("--rows", nargs="+", type=int, default=list(sizes), metavar="N")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--out", type=Path, help="keep the JSON here; .md and .svg go beside it")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("RECOLLEX_DATA") or "."),
        help="folder of the data sets (or RECOLLEX_DATA)",
    )
    return parser


def claim(document: str) -> str:
    """Return the paragraph of a script's docstring that says what it claims."""
    found = next(part for part in document.split("\n\n") if part.startswith("Claim: "))
    text = found.removeprefix("Claim: ").replace("\n", " ")
    return text[0].upper() + text[1:]


def with_one_thread() -> None:
    """Start this process again with one thread for every library, unless that is so already."""
    wanted = {name: "1" for name in THREADS if os.environ.get(name) != "1"}
    if wanted:
        command = [sys.executable, *sys.orig_argv[1:]]
        os.execve(command[0], command, os.environ | wanted)


def race(
    systems: Sequence[System],
    questions: Sequence[Any],
    repeats: int = 5,
    seconds: float = 6.0,
) -> dict[str, dict[str, float]]:
    """Return p50, p95 and p99 in microseconds of every system, all over the same questions.

    Also "best p50" and "best p99", which are taken of each question's best time: that is the time
    when other processes do not disturb the machine.

    The systems alternate, each with a round of all questions, so that a disturbance of the machine
    hits all of them. A system that has spent its seconds stops, but not before 20 questions of its
    first round. A warm-up of 10 questions is not counted.
    """
    spent: dict[str, list[float]] = {system.name: [] for system in systems}
    used = dict.fromkeys(spent, 0.0)
    for system in systems:
        for question in questions[:10]:
            system.ask(system.prepare(question))
    for _ in range(repeats):
        for system in systems:
            times = spent[system.name]
            for question in questions:
                if used[system.name] > seconds and len(times) >= 20:
                    break
                prepared = system.prepare(question)
                before = time.perf_counter_ns()
                answer = system.ask(prepared)
                took = (time.perf_counter_ns() - before) / 1000
                used[system.name] += took / 1e6
                times.append(took if system.reported is None else system.reported(answer))
    return {
        name: percentiles(times)
        | {f"best {p}": value for p, value in percentiles(_best(times, len(questions))).items()}
        | {"n": len(times)}
        for name, times in spent.items()
    }


def _best(times: Sequence[float], count: int) -> list[float]:
    """Return the smallest of each question's times, which come in rounds of ``count``."""
    return [min(times[place::count]) for place in range(min(count, len(times)))]


def finish(page: Page, arguments: argparse.Namespace) -> None:
    """Print the page, and with ``--out`` keep it there."""
    kept = {
        "bench": page.name,
        "claim": page.claim,
        "command": page.command,
        "environment": environment()
        | {"rivals": {name: version(name) for name in page.rivals}, "threads": threads()},
        "settings": dict(page.settings),
        "sections": [{"title": part.title, "rows": list(part.rows)} for part in page.sections],
        "bounds": [asdict(bound) | {"held": bound.held} for bound in page.bounds],
        "remarks": list(page.remarks),
    }
    text = json.dumps(kept, indent=1, default=str)
    shown = markdown(page, kept["environment"])
    print(text if arguments.json else shown)
    if arguments.out is None:
        return
    out: Path = arguments.out
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text + "\n", encoding="utf-8")
    plots = [(part.title, part.plot, part.rows) for part in page.sections if part.plot is not None]
    if plots:
        draw(plots, out.with_suffix(".svg"))
        shown += f"\n![{page.name}]({out.stem}.svg)\n"
    out.with_suffix(".md").write_text(shown, encoding="utf-8")


def threads() -> str:
    """Return how many threads the libraries were given."""
    given = {os.environ.get(name, "default") for name in THREADS}
    return given.pop() if len(given) == 1 else "default"


def markdown(page: Page, machine: Mapping[str, Any]) -> str:
    """Return the table as a Markdown page."""
    rivals = ", ".join(f"{name} {number}" for name, number in machine["rivals"].items())
    where = f"{machine['cores']} cores of {machine['cpu']}, load {machine['load']:.1f} before"
    lines = [f"# {page.name}", "", page.claim, "", f"Command: `{page.command}`", ""]
    lines += [f"{where}; Python {machine['python']}{'; ' + rivals if rivals else ''}.", ""]
    for section in page.sections:
        lines += [f"## {section.title}", "", *table(section.rows), ""]
    if page.bounds:
        rows = [
            {
                "what": bound.what,
                "bound": f"{'>=' if bound.least else '<='} {number(bound.limit)}",
                "measured": bound.measured,
                "held": "yes" if bound.held else "**no**",
                "note": bound.note,
            }
            for bound in page.bounds
        ]
        lines += ["## Bounds", "", *table(rows), ""]
    lines += [f"- {remark}" for remark in page.remarks]
    if page.settings:
        settings = ", ".join(f"{name} {value}" for name, value in page.settings.items())
        lines += ["", f"Settings: {settings}."]
    return "\n".join(lines).rstrip() + "\n"


def table(rows: Sequence[Mapping[str, Cell]]) -> list[str]:
    """Return rows as the lines of a Markdown table."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    for row in rows:
        cells = [number(row[name]) if name in row else "" for name in columns]
        lines.append("| " + " | ".join(cells) + " |")
    return lines
