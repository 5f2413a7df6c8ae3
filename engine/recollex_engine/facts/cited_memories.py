"""Which facts, events and episodes rest on some memories? Those that a recall's filters admit."""

import numpy as np
import numpy.typing as npt

from recollex_engine.facts.events import AGGREGATES, INCLUDES, archived
from recollex_engine.facts.fact_view import FactView

Versions = npt.NDArray[np.int64]


def resting_on(view: FactView, memories: npt.NDArray[np.uint8]) -> list[tuple[str, Versions]]:
    """Return (table, versions) of the facts that cite one of ``memories``, and of the others.

    memories: uint8[n], 1 for each that counts. An event rests on the facts that it includes, an
    episode on its events. Cost: O(evidence and edges), 10 ns each.
    """
    array = view.columns.array
    cited = array("fact_evidence").astype(np.int64)
    of = array("fact_evidence_fact")
    counts = cited < len(memories)
    counts[counts] = memories[cited[counts]] == 1
    facts = np.unique(of[: len(cited)][counts]).astype(np.int64)
    ids = array("fact_id")[facts]
    events = _sources(view, INCLUDES, ids)
    keys = array("event_id")[events]
    episodes = _sources(view, AGGREGATES, keys)
    both = np.union1d(events, episodes)
    return [("fact", facts[facts < view.count]), ("event", both[~archived(view)[both]])]


def _sources(view: FactView, relation: int, targets: npt.NDArray[np.uint32]) -> Versions:
    """Return the versions of events with an edge of a relation to one of ``targets``."""
    array = view.columns.array
    versions = array("edge_version").astype(np.int64)
    count = len(versions)
    leads = array("edge_relation")[:count] == relation
    leads &= np.isin(array("edge_target")[:count], targets.astype(np.int64))
    found: Versions = np.unique(versions[leads])
    return found[found < view.count_of("event")]
