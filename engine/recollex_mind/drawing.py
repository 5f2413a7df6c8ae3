"""How are facts drawn from a chunk of talk by a language model (TEMPR 2.2.2, Memora 2.2)?

The model is shown the turns under labels and answers in a schema. What it answers can become
memories of this agent and nothing else, and these are checked:

- its evidence must be labels of the chunk's turns; a fact without any is left out;
- a fact is "agent" or "opinion" only if each turn that it cites is the agent's own; else "world";
- it is trusted as the least trusted memory that the model was shown, and at most as "assistant";
- dates that the talk does not support are taken out of it (`Dated`), and named in it;
- one that begins with a pronoun, or has no two words, is left out: it is not self-contained.

What is left out is counted in the log with the reason. The turns stay as they are.

Which dates of a fact does the talk support? The others are taken out of it, and named.
A model that is told "last Friday" should write the date. One that invents a date must not be
believed, so each time in a fact is held against the turns that it was drawn from. One is supported
if

- a turn names it: the same time, or a part of it ("last Friday" supports that day and its month);
- a turn was said at that time, as far as the time is a day or longer ("today", "this year");
- its words, such as "since 2016", stand in a turn.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import DAY, to_micros
from recollex_engine.dates.locales import puts_month_first
from recollex_engine.dates.time_range import EARLIEST, LATEST, TimeRange, find_event_ranges
from recollex_engine.domain.checks import MAX_NAME, MAX_NAMES
from recollex_engine.domain.ids import content_id
from recollex_engine.domain.operations import UpsertEdge
from recollex_engine.domain.prompt_lines import date_of
from recollex_engine.domain.schema import DRAWN, EVIDENCE, NETWORKS, OPINION
from recollex_engine.domain.statement import Statement
from recollex_engine.domain.trust import Stamp, least
from recollex_engine.errors import InputError
from recollex_engine.recall.memory import Memory, read_memories
from recollex_engine.state.view import View
from recollex_engine.text.entity_types import EntityType, check_type
from recollex_mind.chunks import Chunk
from recollex_mind.job_log import PROMPTS, Mode
from recollex_mind.llm.exchange import Message
from recollex_mind.llm.language_model import LanguageModel
from recollex_mind.llm.prompts import find_prompt
from recollex_mind.opinions import OWN, Forming, stamp_of
from recollex_mind.prompt_data import as_data

if TYPE_CHECKING:
    from pydantic import BaseModel

_BEFORE = re.compile(
    r"(?<![\s,])[\s,]*+(?:\(\s*+)?\b(?:happened |starting |until |up to )?"
    r"(?:on|in|at|during|since|until|till|by|around|about|from|of|for|before|after|to)?"
    r"(?: the)?\s*+$",
    re.I,
)
"""What leads to a date, and goes with it."""
_WORDS = re.compile(r"\w+")
_SMALL = frozenset(("on", "in", "at", "of", "the", "since", "until", "by", "from", "to", "and"))


@dataclass(frozen=True, slots=True)
class Said:
    """A turn: its words, and when they were said, in microseconds."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Dated:
    """A text with the dates that are supported, and those that were taken out of it."""

    text: str
    dropped: tuple[str, ...]


class Calendar:
    """The times that some turns name. Cost: 0.1 ms a turn."""

    def __init__(self, turns: Sequence[Said], month_first: bool = False) -> None:
        self._turns = turns
        self._month_first = month_first
        self._named = [
            found
            for turn in turns
            for found in find_event_ranges(turn.text, turn.at, month_first=month_first)
        ]
        self._words = {word for turn in turns for word in _WORDS.findall(turn.text.lower())}

    def supported(self, text: str, at: int) -> Dated:
        """Return a text, written at a time, without the dates that no turn supports.

        >>> at = 1_714_816_800_000_000  # a Saturday, 4 May 2024
        >>> calendar = Calendar([Said("I met Carol last Friday.", at)])
        >>> calendar.supported("Ann met Carol on 3 May 2024, and moved in March 2019.", at)
        Dated(text='Ann met Carol on 3 May 2024, and moved.', dropped=('March 2019',))
        """
        dropped = []
        kept = text
        found = find_event_ranges(text, at, month_first=self._month_first, bounds=True)
        for each in reversed(list(found)):
            if not self._supports(each, at):
                dropped.append(each.text)
                kept = _without(kept, *each.span)
        return Dated(kept, tuple(reversed(dropped)))

    def read(self, when: str, at: int) -> int | None:
        """Return the start of a time that a model names, if a turn supports it; None otherwise."""
        found = next(find_event_ranges(when, at, month_first=self._month_first), None)
        if found is None or not self._supports(found, at):
            return None
        return found.start

    def _supports(self, time: TimeRange, at: int) -> bool:
        is_open = time.start <= EARLIEST or time.end >= LATEST or time.end == at
        if not is_open:
            if any(time.start <= each.start and each.end <= time.end for each in self._named):
                return True
            if time.end - time.start >= DAY and any(
                time.start <= turn.at < time.end for turn in self._turns
            ):
                return True
        words = {*_WORDS.findall(time.text.lower())} - _SMALL
        return bool(words) and words <= self._words


def _without(text: str, start: int, end: int) -> str:
    """Return a text without [start, end), and without what leads there."""
    before = text[:start]
    after = text[end:]
    led = _BEFORE.search(before)
    opened = led is not None and "(" in led[0]
    before = before[: led.start()] if led else before
    if opened and (closed := re.match(r"\s*\)", after)):
        after = after[closed.end() :]
    joined = before.rstrip() + ("" if re.match(r"\s*[.,;:!?)]", after) else " ") + after.lstrip()
    return joined.lstrip(" ,;:").rstrip()


MOST_FACTS: dict[str, int] = {"narrative": 5, "atomic": 20}
OPERATION = "extract"
MOST_ANSWER = 4096
"""Tokens of an answer."""
MOST_TEXT = 2000
MOST_SHOWN = 12_000
"""Characters of one turn that a model is shown."""
_PRONOUN = re.compile(
    r"(?:he|she|it|they|them|his|her|hers|its|their|theirs|you|your|we|our|this|that|these|those"
    r"|there|here)\b",
    re.I,
)
_FIRST = re.compile(r"(?:i|my|me|mine)\b", re.I)
_ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """A fact that was drawn and not yet recorded. forming: of an opinion, None for others."""

    statement: Statement
    evidence: tuple[str, ...]
    forming: Forming | None = None

    @property
    def id(self) -> str:
        """The id that it will have: the same for the same turns, prompt and place."""
        return str(self.statement.id)

    @property
    def text(self) -> str:
        """What it says."""
        return self.statement.text

    def noting(self, name: str, value: Any) -> "ExtractedFact":
        """Return the fact with more metadata."""
        metadata = self.statement.metadata | {name: value}
        return replace(self, statement=replace(self.statement, metadata=metadata))


@dataclass(frozen=True, slots=True)
class ExtractedFacts:
    """What a model drew from a chunk. left_out: reason -> how many of its facts.

    edges: facts of the graph, on the evidence of turns and of ``facts`` (see `episode_drawing`).
    """

    facts: tuple[ExtractedFact, ...]
    left_out: dict[str, int]
    edges: tuple[UpsertEdge, ...] = ()


def extract_chunk(
    agent: AgentOrCut, view: View, chunk: Chunk, mode: Mode, model: LanguageModel
) -> ExtractedFacts:
    """Return the facts that a model draws from a chunk. Raises `LanguageModelError`."""
    turns = read_memories(view, chunk.turns)
    before = read_memories(view, chunk.before)
    answer: Any = model.ask_for(
        _answer_type(MOST_FACTS[mode]),
        to_prompt(agent.name, turns, before, mode),
        operation=OPERATION,
        most_tokens=MOST_ANSWER,
    )
    return _checked(agent, chunk.id(view.columns), answer.facts, turns, before, mode, model.name)


def to_prompt(
    agent: str, turns: Sequence[Memory], before: Sequence[Memory], mode: Mode
) -> tuple[Message, ...]:
    """Return the messages from which a model draws facts."""
    values = prompt_values(agent, turns, before)
    return find_prompt(PROMPTS[mode]).render(most=str(MOST_FACTS[mode]), **values)


def prompt_values(agent: str, turns: Sequence[Memory], before: Sequence[Memory]) -> dict[str, str]:
    """Return what a prompt shows of a chunk: the agent's name, its turns, and those before."""
    return {
        "agent": as_data(agent),
        "before": "\n".join(f"- {_line(each, agent)}" for each in before) or "(nothing)",
        "turns": "\n".join(f"[m{n}] {_line(each, agent)}" for n, each in enumerate(turns, 1)),
    }


def _line(memory: Memory, agent: str) -> str:
    own = "; the agent itself" if _is_own(memory, agent) else ""
    text = memory.text[:MOST_SHOWN]
    return f"({memory.event_at:%A}, {date_of(memory.event_at)}{own}) {as_data(text)}"


def _is_own(memory: Memory, agent: str) -> bool:
    """Return whether the agent itself said or did what a memory tells."""
    if memory.network == "agent" or memory.role == _ASSISTANT:
        return True
    return memory.speaker is not None and memory.speaker.casefold() == agent.casefold()


def _checked(
    agent: AgentOrCut,
    chunk: str,
    answers: Sequence[Any],
    turns: Sequence[Memory],
    before: Sequence[Memory],
    mode: Mode,
    model: str,
) -> ExtractedFacts:
    """Return what may be kept of a model's answer."""
    month_first = puts_month_first(agent.locale())
    shown = [Said(each.text, to_micros(each.event_at, "event_at")) for each in (*before, *turns)]
    calendar = Calendar(shown, month_first)
    stamps = [stamp_of(each) for each in (*before, *turns)]
    facts: list[ExtractedFact] = []
    left_out: Counter[str] = Counter()
    for place, answer in enumerate(answers):
        labels = dict.fromkeys(each.strip().strip("[]").lower() for each in answer.evidence)
        cited = [each for n, each in enumerate(turns, 1) if f"m{n}" in labels]
        if not cited:
            left_out["no evidence"] += 1
            continue
        own = all(_is_own(each, agent.name) for each in cited)
        network = NETWORKS.index(answer.network) if own else 0
        last = max(to_micros(each.event_at, "event_at") for each in cited)
        dated = calendar.supported(" ".join(answer.text.split()), last)
        if not is_self_contained(dated.text, network):
            left_out["not self-contained"] += 1
            continue
        if dated.text.casefold() in {each.text.casefold() for each in facts}:
            left_out["said twice"] += 1
            continue
        when = None if answer.when is None else calendar.read(answer.when, last)
        dropped = list(dated.dropped)
        if answer.when is not None and when is None and answer.when not in dropped:
            dropped.append(answer.when[:MAX_NAME])
        id = content_id("extracted", PROMPTS[mode], chunk, place)
        at = last if when is None else when
        try:
            fact = _fact(id, answer, cited, network, dated.text, at)
        except InputError:  # a character that no text may hold, for example
            left_out["malformed"] += 1
            continue
        fact = stamped(fact, stamps, model, mode).noting(DRAWN, PROMPTS[mode])
        fact = fact.noting("model", model)
        facts.append(fact.noting("dropped_dates", dropped) if dropped else fact)
    return ExtractedFacts(tuple(facts), dict(left_out))


def _fact(
    id: str, answer: Any, cited: Sequence[Memory], network: int, text: str, at: int
) -> ExtractedFact:
    named = _names([*(each.name for each in answer.entities), *answer.participants])
    evidence = tuple(each.id for each in cited)
    metadata: dict[str, Any] = {EVIDENCE: list(evidence)}
    if participants := _names(answer.participants):
        metadata["participants"] = participants
    reasons = _names(answer.reasons)
    if reasons:
        metadata["reasons"] = reasons
    named = named[:MAX_NAMES]
    types = {each.name.strip(): check_type(each.type) for each in answer.entities}
    documents = dict.fromkeys(each.document_id for each in cited)
    document = next(iter(documents))
    statement = Statement(
        text,
        said_at=at,
        id=id,
        network=network,
        document=None if document is None else f"facts of {document}"[:MAX_NAME],
        entities=tuple(named),
        types=tuple((name, kind) for name, kind in types.items() if name in named),
        metadata=metadata,
    )
    if network != OPINION:
        return ExtractedFact(statement, evidence)
    confidence = 0.5 if answer.confidence is None else float(answer.confidence)
    forming = Forming(text, confidence, tuple(reasons), evidence, tuple(named), formed_at=at, id=id)
    return ExtractedFact(statement, evidence, forming)


def stamped(fact: ExtractedFact, stamps: Sequence[Stamp], model: str, mode: Mode) -> ExtractedFact:
    """Return a fact with the stamp of the least trusted memory that the model was shown."""
    source, trust = least([OWN, *stamps])
    forming = fact.forming
    if forming is not None:
        made_by = {"prompt": PROMPTS[mode], "model": model}
        forming = replace(forming, made_by=made_by, lineage=tuple(stamps))
    statement = replace(fact.statement, source=source, trust=trust)
    return replace(fact, statement=statement, forming=forming)


def is_self_contained(text: str, network: int) -> bool:
    """Return whether a text has two words and begins with no pronoun, but "I" for the agent."""
    if len(text.split()) < 2 or _PRONOUN.match(text):
        return False
    return network != 0 or not _FIRST.match(text)


def _names(given: Sequence[str]) -> list[str]:
    """Return texts without those that are blank or repeated."""
    return list(dict.fromkeys(each.strip()[:MAX_NAME] for each in given if each.strip()))


@cache
def _answer_type(most: int) -> "type[BaseModel]":
    import pydantic

    class NamedEntity(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid", strict=True)

        name: str = pydantic.Field(max_length=200)
        type: EntityType

    class ExtractedFact(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid", strict=True)

        text: str = pydantic.Field(min_length=1, max_length=MOST_TEXT, pattern=r"\S")
        network: Literal["world", "agent", "opinion"]
        when: str | None = pydantic.Field(max_length=100)
        participants: list[str] = pydantic.Field(max_length=20)
        reasons: list[str] = pydantic.Field(max_length=10)
        entities: list[NamedEntity] = pydantic.Field(max_length=30)
        evidence: list[str] = pydantic.Field(max_length=64)
        confidence: float | None = pydantic.Field(ge=0, le=1)

    class ExtractedFacts(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid", strict=True)

        facts: list[ExtractedFact] = pydantic.Field(max_length=most)

    return ExtractedFacts
