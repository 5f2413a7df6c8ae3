"""Do the versions of facts and events keep MemoTrace's invariants ("L1 layer", Invariants)?

After any operation at most one version of an id is open. The recorded starts of an id's versions
never decrease. So a snapshot that takes the greatest recorded start of each id takes its open
version.
"""

import numpy as np

from recollex_engine.state.column_set import NONE
from recollex_engine.state.columns import Columns


def problems_of(columns: Columns) -> list[str]:
    """Return the violations, one line each; an empty list if there are none.

    Cost: 30 ms for a million versions.
    """
    found = []
    for kind in ("fact", "event"):
        ids, previous, op, closed = (
            columns.array(f"{kind}_{name}") for name in ("id", "previous", "op", "closed_by")
        )
        span = "fact" if kind == "fact" else "span"
        start = columns.array(f"{span}_start")
        end = columns.array(f"{span}_end")
        count = len(ids)
        if not count:
            continue
        strings = columns.dictionary[f"{kind}_ids"]
        older = previous.astype(np.int64)
        has = older != NONE
        places = np.flatnonzero(has)
        wrong = {
            "ends before it starts": np.flatnonzero(end <= start),
            "is closed before it is recorded": np.flatnonzero((closed > 0) & (closed < op)),
            "follows a version recorded later": places[op[older[places]] > op[places]],
            "follows a version of another id": places[ids[older[places]] != ids[places]],
            "is open beside the one before it": places[
                (closed[older[places]] == 0) | (closed[older[places]] > op[places])
            ],
        }
        firsts = np.flatnonzero(~has)
        begun = firsts[np.unique(ids[firsts], return_index=True)[1]]
        wrong["begins an id that has a version"] = np.setdiff1d(firsts, begun)
        for what, versions in wrong.items():
            for version in versions[:3].tolist():
                id = strings.string(int(ids[version]))
                found.append(f"{kind} {id!r}: version {version} {what}")
        if np.any(np.diff(op.astype(np.int64)) < 0):
            found.append(f"the versions of {kind}s are not in recorded order")
    return found
