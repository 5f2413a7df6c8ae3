"""What do several facts of one entity show together? A language model says it, and cites them.

An observation is an event with the status "observation": its summary is the model's text of one or
two sentences, its facts are those that the model cites, its participant is the entity. Labels that
the model was not shown are dropped; with fewer than two facts left nothing is recorded. Facts that
are trusted alike are read together: what a page said does not sway an observation on what a person
said (`mind.chunks` parts talks in the same way).

An entity has one observation, under one id. It is due if the entity has enough facts and if these
are others than when the newest version was recorded. So a run that is interrupted is continued by
the next one, and what was undone is not made again until the facts change.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from recollex_engine.agents.agent import Agent
from recollex_engine.domain.fact_schema import ARCHIVED, OBSERVATION
from recollex_engine.domain.ids import content_id
from recollex_engine.domain.operations import Operation, UpsertEvent
from recollex_engine.domain.surfaces import fact_text, object_text
from recollex_engine.domain.trust import trust_number
from recollex_engine.errors import LanguageModelError
from recollex_engine.facts.events import LEAST_PROOFS, read_event
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.facts import read_fact
from recollex_mind.extraction import AWAY
from recollex_mind.llm.language_model import LanguageModel
from recollex_mind.llm.prompts import find_prompt
from recollex_mind.profile import SELF
from recollex_mind.prompt_data import as_data
from recollex_mind.talks.consolidation import ObservationMade
from recollex_mind.thought import check_citations

if TYPE_CHECKING:
    from pydantic import BaseModel

PROMPT = "observe-1"
OPERATION = "observe"
BY = "consolidation"
MOST_ASKED = 50
"""Entities about which one call asks a model, those with the most facts first."""
MOST_SHOWN = 40
"""Facts of an entity that a model is shown, the newest."""
MOST_TEXT = 500
_TALK = trust_number("assistant")
"""Facts of this trust or more are read together."""


@dataclass(frozen=True, slots=True)
class Due:
    """An entity whose facts wait for an observation. id: of the observation; facts: versions."""

    entity: int
    name: str
    id: str
    facts: tuple[int, ...]


def entities_due(view: FactView, least: int) -> list[Due]:
    """Return the entities with ``least`` facts or more that no observation has read, most first.

    The entity is the subject of the facts, which are all trusted alike. Cost: a sort of the open
    facts, and the facts of the entities that have enough.
    """
    versions = view.all()
    if len(versions) < least:
        return []
    subjects = view.array("fact_subject")[versions].astype(np.int64)
    if view.identities:
        subjects = view.identities.roots(view.columns.entities)[subjects].astype(np.int64)
    entities, counts = np.unique(subjects, return_counts=True)
    enough = np.flatnonzero(counts >= least)
    found = [_due(view, entity, least) for entity in entities[enough].tolist()]
    return sorted((each for each in found if each is not None), key=lambda each: -len(each.facts))


def observe(
    agent: Agent, least: int, model: LanguageModel, by: str | None, recorded_at: int | None
) -> tuple[tuple[ObservationMade, ...], tuple[str, ...]]:
    """Record the observations that are due; return them, and the entities that still have none.

    Each is a transaction. A model that fails is a warning. Raises `LanguageModelError` if it is
    cancelled.
    """
    made: list[ObservationMade] = []
    left: list[str] = []
    away = False
    for place, due in enumerate(entities_due(agent.facts(), least)):
        found = None
        if place < MOST_ASKED and not away:
            try:
                at = None if recorded_at is None else recorded_at + len(made)
                found = _observed(agent, due, least, model, by, at)
            except LanguageModelError as error:
                if error.reason == "cancelled":
                    raise
                warnings.warn(
                    f"no observation of {due.name!r}: {error}", RuntimeWarning, stacklevel=3
                )
                away = error.reason in AWAY
        if found is None:
            left.append(due.name)
        else:
            made.append(found)
    return tuple(made), tuple(left)


def _due(view: FactView, entity: int, least: int) -> Due | None:
    name = view.entity_name(entity)
    if name == SELF:  # the agent's profile
        return None
    levels = _by_trust(view, entity)
    level = next((each for each in range(_TALK, -1, -1) if len(levels[each]) >= least), None)
    if level is None:
        return None
    id = _id(view, entity)
    facts = levels[level]
    newest = view.version(id, "event")
    if newest is not None:
        then = FactView(view.columns, view.data("event_op")[newest])
        if _by_trust(then, entity)[level] == facts:
            return None
    return Due(entity, name, id, tuple(facts))


def _by_trust(view: FactView, entity: int) -> list[list[int]]:
    """Return the visible facts of a subject, ascending, by the trust with which they are read."""
    levels: list[list[int]] = [[] for _ in range(_TALK + 1)]
    for version in view.of_subject(entity).tolist():
        levels[min(view.trust(version), _TALK)].append(version)
    return levels


def _id(view: FactView, entity: int) -> str:
    return content_id(OBSERVATION, view.columns.entity_name(entity))


def _observed(
    agent: Agent,
    due: Due,
    least: int,
    model: LanguageModel,
    by: str | None,
    recorded_at: int | None,
) -> ObservationMade | None:
    """Record an observation; None if it is refused, or if the facts changed meanwhile."""
    view = agent.facts()
    shown = {
        f"m{number}": read_fact(view, version)
        for number, version in enumerate(due.facts[-MOST_SHOWN:], 1)
    }
    lines = []
    for label, fact in shown.items():
        valid = view.data("fact_start")[fact.version], view.data("fact_end")[fact.version]
        said = fact_text(fact.subject, fact.predicate, object_text(fact.object), valid)
        lines.append(f"[{label}] {as_data(said)}")
    messages = find_prompt(PROMPT).render(entity=as_data(due.name), facts="\n".join(lines))
    answer: Any = model.ask_for(_answer_type(), messages, operation=OPERATION)
    labels = (each.strip().strip("[]").lower() for each in answer.facts)
    cited = tuple(dict.fromkeys(shown[each].id for each in labels if each in shown))
    text = " ".join(check_citations(answer.text, {}).text.split())
    if len(cited) < LEAST_PROOFS or not text:
        return None
    now = agent.facts()
    if _due(now, due.entity, least) != due:
        return None
    operations = _recording(now, due, text, cited)
    why = f"{PROMPT}, model {model.name}: {len(due.facts)} facts"
    agent.transact(operations, [{"by": by or BY, "why": why}] * len(operations), recorded_at)
    return ObservationMade(due.id, due.name, text, cited)


def _recording(view: FactView, due: Due, text: str, cited: Sequence[str]) -> list[Operation]:
    """Return the operations that record an observation and archive those of merged entities.

    The time of the event is when its facts were read, so that each version differs from others.
    """
    read_at = int(view.data("op_recorded_at")[view.op - 1])
    operations: list[Operation] = [
        UpsertEvent(
            text,
            participants=((due.name, None),),
            facts=tuple(cited),
            status=OBSERVATION,
            times=(read_at,),
            given_id=due.id,
        )
    ]
    for member in view.members(due.entity):
        id = _id(view, member)
        key = view.columns.dictionary["event_ids"].get(id)
        event = None if key is None or id == due.id else read_event(view, key)
        if event is not None and event.status == OBSERVATION:
            operations.append(
                UpsertEvent(
                    event.summary,
                    participants=((due.name, None),),
                    facts=event.facts,
                    status=ARCHIVED,
                    given_id=id,
                )
            )
    return operations


@cache
def _answer_type() -> "type[BaseModel]":
    import pydantic

    class Observed(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid", strict=True)

        text: str = pydantic.Field(max_length=MOST_TEXT)
        facts: list[str] = pydantic.Field(max_length=2 * MOST_SHOWN)

    return Observed
