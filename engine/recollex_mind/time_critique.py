"""Was what an answer cites so at the time that the question asks about (MemoTrace)?

Each cited memory is held against the asked time [start, end): the one that the question names, or
the present. It violates it

- if it ceased to be so before the asked time (its ``valid_until``),
- if the question names a time, and what it speaks of began after that,
- if facts rest on it, and none of them was valid at any moment of the asked time.

A claim that says by itself that something ended, or will begin, may be right all the same: so a
violation is told to the model once, with the interval, and what remains is reported.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollex_engine.clock import OPEN_END, from_micros
from recollex_engine.facts.fact_view import FactView
from recollex_engine.recall.memory import Memory
from recollex_mind.citations import Citation

AskedRange = tuple[datetime, datetime]
"""The time [start, end) that a question asks about."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A claim that cites what was not so at the asked time.

    label, id: of the memory. reason: "ended", "later" or "fact". holds: when what it says was so,
    None for an open end. claim: the sentence that cites it.
    """

    label: str
    id: str
    reason: str
    holds: tuple[datetime | None, datetime | None]
    claim: str

    def to_prompt(self) -> str:
        """Return what a model is told of it."""
        start, end = (None if each is None else f"{each:%B %d, %Y}" for each in self.holds)
        when = f"from {start or 'some time'} until {end or 'further notice'}"
        return f"[{self.label}] holds {when}, but it is cited for: {self.claim}"


def violations(
    citations: Sequence[Citation],
    shown: Sequence[Memory],
    facts: FactView,
    named: AskedRange | None,
    now: datetime,
) -> tuple[Violation, ...]:
    """Return the citations that do not hold at the asked time, each memory once for a claim."""
    start, end = named or (now, now)
    memories = {memory.id: memory for memory in shown}
    found: dict[tuple[str, str], Violation] = {}
    for each in citations:
        wrong = _wrong(memories[each.id], facts, start, end, named is not None)
        if wrong is not None:
            said = Violation(each.label, each.id, *wrong, each.claim)
            found.setdefault((each.id, each.claim), said)
    return tuple(found.values())


def _wrong(
    memory: Memory, facts: FactView, start: datetime, end: datetime, named: bool
) -> tuple[str, tuple[datetime | None, datetime | None]] | None:
    """Return why a memory does not hold in [start, end), and when it holds; None if it does."""
    if memory.valid_until is not None and memory.valid_until <= start:
        return "ended", (memory.event[0], memory.valid_until)
    if named and memory.event[0] >= end:
        return "later", (memory.event[0], memory.valid_until)
    ordinal = facts.columns.newest(memory.id, facts.memories, facts.op) if facts.op else None
    spans = [] if ordinal is None else _spans(facts, ordinal)
    if spans and not any(_overlap(each, start, end) for each in spans):
        return "fact", min(spans, key=lambda each: _micros_first(each[0]))
    return None


def _spans(facts: FactView, memory: int) -> list[tuple[datetime | None, datetime | None]]:
    """Return the valid times of the facts that rest on a memory."""
    starts = facts.data("fact_start")
    ends = facts.data("fact_end")
    return [
        (
            None if starts[version] <= -OPEN_END else from_micros(starts[version]),
            None if ends[version] >= OPEN_END else from_micros(ends[version]),
        )
        for version in facts.of_evidence([memory]).tolist()
    ]


def _overlap(span: tuple[datetime | None, datetime | None], start: datetime, end: datetime) -> bool:
    begins = span[0] is None or span[0] < end or span[0] <= start == end
    return begins and (span[1] is None or span[1] > start)


def _micros_first(moment: datetime | None) -> float:
    return float("-inf") if moment is None else moment.timestamp()
