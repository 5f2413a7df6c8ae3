"""How does an agent think about a question (Memora 4.3)?

It recalls from each network, builds a prompt of the memories and of its character, lets a language
model answer, and checks the answer: the labels that it cites, and the times of what they cite. What
is wrong is told to the model once. If what was recalled bears too little on the question, the model
is not asked. The character is a part of the prompt alone; it never changes what is recalled.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import uuid4

from recollex_engine.agents.cut import AgentOrCut, Cut
from recollex_engine.clock import from_micros
from recollex_engine.domain.filter import Filter
from recollex_engine.domain.prompt_lines import date_of, prompt_line
from recollex_engine.domain.question import Question
from recollex_engine.domain.schema import NETWORKS, OPINION
from recollex_engine.errors import LanguageModelError, without_paths
from recollex_engine.ranking.presets import DEFAULT
from recollex_engine.ranking.query_embedding import embedded_once
from recollex_engine.recall.memory import Memory, said_on
from recollex_engine.recall.recall import Recall
from recollex_mind.llm.exchange import Message, Reply
from recollex_mind.llm.language_model import LanguageModel
from recollex_mind.llm.prompts import find_prompt
from recollex_mind.opinions import read_opinion
from recollex_mind.profile import Profile, read_profile
from recollex_mind.prompt_data import as_data, without_labels
from recollex_mind.thought import (
    ORDER,
    CheckedAnswer,
    Thought,
    Violation,
    check_citations,
    violations,
)

PROMPT = "think-1"
REPAIR = "think-repair-1"
OPERATION = "think"
LEAST_CONFIDENCE = 0.15
"""Below this probability that the agent holds an answer, it refuses."""
MOST_ANSWER = 1024
"""Tokens of an answer."""
_SHARES = {"world": 0.5, "agent": 0.25, "opinion": 0.25}
"""Which part of the token budget each network has."""
_SWAY = (
    (
        0.7,
        "The agent's character colours its thinking strongly: let its traits decide how the facts "
        "are read and what is made of them, and do not shy away from a one-sided view.",
    ),
    (
        0.4,
        "The agent's character colours its thinking moderately: weigh its traits against a sober "
        "reading of the facts.",
    ),
    (
        0.0,
        "The agent's character hardly colours its thinking: keep to the facts, with its traits in "
        "mind at most.",
    ),
)
"""The smallest bias strength -> what the model is told (the three regimes of Memora 4.3)."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A question to think about; the fields are the arguments of `Agent.think`."""

    question: str
    thinking_budget: int = 50
    max_tokens: int = 4096
    context: str | None = None
    min_confidence: float = LEAST_CONFIDENCE
    trust: int = 0
    now: int | None = None


@dataclass(frozen=True, slots=True)
class ThinkingMaterial:
    """What was recalled: by network, best first; across all of them; and as of when."""

    by_network: Mapping[str, tuple[Memory, ...]]
    across: Recall
    now: datetime

    @property
    def shown(self) -> dict[str, Memory]:
        """Label -> memory, in the order of the prompt."""
        memories = [each for network in ORDER for each in self.by_network[network]]
        return {f"m{number}": each for number, each in enumerate(memories, 1)}


def think(
    agent: AgentOrCut,
    asking: Asking,
    model: LanguageModel | None,
    stream: Callable[[str], object] | None = None,
) -> Thought:
    """Return what an agent thinks; without a model, what it would think from.

    A model that fails is a warning, and the thought's ``error``. Raises `LanguageModelError` if the
    call is cancelled.
    """
    found = gather(agent, asking)
    facts = agent.facts(None, None)
    profile = read_profile(agent.name, facts)
    messages = to_prompt(asking, found, profile)
    confidence = found.across.confidence
    thought = Thought(
        id=str(uuid4()),
        question=asking.question,
        text=None,
        based_on=found.by_network,
        profile=profile,
        confidence=confidence,
        messages=messages,
        prompt=PROMPT,
        model=None if model is None else model.name,
    )
    if not found.shown or (confidence is not None and confidence < asking.min_confidence):
        text = refusal(asking, found)
        if stream is not None:
            stream(text)
        return replace(thought, text=text, refused=True)
    if model is None:
        return thought

    def checked(answer: str) -> tuple[CheckedAnswer, tuple[Violation, ...]]:
        read = check_citations(answer, {label: each.id for label, each in found.shown.items()})
        named = found.across.time_range
        memories = list(found.shown.values())
        return read, violations(read.citations, memories, facts, named, found.now)

    try:
        answer = _answer(model, messages, stream)
        read, wrong = checked(answer)
        if (wrong or read.forged) and stream is None:
            read, wrong = checked(_repaired(model, messages, answer, read, wrong))
    except LanguageModelError as error:
        if error.reason == "cancelled":
            raise
        warnings.warn(f"{agent.name} could not think: {error}", RuntimeWarning, stacklevel=3)
        return replace(thought, error=without_paths(str(error)))
    return replace(
        thought,
        text=read.text,
        citations=read.citations,
        forged=read.forged,
        uncited=read.uncited,
        violations=wrong,
    )


def gather(agent: AgentOrCut, asking: Asking) -> ThinkingMaterial:
    """Recall from each network with its share of the token budget, and across all of them.

    Opinions are weighed: those of equal likeness stand in the order of their confidence.
    """

    def recalled(networks: tuple[int, ...], most: int) -> Recall:
        question = Question(
            asking.question,
            thinking_budget=asking.thinking_budget,
            max_tokens=max(1, most),
            filter=Filter(network=networks, trust=asking.trust),
            now=asking.now,
        )
        return agent.recall(question, DEFAULT)

    with embedded_once():
        across = recalled((), asking.max_tokens)
        by_network = {
            name: tuple(recalled((number,), int(asking.max_tokens * _SHARES[name])))
            for number, name in enumerate(NETWORKS)
        }
    opinions = by_network[NETWORKS[OPINION]]
    by_network[NETWORKS[OPINION]] = tuple(sorted(opinions, key=_weight, reverse=True))
    now = agent.recorded_at if isinstance(agent, Cut) else agent.clock()
    return ThinkingMaterial(
        by_network, across, from_micros(now if asking.now is None else asking.now)
    )


def to_prompt(asking: Asking, found: ThinkingMaterial, profile: Profile) -> tuple[Message, ...]:
    """Return the messages from which a model answers for an agent."""
    labels = {memory.id: label for label, memory in found.shown.items()}
    marked = any(
        memory.source is not None
        for network in ("agent", "world")  # opinions always have one
        for memory in found.by_network[network]
    )
    listed = {
        network: "\n".join(_line(each, labels[each.id], marked) for each in memories) or "(nothing)"
        for network, memories in found.by_network.items()
    }
    return find_prompt(PROMPT).render(
        sway=next(words for least, words in _SWAY if profile.bias_strength >= least),
        strength=f"{profile.bias_strength:.0%}",
        traits="\n".join(f"- {each}" for each in profile.traits),
        background=as_data(profile.background) or "(none)",
        context=as_data(asking.context or "") or "(none)",
        question=as_data(asking.question),
        now=date_of(found.now),
        **listed,
    )


def refusal(asking: Asking, found: ThinkingMaterial) -> str:
    """Return what an agent says that does not know, and what it looked for."""
    counts = ", ".join(f"{len(found.by_network[name])} of {name}" for name in ORDER)
    confidence = found.across.confidence
    how = "" if confidence is None else f" (confidence {confidence:.2f})"
    return (
        f"I do not know. I looked for {asking.question!r} among my memories and found {counts}, "
        f"but nothing that answers it{how}."
    )


def _answer(
    model: LanguageModel,
    messages: Sequence[Message],
    stream: Callable[[str], object] | None,
) -> str:
    if stream is None:
        reply: Reply = model.ask(messages, operation=OPERATION, most_tokens=MOST_ANSWER)
        return reply.text
    pieces = []
    for piece in model.stream(messages, operation=OPERATION, most_tokens=MOST_ANSWER):
        pieces.append(piece)
        stream(piece)
    return "".join(pieces)


def _repaired(
    model: LanguageModel,
    messages: Sequence[Message],
    answer: str,
    read: CheckedAnswer,
    wrong: Sequence[Violation],
) -> str:
    """Return the answer that a model gives after it was told what is wrong with the first."""
    told = [f"[{label}] is no label of a memory." for label in read.forged]
    told += [each.to_prompt() for each in wrong]
    again = find_prompt(REPAIR).render(problems="\n".join(f"- {as_data(each)}" for each in told))
    said = [*messages, {"role": "assistant", "content": answer}, *again]
    return model.ask(said, operation=OPERATION, most_tokens=MOST_ANSWER).text


def _line(memory: Memory, label: str, marked: bool) -> str:
    text = without_labels(memory.text)
    if memory.network == NETWORKS[OPINION]:
        confidence = read_opinion(memory).confidence
        text = text if confidence is None else f"(confidence {confidence:.2f}) {text}"
    line = prompt_line(said_on(memory), text, memory.source, memory.trust, marked)
    return f"[{label}] {line}"


def _weight(memory: Memory) -> float:
    confidence = read_opinion(memory).confidence
    return memory.score * (0.5 if confidence is None else confidence)
