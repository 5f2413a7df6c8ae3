"""Which opinions does an agent form by thinking? Those that its answer expresses (Memora 4.3).

A language model lists them after the answer was returned. Each is recorded with the profile under
which the agent thought. It is trusted as the least trusted memory that the model was shown, whether
it cites that one or not: what a page said cannot become the agent's own view unmarked. Evidence and
what is superseded are labels of memories that were shown; others are left out.

Opinions are formed after an answer was returned, in the background, also after a crash.
What is to be formed is recorded before the answer is returned (`mind.thinking_log`). What an
earlier process has left is formed once the agent is opened with a language model. If the model
gives nothing, it is asked at the next opening, at most `MOST_ATTEMPTS` times.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from recollex_engine.agents.agent import Agent
from recollex_engine.domain.ids import content_id
from recollex_engine.domain.memory_operations import Form, Think
from recollex_engine.domain.operations import Operation
from recollex_engine.domain.schema import NETWORKS, OPINION, SHOWN
from recollex_engine.domain.trust import FULL, Stamp, least
from recollex_engine.errors import ClosedError, InputError, LanguageModelError, RecollexError
from recollex_engine.recall.memory import Memory, read_memories
from recollex_mind.extraction import AWAY
from recollex_mind.job_log import PROMPT, Thinking, said_of, thought_jobs, work_of
from recollex_mind.jobs import MOST_ATTEMPTS
from recollex_mind.llm.language_model import LanguageModel
from recollex_mind.llm.prompts import find_prompt
from recollex_mind.opinions import (
    OWN,
    Forming,
    forming_operations,
    read_opinion,
    stamp_of,
)
from recollex_mind.profile import Profile
from recollex_mind.prompt_data import as_data
from recollex_mind.thought import Thought

if TYPE_CHECKING:
    from pydantic import BaseModel

OPERATION = "opinions"
MOST = 5
"""Opinions of one answer."""
MOST_TEXT = 500


@dataclass(frozen=True, slots=True)
class Answered:
    """A question that an agent has answered, from which opinions are formed.

    shown: the memories that the model was shown, by their labels; ordinals: theirs.
    """

    thought: str
    question: str
    answer: str
    profile: Profile
    shown: Mapping[str, Memory]
    ordinals: tuple[int, ...]

    @property
    def note(self) -> dict[str, str]:
        """Who records the opinions, and why."""
        return {"by": "think", "why": f"{PROMPT}, thought {self.thought}"}


def form_opinions(agent: Agent, answered: Answered, model: LanguageModel) -> list[str]:
    """Record the opinions that an answer expresses and that they were formed; return their ids.

    It is one transaction. The ids depend on the thought and their places. Nothing is recorded if a
    memory that the model was shown was erased meanwhile. Raises `LanguageModelError`.
    """
    shown = answered.shown
    messages = find_prompt(PROMPT).render(
        question=as_data(answered.question),
        answer=as_data_with_labels(answered.answer, shown),
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
    lineage = tuple(stamp_of(memory) for memory in shown.values())
    formings = [
        _forming(place, each, answered, lineage, model.name, at)
        for place, each in enumerate(answer.opinions)
    ]
    while True:
        try:
            return _record(agent, answered, formings, model.name)
        except InputError:  # an opinion was superseded between the check and the transaction
            if not formings:
                return []  # a memory that it rests on was erased
            formings.pop()


def _forming(
    place: int, each: Any, answered: Answered, lineage: tuple[Stamp, ...], model: str, at: int
) -> Forming:
    """Return the opinion at a place of a model's answer."""
    shown = answered.shown
    evidence = [shown[label].id for label in _labels(each.evidence) if label in shown]
    superseded = _superseded(each, shown, lineage)
    if superseded in evidence:
        evidence.remove(superseded)
    made_by: dict[str, Any] = {"prompt": PROMPT, "model": model, "thought": answered.thought}
    if not evidence:
        made_by[SHOWN] = [memory.id for memory in shown.values()]
    return Forming(
        each.text.strip(),
        float(each.confidence),
        tuple(reason.strip() for reason in each.reasons if reason.strip()),
        tuple(dict.fromkeys(evidence)),
        supersedes=superseded,
        formed_at=at,
        id=content_id("opinion", answered.thought, place),
        made_by=made_by,
        lineage=lineage,
    )


def _record(agent: Agent, answered: Answered, formings: Sequence[Forming], model: str) -> list[str]:
    """Record opinions and a `Form` as one transaction; return their ids."""
    operations: list[Operation] = []
    notes: list[dict[str, str]] = []
    ids: list[str] = []
    new: list[str] = []
    superseded: set[str] = set()
    for each in formings:
        if each.supersedes in superseded:
            continue  # another opinion of the answer takes the place of that one
        try:
            id, recording, noted = forming_operations(agent, each, answered.profile, answered.note)
        except InputError:  # a memory that was shown has been forgotten or superseded meanwhile
            continue
        ids.append(id)
        if recording:
            operations += recording
            notes += noted
            new.append(id)
        if each.supersedes is not None:
            superseded.add(each.supersedes)
    form = Form(answered.thought, PROMPT, model, tuple(new), shown=answered.ordinals)
    operations.append(form)
    agent.transact(operations, [*notes, answered.note])
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


def begin(agent: Agent, thought: Thought, model: LanguageModel) -> None:
    """Record that the opinions of an answer are to be formed, and form them in the background.

    If it cannot be recorded, that is a warning: the answer is not lost.
    """
    assert thought.text is not None
    think = Think(
        thought.id,
        thought.question,
        thought.text,
        tuple(each.id for each in thought.shown.values()),
        {
            "personality": thought.profile.personality,
            "background": thought.profile.background,
        },
        thought.prompt,
        thought.model,
    )
    try:
        agent.transact([think], [{"by": "think"}])
    except RecollexError as error:
        warnings.warn(
            f"{_what(agent)} failed: {error}",
            RuntimeWarning,
            stacklevel=3,
        )
        return
    work_of(agent).thoughts[thought.id] = True
    agent.context.work.start(agent.name, _what(agent), partial(_form, agent, thought.id, model))


def go_on(agent: Agent, model: LanguageModel) -> None:
    """Form what an earlier process has left, in the background; once for each opened agent."""
    work = work_of(agent)
    if not work.went_on and not agent.context.read_only and agent.files.are_there:
        work.went_on = True
        agent.context.work.start(agent.name, _what(agent), partial(_go_on, agent, model))


def _go_on(agent: Agent, model: LanguageModel) -> None:
    view = agent.view()
    begun = work_of(agent).thoughts
    for each in [] if view is None else thought_jobs(agent, view):
        if agent.context.work.closing:
            return  # what is left follows when the agent is opened again
        id = each.thinking.thought
        if each.done is not None or id in begun or len(each.failures) >= MOST_ATTEMPTS:
            continue
        try:
            _form(agent, id, model)
        except LanguageModelError as error:
            if error.reason in (*AWAY, "cancelled"):
                raise
            warnings.warn(f"{_what(agent)} failed: {error}", RuntimeWarning, stacklevel=2)


def _form(agent: Agent, thought: str, model: LanguageModel) -> None:
    """Form the opinions of a thought, unless that was done or its answer was erased."""
    running = work_of(agent).thoughts
    running[thought] = True
    try:
        view = agent.view()
        for each in [] if view is None else thought_jobs(agent, view):
            if each.thinking.thought == thought and each.done is None:
                _ask(agent, each.thinking, model)
    except ClosedError:
        return  # the agent was closed or deleted meanwhile
    finally:
        running[thought] = False


def _ask(agent: Agent, thinking: Thinking, model: LanguageModel) -> None:
    said = said_of(agent, thinking)
    view = agent.view()
    if said is None or view is None:
        return  # erased meanwhile
    shown = read_memories(view, thinking.shown)
    answered = Answered(
        thinking.thought,
        said["question"],
        said["answer"],
        Profile(
            agent_id=agent.name,
            background=said["profile"]["background"],
            **said["profile"]["personality"],
        ),
        {f"m{number}": each for number, each in enumerate(shown, 1)},
        thinking.shown,
    )
    try:
        form_opinions(agent, answered, model)
    except LanguageModelError as error:
        if error.reason != "cancelled":
            failed = Form(thinking.thought, PROMPT, model.name, failed=error.reason)
            agent.transact([failed], [answered.note])
        raise


def _what(agent: Agent) -> str:
    return f"forming the opinions of {agent.name}"
