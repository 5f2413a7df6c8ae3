"""What counts differently in an agent of few memories: chance, similarity and shared names.

The weights of `contextual_fusion` were fitted on agents of hundreds to thousands of memories. Three
of their assumptions fail in an agent of 5 to 50:

- A memory may share a word with the question by chance: "Which seat do I want?" and "Sabine wants
  to see the theatre" share one. The keyword part, a share of the greatest possible score, does not
  show that. The score itself does: it is a sum of idf, and one word adds little. A shared name is
  not taken for chance ("Delete my last email from Leila").
- Among many memories the best are all similar to the question, and their differences in
  similarity are mostly chance, so similarity has a low weight. Among few memories the differences
  are greater, and tell more.
- Every name is rare in a small agent, so a shared name tells little.
"""

import math
import re
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from recollex_engine.ranking.arms import KeywordResult
from recollex_engine.state.view import View
from recollex_engine.text.analyzer import Analyzer, terms_of_name

CHANCE = 1.5
"""In the smallest agents, keyword evidence of so many words (w in `certainty`) counts half."""
STEEPNESS = 8
"""The exponent in `certainty`."""
FEW = 100
"""The number of memories at which an agent counts half as small."""
CERTAIN = 0.99
"""From this certainty on, the shared words are not read."""
SIMILARITY = 0.4
"""What the semantic weight gains in the smallest agent, as a share of it."""


@lru_cache(maxsize=1024)
def smallness(memories: int) -> float:
    """Return how small an agent is, in (0, 1]: 1 / (1 + (memories / 100)^2).

    >>> [round(smallness(memories), 2) for memories in (5, 50, 500)]
    [1.0, 0.8, 0.04]
    """
    return float(1 / (1 + (memories / FEW) ** 2))


def certainty(best: float, memories: int) -> float:
    """Return how much keyword evidence without a name counts, in (0, 1].

    Equation: 1 - smallness / (1 + (w / 1.5)^8), where w is the best BM25 score of the question in
    the agent, divided by the score that one word gives which a single memory of average length
    holds: w = best / (ln(1 + (memories - 0.5) / 1.5) / 2).

    best: at least 0.

    >>> [round(certainty(best, 20), 2) for best in (1.4, 2.8, 5.0)]
    [0.1, 0.94, 1.0]
    >>> round(certainty(1.4, 2000), 2)
    1.0
    """
    shared = best / (math.log1p((memories - 0.5) / 1.5) / 2)
    return float(1 - smallness(memories) / (1 + (shared / CHANCE) ** STEEPNESS))


def names_speaker(view: View, named: npt.NDArray[np.uint32]) -> bool:
    """Return whether one of the labels ``named`` is a speaker of the view, see `Speakers.named`.

    Speakers that are newer than the view do not count. True for any label in a large agent, where
    `word_certainty` is 1 anyway.
    """
    if not len(named) or smallness(view.memories) < 1 - CERTAIN:
        return len(named) > 0
    return bool(np.isin(view.of_memories("speaker"), named).any())


def word_certainty(view: View, words: KeywordResult, analyzer: Analyzer) -> float:
    """Return how much keyword evidence counts, in (0, 1].

    It is 1 if the best memory by keywords shares a name, else `certainty`.

    words: with at least one memory found. analyzer: of the agent's language. Cost: 1 us; 15 us
    where a small agent has little evidence.
    """
    found = certainty(float(words.ranked.scores[0]), words.population)
    if found > CERTAIN:
        return 1.0
    memory = int(words.ranked.memories[0])
    rows = view.buffer("first_row")
    places = view.buffer("term_offset")
    first, end = (int(places[int(rows[m])]) for m in (memory, memory + 1))
    held = set(view.buffer("term")[first:end].tolist()).intersection(words.terms.tolist())
    shared = set(view.columns.dictionary["terms"].strings(held))
    return found if shared.isdisjoint(_names(view, memory, analyzer)) else 1.0


def _names(view: View, memory: int, analyzer: Analyzer) -> set[str]:
    """Return the terms of the names of a memory.

    They are its entities, who said it, and the names in e-mail addresses of its text.
    """
    offsets = view.offsets("mention_offset")
    first = int(offsets[memory])
    end = int(offsets[memory + 1])
    names = list(view.entity_names(view.buffer("mention_entity")[first:end].tolist()))
    said = view.columns.label(int(view.buffer("speaker")[memory]))
    start, stop = (int(place) for place in view.offsets("text_offset")[memory : memory + 2])
    text = view.buffer("text")[start:stop].tobytes()
    if b"@" in text:
        names += _ADDRESSED.findall(text.decode(errors="replace"))
    return {term for name in [*names, said or ""] for term in terms_of_name(analyzer, name)}


_ADDRESSED = re.compile(r"(?<![\w.+-])[\w.+-]++(?=@\w)")  # "ann.lee" of "ann.lee@example.com"
