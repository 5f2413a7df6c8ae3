"""Which operations record the facts of a chunk, and which take a comparison back?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import to_micros
from recollex_engine.domain.checks import MAX_IDS
from recollex_engine.domain.filter import Filter
from recollex_engine.domain.memory_operations import Archive, Correct, Extract, Retain
from recollex_engine.domain.operations import Operation
from recollex_engine.domain.schema import DRAWN, EVIDENCE, NETWORKS, OPINION, RELATIONS
from recollex_engine.domain.statement import Statement
from recollex_engine.domain.trust import LEVELS, ROLES
from recollex_engine.errors import InputError
from recollex_engine.recall.memory import Memory
from recollex_engine.writing.taking_away import EXTRACTION
from recollex_mind.drawing import ExtractedFact, ExtractedFacts
from recollex_mind.fact_comparison import Related, outranks
from recollex_mind.opinions import forming_operations, read_opinion
from recollex_mind.profile import read_profile


@dataclass(slots=True)
class Recording:
    """The operations of one transaction, with their notes; and the ids of what they record."""

    operations: list[Operation] = field(default_factory=list)
    notes: list[dict[str, str]] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)

    def add(self, operation: Operation, why: str) -> None:
        """Add an operation that extraction makes."""
        self.operations.append(operation)
        self.notes.append({"by": EXTRACTION, "why": why})


def recording_of(
    agent: AgentOrCut,
    done: Extract,
    drawn: ExtractedFacts,
    related: Sequence[Related],
    near: Mapping[str, Sequence[Memory]],
) -> Recording:
    """Return the operations that record what was drawn, its effects on known facts, and ``done``.

    ``done`` names the turns and the prompt; its facts are filled in. An effect on a known fact is
    recorded once, that of the first relation.
    """
    known = {each.id: each for those in near.values() for each in those}
    recording = Recording()
    effects = _Effects(recording)
    for fact in drawn.facts:
        if fact.forming is not None:
            _add_opinion(agent, fact, recording, done.prompt)
            continue
        mine = [each for each in related if each.new == fact.id]
        mine = [each for each in mine if each.relation == "same"][:1] or mine
        noted = [effects.of(each, fact, known[each.known]) for each in mine]
        if noted:
            fact = fact.noting(RELATIONS, noted)
        said = [f"{each.relation} {each.known}" for each in mine]
        recording.add(Retain(fact.statement), ": ".join([done.prompt, *said[:1]]))
        recording.facts.append(fact.id)
    for edge in drawn.edges:
        recording.add(edge, done.prompt)
    retained = tuple(recording.facts)
    left_out = dict(done.left_out)
    extract = Extract(done.turns, done.prompt, done.model, retained, done.failed, left_out)
    recording.add(extract, done.prompt)
    effects.finish()
    return recording


class _Effects:
    """What new facts do to known ones, once for each; added after the facts are recorded."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._later: list[tuple[Operation, str]] = []
        self._touched: set[str] = set()

    def of(self, related: Related, fact: ExtractedFact, known: Memory) -> dict[str, Any]:
        """Return what the new fact keeps of a relation, with its effect, if it has one."""
        noted = related.to_metadata()
        free = known.id not in self._touched and not outranks(known, fact)
        if related.relation == "same":
            noted["effect"] = "joined"
            self._later.append((Archive((fact.id,)), f"same as {known.id}"))
            held = list(known.metadata.get(EVIDENCE) or ())
            new = [each for each in fact.evidence if each not in held]
            if free and new and len(held) + len(new) <= MAX_IDS:
                noted["added"] = new
                changed = dict(known.metadata) | {EVIDENCE: [*held, *new]}
                self._touch(Correct(known.id, None, {"metadata": changed}), f"same as {fact.id}")
        elif related.relation == "refines" and free:
            noted["effect"] = "archived"
            self._touch(Archive((known.id,)), f"refined by {fact.id}")
        elif related.relation == "supersedes" and free and known.valid_until is None:
            at = fact.statement.said_at or 0
            if at > to_micros(min(known.event_at, known.event[0]), "event_at"):
                noted |= {"effect": "ended", "until": at}
                change = Correct(known.id, None, {"valid_until": at})
                self._touch(change, f"superseded by {fact.id}")
        return noted

    def _touch(self, operation: Archive | Correct, why: str) -> None:
        self._later.append((operation, why))
        self._touched.add(operation.ids[0])

    def finish(self) -> None:
        """Add the effects."""
        for operation, why in self._later:
            self._recording.add(operation, why)


def _add_opinion(agent: AgentOrCut, fact: ExtractedFact, recording: Recording, prompt: str) -> None:
    """Add an opinion; one that is held already, with the same words, is superseded by it.

    An opinion that is trusted more stays, and the new one stands beside it.
    """
    assert fact.forming is not None
    forming = replace(fact.forming, supersedes=_held(agent, fact))
    profile = read_profile(agent.name, agent.facts(None, None))
    note = {"by": EXTRACTION, "why": prompt}
    id, operations, notes = forming_operations(agent, forming, profile, note)
    recording.operations += operations
    recording.notes += notes
    if operations:
        recording.facts.append(id)


def _held(agent: AgentOrCut, fact: ExtractedFact) -> str | None:
    """Return the id of an open opinion with the same statement that is trusted no more."""
    for memory in agent.list(None, 1000, Filter(network=(OPINION,)), True):
        same = read_opinion(memory).text.casefold() == fact.text.casefold()
        if same and not outranks(memory, fact):
            return memory.id
    return None


# -- taking a comparison back --------------------------------------------------------------------


def undoing(agent: AgentOrCut, id: str) -> list[Operation]:
    """Return the operations that take back what the comparison of a fact did.

    Raises `InputError` if there is nothing to take back, or if a known fact was changed since.
    """
    fact = agent.get(id)
    relations = [dict(each) for each in fact.metadata.get(RELATIONS) or ()]
    to_undo = [each for each in relations if not each.get("undone")]
    if DRAWN not in fact.metadata or not to_undo:
        raise InputError(f"the memory {id!r} has no comparison to undo")
    operations: list[Operation] = []
    for each in to_undo:
        known = agent.get(str(each["known"]))
        each["undone"] = True
        if each.get("effect") == "archived":
            if known.closed is None:
                raise InputError(f"the fact {known.id!r} was opened again since")
            operations.append(Retain(statement_of(known)))
        elif each.get("effect") == "ended":
            until = known.valid_until
            if until is None or to_micros(until, "valid_until") != each["until"]:
                raise InputError(f"the end of the fact {known.id!r} was changed since")
            operations.append(Correct(known.id, None, {"valid_until": None}))
        elif added := each.get("added"):
            held = [one for one in known.metadata.get(EVIDENCE) or () if one not in added]
            metadata = dict(known.metadata) | {EVIDENCE: held}
            operations.append(Correct(known.id, None, {"metadata": metadata}))
    metadata = dict(fact.metadata) | {RELATIONS: relations}
    if fact.closed is not None:
        operations.append(Retain(statement_of(fact, metadata)))
    else:
        operations.append(Correct(id, None, {"metadata": metadata}))
    return operations


def statement_of(memory: Memory, metadata: Mapping[str, Any] | None = None) -> Statement:
    """Return the statement that records a memory again."""
    ends = memory.valid_until
    return Statement(
        memory.text,
        said_at=to_micros(memory.event_at, "event_at"),
        id=memory.id,
        network=NETWORKS.index(memory.network),
        context=memory.context,
        document=memory.document_id,
        speaker=memory.speaker,
        entities=tuple(memory.entities),
        tags=tuple(memory.tags),
        metadata=dict(memory.metadata if metadata is None else metadata),
        valid_until=None if ends is None else to_micros(ends, "valid_until"),
        role=ROLES.index(memory.role),
        source=memory.source,
        trust=LEVELS.index(memory.trust),
    )
