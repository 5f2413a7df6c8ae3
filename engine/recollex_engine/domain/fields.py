"""What may be given with a memory? One row for each field, from which the rest comes.

Columns, the record of the log, what a correction carries over, the arguments that `retain` reads,
JSON lines, Parquet, the schemas of HTTP and the options of the command line loop over these rows.
How a field is shown is in `recall.memory`, which has derived fields too.
"""

from dataclasses import dataclass
from typing import Literal

Form = Literal["text", "moment", "names", "object", "entities", "vector"]
"""What a caller gives: a str, a time, a list of str, a dict, entities (a list, or a dict with their
types), numbers."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field that may be given with a memory.

    name: the argument of `retain`, and the field of `Memory`, a line, a column of Parquet. help: a
    line. key: of the record in the log, and the attribute of `Statement`; the name, if not given.
    prefix: a letter that no other labels begin with, if it is kept as a label in a column of that
    key. counts: its name for `value_counts`. option, metavar: of the command line. turns: "each" if
    a turn has its own, "all" if one call takes one for all turns, "" if no turn has it.
    """

    name: str
    help: str
    form: Form = "text"
    key: str = ""
    prefix: str = ""
    counts: str = ""
    option: str = ""
    metavar: str | None = None
    turns: Literal["each", "all", ""] = ""

    def __post_init__(self) -> None:
        if not self.key:
            object.__setattr__(self, "key", self.name)


_ID = "Your own id: the same id again replaces the memory."
_SOURCE = "Where it comes from: user, assistant, tool, web or a word of your own."
_TRUST = "How far a source of your own is trusted: user, assistant, tool or web."
_VECTOR = "A vector of the caller's own, as long as the agent's are; the model's, if not given."
_ENTITIES = "Names of entities; or an object of names and what they are."
_AT = "When it happened; now, if not given."
_ZONE = "Where it was said: Asia/Tokyo or +09:00; the zone of event_at, if not given."
_UNTIL = "When it ceases to be so; never, if not given."
_RECORDED = "When it was recorded, for importing history."

SOURCE = Field(
    "source", _SOURCE, prefix="w", counts="source", option="--source", metavar="WORD", turns="all"
)
RECORDED_AT = Field("recorded_at", _RECORDED, "moment", turns="all")
FIELDS = (
    Field("id", _ID, option="--id", turns="each"),
    Field("event_at", _AT, "moment", "said_at", option="--at"),
    Field("valid_until", _UNTIL, "moment", option="--valid-until", turns="each"),
    RECORDED_AT,
    Field("network", "world, agent or opinion (world).", option="--network", turns="all"),
    Field(
        "document_id",
        "The document that it belongs to.",
        key="document",
        prefix="d",
        counts="document_id",
        option="--document",
        metavar="ID",
        turns="all",
    ),
    Field("zone", _ZONE, prefix="l", option="--zone", metavar="ZONE", turns="all"),
    Field("context", "What it was said in.", prefix="c", option="--context", turns="all"),
    Field("speaker", "Who said it.", prefix="s", counts="speakers", turns="each"),
    Field("role", "The speaker's role.", turns="each"),
    Field("entities", _ENTITIES, "entities", option="--entity", metavar="NAME"),
    Field("tags", "Tags, for filters.", "names", option="--tag", metavar="TAG", turns="all"),
    Field("metadata", "Any JSON values by name.", "object", turns="each"),
    SOURCE,
    Field("trust", _TRUST, option="--trust", metavar="LEVEL", turns="all"),
    Field("embedding", _VECTOR, "vector"),
)
"""All fields beside the text."""

LABELS = tuple(field for field in FIELDS if field.prefix)
"""The fields that are kept as labels."""
TEXTS = tuple(field for field in LABELS if field is not SOURCE)
"""Those that a statement may have without another: a source has its trust."""
GIVEN = tuple(field for field in FIELDS if field.name not in ("speaker", "role", "recorded_at"))
"""The fields of one memory that is no turn, as `retain` takes them for a `Statement`."""
