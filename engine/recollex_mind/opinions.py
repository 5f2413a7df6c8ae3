"""What does an agent think? Opinions: memories of the network "opinion" (Memora 2.1.3).

An opinion is formed once, under the profile of that time, and does not change. A later one may
supersede it: in the same transaction the earlier one is archived, so that recalls do not return it
and its chain can still be read. Its metadata says::

    statement    the opinion alone; the memory's text has the reasons as well, to be found by them
    confidence   in [0, 1]
    reasons      a list of texts
    evidence     ids of the memories that it rests on
    profile      {"personality": {...}, "background": "..."}: what it was formed under
    supersedes   the id of the opinion before it, if there is one

**How does evidence move a confidence?** Each piece for it multiplies the odds by 2, each piece
against it divides them by 2, to the power of the piece's weight::

    odds' = odds * 2 ** (sum of weights for - sum of weights against)       odds = c / (1 - c)

The weight of a memory is 1 if the user said it, 0.75 for a tool, 0.5 otherwise (see
`domain.trust`). An opinion as evidence weighs its confidence times that, so stronger opinions weigh
more. A memory counts once in a chain of opinions. Between 0.01 and 0.99 no confidence is final.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import to_micros
from recollex_engine.domain.ids import content_id
from recollex_engine.domain.memory_operations import Archive, Retain
from recollex_engine.domain.operations import Operation
from recollex_engine.domain.schema import MADE_BY, NETWORKS, OPINION, SUPERSEDES
from recollex_engine.domain.statement import Statement
from recollex_engine.domain.trust import FULL, Stamp, least, trust_number
from recollex_engine.errors import InputError, UnknownIdError
from recollex_engine.recall.memory import Memory
from recollex_engine.writing.taking_away import SUPERSEDED
from recollex_mind.profile import Profile

LEAST = 0.01
MOST = 0.99
"""What evidence can move a confidence to."""
OWN: Stamp = ("assistant", trust_number("assistant"))
"""The stamp of what the agent concluded itself; that of an opinion is the least of its evidence."""
_WEIGHTS = {FULL: 1.0, trust_number("tool"): 0.75}
_ANY_WEIGHT = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """One opinion, as one view shows it.

    text: the statement. confidence: in [0, 1]; None for a memory that was retained as an opinion
    without one. evidence: ids of memories. personality, background: of the profile under which it
    was formed. supersedes, superseded_by: ids of the opinions before and after it, if there are
    any. source, trust: of the least trusted of its evidence, see `Memory.trust`.
    """

    id: str
    text: str
    confidence: float | None
    reasons: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    personality: Mapping[str, float] = field(default_factory=dict)
    background: str = ""
    formed_at: datetime
    recorded_at: datetime
    supersedes: str | None = None
    superseded_by: str | None = None
    source: str | None = None
    trust: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the opinion as JSON values, times in ISO 8601."""
        return {
            "id": self.id,
            "text": self.text,
            "confidence": self.confidence,
            "reasons": list(self.reasons),
            "evidence": list(self.evidence),
            "personality": dict(self.personality),
            "background": self.background,
            "formed_at": self.formed_at.isoformat(),
            "recorded_at": self.recorded_at.isoformat(),
            "supersedes": self.supersedes,
            "superseded_by": self.superseded_by,
            "source": self.source,
            "trust": self.trust,
        }


def read_opinion(memory: Memory) -> Opinion:
    """Return the opinion that a memory of that network holds."""
    said = memory.metadata
    profile = said.get("profile") or {}
    why = memory.closed.why if memory.closed and memory.closed.how == "archived" else None
    later = why.removeprefix(SUPERSEDED) if why and why.startswith(SUPERSEDED) else None
    confidence = said.get("confidence")
    return Opinion(
        id=memory.id,
        text=str(said.get("statement") or memory.text),
        confidence=float(confidence) if isinstance(confidence, int | float) else None,
        reasons=tuple(said.get("reasons") or ()),
        evidence=tuple(said.get("evidence") or ()),
        personality=dict(profile.get("personality") or {}),
        background=str(profile.get("background") or ""),
        formed_at=memory.event_at,
        recorded_at=memory.recorded_at,
        supersedes=said.get(SUPERSEDES),
        superseded_by=later,
        source=memory.source,
        trust=memory.trust,
    )


def get_opinion(agent: AgentOrCut, id: str) -> Opinion:
    """Return an opinion, superseded or not. Raises `UnknownIdError`."""
    memory = agent.get(id)
    if memory.network != NETWORKS[OPINION]:
        raise UnknownIdError(id, agent.name, "opinion")
    return read_opinion(memory)


def chain_of(agent: AgentOrCut, id: str) -> list[Opinion]:
    """Return the opinions that an opinion superseded, itself, and those after it, oldest first."""
    chain = [get_opinion(agent, id)]
    met = {id}
    for there, backwards in (("supersedes", True), ("superseded_by", False)):
        while True:
            end = chain[0] if backwards else chain[-1]
            other = getattr(end, there)
            if other is None or other in met:
                break
            try:
                found = get_opinion(agent, other)
            except UnknownIdError:  # it was forgotten or erased, or comes after a cut
                break
            met.add(other)
            chain.insert(0 if backwards else len(chain), found)
    return chain


@dataclass(frozen=True, slots=True)
class Forming:
    """An opinion to be formed: what it says, on what it rests, and what it supersedes.

    lineage: stamps of what bore on it beside its evidence.
    """

    text: str
    confidence: float
    reasons: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    supersedes: str | None = None
    formed_at: int | None = None
    id: str | None = None
    made_by: Mapping[str, Any] | None = None
    lineage: tuple[Stamp, ...] = ()


def form(
    agent: AgentOrCut, forming: Forming, profile: Profile, note: dict[str, str], at: int | None
) -> str:
    """Record an opinion, and archive the one that it supersedes; return its id.

    If that one says the same with the same confidence, reasons and evidence, nothing is recorded.
    """
    writable = agent.writable()
    id, operations, notes = forming_operations(agent, forming, profile, note)
    if operations:
        writable.transact(operations, notes, at)
    return id


def forming_operations(
    agent: AgentOrCut, forming: Forming, profile: Profile, note: dict[str, str]
) -> tuple[str, list[Operation], list[dict[str, str]]]:
    """Return the id of an opinion, and the operations that record it, with their notes.

    There are none if the one that it supersedes says the same. Raises `InputError`.
    """
    stamps = [*forming.lineage, *(stamp_of(agent.get(each)) for each in forming.evidence)]
    operations: list[Operation] = []
    notes: list[dict[str, str]] = []
    if forming.supersedes is not None:
        before = get_opinion(agent, forming.supersedes)
        if _says(before) == (forming.text, forming.confidence, forming.reasons, forming.evidence):
            return before.id, [], []
        if before.superseded_by is not None:
            raise InputError(
                f"the opinion {before.id!r} is superseded already, by {before.superseded_by!r}: "
                "supersede that one"
            )
        if before.id in forming.evidence:
            raise InputError(f"the opinion {before.id!r} is no evidence for what supersedes it")
    source, trust = least([OWN, *stamps])
    metadata: dict[str, Any] = {
        "statement": forming.text,
        "confidence": forming.confidence,
        "reasons": list(forming.reasons),
        "evidence": list(forming.evidence),
        "profile": {"personality": profile.personality, "background": profile.background},
    }
    if forming.supersedes is not None:
        metadata[SUPERSEDES] = forming.supersedes
    if forming.made_by is not None:
        metadata[MADE_BY] = dict(forming.made_by)
    id = forming.id or _new_id(agent, forming)
    statement = Statement(
        _with_reasons(forming.text, forming.reasons),
        said_at=forming.formed_at,
        id=id,
        network=OPINION,
        entities=forming.entities,
        metadata=metadata,
        source=source,
        trust=trust,
    )
    operations.append(Retain(statement))
    notes.append(note)
    if forming.supersedes is not None:
        operations.append(Archive((forming.supersedes,)))
        notes.append(note | {"why": f"{SUPERSEDED}{id}"})
    return id, operations, notes


def weighed(
    agent: AgentOrCut, id: str, supporting: Sequence[str], contradicting: Sequence[str]
) -> tuple[Opinion, Forming]:
    """Return an opinion, and the one that evidence makes of it. Raises `InputError`."""
    before = get_opinion(agent, id)
    if before.confidence is None:
        raise InputError(f"the opinion {id!r} has no confidence: form one that supersedes it")
    if both := set(supporting) & set(contradicting):
        raise InputError(f"{min(both)!r} cannot be for and against the same opinion")
    counted = set(before.evidence)
    for_it = [agent.get(each) for each in dict.fromkeys(supporting) if each not in counted]
    against = [agent.get(each) for each in dict.fromkeys(contradicting) if each not in counted]
    if any(each.id in {one.id for one in chain_of(agent, id)} for each in (*for_it, *against)):
        raise InputError(f"no opinion of the chain of {id!r} is evidence for or against it")
    confidence = moved(before.confidence, map(_weight, for_it), map(_weight, against))
    evidence = (*before.evidence, *(each.id for each in (*for_it, *against)))
    return before, Forming(before.text, confidence, before.reasons, evidence, supersedes=id)


def moved(confidence: float, supporting: Iterable[float], contradicting: Iterable[float]) -> float:
    """Return a confidence after evidence of these weights; see the module.

    >>> moved(0.5, [1.0], []), moved(0.5, [1.0], [1.0, 1.0]), moved(0.9, [], [0.5])
    (0.6667, 0.3333, 0.8642)
    """
    power = math.fsum(supporting) - math.fsum(contradicting)
    if power == 0:
        return confidence
    start = min(max(confidence, LEAST), MOST)
    odds: float = start / (1 - start) * 2.0 ** min(max(power, -64.0), 64.0)
    return min(max(round(odds / (1 + odds), 4), LEAST), MOST)


def _weight(memory: Memory) -> float:
    level = 0 if memory.trust is None else trust_number(memory.trust)
    weight = _WEIGHTS.get(level, _ANY_WEIGHT)
    if memory.network != NETWORKS[OPINION]:
        return weight
    confidence = read_opinion(memory).confidence
    return weight * (0.5 if confidence is None else confidence)


def stamp_of(memory: Memory) -> Stamp:
    """Return where a memory comes from, and the number of its level."""
    return memory.source, 0 if memory.trust is None else trust_number(memory.trust)


def _says(opinion: Opinion) -> tuple[Any, ...]:
    return opinion.text, opinion.confidence, opinion.reasons, opinion.evidence


def _with_reasons(text: str, reasons: Sequence[str]) -> str:
    return f"{text} (Reasons: {'; '.join(reasons)})" if reasons else text


def _new_id(agent: AgentOrCut, forming: Forming) -> str:
    """Return an id that the same opinion would have again if it were formed at the same place."""
    at = agent.clock() if forming.formed_at is None else forming.formed_at
    return content_id("opinion", forming.text, forming.supersedes, list(forming.evidence), at)


def read_formed_at(moment: Any) -> int | None:
    """Return when an opinion was formed, in microseconds; None for now."""
    return None if moment is None else to_micros(moment, "formed_at")
