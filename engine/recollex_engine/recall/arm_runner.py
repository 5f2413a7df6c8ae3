"""Runs a recall's arms: each is timed, keeps the quotas of networks, and may fail."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.schema import NETWORKS
from recollex_engine.ranking.arms import ArmList
from recollex_engine.state.view import View
from recollex_engine.trace import Trace

Mask: TypeAlias = npt.NDArray[np.uint8]
Arm: TypeAlias = Callable[[Mask, int], ArmList]
"""Returns the best of the memories that a mask allows, up to a budget."""


class ArmRunner:
    """Runs the arms of one recall. ``quotas``: network -> its maximum of memories in each list."""

    def __init__(self, view: View, quotas: Mapping[str, int] | None, trace: Trace) -> None:
        self._view = view
        self._quotas = quotas
        self._trace = trace

    def run(self, name: str, arm: Arm, allowed: Mask, budget: int) -> ArmList:
        """Return an arm's list. If the arm fails, the trace reports it and the list is empty."""
        with self._trace.stage(name):
            try:
                if self._quotas is None:
                    return arm(allowed, budget)
                return self._within(self._quotas, arm, allowed, budget)
            except Exception as error:  # the other arms still answer
                self._trace.errors[name] = f"{type(error).__name__}: {error}"
                return ArmList.empty()

    def _within(self, quotas: Mapping[str, int], arm: Arm, allowed: Mask, budget: int) -> ArmList:
        """Return an arm's list with no more memories of a network than its quota."""
        network = self._view.of_memories("network")
        parts = []
        for number, name in enumerate(NETWORKS):
            most = min(quotas.get(name, budget), budget)
            parts.append(arm(allowed & (network == number), most))
        memories = np.concatenate([part.memories for part in parts])
        scores = np.concatenate([part.scores for part in parts])
        rows = np.concatenate([part.rows for part in parts])
        order = np.lexsort((memories, -scores))
        return ArmList(memories[order], scores[order], rows[order] if len(rows) else rows)
