"""Output to a terminal: messages on standard error, memories and counts as tables.

A text is printed on one line, without control characters.
"""

import json
import shutil
import sys
import textwrap
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import recollex
from recollex.api.plurals import counted
from recollex.cli.parser import Arguments

if TYPE_CHECKING:
    from recollex_engine.agents.verification import Verification
    from recollex_engine.backup.verification import BackupVerification


_BAR = "█"
_PARTS = " ▏▎▍▌▋▊▉"
_MARGIN = 4
_DATES = 5
"""The most dates of the other times at which a memory was told."""


def say(message: str) -> None:
    """Print one line for the user on standard error, apart from the output."""
    print(f"recollex: {message}", file=sys.stderr)


def show(arguments: Arguments, words: str, **values: Any) -> None:
    """Print what was done: in words, or with ``--json`` the values as one JSON object on a line."""
    print(json.dumps(values, ensure_ascii=False, default=str) if arguments.json else words)


def printable(text: str) -> str:
    r"""Return the text on one line, without characters that could control a terminal.

    >>> printable("one\ntwo\x1b[2J")
    'one two�[2J'
    """
    line = " ".join(text.split())
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line
    )


def say_left_out(counts: Counter[str]) -> None:
    """Say what of a file was not stored as it was, and how often; nothing if all was."""
    if counts:
        said = ", ".join(f"{count:,} x {what}" for what, count in counts.most_common())
        say(f"left out, or kept as a note: {printable(said)}")


def terminal_width() -> int:
    """Return the characters of a line: the terminal's, within 60 to 110."""
    return min(max(shutil.get_terminal_size((100, 24)).columns, 60), 110)


def recall_table(recall: "recollex.Recall", top: int) -> str:
    """Return the best ``top`` memories: rank, date, speaker or network, text, and the arms.

    If a long memory was found by a passage, that passage is shown. Of a memory that was told
    several times, the number and the other dates follow. An arm's score follows its rank if the
    recall was explained.
    """
    width = terminal_width()
    blocks = []
    for rank, memory in enumerate(list(recall)[:top], 1):
        date = memory.event_at.date().isoformat()
        who = printable(memory.speaker or memory.network)
        margin = " " * _MARGIN
        text = printable((memory.passage or memory.text).removeprefix(f"{memory.speaker}: "))
        arms = " · ".join(
            f"{arm} {place}" + (f" ({memory.scores[arm]:.4g})" if arm in memory.scores else "")
            for arm, place in memory.ranks.items()
        )
        lines = [f"{rank:>2}  {date}  {who}"]
        lines += textwrap.wrap(text, width, initial_indent=margin, subsequent_indent=margin)
        if memory.repeated_at:
            times = repeated(memory)
            lines += textwrap.wrap(times, width, initial_indent=margin, subsequent_indent=margin)
        score = f"score {memory.score:.4f}" + (f"   {arms}" if arms else "")
        lines += textwrap.wrap(score, width, initial_indent=margin, subsequent_indent=margin)
        blocks.append("\n".join(lines))
    left_out = len(recall) - top
    if left_out > 0:
        blocks.append(f"    and {left_out} more")
    return "\n\n".join(blocks)


def repeated(memory: "recollex.Memory") -> str:
    """Return how often a memory was told, and the newest dates of the other times."""
    dates = sorted({each.date().isoformat() for each in memory.repeated_at}, reverse=True)
    more = f" and {len(dates) - _DATES} more days" if len(dates) > _DATES else ""
    return f"told {len(memory.repeated_at) + 1} times, also {', '.join(dates[:_DATES])}{more}"


def listed_line(memory: "recollex.Memory") -> str:
    """Return a memory on one line: its id, the date of its event, its tags and its text."""
    tags = "".join(f" [{printable(tag)}]" for tag in memory.tags)
    date = memory.event_at.date().isoformat()
    return f"{printable(memory.id)}  {date}{tags}  {printable(memory.text)}"


def stage_table(trace: "recollex.Trace") -> str:
    """Return the microseconds of each stage, with a bar, and the total on the last line.

    Stages that ran at the same time may add up to more than the total.
    """
    rows = [*trace.stages.items(), ("total", trace.total)]
    longest = max((micros for _, micros in rows), default=0)
    name_width = max(len(name) for name, _ in rows)
    lines = [
        f"    {name:<{name_width}}  {micros:>9,.0f} µs  {bar(micros, longest, 24)}".rstrip()
        for name, micros in rows
    ]
    lines += [f"    {stage} failed: {printable(str(why))}" for stage, why in _failed(trace)]
    return "\n".join(lines)


def summary_lines(recall: "recollex.Recall") -> str:
    """Return a summary of a recall: its time range, memories, tokens and confidence."""
    held = counted(len(recall), "memory")
    tokens = counted(recall.tokens, "token")
    lines = [f"    {held}, {tokens} ({recall.token_counter})"]
    if recall.confidence is not None:
        lines[0] += f", an answer is there with probability {recall.confidence:.2f}"
    if recall.time_range:
        first, end = recall.time_range
        lines.insert(0, f"    when: from {first.isoformat()} until {end.isoformat()}")
    return "\n".join(lines)


def fields_table(fields: dict[str, object]) -> str:
    """Return names and values in two columns, with thousands separators.

    >>> print(fields_table({"memories": 12345, "model": "minilm"}))
    memories  12,345
    model     minilm
    """
    width = max((len(name) for name in fields), default=0)
    return "\n".join(f"{name:<{width}}  {_value(value)}" for name, value in fields.items())


def bar(value: float, longest: float, width: int) -> str:
    """Return a bar in eighths of a character, ``width`` characters long at ``longest``.

    >>> bar(5, 10, 4), bar(1, 16, 2), bar(0, 10, 4)
    ('██', '▏', '')
    """
    eighths = round(8 * width * value / longest) if longest > 0 else 0
    return _BAR * (eighths // 8) + _PARTS[eighths % 8].strip()


def _failed(trace: "recollex.Trace") -> list[tuple[str, object]]:
    return list(dict(trace.errors).items())


def _value(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "-" if value is None else str(value)


def print_verification(
    found: "Verification | BackupVerification", what: str, read: str, *, as_json: bool
) -> int:
    """Print what was found of an agent or a backup; return the exit code, 1 for damage.

    what: its name. read: how much was read, in words.
    """
    if as_json:
        print(json.dumps(asdict(found), default=str, indent=2))
    elif found.ok:
        print(f"{what} is sound: {read}")
    else:
        say(f"{what} is damaged")
        print("\n".join(found.problems))
    return 0 if found.ok else 1
