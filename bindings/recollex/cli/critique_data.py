"""The subcommand critique-data: claims at cuts, as training data for temporal self-critique."""

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

import recollex
from recollex.api.exported_file import replacing
from recollex.cli.existing_store import existing_agent
from recollex.cli.parser import Arguments
from recollex.cli.terminal import say, show
from recollex_engine.mind.critique_data import CritiqueExample


def critique_data(arguments: Arguments) -> int:
    """Write the examples as JSON lines; 1 if there are none."""
    with existing_agent(arguments) as agent:
        if agent is None:
            return 1
        examples = recollex.critique_data(agent, balanced=arguments.balanced)
        if arguments.output is None:
            counts = _write(examples, sys.stdout)
        else:
            with (
                replacing(Path(arguments.output)) as temporary,
                temporary.open("w", encoding="utf-8") as out,
            ):
                counts = _write(examples, out)
    if not counts:
        say(f"agent {arguments.agent!r} holds no facts: there is nothing to claim")
        return 1
    said = ", ".join(f"{count:,} {reason}" for reason, count in counts.most_common())
    if arguments.json and arguments.output is not None:
        show(arguments, "", file=arguments.output, examples=counts.total(), **counts)
    else:
        say(f"{counts.total():,} examples: {said}")
    return 0


def _write(examples: Iterable[CritiqueExample], out: TextIO) -> Counter[str]:
    """Write examples, one a line; return how many there are for each reason."""
    counts: Counter[str] = Counter()
    for each in examples:
        counts[each.reason] += 1
        out.write(json.dumps(each.to_dict(), ensure_ascii=False) + "\n")
    return counts
