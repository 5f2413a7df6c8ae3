"""How are gists and facts drawn from a chunk of talk by a language model (REMem 3.1)?

A gist is a memory of kind "gist" that names the turns that it was made of, and its chunk. A fact is
a triple of phrases with its valid time at the precision given; it cites its turns and the gists
that share one with it. REMem asks twice, for gists and then for facts; here one answer has both.
The checks are those of `drawing`: evidence must be turns of the chunk, dates that the talk does not
support are left out. Nothing is compared with what is known: gists and facts that contradict each
other are all kept.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import from_micros, to_micros
from recollex_engine.dates.locales import puts_month_first
from recollex_engine.domain.checks import MAX_NAME
from recollex_engine.domain.gists import CHUNK, GIST, KIND
from recollex_engine.domain.ids import content_id
from recollex_engine.domain.intervals import PRECISIONS, read_period
from recollex_engine.domain.operations import UpsertEdge
from recollex_engine.domain.schema import DRAWN, EVIDENCE
from recollex_engine.domain.statement import Statement
from recollex_engine.errors import InputError
from recollex_engine.recall.memory import Memory, read_memories
from recollex_engine.state.view import View
from recollex_mind.chunks import Chunk
from recollex_mind.drawing import (
    MOST_ANSWER,
    MOST_TEXT,
    OPERATION,
    Calendar,
    ExtractedFact,
    ExtractedFacts,
    Said,
    is_self_contained,
    prompt_values,
    stamped,
)
from recollex_mind.job_log import PROMPTS
from recollex_mind.llm.language_model import LanguageModel
from recollex_mind.llm.prompts import find_prompt
from recollex_mind.opinions import stamp_of

if TYPE_CHECKING:
    from pydantic import BaseModel

MOST = 40
"""Gists of a chunk, and facts."""


def extract_episode(
    agent: AgentOrCut, view: View, chunk: Chunk, model: LanguageModel
) -> ExtractedFacts:
    """Return the gists and triples that a model draws from a chunk. Raises `LanguageModelError`."""
    turns = read_memories(view, chunk.turns)
    before = read_memories(view, chunk.before)
    answer: Any = model.ask_for(
        _answer_type(),
        find_prompt(PROMPTS["episodic"]).render(
            most=str(MOST), **prompt_values(agent.name, turns, before)
        ),
        operation=OPERATION,
        most_tokens=MOST_ANSWER,
    )
    shown = (*before, *turns)
    said = [Said(each.text, to_micros(each.event_at, "event_at")) for each in shown]
    reading = _Reading(
        chunk.id(view.columns),
        turns,
        shown,
        Calendar(said, puts_month_first(agent.locale())),
        model.name,
    )
    gists: list[ExtractedFact] = []
    for place, each in enumerate(answer.gists):
        gist = reading.gist(place, each)
        if isinstance(gist, str):
            reading.left_out[gist] += 1
        else:
            gists.append(gist)
    edges: list[UpsertEdge] = []
    for place, each in enumerate(answer.facts):
        edge = reading.triple(place, each, gists)
        if isinstance(edge, str):
            reading.left_out[edge] += 1
        else:
            edges.append(edge)
    return ExtractedFacts(tuple(gists), dict(reading.left_out), tuple(edges))


@dataclass(slots=True)
class _Reading:
    """What may be kept of a model's answer about a chunk. shown: all that the model was shown."""

    chunk: str
    turns: Sequence[Memory]
    shown: Sequence[Memory]
    calendar: Calendar
    model: str
    left_out: Counter[str] = field(default_factory=Counter)
    said: set[Any] = field(default_factory=set)

    def gist(self, place: int, answer: Any) -> ExtractedFact | str:
        """Return a gist as a memory, or why it is left out."""
        cited = self._cited(answer.evidence)
        if not cited:
            return "no evidence"
        last = max(to_micros(each.event_at, "event_at") for each in cited)
        dated = self.calendar.supported(" ".join(answer.text.split()), last)
        if not is_self_contained(dated.text, 0):
            return "not self-contained"
        if dated.text.casefold() in self.said:
            return "said twice"
        self.said.add(dated.text.casefold())
        when = None if answer.when is None else self._time(answer.when, last)
        prompt = PROMPTS["episodic"]
        evidence = tuple(each.id for each in cited)
        metadata: dict[str, Any] = {KIND: GIST, EVIDENCE: list(evidence), CHUNK: self.chunk}
        if dated.dropped:
            metadata["dropped_dates"] = list(dated.dropped)
        document = cited[0].document_id
        try:
            statement = Statement(
                dated.text,
                said_at=last if when is None else when[0],
                id=content_id("extracted", prompt, self.chunk, place),
                document=None if document is None else f"facts of {document}"[:MAX_NAME],
                metadata=metadata | {DRAWN: prompt, "model": self.model},
            )
        except InputError:  # a character that no text may hold, for example
            return "malformed"
        stamps = [stamp_of(each) for each in self.shown]
        return stamped(ExtractedFact(statement, evidence), stamps, self.model, "episodic")

    def triple(self, place: int, answer: Any, gists: Sequence[ExtractedFact]) -> UpsertEdge | str:
        """Return a triple as a fact of the graph, or why it is left out."""
        cited = self._cited(answer.evidence)
        if not cited:
            return "no evidence"
        parts = tuple(
            " ".join(each.split()) for each in (answer.subject, answer.predicate, answer.object)
        )
        last = max(to_micros(each.event_at, "event_at") for each in cited)
        point, start, end = (
            None if each is None else self._time(each, last)
            for each in (answer.point_in_time, answer.start_time, answer.end_time)
        )
        dropped = sum(
            given is not None and read is None
            for given, read in (
                (answer.point_in_time, point),
                (answer.start_time, start),
                (answer.end_time, end),
            )
        )
        if dropped:
            self.left_out["unsupported date"] += dropped
        if (said := (*map(str.casefold, parts), point, start, end)) in self.said:
            return "said twice"
        self.said.add(said)
        ids = [each.id for each in cited]
        ids += [gist.id for gist in gists if not set(gist.evidence).isdisjoint(ids)]
        first, last_moment, uncertainty = _valid(point, start, end)
        try:
            return UpsertEdge(
                *parts,
                start=first,
                end=last_moment,
                evidence=tuple(ids),
                uncertainty=uncertainty,
                given_id=content_id("extracted", PROMPTS["episodic"], self.chunk, "fact", place),
            )
        except InputError:  # an end before its start, or a phrase that is too long
            return "malformed"

    def _cited(self, evidence: Sequence[str]) -> list[Memory]:
        labels = {each.strip().strip("[]").lower() for each in evidence}
        return [each for n, each in enumerate(self.turns, 1) if f"m{n}" in labels]

    def _time(self, written: str, at: int) -> tuple[int, int, str | None] | None:
        """Return [start, end) and the precision of a time; None if no turn supports it."""
        words = written.strip()
        precision = None
        try:
            period = read_period(words, "time")
        except InputError:
            return None
        if period is not None:
            precision = PRECISIONS[len(words)]
            start = from_micros(period[0])
            words = {"year": f"in {start:%Y}", "month": f"{start:%B %Y}"}.get(
                precision, f"{start.day} {start:%B %Y}"
            )
        found = self.calendar.read(words, at)
        if found is None:
            return None
        if period is not None:
            return *period, precision
        return found, found + 1, None


def _valid(
    point: tuple[int, int, str | None] | None,
    start: tuple[int, int, str | None] | None,
    end: tuple[int, int, str | None] | None,
) -> tuple[int | None, int | None, str | None]:
    """Return the valid time of a fact, and to which precision it is known."""
    if point is not None:
        return point[0], point[1], None if point[2] is None else f"to the {point[2]}"
    said = [
        f"{side} to the {time[2]}"
        for side, time in (("start", start), ("end", end))
        if time is not None and time[2] is not None
    ]
    first = None if start is None else start[0]
    return first, None if end is None else end[1], ", ".join(said) or None


@cache
def _answer_type() -> "type[BaseModel]":
    import pydantic

    class Told(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid", strict=True)

        evidence: list[str] = pydantic.Field(max_length=64)

    class Gist(Told):
        text: str = pydantic.Field(min_length=1, max_length=MOST_TEXT, pattern=r"\S")
        when: str | None = pydantic.Field(max_length=100)

    class Triple(Told):
        subject: str = pydantic.Field(min_length=1, max_length=MAX_NAME, pattern=r"\S")
        predicate: str = pydantic.Field(min_length=1, max_length=MAX_NAME, pattern=r"\S")
        object: str = pydantic.Field(min_length=1, max_length=MAX_NAME, pattern=r"\S")
        point_in_time: str | None = pydantic.Field(max_length=100)
        start_time: str | None = pydantic.Field(max_length=100)
        end_time: str | None = pydantic.Field(max_length=100)

    class Episode(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid", strict=True)

        gists: list[Gist] = pydantic.Field(max_length=MOST)
        facts: list[Triple] = pydantic.Field(max_length=MOST)

    return Episode
