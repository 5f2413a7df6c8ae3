"""The exploration tools: around a gist, and along the edges of a phrase (REMem 3.2, Figure 8).

Which time does a tool ask for? start_time and end_time with their operators (REMem, Table 1).
The operators mean what the table of `domain.intervals` says, at the precision of the time
that is given: ``start_time="1952", start_operator="lt"`` is what began before 1952. By default a
thing must begin in ``start_time`` or later, and end in ``end_time`` or before, as in REMem. A
language model writes times in many ways, so "15 January 2020" and "last May" are read as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from recollex_engine.clock import OPEN_END, to_micros
from recollex_engine.dates.locales import DAY_FIRST, puts_month_first
from recollex_engine.dates.time_range import find_range
from recollex_engine.domain.checks import MAX_NAME, check_text
from recollex_engine.domain.intervals import (
    EVERY,
    OPEN_START,
    OPERATORS,
    Box,
    Span,
    bounds,
    compared,
    read_period,
)
from recollex_engine.domain.literals import FactObject, Text
from recollex_engine.errors import InputError
from recollex_engine.facts.fact_selection import (
    FactConditions,
    Page,
    count,
    distinct_values,
    select,
)
from recollex_engine.facts.fact_view import Ordinals
from recollex_engine.facts.facts import read_facts
from recollex_engine.facts.surface_search import search_surfaces
from recollex_engine.recall.lookups import ordinal
from recollex_engine.recall.memory import read_memories
from recollex_mind.episodic.contexts import Contexts, within_limit
from recollex_mind.episodic.memory_graph import MemoryGraph

COMPARISONS = tuple(operator for operator in OPERATORS if operator != "exists")
"""The operators on a start and an end."""
START_OPERATOR = "ge"
END_OPERATOR = "le"
"""The operators that hold where none is given (REMem, Figure 8)."""


def read_window(
    start_time: object,
    end_time: object,
    start_operator: object = START_OPERATOR,
    end_operator: object = END_OPERATOR,
    *,
    now: int = 0,
    locale: Callable[[], str] = lambda: DAY_FIRST,
) -> Box:
    """Return the bounds of start and end; None, or an empty text, for a time is no condition.

    now: "last May" is relative to it, in microseconds. locale: tells whether 5/7/2023 is 7 May.
    Raises `InputError`.

    >>> read_window("1952", None, "lt").holds(-1000000000000000, 0)
    True
    >>> read_window("1952", "1955-12-31") == read_window("in 1952", "31 December 1955")
    True
    """
    box = EVERY
    for name, given, operator, is_end in (
        ("start", start_time, start_operator, False),
        ("end", end_time, end_operator, True),
    ):
        if operator not in COMPARISONS:
            raise InputError(
                f"{name}_operator must be one of {', '.join(COMPARISONS)}, got {operator!r:.80}"
            )
        if given is None or given == "":
            continue
        admitted = _read(given, f"{name}_time", str(operator), is_end, now, locale)
        box &= Box(end=admitted) if is_end else Box(start=admitted)
    return box


def _read(
    given: object, name: str, operator: str, is_end: bool, now: int, locale: Callable[[], str]
) -> Span:
    if isinstance(given, datetime):
        moment = to_micros(given, name)
        return bounds(operator, moment, moment)
    if isinstance(given, int) and not isinstance(given, bool) and 0 < given < 10_000:
        given = f"{given:04d}"  # a year
    if not isinstance(given, str):
        raise InputError(f"{name} must be a time such as '2024' or '2024-05-04', got {given!r:.80}")
    check_text(given, name, MAX_NAME)
    words = given.strip()
    if (period := read_period(words, name)) is not None:
        return compared(operator, period, is_end)
    try:
        read = datetime.fromisoformat(words)
    except ValueError:
        found = find_range(words, now, UTC, puts_month_first(locale()))
        if found is None:
            raise InputError(
                f"{name} names no time: {words[:80]!r}. Write 2024, 2024-05, 2024-05-04 or "
                "2024-05-04T09:30Z"
            ) from None
        return compared(operator, (found.start, found.end), is_end)
    moment = to_micros(read if read.tzinfo else read.replace(tzinfo=UTC), name)
    return bounds(operator, moment, moment)


ORDERINGS = ("asc", "desc")
"""By start, the earliest first; by end, the latest first (REMem, Figure 8)."""
AGGREGATIONS = {
    "count": None,
    "count_unique_subjects": "subject",
    "count_unique_objects": "object",
}
"""Aggregation -> the part of a fact whose different values are counted; None for facts."""
NEAR = 3
"""Names that are suggested for one that is unknown."""
MOST = 100
"""Facts that are returned where no limit is given, and the token limit admits more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Which facts `find_entity_contexts` looks for; at least one part must be given.

    ordering: of `ORDERINGS`, None for recorded order. limit: None for as many as fit.
    """

    subject: str | None = None
    predicate: str | None = None
    object: FactObject | None = None
    window: Box = EVERY
    ordering: str | None = None
    limit: int | None = None
    offset: int = 0


def find_gist_contexts(
    graph: MemoryGraph, gist_id: str, window: Box, limit: int, max_tokens: int | None
) -> Contexts:
    """Return the gists related to a gist, and the facts of its chunk.

    Gists: along synonymy edges, the most similar first; then the others of its chunk. Facts: those
    that cite the gist; then those that cite what it was made of, or another gist of its chunk.
    Raises `UnknownIdError`.
    """
    memory = ordinal(graph.view, gist_id, graph.agent.name)
    chunk = graph.chunk(memory)
    sources = graph.sources(chunk)
    related = dict.fromkeys([*(other for other, _ in graph.linked(memory)), *chunk])
    related.pop(memory, None)
    shown = graph.gists(window)
    hidden = set(sources)
    gists = [each for each in related if shown[each] and each not in hidden][:limit]
    own = _citing(graph, [memory], window)
    others = _citing(graph, [*chunk, *sources], window)
    versions = list(dict.fromkeys([*own.tolist(), *others.tolist()]))
    return within_limit(
        read_memories(graph.view, gists),
        read_facts(graph.facts, versions[:MOST]),
        max_tokens,
        graph.costs,
        matched=len(versions),
    )


def find_entity_contexts(graph: MemoryGraph, pattern: Pattern, max_tokens: int | None) -> Contexts:
    """Return a page of the facts of a pattern, and the gists that they cite, in their order."""
    conditions = _conditions(graph, pattern)
    page = Page(limit=MOST if pattern.limit is None else pattern.limit, offset=pattern.offset)
    versions = _page(graph, conditions, pattern.ordering, page)
    facts = read_facts(graph.facts, versions)
    matched = sum(count(graph.facts, each) for each in conditions)
    note = None if facts else _why_none(graph, pattern)
    if matched and not facts:
        note = f"offset {pattern.offset} is beyond the last of {matched} facts"
    return within_limit(
        read_memories(graph.view, _cited(graph, versions)),
        facts,
        max_tokens,
        graph.costs,
        matched=matched,
        note=note,
    )


def aggregate(graph: MemoryGraph, pattern: Pattern, aggregation: str) -> Contexts:
    """Return how many facts a pattern has, or how many different subjects or objects these have."""
    conditions = _conditions(graph, pattern)
    part = AGGREGATIONS[aggregation]
    matched = sum(count(graph.facts, each) for each in conditions)
    if part is None:
        found = matched
    elif len(conditions) == 1:
        found = distinct_values(graph.facts, conditions[0], part)
    else:  # the same text is an entity and a literal
        found = len({value for each in conditions for value in _values(graph, each, part)})
    note = None if matched else _why_none(graph, pattern)
    return within_limit([], [], None, graph.costs, count=found, matched=matched, note=note)


def _citing(graph: MemoryGraph, memories: Sequence[int], window: Box) -> Ordinals:
    return select(graph.facts, FactConditions(evidence=memories, valid=window))


def _conditions(graph: MemoryGraph, pattern: Pattern) -> list[FactConditions]:
    """Return the conditions of a pattern; a fact must meet one.

    The predicate may be spelled in several ways, and a text may name an entity or be a literal.
    """
    view = graph.facts
    if not view.count:
        return []
    spellings: list[str | None] = [None]
    if pattern.predicate is not None:
        labels = view.columns.dictionary["labels"]
        spellings = [
            each for each in _spellings(pattern.predicate) if labels.get(f"p:{each}") is not None
        ]
    objects: list[FactObject | None] = [pattern.object]
    if isinstance(pattern.object, str):
        objects.append(Text(pattern.object))
        if (number := _number(pattern.object)) is not None:
            objects.append(number)
    every = [
        FactConditions(
            subject=pattern.subject, predicate=predicate, object=each, valid=pattern.window
        )
        for predicate in spellings
        for each in objects
    ]
    return [each for each in every if len(every) == 1 or count(view, each)]


def _spellings(predicate: str) -> dict[str, None]:
    """Return how a predicate may be written: "lives in" is lives_in."""
    plain = (predicate, predicate.replace(" ", "_"), predicate.replace("_", " "))
    return dict.fromkeys((*plain, *(each.lower() for each in plain)))


def _number(text: str) -> float | bool | None:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return float(text)
    except ValueError:
        return None


def _page(
    graph: MemoryGraph, conditions: Sequence[FactConditions], ordering: str | None, page: Page
) -> list[int]:
    """Return the versions of a page. Facts without any time come last in an order of time."""
    found: list[int] = []
    skipped = page.offset
    wanted = page.limit
    assert wanted is not None
    for box, order_by in _segments(ordering):
        narrowed = [replace(each, valid=each.valid & box) for each in conditions]
        part = Page(
            order_by=order_by,
            descending=ordering == "desc" and order_by != "recorded",
            limit=skipped + wanted - len(found),
        )
        versions = [select(graph.facts, each, part) for each in narrowed]
        merged = _merged(graph, versions, part)
        if len(merged) <= skipped:
            skipped -= len(merged)
            continue
        found += merged[skipped:]
        skipped = 0
        if len(found) >= wanted:
            break
    return found[:wanted]


def _segments(ordering: str | None) -> list[tuple[Box, str]]:
    """Return the parts of an order, each with what its facts are ordered by.

    Without an ordering there is one part, all facts as they were recorded. By start: an unknown
    start is before every other. By end: what has not ended is last to end, and of these the last to
    start is first. What has neither start nor end comes last in both orders.
    """
    if ordering is None:
        return [(EVERY, "recorded")]
    unknown = (OPEN_START, OPEN_START)
    known = (OPEN_START + 1, OPEN_END)
    ended = (OPEN_START, OPEN_END - 1)
    lasting = (OPEN_END, OPEN_END)
    undated = (Box(unknown, lasting), "recorded")
    if ordering == "asc":
        return [(Box(unknown, ended), "end"), (Box(start=known), "start"), undated]
    return [(Box(known, lasting), "start"), (Box(end=ended), "end"), undated]


def _merged(graph: MemoryGraph, versions: Sequence[Ordinals], page: Page) -> list[int]:
    """Return the versions of several selections in the order of a page."""
    if len(versions) == 1:
        return [int(each) for each in versions[0]]
    together = np.unique(np.concatenate([np.empty(0, np.int64), *versions]))
    if page.order_by != "recorded":
        column = graph.facts.array(f"fact_{page.order_by}")[together]
        together = together[np.argsort(column, kind="stable")]
    if page.descending:
        together = together[::-1]
    return [int(each) for each in together[: page.limit]]


def _values(graph: MemoryGraph, conditions: FactConditions, part: str) -> set[tuple[int, int]]:
    """Return (kind, number) of each value of a part of the facts; merged entities are one."""
    view = graph.facts
    versions = select(view, conditions)
    numbers = view.array(f"fact_{part}")[versions].tolist()
    kinds = view.array("fact_kind")[versions].tolist() if part == "object" else [0] * len(numbers)
    return {
        (kind, view.root(number) if kind == 0 else number)
        for kind, number in zip(kinds, numbers, strict=True)
    }


def _cited(graph: MemoryGraph, versions: Sequence[int]) -> list[int]:
    """Return the gists that facts cite and the cut shows, each once, in the order of the facts.

    Where a fact cites a gist and what it was made of, the gist stands for both.
    """
    view = graph.facts
    shown = graph.gists()
    found: dict[int, None] = {}
    for version in versions:
        cited = view.numbers("fact_evidence", "fact_evidence_end", version)
        found |= {memory: None for memory in cited if memory < len(shown) and shown[memory]}
    hidden = set(graph.sources(list(found)))
    return [memory for memory in found if memory not in hidden]


def _why_none(graph: MemoryGraph, pattern: Pattern) -> str:
    """Return what is unknown of a pattern that no fact meets."""
    parts = (
        ("subject", pattern.subject, Pattern(subject=pattern.subject)),
        ("object", pattern.object, Pattern(object=pattern.object)),
    )
    for name, said, alone in parts:
        if isinstance(said, str) and not _is_known(graph, alone):
            near = ", ".join(repr(each) for each in _near(graph, said))
            hint = f"there is {near}" if near else "lexical_retrieve finds how names are written"
            return f"no fact has the {name} {said!r}: {hint}"
    unknown = Pattern(predicate=pattern.predicate)
    if pattern.predicate is not None and not _is_known(graph, unknown):
        return (
            f"no fact has the predicate {pattern.predicate!r}: leave it out to see which there are"
        )
    if pattern.window != EVERY:
        return "no fact meets the conditions on start and end: leave them out to see all"
    return "no fact has these parts together"


def _near(graph: MemoryGraph, name: str) -> list[str]:
    """Return the names of visible entities that share words with a name, the nearest first."""
    found = search_surfaces(graph.facts, graph.asked(name), ("entity",), NEAR)
    return [graph.facts.entity_name(each.number) for each in found]


def check_pattern(pattern: Pattern, aggregation: str | None) -> None:
    """Raise `InputError` for a pattern without a part, or a page of an aggregation."""
    if pattern.subject is None and pattern.object is None and pattern.predicate is None:
        raise InputError("give at least one of subject, object and predicate")
    if aggregation is not None and (pattern.limit is not None or pattern.offset):
        raise InputError("an aggregation counts all that match: leave out limit and offset")


def _is_known(graph: MemoryGraph, pattern: Pattern) -> bool:
    return any(count(graph.facts, each) for each in _conditions(graph, pattern))
