"""Which memories fit into the tokens that the caller has?"""

from dataclasses import replace

import numpy as np

from recollex_engine.ranking import Ranking
from recollex_engine.view import View


def within_budget(view: View, ranking: Ranking, max_tokens: int, stop: bool) -> tuple[Ranking, int]:
    """Return the memories that fit ``max_tokens`` in rank order, and the tokens they take.

    One that is too long for what is left gives the passage that matched; if that is too long as
    well it is passed over, and later ones may fit; with ``stop`` the list ends at the first that
    does not fit whole (TEMPR 3.4). Cost: a prefix sum, and a step a memory behind the first that
    does not fit.
    """
    memories, scores = ranking.memories, ranking.scores
    tokens = view.buffer("tokens")[memories].astype(np.int64)
    spent = np.cumsum(tokens)
    whole = int(np.searchsorted(spent, max_tokens, side="right"))
    total = int(spent[whole - 1]) if whole else 0
    if whole == len(memories) or stop:
        return replace(ranking, memories=memories[:whole], scores=scores[:whole]), total
    chosen, cut = list(range(whole)), {}
    first_row, passage_tokens = view.buffer("first_row"), view.buffer("passage_tokens")
    rest = memories[whole:].astype(np.int64)
    several = first_row[rest + 1] - first_row[rest] > 1
    perhaps = np.flatnonzero((tokens[whole:] <= max_tokens - total) | several) + whole
    least = 1 if several.any() else int(tokens[perhaps].min(initial=max_tokens + 1))
    for place in perhaps.tolist():
        left = max_tokens - total
        if left < least:
            break
        memory, size = int(memories[place]), int(tokens[place])
        if size > left:
            if not several[place - whole]:
                continue
            row = ranking.best_row(memory)
            row = int(first_row[memory]) if row is None else row
            size = int(passage_tokens[row])
            if size > left:
                continue
            cut[len(chosen)] = row
        total += size
        chosen.append(place)
    return replace(ranking, memories=memories[chosen], scores=scores[chosen], cut=cut), total
