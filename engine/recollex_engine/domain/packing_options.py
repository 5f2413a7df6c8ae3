"""How is a recall packed? How far to look around its memories, and when enough is told."""

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
"""The most neighbours of one node that each relation leads to, where the caller says nothing."""


@dataclass(frozen=True)
class Packing:
    """How a recall is packed: how far the search goes, how wide, and when enough is covered.

    depth: edges from a memory of the recall or a name in the question. fan_out: relation -> the
    most neighbours of a node, 0 to leave it; those not named keep their own (see
    `FAN_OUT`). coverage: in (0, 1], at which it stops early. seeds: memories of the
    recall, best first, from which it starts; the one of rank r weighs 1/r, a name 1.

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
    """Return the packing that a caller names: None, "subgraph" or a `Packing` of its own."""
    if given is None or isinstance(given, Packing):
        return given
    if given == "subgraph":
        return DEFAULT
    raise InputError(f'pack must be None, "subgraph" or a Packing, got {given!r}')
