"""How does an agent look for an answer? It calls tools, step by step (REMem 3.2, Algorithm 2).

"iterative" is REMem-I: at each step a language model chooses a tool and its arguments from the
question, what was found and the calls so far; at last it answers from what was found. "single" is
REMem-S: one semantic retrieval, then the answer.

A budget of tokens bounds all that is sent and received: before each request its prompt and the
longest reply are counted, and enough is kept back for the answer. A call that fails is shown to the
model, and costs its step.

What an investigation has found, under labels, and as much of it as a prompt has room for.
A model sees g1, g2 ... and f1, f2 ..., never ids: a label names only what a tool has returned, so
that a text which holds an id, or what looks like a label, names nothing.
"""

import re
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import orjson

from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import from_micros
from recollex_engine.domain.prompt_lines import date_of
from recollex_engine.errors import InputError, LanguageModelError, RecollexError
from recollex_engine.facts.facts import Fact
from recollex_engine.recall.memory import Memory
from recollex_mind.episodic.contexts import Contexts, fact_line, gist_line
from recollex_mind.episodic.investigation import Investigation, ToolCall
from recollex_mind.llm.exchange import Message
from recollex_mind.llm.language_model import LanguageModel
from recollex_mind.llm.prompts import find_prompt
from recollex_mind.prompt_data import as_data, without_labels

if TYPE_CHECKING:
    from pydantic import BaseModel

LONGEST_ERROR = 500
"""Characters of a tool's error that a model is shown."""
LONGEST_REASON = 300
"""Characters of the reasoning of an earlier step that a model is shown."""
NOTHING = "(nothing)"
_LABEL = re.compile(r"\W*[gG]?(\d+)\W*", re.ASCII)


@dataclass(slots=True)
class FoundEvidence:
    """Gists and facts in the order in which they were found; each has a label, its place."""

    gists: dict[str, Memory] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)
    latest: list[str] = field(default_factory=list)

    def add(self, contexts: Contexts) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Add what a tool returned; return the ids of its gists and of its facts."""
        for gist in contexts.gists:
            self.gists.setdefault(gist.id, gist)
        for fact in contexts.facts:
            self.facts.setdefault(fact.id, fact)
        gists = tuple(each.id for each in contexts.gists)
        facts = tuple(each.id for each in contexts.facts)
        return gists, facts

    def gist_of(self, label: object) -> str:
        """Return the id of the gist with a label such as "g2". Raises `InputError`."""
        read = _LABEL.fullmatch(str(label))
        ids = list(self.gists)
        if read is None or not 0 < int(read[1]) <= len(ids):
            known = f"g1 to g{len(ids)}" if ids else "none yet"
            raise InputError(f"gist_id must be the label of a gist that was found: {known}")
        return ids[int(read[1]) - 1]

    def labels(self, gists: tuple[str, ...], facts: tuple[str, ...]) -> str:
        """Return the labels of gists and facts, in words."""
        places = {id: f"g{place}" for place, id in enumerate(self.gists, 1)}
        places_of_facts = {id: f"f{place}" for place, id in enumerate(self.facts, 1)}
        found = [places[id] for id in gists] + [places_of_facts[id] for id in facts]
        return ", ".join(found) or "nothing"

    def to_prompt(self, most_tokens: int, count: Callable[[str], int]) -> str:
        """Return the gists and facts by their labels, the newest of them if not all fit."""
        marked = any(gist.source is not None for gist in self.gists.values())
        lines = [
            ("g", place, without_labels(gist_line(place, gist, marked)))
            for place, gist in enumerate(self.gists.values(), 1)
        ] + [
            ("f", place, without_labels(fact_line(place, fact)))
            for place, fact in enumerate(self.facts.values(), 1)
        ]
        kept = set()
        left = most_tokens
        newest = sorted(lines, key=lambda line: -line[1])
        for letter, place, text in newest:
            cost = count(f"{letter}{text}\n")
            if cost <= left:
                kept.add((letter, place))
                left -= cost
        return (
            "\n".join(f"{letter}{text}" for letter, place, text in lines if (letter, place) in kept)
            or NOTHING
        )


def call_lines(steps: list[ToolCall], evidence: FoundEvidence) -> str:
    """Return the calls so far as lines of a prompt: each with what it found, or why it failed."""
    lines = []
    for place, step in enumerate(steps, 1):
        given = orjson.dumps(_shown(step.arguments)).decode()
        if step.error is not None:
            came = f"failed: {as_data(step.error[:LONGEST_ERROR])}"
        elif step.count is not None:
            came = f"counted {step.count}"
        else:
            came = f"found {evidence.labels(step.gists, step.facts)}"
        why = f" ({as_data(step.reasoning[:LONGEST_REASON])})" if step.reasoning.strip() else ""
        lines.append(f"{place}. {as_data(step.tool[:80])} {as_data(given)}{why}: {came}")
    return "\n".join(lines) or NOTHING


def _shown(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value[:200] if isinstance(value, str) else value for name, value in arguments.items()
    }


# The form in which a model calls a tool: reasoning, function, parameters (REMem, Figure 5).
MOST_REASONING = 2000
"""Characters of a model's reasoning."""


@cache
def call_type(tools: tuple[str, ...]) -> "type[BaseModel]":
    """Return the type of a call. Raises `InputError` without pydantic.

    Arguments that are left out are null. The schema asks for every name, as endpoints with strict
    schemas do; what is read may lack some. Whether the tool exists and takes them is checked where
    it is called, so that the model is told by the same words as everyone; the schema lists
    ``tools``, which keeps a model that answers by it from inventing one.
    """
    try:
        import pydantic
    except ImportError as error:
        raise InputError(
            "investigating with a model needs pydantic: pip install 'recollex[llm]'"
        ) from error

    def every_name(schema: dict[str, Any]) -> None:
        schema["required"] = list(schema["properties"])

    config = pydantic.ConfigDict(extra="forbid", allow_inf_nan=False, json_schema_extra=every_name)

    class Parameters(pydantic.BaseModel):
        model_config = config

        query: str | None = None
        gist_id: str | int | None = None
        subject: str | None = None
        predicate: str | None = None
        object: str | int | float | bool | None = None
        start_time: str | int | None = None
        end_time: str | int | None = None
        start_operator: str | None = None
        end_operator: str | None = None
        limit: int | str | None = None
        ordering: str | None = None
        offset: int | str | None = None
        aggregation: str | None = None
        answer: str | int | float | bool | None = None

        @pydantic.field_validator("*")
        @classmethod
        def fits(cls, value: Any) -> Any:
            """Refuse a whole number that no prompt and no message can hold."""
            if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
                raise ValueError("a whole number must fit in 64 bits")
            return value

    class ToolUse(pydantic.BaseModel):
        model_config = config

        reasoning: str = pydantic.Field(default="", max_length=MOST_REASONING)
        function: str = pydantic.Field(max_length=200, json_schema_extra={"enum": list(tools)})
        parameters: Parameters = pydantic.Field(default_factory=Parameters)

    return ToolUse


SEARCH = "investigate-1"
ANSWERS = {"plain": "investigate-answer-1", "timeline": "investigate-timeline-1"}
"""How the answer is reasoned -> the prompt. "timeline" is in TISER's four parts."""
OPERATION = "investigate"
NO_INFORMATION = "no information available"
"""The answer if nothing that was found answers the question (REMem 6.2)."""
MODES = ("iterative", "single")
MOST_CALL = 512
MOST_ANSWER = {"plain": 256, "timeline": 1024}
"""Tokens of a model's call of a tool, and of its answer."""
LEAST_FOUND = 64
"""Tokens of what was found that an answer must have room for."""
FINAL = "output_answer"

Toolbox = Callable[[str, Mapping[str, Any]], Contexts | str]
"""Carries out a call of a tool; raises `RecollexError` for one that fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """A question to look into; the fields are the arguments of `Agent.investigate`.

    now: as of when it is asked, in microseconds. tools: the tools in words, for the model, and
    ``tool_names`` their names.
    """

    question: str
    max_steps: int = 3
    mode: str = "iterative"
    max_tokens: int = 16_000
    reasoning: str = "plain"
    now: int = 0
    tools: str = ""
    tool_names: tuple[str, ...] = ()


@dataclass(slots=True)
class _Investigator:
    """An investigation that goes on. count: the tokens of a text."""

    inquiry: Inquiry
    model: LanguageModel
    toolbox: Toolbox
    count: Callable[[str], int]
    evidence: FoundEvidence = field(default_factory=FoundEvidence)
    steps: list[ToolCall] = field(default_factory=list)
    tokens: int = 0
    calls: int = 0
    stopped: str | None = None

    def cost(self, messages: tuple[Message, ...]) -> int:
        """Return the tokens of messages."""
        return sum(self.count(message["content"]) for message in messages)

    @property
    def left(self) -> int:
        """The tokens that are left of the budget."""
        return self.inquiry.max_tokens - self.tokens

    @property
    def answer_most(self) -> int:
        """The most tokens of the answer."""
        return MOST_ANSWER[self.inquiry.reasoning]


def investigate(
    agent: AgentOrCut,
    inquiry: Inquiry,
    model: LanguageModel,
    toolbox: Toolbox,
) -> Investigation:
    """Return what is found out about a question.

    Raises `LanguageModelError` if the call is cancelled; a model that fails is a warning, and the
    investigation's ``error``.
    """
    counter = agent.counter()
    begun = Investigation(
        id=str(uuid4()),
        question=inquiry.question,
        text=None,
        mode=inquiry.mode,
        token_counter=counter.name,
        model=model.name,
    )
    search = _Investigator(inquiry, model, toolbox, counter.count)
    error = None
    answer: str | None = None
    messages: tuple[Message, ...] = ()
    try:
        if inquiry.mode == "single":
            _call(search, "semantic_retrieve", {"query": inquiry.question}, "", 0, time.monotonic())
        else:
            _explore(search)
        answer, messages, error = _answer(search)
    except LanguageModelError as failure:
        if failure.reason == "cancelled":
            raise
        warnings.warn(
            f"{agent.name} could not investigate: {failure}", RuntimeWarning, stacklevel=3
        )
        error = str(failure)
    ended = replace(
        begun,
        steps=tuple(search.steps),
        stopped=search.stopped,
        gists=tuple(search.evidence.gists.values()),
        facts=tuple(search.evidence.facts.values()),
        error=error,
        tokens=search.tokens,
        calls=search.calls,
        messages=messages,
        prompt=ANSWERS[inquiry.reasoning],
    )
    if error is not None:
        return ended
    refused = answer is None or is_refusal(answer)
    return replace(ended, text=NO_INFORMATION if refused else answer, refused=refused)


def is_refusal(answer: str) -> bool:
    """Return whether an answer says that there is none, as REMem counts it (6.2).

    >>> is_refusal('"No information available."'), is_refusal("In May"), is_refusal(" ")
    (True, False, True)
    """
    words = "".join(each if each.isalnum() else " " for each in answer.casefold()).split()
    return not words or " ".join(words).startswith(NO_INFORMATION)


def _explore(search: _Investigator) -> None:
    """Let the model call tools until it is ready, or a budget is spent."""
    inquiry = search.inquiry
    for step in range(inquiry.max_steps):
        began = time.monotonic()
        reserve = _least_answer(search)
        room = search.left - reserve - MOST_CALL
        messages = _fitted(
            search, SEARCH, room, turns=str(inquiry.max_steps - step), tools=inquiry.tools
        )
        if messages is None:
            search.stopped = "tokens"
            return
        sent = search.cost(messages)
        try:
            used: Any = search.model.ask_for(
                call_type(inquiry.tool_names),
                messages,
                operation=OPERATION,
                most_tokens=MOST_CALL,
                repair=False,
            )
        except LanguageModelError as failure:
            if failure.reason not in ("malformed", "truncated"):
                raise
            _spend(search, sent, MOST_CALL)
            failed = f"the reply was no call of a tool: {failure}"
            search.steps.append(
                ToolCall(
                    tool="",
                    error=failed,
                    tokens=sent + MOST_CALL,
                    seconds=time.monotonic() - began,
                )
            )
            continue
        given = {
            name: value for name, value in used.parameters.model_dump().items() if value is not None
        }
        spent = sent + min(MOST_CALL, search.count(used.model_dump_json(exclude_none=True)))
        _spend(search, spent, 0)
        _call(search, used.function, given, used.reasoning, spent, began)
        if used.function == FINAL and search.steps[-1].error is None:
            search.stopped = "answer"
            return
    search.stopped = "steps"


def _call(
    search: _Investigator, tool: str, given: dict[str, Any], why: str, spent: int, began: float
) -> None:
    """Carry out one call, and record what came of it."""
    gists: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    count = None
    error = None
    try:
        passed = dict(given)
        if tool == "find_gist_contexts" and "gist_id" in passed:
            passed["gist_id"] = search.evidence.gist_of(passed["gist_id"])
        found = search.toolbox(tool, passed)
        if isinstance(found, Contexts):
            gists, facts = search.evidence.add(found)
            count = found.count
    except RecollexError as failure:
        error = str(failure)
    search.steps.append(
        ToolCall(
            tool=tool,
            arguments=given,
            reasoning=why,
            gists=gists,
            facts=facts,
            count=count,
            error=error,
            tokens=spent,
            seconds=time.monotonic() - began,
        )
    )


def _answer(search: _Investigator) -> tuple[str | None, tuple[Message, ...], str | None]:
    """Return the answer from what was found, the request for it, and why there is none.

    Where no tool has returned anything, the model is not asked: the answer is a refusal. If the
    tokens do not suffice for one call, nothing was searched, and that is no refusal.
    """
    evidence = search.evidence
    if search.stopped == "tokens" and not search.steps:
        return None, (), f"max_tokens={search.inquiry.max_tokens} leave no room for a first step"
    counted = any(step.count is not None for step in search.steps)
    if not evidence.gists and not evidence.facts and not counted:
        return None, (), None
    prompt = ANSWERS[search.inquiry.reasoning]
    messages = _fitted(search, prompt, search.left - search.answer_most)
    if messages is None:
        return None, (), f"max_tokens={search.inquiry.max_tokens} leave no room for an answer"
    reply = search.model.ask(messages, operation=OPERATION, most_tokens=search.answer_most)
    _spend(search, search.cost(messages), search.count(reply.text))
    return _stated(reply.text, search.inquiry.reasoning), messages, None


def _stated(text: str, reasoning: str) -> str:
    """Return the answer of a reply: what stands between its tags, where there are any."""
    if reasoning == "timeline":
        _, opened, after = text.rpartition("<answer>")
        if opened:
            return after.partition("</answer>")[0].strip()
        return text.rpartition("</reflection>")[2].strip()
    return text.strip()


def _least_answer(search: _Investigator) -> int:
    """Return the tokens that an answer needs at least: its prompt without what was found."""
    messages = _rendered(search, ANSWERS[search.inquiry.reasoning], "", {})
    return search.cost(messages) + LEAST_FOUND + search.answer_most


def _fitted(
    search: _Investigator, prompt: str, room: int, **more: str
) -> tuple[Message, ...] | None:
    """Return a prompt with as much of what was found as fits into ``room``; None if none fits."""
    least = search.cost(_rendered(search, prompt, "", more))
    if least + LEAST_FOUND > room:
        return None
    for_found = room - least
    for _ in range(8):  # tokens of parts do not add up to those of the whole
        found = search.evidence.to_prompt(for_found, search.count)
        messages = _rendered(search, prompt, found, more)
        over = search.cost(messages) - room
        if over <= 0:
            return messages
        for_found = max(0, for_found - over)
    return _rendered(search, prompt, "", more)


def _rendered(
    search: _Investigator, prompt: str, found: str, more: Mapping[str, str]
) -> tuple[Message, ...]:
    return find_prompt(prompt).render(
        question=as_data(search.inquiry.question),
        now=date_of(from_micros(search.inquiry.now)),
        found=found,
        calls=call_lines(search.steps, search.evidence),
        **more,
    )


def _spend(search: _Investigator, sent: int, received: int) -> None:
    search.tokens += sent + received
    search.calls += 1


def tools_in_words(schemas: list[dict[str, Any]]) -> str:
    """Return the tools as a model is told of them, one JSON object a line.

    schemas: in MCP's form.
    """
    return "\n".join(
        orjson.dumps(
            {
                "name": each["name"],
                "description": each["description"],
                "parameters": {
                    name: _in_words(argument)
                    for name, argument in each["inputSchema"]["properties"].items()
                },
                "required": each["inputSchema"]["required"],
            }
        ).decode()
        for each in schemas
    )


def _in_words(argument: Mapping[str, Any]) -> str:
    if "description" not in argument:
        raise InputError("a tool's argument has no description")
    chosen = argument.get("enum")
    words = str(argument["description"])
    return f"{words} One of {', '.join(chosen)}." if chosen else words
