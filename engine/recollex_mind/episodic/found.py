"""What an investigation has found, under labels, and as much of it as a prompt has room for.

A model sees g1, g2 ... and f1, f2 ..., never ids: a label names only what a tool has returned, so
that a text which holds an id, or what looks like a label, names nothing.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from recollex_engine.errors import InputError
from recollex_engine.facts.facts import Fact
from recollex_engine.recall.memory import Memory
from recollex_mind.episodic.contexts import Contexts, fact_line, gist_line
from recollex_mind.episodic.investigation import ToolCall
from recollex_mind.prompt_data import as_data, without_labels

LONGEST_ERROR = 500
"""Characters of a tool's error that a model is shown."""
LONGEST_REASON = 300
"""Characters of the reasoning of an earlier step that a model is shown."""
NOTHING = "(nothing)"
_LABEL = re.compile(r"\W*[gG]?(\d+)\W*", re.ASCII)


@dataclass(slots=True)
class FoundEvidence:
    """Gists and facts in the order in which they were found; each has a label, its place."""

    gists: dict[str, Memory] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)
    latest: list[str] = field(default_factory=list)

    def add(self, contexts: Contexts) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Add what a tool returned; return the ids of its gists and of its facts."""
        for gist in contexts.gists:
            self.gists.setdefault(gist.id, gist)
        for fact in contexts.facts:
            self.facts.setdefault(fact.id, fact)
        gists = tuple(each.id for each in contexts.gists)
        facts = tuple(each.id for each in contexts.facts)
        return gists, facts

    def gist_of(self, label: object) -> str:
        """Return the id of the gist with a label such as "g2". Raises `InputError`."""
        read = _LABEL.fullmatch(str(label))
        ids = list(self.gists)
        if read is None or not 0 < int(read[1]) <= len(ids):
            known = f"g1 to g{len(ids)}" if ids else "none yet"
            raise InputError(f"gist_id must be the label of a gist that was found: {known}")
        return ids[int(read[1]) - 1]

    def labels(self, gists: tuple[str, ...], facts: tuple[str, ...]) -> str:
        """Return the labels of gists and facts, in words."""
        places = {id: f"g{place}" for place, id in enumerate(self.gists, 1)}
        places_of_facts = {id: f"f{place}" for place, id in enumerate(self.facts, 1)}
        found = [places[id] for id in gists] + [places_of_facts[id] for id in facts]
        return ", ".join(found) or "nothing"

    def to_prompt(self, most_tokens: int, count: Callable[[str], int]) -> str:
        """Return the gists and facts by their labels, the newest of them if not all fit."""
        marked = any(gist.source is not None for gist in self.gists.values())
        lines = [
            ("g", place, without_labels(gist_line(place, gist, marked)))
            for place, gist in enumerate(self.gists.values(), 1)
        ] + [
            ("f", place, without_labels(fact_line(place, fact)))
            for place, fact in enumerate(self.facts.values(), 1)
        ]
        kept = set()
        left = most_tokens
        newest = sorted(lines, key=lambda line: -line[1])
        for letter, place, text in newest:
            cost = count(f"{letter}{text}\n")
            if cost <= left:
                kept.add((letter, place))
                left -= cost
        return (
            "\n".join(f"{letter}{text}" for letter, place, text in lines if (letter, place) in kept)
            or NOTHING
        )


def call_lines(steps: list[ToolCall], evidence: FoundEvidence) -> str:
    """Return the calls so far as lines of a prompt: each with what it found, or why it failed."""
    lines = []
    for place, step in enumerate(steps, 1):
        given = orjson.dumps(_shown(step.arguments)).decode()
        if step.error is not None:
            came = f"failed: {as_data(step.error[:LONGEST_ERROR])}"
        elif step.count is not None:
            came = f"counted {step.count}"
        else:
            came = f"found {evidence.labels(step.gists, step.facts)}"
        why = f" ({as_data(step.reasoning[:LONGEST_REASON])})" if step.reasoning.strip() else ""
        lines.append(f"{place}. {as_data(step.tool[:80])} {as_data(given)}{why}: {came}")
    return "\n".join(lines) or NOTHING


def _shown(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value[:200] if isinstance(value, str) else value for name, value in arguments.items()
    }
