"""What a tool returns: gists and facts, as one cut shows them, within a token limit (REMem 3.2)."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson

from recollex_engine.domain.prompt_lines import LineCosts, prompt_line
from recollex_engine.domain.prompt_marks import written_short
from recollex_engine.domain.qualifiers import POINT, RECORD, qualifiers
from recollex_engine.domain.schema import EVIDENCE
from recollex_engine.domain.surfaces import object_text
from recollex_engine.facts.facts import Fact
from recollex_engine.recall.memory import Memory, columns_of, said_on
from recollex_engine.text.token_counter import TokenCounter

GISTS = "Gists:"
FACTS = "Facts:"
AROUND = 128
"""More than the bytes of a line beside its texts: of two times, with their names, and a place."""


class Uncounted:
    """Counts tokens when they are first asked for: to count takes as long as to find."""

    __slots__ = ("_count",)
    _count: Callable[[], int]

    if not TYPE_CHECKING:  # a type checker sees only the fields

        def __getattr__(self, name: str) -> int:
            """Count the tokens, and keep their number."""
            if name != "tokens":
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            tokens = self._count()
            object.__setattr__(self, name, tokens)
            return tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Contexts(Uncounted):
    """Gists and facts that a tool found, best first, or in the order that was asked for.

    gists: memories; facts: each with the ids of its evidence. count: the number of an aggregation,
    None without one. matched: how many facts meet the conditions of `find_entity_contexts` and
    `find_gist_contexts`; the first of them are here; None where a search ranks all. note: what a
    caller may do better, None for nothing. tokens: at least those of `to_prompt`, by
    token_counter, and at most max_tokens.
    """

    gists: tuple[Memory, ...] = ()
    facts: tuple[Fact, ...] = ()
    count: int | None = None
    matched: int | None = None
    note: str | None = None
    tokens: int = 0
    max_tokens: int | None = None
    token_counter: str = ""

    def to_prompt(self) -> str:
        """Return the contexts as text for a language model: numbered gists, then facts.

        A gist is a line "[date] text" (REMem's default), a fact a triple with its qualifiers.
        """
        marked = any(gist.source is not None for gist in self.gists)
        gists = [gist_line(place, gist, marked) for place, gist in enumerate(self.gists, 1)]
        facts = [fact_line(place, fact) for place, fact in enumerate(self.facts, 1)]
        lines = [GISTS, *gists] if gists else []
        lines += [FACTS, *facts] if facts else []
        if self.count is not None:
            lines.append(f"Count: {self.count}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the contexts as JSON values, times in ISO 8601.

        A gist also has ``evidence``, the ids of the memories that it was made of; a fact also has
        ``qualifiers``, as REMem writes its times.
        """
        return {
            "gists": [gist.to_dict() | {"evidence": list(made_of(gist))} for gist in self.gists],
            "facts": [
                fact.to_dict() | {"qualifiers": fact_qualifiers(fact)} for fact in self.facts
            ],
            "count": self.count,
            "matched": self.matched,
            "note": self.note,
            "tokens": self.tokens,
            "max_tokens": self.max_tokens,
            "token_counter": self.token_counter,
        }


def made_of(gist: Memory) -> tuple[str, ...]:
    """Return the ids of the memories that a gist was made of; its own if it was said so."""
    given = gist.metadata.get(EVIDENCE)
    if isinstance(given, Sequence) and not isinstance(given, str) and given:
        return tuple(map(str, given))
    return (gist.id,)


def fact_qualifiers(fact: Fact) -> dict[str, str]:
    """Return REMem's qualifiers of a fact, with the time at which it was recorded."""
    found = qualifiers(*fact.valid, fact.uncertainty)
    return found | {RECORD: fact.recorded[0].isoformat(timespec="seconds").replace("+00:00", "Z")}


def gist_line(place: int, gist: Memory, marked: bool) -> str:
    """Return a numbered gist as a line of a prompt.

    If a text names another time than that at which it was said, "last Friday", and is no gist that
    a model has written, the time that was read follows.
    """
    line = prompt_line(said_on(gist), gist.text, gist.source, gist.trust, marked)
    resolved = resolved_time(gist)
    return f"{place}. {line} ({resolved})" if resolved else f"{place}. {line}"


def resolved_time(gist: Memory) -> str:
    """Return the time that a text names, if it is another than that at which it was said."""
    event = gist.event
    if event[0] <= gist.event_at <= event[1] or EVIDENCE in gist.metadata:
        return ""
    written = qualifiers(*event)
    return written.get(POINT) or " to ".join(written.values())


def fact_line(place: int, fact: Fact) -> str:
    """Return a numbered fact as a line of a prompt: the triple and its qualifiers as JSON.

    A fact without a time says when it was recorded.
    """
    said = object_text(fact.object)
    times = qualifiers(*fact.valid, fact.uncertainty)
    if not times:
        times = {RECORD: fact.recorded[0].date().isoformat()}
    triple = f"({fact.subject}, {fact.predicate}, {said})"
    return f"{place}. {written_short(triple)} {orjson.dumps(times).decode()}"


def within_limit(
    gists: Sequence[Memory],
    facts: Sequence[Fact],
    max_tokens: int | None,
    cost: "Costs",
    **told: Any,
) -> Contexts:
    """Return as many gists and facts as fit, in turns, each list in its order.

    One that does not fit is left out, and later ones may fit. The headings count. If everything
    fits in any case, tokens are counted when they are asked for.
    """
    contexts = {"max_tokens": max_tokens, "token_counter": cost.name, **told}
    if max_tokens is None or cost.most(gists, facts) <= max_tokens:
        whole = Contexts(gists=tuple(gists), facts=tuple(facts), **contexts)
        object.__setattr__(whole, "_count", lambda: _counted(gists, facts, None, cost, told)[1])
        object.__delattr__(whole, "tokens")
        return whole
    kept, total = _counted(gists, facts, max_tokens, cost, told)
    return Contexts(
        gists=tuple(gists[place] for place in kept[GISTS]),
        facts=tuple(facts[place] for place in kept[FACTS]),
        tokens=total,
        **contexts,
    )


def _counted(
    gists: Sequence[Memory],
    facts: Sequence[Fact],
    max_tokens: int | None,
    cost: "Costs",
    told: Mapping[str, Any],
) -> tuple[dict[str, list[int]], int]:
    """Return the places of the gists and facts that fit, and their tokens in all."""
    marked = any(gist.source is not None for gist in gists)
    costs = {
        GISTS: [cost.gist(each, marked) for each in gists],
        FACTS: cost.lines([fact_line(len(facts), each) for each in facts]),
    }
    kept: dict[str, list[int]] = {GISTS: [], FACTS: []}
    total = 0
    if (counted := told.get("count")) is not None:
        total += cost.lines([f"Count: {counted}"])[0]
    for place in range(max(len(gists), len(facts))):
        for name in (GISTS, FACTS):
            if place >= len(costs[name]):
                continue
            more = costs[name][place] + (0 if kept[name] else cost.heads[name])
            if max_tokens is None or total + more <= max_tokens:
                kept[name].append(place)
                total += more
    return kept, total


@dataclass(frozen=True)
class Costs:
    """The tokens of lines by one counter, at least as many as they take. Threads: may be shared.

    dated: the costs of a memory's line beside its text, whose tokens were counted when it was
    written. heads: of the headings; number: of the place before a line.
    """

    counter: TokenCounter
    dated: LineCosts
    heads: Mapping[str, int]
    number: int

    @property
    def name(self) -> str:
        """The counter's name."""
        return self.counter.name

    def lines(self, lines: Sequence[str]) -> list[int]:
        """Return the tokens of lines, each with its line end."""
        return self.counter.count_many([f"{line}\n" for line in lines]) if lines else []

    def most(self, gists: Sequence[Memory], facts: Sequence[Fact]) -> float:
        """Return a number that the tokens do not exceed, without counting; infinity for unknown.

        It is known where a token is a byte or more.
        """
        if not self.counter.is_of_bytes():
            return math.inf
        columns = columns_of(gists)
        if columns is None or any(columns.trust):
            tokens = sum([self._undated(gist, True) for gist in gists])
        else:
            tokens = sum(columns.tokens) + (self.number + self.dated.date) * len(gists)
        said = [text for fact in facts for text in (fact.subject, fact.predicate)]
        said += [object_text(fact.object) for fact in facts]
        whole = "".join(said)
        tokens += len(whole) if whole.isascii() else len(whole.encode())
        return tokens + sum(self.heads.values()) + AROUND * (1 + len(gists) + len(facts))

    def gist(self, gist: Memory, marked: bool) -> int:
        """Return the tokens of a gist's line."""
        tokens = self._undated(gist, marked)
        resolved = resolved_time(gist)
        return tokens + self.counter.count(f" ({resolved})") if resolved else tokens

    def _undated(self, gist: Memory, marked: bool) -> int:
        """Return the tokens of a gist's line without the time that its text names."""
        head = self.dated.marked(gist.source, gist.trust) if marked else self.dated.date
        return self.number + head + gist.tokens


@lru_cache(maxsize=16)
def costs_of(counter: TokenCounter, dated: LineCosts) -> Costs:
    """Return the costs of lines by a counter."""
    heads = {name: counter.count(f"{name}\n") for name in (GISTS, FACTS)}
    return Costs(counter, dated, heads, counter.count("\n1000. ["))
