"""What an agent finds out about a question: its answer, the steps to it, and what it rests on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recollex_engine.facts.facts import Fact
from recollex_engine.recall.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One step: what a model called, and what came of it.

    reasoning: why, in the model's words. gists, facts: ids of what the tool returned, those that
    were new to the investigation first. count: of an aggregation. error: what was wrong with the
    call, as the model was told. tokens: of the request and the reply. seconds: of both the model
    and the tool.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    reasoning: str = ""
    gists: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    count: int | None = None
    error: str | None = None
    tokens: int = 0
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the step as JSON values."""
        return {
            "tool": self.tool,
            "arguments": dict(self.arguments),
            "reasoning": self.reasoning,
            "gists": list(self.gists),
            "facts": list(self.facts),
            "count": self.count,
            "error": self.error,
            "tokens": self.tokens,
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Investigation:
    """The result of `Agent.investigate`.

    text: the answer; "no information available" if it is refused, None if there is none. refused:
    whether the memory holds no answer. mode: "iterative" or "single". steps: the calls of tools, in
    order. stopped: why the search ended: "answer" (the model was ready), "steps" or "tokens" (a
    budget was spent), None without a search.

    gists, facts: what was found, in the order of the labels g1, g2 ... and f1, f2 ... that a prompt
    shows. error: why the model gave no answer. tokens: sent to the model and received, by
    token_counter. calls: requests to the model. messages: of the request for the answer, whose file
    ``prompt`` names. model: its name.
    """

    id: str
    question: str
    text: str | None
    refused: bool = False
    mode: str = "iterative"
    steps: tuple[ToolCall, ...] = ()
    stopped: str | None = None
    gists: tuple[Memory, ...] = ()
    facts: tuple[Fact, ...] = ()
    error: str | None = None
    tokens: int = 0
    token_counter: str = ""
    calls: int = 0
    messages: tuple[Mapping[str, str], ...] = ()
    prompt: str = ""
    model: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the investigation as JSON values."""
        return {
            "id": self.id,
            "question": self.question,
            "text": self.text,
            "refused": self.refused,
            "mode": self.mode,
            "steps": [step.to_dict() for step in self.steps],
            "stopped": self.stopped,
            "gists": [gist.to_dict() for gist in self.gists],
            "facts": [fact.to_dict() for fact in self.facts],
            "error": self.error,
            "tokens": self.tokens,
            "token_counter": self.token_counter,
            "calls": self.calls,
            "messages": [dict(message) for message in self.messages],
            "prompt": self.prompt,
            "model": self.model,
        }
