"""How are memories removed? By an erasure, and by an agent's retention rules.

How long, and how many, memories does an agent keep? Its retention rules.
The operation `retention` of the log sets all rules of an agent; the last one counts::

    {"rules": [{"network": NAME, "age": MICROSECONDS, "count": NUMBER, "erase": true}, ...]}

Fields that a rule does not have are left out.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from recollex_engine.clock import MICROSECOND
from recollex_engine.domain.checks import check_count, check_flag
from recollex_engine.domain.filter import EVERYTHING, Filter
from recollex_engine.domain.statement import network_number
from recollex_engine.errors import InputError


@dataclass(frozen=True, slots=True)
class Selection:
    """Memories to erase: those that meet the filter, open or not, with all versions of their ids.

    ids: any of these; none for all. everything: all of the agent, without a filter.
    """

    ids: tuple[str, ...] = ()
    filter: Filter = EVERYTHING
    everything: bool = False

    def __post_init__(self) -> None:
        self.filter.check_removal()
        filters = bool(self.ids or self.filter)
        if filters == self.everything:
            raise InputError(
                "say what to erase: a filter, such as id or document_id, or everything"
                if not filters
                else "everything goes without a filter"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What an erasure took away, or would take away.

    memories: how many, each version counted. passages: theirs. facts, events: versions of those
    that had no other source. op, recorded_at: of the operation in the log; None for a preview, and
    where nothing was erased.
    """

    memories: int
    passages: int
    facts: int
    events: int
    op: int | None = None
    recorded_at: datetime | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the erasure as JSON values."""
        at = None if self.recorded_at is None else self.recorded_at.isoformat()
        return {
            "memories": self.memories,
            "passages": self.passages,
            "facts": self.facts,
            "events": self.events,
            "op": self.op,
            "recorded_at": at,
        }


RETENTION = "retention"
"""The kind of the operation that sets the rules; also the name of who forgets by them."""
MOST_RULES = 32
MOST_COUNT = 2**32
MOST_AGE = timedelta(days=366 * 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """One rule: which memories an agent does not keep.

    network: "world", "agent" or "opinion"; None for all. age: those recorded longer ago. count:
    those recorded before the newest ``count`` open ones. With both, those that either names.
    erase: `Agent.expire` also takes them out of every file, for good; otherwise they are forgotten,
    and cuts of the past still show them.

    >>> Retention(age=timedelta(days=30), network="opinion").why
    'opinion: older than 30 days, 0:00:00'
    """

    network: str | None = None
    age: timedelta | None = None
    count: int | None = None
    erase: bool = False

    def __post_init__(self) -> None:
        if self.network is not None:
            network_number(self.network)
        if self.age is None and self.count is None:
            raise InputError("a retention rule needs an age or a count")
        if self.age is not None:
            if not isinstance(self.age, timedelta):
                raise InputError(f"age must be a timedelta, got {type(self.age).__name__}")
            if not timedelta() < self.age <= MOST_AGE:
                raise InputError(f"age must be longer than 0 and up to {MOST_AGE}, got {self.age}")
        if self.count is not None:
            check_count(self.count, "count", 0, MOST_COUNT)
        check_flag(self.erase, "erase")

    @property
    def micros(self) -> int | None:
        """The age in microseconds."""
        return None if self.age is None else self.age // MICROSECOND

    @property
    def why(self) -> str:
        """The reason in the log for what is forgotten by this rule."""
        parts = [] if self.age is None else [f"older than {self.age}"]
        parts += [] if self.count is None else [f"more than {self.count:,}"]
        return f"{self.network or 'all networks'}: {' or '.join(parts)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as JSON values; the age in microseconds."""
        said = {"network": self.network, "age": self.micros, "count": self.count}
        found: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
        return found | {"erase": True} if self.erase else found

    @classmethod
    def from_dict(cls, said: dict[str, Any]) -> "Retention":
        """Return the rule that `to_dict` wrote."""
        age = said.get("age")
        return cls(**{**said, "age": None if age is None else timedelta(microseconds=age)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiry:
    """What `Agent.expire` did: how many memories it forgot, and how many versions it erased."""

    forgotten: int = 0
    erased: int = 0


def check_rules(rules: object) -> tuple[Retention, ...]:
    """Return rules as a tuple. Raises `InputError` for anything else."""
    if not isinstance(rules, list | tuple) or not all(isinstance(r, Retention) for r in rules):
        raise InputError("rules must be a list of recollex.Retention; [] sets none")
    if len(rules) > MOST_RULES:
        raise InputError(f"an agent may have up to {MOST_RULES} rules, got {len(rules)}")
    return tuple(rules)
