"""Does the grammar read the times that questions ask with, and nothing else?

Claim: of the questions of LoCoMo, RealMem, LifeBench and TimeQA that name a time, at least nine in
ten are given the range a reader would search, and at most one in fifty without a time is given one.

Command: python -m bench.tables.time_expressions --data FOLDER [--json FILE]
(FOLDER holds locomo, realmem, lifebench and timeqa, the sets' own files.)

Check: a sample of each half was read and labelled by hand with the range it asks for, or "none".
The report halves were labelled before anyone looked at what the grammar makes of them.
`time_expressions_labels.json` holds the labels by question number, not the questions. The sample is
ordered by the hash of the number. Questions with an unmistakable word of time (a month, a weekday,
a year, "ago") come first and the others after them, so the sample is rich in times: precision and
recall hold for the sample, "found" for every question. The grammar was written on the development
halves: LoCoMo's conversations 1 to 5, RealMem's first three personas and LifeBench's first two
users by name, TimeQA's even pages. (Five questions of the other half of TimeQA, which the old
grammar missed, were seen while it was written.)

"written" are 60 questions with dates in dots, dashes and slashes, ordinals and abbreviated months,
and ten with numbers that are no dates. They and their labels are older than the rules for these
forms, but the rules were written for them: they show which forms are read, not how often.

A label is a day, month or year; "A..B" is from the first of A to the last of B, and "dayT18-24"
means hours of a day; "|" separates labels that are equally right. "right" is the same range; "near"
is a range that shares half of their union.
"""

import argparse
import ast
import json
import re
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from bench.lib.rundata import environment, percentiles
from recollex_engine.clock import from_micros
from recollex_engine.clock import to_micros as named_micros
from recollex_engine.dates.time_range import EARLIEST, LATEST, TimeRange, find_range

LABELS = Path(__file__).with_name("time_expressions_labels.json")
DEVELOPMENT = {"locomo": 5, "realmem": 3, "lifebench": 2}
"""Number of conversations, personas and users, from the first, that are for development."""
WRITTEN_ON = datetime(2024, 3, 13, 10, tzinfo=UTC)
"""When the written questions are asked: on a Wednesday."""
READ_ON = datetime(2021, 7, 1, tzinfo=UTC)
"""When TimeQA's questions are asked: after the newest of its pages."""
DAY = timedelta(days=1)
Range = tuple[int, int]


class Question(NamedTuple):
    """A question, its number ("3.68": the 69th of the third conversation), its time of asking."""

    number: str
    text: str
    now: int
    half: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, type=Path, help="folder of the data sets")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the table here, .md beside")
    given = parser.parse_args()
    labels = json.loads(LABELS.read_text())
    labels["written"] = {str(n): label for n, (_, label) in enumerate(labels["written"])}
    rows, wrong = [], []
    for name, read in SETS.items():
        questions = list(read(given.data / name))
        for half in ("dev", "report"):
            row, missed = measure(name, half, questions, labels[name])
            rows.append(row)
            wrong += missed
    page = markdown(rows)
    print(page)
    if given.json is not None:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        kept = {"bench": "time_expressions", "environment": environment(), "rows": rows}
        given.json.write_text(json.dumps(kept | {"wrong": wrong}, indent=1) + "\n")
        given.json.with_suffix(".md").write_text(page)


def measure(
    name: str, half: str, questions: list[Question], labels: dict[str, str]
) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """Return the row of a half, and the labelled questions that were read differently."""
    asked = [question for question in questions if question.half == half]
    find_range(asked[0].text, asked[0].now)
    found: dict[str, TimeRange | None] = {}
    spent = []
    for question in asked:
        began = time.perf_counter_ns()
        found[question.number] = find_range(question.text, question.now)
        spent.append((time.perf_counter_ns() - began) / 1000)
    counts = dict.fromkeys(("sample", "with a time", "read", "right", "near", "false"), 0)
    wrong = []
    for number, label in labels.items():
        if number not in found:
            continue
        expected, got = ranges(label), found[number]
        counts["sample"] += 1
        counts["with a time"] += bool(expected)
        if got is not None and not expected:
            counts["false"] += 1
        elif got is not None:
            counts["read"] += 1
            shared = max(overlap((got.start, got.end), one) for one in expected)
            counts["right"] += shared == 1
            counts["near"] += shared >= 0.5
        if (got is not None) != bool(expected) or (
            got is not None and (got.start, got.end) not in expected
        ):
            read = "none" if got is None else f"{_written(got.start)}..{_written(got.end)}"
            wrong.append({"set": name, "number": number, "label": label, "read": read})
    given = counts["read"] + counts["false"]
    row = {
        "set": name,
        "half": half,
        "questions": len(asked),
        "found": sum(one is not None for one in found.values()),
        **counts,
        "recall": counts["read"] / max(1, counts["with a time"]),
        "right of the read": counts["right"] / max(1, counts["read"]),
        "precision": counts["read"] / max(1, given),
        **{f"{key} us": round(value, 1) for key, value in percentiles(spent).items()},
    }
    return row, wrong


def to_micros(when: datetime) -> int:
    """Return a moment in microseconds."""
    return named_micros(when, "when")


def overlap(one: Range, other: Range) -> float:
    """Return the share of their union that two ranges have in common."""
    common = min(one[1], other[1]) - max(one[0], other[0])
    return max(0, common) / (max(one[1], other[1]) - min(one[0], other[0]))


def ranges(label: str) -> list[Range]:
    """Return the ranges that a label admits; none for "none"."""
    return [] if label == "none" else [_range(part) for part in label.split("|")]


def _range(label: str) -> Range:
    if "T" in label:
        day, hours = label.split("T")
        first, last = (timedelta(hours=int(hour)) for hour in hours.split("-"))
        start = _period(day)[0]
        return to_micros(start + first), to_micros(start + last)
    first_part, _, last_part = label.partition("..")
    start, end = _period(first_part)[0], _period(last_part or first_part)[1]
    return to_micros(start), to_micros(end)


def _period(written: str) -> tuple[datetime, datetime]:
    year, month, day = (*map(int, written.split("-")), 0, 0)[:3]
    if day:
        start = datetime(year, month, day, tzinfo=UTC)
        return start, start + DAY
    if month:
        start = datetime(year, month, 1, tzinfo=UTC)
        return start, (start + 32 * DAY).replace(day=1)
    return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)


def _written(at: int) -> str:
    """Return a moment of a range as text; its end is exclusive."""
    return "" if at in (EARLIEST, LATEST) else f"{from_micros(at):%Y-%m-%dT%H:%M}"


def locomo(folder: Path) -> Iterator[Question]:
    """Yield every question, asked when the conversation's last session begins."""
    for n, talk in enumerate(json.loads((folder / "locomo10.json").read_text()), 1):
        held = talk["conversation"]
        sessions = [key for key in held if re.fullmatch(r"session_\d+", key) and held[key]]
        now = max(_when(held[f"{key}_date_time"]) for key in sessions)
        for place, entry in enumerate(talk["qa"]):
            yield Question(f"{n}.{place}", entry["question"], now, _half("locomo", n - 1))


def _when(written: str) -> int:
    when = datetime.strptime(written.strip(), "%I:%M %p on %d %B, %Y")
    return to_micros(when.replace(tzinfo=UTC))


def realmem(folder: Path) -> Iterator[Question]:
    """Yield every query, asked at noon of its session's day."""
    for n, path in enumerate(sorted(folder.glob("*.json"))):
        place = 0
        for session in json.loads(path.read_text())["dialogues"]:
            day = datetime.strptime(session["current_time"][:10], "%Y-%m-%d").replace(tzinfo=UTC)
            for turn in session["dialogue_turns"]:
                if turn.get("is_query"):
                    now = to_micros(day + DAY / 2)
                    yield Question(f"{n}.{place}", turn["content"], now, _half("realmem", n))
                    place += 1


def lifebench(folder: Path) -> Iterator[Question]:
    """Yield every question, asked as the month (or at noon of the day) of its `ask_time` ends."""
    for n, user in enumerate(sorted(path for path in folder.iterdir() if path.is_dir())):
        entries = json.loads((user / "QA" / "QA_clean.json").read_text())
        for place, entry in enumerate(entries):
            start, end = _period(entry["ask_time"])
            now = to_micros(start + DAY / 2 if end - start == DAY else end) - (end - start != DAY)
            yield Question(f"{n}.{place}", entry["question"], now, _half("lifebench", n))


def timeqa(folder: Path) -> Iterator[Question]:
    """Yield every question of every page."""
    pages = json.loads((folder / "human_annotated_train.json").read_text())
    for n, page in enumerate(pages):
        held = page["questions"]
        for place, (text, _) in enumerate(
            ast.literal_eval(held) if isinstance(held, str) else held
        ):
            half = "report" if n % 2 else "dev"
            yield Question(f"{n}.{place}", text, to_micros(READ_ON), half)


def written(_: Path) -> Iterator[Question]:
    """Yield every question that was written for this table; the labels hold their texts."""
    for n, (text, _label) in enumerate(json.loads(LABELS.read_text())["written"]):
        yield Question(str(n), text, to_micros(WRITTEN_ON), "report" if n % 2 else "dev")


def _half(name: str, place: int) -> str:
    return "dev" if place < DEVELOPMENT[name] else "report"


SETS = {
    "locomo": locomo,
    "realmem": realmem,
    "lifebench": lifebench,
    "timeqa": timeqa,
    "written": written,
}


def markdown(rows: Iterable[dict[str, Any]]) -> str:
    """Return the table as a page."""
    rows = list(rows)
    columns = list(rows[0])
    lines = [__doc__.splitlines()[0], "", "| " + " | ".join(columns) + " |"]
    lines.append("|" + " --- |" * len(columns))
    for row in rows:
        cells = [f"{cell:.3f}" if name in RATIOS else str(cell) for name, cell in row.items()]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


RATIOS = {"recall", "right of the read", "precision"}


if __name__ == "__main__":
    main()
