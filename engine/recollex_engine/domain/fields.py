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


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field that may be given with a memory.

    name: the argument of `retain`, and the field of `Memory`, a line, a column of Parquet. key: of
    the record in the log, and the attribute of `Statement`; the name, if not given. help: a line.
    prefix: a letter that no other labels begin with, if it is kept as a label in a column of that
    key. counts: its name for `value_counts`. option, metavar: of the command line. of_turns: a turn
    has it; shared: one call takes one value for all turns.
    """

    name: str
    help: str
    form: Form = "text"
    key: str = ""
    prefix: str = ""
    counts: str = ""
    option: str = ""
    metavar: str = ""
    of_turns: bool = False
    shared: bool = False

    def __post_init__(self) -> None:
        if not self.key:
            object.__setattr__(self, "key", self.name)


CONTEXT = Field(
    name="context",
    help="What it was said in, such as 'call'.",
    prefix="c",
    option="--context",
    of_turns=True,
    shared=True,
)
DOCUMENT = Field(
    name="document_id",
    key="document",
    help="The document that it belongs to.",
    prefix="d",
    counts="document_id",
    option="--document",
    metavar="ID",
    of_turns=True,
    shared=True,
)
SPEAKER = Field(name="speaker", help="Who said it.", prefix="s", counts="speakers", of_turns=True)
SOURCE = Field(
    name="source",
    help="Where it comes from: user, assistant, tool, web or a word of your own.",
    prefix="w",
    counts="source",
    option="--source",
    metavar="WORD",
    of_turns=True,
    shared=True,
)
RECORDED_AT = Field(
    name="recorded_at",
    help="When it was recorded, for importing history.",
    form="moment",
    of_turns=True,
    shared=True,
)
FIELDS = (
    Field(name="id", help="Your own id: the same id again replaces the memory.", option="--id"),
    Field(
        name="event_at",
        key="said_at",
        help="When it happened; now, if not given.",
        form="moment",
        option="--at",
    ),
    Field(
        name="valid_until",
        help="When it ceases to be so; never, if not given.",
        form="moment",
        option="--valid-until",
        of_turns=True,
    ),
    RECORDED_AT,
    Field(
        name="network",
        help="world, agent or opinion; world, if not given.",
        option="--network",
        of_turns=True,
        shared=True,
    ),
    DOCUMENT,
    CONTEXT,
    SPEAKER,
    Field(name="role", help="The speaker's role.", of_turns=True),
    Field(
        name="entities",
        help="Names of entities; or an object of names and what they are.",
        form="entities",
        option="--entity",
        metavar="NAME",
    ),
    Field(
        name="tags",
        help="Tags, for filters.",
        form="names",
        option="--tag",
        metavar="TAG",
        of_turns=True,
        shared=True,
    ),
    Field(name="metadata", help="Any JSON values by name.", form="object", of_turns=True),
    SOURCE,
    Field(
        name="trust",
        help="How far a source of your own is trusted: user, assistant, tool or web.",
        option="--trust",
        metavar="LEVEL",
        of_turns=True,
        shared=True,
    ),
    Field(
        name="embedding",
        help="A vector of the caller's own, as long as the agent's are; the model's, if not given.",
        form="vector",
    ),
)
"""All fields beside the text."""

LABELS = tuple(field for field in FIELDS if field.prefix)
"""The fields that are kept as labels."""
TEXTS = tuple(field for field in LABELS if field is not SOURCE)
"""Those that a statement may have without another: a source has its trust."""
GIVEN = tuple(field for field in FIELDS if field.name not in ("speaker", "role", "recorded_at"))
"""The fields of one memory that is no turn, as `retain` takes them for a `Statement`."""
