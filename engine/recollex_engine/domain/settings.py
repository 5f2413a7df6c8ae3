"""What is fixed for an agent when it first remembers something, and which model embedded it since?

The first operation of its log, `create`, says so. A `reembed` says it again with another model, and
puts another file of vectors in force; only its last one counts, for the past as well.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from recollex_engine.errors import FormatError

FORMAT = 1
REEMBED = "reembed"
"""The kind of operation whose append moves an agent to another model."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The model behind an agent's vectors, the language of its words, the counter of its tokens.

    embedding: 1 for the model that the agent was created with, 1 more with each `reembed`.
    """

    model: str
    dimension: int
    language: str
    analyzer: int
    counter: str
    format: int = FORMAT
    embedding: int = 1

    @property
    def vectors_file(self) -> str:
        """The name of the file of the vectors in force."""
        return self._numbered("vectors") + ".f16"

    @property
    def columns_folder(self) -> str:
        """The name of the folder of columns, some of which are made of vectors."""
        return self._numbered("columns")

    def _numbered(self, name: str) -> str:
        return name if self.embedding == 1 else f"{name}-{self.embedding}"

    def to_payload(self) -> dict[str, Any]:
        """Return the settings as an operation records them."""
        payload = asdict(self)
        if self.embedding == 1:
            del payload["embedding"]  # as it was before there were others
        return payload

    @classmethod
    def from_payload(cls, payload: dict[str, Any]) -> "Settings":
        """Return the settings that `to_payload` wrote."""
        if payload.get("format") != FORMAT:
            raise FormatError(
                f"the agent has format {payload.get('format')}, this recollex reads {FORMAT}: "
                "open it with the version that wrote it"
            )
        return cls(**payload)


def settings_of(kind: str, payload: Mapping[str, Any] | None) -> Settings | None:
    """Return the settings that an operation puts in force; None for one that puts none."""
    if payload is None or kind not in ("create", REEMBED):
        return None
    return Settings.from_payload(dict(payload) if kind == "create" else payload["settings"])
