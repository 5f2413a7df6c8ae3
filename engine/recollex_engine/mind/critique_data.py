"""Training data for temporal self-critique (MemoTrace): claims, and whether they hold at a cut.

MemoTrace trains a critic that rejects what is supported by a text and still was not so at the asked
time. Its data is "synthesized via DSL replays that create lagged corrections and counterfactuals".
Here the log is the replay: every version of every fact is a claim, asked

- at every moment at which a version of the fact was recorded or closed, and just before the first:
  As-Recorded, and As-World before, in and after its valid time,
- after it was corrected or archived: the claim of then, with its evidence, does not hold any more
  ("lagged"),
- with the object of another fact of the same predicate ("counterfactual"): its evidence does not
  support it, and the cut does not show it.

Whether a claim holds is what `FactView` says of the cut, so the labels are those of the engine.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollex_engine.agents.readable_agent import ReadableAgent
from recollex_engine.clock import DAY, OPEN_END, from_micros
from recollex_engine.domain.intervals import OPEN_START, Moments, to_moments
from recollex_engine.domain.surfaces import fact_text, object_text
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.facts import read_fact

REASONS = (
    "holds",
    "not yet recorded",
    "corrected",
    "archived",
    "not yet so",
    "ended",
    "counterfactual",
)
KINDS = ("claim", "lagged", "counterfactual")
MOST_TEXT = 2000
"""Characters of a text of evidence."""

Interval = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CritiqueExample:
    """One claim at one cut. Intervals are half-open, with None for an open end.

    claim: in words, without its time. kind: of `KINDS`. recorded_at: the As-Recorded cut. world:
    the As-World moment, None without one. valid: when the claim is so, as its version says; None
    for a counterfactual. seen: the valid time of the version that the cut shows of this fact, None
    if it shows none. holds: whether the cut shows the claim. reason: of `REASONS`. fact, version:
    its id, and which of its versions, from 1. evidence: (id, text) of the memories that it cites,
    recorded by then and open now.
    """

    claim: str
    kind: str
    recorded_at: datetime
    world: datetime | None
    valid: Moments | None
    seen: Moments | None
    holds: bool
    reason: str
    fact: str
    version: int
    evidence: tuple[tuple[str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the example as JSON values, times in ISO 8601 and None for an open end."""
        return {
            "claim": self.claim,
            "kind": self.kind,
            "mode": "as_recorded" if self.world is None else "as_world",
            "cut": {"recorded": self.recorded_at.isoformat(), "world": _written(self.world)},
            "valid": _interval(self.valid),
            "seen": _interval(self.seen),
            "holds": self.holds,
            "reason": self.reason,
            "fact": self.fact,
            "version": self.version,
            "evidence": [{"id": id, "text": text} for id, text in self.evidence],
        }


def critique_examples(agent: ReadableAgent) -> Iterator[CritiqueExample]:
    """Yield the examples of every fact of an agent, in recorded order.

    Evidence that was forgotten or erased is left out. Cost: some 50 us an example.
    """
    view = agent.facts(None, None)
    columns = view.columns
    others = _objects_by_predicate(view)
    for key in range(len(columns.dictionary["fact_ids"])):
        id = columns.dictionary["fact_ids"].string(key)
        versions = view.versions(id)
        if not versions:
            continue
        cuts = _cuts(view, versions)
        for number, version in enumerate(versions, 1):
            claim = _claim(view, version)
            for cut in cuts:
                for world in _worlds(view, version):
                    yield _example(view, id, number, version, versions, claim, cut, world)
            yield from _counterfactual(view, id, number, version, others)


def balanced_examples(examples: Iterable[CritiqueExample]) -> list[CritiqueExample]:
    """Return as many examples that hold as such that do not, spread over all of them.

    MemoTrace asks for this against a critic that rejects, or accepts, too much.
    """
    given = list(examples)
    by_label = {label: [each for each in given if each.holds == label] for label in (True, False)}
    count = min(map(len, by_label.values()))
    kept = {
        id(some[place * len(some) // count]) for some in by_label.values() for place in range(count)
    }
    return [each for each in given if id(each) in kept]


def _example(
    view: FactView,
    id: str,
    number: int,
    version: int,
    versions: list[int],
    claim: str,
    cut: int,
    world: int | None,
) -> CritiqueExample:
    seen_by = FactView(view.columns, view.columns.op_at(cut), world)
    shown = [each for each in versions if each < seen_by.count and seen_by.is_visible(each)]
    holds = version in shown
    reason = "holds" if holds else _against(seen_by, version, versions, world)
    return CritiqueExample(
        claim=claim,
        kind="lagged" if reason in ("corrected", "archived") else "claim",
        recorded_at=from_micros(cut),
        world=None if world is None else from_micros(world),
        valid=to_moments(*_valid(view, version)),
        seen=to_moments(*_valid(view, shown[0])) if shown else None,
        holds=holds,
        reason=reason,
        fact=id,
        version=number,
        evidence=_evidence(view, seen_by, version),
    )


def _against(seen_by: FactView, version: int, versions: list[int], world: int | None) -> str:
    """Return why a cut does not show a version."""
    if version >= seen_by.count:
        return "not yet recorded"
    if not seen_by.is_open(version):
        closed = seen_by.data("fact_closed_by")[version]
        after = versions[versions.index(version) + 1 :]
        replaced = bool(after) and seen_by.data("fact_op")[after[0]] == closed
        return "corrected" if replaced else "archived"
    assert world is not None
    return "not yet so" if world < seen_by.data("fact_start")[version] else "ended"


def _counterfactual(
    view: FactView, id: str, number: int, version: int, others: dict[int, dict[str, None]]
) -> Iterator[CritiqueExample]:
    """Yield the claim with another object, as of now, if it is known and not so."""
    fact = read_fact(view, version, id)
    said = object_text(fact.object)
    known = list(others[view.data("fact_predicate")[version]])
    start = known.index(said) + 1
    inside = _inside(*_valid(view, version))
    for other in (*known[start:], *known[:start]):
        claim = fact_text(fact.subject, fact.predicate, other, (OPEN_START, OPEN_END))
        if other != said and not _is_shown(view, version, other, inside):
            yield CritiqueExample(
                claim=claim,
                kind="counterfactual",
                recorded_at=from_micros(_last(view)),
                world=from_micros(inside),
                valid=None,
                seen=None,
                holds=False,
                reason="counterfactual",
                fact=id,
                version=number,
                evidence=_evidence(view, view, version),
            )
            return


def _is_shown(view: FactView, version: int, said: str, world: int) -> bool:
    """Return whether the cut of now shows the subject and predicate of a version with an object."""
    now = FactView(view.columns, view.op, world)
    predicate = view.data("fact_predicate")[version]
    subject = now.root(view.data("fact_subject")[version])
    return any(
        view.data("fact_predicate")[each] == predicate
        and object_text(read_fact(now, each).object) == said
        for each in now.of_subject(subject).tolist()
    )


def _objects_by_predicate(view: FactView) -> dict[int, dict[str, None]]:
    """Return the objects of each predicate in words, in recorded order."""
    found: dict[int, dict[str, None]] = {}
    for version in range(view.count):
        said = object_text(read_fact(view, version).object)
        found.setdefault(view.data("fact_predicate")[version], {})[said] = None
    return found


def _claim(view: FactView, version: int) -> str:
    fact = read_fact(view, version)
    return fact_text(fact.subject, fact.predicate, object_text(fact.object), (OPEN_START, OPEN_END))


def _cuts(view: FactView, versions: list[int]) -> list[int]:
    """Return the As-Recorded cuts at which something changes, and the moment before the first."""
    spans = [view.recorded(version) for version in versions]
    changes = {start for start, _ in spans} | {end for _, end in spans if end is not None}
    return sorted({min(changes) - 1, *changes})


def _worlds(view: FactView, version: int) -> list[int | None]:
    """Return no moment, and the moments before, in and after the valid time of a version."""
    start, end = _valid(view, version)
    found: list[int | None] = [None, _inside(start, end)]
    if start > OPEN_START:
        found.append(start - DAY)
    if end < OPEN_END:
        found.append(end)
    return found


def _inside(start: int, end: int) -> int:
    """Return a moment in [start, end): its middle, or a day from its only end."""
    if start > OPEN_START and end < OPEN_END:
        return start + (end - start) // 2
    if start > OPEN_START:
        return start + DAY
    return end - DAY if end < OPEN_END else 0


def _valid(view: FactView, version: int) -> Interval:
    return view.data("fact_start")[version], view.data("fact_end")[version]


def _evidence(view: FactView, seen_by: FactView, version: int) -> tuple[tuple[str, str], ...]:
    columns = view.columns
    ids = columns.dictionary["ids"]
    return tuple(
        (ids.string(int(columns.array("id")[memory])), columns.text(memory)[:MOST_TEXT])
        for memory in view.numbers("fact_evidence", "fact_evidence_end", version)
        if memory < seen_by.memories and not columns.closed_at(memory, view.op)
    )


def _last(view: FactView) -> int:
    return int(view.data("op_recorded_at")[view.op - 1])


def _interval(span: Moments | None) -> list[str | None] | None:
    return None if span is None else [_written(each) for each in span]


def _written(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
