"""Runs a recall's arms: each is timed, keeps the quotas of networks, and may fail."""

import time
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from recollex_engine.domain.schema import NETWORKS
from recollex_engine.ranking.arms import ArmList, Mask
from recollex_engine.state.view import View
from recollex_engine.trace import Trace

Arm: TypeAlias = Callable[[Mask, int], ArmList]
"""Returns the best of the memories that a mask allows, up to a budget."""


class ArmRunner:
    """Runs the arms of one recall. ``quotas``: network -> its maximum of memories in each list.

    With quotas, even empty ones, an arm searches each network by itself, with a limit of its own:
    TEMPR's ``fact_type = $fact_type ... LIMIT $thinking_budget`` (3.1.1).
    """

    def __init__(self, view: View, quotas: Mapping[str, int] | None, trace: Trace) -> None:
        self._view = view
        self._quotas = quotas
        self._trace = trace

    @property
    def divides(self) -> bool:
        """Whether an arm runs once for each network."""
        return self._quotas is not None and len(self._view.networks) > 1

    def run(
        self, name: str, arm: Arm, allowed: Mask, budget: int, *, across: bool = False
    ) -> ArmList:
        """Return an arm's list. If the arm fails, the trace reports it and the list is empty.

        across: the arm spreads from network to network (Memora 2.1), so it runs once over all, and
        what exceeds a network's quota is left out.
        """
        began = time.perf_counter_ns()
        try:
            if self._quotas is None:
                return arm(allowed, budget)
            if across:
                return self._limited(self._quotas, arm(allowed, budget))
            return self._within(self._quotas, arm, allowed, budget)
        except Exception as error:  # the other arms still answer
            self._trace.errors[name] = f"{type(error).__name__}: {error}"
            return ArmList.empty()
        finally:
            self._trace.spent(name, began)

    def _within(self, quotas: Mapping[str, int], arm: Arm, allowed: Mask, budget: int) -> ArmList:
        """Return the lists of all networks as one, by score; ties: the older memory."""
        networks = self._view.networks
        limits = [min(quotas.get(NETWORKS[number], budget), budget) for number in networks]
        if len(networks) < 2:
            return arm(allowed, limits[0] if limits else budget)
        network = self._view.of_memories("network")
        parts = [
            arm(allowed & (network == number), most)
            for number, most in zip(networks, limits, strict=True)
        ]
        memories = np.concatenate([part.memories for part in parts])
        scores = np.concatenate([part.scores for part in parts])
        rows = np.concatenate([part.rows for part in parts])
        order = np.lexsort((memories, -scores))
        return ArmList(memories[order], scores[order], rows[order] if len(rows) else rows)

    def _limited(self, quotas: Mapping[str, int], found: ArmList) -> ArmList:
        """Return a list without the memories of a network that come after its quota."""
        if not quotas:
            return found
        network = self._view.buffer("network")[found.memories]
        kept = np.ones(len(network), np.bool_)
        for name, most in quotas.items():
            kept[np.flatnonzero(network == NETWORKS.index(name))[most:]] = False
        rows = found.rows[kept] if len(found.rows) else found.rows
        return ArmList(found.memories[kept], found.scores[kept], rows)
