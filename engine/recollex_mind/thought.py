"""What an agent thinks about a question: its answer, and what the answer rests on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recollex_engine.clock import iso_moments
from recollex_engine.recall.memory import Memory
from recollex_mind.citations import Citation
from recollex_mind.profile import Profile
from recollex_mind.time_critique import Violation

ORDER = ("agent", "world", "opinion")
"""The order of the networks in a prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """The result of `Agent.think`.

    text: the answer, with labels such as [m2] after its claims; of a refusal what was looked for;
    None without a language model, or if it failed, as ``error`` says. refused: whether what was
    recalled bears too little on the question to be answered. citations: the labels, checked: each
    names a memory that was shown. forged: labels that the model made up, which were taken out of
    the text. uncited: sentences without a label. violations: claims that cite what was not so at
    the asked time, see `mind.time_critique`.

    based_on: the memories shown, by network. profile: under which it was thought. confidence: of
    the recall, see `Recall.confidence`. messages: the prompt, whose file ``prompt`` names. model:
    its name, None without one.
    """

    id: str
    question: str
    text: str | None
    refused: bool = False
    error: str | None = None
    citations: tuple[Citation, ...] = ()
    forged: tuple[str, ...] = ()
    uncited: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()
    based_on: Mapping[str, tuple[Memory, ...]] = field(default_factory=dict)
    profile: Profile
    confidence: float | None = None
    messages: tuple[Mapping[str, str], ...] = ()
    prompt: str = ""
    model: str | None = None

    @property
    def shown(self) -> dict[str, Memory]:
        """The memories by their labels, in the order of the prompt."""
        memories = [each for network in ORDER for each in self.based_on.get(network, ())]
        return {f"m{number}": each for number, each in enumerate(memories, 1)}

    @property
    def cited(self) -> list[Memory]:
        """The memories that the answer cites, in the order of the answer."""
        ids = dict.fromkeys(each.id for each in self.citations)
        held = {each.id: each for memories in self.based_on.values() for each in memories}
        return [held[id] for id in ids]

    def to_dict(self) -> dict[str, Any]:
        """Return the thought as JSON values."""
        return {
            "id": self.id,
            "question": self.question,
            "text": self.text,
            "refused": self.refused,
            "error": self.error,
            "citations": [
                {"label": each.label, "id": each.id, "span": list(each.span), "claim": each.claim}
                for each in self.citations
            ],
            "forged": list(self.forged),
            "uncited": list(self.uncited),
            "violations": [
                {
                    "label": each.label,
                    "id": each.id,
                    "reason": each.reason,
                    "holds": iso_moments(each.holds),
                    "claim": each.claim,
                }
                for each in self.violations
            ],
            "based_on": {
                network: [memory.to_dict() for memory in memories]
                for network, memories in self.based_on.items()
            },
            "profile": self.profile.to_dict(),
            "confidence": self.confidence,
            "messages": [dict(message) for message in self.messages],
            "prompt": self.prompt,
            "model": self.model,
        }
