"""How does a new fact relate to those that are known? Same, refines, supersedes, contradicts.

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
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.domain.filter import Filter, read_where
from recollex_engine.domain.question import MAX_QUERY, Question
from recollex_engine.domain.schema import DRAWN
from recollex_engine.domain.trust import LEVELS
from recollex_engine.errors import LanguageModelError
from recollex_engine.ranking.presets import DEFAULT
from recollex_engine.recall.memory import Memory
from recollex_mind.drawing import ExtractedFact
from recollex_mind.llm.language_model import LanguageModel
from recollex_mind.llm.prompts import find_prompt
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
