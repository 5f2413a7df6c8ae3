"""Which opinions does an agent form by thinking? Those that its answer expresses (Memora 4.3).

A language model lists them after the answer was returned. Each is recorded with the profile under
which the agent thought. It is trusted as the least trusted memory that the model was shown, whether
it cites that one or not: what a page said cannot become the agent's own view unmarked. Evidence and
what is superseded are labels of memories that were shown; others are left out.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.domain.checks import MAX_NAME
from recollex_engine.domain.content_ids import content_id
from recollex_engine.domain.schema import NETWORKS, OPINION
from recollex_engine.domain.trust import FULL, Stamp, least
from recollex_engine.errors import InputError
from recollex_engine.llm.language_model import LanguageModel
from recollex_engine.llm.prompts import find_prompt
from recollex_engine.mind.opinions import OWN, Forming, form, read_opinion, stamp_of
from recollex_engine.mind.prompt_data import as_data
from recollex_engine.mind.thought import Thought
from recollex_engine.recall.memory import Memory

if TYPE_CHECKING:
    from pydantic import BaseModel

PROMPT = "opinions-1"
OPERATION = "opinions"
MOST = 5
"""Opinions of one answer."""
MOST_TEXT = 500


def form_opinions(
    agent: AgentOrCut, thought: Thought, shown: Mapping[str, Memory], model: LanguageModel
) -> list[str]:
    """Record the opinions that an answer expresses; return their ids.

    Their ids depend on the thought and their places, so that none is formed twice. Raises
    `LanguageModelError`.
    """
    messages = find_prompt(PROMPT).render(
        question=as_data(thought.question),
        answer=as_data_with_labels(thought.text or "", shown),
        held="\n".join(
            f"[{label}] {as_data(read_opinion(each).text)}"
            for label, each in shown.items()
            if each.network == NETWORKS[OPINION]
        )
        or "(none)",
        most=str(MOST),
    )
    answer: Any = model.ask_for(_answer_type(), messages, operation=OPERATION)
    at = agent.clock()
    ids = []
    lineage = tuple(stamp_of(memory) for memory in shown.values())
    for place, each in enumerate(answer.opinions):
        evidence = [shown[label].id for label in _labels(each.evidence) if label in shown]
        superseded = _superseded(each, shown, lineage)
        if superseded in evidence:
            evidence.remove(superseded)
        forming = Forming(
            each.text.strip(),
            float(each.confidence),
            tuple(reason.strip() for reason in each.reasons if reason.strip()),
            tuple(dict.fromkeys(evidence)),
            supersedes=superseded,
            formed_at=at,
            id=content_id("opinion", thought.id, place),
            made_by={"prompt": PROMPT, "model": model.name, "thought": thought.id},
            lineage=lineage,
        )
        note = {"by": "think", "why": thought.question[:MAX_NAME]}
        try:
            ids.append(form(agent, forming, thought.profile, note, None))
        except InputError:  # a memory that was shown has been forgotten or superseded meanwhile
            continue
    return ids


def as_data_with_labels(answer: str, shown: Mapping[str, Memory]) -> str:
    """Return a checked answer as data that keeps its labels."""
    text = as_data(answer)
    for label in shown:
        text = text.replace(f"({label})", f"[{label}]")
    return text


def _superseded(each: Any, shown: Mapping[str, Memory], lineage: Sequence[Stamp]) -> str | None:
    """Return the id of the opinion that another takes the place of; None if there is none.

    An opinion that is trusted more stays: what a page said does not displace it. Where no memory
    shown has a source, sources are not used, and that does not count.
    """
    told = [memory for memory in shown.values() if memory.network != NETWORKS[OPINION]]
    stamped = any(memory.source is not None for memory in told)
    trust = least([OWN, *lineage])[1] if stamped else FULL
    opinions = {
        label: memory
        for label, memory in shown.items()
        if memory.network == NETWORKS[OPINION] and stamp_of(memory)[1] <= trust
    }
    for label in _labels([each.supersedes] if each.supersedes else []):
        if label in opinions:
            return opinions[label].id
    said = each.text.strip().casefold()
    for memory in opinions.values():
        if read_opinion(memory).text.strip().casefold() == said:
            return memory.id
    return None


def _labels(given: list[str]) -> list[str]:
    return [each.strip().strip("[]").lower() for each in given]


@cache
def _answer_type() -> "type[BaseModel]":
    import pydantic

    class FormedOpinion(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid", strict=True)

        text: str = pydantic.Field(min_length=1, max_length=MOST_TEXT, pattern=r"\S")
        confidence: float = pydantic.Field(ge=0, le=1)
        reasons: list[str] = pydantic.Field(max_length=MOST)
        evidence: list[str] = pydantic.Field(max_length=32)
        supersedes: str | None

    class FormedOpinions(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid", strict=True)

        opinions: list[FormedOpinion] = pydantic.Field(max_length=MOST)

    return FormedOpinions
