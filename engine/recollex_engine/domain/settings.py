"""The settings of an agent: fixed when it is created, except for its model.

The first operation of its log, `create`, holds them. A `reembed` records them again with another
model and switches to another file of vectors. The last one counts, also for views of the past.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from recollex_engine.dates.locales import DAY_FIRST
from recollex_engine.errors import CorruptError
from recollex_engine.storage.formats import unknown_format
from recollex_engine.text.analyzer import ANALYZER_VERSION
from recollex_engine.text.names import EntityRule

FORMAT = 1
REEMBED = "reembed"
"""The kind of the operation that moves an agent to another model."""
MOST = 1 << 16
"""The greatest dimension, and how often an agent may be moved."""


@dataclass(frozen=True, slots=True)
class Settings:
    """An agent's embedding model, the language of its words, its token counter, locale and names.

    locale: the order of day and month in dates like 5/7/2023, see `dates.locales`. zone: in which
    days begin where no other is said; None for UTC. embedding: 1 for
    the model that the agent was created with; each `reembed` adds 1. entity_rule: when two
    names are one entity, see `text.names`.
    """

    model: str
    dimension: int
    language: str
    analyzer: int
    counter: str
    format: int = FORMAT
    embedding: int = 1
    locale: str = DAY_FIRST
    entity_rule: EntityRule = "alike"
    zone: str | None = None

    @property
    def vectors_file(self) -> str:
        """The name of the current file of vectors."""
        return self._numbered("vectors") + ".f16"

    @property
    def columns_folder(self) -> str:
        """The name of the folder of columns; some columns are derived from the vectors."""
        return self._numbered("columns")

    def _numbered(self, name: str) -> str:
        return name if self.embedding == 1 else f"{name}-{self.embedding}"

    def to_payload(self) -> dict[str, Any]:
        """Return the settings as an operation's payload."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_payload(cls, payload: dict[str, Any]) -> "Settings":
        """Return the settings that `to_payload` wrote; raises `TypeError` or `ValueError`."""
        if payload.get("format") != FORMAT:
            raise unknown_format(None, payload.get("format"), FORMAT, "the agent")
        if (found := payload.get("analyzer")) != ANALYZER_VERSION:
            raise unknown_format(None, found, ANALYZER_VERSION, "the agent's analysis of words")
        settings = cls(**payload)
        for name in (settings.model, settings.language, settings.counter, settings.locale):
            if not isinstance(name, str):
                raise TypeError(f"a name of an agent's settings is {name!r}")
        for number in (settings.dimension, settings.embedding):
            if not (isinstance(number, int) and 0 < number <= MOST):
                raise ValueError(f"a number of an agent's settings is {number!r}")
        return settings


def settings_of(kind: str, payload: Mapping[str, Any] | None) -> Settings | None:
    """Return the settings that an operation sets; None if it sets none."""
    if payload is None or kind not in ("create", REEMBED):
        return None
    try:
        return Settings.from_payload(dict(payload) if kind == "create" else payload["settings"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CorruptError(Path("log"), f"settings in an operation {kind}", repr(error)) from error
