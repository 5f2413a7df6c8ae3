"""Which operations record the facts of a chunk, and which take a comparison back?

How does a new fact relate to those that are known? Same, refines, supersedes, contradicts.
A language model says so of the pairs that are near each other. If it fails, facts with the same
words are the same, and the others are not compared.

Each relation is recorded, with its reason, in the metadata of the new fact, and has an effect::

    same         the new fact is archived; the known one has the evidence of both
    refines      the known fact is archived
    supersedes   the known fact ceases to be so when the new one begins
    contradicts  none: both stay

Nothing is dropped or rewritten. A known fact that is trusted more than the new one stays as it is.
`undoing` takes the effects back.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import to_micros
from recollex_engine.domain.checks import MAX_IDS
from recollex_engine.domain.filter import Filter, read_where
from recollex_engine.domain.memory_operations import Archive, Correct, Extract, Retain
from recollex_engine.domain.operations import Operation
from recollex_engine.domain.question import MAX_QUERY, Question
from recollex_engine.domain.schema import DRAWN, EVIDENCE, NETWORKS, OPINION, RELATIONS
from recollex_engine.domain.statement import Statement
from recollex_engine.domain.trust import LEVELS, ROLES
from recollex_engine.errors import InputError, LanguageModelError
from recollex_engine.ranking.presets import DEFAULT
from recollex_engine.recall.memory import Memory
from recollex_engine.writing.taking_away import EXTRACTION
from recollex_mind.drawing import ExtractedFact, ExtractedFacts
from recollex_mind.llm.language_model import LanguageModel
from recollex_mind.llm.prompts import find_prompt
from recollex_mind.opinions import forming_operations, read_opinion
from recollex_mind.profile import read_profile
from recollex_mind.prompt_data import as_data

if TYPE_CHECKING:
    from pydantic import BaseModel

Relation = Literal["same", "refines", "supersedes", "contradicts"]
PROMPT = "compare-1"
RULE = "rule"
OPERATION = "compare"
NEAR = 0.6
"""Least cosine between a new fact and a known one that are compared."""
MOST_NEAR = 4
"""Known facts that a new one is compared with."""
_WORD = re.compile(r"\w+(?:['\u2019]\w+)?")


@dataclass(frozen=True, slots=True)
class Related:
    """One new fact and a known one, by its id. by: the prompt, or "rule". reason: in words."""

    new: str
    known: str
    relation: Relation
    by: str
    reason: str

    def to_metadata(self) -> dict[str, Any]:
        """Return what the new fact keeps of it."""
        return {
            "relation": self.relation,
            "known": self.known,
            "by": self.by,
            "reason": self.reason,
        }


def near_facts(agent: AgentOrCut, facts: Sequence[ExtractedFact]) -> dict[str, list[Memory]]:
    """Return the known facts near each new one, by its id, nearest first; opinions have none."""
    extracted = read_where({DRAWN: {"exists": True}})
    near: dict[str, list[Memory]] = {}
    for fact in facts:
        if fact.forming is not None:
            continue
        question = Question(
            fact.text[:MAX_QUERY],
            limit=MOST_NEAR,
            thinking_budget=20,
            filter=Filter(where=extracted, network=(fact.statement.network,)),
        )
        found = agent.recall(question, DEFAULT, explain=True)
        close = [each for each in found if each.scores.get("semantic", 0.0) >= NEAR]
        if close := [each for each in close if each.id != fact.id]:
            near[fact.id] = close
    return near


def compare(
    facts: Sequence[ExtractedFact],
    near: Mapping[str, Sequence[Memory]],
    model: LanguageModel,
) -> tuple[list[Related], LanguageModelError | None]:
    """Return how new facts relate to known ones, and the failure of the model, if it failed."""
    asked = [fact for fact in facts if near.get(fact.id)]
    if not asked:
        return [], None
    try:
        return _by_model(asked, near, model), None
    except LanguageModelError as error:
        if error.reason == "cancelled":
            raise
        same = [
            Related(fact.id, known.id, "same", RULE, "the same words")
            for fact in asked
            for known in near[fact.id]
            if _words(fact.text) == _words(known.text)
        ]
        return same, error


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _by_model(
    facts: Sequence[ExtractedFact], near: Mapping[str, Sequence[Memory]], model: LanguageModel
) -> list[Related]:
    known = {each.id: each for fact in facts for each in near[fact.id]}
    labels = {id: f"m{number}" for number, id in enumerate([*known, *(f.id for f in facts)], 1)}
    pairs = []
    for fact in facts:
        pairs.append(f"New [{labels[fact.id]}] {as_data(fact.text)}")
        pairs += [
            f"- known [{labels[each.id]}] ({each.event_at:%B %d, %Y}) {as_data(each.text)}"
            for each in near[fact.id]
        ]
    messages = find_prompt(PROMPT).render(pairs="\n".join(pairs))
    answer: Any = model.ask_for(_answer_type(), messages, operation=OPERATION)
    ids = {label: id for id, label in labels.items()}
    found: dict[tuple[str, str], Related] = {}
    for each in answer.relations:
        new, old = (ids.get(label.strip().strip("[]").lower(), "") for label in _ends(each))
        if old in {memory.id for memory in near.get(new, ())}:
            said = Related(new, old, each.relation, PROMPT, each.reason.strip())
            found.setdefault((new, old), said)
    return list(found.values())


def _ends(answer: Any) -> tuple[str, str]:
    return answer.new, answer.known


@cache
def _answer_type() -> "type[BaseModel]":
    import pydantic

    class FactRelation(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid", strict=True)

        new: str
        known: str
        relation: Literal[get_args(Relation)]  # type: ignore[valid-type]
        reason: str = pydantic.Field(max_length=500)

    class FactRelations(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid", strict=True)

        relations: list[FactRelation] = pydantic.Field(max_length=100)

    return FactRelations


def outranks(known: Memory, new: ExtractedFact) -> bool:
    """Return whether a known fact is trusted more than a new one, which must not change it."""
    return LEVELS.index(known.trust) > new.statement.trust


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
