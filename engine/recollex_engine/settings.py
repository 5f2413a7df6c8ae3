"""What is fixed for an agent when it first remembers something? The first operation of its log."""

from dataclasses import asdict, dataclass
from typing import Any

from recollex_engine.errors import FormatError

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Settings:
    """The model behind an agent's vectors, the language of its words, the counter of its tokens."""

    model: str
    dimension: int
    language: str
    analyzer: int
    counter: str
    format: int = FORMAT

    def to_payload(self) -> dict[str, Any]:
        """Return the payload of the `create` operation."""
        return asdict(self)

    @classmethod
    def from_payload(cls, payload: dict[str, Any]) -> "Settings":
        """Return the settings of a `create` operation."""
        if payload.get("format") != FORMAT:
            raise FormatError(
                f"the agent has format {payload.get('format')}, this recollex reads {FORMAT}: "
                "open it with the version that wrote it"
            )
        return cls(**payload)
