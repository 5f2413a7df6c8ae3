"""The table of arms: one row an arm. A preset picks arms by their names; they run in this order."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from recollex_engine.dates.time_range import TimeRange
from recollex_engine.models.description import Thresholds
from recollex_engine.ranking.arms import ArmList, Mask, semantic
from recollex_engine.ranking.spreading import Spreading, graph
from recollex_engine.ranking.temporal import memora_temporal, temporal
from recollex_engine.state.view import View


@dataclass(slots=True)
class VectorSearch:
    """The input of the arms that compare the question's vector, as a preset says.

    floor: the cosine from which the semantic arm returns memories. found: the time that the
    question names. temporal: "tempr" or "memora". lists: arm -> its list, of those that have run.
    """

    view: View
    query: npt.NDArray[np.float32]
    thresholds: Thresholds
    floor: float
    exact: bool
    spreading: Spreading
    temporal: str
    found: TimeRange | None
    lists: dict[str, ArmList] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to search.

    weight: in a sum of scores; measured best on LoCoMo's conversations 1 to 5. search: returns the
    best of the memories that a mask allows, up to a budget; None for the keyword arm, which runs
    beside the model (`recall.word_search`). seeds: the arm whose list it starts from. across:
    whether it spreads from network to network (Memora 2.1). of_time: whether it needs a time.
    """

    name: str
    weight: float
    search: Callable[[VectorSearch, Mask, int], ArmList] | None
    seeds: str | None = None
    across: bool = False
    of_time: bool = False


def _semantic(given: VectorSearch, allowed: Mask, budget: int) -> ArmList:
    return semantic(given.view, given.query, allowed, given.floor, budget, given.exact)


def _graph(given: VectorSearch, allowed: Mask, budget: int) -> ArmList:
    entries = given.lists["semantic"]
    limits = given.thresholds
    return graph(given.view, given.query, entries, allowed, limits, budget, given.spreading)


def _temporal(given: VectorSearch, allowed: Mask, budget: int) -> ArmList:
    if given.found is None:
        return ArmList.empty()
    arm = temporal if given.temporal == "tempr" else memora_temporal
    return arm(given.view, given.query, given.found, allowed, given.thresholds, budget)


ARMS: Mapping[str, Arm] = MappingProxyType(
    {
        arm.name: arm
        for arm in (
            Arm("semantic", 0.5, _semantic),
            Arm("keyword", 1.0, None),
            Arm("graph", 0.3, _graph, seeds="semantic", across=True),
            Arm("temporal", 0.3, _temporal, across=True, of_time=True),
        )
    }
)
"""Name -> arm."""
