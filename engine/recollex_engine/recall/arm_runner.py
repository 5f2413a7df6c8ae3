"""Runs a recall's arms: each is timed, keeps the quotas of networks, and may fail."""

import time
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from recollex_engine.domain.schema import NETWORKS
from recollex_engine.ranking.arms import ArmList, Mask
from recollex_engine.ranking.presets import Preset
from recollex_engine.state.view import View
from recollex_engine.trace import Trace

ArmSearch: TypeAlias = Callable[[Mask, int], ArmList]
"""Returns the best of the memories that a mask allows, up to a budget."""


def divides(view: View, preset: Preset) -> bool:
    """Return whether an arm of ``preset`` runs once for each network."""
    return preset.quotas is not None and len(view.networks) > 1


def run_arm(
    view: View,
    preset: Preset,
    trace: Trace,
    name: str,
    arm: ArmSearch,
    allowed: Mask,
    budget: int,
    *,
    across: bool = False,
) -> ArmList:
    """Return an arm's list. If the arm fails, the trace reports it and the list is empty.

    With quotas, even empty ones, an arm searches each network by itself, with a limit of its own:
    TEMPR's ``fact_type = $fact_type ... LIMIT $thinking_budget`` (3.1.1). across: the arm spreads
    from network to network (Memora 2.1), so it runs once over all, and what exceeds a network's
    quota is left out.
    """
    began = time.perf_counter_ns()
    quotas = preset.quotas
    try:
        if quotas is None:
            return arm(allowed, budget)
        if across:
            return _limited(view, quotas, arm(allowed, budget))
        return _within(view, quotas, arm, allowed, budget)
    except Exception as error:  # the other arms still answer
        trace.failed(name, error)
        return ArmList.empty()
    finally:
        trace.spent(name, began)


def _within(
    view: View, quotas: Mapping[str, int], arm: ArmSearch, allowed: Mask, budget: int
) -> ArmList:
    """Return the lists of all networks as one, by score; ties: the older memory."""
    networks = view.networks
    limits = [min(quotas.get(NETWORKS[number], budget), budget) for number in networks]
    if len(networks) < 2:
        return arm(allowed, limits[0] if limits else budget)
    network = view.of_memories("network")
    parts = [
        arm(allowed & (network == number), most)
        for number, most in zip(networks, limits, strict=True)
    ]
    memories = np.concatenate([part.memories for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    rows = np.concatenate([part.rows for part in parts])
    order = np.lexsort((memories, -scores))
    return ArmList(memories[order], scores[order], rows[order] if len(rows) else rows)


def _limited(view: View, quotas: Mapping[str, int], found: ArmList) -> ArmList:
    """Return a list without the memories of a network that come after its quota."""
    if not quotas:
        return found
    network = view.buffer("network")[found.memories]
    kept = np.ones(len(network), np.bool_)
    for name, most in quotas.items():
        kept[np.flatnonzero(network == NETWORKS.index(name))[most:]] = False
    rows = found.rows[kept] if len(found.rows) else found.rows
    return ArmList(found.memories[kept], found.scores[kept], rows)
