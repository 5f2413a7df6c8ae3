"""Options of packing: how far to search around a recall's memories, and when to stop."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from recollex_engine.domain.checks import check_count, check_number
from recollex_engine.domain.fact_schema import BETWEEN_EVENTS, RELATIONS
from recollex_engine.errors import InputError

FAN_OUT: Mapping[str, int] = {
    "includes_fact": 16,
    "evidence": 8,
    "conflicts_with": 4,
    "subject": 8,
    "object": 8,
    "has_participant": 8,
    "mentions": 8,
    **dict.fromkeys((RELATIONS[number] for number in sorted(BETWEEN_EVENTS)), 4),
}
"""Default fan-out: the most neighbours of one node that each relation may lead to."""


@dataclass(frozen=True)
class Packing:
    """How a recall is packed: how far and how wide the search goes, and when it stops.

    depth: the most edges from a memory of the recall, or from a name in the question.
    fan_out: relation -> the most neighbours of a node, 0 to skip the relation; relations that are
        not named keep their default (see `FAN_OUT`).
    coverage: in (0, 1]; packing stops early once it covers this share of what can be covered.
    seeds: the number of memories, best first, from which the search starts. The memory of rank r
        has weight 1/r, a name in the question has weight 1.

    Raises `InputError`.

    >>> Packing(depth=1, fan_out={"object": 0}).limits["object"]
    0
    """

    depth: int = 2
    fan_out: Mapping[str, int] = field(default_factory=dict)
    coverage: float = 0.9
    seeds: int = 20

    def __post_init__(self) -> None:
        check_count(self.depth, "depth", 0, 10)
        check_count(self.seeds, "seeds", 0, 1000)
        check_number(self.coverage, "coverage", 0, 1)
        if self.coverage == 0:
            raise InputError("coverage must be above 0: at 0 there is nothing to pack")
        if not isinstance(self.fan_out, Mapping):
            raise InputError(
                f"fan_out must be a dict of relation to int, got {type(self.fan_out).__name__}"
            )
        for relation, most in self.fan_out.items():
            if relation not in FAN_OUT:
                raise InputError(f"fan_out must name one of {', '.join(FAN_OUT)}; got {relation!r}")
            check_count(most, f"fan_out of {relation}", 0, 256)

    @property
    def limits(self) -> dict[str, int]:
        """The fan-out of every relation."""
        return {**FAN_OUT, **self.fan_out}


DEFAULT = Packing()


def find_packing(given: object) -> Packing | None:
    """Return the packing that a caller asks for: None, "subgraph" (the default) or a `Packing`."""
    if given is None or isinstance(given, Packing):
        return given
    if given == "subgraph":
        return DEFAULT
    raise InputError(f'pack must be None, "subgraph" or a Packing, got {given!r}')
